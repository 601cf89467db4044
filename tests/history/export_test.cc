// An export that promtool makes blocks of, and a real Prometheus answers from.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "common/status_matchers.h"
#include "server/history/export_openmetrics.h"
#include "storage/mem_kv.h"
#include "tests/history/prometheus_history.h"

namespace chakrad {
namespace {

TEST(ExportOpenMetricsTest, PrometheusAnswersEverySampleOfAnImportedExport) {
  auto store = NewSeriesStore(std::shared_ptr<Kv>(NewMemKv()));
  ASSERT_THAT(store, IsOk());
  // Older than any window: 180 days.
  std::vector<SeriesRecord> records =
      HistoryRecords({.jobs_count = 3,
                      .records_per_job = 300,
                      .newest_unix_ms = NowUnixMs() - 3'600'000,
                      .step_ms = int64_t{180} * 24 * 3'600'000 / 300});
  SeriesRecord hostile = records[0];
  hostile.source = "traces/hostile";
  hostile.key.job = "a \"quoted\\\njob\" # EOF \xc3\xa9";
  records.push_back(hostile);
  ASSERT_THAT((*store)->Append(records, "reader", "1"), IsOk());

  PrometheusProcess prometheus(ReceiverOptions());
  const std::string path = prometheus.folder() + "/history.om";
  {
    std::ofstream file(path, std::ios::binary);
    const auto counts = ExportOpenMetrics(
        store->get(), {}, {.samples_at_once = 5'000}, [] { return true; },
        [&](absl::string_view piece, int64_t) {
          file.write(piece.data(), static_cast<std::streamsize>(piece.size()));
          return true;
        });
    ASSERT_THAT(counts, IsOk());
    EXPECT_EQ(counts->samples, 901 * kHistorySamples);
  }
  prometheus.Stop();
  const ProgramRun run = RunPromtool({"tsdb", "create-blocks-from", "openmetrics",
                                      "--max-block-duration=512h", path, prometheus.data_dir()});
  ASSERT_EQ(run.exit_code, 0) << run.output;
  prometheus.Start();
  EXPECT_EQ(DifferenceOf(SamplesOf(records), StoredSamples(prometheus, 190)), "");
}

}  // namespace
}  // namespace chakrad
