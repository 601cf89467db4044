#include "trace/feed/feeder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "common/status_matchers.h"
#include "trace/codec/chunk_map.h"
#include "trace/codec/limits.h"
#include "trace/codec/rank_generator.h"
#include "trace/codec/rank_reader.h"

namespace chakrad {
namespace {

using Random = std::mt19937_64;
using Dependencies = std::vector<std::vector<uint32_t>>;  // Of each node.

// A rank of odd columns with these dependencies.
RankTrace RankOf(uint64_t seed, const Dependencies& dependencies) {
  RankTrace rank = RandomRank(seed, static_cast<uint32_t>(dependencies.size()), false, 1);
  rank.dep_begin.assign(1, 0);
  rank.dep_node.clear();
  rank.dep_kind.clear();
  for (const std::vector<uint32_t>& of_node : dependencies) {
    rank.dep_node.insert(rank.dep_node.end(), of_node.begin(), of_node.end());
    rank.dep_kind.resize(rank.dep_node.size(), EdgeKind::kData);
    rank.dep_begin.push_back(static_cast<uint32_t>(rank.dep_node.size()));
  }
  return rank;
}

// No cycle: nodes wait for ones that come before in a random order of all, or in the
// recorded one. Some dependencies are doubled, a few nodes have very many.
Dependencies RandomDependencies(Random& random, uint32_t nodes_count, bool recorded_order) {
  std::vector<uint32_t> order(nodes_count);
  std::iota(order.begin(), order.end(), 0);
  if (!recorded_order) std::shuffle(order.begin(), order.end(), random);
  Dependencies dependencies(nodes_count);
  for (uint32_t i = 1; i < nodes_count; ++i) {
    const uint64_t count = random() % 50 == 0 ? random() % 300 : random() % 4;
    for (uint64_t j = 0; j < count; ++j) {
      dependencies[order[i]].push_back(order[random() % i]);
      if (random() % 5 == 0) dependencies[order[i]].push_back(dependencies[order[i]].back());
    }
  }
  return dependencies;
}

// What a feeder promises, written down the plain way: everything in memory, every
// free node known.
class Reference {
 public:
  Reference(const Dependencies& dependencies, uint32_t lookahead)
      : lookahead_(lookahead), dependents_(dependencies.size()), open_(dependencies.size()) {
    for (uint32_t node = 0; node < dependencies.size(); ++node) {
      not_done_.insert(node);
      open_[node] = dependencies[node].size();
      for (const uint32_t dependency : dependencies[node]) dependents_[dependency].push_back(node);
      if (open_[node] == 0) free_.insert(node);
    }
  }
  std::vector<uint32_t> Next(size_t count) {
    std::vector<uint32_t> issued;
    while (issued.size() < count && !free_.empty()) {
      if (outstanding_ > 0 && *free_.begin() - *not_done_.begin() >= lookahead_) break;
      issued.push_back(*free_.begin());
      free_.erase(free_.begin());
      ++outstanding_;
    }
    return issued;
  }
  void Complete(uint32_t node) {
    not_done_.erase(node);
    --outstanding_;
    for (const uint32_t dependent : dependents_[node]) {
      if (--open_[dependent] == 0) free_.insert(dependent);
    }
  }

 private:
  const uint32_t lookahead_;
  Dependencies dependents_;
  std::vector<size_t> open_;
  std::set<uint32_t> free_, not_done_;
  size_t outstanding_ = 0;
};

// Runs all of a feeder against the reference, completing at random. Returns what was
// handed out, in order.
std::vector<uint32_t> OrderOf(NodeSource* source, const Dependencies& dependencies, uint64_t seed,
                              uint32_t lookahead) {
  Random random(seed);
  Feeder feeder(source, {.lookahead_nodes = lookahead});
  Reference reference(dependencies, lookahead);
  std::vector<uint32_t> order, working;
  while (!feeder.done()) {
    const size_t count = random() % 6;
    const absl::StatusOr<std::vector<uint32_t>> nodes = feeder.Next(count);
    EXPECT_THAT(nodes, IsOk());
    if (!nodes.ok()) return order;
    EXPECT_EQ(*nodes, reference.Next(count));
    order.insert(order.end(), nodes->begin(), nodes->end());
    working.insert(working.end(), nodes->begin(), nodes->end());
    EXPECT_EQ(feeder.outstanding_count(), working.size());
    for (uint64_t i = random() % 6; i > 0 && !working.empty(); --i) {
      std::swap(working[random() % working.size()], working.back());
      EXPECT_THAT(feeder.Complete(working.back()), IsOk());
      reference.Complete(working.back());
      working.pop_back();
    }
  }
  EXPECT_THAT(*feeder.Next(5), testing::IsEmpty());
  return order;
}

// A rank and its chunks, and sources over both.
struct Stored {
  explicit Stored(RankTrace trace) : rank(std::move(trace)) {
    reader = std::move(RankReader::Open(map.Add(rank), map.Source(), {1})).value();
  }
  RankTrace rank;
  ChunkMap map;
  std::unique_ptr<RankReader> reader;
};

TEST(FeederTest, RandomGraphsComeInTheReferencesOrderFromMemoryAndStore) {
  for (uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Dependencies dependencies =
        RandomDependencies(random, static_cast<uint32_t>(random() % 600), seed % 2 == 0);
    const Stored stored(RankOf(seed, dependencies));
    const uint32_t lookahead =
        seed % 3 == 0 ? static_cast<uint32_t>(1 + random() % 50) : UINT32_MAX;
    const auto memory = NewMemorySource(&stored.rank);
    const auto store = NewReaderSource(stored.reader.get());
    const std::vector<uint32_t> order = OrderOf(memory.get(), dependencies, seed, lookahead);
    EXPECT_EQ(OrderOf(store.get(), dependencies, seed, lookahead), order);
    EXPECT_EQ(std::set<uint32_t>(order.begin(), order.end()).size(), dependencies.size());
    if (HasFailure()) return;
  }
}

TEST(FeederTest, GraphsOfSeveralWindowsComeInTheReferencesOrder) {
  for (const bool recorded : {true, false}) {
    Random random(5);
    const Dependencies dependencies = RandomDependencies(random, 2 * kWindowRows + 777, recorded);
    const Stored stored(RankOf(5, dependencies));
    const auto memory = NewMemorySource(&stored.rank);
    // A cache of one run at a time where that is not slow: every one is read again.
    const auto store =
        NewReaderSource(stored.reader.get(), {.dependency_cache_bytes = recorded ? 1u : 64u << 20});
    const std::vector<uint32_t> order = OrderOf(memory.get(), dependencies, 6, UINT32_MAX);
    EXPECT_EQ(OrderOf(store.get(), dependencies, 6, UINT32_MAX), order);
  }
}

TEST(FeederTest, NodesOneAfterAnotherAndTheOtherWayRound) {
  const uint32_t n = 10'000;
  for (const bool backwards : {false, true}) {
    Dependencies dependencies(n);
    for (uint32_t i = 1; i < n; ++i) {
      backwards ? dependencies[i - 1].push_back(i) : dependencies[i].push_back(i - 1);
    }
    const RankTrace rank = RankOf(1, dependencies);
    const auto source = NewMemorySource(&rank);
    Feeder feeder(source.get());
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t want = backwards ? n - 1 - i : i;
      ASSERT_OK_AND_ASSIGN(const std::vector<uint32_t> nodes, feeder.Next(10));
      ASSERT_EQ(nodes, std::vector<uint32_t>{want});
      ASSERT_THAT(feeder.Complete(want), IsOk());
    }
    EXPECT_TRUE(feeder.done());
  }
}

TEST(FeederTest, NodesAreReadAsRecordedFromBothSources) {
  const Stored stored(RandomRank(3, 500, false, 1));
  const auto memory = NewMemorySource(&stored.rank);
  const auto store = NewReaderSource(stored.reader.get());
  for (uint32_t position = 0; position < 500; ++position) {
    SCOPED_TRACE(position);
    const RankTrace& rank = stored.rank;
    for (NodeSource* source : {memory.get(), store.get()}) {
      ASSERT_OK_AND_ASSIGN(const FeedNode node, source->Read(position));
      EXPECT_EQ(node.position, position);
      EXPECT_EQ(node.id, rank.id[position]);
      EXPECT_EQ(node.type, rank.type[position]);
      EXPECT_EQ(node.is_host, rank.is_host(position));
      EXPECT_EQ(node.queue, rank.queues[rank.queue[position]]);
      EXPECT_EQ(node.start_ns, rank.start_ns[position]);
      EXPECT_EQ(node.dur_ns, rank.dur_ns[position]);
      EXPECT_EQ(node.work_ns, rank.work_ns[position]);
      EXPECT_EQ(node.gap_ns, rank.DenseGaps()[position]);
      EXPECT_EQ(node.name, rank.NameOf(position));
      const CommOp* comm = rank.CommOf(position);
      ASSERT_EQ(node.comm == nullptr, comm == nullptr);
      if (comm != nullptr) {
        EXPECT_EQ(*node.comm, *comm);
      }
      const WorkSize* size = rank.WorkSizeOf(position);
      ASSERT_EQ(node.work_size == nullptr, size == nullptr);
      if (size != nullptr) {
        EXPECT_EQ(*node.work_size, *size);
      }
    }
  }
  EXPECT_THAT(store->Read(500), StatusIs(absl::StatusCode::kInvalidArgument,
                                         "node: position 500 is not in [0, 500)"));
}

// Ids are positions plus 100, names are letters.
RankTrace Named(const Dependencies& dependencies) {
  RankTrace rank = RankOf(2, dependencies);
  for (uint32_t node = 0; node < rank.size(); ++node) {
    rank.id[node] = node + 100;
    rank.name[node] = rank.strings.Append(std::string(1, static_cast<char>('a' + node % 26)));
  }
  return rank;
}

TEST(FeederTest, ACycleIsNamedWhenNothingElseIsLeft) {
  // 0 is free; 1 waits for the cycle 2 -> 4 -> 3 -> 2; 5 waits for 0.
  const Stored stored(Named({{}, {2}, {0, 4}, {2}, {3, 0}, {0}}));
  const auto memory = NewMemorySource(&stored.rank);
  const auto store = NewReaderSource(stored.reader.get());
  for (NodeSource* source : {memory.get(), store.get()}) {
    Feeder feeder(source);
    EXPECT_EQ(*feeder.Next(10), std::vector<uint32_t>{0});
    EXPECT_EQ(*feeder.Next(10), std::vector<uint32_t>{});  // 0 is being worked on.
    ASSERT_THAT(feeder.Complete(0), IsOk());
    EXPECT_EQ(*feeder.Next(10), std::vector<uint32_t>{5});
    ASSERT_THAT(feeder.Complete(5), IsOk());
    const auto cycle =
        StatusIs(absl::StatusCode::kInvalidArgument,
                 "dependency cycle: node 102 (c) -> node 104 (e) -> node 103 (d) -> node 102 (c)");
    EXPECT_THAT(feeder.Next(1), cycle);
    EXPECT_THAT(feeder.Next(1), cycle);
    EXPECT_THAT(feeder.Complete(5), cycle);
    EXPECT_FALSE(feeder.done());
  }
}

TEST(FeederTest, ANodeThatWaitsForItselfIsACycle) {
  const RankTrace rank = Named({{0}});
  const auto source = NewMemorySource(&rank);
  EXPECT_THAT(Feeder(source.get()).Next(1),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "dependency cycle: node 100 (a) -> node 100 (a)"));
}

TEST(FeederTest, OfALongCycleTheFirstTwentyAreNamed) {
  const uint32_t n = 50'000;
  Dependencies dependencies(n);
  for (uint32_t i = 0; i < n; ++i) dependencies[i].push_back((i + 1) % n);
  const RankTrace rank = Named(dependencies);
  const auto source = NewMemorySource(&rank);
  EXPECT_THAT(Feeder(source.get()).Next(1),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "node 119 (t) -> ... (50000 nodes) -> node 100 (a)"));
}

// Random graphs with one edge that closes a cycle: all that does not depend on it is
// handed out, then the cycle named is one.
TEST(FeederTest, RandomGraphsWithCyclesEndInAStatusThatNamesOne) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Dependencies dependencies = RandomDependencies(random, 200, /*recorded_order=*/true);
    // Some way back along dependencies, and then forward again.
    uint32_t node = 199;
    while (dependencies[node].empty()) --node;
    uint32_t earlier = node;
    for (int i = 0; i < 5 && !dependencies[earlier].empty(); ++i) {
      earlier = dependencies[earlier][random() % dependencies[earlier].size()];
    }
    dependencies[earlier].push_back(node);
    const RankTrace rank = Named(dependencies);
    const auto source = NewMemorySource(&rank);
    Feeder feeder(source.get());
    Reference reference(dependencies, UINT32_MAX);
    absl::StatusOr<std::vector<uint32_t>> nodes = feeder.Next(3);
    for (; nodes.ok(); nodes = feeder.Next(3)) {
      ASSERT_EQ(*nodes, reference.Next(3));
      ASSERT_FALSE(nodes->empty());
      for (const uint32_t done : *nodes) {
        ASSERT_THAT(feeder.Complete(done), IsOk());
        reference.Complete(done);
      }
    }
    EXPECT_THAT(reference.Next(1), testing::IsEmpty());
    // "dependency cycle: node 1 (x) -> node 2 (y) -> node 1 (x)": each waits for the next.
    const std::string message(nodes.status().message());
    ASSERT_EQ(message.find("dependency cycle: node "), 0) << message;
    if (message.find("...") != std::string::npos) continue;
    std::vector<uint32_t> cycle;
    for (size_t at = message.find("node "); at != std::string::npos;
         at = message.find("node ", at + 1)) {
      uint32_t id = 0;
      std::from_chars(&message[at + 5], message.data() + message.size(), id);
      cycle.push_back(id - 100);
    }
    ASSERT_GE(cycle.size(), 2);
    EXPECT_EQ(cycle.front(), cycle.back());
    for (size_t i = 0; i + 1 < cycle.size(); ++i) {
      const std::vector<uint32_t>& of_node = dependencies[cycle[i]];
      EXPECT_TRUE(std::count(of_node.begin(), of_node.end(), cycle[i + 1]) > 0) << message;
    }
  }
}

TEST(FeederTest, ADependencyThatDoesNotExistIsNamedWhenItsNodeIsReached) {
  const RankTrace rank = Named({{}, {0}, {0, 7}});
  const auto source = NewMemorySource(&rank);
  Feeder feeder(source.get());
  const auto missing = StatusIs(absl::StatusCode::kInvalidArgument,
                                "node 102 (c): depends on position 7, which is not in [0, 3)");
  EXPECT_EQ(*feeder.Next(3), std::vector<uint32_t>{0});
  ASSERT_THAT(feeder.Complete(0), IsOk());
  EXPECT_EQ(*feeder.Next(1), std::vector<uint32_t>{1});
  EXPECT_THAT(feeder.Next(1), missing);
  EXPECT_THAT(feeder.Complete(1), missing);
}

TEST(FeederTest, OnlyWhatWasHandedOutCanBeDoneAndOnce) {
  const RankTrace rank = Named({{}, {0}, {}});
  const auto source = NewMemorySource(&rank);
  Feeder feeder(source.get());
  const auto not_handed_out = [](const char* position) {
    return StatusIs(absl::StatusCode::kInvalidArgument,
                    std::string("node: position ") + position + " was not handed out");
  };
  EXPECT_THAT(feeder.Complete(0), not_handed_out("0"));
  EXPECT_EQ(*feeder.Next(0), std::vector<uint32_t>{});
  EXPECT_EQ(*feeder.Next(1), std::vector<uint32_t>{0});
  EXPECT_THAT(feeder.Complete(1), not_handed_out("1"));
  EXPECT_THAT(feeder.Complete(3), not_handed_out("3"));
  ASSERT_THAT(feeder.Complete(0), IsOk());
  EXPECT_THAT(feeder.Complete(0), StatusIs(absl::StatusCode::kInvalidArgument, "is done already"));
  EXPECT_EQ(*feeder.Next(9), (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(feeder.done_count(), 1);
  EXPECT_EQ(feeder.outstanding_count(), 2);
}

TEST(FeederTest, DamageOfAChunkReachesTheCaller) {
  const Stored stored(RandomRank(8, 3 * kWindowRows, false, 1));
  ChunkMap map;
  RankIndex index = map.Add(stored.rank);
  index.hot[1].hash.assign(32, 'x');  // The second window of nodes.
  ASSERT_OK_AND_ASSIGN(const auto reader, RankReader::Open(index, map.Source(), {1}));
  const auto source = NewReaderSource(reader.get());
  Feeder feeder(source.get(), {});
  absl::StatusOr<std::vector<uint32_t>> nodes = feeder.Next(1000);
  while (nodes.ok() && !nodes->empty()) {
    for (const uint32_t node : *nodes) {
      if (!feeder.Complete(node).ok()) break;
    }
    nodes = feeder.Next(1000);
  }
  EXPECT_THAT(nodes, StatusIs(absl::StatusCode::kDataLoss, "chunk: is missing"));
}

TEST(FeederTest, AnEmptyRankIsDone) {
  const RankTrace rank;
  const auto source = NewMemorySource(&rank);
  Feeder feeder(source.get());
  EXPECT_TRUE(feeder.done());
  EXPECT_EQ(*feeder.Next(1), std::vector<uint32_t>{});
}

}  // namespace
}  // namespace chakrad
