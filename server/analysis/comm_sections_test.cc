// The sections about communication, of a recorded run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "analysis/breakdown/time_breakdown.h"
#include "analysis/testing/collected.h"
#include "chakrad/v1/analysis.pb.h"
#include "common/status_matchers.h"
#include "server/analysis/sections.h"
#include "server/limits.h"

namespace chakrad {
namespace {

using ::testing::HasSubstr;

class CommSectionsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(trace_, CollectedTrace("transformer_dp_tp/w4"));
    ASSERT_OK_AND_ASSIGN(job_, MeasuredTimeline(trace_, {}));
    clocks_ = EstimateAndAlign(true, &job_);
  }

  SectionInput Input(size_t top) const {
    return {.job = &job_,
            .whole = &job_,
            .clocks = &clocks_,
            .clocks_aligned = clocks_.should_align,
            .top = top};
  }

  Trace trace_;
  JobTimeline job_;
  ClockEstimate clocks_;
};

// 4 ranks run 16 all-reduces of the tensor parallel groups, 64 KiB (4 x 32 x 128 floats) each.
TEST_F(CommSectionsTest, CollectivesAreCountedByTypeAndSize) {
  v1::TimelineAnalysis answer;
  FillCollectives(Input(20), &answer);
  ASSERT_GT(answer.collectives_size(), 0);
  const v1::CollectiveStats& row = answer.collectives(0);
  EXPECT_EQ(row.type(), "ALL_REDUCE");
  EXPECT_EQ(row.size_bucket(), "le_64KiB");
  EXPECT_EQ(row.count(), 64);
  EXPECT_EQ(row.instances_count(), 32);
  EXPECT_EQ(row.bytes(), 64 * 65536);
  EXPECT_GT(row.bus_bandwidth_bytes_per_second(), 0);
  // Of two ranks 2 (2-1)/2 = 1.
  EXPECT_DOUBLE_EQ(row.bus_bandwidth_bytes_per_second(),
                   row.algorithm_bandwidth_bytes_per_second());
}

TEST_F(CommSectionsTest, GroupsAndKindsOfParallelismAddUpToTheBreakdown) {
  v1::TimelineAnalysis answer;
  FillGroups(Input(20), &answer);
  int64_t comm_ps = 0, exposed_ps = 0;
  for (const TimeBreakdown& rank : BreakDownTime(job_)) {
    comm_ps += rank.comm_ps;
    exposed_ps += rank.exposed_comm_ps;
  }
  int64_t groups_comm_ps = 0, groups_exposed_ps = 0, kinds_comm_ps = 0, kinds_exposed_ps = 0;
  for (const v1::GroupStats& group : answer.groups()) {
    groups_comm_ps += group.comm_ps();
    groups_exposed_ps += group.exposed_ps();
  }
  for (const v1::ParallelismTime& kind : answer.parallelism()) {
    kinds_comm_ps += kind.comm_ps();
    kinds_exposed_ps += kind.exposed_ps();
  }
  EXPECT_EQ(answer.groups_size(), 4);
  EXPECT_EQ(groups_comm_ps, comm_ps);
  EXPECT_EQ(kinds_comm_ps, comm_ps);
  EXPECT_EQ(groups_exposed_ps, exposed_ps);
  EXPECT_EQ(kinds_exposed_ps, exposed_ps);
}

TEST_F(CommSectionsTest, ALongListOfGroupsIsCutAndSaysSo) {
  v1::TimelineAnalysis answer;
  FillGroups(Input(3), &answer);
  EXPECT_EQ(answer.groups_size(), 3);
  EXPECT_EQ(answer.groups_count(), 4);
  EXPECT_THAT(answer.notices(), ::testing::ElementsAre(HasSubstr("groups: 3 of 4 are listed")));
  int64_t groups_count = 0;
  for (const v1::ParallelismTime& kind : answer.parallelism()) groups_count += kind.groups_count();
  EXPECT_EQ(groups_count, 4);
}

TEST_F(CommSectionsTest, SkewNamesTheWorstCollectivesAndTheClocks) {
  v1::TimelineAnalysis answer;
  FillSkew(Input(5), &answer);
  EXPECT_EQ(answer.skew().instances_count(), 32 + 8);
  ASSERT_EQ(answer.skew().worst_size(), 5);
  EXPECT_EQ(answer.skew().worst(0).name(), "gloo:all_reduce");
  EXPECT_EQ(answer.skew().worst(0).skew_ps(), answer.skew().max_skew_ps());
  EXPECT_TRUE(answer.skew().clocks_aligned());
  ASSERT_EQ(answer.skew().clocks_size(), 4);
  EXPECT_EQ(answer.skew().clocks(2).offset_ps() / 1'000'000, 1533);  // collected_clocks_test.
  EXPECT_THAT(job_.notices, ::testing::Contains(HasSubstr("clocks of ranks disagree")));
}

// 40,000 ranks with large numbers would make 1.5 MiB.
TEST_F(CommSectionsTest, ListsOfSkewStayWithinAnAnswer) {
  constexpr int32_t kRanks = 40'000;
  Trace big;
  big.world_size = kRanks;
  big.ranks.emplace_back();  // Nobody does anything.
  JobTimeline job{.trace = &big};
  ClockEstimate clocks;
  for (int32_t rank = 0; rank < kRanks; ++rank) {
    job.ranks.push_back({.rank = rank, .trace = &big.ranks[0], .start_ps = 0, .end_ps = 1});
    clocks.offsets.push_back({.rank = rank, .offset_ps = INT64_MAX, .spread_ps = INT64_MAX});
  }
  v1::TimelineAnalysis answer;
  FillSkew({.job = &job, .whole = &job, .clocks = &clocks}, &answer);
  EXPECT_LT(answer.ByteSizeLong(), kMaxAnalysisListBytes);
  EXPECT_GT(answer.skew().ranks_size(), 1000);
  EXPECT_LT(answer.skew().clocks_size(), kRanks);
  EXPECT_THAT(answer.notices(), ::testing::Contains(HasSubstr("of 40000 clocks are listed")));
}

}  // namespace
}  // namespace chakrad
