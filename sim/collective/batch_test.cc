// Collectives answered whole against the same recurrences step by step, and against messages.
#include "sim/collective/batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "common/status_matchers.h"
#include "sim/collective/batch_ring.h"
#include "sim/collective/test_run.h"
#include "sim/limits.h"

namespace chakrad {
namespace {

using Values = std::vector<int64_t>;

// The recurrence of batch_ring.h as it stands there.
Values RingStepByStep(Values b, const Values& delay, const Values& port, int64_t steps) {
  const size_t n = b.size();
  for (int64_t step = 0; step < steps; ++step) {
    Values next(n);
    for (size_t r = 0; r < n; ++r) {
      const size_t before = (r + n - 1) % n;
      next[r] = std::max(b[r] + port[r], b[before] + delay[before]);
    }
    b = next;
  }
  return b;
}

TEST(RingEndsTest, AnyRingIsTheRecurrence) {
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](int64_t low, int64_t high) {
      return std::uniform_int_distribution<int64_t>(low, high)(random);
    };
    const int64_t n = pick(2, seed % 10 == 0 ? 90 : 20);
    const int64_t steps = pick(0, 3 * n);
    Values start(n, 0), port(n, pick(0, 100)), delay(n);
    for (int64_t r = 0; r < n; ++r) {
      if (pick(0, 5) == 0) start[r] = pick(0, 3000);
      // Ports alike, a few special, or all different.
      if (seed % 3 == 1 && pick(0, 5) == 0) port[r] = pick(0, 300);
      if (seed % 3 == 2) port[r] = pick(0, 300);
      delay[r] = port[r] + (seed % 4 == 0 ? pick(0, 50) : 20);
    }
    ASSERT_EQ(RingEnds(start, delay, port, steps), RingStepByStep(start, delay, port, steps))
        << "seed " << seed << ", " << n << " places, " << steps << " steps";
  }
}

// By hand: the slow link is place 1's. What passes it waits for it at every step.
TEST(RingEndsTest, ASlowPortHoldsUpWhatPassesIt) {
  // Ports 10, delays 15, but place 1: 20 and 25. After two steps place 2 has waited for both
  // messages of place 1: 20 + 25.
  const Values ends =
      RingEnds(Values{0, 0, 0, 0}, Values{15, 25, 15, 15}, Values{10, 20, 10, 10}, 2);
  EXPECT_EQ(ends, (Values{30, 40, 45, 40}));
}

TEST(RingEndsTest, TimesBeyondTheHorizonAreCutToIt) {
  const Values far(4, kHorizonPs / 3);
  EXPECT_EQ(RingEnds(Values(4, 0), far, far, 6), Values(4, kHorizonPs));
  EXPECT_EQ(RingEnds(Values(4, 0), far, Values{0, 1, 0, 0}, 6), Values(4, kHorizonPs));
}

TEST(BatchTest, JoinTimesOnlyShift) {
  SystemDescription system;
  system.dims = {{TopologyKind::kSwitch, 8, 50, 500}};
  system.local_mem_bytes_per_ns = 100;
  const std::vector<ProcessGroup> groups = {{"world", "", {0, 1, 2, 3, 4, 5, 6, 7}}};
  const GroupIndex group(groups[0].ranks, system);
  for (const AlgorithmKind kind :
       {AlgorithmKind::kRing, AlgorithmKind::kDirect, AlgorithmKind::kHalvingDoubling,
        AlgorithmKind::kDoubleBinaryTree}) {
    const CollectiveImplementation all{false, {{kind, -1}}};
    system.all_reduce = all;
    BatchEvaluator evaluator(&system, &groups);
    const CollectiveCall call{.bytes = 1 << 20};
    BatchAnswer early, late;
    ASSERT_THAT(evaluator.Evaluate(call, group, Values{0, 5, 900, 2, 3, 4, 7, 70'000}, &early),
                IsOk());
    ASSERT_THAT(evaluator.Evaluate(call, group, Values{50, 55, 950, 52, 53, 54, 57, 70'050}, &late),
                IsOk());
    for (int32_t i = 0; i < 8; ++i) EXPECT_EQ(late.EndPs(i), early.EndPs(i) + 50);
    // And nobody is through before the last has joined.
    for (int32_t i = 0; i < 8; ++i) EXPECT_GE(early.EndPs(i), 70'000);
  }
}

// Every type and algorithm on one dimension, joins at random, both semantics: the answer of the
// whole against the engine's, which sends every message.
TEST(BatchTest, SkewedJoinsAreAnsweredAsMessageByMessage) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](int64_t low, int64_t high) {
      return std::uniform_int_distribution<int64_t>(low, high)(random);
    };
    SystemDescription system;
    const bool physical = pick(0, 1) == 0;
    system.semantics = physical ? Semantics::kPhysical : Semantics::kAstra;
    const int32_t n = static_cast<int32_t>(1 << pick(1, 5));
    system.dims = {
        {static_cast<TopologyKind>(pick(0, 3)), n, pick(1, 400) / 8.0, pick(0, 2000) / 4.0}};
    system.endpoint_delay_ns = pick(0, 2) * 7;
    system.local_mem_bytes_per_ns = physical && pick(0, 1) == 0 ? 0 : 500;
    system.splits = static_cast<int32_t>(pick(1, 5));
    system.active_chunks_per_dim = static_cast<int32_t>(pick(1, 3));
    system.num_queues_per_dim = static_cast<int32_t>(pick(1, 3));
    const AlgorithmKind kinds[] = {AlgorithmKind::kRing, AlgorithmKind::kHalvingDoubling,
                                   AlgorithmKind::kDirect};
    CollectiveImplementation all{false, {{kinds[pick(0, 2)], -1}}};
    system.all_reduce = system.all_gather = system.reduce_scatter = all;
    if (all.per_dim[0].kind == AlgorithmKind::kHalvingDoubling) all.per_dim[0] = {};
    system.all_to_all = all;
    OneCollective one;
    const CollectiveType types[] = {CollectiveType::kAllReduce, CollectiveType::kAllGather,
                                    CollectiveType::kReduceScatter, CollectiveType::kAllToAll};
    one.call.type = types[pick(0, 3)];
    one.call.bytes = pick(1, 1 << 18);
    const bool skewed = pick(0, 3) > 0;
    for (int32_t i = 0; i < n; ++i) one.join_ps.push_back(skewed ? pick(0, 40'000'000) : 1000);
    const OneRun messages = RunOne(system, one);

    std::vector<ProcessGroup> groups(1);
    groups[0].ranks.resize(n);
    std::iota(groups[0].ranks.begin(), groups[0].ranks.end(), 0);
    ASSERT_TRUE(BatchCovers(system, one.call.type, UINT32_MAX));
    BatchEvaluator evaluator(&system, &groups);
    BatchAnswer answer;
    one.call.rank = 0;
    ASSERT_THAT(
        evaluator.Evaluate(one.call, GroupIndex(groups[0].ranks, system), one.join_ps, &answer),
        IsOk());
    for (int32_t i = 0; i < n; ++i) {
      ASSERT_EQ(answer.EndPs(i), messages.end_ps[i]) << "seed " << seed << ", member " << i;
      ASSERT_EQ(answer.Bytes(i), messages.network_bytes[i]) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace chakrad
