// What fails, is damaged, or ends the process: nothing of it may hold up the rest, get lost or
// come twice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "server/limits.h"
#include "server/series/series_manager.h"
#include "server/series/series_manager_test_fixture.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(SeriesManagerTest, AFullDiskLosesNothingAndRepeatsNothing) {
  for (int i = 0; i < 600; ++i) Put(absl::StrCat("t-", 1000 + i), "j");
  kv_->FailWritesAfter(1, absl::ResourceExhaustedError("full"));
  const auto manager = NewManager();
  EXPECT_THAT(manager->CatchUp(), StatusIs(absl::StatusCode::kResourceExhausted, "full"));
  const size_t before = Records().size();
  EXPECT_GT(before, 0);
  EXPECT_LT(before, 600);
  EXPECT_THAT(manager->CatchUp(), StatusIs(absl::StatusCode::kResourceExhausted, "full"));
  kv_->Heal();
  ASSERT_THAT(manager->CatchUp(), IsOk());
  const auto sources = Sources();
  ASSERT_EQ(sources.size(), 600);
  for (int i = 0; i < 600; ++i) EXPECT_EQ(sources[i], absl::StrCat("traces/t-", 1000 + i));
}

// A process that dies anywhere, many times over.
TEST_F(SeriesManagerTest, RestartsAndFailedWritesAtRandomLoseAndRepeatNothing) {
  int stored = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    for (int i = 0; i < 7; ++i) Put(absl::StrCat("t-", 1000 + stored++), "j");
    kv_->FailWritesAtRandom(0.5, seed);
    NewManager()->CatchUp().IgnoreError();
    kv_->Heal();
  }
  ASSERT_THAT(NewManager()->CatchUp(), IsOk());
  const auto sources = Sources();
  ASSERT_EQ(sources.size(), static_cast<size_t>(stored));
  for (int i = 0; i < stored; ++i) EXPECT_EQ(sources[i], absl::StrCat("traces/t-", 1000 + i));
}

TEST_F(SeriesManagerTest, AJobWhoseClockWentBackIsTakenAllTheSame) {
  Put("t-1", "j");
  PutJob("j-1", "t-1", 1'000);
  clock_.AdvanceNs(10'000 * kSecondNs);
  const auto manager = NewManager();
  ASSERT_THAT(manager->CatchUp(), IsOk());
  clock_.StepNs(-20'000 * kSecondNs);
  PutJob("j-early", "t-1", 1'000, JobRecord::State::kPending);
  ASSERT_THAT(manager->CatchUp(), IsOk());
  EndJob("j-early");
  ASSERT_THAT(manager->CatchUp(), IsOk());
  EXPECT_THAT(Sources(), ElementsAre("traces/t-1", "jobs/j-1", "jobs/j-early"));
}

TEST_F(SeriesManagerTest, ADamagedCursorKeepsNobodyFromWorking) {
  Put("t-1", "j");
  PutJob("j-1", "t-1", 1'000);
  ASSERT_THAT(NewManager()->CatchUp(), IsOk());
  for (const char* key : {"ctraces", "cjobs", "cattempt"}) kv_->Damage(Family::kSeries, key);
  Put("t-2", "j");
  const auto manager = NewManager();
  ASSERT_THAT(manager->CatchUp(), IsOk());
  PutJob("j-2", "t-2", 1'000);
  ASSERT_THAT(manager->CatchUp(), IsOk());
  EXPECT_THAT(Sources(), ElementsAre("traces/t-1", "jobs/j-1", "traces/t-2", "jobs/j-2"));
}

TEST_F(SeriesManagerTest, ATraceThatCannotBeReadHoldsTheOthersUpForAWhileOnly) {
  Put("t-1", "j");
  Put("t-2", "j");
  PutBusy("t-3");
  Put("t-4", "j");
  PutJob("j-1", "t-1", 1'000);
  const auto manager = NewManager();
  EXPECT_THAT(manager->CatchUp(), StatusIs(absl::StatusCode::kUnavailable, "traces/t-3"));
  EXPECT_THAT(Sources(), ElementsAre("traces/t-1", "traces/t-2", "jobs/j-1"));
  for (int i = 2; i < kSeriesReadTries; ++i) {
    EXPECT_THAT(manager->CatchUp(), StatusIs(absl::StatusCode::kUnavailable, "traces/t-3"));
  }
  EXPECT_EQ(Sources().size(), 3);
  EXPECT_THAT(metrics_.Text(),
              HasSubstr("chakrad_series_duration_seconds_count{kind=\"trace\"} 2\n"));
  ASSERT_THAT(manager->CatchUp(), IsOk());
  EXPECT_THAT(Sources(), ElementsAre("traces/t-1", "traces/t-2", "jobs/j-1", "traces/t-4"));
  EXPECT_THAT(metrics_.Text(),
              HasSubstr("chakrad_series_skipped_total{reason=\"unreadable\"} 1\n"));
}

TEST_F(SeriesManagerTest, ALargeTraceThatEndedTheDaemonTwiceIsPassedOver) {
  SeriesOptions options;
  options.marked_nodes = 4;  // Two ranks of two nodes.
  Put("t-1", "j");
  PutBusy("t-2");
  std::string mark;
  kv_->when_asked_ = [&] { mark = *series_->GetCursor("attempt"); };
  // Its process would end where the chunk is read.
  EXPECT_FALSE(NewManager(options)->CatchUp().ok());
  EXPECT_EQ(mark, "1 t-2");
  ASSERT_THAT(series_->SetCursor("attempt", "1 t-2"), IsOk());
  EXPECT_FALSE(NewManager(options)->CatchUp().ok());
  EXPECT_EQ(mark, "2 t-2");
  mark.clear();
  ASSERT_THAT(series_->SetCursor("attempt", "2 t-2"), IsOk());
  Put("t-3", "j");
  ASSERT_THAT(NewManager(options)->CatchUp(), IsOk());
  EXPECT_EQ(mark, "") << "it is not even read";
  EXPECT_THAT(Sources(), ElementsAre("traces/t-1", "traces/t-3"));
  EXPECT_EQ(*series_->GetCursor("attempt"), "");
  EXPECT_THAT(metrics_.Text(), HasSubstr("chakrad_series_skipped_total{reason=\"crashed\"} 1\n"));
}

TEST_F(SeriesManagerTest, ADamagedJobIsPassedOver) {
  Put("t-1", "j");
  PutJob("j-1", "t-1", 1'000);
  PutJob("j-2", "t-1", 1'000);
  PutJob("j-3", "t-1", 1'000);
  kv_->Damage(Family::kJobs, "jj-2");
  const auto manager = NewManager();
  ASSERT_THAT(manager->CatchUp(), IsOk());
  ++jobs_ended_;
  ASSERT_THAT(manager->CatchUp(), IsOk());
  EXPECT_THAT(Sources(), ElementsAre("traces/t-1", "jobs/j-1", "jobs/j-3"));
  EXPECT_THAT(metrics_.Text(), HasSubstr("chakrad_series_skipped_total{reason=\"damaged\"} 1\n"));
}

TEST_F(SeriesManagerTest, TracesAfterOneOfAClockThatWasAheadAreTaken) {
  Put("t-1", "j");
  clock_.StepNs(1'000'000 * kSecondNs);
  Put("t-ahead", "j");
  ASSERT_THAT(NewManager()->CatchUp(), IsOk());
  clock_.StepNs(-1'000'000 * kSecondNs);
  ASSERT_THAT(traces_->Delete("t-ahead"), IsOk());
  traces_.reset();
  traces_ = *OpenTraceStore(kv_);  // A restart forgets how far creation times had come.
  const auto manager = NewManager();
  ASSERT_THAT(manager->CatchUp(), IsOk());
  clock_.AdvanceNs(kSecondNs);
  Put("t-2", "j");
  ASSERT_THAT(manager->CatchUp(), IsOk());
  EXPECT_THAT(Sources(), ElementsAre("traces/t-1", "traces/t-ahead", "traces/t-2"));
}

}  // namespace
}  // namespace chakrad
