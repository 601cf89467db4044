// The daemon with a history, sent to a real Prometheus and killed meanwhile.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <string>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "storage/open.h"
#include "tests/e2e/test_server.h"
#include "tests/fault/daemon_process.h"
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

// Of a metric of one receiver on the daemon's page; -1: not there.
int64_t MetricOf(const DaemonProcess& daemon, const std::string& name) {
  const std::string page = HttpGet(daemon.http_address(), "/metrics");
  const size_t at = page.find(absl::StrCat("\n", name, "{"));
  if (at == std::string::npos) return -1;
  const size_t value = page.find("} ", at) + 2;
  double number = -1;
  return absl::SimpleAtod(page.substr(value, page.find('\n', value) - value), &number)
             ? static_cast<int64_t>(number)
             : -1;
}

bool WaitUntilPendingIsAtMost(const DaemonProcess& daemon, int64_t pending_records) {
  for (int i = 0; i < 3'000; ++i) {
    const int64_t pending = MetricOf(daemon, "chakrad_remote_write_pending_records");
    const int64_t up = MetricOf(daemon, "chakrad_remote_write_up");
    if (up == 1 && pending >= 0 && pending <= pending_records) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(DaemonHistoryTest, NothingIsLostWhenDaemonAndPrometheusAreKilled) {
  const std::string data_dir = absl::StrCat(MakeTempFolder(), "/data");
  const std::vector<SeriesRecord> records = HistoryRecords({.jobs_count = 10,
                                                            .records_per_job = 360,
                                                            .newest_unix_ms = NowUnixMs() - kHourMs,
                                                            .step_ms = 6 * kHourMs});
  Fill(data_dir, records);
  PrometheusProcess prometheus(ReceiverOptions());
  const std::vector<std::string> flags{"--remote_write_url", WriteUrl(prometheus), "--log_level",
                                       "warning"};
  // Each daemon is killed wherever it is: while it starts, sends, or moves its cursor.
  for (int round = 0; round < 6; ++round) {
    DaemonProcess daemon(data_dir, flags);
    ASSERT_TRUE(daemon.WaitUntilReady()) << daemon.Errors();
    std::this_thread::sleep_for(std::chrono::milliseconds(40 * round));
    if (round == 3) {
      prometheus.Kill();
      prometheus.Start();
    }
    daemon.Signal(SIGKILL);
    daemon.Wait();
  }
  DaemonProcess daemon(data_dir, flags);
  ASSERT_TRUE(daemon.WaitUntilReady()) << daemon.Errors();
  EXPECT_TRUE(WaitUntilPendingIsAtMost(daemon, 0)) << daemon.Errors();
  EXPECT_EQ(DifferenceOf(SamplesOf(records), StoredSamples(prometheus)), "");
  daemon.Signal(SIGTERM);
  EXPECT_EQ(daemon.Wait(), 0);
}

TEST(DaemonHistoryTest, TheDaemonEndsInTimeWhileItsReceiverIsAway) {
  const std::string data_dir = absl::StrCat(MakeTempFolder(), "/data");
  Fill(data_dir, {HistoryRecord({.newest_unix_ms = NowUnixMs()}, 0, 0)});
  DaemonProcess daemon(data_dir, {"--remote_write_url", "http://127.0.0.1:1/api/v1/write"});
  ASSERT_TRUE(daemon.WaitUntilReady()) << daemon.Errors();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(MetricOf(daemon, "chakrad_remote_write_up"), 0);
  EXPECT_EQ(MetricOf(daemon, "chakrad_remote_write_pending_records"), 1);
  const auto start = std::chrono::steady_clock::now();
  daemon.Signal(SIGTERM);
  EXPECT_EQ(daemon.Wait(), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  // One line when it went away, however many tries failed.
  const std::string errors = daemon.Errors();
  const size_t first = errors.find("remote_write_down");
  ASSERT_NE(first, std::string::npos) << errors;
  EXPECT_EQ(errors.find("remote_write_down", first + 1), std::string::npos) << errors;
}

}  // namespace
}  // namespace chakrad
