// chakra export openmetrics, from a daemon with a history to a real Prometheus.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "common/status_matchers.h"
#include "storage/open.h"
#include "tests/e2e/run_chakra.h"
#include "tests/history/prometheus_history.h"

namespace chakrad {
namespace {

constexpr int64_t kHourMs = 3'600'000;

void Fill(const std::string& data_dir, const std::vector<SeriesRecord>& records) {
  StoreOptions options;
  options.data_dir = data_dir;
  auto stores = OpenRocksStores(options);
  ASSERT_THAT(stores, IsOk());
  ASSERT_THAT(stores->series->Append(records, "test", "1"), IsOk());
}

TEST(ExportCommandTest, AnExportByCommandIsTakenByPromtool) {
  const std::vector<SeriesRecord> records = HistoryRecords({.jobs_count = 4,
                                                            .records_per_job = 50,
                                                            .newest_unix_ms = NowUnixMs() - kHourMs,
                                                            .step_ms = 24 * kHourMs});
  TestServer server([&](const std::string& data_dir) { Fill(data_dir, records); });
  PrometheusProcess prometheus(ReceiverOptions());
  const std::string path = prometheus.folder() + "/history.om";
  const Ran ran = Chakra(
      server, {"export", "openmetrics", "--cluster", "cluster-1", "-o", path, "--output", "json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.json()["samples"], 50 * kHistorySamples);
  prometheus.Stop();
  const ProgramRun run = RunPromtool({"tsdb", "create-blocks-from", "openmetrics",
                                      "--max-block-duration=512h", path, prometheus.data_dir()});
  ASSERT_EQ(run.exit_code, 0) << run.output;
  prometheus.Start();
  std::vector<SeriesRecord> wanted;
  for (const SeriesRecord& record : records) {
    if (record.key.cluster == "cluster-1") wanted.push_back(record);
  }
  EXPECT_EQ(DifferenceOf(SamplesOf(wanted), StoredSamples(prometheus)), "");
}

TEST(ExportCommandTest, AnExportOfAnIntervalAndWrongRequests) {
  const HistoryShape shape{.jobs_count = 1,
                           .records_per_job = 3,
                           .newest_unix_ms = 1'780'000'000'000,
                           .step_ms = 24 * kHourMs};
  TestServer server([&](const std::string& data_dir) { Fill(data_dir, HistoryRecords(shape)); });
  const std::string path = MakeTempFolder() + "/part.om";
  // The newest is of 2026-05-28T20:26:40Z; the middle one a day before.
  Ran ran = Chakra(server, {"export", "openmetrics", "--from", "2026-05-27", "--to",
                            "2026-05-28T20:26:40Z", "-o", path});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("30 samples"), std::string::npos) << ran.out;
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_NE(text.str().find(" 1779913600\n"), std::string::npos);
  EXPECT_EQ(text.str().substr(text.str().size() - 6), "# EOF\n");
  ran = Chakra(server, {"export", "openmetrics", "-o", "-"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.out.substr(ran.out.size() - 6), "# EOF\n");
  EXPECT_NE(Chakra(server, {"export", "openmetrics", "--from", "monday", "-o", path}).exit_code, 0);
  ran = Chakra(server, {"export", "openmetrics", "--from", "2026-05-27", "--to", "2026-05-27", "-o",
                        path + "2"});
  EXPECT_NE(ran.exit_code, 0);
  EXPECT_NE(ran.err.find("before"), std::string::npos) << ran.err;
  EXPECT_FALSE(std::ifstream(path + "2").good());
}

}  // namespace
}  // namespace chakrad
