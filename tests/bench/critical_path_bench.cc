// How long the critical path and a what-if take.
//
//   bazel run -c opt //tests/bench:critical_path_bench -- [RANKS [NODES_PER_RANK]]
//
// Ranks like recorded ones, without tests/data: docs/performance.md has the figures.
#include <sys/resource.h>
#include <time.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "analysis/critical_path/critical_path.h"
#include "analysis/critical_path/scaling.h"
#include "common/check.h"
#include "trace/codec/rank_generator.h"

namespace chakrad {
namespace {

double ProcessorSeconds() {
  timespec at{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
  return static_cast<double>(at.tv_sec) + static_cast<double>(at.tv_nsec) * 1e-9;
}

class Stopwatch {
 public:
  // Prints the processor time since the last call: what others run at the same time does not count.
  void Lap(const char* what) {
    std::printf("%-32s %8.3f s\n", what, ProcessorSeconds() - last_);
    last_ = ProcessorSeconds();
  }

 private:
  double last_ = ProcessorSeconds();
};

int64_t PeakMib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

void Run(int32_t ranks_count, uint32_t nodes_count) {
  Trace trace;
  trace.world_size = ranks_count;
  ProcessGroup world{"world", "", {}};
  for (int32_t rank = 0; rank < ranks_count; ++rank) {
    trace.ranks.push_back(RecordedLikeRank(7, nodes_count, false));
    trace.ranks.back().rank = rank;
    // Each a little later than the one before, so that collectives wait.
    for (int64_t& start_ns : trace.ranks.back().start_ns) start_ns += rank * 150;
    world.ranks.push_back(rank);
  }
  trace.groups.push_back(std::move(world));
  Stopwatch watch;
  const absl::StatusOr<JobTimeline> job = MeasuredTimeline(trace, {});
  CHECK(job.ok()) << job.status();
  watch.Lap("timeline");
  const int64_t before_mib = PeakMib();
  const CausalGraph graph = BuildCausalGraph(*job, *job);
  watch.Lap("causal graph");
  const TimeFactors unchanged;
  const CausalReplay replay(graph, unchanged);
  watch.Lap("replay");
  const std::vector<PathStep> steps = FindCriticalPath(graph, replay);
  const PathShares shares = SharesOf(graph, steps);
  watch.Lap("path and its shares");
  std::vector<std::string> notices;
  const absl::StatusOr<TimeFactors> factors =
      FactorsOf(graph, {{"comm", 0.5}, {"name:gemm|mm", 0.8}}, &notices);
  CHECK(factors.ok()) << factors.status();
  const CausalReplay what_if(graph, *factors);
  FindCriticalPath(graph, what_if);
  watch.Lap("what-if of two classes");
  std::printf(
      "%d ranks of %u nodes: %zu meetings, %zu steps, exact: %s, %lld MiB more at the peak\n",
      ranks_count, nodes_count, graph.meetings.size(), steps.size(),
      replay.end_ps() == graph.end_ps ? "yes" : "no",
      static_cast<long long>(PeakMib() - before_mib));
  for (const std::string& notice : graph.notices) std::printf("note: %s\n", notice.c_str());
}

}  // namespace
}  // namespace chakrad

int main(int argc, char** argv) {
  int32_t ranks_count = 8;
  uint32_t nodes_count = 1'000'000;
  if ((argc > 1 && !absl::SimpleAtoi(argv[1], &ranks_count)) ||
      (argc > 2 && !absl::SimpleAtoi(argv[2], &nodes_count))) {
    std::fprintf(stderr, "usage: critical_path_bench [RANKS [NODES_PER_RANK]]\n");
    return 2;
  }
  chakrad::Run(ranks_count, nodes_count);
  return 0;
}
