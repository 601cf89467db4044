// What an analysis costs, on one core:
//
//   analysis_bench                          a rank of a million nodes, as recorded ones are shaped
//   analysis_bench --from=FOLDER [--repeat=K]  the trace of the files there, each rank K times
//                                           after each other
//
// Timeline: recorded columns to intervals; Breakdown: intervals to times and causes of idle;
// BreakdownWhenStored: what each trace costs that comes in; LoadTimelineAndBreakdown: the columns
// come out of a store on disk first.
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "analysis/breakdown/time_breakdown.h"
#include "analysis/kernels/kernel_stats.h"
#include "analysis/launches/launch_stats.h"
#include "analysis/measured_breakdown.h"
#include "analysis/steps/step_times.h"
#include "analysis/steps/steps.h"
#include "analysis/timeline/timeline.h"
#include "common/check.h"
#include "storage/open.h"
#include "tests/bench/repeat_rank.h"
#include "trace/codec/rank_generator.h"
#include "trace/import/import.h"

namespace chakrad {
namespace {

Trace TraceOf(const std::string& folder, int64_t repeat) {
  if (folder.empty()) {
    Trace trace;
    trace.ranks.push_back(RecordedLikeRank(1, 1'000'000, false));
    trace.world_size = 1;
    trace.groups = {{"world", "", {0}}};
    return trace;
  }
  std::vector<ImportFile> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    files.push_back({entry.path().filename().string(), entry.path().string()});
  }
  std::sort(files.begin(), files.end(),
            [](const ImportFile& a, const ImportFile& b) { return a.name < b.name; });
  absl::StatusOr<ImportResult> imported = ImportTrace(files, {});
  CHECK(imported.ok()) << imported.status();
  for (RankTrace& rank : imported->trace.ranks) rank = RepeatRank(rank, repeat);
  return std::move(imported->trace);
}

std::string TempFolder() {
  std::string folder = (std::filesystem::temp_directory_path() / "analysis_bench.XXXXXX").string();
  CHECK(mkdtemp(folder.data()) != nullptr);
  return folder;
}

void Register(const Trace* trace, TraceStore* store) {
  int64_t nodes_count = 0;
  for (const RankTrace& rank : trace->ranks) nodes_count += rank.size();
  const std::string label = absl::StrCat(trace->ranks.size(), " ranks, ", nodes_count, " nodes");
  const auto bench = [&label](const char* name, auto body) {
    benchmark::RegisterBenchmark(name, [label, body](benchmark::State& state) {
      for (auto _ : state) body();
      state.SetLabel(label);
    })->Unit(benchmark::kMillisecond);
  };
  bench("Timeline", [trace] { CHECK(MeasuredTimeline(*trace, {}).ok()); });
  bench("BreakdownWhenStored", [trace] { benchmark::DoNotOptimize(MeasuredBreakdown(*trace)); });
  const auto job = std::make_shared<JobTimeline>(*MeasuredTimeline(*trace, {}));
  bench("Breakdown", [job] { benchmark::DoNotOptimize(BreakDownTime(*job)); });
  bench("TimelineAndBreakdown", [trace] {
    benchmark::DoNotOptimize(MeanShares(BreakDownTime(*MeasuredTimeline(*trace, {}))));
  });
  bench("LoadTimelineAndBreakdown", [store] {
    const absl::StatusOr<Trace> loaded = store->Load("t-1", {});
    CHECK(loaded.ok()) << loaded.status();
    benchmark::DoNotOptimize(MeanShares(BreakDownTime(*MeasuredTimeline(*loaded, {}))));
  });
  bench("Kernels", [job] { benchmark::DoNotOptimize(BreakDownKernels(*job)); });
  bench("Launches", [job] {
    for (const RankTimeline& rank : job->ranks) benchmark::DoNotOptimize(StatsOfLaunches(rank));
  });
  bench("Steps", [job] { benchmark::DoNotOptimize(TimesOfSteps(*job, FindSteps(*job))); });
}

}  // namespace
}  // namespace chakrad

int main(int argc, char** argv) {
  std::string folder;
  int64_t repeat = 1;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    absl::string_view arg = argv[i];
    if (absl::ConsumePrefix(&arg, "--from=")) {
      folder = std::string(arg);
    } else if (absl::ConsumePrefix(&arg, "--repeat=")) {
      CHECK(absl::SimpleAtoi(arg, &repeat) && repeat >= 1) << "--repeat: " << std::string(arg);
    } else {
      argv[kept++] = argv[i];
    }
  }
  benchmark::Initialize(&kept, argv);
  const chakrad::Trace trace = chakrad::TraceOf(folder, repeat);
  const std::string folder_of_store = chakrad::TempFolder();
  {
    absl::StatusOr<chakrad::Stores> stores =
        chakrad::OpenRocksStores({.data_dir = folder_of_store, .reserve_bytes = 0});
    CHECK(stores.ok()) << stores.status();
    chakrad::TraceInfo info;
    info.id = "t-1";
    info.world_size = trace.world_size;
    info.groups = trace.groups;
    const absl::Status put = stores->traces->Put(trace, info);
    CHECK(put.ok()) << put;
    chakrad::Register(&trace, stores->traces.get());
    benchmark::RunSpecifiedBenchmarks();
  }
  std::filesystem::remove_all(folder_of_store);
}
