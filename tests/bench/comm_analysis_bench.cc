// How long the analyses of communication take: ranks of so many events, of which one in ten is
// a collective, in the groups of a mesh.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analysis/clocks/clock_offsets.h"
#include "analysis/collectives/collective_stats.h"
#include "analysis/collectives/match_comm.h"
#include "analysis/groups/group_stats.h"
#include "analysis/skew/skew.h"
#include "analysis/timeline/timeline.h"
#include "common/check.h"
#include "trace/model/rank_trace_builder.h"

namespace chakrad {
namespace {

// Ranks {0, 1}, {2, 3}, ... and the world, by turns.
RankTrace MakeRank(int32_t rank, int64_t events_count) {
  std::mt19937 random(static_cast<uint32_t>(rank + 1));
  RankTraceBuilder builder;
  builder.header().rank = rank;
  int64_t at_ns = 1000 + 1000 * rank;
  for (int64_t i = 0; i < events_count; ++i) {
    const bool comm = i % 10 == 9;
    const CommOp op{.bytes = 1 << (10 + i / 10 % 12),
                    .group = i / 10 % 4 == 3 ? kWorldGroup : 1 + static_cast<uint32_t>(rank / 2)};
    NodeSpec spec;
    spec.id = static_cast<uint64_t>(i + 1);
    spec.type = comm ? NodeType::kCommColl : NodeType::kComp;
    spec.name = comm ? "ncclDevKernel_AllReduce" : "gemm";
    spec.queue = {Queue::Kind::kDeviceStream, 0, comm ? 20 : 7};
    spec.start_ns = at_ns;
    spec.dur_ns = spec.work_ns = 1000 + static_cast<int64_t>(random() % 2000);
    spec.comm = comm ? &op : nullptr;
    builder.AddNode(spec);
    at_ns += 2000;
  }
  absl::StatusOr<RankTrace> built = builder.Build(nullptr);
  CHECK(built.ok()) << built.status().message();
  return *std::move(built);
}

template <typename Fn>
void Time(const char* what, const Fn& fn) {
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t cpu_start = std::clock();
  const size_t count = fn();
  const double cpu_ms = 1e3 * static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  std::printf("%-24s %9.1f ms of CPU, took %9.1f ms  %zu\n", what, cpu_ms, took.count(), count);
}

void Run(int32_t ranks_count, int64_t events_count) {
  Trace trace;
  trace.world_size = ranks_count;
  trace.groups.push_back({"world", "", {}});
  for (int32_t rank = 0; rank < ranks_count; ++rank) {
    trace.groups[0].ranks.push_back(rank);
    if (rank % 2 == 0) trace.groups.push_back({"", "", {rank, rank + 1}});
    trace.ranks.push_back(MakeRank(rank, events_count));
  }
  JobTimeline job;
  MatchedComm matches;
  ClockEstimate estimate;
  Time("timeline", [&] {
    absl::StatusOr<JobTimeline> measured = MeasuredTimeline(trace, {});
    CHECK(measured.ok()) << measured.status().message();
    job = *std::move(measured);
    return job.ranks.size();
  });
  Time("match", [&] {
    matches = MatchComm(job);
    return matches.collectives.size();
  });
  Time("estimate clocks", [&] {
    estimate = EstimateClocks(job, matches);
    return static_cast<size_t>(estimate.impossible_count);
  });
  Time("align clocks", [&] {
    job = AlignClocks(std::move(job), estimate);
    return job.ranks.size();
  });
  Time("collective statistics", [&] { return ComputeCollectiveStats(job, matches).size(); });
  Time("groups", [&] { return ComputeGroupStats(job).size(); });
  Time("skew", [&] { return ComputeSkew(job, matches, 20).worst.size(); });
}

}  // namespace
}  // namespace chakrad

int main(int argc, char** argv) {
  CLI::App app("How long the analyses of communication take.");
  int32_t ranks_count = 8;
  int64_t events_count = 1'000'000;
  app.add_option("--ranks", ranks_count, "An even number")->check(CLI::Range(2, 1024));
  app.add_option("--events", events_count, "Of each rank")->check(CLI::Range(1, 10'000'000));
  CLI11_PARSE(app, argc, argv);
  chakrad::Run(ranks_count, events_count);
  return 0;
}
