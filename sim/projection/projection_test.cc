#include "sim/projection/projection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "common/status_matchers.h"
#include "sim/simulate.h"
#include "sim/test_traces.h"

namespace chakrad {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

void ExpectSameRank(const RankTrace& a, const RankTrace& b) {
  EXPECT_EQ(a.rank, b.rank);
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.type, b.type);
  EXPECT_EQ(a.work_ns, b.work_ns);
  EXPECT_EQ(a.side, b.side);
  EXPECT_EQ(a.comm, b.comm);
  EXPECT_EQ(a.dep_begin, b.dep_begin);
  EXPECT_EQ(a.dep_node, b.dep_node);
}

void ExpectSame(const Trace& a, const Trace& b) {
  EXPECT_EQ(a.world_size, b.world_size);
  EXPECT_EQ(a.groups, b.groups);
  EXPECT_EQ(a.copies, b.copies);
  ASSERT_EQ(a.ranks.size(), b.ranks.size());
  for (size_t i = 0; i < a.ranks.size(); ++i) ExpectSameRank(a.ranks[i], b.ranks[i]);
}

ProjectionSpec Times(const std::string& group, int32_t factor) {
  ProjectionSpec spec;
  spec.group = group;
  spec.multiply_by = factor;
  return spec;
}
ProjectionSpec Over(const std::string& group, int32_t divisor) {
  ProjectionSpec spec;
  spec.group = group;
  spec.divide_by = divisor;
  return spec;
}

Trace Projected(Trace trace, const ProjectionSpec& spec) {
  absl::StatusOr<Projection> result = ProjectTrace(std::move(trace), spec);
  EXPECT_TRUE(result.ok()) << result.status().ToString();
  return result.ok() ? std::move(result->trace) : Trace();
}

// Data parallel 2 x pipeline 2 x tensor parallel 2; rank = tp + 2 * dp + 4 * pp (or with dp
// outermost: tp + 2 * pp + 4 * dp). Each rank computes as long as its rest says; a pipeline
// stage sends to the next.
Trace ThreeAxes(bool dp_outermost) {
  const int32_t dp_stride = dp_outermost ? 4 : 2, pp_stride = dp_outermost ? 2 : 4;
  TraceMaker maker(8);
  std::vector<uint32_t> tp(8), dp(8);
  for (int32_t i = 0; i < 8; i += 2)
    tp[i] = tp[i + 1] = maker.AddGroup("tp" + std::to_string(i), {i, i + 1});
  for (int32_t rank = 0; rank < 8; ++rank) {
    if (rank / dp_stride % 2 != 0) continue;
    dp[rank] = dp[rank + dp_stride] =
        maker.AddGroup("dp" + std::to_string(rank), {rank, rank + dp_stride});
  }
  for (int32_t rank = 0; rank < 8; ++rank) {
    const int32_t pp = rank / pp_stride % 2;
    maker.Comp(rank, 1, 100 + 10 * pp + rank % 2);
    if (pp == 1) maker.Receive(rank, 2, rank - pp_stride, 4096, 0, {1});
    if (pp == 0) maker.Send(rank, 2, rank + pp_stride, 4096, 0, {1});
    maker.Collective(rank, 3, CollectiveType::kAllReduce, 1 << 20, tp[rank], {2});
    maker.Collective(rank, 4, CollectiveType::kReduceScatter, 1 << 20, dp[rank], {3});
    maker.Collective(rank, 5, CollectiveType::kAllGather, 1 << 19, dp[rank], {4});
    maker.Collective(rank, 6, CollectiveType::kAllReduce, 64, kWorldGroup, {5});
  }
  Trace trace = maker.Make();
  for (size_t group = 1; group < trace.groups.size(); ++group) {
    trace.groups[group].description = trace.groups[group].name.substr(0, 2);
  }
  return trace;
}

TEST(ProjectionTest, TimesOneIsTheSameTrace) {
  for (const bool outermost : {false, true}) {
    ExpectSame(Projected(ThreeAxes(outermost), Times("dp", 1)), ThreeAxes(outermost));
  }
}

TEST(ProjectionTest, TimesTwoThenHalfIsTheSameTrace) {
  for (const bool outermost : {false, true}) {
    for (const int32_t factor : {2, 3, 8}) {
      if (((1 << 19) * 2) % (2 * factor) != 0) continue;
      const Trace more = Projected(ThreeAxes(outermost), Times("dp", factor));
      EXPECT_EQ(more.world_size, 8 * factor);
      ExpectSame(Projected(more, Over("dp", factor)), ThreeAxes(outermost));
      ExpectSame(Projected(WithOwnParts(more), Over("dp", factor)), ThreeAxes(outermost));
    }
  }
}

TEST(ProjectionTest, TimesTwoTwiceIsTimesFour) {
  for (const bool outermost : {false, true}) {
    const Trace twice =
        WithOwnParts(Projected(Projected(ThreeAxes(outermost), Times("dp", 2)), Times("dp", 2)));
    const Trace once = WithOwnParts(Projected(ThreeAxes(outermost), Times("dp", 4)));
    ASSERT_EQ(twice.ranks.size(), once.ranks.size());
    for (size_t i = 0; i < once.ranks.size(); ++i) {
      const RankTrace &a = twice.ranks[i], &b = once.ranks[i];
      EXPECT_EQ(a.work_ns, b.work_ns);
      ASSERT_EQ(a.comm.size(), b.comm.size());
      for (size_t j = 0; j < a.comm.size(); ++j) {
        EXPECT_EQ(a.comm[j].bytes, b.comm[j].bytes);
        EXPECT_EQ(a.comm[j].peer, b.comm[j].peer);
        EXPECT_EQ(twice.groups[a.comm[j].group == kNone ? 0 : a.comm[j].group].ranks,
                  once.groups[b.comm[j].group == kNone ? 0 : b.comm[j].group].ranks);
      }
    }
  }
}

// dp outermost, x2: ranks 8 .. 15 are copies of 0 .. 7.
TEST(ProjectionTest, NewRanksAreCopiesThatShareParts) {
  const Trace trace = Projected(ThreeAxes(true), Times("dp", 2));
  EXPECT_EQ(trace.world_size, 16);
  EXPECT_EQ(trace.ranks.size(), 8u);
  ASSERT_EQ(trace.copies.size(), 8u);
  for (int32_t i = 0; i < 8; ++i) {
    EXPECT_EQ(trace.copies[i].rank, 8 + i);
    EXPECT_EQ(trace.copies[i].of, i);
  }
  // tp0 {0, 1} is entry 1; its copy at place 2 of the axis is the first new entry.
  EXPECT_EQ(trace.groups[9].name, "tp0#2");
  EXPECT_THAT(trace.groups[9].ranks, ElementsAre(8, 9));
  EXPECT_EQ(trace.groups[9].description, "tp");
  EXPECT_THAT(trace.copies[0].groups, ElementsAre(Pair(1, 9)));
  EXPECT_THAT(trace.groups[5].ranks, ElementsAre(0, 4, 8, 12));  // dp0.
  EXPECT_EQ(trace.groups[0].ranks.size(), 16u);
  EXPECT_TRUE(trace.MissingRanks().empty());
  EXPECT_EQ(trace.FindRankOrStandIn(13)->rank, 5);
}

// dp in the middle, x2: rank = tp + 2 * dp + 8 * pp. Stage 1 moves from 4 .. 7 to 8 .. 15.
TEST(ProjectionTest, RanksAreRenumberedWhereTheAxisIsInside) {
  const Trace trace = WithOwnParts(Projected(ThreeAxes(false), Times("dp", 2)));
  ASSERT_EQ(trace.ranks.size(), 16u);
  for (int32_t rank = 0; rank < 16; ++rank) {
    const RankTrace& part = trace.ranks[rank];
    EXPECT_EQ(part.rank, rank);
    EXPECT_EQ(part.work_ns[0], 100 + 10 * (rank / 8) + rank % 2);
    EXPECT_EQ(part.comm[0].peer, rank < 8 ? rank + 8 : rank - 8);
    const std::vector<int32_t>& tp = trace.groups[part.comm[1].group].ranks;
    EXPECT_THAT(tp, ElementsAre(rank / 2 * 2, rank / 2 * 2 + 1));
    const int32_t first = rank / 8 * 8 + rank % 2;
    EXPECT_THAT(trace.groups[part.comm[2].group].ranks,
                ElementsAre(first, first + 2, first + 4, first + 6));
  }
}

TEST(ProjectionTest, SizesFollowTheirRules) {
  const Trace trace = Projected(ThreeAxes(true), Times("dp", 4));
  for (const RankTrace& rank : trace.ranks) {
    EXPECT_EQ(rank.comm[1].bytes, 1 << 20);        // All-reduce in tp.
    EXPECT_EQ(rank.comm[2].bytes, 1 << 20);        // Reduce-scatter in dp: the whole input.
    EXPECT_EQ(rank.comm[3].bytes, (1 << 19) / 4);  // All-gather in dp: a quarter of a shard.
    EXPECT_EQ(rank.comm[4].bytes, 64);             // All-reduce over the world.
  }
}

TEST(ProjectionTest, FewerRanksKeepTheFirstPlaces) {
  const Trace trace = Projected(ThreeAxes(false), Over("dp", 2));
  EXPECT_EQ(trace.world_size, 4);
  ASSERT_EQ(trace.ranks.size(), 4u);
  EXPECT_TRUE(trace.copies.empty());
  // Old ranks 0, 1, 4, 5; stage 0 sends to stage 1.
  EXPECT_EQ(trace.ranks[2].work_ns[0], 110);
  EXPECT_EQ(trace.ranks[2].comm[0].peer, 0);
  EXPECT_EQ(trace.ranks[0].comm[3].bytes, 1 << 20);  // All that there is.
  for (const ProcessGroup& group : trace.groups) EXPECT_FALSE(group.ranks.empty());
}

TEST(ProjectionTest, ASingleRankBecomesMany) {
  TraceMaker maker(1);
  maker.OnAll(1, CollectiveType::kAllReduce, 1 << 20);
  const Trace trace = Projected(maker.Make(), Times("world", 8));
  EXPECT_EQ(trace.world_size, 8);
  EXPECT_EQ(trace.groups[0].ranks.size(), 8u);
  EXPECT_EQ(trace.copies.size(), 7u);
  EXPECT_TRUE(trace.copies[0].groups.empty());
}

TEST(ProjectionTest, AnAxisOfOneRankIsNewAndOutermost) {
  TraceMaker maker(2);
  const uint32_t tp = maker.AddGroup("tp", {0, 1});
  const uint32_t dp[2] = {maker.AddGroup("dp0", {0}), maker.AddGroup("dp1", {1})};
  for (int32_t rank = 0; rank < 2; ++rank) {
    maker.Collective(rank, 1, CollectiveType::kAllReduce, 64, tp);
    maker.Collective(rank, 2, CollectiveType::kAllReduce, 64, dp[rank], {1});
  }
  Trace trace = maker.Make();
  trace.groups[2].description = trace.groups[3].description = "dp";
  const Trace more = Projected(std::move(trace), Times("dp", 3));
  EXPECT_EQ(more.world_size, 6);
  EXPECT_THAT(more.groups[tp].ranks, ElementsAre(0, 1));
  EXPECT_THAT(more.groups[dp[0]].ranks, ElementsAre(0, 2, 4));
  EXPECT_THAT(more.groups[dp[1]].ranks, ElementsAre(1, 3, 5));
  EXPECT_THAT(more.groups.back().ranks, ElementsAre(4, 5));
}

TEST(ProjectionTest, RootsStayInRescaledGroupsAndMoveInCopiedOnes) {
  TraceMaker maker(4);
  const uint32_t tp[2] = {maker.AddGroup("tp0", {0, 1}), maker.AddGroup("tp1", {2, 3})};
  for (int32_t rank = 0; rank < 4; ++rank) {
    const CommOp in_tp{.collective = CollectiveType::kBroadcast,
                       .bytes = 64,
                       .group = tp[rank / 2],
                       .root = rank / 2 * 2 + 1};
    const CommOp in_world{.collective = CollectiveType::kBroadcast, .bytes = 64, .root = 1};
    maker.Add(rank, {.id = 1, .type = NodeType::kCommColl, .name = "b", .comm = &in_tp});
    maker.Add(rank, {.id = 2, .type = NodeType::kCommColl, .name = "b", .comm = &in_world}, {1});
  }
  maker.AddGroup("dp0", {0, 2});
  const Trace trace = WithOwnParts(Projected(maker.Make(), Times("dp0", 2)));
  for (const RankTrace& rank : trace.ranks) {
    EXPECT_EQ(rank.comm[0].root, rank.rank / 2 * 2 + 1);
    EXPECT_EQ(rank.comm[1].root, 1);
  }
}

// A ring all-reduce of S bytes on n ranks, in astra semantics without splits: 10 + 2(n - 1)(10 + D)
// ns, D = trunc(500 + S / n / B).
TEST(ProjectionTest, ARingAllReduceOnTheProjectedTraceTakesItsClosedForm) {
  constexpr int64_t kBytes = 1 << 20;
  TraceMaker maker(4);
  maker.OnAll(1, CollectiveType::kAllReduce, kBytes);
  const Trace trace = maker.Make();
  for (const int32_t factor : {1, 2, 4, 16}) {
    const int32_t n = 4 * factor;
    const Trace more = WithOwnParts(Projected(trace, Times("world", factor)));
    const auto d_ns =
        static_cast<int64_t>(500 + static_cast<double>(kBytes / n) / BytesPerNsOfGibPerSec(50));
    EXPECT_EQ(EndsNs(more, TestSystem({{TopologyKind::kRing, n, 50, 500}})),
              std::vector<int64_t>(n, 10 + 2 * (n - 1) * (10 + d_ns)));
  }
}

// Sharded states: each rank of n contributes P / n bytes; n' ranks do the same of P / n'.
TEST(ProjectionTest, ZeroGathersTheSameParametersFromSmallerShards) {
  constexpr int64_t kParameters = 1 << 20;
  const auto zero = [](int32_t n) {
    TraceMaker maker(n);
    maker.OnAll(1, CollectiveType::kAllGather, kParameters / n);
    maker.OnAll(2, CollectiveType::kReduceScatter, kParameters, {1});
    return maker.Make();
  };
  for (const int32_t factor : {2, 8}) {
    const Trace more = WithOwnParts(Projected(zero(4), Times("world", factor)));
    ExpectSame(more, zero(4 * factor));
  }
}

TEST(ProjectionTest, AProjectedPipelineRuns) {
  for (const bool outermost : {false, true}) {
    const Trace small = ThreeAxes(outermost);
    const Trace large = WithOwnParts(Projected(small, Times("dp", 2)));
    ASSERT_OK_AND_ASSIGN(
        const SimResult result,
        Simulate(large, TestSystem({{TopologyKind::kRing, 16, 50, 500}}), SimOptions(), nullptr));
    EXPECT_EQ(result.nodes_count, 16 * 6);
  }
}

// Copies that share parts run as copies that have parts of their own, peers and groups included.
TEST(ProjectionTest, CopiesRunLikeRanksWithTheirOwnParts) {
  for (const bool outermost : {false, true}) {
    for (const int32_t factor : {2, 4}) {
      Trace trace = Projected(ThreeAxes(outermost), Times("dp", factor));
      const SystemDescription system = TestSystem({{TopologyKind::kRing, 8 * factor, 50, 500}});
      ASSERT_OK_AND_ASSIGN(const SimResult shared, Simulate(trace, system, SimOptions(), nullptr));
      ASSERT_OK_AND_ASSIGN(const SimResult own,
                           Simulate(WithOwnParts(std::move(trace)), system, SimOptions(), nullptr));
      EXPECT_EQ(shared.ranks, own.ranks);
      EXPECT_EQ(shared.times, own.times);
      EXPECT_EQ(shared.collectives, own.collectives);
      EXPECT_EQ(shared.notices, own.notices);
      EXPECT_TRUE(shared.stand_in_by_rank.empty());
    }
  }
}

// No sends: replicas fold. Broadcasts have their roots in groups that move with the replica.
TEST(ProjectionTest, CopiesOfRootedCollectivesRunLikeRanksWithTheirOwnParts) {
  TraceMaker maker(4);
  const uint32_t tp[2] = {maker.AddGroup("tp0", {0, 1}), maker.AddGroup("tp1", {2, 3})};
  maker.AddGroup("dp0", {0, 2});
  for (int32_t rank = 0; rank < 4; ++rank) {
    const CommOp in_tp{.collective = CollectiveType::kBroadcast,
                       .bytes = 1 << 20,
                       .group = tp[rank / 2],
                       .root = rank / 2 * 2 + 1};
    const CommOp in_world{.collective = CollectiveType::kBroadcast, .bytes = 64, .root = 1};
    maker.Comp(rank, 1, 100 + rank % 2);
    maker.Add(rank, {.id = 2, .type = NodeType::kCommColl, .name = "b", .comm = &in_tp}, {1});
    maker.Add(rank, {.id = 3, .type = NodeType::kCommColl, .name = "b", .comm = &in_world}, {2});
  }
  Trace trace = Projected(maker.Make(), Times("dp0", 4));
  SystemDescription system = TestSystem({{TopologyKind::kRing, 16, 50, 500}});
  system.semantics = Semantics::kPhysical;
  ASSERT_OK_AND_ASSIGN(const SimResult shared, Simulate(trace, system, SimOptions(), nullptr));
  ASSERT_OK_AND_ASSIGN(const SimResult own,
                       Simulate(WithOwnParts(std::move(trace)), system, SimOptions(), nullptr));
  EXPECT_EQ(shared.ranks, own.ranks);
  EXPECT_EQ(shared.times, own.times);
  EXPECT_EQ(shared.collectives, own.collectives);
}

// ---- Refusals.

Trace World(int32_t size) {
  TraceMaker maker(size);
  maker.OnAll(1, CollectiveType::kAllReduce, 64);
  return maker.Make();
}

void ExpectRefused(Trace trace, const ProjectionSpec& spec, const std::string& part) {
  EXPECT_THAT(ProjectTrace(std::move(trace), spec), StatusIs(StatusCode::kInvalidArgument, part));
}

TEST(ProjectionTest, SpecsThatSayNothingOrTooMuchAreRefused) {
  ExpectRefused(World(4), Times("", 2), "group: must not be empty");
  ExpectRefused(World(4), Times("dp", 2), "no process group has the name or the description");
  ExpectRefused(World(4), Times("world", 0), "0 are given");
  ProjectionSpec both = Times("world", 2);
  both.new_size = 8;
  ExpectRefused(World(4), both, "2 are given");
  ProjectionSpec by_index = Times("", 2);
  by_index.group_index = 5;
  ExpectRefused(World(4), by_index, "group_index: 5 is not in [0, 1)");
  by_index.group = "world";
  ExpectRefused(World(4), by_index, "by name and by index");
  ExpectRefused(World(4), Times("world", -2), "multiply_by: -2");
  ExpectRefused(Trace(), Times("world", 2), "no ranks");
}

TEST(ProjectionTest, SizesThatDoNotDivideAreRefused) {
  ExpectRefused(World(4), Over("world", 3), "divide_by: 3 does not divide the 4 ranks");
  ProjectionSpec spec = Times("world", 0);
  spec.new_size = 6;
  ExpectRefused(World(4), spec, "new_size: 6 is neither a multiple nor a divisor");
  ExpectRefused(World(4), Times("world", INT32_MAX), "are more than 1048576");
}

TEST(ProjectionTest, AGroupThatIsNoAxisIsRefused) {
  const auto with_group = [](std::vector<int32_t> ranks) {
    TraceMaker maker(8);
    maker.AddGroup("g", std::move(ranks));
    return maker.Make();
  };
  ExpectRefused(with_group({0, 1, 3}), Times("g", 2),
                "from rank 0 to 1 it is 1, from 1 to 3 it is 2");
  ExpectRefused(with_group({0, 1, 2}), Times("g", 2), "3 ranks at a distance of 1 do not divide");
  ExpectRefused(with_group({1, 2}), Times("g", 2), "it begins at rank 1");
  ExpectRefused(with_group({6, 8}), Times("g", 2), "outside of [0, 8)");
  ExpectRefused(with_group({2, 2}), Times("g", 2), "rank 2 twice");
  ExpectRefused(with_group({}), Times("g", 2), "are unknown");
}

TEST(ProjectionTest, OneNameForTwoAxesIsRefused) {
  TraceMaker maker(4);
  maker.AddGroup("g", {0, 1});
  maker.AddGroup("g", {0, 2});
  ExpectRefused(maker.Make(), Times("g", 2), "lie along different axes");
}

TEST(ProjectionTest, AUsedGroupOfPartOfTheAxisIsRefused) {
  const auto with_collective = [](bool used) {
    TraceMaker maker(4);
    const uint32_t half = maker.AddGroup("half", {0, 1});
    for (int32_t rank = 0; rank < 2; ++rank) {
      maker.Collective(rank, 1, CollectiveType::kAllReduce, 64, used ? half : kWorldGroup);
    }
    return maker.Make();
  };
  ExpectRefused(with_collective(true), Times("world", 2),
                "it holds 2 of the 4 ranks along the axis");
  EXPECT_THAT(ProjectTrace(with_collective(false), Times("world", 2)), IsOk());
}

TEST(ProjectionTest, MissingRanksAndMembersAreRefused) {
  TraceMaker maker(4);
  maker.OnAll(1, CollectiveType::kAllReduce, 64);
  ExpectRefused(maker.Make({2}), Times("world", 2), "rank 2 of 4 is missing");
  TraceMaker unknown(4);
  const uint32_t group = unknown.AddGroup("tp", {});
  unknown.Collective(1, 1, CollectiveType::kAllReduce, 64, group);
  ExpectRefused(unknown.Make(), Times("world", 2), "the members of \"tp\" (entry 1) are unknown");
}

TEST(ProjectionTest, PointToPointAlongTheAxisIsRefused) {
  TraceMaker maker(4);
  maker.Send(0, 1, 1, 64);
  maker.Receive(1, 1, 0, 64);
  ExpectRefused(maker.Make(), Times("world", 2), "point-to-point along it has no rule");
}

TEST(ProjectionTest, UnevenAllToAllsAreRefused) {
  TraceMaker maker(2);
  maker.Collective(0, 1, CollectiveType::kAllToAll, 64);
  maker.Collective(1, 1, CollectiveType::kAllToAll, 128);
  ExpectRefused(maker.Make(), Times("world", 2), "ranks 0 and 1 state different sizes");
}

TEST(ProjectionTest, ShardsThatDoNotDivideAreRefused) {
  TraceMaker maker(2);
  maker.OnAll(1, CollectiveType::kAllGather, 1001);
  ExpectRefused(maker.Make(), Times("world", 2), "ALL_GATHER of 1001 bytes from each of 2 ranks");
}

TEST(ProjectionTest, GatherAlongTheAxisIsRefused) {
  TraceMaker maker(2);
  maker.OnAll(1, CollectiveType::kGather, 64);
  ExpectRefused(maker.Make(), Times("world", 2), "GATHER along the axis has no rule");
}

}  // namespace
}  // namespace chakrad
