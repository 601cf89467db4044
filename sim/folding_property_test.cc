// Folding, and answering collectives whole, change no answer: every run is compared with the
// same job simulated rank by rank and message by message.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "sim/simulate.h"
#include "sim/test_systems.h"
#include "sim/test_traces.h"

namespace chakrad {
namespace {

constexpr int32_t kRanks = 8;

// A job of 8 ranks in 1 to 3 kinds, ranks of a kind having equal traces but for their groups:
// compute, collectives of the world, of pairs and of fours.
Trace MirroredJob(std::mt19937* random) {
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(*random);
  };
  TraceMaker maker(kRanks);
  std::vector<uint32_t> pair_of(kRanks), four_of(kRanks);
  for (int32_t i = 0; i < 4; ++i) {
    const uint32_t group = maker.AddGroup("pair", {2 * i, 2 * i + 1});
    pair_of[2 * i] = pair_of[2 * i + 1] = group;
  }
  for (int32_t i = 0; i < 2; ++i) {
    const uint32_t group = maker.AddGroup("four", {i, i + 2, i + 4, i + 6});
    for (int32_t j = 0; j < 4; ++j) four_of[i + 2 * j] = group;
  }
  const int64_t kinds_count = pick(1, 3);
  std::vector<int64_t> kind_of(kRanks, 0);
  for (int64_t& kind : kind_of) kind = pick(0, kinds_count - 1);
  std::vector<CollectiveType> types = {CollectiveType::kAllReduce, CollectiveType::kAllGather,
                                       CollectiveType::kReduceScatter, CollectiveType::kAllToAll};
  const int64_t nodes_count = pick(3, 20);
  for (int64_t id = 1; id <= nodes_count; ++id) {
    std::vector<uint64_t> deps;
    if (id > 1 && pick(0, 3) > 0) deps.push_back(static_cast<uint64_t>(id - 1));
    if (id > 2 && pick(0, 2) == 0) deps.push_back(static_cast<uint64_t>(pick(1, id - 2)));
    if (pick(0, 2) > 0) {
      std::map<int64_t, int64_t> work_ns;
      for (int64_t kind = 0; kind < kinds_count; ++kind) work_ns[kind] = pick(0, 5000);
      for (int32_t rank = 0; rank < kRanks; ++rank) {
        maker.Comp(rank, static_cast<uint64_t>(id), work_ns[kind_of[rank]], deps);
      }
      continue;
    }
    const CollectiveType type = types[pick(0, 3)];
    const int64_t bytes = pick(1, 1 << 20);
    const int64_t where = pick(0, 2);
    for (int32_t rank = 0; rank < kRanks; ++rank) {
      const uint32_t group = where == 0 ? kWorldGroup : where == 1 ? pair_of[rank] : four_of[rank];
      maker.Collective(rank, static_cast<uint64_t>(id), type, bytes, group, deps);
    }
  }
  return maker.Make();
}

struct Answers {
  SimResult result;
  std::vector<TimelineInterval> intervals;
};

absl::StatusOr<Answers> RunJob(const Trace& trace, const SystemDescription& system, bool fold,
                               bool whole) {
  SimOptions options;
  options.fold = fold;
  options.whole_collectives = whole;
  options.critical_path = true;
  RecordingObserver observer;
  absl::StatusOr<SimResult> result = Simulate(trace, system, options, &observer);
  if (!result.ok()) return result.status();
  return Answers{*std::move(result), std::move(observer.intervals)};
}

// What differs, in few words; empty: nothing.
std::string Difference(const Answers& a, const Answers& b) {
  for (size_t i = 0; i < std::min(a.intervals.size(), b.intervals.size()); ++i) {
    const TimelineInterval &x = a.intervals[i], &y = b.intervals[i];
    if (x == y) continue;
    return absl::StrCat("interval ", i, " type ", static_cast<int>(x.kind), ": rank ", x.rank,
                        " node ", x.node, " [", x.start_ps, ", ", x.end_ps, ") or rank ", y.rank,
                        " node ", y.node, " [", y.start_ps, ", ", y.end_ps, ")");
  }
  if (a.intervals.size() != b.intervals.size()) return "number of intervals";
  if (a.result.end_ps != b.result.end_ps) return "end";
  if (a.result.ranks != b.result.ranks) return "ranks";
  for (size_t rank = 0; rank < a.result.times.size(); ++rank) {
    const RankTime &x = a.result.times[rank], &y = b.result.times[rank];
    if (x == y) continue;
    return absl::StrCat("times of rank ", rank, ": compute ", x.compute_ps, " ", y.compute_ps,
                        ", comm ", x.comm_ps, " ", y.comm_ps, ", wait ", x.wait_ps, " ", y.wait_ps,
                        " for rank ", x.waits_most_for_rank, " ", y.waits_most_for_rank);
  }
  for (size_t i = 0; i < a.result.collectives.size(); ++i) {
    const CollectiveResult &x = a.result.collectives[i], &y = b.result.collectives[i];
    if (x == y) continue;
    return absl::StrCat("collective ", i, ": group ", x.group, " ", y.group, ", number ", x.number,
                        " ", y.number, ", [", x.all_joined_ps, ", ", x.end_ps, ") [",
                        y.all_joined_ps, ", ", y.end_ps, "), last ", x.last_rank, " ", y.last_rank);
  }
  if (a.result.critical_path != b.result.critical_path) return "critical path";
  for (size_t i = 0; i < a.result.dims.size(); ++i) {
    const DimResult &x = a.result.dims[i], &y = b.result.dims[i];
    // Shares of a byte are summed in another order.
    if (x.messages_count == y.messages_count && std::abs(x.bytes - y.bytes) <= 1 &&
        std::abs(x.utilisation - y.utilisation) < 1e-9) {
      continue;
    }
    return absl::StrCat("dim ", i, ": ", x.messages_count, " ", y.messages_count, " messages, ",
                        x.bytes, " ", y.bytes, " bytes, ", x.utilisation, " ", y.utilisation);
  }
  if (a.result.network_bytes != b.result.network_bytes) return "bytes";
  if (a.result.notices != b.result.notices) return "notices";
  return "";
}

std::string Describe(const SystemDescription& system) {
  std::string text =
      absl::StrCat(DescribeTopology(system), ", splits ", system.splits, ", active ",
                   system.active_chunks_per_dim, ", queues ", system.num_queues_per_dim, ", delay ",
                   system.endpoint_delay_ns, ", reductions ", system.local_mem_bytes_per_ns,
                   ", overrides ", system.link_overrides.size());
  for (const CollectiveImplementation* implementation :
       {&system.all_reduce, &system.all_gather, &system.reduce_scatter, &system.all_to_all}) {
    absl::StrAppend(&text, implementation->flat ? ", flat" : ",");
    for (const AlgorithmChoice& choice : implementation->per_dim) {
      absl::StrAppend(&text, " ", AlgorithmKindName(choice.kind), " ", choice.window);
    }
  }
  return text;
}

// Over several dimensions chunks queue for lanes in the order in which the first rank gets to
// them. When two ranks get to two chunks at one time, that is the order of their events, which
// depends on what else is going on in a run, and any order is as good.
bool OrderOfEqualsMatters(const SystemDescription& system) {
  int long_dims_count = 0;
  for (const NetworkDim& dim : system.dims) long_dims_count += dim.npus_count > 1;
  return long_dims_count > 1;
}

class FoldingTest : public testing::TestWithParam<Semantics> {};

TEST_P(FoldingTest, FoldedUnfoldedAndMessageByMessageAgree) {
  int64_t compared = 0, folded = 0, fewer_events = 0, finished = 0;
  for (uint32_t seed = 0; seed < 600; ++seed) {
    std::mt19937 random(seed);
    const SystemDescription system = RandomSystem(&random, GetParam());
    const Trace trace = MirroredJob(&random);
    const std::string where = absl::StrCat("seed ", seed, ", ", Describe(system));
    const absl::StatusOr<Answers> plain = RunJob(trace, system, false, false);
    const absl::StatusOr<Answers> whole = RunJob(trace, system, false, true);
    const absl::StatusOr<Answers> fold = RunJob(trace, system, true, true);
    ASSERT_EQ(plain.ok(), whole.ok()) << where << plain.status() << whole.status();
    ASSERT_EQ(plain.ok(), fold.ok()) << where << plain.status() << fold.status();
    if (!plain.ok()) continue;
    ++finished;
    ASSERT_EQ(Difference(*whole, *fold), "") << where << ", folded";
    if (!OrderOfEqualsMatters(system)) {
      ++compared;
      ASSERT_EQ(Difference(*plain, *whole), "") << where << ", whole";
    }
    folded += fold->result.classes.size() < kRanks;
    fewer_events += fold->result.events_count < plain->result.events_count;
  }
  // The test compares what it says.
  EXPECT_GT(finished, 400);
  EXPECT_GT(compared, 100);
  EXPECT_GT(folded, 100);
  EXPECT_GT(fewer_events, 200);
}

// Two collectives on two streams begin at once; the first ends at different times and splits the
// cohort before the second, which ends for all together, is dealt with.
TEST(FoldingOfTwoStreamsTest, ASplitByOneCollectiveReachesTheOtherOfTheSameMoment) {
  TraceMaker maker(kRanks);
  for (int32_t rank = 0; rank < kRanks; ++rank) {
    for (const uint64_t id : {1, 2}) {
      const CommOp op{
          .collective = id == 1 ? CollectiveType::kAllReduce : CollectiveType::kAllGather,
          .bytes = 1 << 16};
      const Queue queue{Queue::Kind::kDeviceStream, 0, static_cast<int64_t>(id)};
      maker.Add(
          rank,
          NodeSpec{
              .id = id, .type = NodeType::kCommColl, .name = "coll", .queue = queue, .comm = &op});
    }
    maker.Comp(rank, 3, 1000, {1});
    maker.Comp(rank, 4, 1000, {2});
  }
  const Trace trace = maker.Make();
  SystemDescription system = TestSystem({{TopologyKind::kRing, kRanks, 50, 500}});
  system.issue_rule = IssueRule::kRecordedQueues;
  system.all_reduce.per_dim[0].kind = AlgorithmKind::kDoubleBinaryTree;
  const absl::StatusOr<Answers> single = RunJob(trace, system, false, true);
  const absl::StatusOr<Answers> folded = RunJob(trace, system, true, true);
  ASSERT_TRUE(single.ok() && folded.ok()) << single.status() << folded.status();
  EXPECT_GT(folded->result.classes.size(), 1u);
  EXPECT_EQ(Difference(*single, *folded), "");
}

INSTANTIATE_TEST_SUITE_P(Semantics, FoldingTest,
                         testing::Values(Semantics::kAstra, Semantics::kPhysical),
                         [](const auto& info) { return std::string(SemanticsName(info.param)); });

}  // namespace
}  // namespace chakrad
