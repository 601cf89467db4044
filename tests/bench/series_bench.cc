// How fast stored traces become series: a store full of small traces, as an upgrade finds it.
//   bazel run -c opt //tests/bench:series_bench -- FOLDER [TRACES]
#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "server/series/series_manager.h"
#include "storage/open.h"
#include "trace/codec/rank_generator.h"

namespace chakrad {
namespace {

double Seconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
}

// Two ranks of so many nodes, with times that climb.
void Fill(TraceStore* traces, int traces_count, uint32_t nodes_count) {
  for (int i = 0; i < traces_count; ++i) {
    Trace trace;
    trace.world_size = 2;
    trace.groups.emplace_back();
    trace.groups[0].ranks = {0, 1};
    for (int32_t rank = 0; rank < 2; ++rank) {
      trace.ranks.push_back(RecordedLikeRank(static_cast<uint64_t>(i % 100), nodes_count, false));
      trace.ranks.back().rank = rank;
    }
    TraceInfo info;
    info.id = absl::StrCat("t-", 10'000'000 + i);
    info.labels = trace.labels = {{"job", absl::StrCat("job-", i % 100)}};
    info.world_size = trace.world_size;
    info.groups = trace.groups;
    CHECK(traces->Put(trace, info).ok());
  }
}

void Run(const std::string& folder, int traces_count) {
  StoreOptions options;
  options.data_dir = folder;
  absl::StatusOr<Stores> stores = OpenRocksStores(options);
  CHECK(stores.ok()) << stores.status();
  auto begun = std::chrono::steady_clock::now();
  Fill(stores->traces.get(), traces_count, 50);
  std::printf("%d traces stored in %.1f s\n", traces_count, Seconds(begun));
  Metrics metrics;
  SeriesManager manager(
      stores->traces.get(), stores->jobs.get(), stores->series.get(), [] { return 0; }, RealClock(),
      &metrics, SeriesOptions());
  begun = std::chrono::steady_clock::now();
  const absl::Status status = manager.CatchUp();
  CHECK(status.ok()) << status;
  const double seconds = Seconds(begun);
  std::printf("turned into %lld records in %.2f s: %.0f a second\n",
              static_cast<long long>(stores->series->last_sequence()), seconds,
              traces_count / seconds);
  begun = std::chrono::steady_clock::now();
  int64_t bytes = 0, records_count = 0;
  const absl::Status scanned = stores->series->Scan(0, [&](const SeriesRecord& record) {
    bytes += static_cast<int64_t>(record.samples.size());
    ++records_count;
    return true;
  });
  CHECK(scanned.ok()) << scanned;
  std::printf("read again in %.2f s: %lld records, %.0f bytes of samples each\n", Seconds(begun),
              static_cast<long long>(records_count),
              static_cast<double>(bytes) / static_cast<double>(records_count));
}

}  // namespace
}  // namespace chakrad

int main(int argc, char** argv) {
  int traces_count = 5'000;
  CHECK(argc >= 2) << "usage: series_bench FOLDER [TRACES]";
  CHECK(argc < 3 || absl::SimpleAtoi(argv[2], &traces_count));
  CHECK(traces_count > 0);
  chakrad::Run(argv[1], traces_count);
  return 0;
}
