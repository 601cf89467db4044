// Seeded random collectives against closed forms; equal runs give equal bytes.
#include <gtest/gtest.h>

#include <random>

#include "common/status_matchers.h"
#include "sim/engine/semantics.h"
#include "sim/test_systems.h"
#include "sim/test_traces.h"

namespace chakrad {
namespace {

constexpr int64_t kEndpointNs = 10;

struct Case {
  TopologyKind topology;
  int32_t ranks_count;
  double bandwidth;
  double latency_ns;
  int64_t bytes;
  int32_t splits;
  int32_t active;
  double memory_bandwidth;
};

Case RandomCase(std::mt19937* random) {
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(*random);
  };
  Case c;
  c.topology = static_cast<TopologyKind>(pick(0, 2));
  c.ranks_count = static_cast<int32_t>(pick(2, 17));
  c.bandwidth = static_cast<double>(pick(1, 4000)) / 8;
  c.latency_ns = static_cast<double>(pick(0, 8000)) / 4;
  c.bytes = pick(1, int64_t{1} << pick(1, 32));
  c.splits = static_cast<int32_t>(pick(1, 16));
  c.active = static_cast<int32_t>(pick(1, 8));
  c.memory_bandwidth = static_cast<double>(pick(10, 3000));
  return c;
}

// Delay of a message of `bytes` over `hops`.
int64_t DelayNs(const Case& c, int32_t hops, int64_t bytes) {
  const double bytes_per_ns = c.bandwidth * 1024 * 1024 * 1024 / 1e9;
  return static_cast<int64_t>(hops * c.latency_ns + static_cast<double>(bytes) / bytes_per_ns);
}

int64_t ReduceNs(const Case& c, int64_t bytes) {
  return 3 * static_cast<int64_t>(static_cast<double>(bytes) / c.memory_bandwidth);
}

int32_t NeighbourHops(const Case& c) { return c.topology == TopologyKind::kSwitch ? 2 : 1; }

struct Chunks {
  int64_t bytes;
  int64_t rounds;  // ceil(chunks / active)
};

Chunks CutChunks(const Case& c, CollectiveType type) {
  int64_t bytes = c.bytes, chunk = bytes / c.splits;
  if (type != CollectiveType::kAllGather && chunk < c.ranks_count) {
    chunk = c.ranks_count;
    bytes = int64_t{c.splits} * c.ranks_count;
  }
  if (chunk == 0) chunk = 1;
  const int64_t count = (bytes + chunk - 1) / chunk;
  return {chunk, (count + c.active - 1) / c.active};
}

// e + steps * (e + D(m)) + reduced * P(m), for each round of chunks.
int64_t RingNs(const Case& c, CollectiveType type) {
  const Chunks chunks = CutChunks(c, type);
  const int64_t n = c.ranks_count;
  const bool gather = type == CollectiveType::kAllGather;
  const int64_t message = gather ? chunks.bytes : chunks.bytes / n;
  int64_t steps = n - 1, reduced = 0;
  if (type == CollectiveType::kAllReduce) steps = 2 * (n - 1), reduced = n - 1;
  if (type == CollectiveType::kReduceScatter) reduced = n - 1;
  if (type == CollectiveType::kAllToAll) steps = n * (n - 1) / 2;
  return chunks.rounds *
         (kEndpointNs + steps * (kEndpointNs + DelayNs(c, NeighbourHops(c), message)) +
          reduced * ReduceNs(c, message));
}

// On equal hops: 2 e + D (+ P), and 3 e + 2 D + P for an all-reduce.
int64_t DirectNs(const Case& c, CollectiveType type) {
  const Chunks chunks = CutChunks(c, type);
  const bool gather = type == CollectiveType::kAllGather;
  const int64_t message = gather ? chunks.bytes : chunks.bytes / c.ranks_count;
  const int64_t delay_ns = DelayNs(c, NeighbourHops(c), message);
  int64_t chunk_ns = 2 * kEndpointNs + delay_ns;
  if (type == CollectiveType::kReduceScatter) chunk_ns += ReduceNs(c, message);
  if (type == CollectiveType::kAllReduce) {
    chunk_ns = 3 * kEndpointNs + 2 * delay_ns + ReduceNs(c, message);
  }
  return chunks.rounds * chunk_ns;
}

SystemDescription SystemOf(const Case& c, AlgorithmKind algorithm) {
  SystemDescription system = TestSystem({{c.topology, c.ranks_count, c.bandwidth, c.latency_ns}});
  system.splits = c.splits;
  system.active_chunks_per_dim = c.active;
  system.local_mem_bytes_per_ns = c.memory_bandwidth;
  SetAlgorithm(&system, {algorithm, -1});
  return system;
}

constexpr CollectiveType kTypes[] = {CollectiveType::kAllReduce, CollectiveType::kAllGather,
                                     CollectiveType::kReduceScatter, CollectiveType::kAllToAll};

TEST(SimulatePropertyTest, OneCollectiveTakesItsClosedForm) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const Case c = RandomCase(&random);
    for (const CollectiveType type : kTypes) {
      TraceMaker maker(c.ranks_count);
      maker.OnAll(1, type, c.bytes);
      const Trace trace = maker.Make();
      EXPECT_EQ(EndsNs(trace, SystemOf(c, AlgorithmKind::kRing)),
                std::vector<int64_t>(c.ranks_count, RingNs(c, type)))
          << "ring, seed " << seed << ", " << CollectiveTypeName(type);
      if (c.topology == TopologyKind::kRing) continue;  // Hops differ from peer to peer.
      EXPECT_EQ(EndsNs(trace, SystemOf(c, AlgorithmKind::kDirect)),
                std::vector<int64_t>(c.ranks_count, DirectNs(c, type)))
          << "direct, seed " << seed << ", " << CollectiveTypeName(type);
    }
  }
}

// Bytes that leave each rank: conservation, whatever the network.
TEST(SimulatePropertyTest, RanksSendWhatTheAlgorithmSays) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    const Case c = RandomCase(&random);
    TraceMaker maker(c.ranks_count);
    maker.OnAll(1, CollectiveType::kAllReduce, c.bytes);
    ASSERT_OK_AND_ASSIGN(
        const SimResult result,
        Simulate(maker.Make(), SystemOf(c, AlgorithmKind::kRing), SimOptions(), nullptr));
    int64_t bytes = c.bytes, chunk = bytes / c.splits;
    if (chunk < c.ranks_count) chunk = c.ranks_count, bytes = int64_t{c.splits} * chunk;
    const int64_t count = (bytes + chunk - 1) / chunk;
    for (const RankEnd& rank : result.ranks) {
      EXPECT_EQ(rank.network_bytes, count * 2 * (c.ranks_count - 1) * (chunk / c.ranks_count));
    }
  }
}

// A random job: compute on host and device, collectives on the world and on halves, in one
// order on all ranks; messages along the ring.
Trace RandomJob(uint32_t seed, int32_t ranks_count) {
  std::mt19937 random(seed);
  TraceMaker maker(ranks_count);
  std::vector<int32_t> halves[2];
  for (int32_t rank = 0; rank < ranks_count; ++rank) {
    halves[rank < ranks_count / 2 ? 0 : 1].push_back(rank);
  }
  const uint32_t groups[] = {maker.AddGroup("low", halves[0]), maker.AddGroup("high", halves[1])};
  std::vector<std::vector<uint64_t>> last(ranks_count);
  for (uint64_t id = 1; id <= 120; ++id) {
    const uint32_t what = random() % 6;
    const CollectiveType type = kTypes[random() % 4];
    const int64_t bytes = 1 + random() % (1 << 22);
    for (int32_t rank = 0; rank < ranks_count; ++rank) {
      const std::vector<uint64_t> deps = last[rank];
      if (what <= 1) {
        maker.Comp(rank, id, random() % 100'000, deps);
      } else if (what == 2) {
        maker.HostComp(rank, id, random() % 20'000);
        continue;
      } else if (what == 3) {
        maker.Collective(rank, id, type, bytes, kWorldGroup, deps);
      } else if (what == 4) {
        maker.Collective(rank, id, type, bytes, groups[rank < ranks_count / 2 ? 0 : 1], deps);
      } else {
        maker.Send(rank, 2 * id + 1000, (rank + 1) % ranks_count, bytes, 3, deps);
        maker.Receive(rank, 2 * id + 1001, (rank + ranks_count - 1) % ranks_count, bytes, 3, deps);
        last[rank] = {2 * id + 1000, 2 * id + 1001};
        continue;
      }
      last[rank] = {id};
    }
  }
  return maker.Make();
}

TEST(SimulatePropertyTest, EqualRunsGiveEqualIntervalsAndResults) {
  for (uint32_t seed = 0; seed < 10; ++seed) {
    const Trace trace = RandomJob(seed, 8);
    SystemDescription system =
        TestSystem({{TopologyKind::kRing, 4, 100, 300}, {TopologyKind::kSwitch, 2, 25, 700}});
    system.splits = 4;
    system.active_chunks_per_dim = 2;
    RecordingObserver first, second;
    ASSERT_OK_AND_ASSIGN(const SimResult a, Simulate(trace, system, SimOptions(), &first));
    ASSERT_OK_AND_ASSIGN(const SimResult b, Simulate(trace, system, SimOptions(), &second));
    EXPECT_EQ(first.intervals, second.intervals) << "seed " << seed;
    EXPECT_EQ(a.ranks, b.ranks);
    EXPECT_EQ(a.events_count, b.events_count);
    EXPECT_EQ(a.notices, b.notices);
  }
}

// Intervals come by end time, of one resource they never overlap, and the last one of a
// rank ends when the rank does.
TEST(SimulatePropertyTest, IntervalsAreInOrderAndResourcesAreExclusive) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const Trace trace = RandomJob(seed, 8);
    RecordingObserver observer;
    ASSERT_OK_AND_ASSIGN(
        const SimResult result,
        Simulate(trace, TestSystem({{TopologyKind::kRing, 8, 50, 500}}), SimOptions(), &observer));
    int64_t last_ps = 0;
    std::vector<int64_t> rank_end_ps(8, 0);
    std::vector<std::vector<int64_t>> busy_until_ps(8, std::vector<int64_t>(4, 0));
    for (const TimelineInterval& interval : observer.intervals) {
      EXPECT_LT(interval.start_ps, interval.end_ps);
      EXPECT_GE(interval.end_ps, last_ps);
      last_ps = interval.end_ps;
      rank_end_ps[interval.rank] = interval.end_ps;
      const RankTrace& rank = trace.ranks[interval.rank];
      if (rank.type[interval.node] == NodeType::kCommRecv) continue;
      int64_t& busy = busy_until_ps[interval.rank][static_cast<int>(interval.kind)];
      EXPECT_GE(interval.start_ps, busy) << "seed " << seed << " rank " << interval.rank;
      busy = interval.end_ps;
    }
    for (const RankEnd& rank : result.ranks) EXPECT_EQ(rank.end_ps, rank_end_ps[rank.rank]);
  }
}

// No node starts before what it depends on has ended.
TEST(SimulatePropertyTest, DependenciesAreHonoured) {
  for (uint32_t seed = 100; seed < 110; ++seed) {
    const Trace trace = RandomJob(seed, 6);
    RecordingObserver observer;
    ASSERT_THAT(
        Simulate(trace, TestSystem({{TopologyKind::kSwitch, 6, 50, 500}}), SimOptions(), &observer),
        IsOk());
    std::vector<std::vector<int64_t>> end_ps(6);
    for (int rank = 0; rank < 6; ++rank) end_ps[rank].assign(trace.ranks[rank].size(), 0);
    for (const TimelineInterval& i : observer.intervals) end_ps[i.rank][i.node] = i.end_ps;
    for (const TimelineInterval& i : observer.intervals) {
      const RankTrace& rank = trace.ranks[i.rank];
      for (uint32_t d = rank.dep_begin[i.node]; d < rank.dep_begin[i.node + 1]; ++d) {
        EXPECT_GE(i.start_ps, end_ps[i.rank][rank.dep_node[d]]) << "seed " << seed;
      }
    }
  }
}

TEST(SimulatePropertyTest, ASoundJobFinishesOnAnySystem) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const SystemDescription system = RandomSystem(&random, Semantics::kAstra);
    const Trace trace = RandomJob(seed, 8);
    ASSERT_OK_AND_ASSIGN(const SimResult result, Simulate(trace, system, SimOptions(), nullptr));
    EXPECT_GT(result.end_ps, 0) << "seed " << seed;
    // What a rank sends does not depend on how fast the links are.
    SystemDescription slower = system;
    for (NetworkDim& dim : slower.dims) dim.bytes_per_ns /= 3, dim.latency_ns += 7;
    ASSERT_OK_AND_ASSIGN(const SimResult slow, Simulate(trace, slower, SimOptions(), nullptr));
    EXPECT_EQ(slow.network_bytes, result.network_bytes) << "seed " << seed;
    EXPECT_GE(slow.end_ps, result.end_ps) << "seed " << seed;
  }
}

// Nodes of every type with attributes drawn from sound and unsound values.
Trace Junk(std::mt19937* random) {
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(*random);
  };
  const bool unsound = pick(0, 2) == 0;
  const bool alone = !unsound && pick(0, 1) == 0;  // Ranks that need no other may finish.
  TraceMaker maker(8);
  maker.AddGroup("odd", {1, 3, 5, 7});
  maker.AddGroup("pair", {6, 2});
  maker.AddGroup("unknown", {});
  maker.AddGroup("far", {0, 99});
  for (int32_t rank = 0; rank < 8; ++rank) {
    const int64_t count = pick(0, 12);
    for (int64_t i = 0; i < count; ++i) {
      CommOp op;
      op.collective = static_cast<CollectiveType>(pick(0, kCollectiveTypesCount - 1));
      op.bytes = pick(0, 3) == 0 ? 4096 : pick(unsound ? -5 : 0, 100'000);
      op.group = unsound && pick(0, 9) == 0 ? static_cast<uint32_t>(pick(3, 6)) : kNone;
      if (pick(0, 2) == 0 && rank % 2 == 1) op.group = 1;
      op.peer = static_cast<int32_t>((rank + pick(unsound ? -9 : 1, 7)) % 8);
      op.tag = pick(0, 1);
      op.involved_dims = pick(0, 3) == 0 ? static_cast<uint32_t>(pick(0, 7)) : UINT32_MAX;
      const WorkSize size{pick(0, 1000), pick(0, 1000)};
      NodeSpec spec{.id = static_cast<uint64_t>(i),
                    .name = "junk",
                    .work_ns = pick(-1, 5000),
                    .gap_ns = pick(0, 20)};
      spec.type = static_cast<NodeType>(pick(0, kNodeTypesCount - 1));
      if (alone) {
        spec.work_ns = pick(1, 5000);
        op.collective = CollectiveType::kBroadcast;
        if (spec.type == NodeType::kCommSend || spec.type == NodeType::kCommRecv) {
          spec.type = NodeType::kCommColl;
        }
      }
      spec.flags = static_cast<uint8_t>(pick(0, 3));
      if (IsComm(spec.type))
        spec.comm = unsound && pick(0, 19) == 0 ? nullptr : &op;
      else if (pick(0, 1) == 0)
        spec.work_size = &size;
      std::vector<uint64_t> deps;
      for (int64_t d = 0; d < i; ++d) {
        if (pick(0, 4) == 0) deps.push_back(static_cast<uint64_t>(d));
      }
      maker.Add(rank, spec, deps);
    }
  }
  return maker.Make(pick(0, 3) == 0 ? std::vector<int32_t>{2, 5} : std::vector<int32_t>{});
}

TEST(SimulatePropertyTest, JunkEndsWithAStatusAndAlwaysTheSame) {
  int finished = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    SystemDescription system = RandomSystem(&random, Semantics::kAstra);
    system.compute.basis = seed % 3 == 0 ? ComputeBasis::kRoofline : ComputeBasis::kRecorded;
    system.compute.memory_bytes_per_ns = system.local_mem_bytes_per_ns;
    system.compute.peak_flops_per_ns = 1000;
    const Trace trace = Junk(&random);
    SimOptions options;
    options.replicate_missing_ranks = seed % 2 == 0;
    const absl::StatusOr<SimResult> first = Simulate(trace, system, options, nullptr);
    const absl::StatusOr<SimResult> second = Simulate(trace, system, options, nullptr);
    ASSERT_EQ(first.status(), second.status()) << "seed " << seed;
    if (first.ok()) {
      ++finished;
      EXPECT_EQ(first->ranks, second->ranks) << "seed " << seed;
      continue;
    }
    EXPECT_TRUE(first.status().code() == absl::StatusCode::kInvalidArgument ||
                first.status().code() == absl::StatusCode::kFailedPrecondition)
        << "seed " << seed << ": " << first.status();
    EXPECT_LT(first.status().message().size(), 4000u) << "seed " << seed;
  }
  EXPECT_GT(finished, 200);
}

}  // namespace
}  // namespace chakrad
