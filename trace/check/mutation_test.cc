// Consistent jobs with one fault each: the suite names that fault and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trace/check/check_trace.h"
#include "trace/check/testing/consistent_trace.h"

namespace chakrad {
namespace {

constexpr int32_t kWorldSize = 8;
constexpr int32_t kSteps = 80;
constexpr uint32_t kSeeds = 40;

struct StepAt {
  size_t rank = 0;
  size_t step = 0;
};

using Wanted = std::function<bool(const TestStep&)>;

// A step of a rank, both chosen by `random`, that `wanted` accepts.
StepAt Choose(const TestJob& job, const Wanted& wanted, std::mt19937* random) {
  std::vector<StepAt> candidates;
  for (size_t rank = 0; rank < job.programs.size(); ++rank) {
    for (size_t step = 0; step < job.programs[rank].size(); ++step) {
      if (wanted(job.programs[rank][step])) candidates.push_back({rank, step});
    }
  }
  EXPECT_FALSE(candidates.empty());
  return candidates[(*random)() % candidates.size()];
}

bool IsCollective(const TestStep& step) { return step.type == NodeType::kCommColl; }
bool IsSend(const TestStep& step) { return step.type == NodeType::kCommSend; }
bool IsReceive(const TestStep& step) { return step.type == NodeType::kCommRecv; }
bool IsReduction(const TestStep& step) {
  return IsCollective(step) && (step.comm.collective == CollectiveType::kAllReduce ||
                                step.comm.collective == CollectiveType::kReduceScatter);
}

using Counts = std::map<std::string, int64_t>;

// Applies `mutate` to a job for each seed; the rules broken must be `expected`.
void ExpectRules(const std::function<void(TestJob*, std::mt19937*)>& mutate,
                 const Counts& expected) {
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    TestJob job = ConsistentJob(seed, kWorldSize, kSteps);
    std::mt19937 random(seed + 1000);
    mutate(&job, &random);
    const CheckReport report = CheckTrace(BuildJob(job), {});
    EXPECT_EQ(report.count_by_rule, expected) << "seed " << seed << "\n" << ReportText(report);
  }
}

TEST(MutationTest, ADroppedCollective) {
  ExpectRules(
      [](TestJob* job, std::mt19937* random) {
        const StepAt at = Choose(*job, IsCollective, random);
        job->programs[at.rank][at.step] = TestStep();  // Compute instead: no time moves.
      },
      {{"collective_count_mismatch", 1}});
}

TEST(MutationTest, AnotherSize) {
  ExpectRules(
      [](TestJob* job, std::mt19937* random) {
        const StepAt at = Choose(*job, IsReduction, random);
        job->programs[at.rank][at.step].comm.bytes += 4;
      },
      {{"collective_size_mismatch", 1}});
}

TEST(MutationTest, AnotherType) {
  ExpectRules(
      [](TestJob* job, std::mt19937* random) {
        const StepAt at = Choose(*job, IsReduction, random);
        job->programs[at.rank][at.step].comm.collective = CollectiveType::kReduceScatterBlock;
      },
      {{"collective_type_mismatch", 1}});
}

TEST(MutationTest, SwappedCollectives) {
  ExpectRules(
      [](TestJob* job, std::mt19937* random) {
        // A collective and a later one of another type in its group.
        StepAt at;
        size_t other = 0;
        while (other == 0) {
          at = Choose(*job, IsCollective, random);
          const TestProgram& program = job->programs[at.rank];
          for (size_t step = at.step + 1; step < program.size() && other == 0; ++step) {
            if (IsCollective(program[step]) &&
                program[step].comm.group == program[at.step].comm.group &&
                program[step].comm.collective != program[at.step].comm.collective) {
              other = step;
            }
          }
        }
        std::swap(job->programs[at.rank][at.step], job->programs[at.rank][other]);
      },
      {{"collective_order_mismatch", 1}});
}

TEST(MutationTest, AFlippedPeer) {
  ExpectRules(
      [](TestJob* job, std::mt19937* random) {
        const StepAt at = Choose(*job, IsSend, random);
        CommOp& comm = job->programs[at.rank][at.step].comm;
        comm.peer = (comm.peer + 2) % kWorldSize;
      },
      {{"unmatched_send", 1}, {"unmatched_receive", 1}});
}

TEST(MutationTest, AnotherMessageSize) {
  ExpectRules(
      [](TestJob* job, std::mt19937* random) {
        const StepAt at = Choose(*job, IsReceive, random);
        job->programs[at.rank][at.step].comm.bytes += 1;
      },
      {{"message_size_mismatch", 1}});
}

TEST(MutationTest, AnotherTag) {
  ExpectRules(
      [](TestJob* job, std::mt19937* random) {
        const StepAt at = Choose(*job, IsReceive, random);
        job->programs[at.rank][at.step].comm.tag = 99;
      },
      {{"message_tag_mismatch", 1}});
}

TEST(MutationTest, ADroppedSend) {
  ExpectRules(
      [](TestJob* job, std::mt19937* random) {
        const StepAt at = Choose(*job, IsSend, random);
        job->programs[at.rank][at.step] = TestStep();
      },
      {{"unmatched_receive", 1}});
}

TEST(MutationTest, AMissingRank) {
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    Trace trace = BuildJob(ConsistentJob(seed, kWorldSize, kSteps));
    trace.ranks.erase(trace.ranks.begin() + seed % kWorldSize);
    const CheckReport report = CheckTrace(trace, {});
    EXPECT_EQ(report.count_by_rule, (Counts{{"missing_ranks", 1}})) << "seed " << seed << "\n"
                                                                    << ReportText(report);
  }
}

// Nodes, edges, groups and times of any kind, as no reader would let through.
Trace AnyTrace(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t limit) { return random() % limit; };
  const auto near_zero = [&] { return static_cast<int32_t>(below(9)) - 3; };
  Trace trace;
  trace.world_size = static_cast<int32_t>(below(6));
  for (uint32_t group = below(5); group > 0; --group) {
    ProcessGroup one{below(2) == 0 ? "" : "g", "", {}};
    for (uint32_t member = below(5); member > 0; --member) one.ranks.push_back(near_zero());
    trace.groups.push_back(one);
  }
  int32_t number = near_zero();
  for (uint32_t rank = below(5); rank > 0; --rank) {
    RankTraceBuilder builder;
    builder.header().rank = number;
    builder.header().base_unix_ns = below(2);
    const uint32_t nodes_count = below(30);
    for (uint32_t node = 0; node < nodes_count; ++node) {
      CommOp comm;
      comm.collective = static_cast<CollectiveType>(below(kCollectiveTypesCount));
      comm.bytes = near_zero();
      comm.group = below(8) == 0 ? kNone : below(6);
      comm.peer = near_zero();
      comm.root = near_zero();
      comm.tag = below(2);
      NodeSpec spec;
      spec.id = (uint64_t{1} << 40) + 7 * uint64_t{node};
      spec.type = static_cast<NodeType>(below(kNodeTypesCount));
      spec.flags = static_cast<uint8_t>(below(4));
      spec.name = below(3) == 0 ? "" : "n";
      spec.queue.kind = static_cast<Queue::Kind>(below(2));
      spec.start_ns = below(9) == 0 ? INT64_MAX : 1000 * near_zero();
      spec.dur_ns = below(9) == 0 ? INT64_MAX : 1000 * near_zero();
      spec.work_ns = near_zero();
      spec.cold = below(2) == 0 ? "" : "\x52\x01\xff";
      const WorkSize size{near_zero(), near_zero()};
      if (below(5) > 0) spec.comm = &comm;
      if (below(2) == 0) spec.work_size = &size;
      builder.AddNode(spec);
    }
    for (uint32_t edge = nodes_count == 0 ? 0 : below(40); edge > 0; --edge) {
      const uint32_t a = below(nodes_count), b = below(nodes_count);
      const bool any_way = seed % 2 == 0;  // Else without cycles.
      if (!any_way && a == b) continue;
      builder.AddEdge(any_way ? a : std::max(a, b), any_way ? b : std::min(a, b),
                      static_cast<EdgeKind>(below(kEdgeKindsCount)));
    }
    trace.ranks.push_back(builder.Build(nullptr).value());
    number += 1 + static_cast<int32_t>(below(2));
  }
  return trace;
}

TEST(MutationTest, AnyTraceGetsAReportThatAddsUp) {
  std::map<std::string, int64_t> met;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    const CheckReport report = CheckTrace(AnyTrace(seed), {});
    int64_t sum = 0;
    std::map<std::string, int64_t> listed;
    for (const auto& [rule, count] : report.count_by_rule) sum += count, met[rule] += count;
    for (const Finding& finding : report.findings) {
      ++listed[finding.rule];
      EXPECT_FALSE(finding.message.empty()) << finding.rule;
    }
    EXPECT_EQ(sum, report.errors_count + report.warnings_count + report.infos_count);
    for (const auto& [rule, count] : report.count_by_rule) {
      EXPECT_EQ(listed[rule], std::min(count, kListedPerRule)) << rule << ", seed " << seed;
    }
    EXPECT_TRUE(report.quality >= 0 && report.quality <= 1) << report.quality;
  }
  EXPECT_GE(met.size(), 30u);  // The traces are as bad as they are meant to be.
}

}  // namespace
}  // namespace chakrad
