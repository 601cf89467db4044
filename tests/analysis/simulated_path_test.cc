// The critical path of a simulated timeline against the simulator's own, which knows its state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "analysis/critical_path/critical_path.h"
#include "common/status_matchers.h"
#include "sim/simulate.h"
#include "sim/test_traces.h"

namespace chakrad {
namespace {

constexpr int32_t kRanks = 4;

// Computations on two streams and a host thread, collectives, a send round the ring, idle times.
Trace RandomJob(std::mt19937* random) {
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(*random);
  };
  TraceMaker maker(kRanks);
  uint64_t last_comm = 0;
  const uint64_t count = static_cast<uint64_t>(pick(5, 40));
  for (uint64_t id = 1; id <= count; ++id) {
    std::vector<uint64_t> deps;
    if (id > 1 && pick(0, 3) > 0) deps.push_back(static_cast<uint64_t>(pick(1, int64_t(id) - 1)));
    const int64_t kind = pick(0, 6);
    if (kind >= 3) {
      if (last_comm > 0) deps.push_back(last_comm);
      last_comm = id;
    }
    const bool host = kind == 0;
    const Queue queue{host ? Queue::Kind::kHostThread : Queue::Kind::kDeviceStream, host ? -1 : 0,
                      host ? 1 : pick(1, 2)};
    const CollectiveType type =
        pick(0, 1) == 0 ? CollectiveType::kAllReduce : CollectiveType::kAllGather;
    const int64_t bytes = pick(1, 50'000);
    for (int32_t rank = 0; rank < kRanks; ++rank) {
      if (kind == 3) {
        maker.Receive(rank, id + 1000, (rank + kRanks - 1) % kRanks, bytes);
        maker.Send(rank, id, (rank + 1) % kRanks, bytes, 0, deps);
      } else if (kind > 3) {
        maker.Collective(rank, id, type, bytes, kWorldGroup, deps);
      } else {
        NodeSpec spec{.id = id, .type = NodeType::kComp, .name = "comp", .queue = queue};
        spec.flags = host ? RankTrace::kHostOp : 0;
        spec.work_ns = pick(0, 40'000);
        spec.gap_ns = pick(0, 3) == 0 ? pick(1, 900) : 0;
        maker.Add(rank, spec, deps);
      }
    }
  }
  return maker.Make();
}

struct Compared {
  int64_t jobs_count = 0;
  int64_t equal_count = 0;       // With the same totals by class,
  int64_t same_steps_count = 0;  // and with the same steps.
  int64_t steps_count = 0;
  int64_t crossed_count = 0;  // Steps that others were waited for in.
};

// By rank and kind, gaps in their own place.
using Totals = std::array<int64_t, kIntervalKindsCount + 1>;

Totals OursOf(const std::vector<PathStep>& steps) {
  Totals totals{};
  for (const PathStep& step : steps) {
    totals[step.is_gap ? kIntervalKindsCount : static_cast<size_t>(step.kind)] +=
        step.end_ps - step.start_ps;
  }
  return totals;
}

Totals SimulatorsOf(const SimResult& result, const JobTimeline& job) {
  Totals totals{};
  int64_t at_ps = 0;
  for (const CriticalStep& step : result.critical_path) {
    totals[kIntervalKindsCount] += step.start_ps - at_ps;
    at_ps = step.end_ps;
    const RankTrace& trace = *job.ranks[step.rank].trace;
    IntervalKind kind = IntervalKind::kCompute;
    if (IsComm(trace.type[step.node])) kind = IntervalKind::kComm;
    if (trace.is_host(step.node) && trace.HasDeviceCompute()) kind = IntervalKind::kHost;
    totals[static_cast<size_t>(kind)] += step.end_ps - step.start_ps;
  }
  return totals;
}

bool SameSteps(const std::vector<PathStep>& steps, const SimResult& result) {
  std::vector<CriticalStep> ours;
  for (const PathStep& step : steps) {
    if (!step.is_gap) ours.push_back({step.rank, step.node, step.start_ps, step.end_ps});
  }
  return ours == result.critical_path;
}

void Compare(uint32_t seed, IssueRule rule, Compared* compared) {
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const Trace trace = RandomJob(&random);
  SystemDescription system = TestSystem({{TopologyKind::kRing, kRanks, 50, 500}});
  system.issue_rule = rule;
  SimOptions options;
  options.critical_path = true;
  RecordingObserver observer;
  const absl::StatusOr<SimResult> result = Simulate(trace, system, options, &observer);
  ASSERT_THAT(result.status(), IsOk());
  if (result->end_ps == 0) return;
  const absl::StatusOr<JobTimeline> job =
      SimulatedTimeline(trace, result->end_ps, observer.intervals, {});
  ASSERT_THAT(job.status(), IsOk());
  const CausalGraph graph = BuildCausalGraph(*job, *job);
  const TimeFactors unchanged;
  const CausalReplay replay(graph, unchanged);
  EXPECT_EQ(replay.end_ps(), result->end_ps);
  const std::vector<PathStep> steps = FindCriticalPath(graph, replay);
  const Totals ours = OursOf(steps), simulators = SimulatorsOf(*result, *job);
  int64_t at_ps = 0;
  for (const PathStep& step : steps) {
    EXPECT_EQ(step.start_ps, at_ps);
    at_ps = step.end_ps;
    compared->crossed_count +=
        step.edge == PathEdge::kCollective || step.edge == PathEdge::kMessage;
  }
  EXPECT_EQ(at_ps, result->end_ps);
  ++compared->jobs_count;
  compared->steps_count += static_cast<int64_t>(steps.size());
  compared->equal_count += ours == simulators;
  compared->same_steps_count += SameSteps(steps, *result);
}

class SimulatedPathTest : public testing::TestWithParam<IssueRule> {};

TEST_P(SimulatedPathTest, IsTheSimulatorsOwn) {
  Compared compared;
  for (uint32_t seed = 0; seed < 300; ++seed) Compare(seed, GetParam(), &compared);
  EXPECT_GT(compared.jobs_count, 290);
  EXPECT_GT(compared.steps_count, 2000);
  EXPECT_GT(compared.crossed_count, 150);
  EXPECT_EQ(compared.equal_count, compared.jobs_count);
  EXPECT_EQ(compared.same_steps_count, compared.jobs_count);
}

INSTANTIATE_TEST_SUITE_P(IssueRules, SimulatedPathTest,
                         testing::Values(IssueRule::kOneOfEach, IssueRule::kRecordedQueues));

}  // namespace
}  // namespace chakrad
