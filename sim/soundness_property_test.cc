// Odd but legal jobs on any system: they end, and their numbers add up.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "sim/simulate.h"
#include "sim/test_systems.h"
#include "sim/test_traces.h"

namespace chakrad {
namespace {

constexpr int32_t kRanks = 8;

// Several host threads, compute and communication streams; collectives of all types of the world
// and of pairs, in the same order on all members; sends round a ring; memory nodes; gaps. What is
// on one queue, and what communicates, keeps its order, so that every job can end.
class JobMaker {
 public:
  explicit JobMaker(std::mt19937* random) : random_(random), maker_(kRanks) {
    for (int32_t i = 0; i < kRanks / 2; ++i) {
      pair_of_.push_back(maker_.AddGroup("pair", {2 * i, 2 * i + 1}));
    }
  }

  Trace Make(bool all_types) {
    const int64_t count = Pick(1, 30);
    for (uint64_t id = 1; id <= static_cast<uint64_t>(count); ++id) {
      std::vector<uint64_t> deps;
      if (id > 1 && Pick(0, 2) > 0) deps.push_back(static_cast<uint64_t>(Pick(1, id - 1)));
      switch (Pick(0, 5)) {
        case 0:
        case 1:
          AddCompute(id, deps);
          break;
        case 2:
          AddMemory(id, deps);
          break;
        case 3:
          AddMessages(id, deps);
          break;
        default:
          AddCollective(id, all_types, deps);
          break;
      }
    }
    return maker_.Make();
  }

 private:
  int64_t Pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(*random_);
  }

  void AddCompute(uint64_t id, const std::vector<uint64_t>& deps) {
    const bool host = Pick(0, 2) == 0;
    const Queue queue{host ? Queue::Kind::kHostThread : Queue::Kind::kDeviceStream, host ? -1 : 0,
                      Pick(1, 3)};
    for (int32_t rank = 0; rank < kRanks; ++rank) {
      NodeSpec spec{.id = id, .type = NodeType::kComp, .name = "comp", .queue = queue};
      spec.flags = host ? RankTrace::kHostOp : 0;
      spec.work_ns = Pick(-1, 4000);
      spec.gap_ns = Pick(0, 3) == 0 ? Pick(1, 900) : 0;
      maker_.Add(rank, spec, deps);
    }
  }

  void AddMemory(uint64_t id, const std::vector<uint64_t>& deps) {
    const WorkSize size{0, Pick(0, 100'000)};
    for (int32_t rank = 0; rank < kRanks; ++rank) {
      NodeSpec spec{.id = id, .type = NodeType::kMemLoad, .name = "load", .work_ns = Pick(1, 900)};
      spec.work_size = Pick(0, 1) == 0 ? &size : nullptr;
      maker_.Add(rank, spec, deps);
    }
  }

  // Every rank sends to the next one; the receive waits for nothing.
  void AddMessages(uint64_t id, std::vector<uint64_t> deps) {
    const int64_t bytes = Pick(0, 50'000);
    if (last_comm_ > 0) deps.push_back(last_comm_);
    for (int32_t rank = 0; rank < kRanks; ++rank) {
      maker_.Receive(rank, id + 1000, (rank + kRanks - 1) % kRanks, bytes, Pick(0, 0));
      maker_.Send(rank, id, (rank + 1) % kRanks, bytes, 0, deps);
    }
    last_comm_ = id;
  }

  void AddCollective(uint64_t id, bool all_types, std::vector<uint64_t> deps) {
    static constexpr CollectiveType kPlain[] = {
        CollectiveType::kAllReduce, CollectiveType::kAllGather, CollectiveType::kReduceScatter,
        CollectiveType::kAllToAll};
    CommOp op;
    op.collective = all_types ? static_cast<CollectiveType>(Pick(0, kCollectiveTypesCount - 1))
                              : kPlain[Pick(0, 3)];
    op.bytes = Pick(0, 3) == 0 ? Pick(0, 9) : Pick(0, 100'000);
    const bool pairs = Pick(0, 1) == 0;
    const Queue queue{Queue::Kind::kDeviceStream, 0, Pick(10, 12)};
    if (last_comm_ > 0) deps.push_back(last_comm_);
    for (int32_t rank = 0; rank < kRanks; ++rank) {
      op.group = pairs ? pair_of_[rank / 2] : Pick(0, 1) == 0 ? kNone : kWorldGroup;
      op.root = pairs ? rank / 2 * 2 + 1 : 5;
      NodeSpec spec{.id = id, .type = NodeType::kCommColl, .name = "coll", .queue = queue};
      spec.work_ns = 100;
      spec.comm = &op;
      maker_.Add(rank, spec, deps);
    }
    last_comm_ = Pick(0, 2) == 0 ? last_comm_ : id;  // Now and then two may overlap.
  }

  std::mt19937* random_;
  TraceMaker maker_;
  std::vector<uint32_t> pair_of_;
  uint64_t last_comm_ = 0;
};

SystemDescription OddSystem(std::mt19937* random, Semantics semantics) {
  const auto pick = [&](int32_t low, int32_t high) {
    return std::uniform_int_distribution<int32_t>(low, high)(*random);
  };
  SystemDescription system = RandomSystem(random, semantics);
  if (pick(0, 1) == 0) system.issue_rule = IssueRule::kRecordedQueues;
  if (pick(0, 2) == 0) system.back_end = NetworkBackEnd::kLink;
  system.remote_memory.kind = static_cast<RemoteMemory::Kind>(pick(0, 3));
  system.remote_memory.latency_ns = 100;
  system.remote_memory.bytes_per_ns = 3;
  system.remote_memory.npus_per_node = 4;
  if (semantics == Semantics::kPhysical && pick(0, 3) == 0) {
    system.dims[0].bucket = {system.dims[0].bytes_per_ns / 2, 5000};
  }
  return system;
}

void ExpectSound(const SimResult& result, const std::string& where) {
  int64_t bytes = 0;
  for (size_t rank = 0; rank < result.ranks.size(); ++rank) {
    const RankTime& time = result.times[rank];
    int64_t sum_ps = time.compute_ps + time.exposed_comm_ps + time.exposed_memory_ps;
    for (const int64_t idle_ps : time.idle_ps) {
      EXPECT_GE(idle_ps, 0) << where;
      sum_ps += idle_ps;
    }
    EXPECT_EQ(sum_ps, result.end_ps) << where << ", rank " << rank;
    EXPECT_LE(time.exposed_comm_ps, time.comm_ps) << where;
    EXPECT_LE(result.ranks[rank].end_ps, result.end_ps) << where;
    bytes += result.ranks[rank].network_bytes;
  }
  EXPECT_EQ(bytes, result.network_bytes) << where;
  int64_t at_ps = 0;
  for (const CriticalStep& step : result.critical_path) {
    EXPECT_GE(step.start_ps, at_ps) << where;
    EXPECT_GE(step.end_ps, step.start_ps) << where;
    at_ps = step.end_ps;
  }
  EXPECT_EQ(at_ps, result.end_ps) << where;
  for (const CollectiveResult& collective : result.collectives) {
    EXPECT_LE(collective.start_ps, collective.all_joined_ps) << where;
    EXPECT_LE(collective.start_ps, collective.end_ps) << where;
    EXPECT_GE(collective.bus_bandwidth, 0) << where;
  }
}

class SoundnessTest : public testing::TestWithParam<Semantics> {};

TEST_P(SoundnessTest, OddJobsEndAndTheirNumbersAddUp) {
  int finished = 0, waited = 0;
  for (uint32_t seed = 0; seed < 1500; ++seed) {
    std::mt19937 random(seed);
    const SystemDescription system = OddSystem(&random, GetParam());
    const Trace trace = JobMaker(&random).Make(seed % 2 == 0);
    const std::string where = absl::StrCat("seed ", seed);
    SimOptions options;
    options.critical_path = true;
    options.link_traffic = seed % 5 == 0;
    const absl::StatusOr<SimResult> folded = Simulate(trace, system, options, nullptr);
    options.fold = false;
    const absl::StatusOr<SimResult> single = Simulate(trace, system, options, nullptr);
    ASSERT_EQ(folded.ok(), single.ok()) << where << folded.status() << single.status();
    if (!folded.ok()) {
      // Not every random system may run every type, and overlapping ranks may wait for each other.
      EXPECT_TRUE(folded.status().code() == absl::StatusCode::kInvalidArgument ||
                  folded.status().code() == absl::StatusCode::kFailedPrecondition)
          << where << folded.status();
      ++waited;
      continue;
    }
    ++finished;
    ExpectSound(*folded, where);
    EXPECT_EQ(folded->ranks, single->ranks) << where;
    EXPECT_EQ(folded->times, single->times) << where;
    EXPECT_EQ(folded->critical_path, single->critical_path) << where;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(finished, 3 * waited);
}

INSTANTIATE_TEST_SUITE_P(Semantics, SoundnessTest,
                         testing::Values(Semantics::kAstra, Semantics::kPhysical),
                         [](const auto& info) { return std::string(SemanticsName(info.param)); });

}  // namespace
}  // namespace chakrad
