#include "analysis/exposed_comm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "analysis/intervals.h"
#include "common/status_matchers.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;
using Kind = IntervalKind;

TimelineInterval At(Kind kind, int64_t start_ps, int64_t end_ps) {
  TimelineInterval interval;
  interval.kind = kind;
  interval.start_ps = start_ps;
  interval.end_ps = end_ps;
  return interval;
}

TEST(IntervalsTest, UnionJoinsOverlappingAndTouchingOnes) {
  EXPECT_THAT(UnionOf({{5, 9}, {0, 2}, {2, 3}, {7, 7}, {8, 12}}),
              ElementsAre(Interval{0, 3}, Interval{5, 12}));
}

TEST(IntervalsTest, OverlapIsTheSameFromBothSides) {
  const std::vector<Interval> a{{0, 10}, {20, 30}}, b{{5, 25}};
  EXPECT_EQ(OverlapOf(a, b), 10);  // [5, 10) and [20, 25).
  EXPECT_EQ(OverlapOf(b, a), 10);
  EXPECT_EQ(LengthOutside(a, b), 10);
}

// compute  |####......####....|  0-40, 100-140
// comm     |..######..........|  20-80
// memory   |.......###........|  70-100
// end 180: exposed comm 40-80 = 40, exposed memory 80-100 = 20, idle 140-180 = 40.
TEST(ExposedCommTest, CommUnderComputeIsHiddenAndTheRestIsExposed) {
  ASSERT_OK_AND_ASSIGN(
      const RankBreakdown got,
      ComputeRankBreakdown(3, 180,
                           {At(Kind::kCompute, 100, 140), At(Kind::kComm, 20, 80),
                            At(Kind::kCompute, 0, 40), At(Kind::kMemory, 70, 100)}));
  EXPECT_EQ(got, (RankBreakdown{.rank = 3,
                                .end_ps = 180,
                                .compute_ps = 80,
                                .comm_ps = 60,
                                .exposed_comm_ps = 40,
                                .exposed_memory_ps = 20,
                                .idle_ps = 40}));
}

TEST(ExposedCommTest, CommInsideComputeIsNotExposed) {
  ASSERT_OK_AND_ASSIGN(
      const RankBreakdown got,
      ComputeRankBreakdown(0, 100, {At(Kind::kCompute, 0, 100), At(Kind::kComm, 30, 60)}));
  EXPECT_EQ(got.exposed_comm_ps, 0);
  EXPECT_EQ(got.idle_ps, 0);
}

TEST(ExposedCommTest, IntervalsThatTouchDoNotOverlap) {
  ASSERT_OK_AND_ASSIGN(
      const RankBreakdown got,
      ComputeRankBreakdown(0, 150, {At(Kind::kCompute, 0, 100), At(Kind::kComm, 100, 150)}));
  EXPECT_EQ(got.exposed_comm_ps, 50);
}

TEST(ExposedCommTest, OverlappingCollectivesCountOnce) {
  ASSERT_OK_AND_ASSIGN(
      const RankBreakdown got,
      ComputeRankBreakdown(0, 100, {At(Kind::kComm, 0, 60), At(Kind::kComm, 40, 100)}));
  EXPECT_EQ(got.comm_ps, 100);
  EXPECT_EQ(got.exposed_comm_ps, 100);
}

TEST(ExposedCommTest, HostWorkOfARankWithADeviceIsIdle) {
  ASSERT_OK_AND_ASSIGN(const RankBreakdown got,
                       ComputeRankBreakdown(0, 100, {At(Kind::kHost, 0, 100)}));
  EXPECT_EQ(got.compute_ps, 0);
  EXPECT_EQ(got.idle_ps, 100);
}

TEST(ExposedCommTest, BackwardIntervalsAndOnesOutsideTheRunAreRefused) {
  EXPECT_THAT(ComputeRankBreakdown(2, 100, {At(Kind::kComm, 60, 50)}),
              StatusIs(absl::StatusCode::kInvalidArgument, "rank 2: interval [60, 50) ps"));
  EXPECT_THAT(ComputeRankBreakdown(2, 100, {At(Kind::kComm, 60, 101)}),
              StatusIs(absl::StatusCode::kInvalidArgument, "not within [0, 100)"));
}

// Against a count of unit cells, on seeded random timelines.
TEST(ExposedCommTest, AgreesWithCountingCells) {
  constexpr int64_t kEnd = 200;
  std::mt19937 random(20240611);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<TimelineInterval> intervals;
    std::vector<std::array<bool, kIntervalKindsCount>> cells(kEnd);
    const int count = static_cast<int>(random() % 20);
    for (int i = 0; i < count; ++i) {
      const int64_t start = static_cast<int64_t>(random() % kEnd);
      const int64_t end = start + static_cast<int64_t>(random() % (kEnd - start + 1));
      const int kind = static_cast<int>(random() % kIntervalKindsCount);
      intervals.push_back(At(static_cast<Kind>(kind), start, end));
      for (int64_t cell = start; cell < end; ++cell) cells[cell][kind] = true;
    }
    RankBreakdown want;
    want.end_ps = kEnd;
    for (const auto& cell : cells) {
      const bool compute = cell[0], comm = cell[1], memory = cell[2];
      want.compute_ps += compute;
      want.comm_ps += comm;
      want.exposed_comm_ps += comm && !compute;
      want.exposed_memory_ps += memory && !comm && !compute;
      want.idle_ps += !memory && !comm && !compute;
    }
    ASSERT_OK_AND_ASSIGN(const RankBreakdown got, ComputeRankBreakdown(0, kEnd, intervals));
    EXPECT_EQ(got, want) << "trial " << trial;
    EXPECT_EQ(got.compute_ps + got.exposed_comm_ps + got.exposed_memory_ps + got.idle_ps, kEnd);
  }
}

}  // namespace
}  // namespace chakrad
