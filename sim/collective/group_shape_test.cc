// Groups on the dimensions of a network: which fit, and that those run as if they were the
// system.
#include "sim/collective/group_shape.h"

#include <gtest/gtest.h>

#include <random>

#include "sim/collective/test_run.h"

namespace chakrad {
namespace {

SystemDescription System(std::vector<NetworkDim> dims) {
  SystemDescription system;
  system.semantics = Semantics::kPhysical;
  system.dims = std::move(dims);
  const CollectiveImplementation all{
      false, std::vector<AlgorithmChoice>(system.dims.size(), {AlgorithmKind::kDirect, -1})};
  system.all_reduce = system.all_gather = system.reduce_scatter = system.all_to_all = all;
  system.endpoint_delay_ns = 0;
  return system;
}

NetworkDim Switch(int32_t npus_count) { return {TopologyKind::kSwitch, npus_count, 50, 500}; }

std::vector<int32_t> Counts(const SystemDescription& system, const std::vector<int32_t>& ranks) {
  const GroupShape shape = ShapeOf(system, ranks);
  EXPECT_EQ(shape.ranks_count, static_cast<int32_t>(ranks.size()));
  if (!shape.fits) return {};
  return {shape.counts.begin(), shape.counts.begin() + system.dims.size()};
}

TEST(GroupShapeTest, BoxesOfCoordinatesFit) {
  const SystemDescription system = System({Switch(4), Switch(2), Switch(3)});  // 24 NPUs.
  using V = std::vector<int32_t>;
  EXPECT_EQ(Counts(system, {0, 1, 2, 3}), (V{4, 1, 1}));
  EXPECT_EQ(Counts(system, {2, 6}), (V{1, 2, 1}));
  EXPECT_EQ(Counts(system, {5, 13, 21}), (V{1, 1, 3}));
  EXPECT_EQ(Counts(system, {0, 1, 4, 5}), (V{2, 2, 1}));
  EXPECT_EQ(Counts(system, {0, 3, 16, 19}), (V{2, 1, 2}));
  EXPECT_EQ(Counts(system, {7}), (V{1, 1, 1}));
  EXPECT_EQ(Counts(system, {0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19}), (V{4, 1, 3}));
}

TEST(GroupShapeTest, OtherGroupsAndOtherOrdersDoNotFit) {
  SystemDescription system = System({Switch(4), Switch(2)});
  EXPECT_TRUE(Counts(system, {0, 1, 4}).empty());
  EXPECT_TRUE(Counts(system, {0, 5}).empty());
  EXPECT_TRUE(Counts(system, {0, 1, 4, 6}).empty());
  EXPECT_TRUE(Counts(system, {1, 0}).empty());
  EXPECT_TRUE(Counts(system, {0, 4, 1, 5}).empty());
  // The whole system is the system, however it is listed.
  EXPECT_EQ(ShapeOf(system, {7, 6, 5, 4, 3, 2, 1, 0}), WholeShape(system));
  system.semantics = Semantics::kAstra;
  EXPECT_TRUE(Counts(system, {0, 1, 2, 3}).empty());
}

TEST(GroupShapeTest, OnlyGroupsThatFitNoneOfSeveralDimensionsAreFlat) {
  const auto is_flat = [](const SystemDescription& system, const std::vector<int32_t>& ranks) {
    CollectivePlan plan;
    PlanCollective(system, CollectiveSpec{CollectiveType::kAllReduce, 1000}, ShapeOf(system, ranks),
                   &plan);
    return plan.flat;
  };
  const SystemDescription system = System({Switch(4), Switch(2)});
  EXPECT_FALSE(is_flat(system, {0, 1, 2}));
  EXPECT_TRUE(is_flat(system, {0, 5}));
  EXPECT_FALSE(is_flat(System({Switch(4)}), {2, 0}));
}

// The box of a larger network behaves as a network of its size, for every type and shape.
TEST(GroupShapeTest, AGroupThatFitsTakesWhatASystemOfItsShapeDoes) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](int32_t low, int32_t high) {
      return std::uniform_int_distribution<int32_t>(low, high)(random);
    };
    std::vector<NetworkDim> large, small;
    std::vector<int32_t> ranks = {0};
    int32_t stride = 1;
    for (int dim = 0; dim < 3; ++dim) {
      NetworkDim along = Switch(pick(1, 4));
      if (pick(0, 1) == 0) along.topology = TopologyKind::kFullyConnected;
      along.bytes_per_ns = pick(1, 100);
      along.latency_ns = pick(0, 1000);
      large.push_back(along);
      // Some of its coordinates, in order.
      std::vector<int32_t> chosen;
      for (int32_t i = 0; i < along.npus_count; ++i) {
        if (pick(0, 2) > 0) chosen.push_back(i);
      }
      if (chosen.empty()) chosen.push_back(along.npus_count - 1);
      std::vector<int32_t> next;
      for (const int32_t coordinate : chosen) {
        for (const int32_t rank : ranks) next.push_back(rank + coordinate * stride);
      }
      ranks = next;
      stride *= along.npus_count;
      along.npus_count = static_cast<int32_t>(chosen.size());
      small.push_back(along);
    }
    if (ranks.size() < 2) continue;
    for (const bool local_bw_aware : {true, false}) {
      SystemDescription on_large = System(large), on_small = System(small);
      on_large.local_bw_aware = on_small.local_bw_aware = local_bw_aware;
      on_large.splits = on_small.splits = pick(1, 4);
      for (int type = 0; type < kCollectiveTypesCount; ++type) {
        OneCollective one;
        one.call.type = static_cast<CollectiveType>(type);
        one.call.bytes = pick(0, 100'000);
        const int32_t root = pick(0, static_cast<int32_t>(ranks.size()) - 1);
        if (HasRoot(one.call.type)) one.call.root = root;
        const OneRun want = RunOne(on_small, one);
        one.ranks = ranks;
        if (HasRoot(one.call.type)) one.call.root = ranks[root];
        const OneRun got = RunOne(on_large, one);
        EXPECT_EQ(got.end_ps, want.end_ps) << "seed " << seed << " type " << type;
        EXPECT_EQ(got.network_bytes, want.network_bytes) << "seed " << seed << " type " << type;
      }
    }
  }
}

}  // namespace
}  // namespace chakrad
