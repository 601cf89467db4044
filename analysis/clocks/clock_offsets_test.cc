#include "analysis/clocks/clock_offsets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "analysis/clocks/half_sample_mode.h"
#include "analysis/testing/fake_job.h"

namespace chakrad {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using Type = CollectiveType;

constexpr int64_t kUs = 1'000'000;  // Picoseconds.

int64_t ModeOf(std::vector<int64_t> ascending) { return HalfSampleMode(ascending); }

TEST(HalfSampleModeTest, FindsWhereMostAreHoweverFarTheOthersStray) {
  EXPECT_EQ(ModeOf({7}), 7);
  EXPECT_EQ(ModeOf({4, 8}), 6);
  EXPECT_EQ(ModeOf({0, 10, 12}), 11);
  EXPECT_EQ(ModeOf({0, 10, 20}), 10);
  // Differences of ends of two recorded ranks, in microseconds; their median is -1,614.
  EXPECT_EQ(ModeOf({-4198, -2193, -2160, -1068, -625, 232}), -2177);  // Of -2193 and -2160.
  EXPECT_EQ(ModeOf({INT64_MIN, INT64_MIN, 5, INT64_MAX}), INT64_MIN);
}

TEST(HalfSampleModeTest, DeviationIsTheLowerMedianOfDistances) {
  EXPECT_EQ(MedianDeviation(std::vector<int64_t>{1, 5, 6, 100}, 5), 1);
  EXPECT_EQ(MedianDeviation(std::vector<int64_t>{INT64_MIN}, 1), INT64_MAX);
}

// A job whose ranks have clocks of their own.
struct Clocks {
  std::vector<int64_t> ahead_ns;  // By rank.
  std::vector<double> drift;      // Of time since the start.
};

// `rounds` times: all-reduces in the groups of every rank, one after the other; a rank works
// for up to 2 ms, joins, and is through within `jitter_ns` after the last one has joined and the
// exchange is done. 2 x 2 ranks: {0, 1}, {2, 3} and {0, 2}, {1, 3}.
FakeJob MakeJob(uint32_t seed, const Clocks& clocks, int rounds, int64_t jitter_ns) {
  std::mt19937 random(seed);
  const auto below = [&random](int64_t n) {
    return n <= 0 ? 0 : static_cast<int64_t>(random()) % n;
  };
  FakeJob fake(4);
  const std::vector<std::vector<int32_t>> pairs = {{0, 1}, {2, 3}, {0, 2}, {1, 3}};
  std::vector<uint32_t> groups;
  for (const auto& pair : pairs) groups.push_back(fake.AddGroup("", pair));
  std::vector<int64_t> now_ns(4, 1'000'000'000);
  const auto by_clock = [&](int32_t rank, int64_t at_ns) {
    const double drift = clocks.drift.empty() ? 0 : clocks.drift[rank];
    return at_ns + clocks.ahead_ns[rank] +
           static_cast<int64_t>(drift * static_cast<double>(at_ns - 1'000'000'000));
  };
  for (int round = 0; round < rounds; ++round) {
    for (size_t g = 0; g < pairs.size(); ++g) {
      int64_t last_ns = 0;
      for (const int32_t rank : pairs[g]) {
        now_ns[rank] += below(2'000'000);
        last_ns = std::max(last_ns, now_ns[rank]);
      }
      last_ns += 20'000 + below(100'000);
      for (const int32_t rank : pairs[g]) {
        const int64_t end_ns = last_ns + below(jitter_ns);
        fake.Collective(rank, groups[g], Type::kAllReduce, 1000, by_clock(rank, now_ns[rank]),
                        by_clock(rank, end_ns));
        now_ns[rank] = end_ns;
      }
    }
  }
  return fake;
}

ClockEstimate EstimateOf(const JobTimeline& job) { return EstimateClocks(job, MatchComm(job)); }

TEST(ClockOffsetsTest, InjectedOffsetsComeBack) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    std::mt19937 random(seed);
    Clocks clocks{.ahead_ns = {0, 0, 0, 0}, .drift = {}};
    for (size_t rank = 1; rank < 4; ++rank) {
      clocks.ahead_ns[rank] = static_cast<int64_t>(random() % 100'000'000) - 50'000'000;
    }
    FakeJob fake = MakeJob(seed, clocks, 50, 5'000);
    const JobTimeline job = fake.Timeline();
    const ClockEstimate estimate = EstimateOf(job);
    ASSERT_TRUE(estimate.should_align) << "seed " << seed;
    EXPECT_EQ(estimate.impossible_aligned_count, 0) << "seed " << seed;
    for (size_t rank = 0; rank < 4; ++rank) {
      // Ends differ by up to 5 us, and two ranks are at most three ties apart.
      EXPECT_NEAR(
          static_cast<double>(estimate.offsets[rank].offset_ps - estimate.offsets[0].offset_ps),
          static_cast<double>(-clocks.ahead_ns[rank] * kPsPerNs), 15.0 * kUs)
          << "seed " << seed << " rank " << rank;
    }
    // All ranks on one clock again: no more is to be aligned.
    const JobTimeline aligned = AlignClocks(job, estimate);
    EXPECT_GE(aligned.start_ps(), 0);
    const ClockEstimate again = EstimateOf(aligned);
    EXPECT_FALSE(again.should_align) << "seed " << seed;
    for (const ClockOffset& offset : again.offsets) EXPECT_EQ(offset.offset_ps, 0);
  }
}

// 50 ppm over 0.3 s are 15 us; the offset of the densest time is within that.
TEST(ClockOffsetsTest, ADriftingClockIsAlignedUpToItsDrift) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    FakeJob fake = MakeJob(
        seed, {.ahead_ns = {0, 3'000'000, -2'000'000, 700'000}, .drift = {0, 50e-6, -50e-6, 0}}, 50,
        5'000);
    const ClockEstimate estimate = EstimateOf(fake.Timeline());
    ASSERT_TRUE(estimate.should_align);
    const int64_t wanted_us[] = {0, -3000, 2000, -700};
    for (size_t rank = 0; rank < 4; ++rank) {
      EXPECT_NEAR(
          static_cast<double>(estimate.offsets[rank].offset_ps - estimate.offsets[0].offset_ps),
          static_cast<double>(wanted_us[rank] * kUs), 45.0 * kUs)
          << "seed " << seed << " rank " << rank;
    }
  }
}

// Rank 0's clock is an hour ahead: it moves, the others do not.
TEST(ClockOffsetsTest, OneWrongClockDoesNotMoveTheOthers) {
  FakeJob fake = MakeJob(1, {.ahead_ns = {3'600'000'000'000, 0, 0, 0}, .drift = {}}, 50, 5'000);
  const ClockEstimate estimate = EstimateOf(fake.Timeline());
  ASSERT_TRUE(estimate.should_align);
  EXPECT_NEAR(static_cast<double>(estimate.offsets[0].offset_ps), -3600e12, 15.0 * kUs);
  for (size_t rank = 1; rank < 4; ++rank) {
    EXPECT_NEAR(static_cast<double>(estimate.offsets[rank].offset_ps), 0, 15.0 * kUs);
  }
}

TEST(ClockOffsetsTest, ClocksThatAgreeAreLeftAlone) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    // Ends that differ by up to 50 us, as on a busy host.
    FakeJob fake = MakeJob(seed, {.ahead_ns = {0, 0, 0, 0}, .drift = {}}, 50, 15'000);
    const ClockEstimate estimate = EstimateOf(fake.Timeline());
    EXPECT_FALSE(estimate.should_align) << "seed " << seed;
    EXPECT_EQ(estimate.impossible_count, 0) << "seed " << seed;
    EXPECT_THAT(estimate.notices, SizeIs(0));
  }
}

// rank 0  |####......|  [1000, 1040) us
// rank 1  |......####|  [1100, 1140) us: joins 60 us after rank 0 was through.
TEST(ClockOffsetsTest, OneImpossibleCollectiveIsEnough) {
  FakeJob fake(2);
  fake.Collective(0, kWorldGroup, Type::kAllReduce, 8, 1'000'000, 1'040'000);
  fake.Collective(1, kWorldGroup, Type::kAllReduce, 8, 1'100'000, 1'140'000);
  const JobTimeline job = fake.Timeline();
  const ClockEstimate estimate = EstimateOf(job);
  ASSERT_TRUE(estimate.should_align);
  EXPECT_EQ(estimate.impossible_count, 1);
  EXPECT_EQ(estimate.impossible_aligned_count, 0);
  EXPECT_EQ(estimate.offsets[1].offset_ps, -100 * kUs);
  ASSERT_THAT(estimate.notices, SizeIs(1));
  EXPECT_THAT(estimate.notices[0], HasSubstr("at most by -100.0 us (rank 1, spread 0.0 us)"));
  const JobTimeline aligned = AlignClocks(job, estimate);
  EXPECT_EQ(aligned.ranks[0].intervals, job.ranks[0].intervals);
  EXPECT_EQ(aligned.ranks[1].start_ps, 1000 * kUs);
  EXPECT_EQ(aligned.ranks[1].intervals[0].end_ps, 1040 * kUs);
}

// One broadcast ends on its root before anyone else is there: nothing is impossible about it.
TEST(ClockOffsetsTest, ABroadcastTellsNothing) {
  FakeJob fake(2);
  fake.Collective(0, kWorldGroup, Type::kBroadcast, 8, 0, 1000);
  fake.Collective(1, kWorldGroup, Type::kBroadcast, 8, 9'000'000, 9'001'000);
  EXPECT_FALSE(EstimateOf(fake.Timeline()).should_align);
}

// Rank 1 gets more than rank 0 and ends 1 ms later, each time.
TEST(ClockOffsetsTest, UnevenAllToAllsTellNothing) {
  FakeJob fake(2);
  for (int64_t i = 0; i < 10; ++i) {
    fake.Collective(0, kWorldGroup, Type::kAllToAll, 8, i * 5'000'000, i * 5'000'000 + 1'000'000);
    fake.Collective(1, kWorldGroup, Type::kAllToAll, 9, i * 5'000'000, i * 5'000'000 + 2'000'000);
  }
  EXPECT_FALSE(EstimateOf(fake.Timeline()).should_align);
}

// Messages of 10 us to and fro, in us by one clock; rank 1's is 1,000 ahead:
//   0 sends [0, 10), 1 receives [0, 10) + 1000; 1 sends [50, 60) + 1000, 0 receives [50, 60).
// Rank 1 is ahead by at most 1010 and by at least 990: the smallest is taken.
TEST(ClockOffsetsTest, MessagesBothWaysBoundAnOffset) {
  FakeJob fake(2);
  fake.Send(0, 1, 8, 10'000'000, 10'010'000);
  fake.Receive(1, 0, 8, 11'000'000, 11'010'000);
  fake.Send(1, 0, 8, 11'050'000, 11'060'000);
  fake.Receive(0, 1, 8, 10'050'000, 10'060'000);
  const ClockEstimate estimate = EstimateOf(fake.Timeline());
  ASSERT_TRUE(estimate.should_align);
  EXPECT_EQ(estimate.offsets[1].offset_ps, -990 * kUs);
  EXPECT_EQ(estimate.offsets[1].spread_ps, 10 * kUs);
  EXPECT_EQ(estimate.impossible_aligned_count, 0);
}

TEST(ClockOffsetsTest, TimesBeforeTheBaseMoveTheBase) {
  FakeJob fake(2);
  fake.Collective(0, kWorldGroup, Type::kAllReduce, 8, 0, 40'000);
  fake.Collective(1, kWorldGroup, Type::kAllReduce, 8, 50'000, 140'000);
  JobTimeline job = fake.Timeline();
  job.base_unix_ns = 1'000'000'000;
  const JobTimeline aligned = AlignClocks(job, EstimateOf(job));
  // Rank 1 moves by -100 us, to -50 us.
  EXPECT_GE(aligned.ranks[1].start_ps, 0);
  EXPECT_EQ(aligned.base_unix_ns * kPsPerNs + aligned.ranks[1].start_ps,
            1'000'000'000 * kPsPerNs - 50 * kUs);
  EXPECT_EQ(aligned.base_unix_ns * kPsPerNs + aligned.ranks[0].start_ps, 1'000'000'000 * kPsPerNs);
}

TEST(ClockOffsetsTest, RanksThatDoNothingTogetherKeepTheirClocks) {
  FakeJob fake(4);
  const uint32_t first = fake.AddGroup("a", {0, 1}), second = fake.AddGroup("b", {2, 3});
  fake.Collective(0, first, Type::kAllReduce, 8, 1'000'000, 1'040'000);
  fake.Collective(1, first, Type::kAllReduce, 8, 1'100'000, 1'140'000);
  fake.Collective(2, second, Type::kAllReduce, 8, 9'000'000, 9'040'000);
  fake.Collective(3, second, Type::kAllReduce, 8, 9'000'000, 9'040'000);
  const ClockEstimate estimate = EstimateOf(fake.Timeline());
  EXPECT_EQ(estimate.offsets[1].offset_ps, -100 * kUs);
  EXPECT_EQ(estimate.offsets[2].offset_ps, 0);
  EXPECT_EQ(estimate.offsets[3].offset_ps, 0);
  ASSERT_THAT(estimate.notices, SizeIs(2));
  EXPECT_THAT(estimate.notices[1], HasSubstr("2 sets"));
}

// Rank 1 is 5 ms ahead. With rank 0, rank 2 has one collective, which it ends 300 us later; rank 3
// ten, which it ends -1,000, -800, ..., 800 us later; rank 4 ten, -40, ..., 40 us later: all of
// them possible.
TEST(ClockOffsetsTest, WhatIsNotClearIsNotMovedWithWhatIs) {
  FakeJob fake(5);
  const auto pair = [&fake](int32_t other, int64_t at_us, int64_t ahead_us) {
    const uint32_t group = static_cast<uint32_t>(other);
    fake.Collective(0, group, Type::kAllReduce, 8, at_us * 1000, (at_us + 3000) * 1000);
    fake.Collective(other, group, Type::kAllReduce, 8, (at_us + ahead_us) * 1000,
                    (at_us + ahead_us + 3000) * 1000);
  };
  for (int32_t other = 1; other <= 4; ++other) fake.AddGroup("", {0, other});
  for (int64_t i = 0; i < 10; ++i) {
    pair(1, 10'000 + 20'000 * i, 5000);
    pair(3, 15'000 + 20'000 * i, 200 * i - 1000);
    pair(4, 20'000 + 20'000 * i, 20 * (i % 5) - 40);
  }
  pair(2, 300'000, 300);
  const ClockEstimate estimate = EstimateOf(fake.Timeline());
  ASSERT_TRUE(estimate.should_align);
  EXPECT_EQ(estimate.offsets[0].offset_ps, 0);
  EXPECT_EQ(estimate.offsets[1].offset_ps, -5000 * kUs);
  EXPECT_EQ(estimate.offsets[2].offset_ps, 0);
  EXPECT_EQ(estimate.offsets[3].offset_ps, 0);
  EXPECT_EQ(estimate.offsets[4].offset_ps, 0);
  ASSERT_THAT(estimate.notices, SizeIs(2));
  EXPECT_THAT(estimate.notices[1], HasSubstr("clocks of 2 ranks were not aligned"));
}

TEST(ClockOffsetsTest, ASimulationHasOneClock) {
  FakeJob fake(2);
  fake.Collective(0, kWorldGroup, Type::kAllReduce, 8, 1'000'000, 1'040'000);
  fake.Collective(1, kWorldGroup, Type::kAllReduce, 8, 1'100'000, 1'140'000);
  JobTimeline job = fake.Timeline();
  job.simulated = true;
  EXPECT_FALSE(EstimateOf(job).should_align);
}

// 106 days apart: nothing overflows, nothing is empty.
TEST(ClockOffsetsTest, ClocksAtTheEndsOfTimeSaturate) {
  FakeJob fake(2);
  fake.Collective(0, kWorldGroup, Type::kAllReduce, 8, 0, 1000);
  fake.Collective(1, kWorldGroup, Type::kAllReduce, 8, INT64_MAX / 1000 - 2000,
                  INT64_MAX / 1000 - 1000);
  const JobTimeline job = fake.Timeline();
  const JobTimeline aligned = AlignClocks(job, EstimateOf(job));
  for (const RankTimeline& rank : aligned.ranks) {
    EXPECT_GE(rank.start_ps, 0);
    for (const TimelineInterval& interval : rank.intervals) {
      EXPECT_LT(interval.start_ps, interval.end_ps);
    }
  }
}

}  // namespace
}  // namespace chakrad
