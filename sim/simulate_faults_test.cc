// What is refused before a run, and how a run that cannot finish says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/status_matchers.h"
#include "sim/simulate.h"
#include "sim/test_traces.h"

namespace chakrad {
namespace {

using absl::StatusCode;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kMib = 1 << 20;

SystemDescription Ring(int32_t npus_count) {
  return TestSystem({{TopologyKind::kRing, npus_count, 50, 500}});
}

absl::Status RunTrace(const Trace& trace, const SystemDescription& system,
                      const SimOptions& options = {}, SimObserver* observer = nullptr) {
  return Simulate(trace, system, options, observer).status();
}
absl::Status RunTrace(const Trace& trace) { return RunTrace(trace, Ring(trace.world_size)); }

// ---- Before the run.

TEST(SimulateFaultsTest, RankCountAndTopologyMustAgreeAndBothAreNamed) {
  TraceMaker maker(32);
  EXPECT_THAT(RunTrace(maker.Make(), Ring(8)),
              StatusIs(StatusCode::kInvalidArgument,
                       "the trace has 32 ranks and the topology has 8 NPUs: Ring 8"));
}

TEST(SimulateFaultsTest, MissingRanksAreListed) {
  TraceMaker maker(4);
  EXPECT_THAT(RunTrace(maker.Make({1, 3})),
              StatusIs(StatusCode::kInvalidArgument, "has 2 of 4 ranks; missing: 1, 3"));
}

TEST(SimulateFaultsTest, ATraceWithoutRanksIsRefused) {
  TraceMaker maker(2);
  SimOptions options;
  options.replicate_missing_ranks = true;
  EXPECT_THAT(RunTrace(maker.Make({0, 1}), Ring(2), options),
              StatusIs(StatusCode::kInvalidArgument, "the trace has no ranks"));
}

TEST(SimulateFaultsTest, BadSystemsAreRefused) {
  TraceMaker maker(2);
  SystemDescription system = Ring(2);
  system.dims[0].bytes_per_ns = 0;
  system.splits = 0;
  EXPECT_THAT(RunTrace(maker.Make(), system),
              StatusIs(StatusCode::kInvalidArgument,
                       "system: bandwidth[0]: 0 is not finite and above 0; "
                       "preferred-dataset-splits: 0 is not in [1, 4096]"));
}

TEST(SimulateFaultsTest, GroupsMustBeKnownAndInTheWorld) {
  const auto run = [](const std::vector<int32_t>& ranks, uint32_t group_offset) {
    TraceMaker maker(4);
    const uint32_t group = maker.AddGroup("tp", ranks);
    maker.Collective(1, 5, CollectiveType::kAllReduce, 8, group + group_offset);
    return RunTrace(maker.Make());
  };
  EXPECT_THAT(run({0, 1, 70}, 0),
              StatusIs(StatusCode::kInvalidArgument,
                       "rank 1, node 5 (coll): group: \"tp\" (entry 1) holds rank 70, which is "
                       "not in [0, 4)"));
  EXPECT_THAT(run({1, -1}, 0), StatusIs(StatusCode::kInvalidArgument, "holds rank -1"));
  EXPECT_THAT(run({}, 0), StatusIs(StatusCode::kInvalidArgument,
                                   "node 5 (coll): group: the members of \"tp\" (entry 1) are "
                                   "unknown"));
  EXPECT_THAT(run({1, 2, 1}, 0), StatusIs(StatusCode::kInvalidArgument, "holds rank 1 twice"));
  EXPECT_THAT(run({0, 2}, 0), StatusIs(StatusCode::kInvalidArgument, "does not hold rank 1"));
  EXPECT_THAT(run({0, 1}, 7), StatusIs(StatusCode::kInvalidArgument, "group: 8 is not in [0, 2)"));
}

TEST(SimulateFaultsTest, PeersAndSizesMustMakeSense) {
  const auto run = [](int32_t peer, int64_t bytes) {
    TraceMaker maker(4);
    maker.Send(1, 5, peer, bytes);
    return RunTrace(maker.Make());
  };
  EXPECT_THAT(run(4, 8), StatusIs(StatusCode::kInvalidArgument,
                                  "rank 1, node 5 (send): peer: 4 is not in [0, 4)"));
  EXPECT_THAT(run(-1, 8), StatusIs(StatusCode::kInvalidArgument, "peer: -1 is not in [0, 4)"));
  EXPECT_THAT(run(1, 8), StatusIs(StatusCode::kInvalidArgument, "peer: 1 is the rank itself"));
  EXPECT_THAT(run(2, -8), StatusIs(StatusCode::kInvalidArgument, "bytes: -8 is not in [0, "));
  EXPECT_THAT(run(2, INT64_MAX), StatusIs(StatusCode::kInvalidArgument, "is not in [0, "));
}

TEST(SimulateFaultsTest, CommunicationNeedsItsAttributes) {
  TraceMaker maker(1);
  maker.Add(0, NodeSpec{.id = 3, .type = NodeType::kCommColl, .name = "bare"});
  EXPECT_THAT(RunTrace(maker.Make()), StatusIs(StatusCode::kInvalidArgument,
                                               "rank 0, node 3 (bare): communication without its"));
}

TEST(SimulateFaultsTest, MemoryNodesNeedADuration) {
  TraceMaker maker(1);
  maker.Add(0, NodeSpec{.id = 3, .type = NodeType::kMemLoad, .name = "load", .work_ns = 0});
  EXPECT_THAT(RunTrace(maker.Make()),
              StatusIs(StatusCode::kInvalidArgument,
                       "node 3 (load): a memory node without a recorded duration"));
  // A recorded interval of less than the recorder's unit is a duration.
  TraceMaker recorded(1);
  recorded.Add(
      0,
      NodeSpec{.id = 3, .type = NodeType::kMemLoad, .name = "load", .start_ns = 7, .work_ns = 0});
  EXPECT_THAT(RunTrace(recorded.Make()), IsOk());
}

TEST(SimulateFaultsTest, AlgorithmsThatDoNotFitAGroupAreRefused) {
  TraceMaker maker(4);
  const uint32_t three = maker.AddGroup("three", {0, 1, 2});
  for (int32_t rank = 0; rank < 3; ++rank) {
    maker.Collective(rank, 1, CollectiveType::kAllReduce, 8, three);
  }
  SystemDescription system = Ring(4);
  SetAlgorithm(&system, {AlgorithmKind::kDoubleBinaryTree, -1});
  EXPECT_THAT(RunTrace(maker.Make(), system),
              StatusIs(StatusCode::kInvalidArgument,
                       "doubleBinaryTree needs a power of two of ranks, and the group has 3"));
}

// ---- Runs that cannot finish.

TEST(SimulateFaultsTest, ASendWithoutReceiveNamesTheNodeThatWaits) {
  TraceMaker maker(2);
  maker.Send(0, 5, 1, 64, 1);
  maker.Comp(1, 1, 10);
  EXPECT_THAT(RunTrace(maker.Make()),
              StatusIs(StatusCode::kFailedPrecondition,
                       "rank 0, node 5 (send) sends 64 bytes (tag 1) to rank 1, which has no "
                       "receive for it"));
}

TEST(SimulateFaultsTest, AReceiveWithoutSendNamesTheNodeThatWaits) {
  TraceMaker maker(2);
  maker.Receive(1, 5, 0, 64, 1);
  EXPECT_THAT(RunTrace(maker.Make()),
              StatusIs(StatusCode::kFailedPrecondition,
                       "rank 1, node 5 (recv) waits for 64 bytes (tag 1) from rank 0, which sends "
                       "no such"));
}

TEST(SimulateFaultsTest, SizesOrTagsThatDifferNameBothNodes) {
  TraceMaker sizes(2);
  sizes.Send(0, 5, 1, 64, 1);
  sizes.Receive(1, 6, 0, 128, 1);
  EXPECT_THAT(RunTrace(sizes.Make()),
              StatusIs(StatusCode::kFailedPrecondition,
                       "rank 0, node 5 (send) sends 64 bytes (tag 1) to rank 1, but rank 1, node 6 "
                       "(recv) waits for 128 bytes (tag 1) from rank 0"));
  TraceMaker tags(2);
  tags.Send(0, 5, 1, 64, 1);
  tags.Receive(1, 6, 0, 64, 2);
  EXPECT_THAT(RunTrace(tags.Make()), StatusIs(StatusCode::kFailedPrecondition, "(tag 2)"));
}

TEST(SimulateFaultsTest, ManyUnmatchedMessagesAreListedUpToTenAndCounted) {
  TraceMaker maker(2);
  for (uint64_t id = 0; id < 25; ++id) maker.Send(0, id, 1, 64, static_cast<int64_t>(id));
  const absl::Status status = RunTrace(maker.Make());
  EXPECT_THAT(status, StatusIs(StatusCode::kFailedPrecondition, "25 sends and receives do not"));
  EXPECT_THAT(status, StatusIs(StatusCode::kFailedPrecondition, "and 15 more"));
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr("node 10 ")));
}

TEST(SimulateFaultsTest, BothSidesReceivingFirstIsADeadlockThatNamesBoth) {
  TraceMaker maker(2);
  for (int32_t rank = 0; rank < 2; ++rank) {
    maker.Receive(rank, 1, 1 - rank, 64, 1);
    maker.Send(rank, 2, 1 - rank, 64, 1, {1});
  }
  const absl::Status status = RunTrace(maker.Make());
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("at 0 ns 2 of 2 ranks wait, with 4 nodes not run"),
                    HasSubstr("rank 0, node 1 (recv) waits for 64 bytes (tag 1) from rank 1"),
                    HasSubstr("rank 1, node 1 (recv) waits for 64 bytes (tag 1) from rank 0")));
}

TEST(SimulateFaultsTest, ARankThatNeverJoinsIsNamed) {
  TraceMaker maker(4);
  const uint32_t group = maker.AddGroup("dp", {0, 2, 3});
  maker.Collective(0, 4, CollectiveType::kAllReduce, kMib, group);
  maker.Comp(2, 1, 10);
  maker.Collective(3, 4, CollectiveType::kAllReduce, kMib, group);
  const absl::Status status = RunTrace(maker.Make());
  EXPECT_THAT(status,
              StatusIs(StatusCode::kFailedPrecondition,
                       "rank 0, node 4 (coll) is collective 0 of group \"dp\" and waits for rank "
                       "2 (finished) to join; rank 3, node 4 (coll) is collective 0"));
}

TEST(SimulateFaultsTest, CollectivesInOppositeOrderWaitForEachOther) {
  // Ranks 0 and 1 take groups a and b in opposite order; one collective of a rank runs at a
  // time.
  TraceMaker maker(2);
  const uint32_t a = maker.AddGroup("a", {0, 1});
  const uint32_t b = maker.AddGroup("b", {1, 0});
  for (int32_t rank = 0; rank < 2; ++rank) {
    maker.Collective(rank, 1, CollectiveType::kAllReduce, 8, rank == 0 ? a : b);
    maker.Collective(rank, 2, CollectiveType::kAllReduce, 8, rank == 0 ? b : a);
  }
  const absl::Status status = RunTrace(maker.Make());
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("rank 0, node 1 (coll) is collective 0 of group \"a\" and waits for "
                              "rank 1 to join"),
                    HasSubstr("rank 1, node 1 (coll) is collective 0 of group \"b\" and waits for "
                              "rank 0 to join"),
                    HasSubstr("node 2 (coll) is ready and waits for node 1 (coll) of the same rank "
                              "to end")));
}

TEST(SimulateFaultsTest, ManyWaitingNodesAreListedUpToTenAndCounted) {
  TraceMaker maker(64);
  for (int32_t rank = 0; rank < 63; ++rank) {
    maker.Collective(rank, 1, CollectiveType::kAllReduce, 8);
  }
  const absl::Status status = RunTrace(maker.Make());
  EXPECT_THAT(status, StatusIs(StatusCode::kFailedPrecondition, "63 of 64 ranks wait"));
  EXPECT_THAT(status, StatusIs(StatusCode::kFailedPrecondition, "; and 53 more"));
}

TEST(SimulateFaultsTest, ADependencyCycleIsWalked) {
  TraceMaker maker(1);
  maker.Comp(0, 1, 10);
  maker.Comp(0, 5, 10, {1, 7});
  maker.Comp(0, 6, 10, {5});
  maker.Comp(0, 7, 10, {6});
  maker.Comp(0, 8, 10, {7});
  EXPECT_THAT(RunTrace(maker.Make()),
              StatusIs(StatusCode::kFailedPrecondition,
                       "rank 0: the run cannot finish: a dependency cycle: node 5 (comp) waits for "
                       "node 7 (comp) waits for node 6 (comp) waits for node 5 (comp)"));
}

TEST(SimulateFaultsTest, MembersThatDisagreeAreBothNamed) {
  const auto run = [](CollectiveType type, int64_t bytes) {
    TraceMaker maker(2);
    maker.Collective(0, 1, CollectiveType::kAllReduce, 64);
    maker.Collective(1, 3, type, bytes);
    return RunTrace(maker.Make());
  };
  EXPECT_THAT(run(CollectiveType::kAllReduce, 128),
              StatusIs(StatusCode::kFailedPrecondition,
                       "collective 0 of group world: its members disagree: rank 0, node 1 (coll) "
                       "is ALL_REDUCE of 64 bytes, and rank 1, node 3 (coll) is ALL_REDUCE of 128 "
                       "bytes"));
  EXPECT_THAT(run(CollectiveType::kAllGather, 64),
              StatusIs(StatusCode::kFailedPrecondition, "is ALL_GATHER of 64 bytes"));
  EXPECT_THAT(run(CollectiveType::kAllReduce, 64), IsOk());
}

// ---- Limits and callers.

TEST(SimulateFaultsTest, TooManyEventsEndTheRun) {
  TraceMaker maker(4);
  maker.OnAll(1, CollectiveType::kAllReduce, kMib);  // 24 messages and 4 ends.
  const Trace trace = maker.Make();
  SimOptions options;
  options.whole_collectives = false;
  options.max_events = 28;
  EXPECT_THAT(RunTrace(trace, Ring(4), options), IsOk());
  options.max_events = 27;
  EXPECT_THAT(RunTrace(trace, Ring(4), options),
              StatusIs(StatusCode::kResourceExhausted, "max_events: more than 27 events"));
  options.max_events = 0;
  EXPECT_THAT(RunTrace(trace, Ring(4), options),
              StatusIs(StatusCode::kInvalidArgument, "max_events"));
}

TEST(SimulateFaultsTest, ACollectiveTooLargeForMemoryIsRefusedByName) {
  TraceMaker maker(4096);
  maker.OnAll(1, CollectiveType::kAllReduce, int64_t{1} << 30);
  SystemDescription system = Ring(4096);
  system.splits = 4096;
  system.active_chunks_per_dim = 4096;
  SetAlgorithm(&system, {AlgorithmKind::kDirect, -1});
  SimOptions options;
  options.whole_collectives = false;
  EXPECT_THAT(RunTrace(maker.Make(), system, options),
              StatusIs(StatusCode::kResourceExhausted, "rank 0, node 1 (coll)"));
}

TEST(SimulateFaultsTest, SimulatedTimeHasAnEnd) {
  TraceMaker maker(1);
  maker.Comp(0, 1, INT64_MAX);
  EXPECT_THAT(RunTrace(maker.Make()), StatusIs(StatusCode::kOutOfRange, "simulated time passes"));
}

TEST(SimulateFaultsTest, HugeDelaysEndAtTheHorizonToo) {
  // Early messages let one rank run ahead through a chain without events between.
  TraceMaker maker(64);
  maker.OnAll(1, CollectiveType::kAllReduce, int64_t{1} << 42);
  const Trace trace = maker.Make();
  SystemDescription system = Ring(64);
  system.endpoint_delay_ns = 1'000'000'000'000;
  system.local_mem_bytes_per_ns = 1e-300;
  system.dims[0].bytes_per_ns = 1e-300;
  for (const AlgorithmKind kind :
       {AlgorithmKind::kRing, AlgorithmKind::kDirect, AlgorithmKind::kHalvingDoubling,
        AlgorithmKind::kDoubleBinaryTree}) {
    SetAlgorithm(&system, {kind, -1});
    EXPECT_THAT(RunTrace(trace, system), StatusIs(StatusCode::kOutOfRange, "passes"));
  }
}

TEST(SimulateFaultsTest, AnObserverCanCancelAndSeesProgress) {
  TraceMaker maker(16);
  maker.OnAll(1, CollectiveType::kAllReduce, 64 * kMib);
  const Trace trace = maker.Make();
  SystemDescription system = Ring(16);
  system.splits = 64;
  SimOptions options;
  options.whole_collectives = false;
  RecordingObserver observer;
  EXPECT_THAT(RunTrace(trace, system, options, &observer), IsOk());
  ASSERT_GE(observer.progress.size(), 3u);
  for (size_t i = 1; i < observer.progress.size(); ++i) {
    EXPECT_GE(observer.progress[i].now_ps, observer.progress[i - 1].now_ps);
    EXPECT_GT(observer.progress[i].events_count, observer.progress[i - 1].events_count);
  }
  EXPECT_EQ(observer.progress.back().nodes_done, 16);
  EXPECT_EQ(observer.progress.back().nodes_count, 16);
  observer.cancel = true;
  EXPECT_THAT(RunTrace(trace, system, options, &observer),
              StatusIs(StatusCode::kCancelled, "4096 events"));
}

}  // namespace
}  // namespace chakrad
