// Seeded random collectives, groups and systems: whatever is not refused ends, on both back
// ends, in both semantics, and sends what its plan says.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

#include "sim/collective/group_shape.h"
#include "sim/collective/steps.h"
#include "sim/collective/test_run.h"

namespace chakrad {
namespace {

class AnySystem {
 public:
  explicit AnySystem(uint32_t seed) : random_(seed) {}

  int64_t Pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }

  SystemDescription System(Semantics semantics) {
    SystemDescription system;
    system.semantics = semantics;
    for (int64_t dim = 0, dims_count = Pick(1, 3); dim < dims_count; ++dim) {
      system.dims.push_back({static_cast<TopologyKind>(Pick(0, 3)),
                             static_cast<int32_t>(Pick(1, dims_count == 1 ? 12 : 4)),
                             static_cast<double>(Pick(1, 400)) / 4,
                             static_cast<double>(Pick(0, 4000)) / 4});
    }
    for (CollectiveImplementation* implementation :
         {&system.all_reduce, &system.all_gather, &system.reduce_scatter, &system.all_to_all}) {
      implementation->flat = Pick(0, 5) == 0;
      implementation->per_dim.resize(implementation->flat ? 1 : system.dims.size());
      for (AlgorithmChoice& choice : implementation->per_dim) {
        choice.kind = static_cast<AlgorithmKind>(Pick(0, 3));
        if (choice.kind == AlgorithmKind::kDirect && Pick(0, 1) == 0) {
          choice.window = static_cast<int32_t>(Pick(1, 5));
        }
      }
    }
    system.local_bw_aware = Pick(0, 1) == 0;
    system.splits = static_cast<int32_t>(Pick(1, 7));
    system.active_chunks_per_dim = static_cast<int32_t>(Pick(1, 3));
    system.num_queues_per_dim = static_cast<int32_t>(Pick(1, 3));
    system.endpoint_delay_ns = Pick(0, 20);
    system.local_mem_bytes_per_ns = static_cast<double>(Pick(1, 1000));
    return system;
  }

  // Some of the NPUs in some order, often a box; empty: all.
  std::vector<int32_t> Ranks(const SystemDescription& system) {
    std::vector<int32_t> ranks;
    const int32_t npus_count = static_cast<int32_t>(NpusCount(system));
    const int64_t how = Pick(0, 3);
    if (how == 0) return ranks;
    if (how == 1) {
      for (int32_t npu = 0; npu < npus_count; ++npu) {
        if (Pick(0, 2) > 0) ranks.push_back(npu);
      }
      std::shuffle(ranks.begin(), ranks.end(), random_);
      return ranks;
    }
    ranks = {0};
    int32_t stride = 1;
    for (const NetworkDim& dim : system.dims) {
      std::vector<int32_t> next;
      const int64_t first = Pick(0, dim.npus_count - 1), last = Pick(first, dim.npus_count - 1);
      for (int64_t coordinate = first; coordinate <= last; ++coordinate) {
        for (const int32_t rank : ranks) {
          next.push_back(rank + static_cast<int32_t>(coordinate) * stride);
        }
      }
      ranks = next;
      stride *= dim.npus_count;
    }
    return ranks;
  }

 private:
  std::mt19937 random_;
};

int64_t PlannedBytes(const SystemDescription& system, const OneCollective& one,
                     const GroupShape& shape) {
  CollectiveSpec spec{one.call.type, one.call.bytes, one.call.involved_dims};
  CollectivePlan plan;
  PlanCollective(system, spec, shape, &plan);
  int64_t sum = 0;
  for (const CollectivePhase& phase : plan.phases) {
    for (int32_t member = 0; member < shape.ranks_count; ++member) {
      sum += SentBytes(phase, plan.chunks_count, PlaceOf(phase, member));
    }
  }
  return sum;
}

// Whether everybody waits for everybody.
bool AllForAll(const SystemDescription& system, const OneCollective& one, const GroupShape& shape) {
  if (HasRoot(one.call.type)) return false;
  for (size_t dim = 0; dim < system.dims.size(); ++dim) {
    if (shape.fits && shape.counts[dim] > 1 && (one.call.involved_dims >> dim & 1) == 0) {
      return false;
    }
  }
  return true;
}

class AnySystemTest : public testing::TestWithParam<Semantics> {};

TEST_P(AnySystemTest, EveryCollectiveThatIsNotRefusedEnds) {
  int ran = 0, flat = 0, refused = 0;
  for (uint32_t seed = 0; seed < 1500; ++seed) {
    AnySystem any(seed);
    SystemDescription system = any.System(GetParam());
    OneCollective one;
    one.ranks = any.Ranks(system);
    const int32_t npus_count = static_cast<int32_t>(NpusCount(system));
    const GroupShape shape = one.ranks.empty() ? WholeShape(system) : ShapeOf(system, one.ranks);
    one.call.type = static_cast<CollectiveType>(any.Pick(0, kCollectiveTypesCount - 1));
    one.call.bytes = any.Pick(0, 3) == 0 ? any.Pick(0, 20) : any.Pick(0, 1 << 20);
    if (any.Pick(0, 4) == 0) one.call.involved_dims = static_cast<uint32_t>(any.Pick(0, 7));
    if (HasRoot(one.call.type)) {
      const int32_t place = static_cast<int32_t>(any.Pick(0, shape.ranks_count - 1));
      one.call.root = one.ranks.empty() ? place : one.ranks[place];
    }
    for (int32_t i = 0; i < shape.ranks_count && seed % 2 == 1; ++i) {
      one.join_ps.push_back(any.Pick(0, 2'000'000));
    }
    if (!PlanFault(system, one.call.type, shape).empty()) {
      ++refused;
      continue;
    }
    if (shape.ranks_count == 0) continue;
    ++ran;
    flat += shape.fits ? 0 : 1;
    for (const NetworkBackEnd back_end : {NetworkBackEnd::kAnalytical, NetworkBackEnd::kLink}) {
      system.back_end = back_end;
      const OneRun run = RunOne(system, one);
      ASSERT_TRUE(run.waits.empty()) << "seed " << seed;
      int64_t sum = 0;
      for (const int64_t bytes : run.network_bytes) sum += bytes;
      if (!HasRoot(one.call.type)) {
        EXPECT_EQ(sum, PlannedBytes(system, one, shape)) << "seed " << seed;
      }
      const int64_t last_ps =
          one.join_ps.empty() ? 0 : *std::max_element(one.join_ps.begin(), one.join_ps.end());
      for (int32_t i = 0; i < shape.ranks_count; ++i) {
        const int64_t join_ps = one.join_ps.empty() ? 0 : one.join_ps[i];
        EXPECT_GE(run.end_ps[i], AllForAll(system, one, shape) ? last_ps : join_ps)
            << "seed " << seed;
      }
    }
    EXPECT_LE(shape.ranks_count, npus_count);
  }
  EXPECT_GT(ran, 700);
  EXPECT_GT(flat, 50);
  EXPECT_GT(refused, 50);
}

INSTANTIATE_TEST_SUITE_P(Semantics, AnySystemTest,
                         testing::Values(Semantics::kAstra, Semantics::kPhysical),
                         [](const auto& info) { return std::string(SemanticsName(info.param)); });

}  // namespace
}  // namespace chakrad
