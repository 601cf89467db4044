// Critical paths and diffs as text: the lines, by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "client/analysis/views.h"

namespace chakrad::client {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void AddShare(google::protobuf::RepeatedPtrField<v1::PathShare>* shares, const char* key,
              int64_t total_ps, int64_t count) {
  v1::PathShare* share = shares->Add();
  share->set_key(key);
  share->set_total_ps(total_ps);
  share->set_count(count);
}

// Compute 50 us, communication 18 us, a gap of 2 us: the example of docs/analysis.md.
v1::CriticalPath Example() {
  v1::CriticalPath path;
  path.set_name("traces/t-1");
  path.set_start_ps(5'000'000);
  path.set_end_ps(75'000'000);
  path.set_steps_count(3);
  path.set_replayed_ps(70'000'000);
  AddShare(path.mutable_by_class(), "compute", 50'000'000, 1);
  AddShare(path.mutable_by_class(), "comm", 18'000'000, 1);
  AddShare(path.mutable_by_class(), "gap", 2'000'000, 1);
  AddShare(path.mutable_by_edge(), "", 50'000'000, 1);
  AddShare(path.mutable_by_name(), std::string(200, 'x').c_str(), 50'000'000, 1);
  AddShare(path.mutable_by_rank(), "1", 52'000'000, 2);
  AddShare(path.mutable_by_rank(), "0", 18'000'000, 1);
  v1::PathStep* step = path.add_steps();
  step->set_rank(1);
  step->set_node_id(17);
  step->set_name("n");
  step->set_node_class("gap");
  step->set_start_ps(55'000'000);
  step->set_end_ps(57'000'000);
  step->set_edge("data");
  return path;
}

TEST(CriticalPathViewTest, TotalsComeFirstAndAddUpToTheSpan) {
  const std::string text = CriticalPathText(Example());
  EXPECT_THAT(text, HasSubstr("traces/t-1: critical path of 70.0 us, 3 steps"));
  EXPECT_THAT(text, HasSubstr("compute   0.050     71.4      1\n"));
  EXPECT_THAT(text, HasSubstr("comm      0.018     25.7      1\n"));
  EXPECT_LT(text.find("bound by"), text.find("Steps:"));
  EXPECT_THAT(text, HasSubstr(std::string(57, 'x') + "..."));
  EXPECT_THAT(text, Not(HasSubstr(std::string(58, 'x'))));
  EXPECT_THAT(text, HasSubstr("before n"));
  EXPECT_THAT(text, Not(HasSubstr("what if")));
}

TEST(CriticalPathViewTest, TellsWhatWouldBe) {
  v1::CriticalPath path = Example();
  path.set_what_if_ps(61'000'000);
  AddShare(path.mutable_what_if_by_class(), "compute", 50'000'000, 1);
  // 61 / 70 - 1 = -12.857 %.
  EXPECT_THAT(CriticalPathText(path), HasSubstr("what if: 61.0 us instead of 70.0 us, -12.9%"));
  // Nothing is left of it.
  path.set_what_if_ps(0);
  path.clear_what_if_by_class();
  EXPECT_THAT(CriticalPathText(path), HasSubstr("what if: 0 ps instead of 70.0 us, -100.0%"));
}

TEST(DiffViewTest, TellsChangesWithTheirSigns) {
  v1::TimelineDiff diff;
  diff.set_before("traces/t-1");
  diff.set_after("traces/t-2");
  diff.set_before_span_ps(200'000'000);
  diff.set_after_span_ps(250'000'000);
  diff.set_changed_count(3);
  diff.set_unchanged_count(2);
  v1::OperatorChange* change = diff.add_changed();
  change->set_name("gemm");
  change->set_kind("compute");
  change->set_before_count(2);
  change->set_after_count(2.5);
  change->set_before_total_ps(80'000'000);
  change->set_after_total_ps(110'000'000);
  const std::string text = DiffText(diff);
  EXPECT_THAT(text, HasSubstr("traces/t-1 -> traces/t-2: 200 us -> 250 us (+25.0%)"));
  EXPECT_THAT(text, HasSubstr("3 changed, 0 added, 0 removed, 2 as before"));
  EXPECT_THAT(text, HasSubstr("+0.030"));
  EXPECT_THAT(text, HasSubstr("+37.5"));
  EXPECT_THAT(text, HasSubstr("2.5"));
  EXPECT_THAT(text, HasSubstr("and 2 more"));
  EXPECT_THAT(text, Not(HasSubstr("removed  ")));
}

TEST(QualityViewTest, ShowsTheScoreItsPartsAndThePeriodicity) {
  v1::TimelineAnalysis answer;
  EXPECT_EQ(QualityText(answer), "");
  answer.mutable_quality()->set_quality_score(0.875);
  answer.mutable_quality()->set_warnings_count(1234);
  answer.mutable_quality()->set_periodicity(0.98);
  (*answer.mutable_quality()->mutable_quality_parts())["records"] = 1;
  EXPECT_EQ(QualityText(answer),
            "quality 0.875: 0 errors, 1,234 warnings\n"
            "part                  share\n"
            "records               1.000\n"
            "periodicity of steps  0.980\n");
}

}  // namespace
}  // namespace chakrad::client
