// Consistent jobs with one fault each: the suite names that fault and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace chakrad
