// Values that nobody means: refused before anything runs, with field, value and limit. What the
// readers of files refuse is in their own tests; here, what reaches Simulate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "common/status_matchers.h"
#include "sim/simulate.h"
#include "sim/test_traces.h"

namespace chakrad {
namespace {

using absl::StatusCode;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Semantics kBoth[] = {Semantics::kAstra, Semantics::kPhysical};

SystemDescription Ring(Semantics semantics, int32_t npus_count) {
  SystemDescription system = TestSystem({{TopologyKind::kRing, npus_count, 50, 500}});
  system.semantics = semantics;
  return system;
}

absl::StatusOr<SimResult> RunTrace(const Trace& trace, const SystemDescription& system) {
  return Simulate(trace, system, SimOptions(), nullptr);
}

// An all-reduce of two ranks on a ring that `change` has changed.
template <typename Change>
absl::Status RunChanged(Semantics semantics, Change change) {
  TraceMaker maker(2);
  maker.OnAll(1, CollectiveType::kAllReduce, 64);
  SystemDescription system = Ring(semantics, 2);
  change(&system);
  return RunTrace(maker.Make(), system).status();
}

// How faults name a field of dimension 0.
std::string Field(Semantics semantics, const std::string& name) {
  return semantics == Semantics::kAstra ? name + "[0]" : "network.dimensions[0]." + name;
}

TEST(BadInputTest, BandwidthsAreFiniteAndAboveZero) {
  const struct {
    double value;
    const char* shown;
  } kCases[] = {{0, "0"}, {-1, "-1"}, {kNan, "nan"}, {kInfinity, "inf"}, {-0.0, "-0"}};
  for (const Semantics semantics : kBoth) {
    for (const auto& test : kCases) {
      EXPECT_THAT(
          RunChanged(semantics,
                     [&](SystemDescription* s) { s->dims[0].bytes_per_ns = test.value; }),
          StatusIs(StatusCode::kInvalidArgument, "system: " + Field(semantics, "bandwidth") + ": " +
                                                     test.shown + " is not finite and above 0"));
    }
  }
}

TEST(BadInputTest, LatenciesAreFiniteAndAtLeastZero) {
  const struct {
    double value;
    const char* shown;
  } kCases[] = {{kNan, "nan"}, {-5, "-5"}, {kInfinity, "inf"}};
  for (const Semantics semantics : kBoth) {
    for (const auto& test : kCases) {
      EXPECT_THAT(
          RunChanged(semantics, [&](SystemDescription* s) { s->dims[0].latency_ns = test.value; }),
          StatusIs(StatusCode::kInvalidArgument, "system: " + Field(semantics, "latency") + ": " +
                                                     test.shown + " is not finite and at least 0"));
    }
    EXPECT_THAT(RunChanged(semantics, [](SystemDescription* s) { s->dims[0].latency_ns = 0; }),
                IsOk());
  }
}

TEST(BadInputTest, ALinkThatDiffersHasFiniteValuesToo) {
  for (const auto& [bandwidth, latency] : {std::pair(-1.0, 0.0), std::pair(kNan, 0.0)}) {
    EXPECT_THAT(RunChanged(Semantics::kPhysical,
                           [&](SystemDescription* s) {
                             s->link_overrides = {{0, 0, 1, bandwidth, latency}};
                           }),
                StatusIs(StatusCode::kInvalidArgument, "network.links[0].bandwidth: "));
  }
  EXPECT_THAT(
      RunChanged(Semantics::kPhysical,
                 [](SystemDescription* s) {
                   s->link_overrides = {{0, 0, 1, 5, kNan}};
                 }),
      StatusIs(StatusCode::kInvalidArgument, "network.links[0].latency: nan is not finite"));
}

TEST(BadInputTest, ThereIsOneImplementationADimension) {
  const auto run = [](Semantics semantics, size_t count) {
    return RunChanged(semantics,
                      [&](SystemDescription* s) { s->all_reduce.per_dim.resize(count); });
  };
  EXPECT_THAT(run(Semantics::kAstra, 3),
              StatusIs(StatusCode::kInvalidArgument,
                       "system: all-reduce-implementation: 3 entries for 1 dimensions"));
  EXPECT_THAT(run(Semantics::kPhysical, 3),
              StatusIs(StatusCode::kInvalidArgument,
                       "system: algorithms.all_reduce: 3 entries for 1 dimensions"));
  EXPECT_THAT(run(Semantics::kPhysical, 0),
              StatusIs(StatusCode::kInvalidArgument, "0 entries for 1 dimensions"));
}

TEST(BadInputTest, TwentyDimensionsAreTooMany) {
  for (const Semantics semantics : kBoth) {
    SystemDescription system =
        TestSystem(std::vector<NetworkDim>(20, {TopologyKind::kRing, 1, 50, 500}));
    system.semantics = semantics;
    TraceMaker maker(1);
    EXPECT_THAT(RunTrace(maker.Make(), system),
                StatusIs(StatusCode::kInvalidArgument, "dimensions: 20 is not in [1, 8]"));
  }
}

TEST(BadInputTest, HalvingDoublingNeedsAPowerOfTwoOfAWorldAndOfAGroup) {
  for (const Semantics semantics : kBoth) {
    TraceMaker world(6);
    world.OnAll(1, CollectiveType::kAllReduce, 64);
    SystemDescription six = Ring(semantics, 6);
    SetAlgorithm(&six, {AlgorithmKind::kHalvingDoubling, -1});
    EXPECT_THAT(RunTrace(world.Make(), six),
                StatusIs(StatusCode::kInvalidArgument,
                         "halvingDoubling needs a power of two of NPUs, and there are 6"));
    TraceMaker part(4);
    const uint32_t three = part.AddGroup("three", {0, 1, 2});
    for (int32_t rank = 0; rank < 3; ++rank) {
      part.Collective(rank, 7, CollectiveType::kAllReduce, 64, three);
    }
    SystemDescription four = Ring(semantics, 4);
    SetAlgorithm(&four, {AlgorithmKind::kHalvingDoubling, -1});
    EXPECT_THAT(RunTrace(part.Make(), four),
                StatusIs(StatusCode::kInvalidArgument,
                         "rank 0, node 7 (coll): ALL_REDUCE in group \"three\" (entry 1): "
                         "halvingDoubling needs a power of two of ranks, and the group has 3"));
  }
}

TEST(BadInputTest, ARankOfAGroupIsInTheWorld) {
  for (const Semantics semantics : kBoth) {
    TraceMaker maker(2);
    const uint32_t group = maker.AddGroup("dp", {0, 1, 2});
    maker.Collective(0, 7, CollectiveType::kAllReduce, 64, group);
    EXPECT_THAT(RunTrace(maker.Make(), Ring(semantics, 2)),
                StatusIs(StatusCode::kInvalidArgument,
                         "rank 0, node 7 (coll): group: \"dp\" (entry 1) holds rank 2, which is "
                         "not in [0, 2)"));
  }
}

TEST(BadInputTest, NobodySendsToItself) {
  for (const Semantics semantics : kBoth) {
    TraceMaker maker(2);
    maker.Send(1, 7, 1, 64);
    maker.Receive(1, 8, 1, 64);
    EXPECT_THAT(RunTrace(maker.Make(), Ring(semantics, 2)),
                StatusIs(StatusCode::kInvalidArgument,
                         "rank 1, node 7 (send): peer: 1 is the rank itself"));
  }
}

TEST(BadInputTest, SizesHaveALimitAndAreNotNegative) {
  constexpr int64_t kLimit = int64_t{1} << 42;
  for (const Semantics semantics : kBoth) {
    for (const int64_t bytes : {int64_t{1} << 62, kLimit + 1, int64_t{-1}, INT64_MIN}) {
      const std::string want = "bytes: " + std::to_string(bytes) + " is not in [0, 4398046511104]";
      for (int type = 0; type < kCollectiveTypesCount; ++type) {
        TraceMaker maker(2);
        maker.OnAll(7, static_cast<CollectiveType>(type), bytes);
        EXPECT_THAT(RunTrace(maker.Make(), Ring(semantics, 2)),
                    StatusIs(StatusCode::kInvalidArgument, "rank 0, node 7 (coll): " + want));
      }
      TraceMaker maker(2);
      maker.Send(0, 7, 1, bytes);
      maker.Receive(1, 8, 0, bytes);
      EXPECT_THAT(RunTrace(maker.Make(), Ring(semantics, 2)),
                  StatusIs(StatusCode::kInvalidArgument, "rank 0, node 7 (send): " + want));
    }
    TraceMaker maker(2);
    maker.OnAll(7, CollectiveType::kAllReduce, kLimit);
    EXPECT_THAT(RunTrace(maker.Make(), Ring(semantics, 2)), IsOk());
  }
}

// ---- What is legal, and said.

TEST(BadInputTest, ACollectiveOfNoBytesIsSaid) {
  for (const Semantics semantics : kBoth) {
    TraceMaker maker(2);
    maker.Comp(0, 1, 10);  // So that the run is not without work.
    maker.OnAll(7, CollectiveType::kAllReduce, 0);
    ASSERT_OK_AND_ASSIGN(const SimResult result, RunTrace(maker.Make(), Ring(semantics, 2)));
    EXPECT_GT(result.end_ps, 0);
    EXPECT_THAT(result.notices, Contains(HasSubstr(semantics == Semantics::kAstra
                                                       ? "2 collectives state 0 bytes: each was "
                                                         "charged as the smallest message"
                                                       : "2 collectives state 0 bytes: each was "
                                                         "charged latencies and nothing else")));
  }
}

TEST(BadInputTest, AMessageOfNoBytesTakesItsLatencyAndIsSaid) {
  for (const Semantics semantics : kBoth) {
    for (const NetworkBackEnd back_end : {NetworkBackEnd::kAnalytical, NetworkBackEnd::kLink}) {
      TraceMaker maker(2);
      maker.Comp(0, 1, 10);
      maker.Send(0, 7, 1, 0);
      maker.Receive(1, 8, 0, 0);
      SystemDescription system = Ring(semantics, 2);
      system.back_end = back_end;
      ASSERT_OK_AND_ASSIGN(const SimResult result, RunTrace(maker.Make(), system));
      EXPECT_EQ(result.end_ps, 500'000);
      EXPECT_EQ(result.network_bytes, 0);
      EXPECT_THAT(result.notices, Contains(HasSubstr("1 sends state 0 bytes: each was charged "
                                                     "latencies and nothing else")));
    }
  }
}

// Astra: a chunk is at least a byte an NPU, and as many as were asked for. Physical: chunks are
// exact shares, and of one dimension there is only one.
TEST(BadInputTest, MoreSplitsThanBytesWork) {
  const auto end_ps = [](Semantics semantics, int32_t splits, int64_t bytes) {
    TraceMaker maker(4);
    maker.OnAll(7, CollectiveType::kAllReduce, bytes);
    SystemDescription system = Ring(semantics, 4);
    system.dims[0].bytes_per_ns = 0.25;  // 4 ns a byte.
    system.endpoint_delay_ns = 0;
    system.splits = splits;
    system.local_mem_bytes_per_ns = semantics == Semantics::kAstra ? 1e15 : 0;
    const absl::StatusOr<SimResult> result = RunTrace(maker.Make(), system);
    EXPECT_THAT(result, IsOk());
    return result.ok() ? result->end_ps : -1;
  };
  for (const int32_t splits : {1, 7, 4096}) {
    // 6 (L + 2/4 B).
    EXPECT_EQ(end_ps(Semantics::kPhysical, splits, 2), 6 * (500'000 + 2'000)) << splits;
    // Chunks of 4 bytes one after the other, messages of one.
    EXPECT_EQ(end_ps(Semantics::kAstra, splits, 2), int64_t{splits} * 6 * (500'000 + 4'000))
        << splits;
  }
}

}  // namespace
}  // namespace chakrad
