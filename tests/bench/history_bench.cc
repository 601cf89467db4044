// A fleet's history on its way into a real Prometheus: history_bench [--jobs N] [--days N]
// [--restart=false]
//
// Fills a data folder with one record a job and hour, thirty samples each, starts the daemon on
// it with a Prometheus as its receiver, kills both in the middle, and counts by PromQL what
// arrived. Run as bazel run: the daemon is started from the runfiles. docs/performance.md has
// figures.
#include <signal.h>
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "analysis/metrics/metric_families.h"
#include "common/check.h"
#include "server/series/sample_codec.h"
#include "storage/open.h"
#include "tests/e2e/test_server.h"
#include "tests/fault/daemon_process.h"
#include "tests/history/prometheus_history.h"

namespace chakrad {
namespace {

constexpr int64_t kHourMs = 3'600'000;

struct Args {
  int jobs_count = 100;
  int days = 90;
  bool restart = true;
};

class Stopwatch {
 public:
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// "VmRSS" or "VmHWM" of a process.
double MemoryMib(pid_t pid, const std::string& field) {
  std::ifstream status(absl::StrCat("/proc/", pid, "/status"));
  std::string line;
  while (std::getline(status, line)) {
    if (!absl::StartsWith(line, field + ":")) continue;
    const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    int64_t kib = 0;
    if (words.size() > 2 && absl::SimpleAtoi(words[words.size() - 2], &kib)) {
      return static_cast<double>(kib) / 1'024;
    }
  }
  return 0;
}

// The first sample of a metric on a page in Prometheus's text format; -1: not there.
double ValueOn(const std::string& page, const std::string& name) {
  size_t at = page.find("\n" + name);
  while (at != std::string::npos && page[at + 1 + name.size()] != ' ' &&
         page[at + 1 + name.size()] != '{') {
    at = page.find("\n" + name, at + 1);
  }
  if (at == std::string::npos) return -1;
  const size_t end = page.find('\n', at + 1);
  const std::string line = page.substr(at, end - at);
  double value = -1;
  return absl::SimpleAtod(line.substr(line.rfind(' ') + 1), &value) ? value : -1;
}

double PrometheusMib(const PrometheusProcess& prometheus) {
  const auto page = prometheus.Get("/metrics");
  return page.ok() ? ValueOn(*page, "process_resident_memory_bytes") / (1 << 20) : -1;
}

void Fill(const std::string& data_dir, const HistoryShape& shape) {
  StoreOptions options;
  options.data_dir = data_dir;
  auto stores = OpenRocksStores(options);
  CHECK(stores.ok()) << stores.status().ToString();
  for (int number = 0; number < shape.records_per_job; ++number) {
    std::vector<SeriesRecord> records;
    for (int job = shape.jobs_count - 1; job >= 0; --job) {
      records.push_back(HistoryRecord(shape, job, number));
    }
    const auto added = stores->series->Append(std::move(records), "bench", absl::StrCat(number));
    CHECK(added.ok()) << added.status().ToString();
  }
}

std::unique_ptr<DaemonProcess> StartDaemon(const std::string& data_dir, const std::string& url) {
  auto daemon = std::make_unique<DaemonProcess>(
      data_dir, std::vector<std::string>{"--remote_write_url", url, "--log_level", "warning"});
  CHECK(daemon->WaitUntilReady()) << daemon->Errors();
  return daemon;
}

// Records that have not gone out.
int64_t Pending(const DaemonProcess& daemon) {
  const std::string page = HttpGet(daemon.http_address(), "/metrics");
  if (ValueOn(page, "chakrad_remote_write_up") != 1) return -1;
  return static_cast<int64_t>(ValueOn(page, "chakrad_remote_write_pending_records"));
}

void WaitForPending(const DaemonProcess& daemon, const PrometheusProcess& prometheus,
                    int64_t at_most, double* prometheus_mib) {
  for (int i = 0;; ++i) {
    const int64_t pending = Pending(daemon);
    if (pending >= 0 && pending <= at_most) return;
    if (i % 5 == 0) *prometheus_mib = std::max(*prometheus_mib, PrometheusMib(prometheus));
    if (i % 50 == 0) {
      std::printf("  pending %lld records, daemon %.0f MiB, Prometheus %.0f MiB\n",
                  static_cast<long long>(pending), MemoryMib(daemon.pid(), "VmRSS"),
                  PrometheusMib(prometheus));
      std::fflush(stdout);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

// Compares counts and sums of every series with what was stored. Returns how many samples there
// are; ends the program where one series differs.
int64_t Verify(const PrometheusProcess& prometheus, const HistoryShape& shape, int days) {
  struct Total {
    int64_t series = 0;
    double sum = 0;
  };
  std::map<std::pair<MetricId, std::string>, Total> wanted;  // By family and job.
  for (int job = 0; job < shape.jobs_count; ++job) {
    for (int number = 0; number < shape.records_per_job; ++number) {
      const auto samples = DecodeSamples(HistoryRecord(shape, job, number).samples);
      for (const MetricSample& sample : *samples) {
        Total& total = wanted[{sample.id, absl::StrCat("job-", job)}];
        total.series += number == 0 ? 1 : 0;
        total.sum += sample.value;
      }
    }
  }
  int64_t samples_count = 0;
  for (const MetricFamily& family : MetricFamilies()) {
    const std::string range = absl::StrCat(family.name, "[", days + 5, "d]");
    const auto counts = prometheus.Query(absl::StrCat("count_over_time(", range, ")"));
    const auto sums = prometheus.Query(absl::StrCat("sum by (job) (sum_over_time(", range, "))"));
    CHECK(counts.ok()) << counts.status().ToString();
    CHECK(sums.ok()) << sums.status().ToString();
    std::map<std::string, int64_t> series_by_job;
    for (const PrometheusSeries& series : *counts) {
      CHECK(series.value() == shape.records_per_job)
          << family.name << " " << series.label("job") << " has " << series.value();
      ++series_by_job[series.label("job")];
      samples_count += static_cast<int64_t>(series.value());
    }
    for (const auto& [key, total] : wanted) {
      if (key.first != family.id) continue;
      CHECK(series_by_job[key.second] == total.series) << family.name << " " << key.second;
    }
    for (const PrometheusSeries& series : *sums) {
      const Total& total = wanted[{family.id, series.label("job")}];
      CHECK(std::abs(series.value() - total.sum) <= 1e-9 * std::abs(total.sum))
          << family.name << " " << series.label("job");
    }
  }
  return samples_count;
}

void Run(const Args& args) {
  HistoryShape shape{.jobs_count = args.jobs_count,
                     .records_per_job = args.days * 24,
                     .newest_unix_ms = NowUnixMs() - kHourMs,
                     .step_ms = kHourMs};
  const int64_t records_count = int64_t{shape.jobs_count} * shape.records_per_job;
  const int64_t samples_count = records_count * kHistorySamples;
  const std::string data_dir = MakeTempFolder() + "/data";
  const Stopwatch filling;
  Fill(data_dir, shape);
  std::printf("%lld records, %lld samples stored in %.1f s\n",
              static_cast<long long>(records_count), static_cast<long long>(samples_count),
              filling.Seconds());
  PrometheusProcess prometheus(ReceiverOptions());
  const std::string url = WriteUrl(prometheus);
  double prometheus_mib = 0;
  double daemon_mib = 0;
  double restart_seconds = 0;
  const Stopwatch sending;
  auto daemon = StartDaemon(data_dir, url);
  if (args.restart) {
    WaitForPending(*daemon, prometheus, records_count * 2 / 3, &prometheus_mib);
    std::printf("killing the daemon with %lld records pending\n",
                static_cast<long long>(Pending(*daemon)));
    daemon_mib = MemoryMib(daemon->pid(), "VmHWM");
    daemon->Signal(SIGKILL);
    daemon->Wait();
    daemon = StartDaemon(data_dir, url);
    WaitForPending(*daemon, prometheus, records_count / 3, &prometheus_mib);
    std::printf("killing Prometheus with %lld records pending\n",
                static_cast<long long>(Pending(*daemon)));
    prometheus.Kill();
    const Stopwatch restarting;
    prometheus.Start();
    restart_seconds = restarting.Seconds();
  }
  WaitForPending(*daemon, prometheus, 0, &prometheus_mib);
  const double seconds = sending.Seconds();
  daemon_mib = std::max(daemon_mib, MemoryMib(daemon->pid(), "VmHWM"));
  std::printf("sent in %.1f s (Prometheus's restart took %.1f s of them): %.0f samples/s\n",
              seconds, restart_seconds, static_cast<double>(samples_count) / seconds);
  std::printf("most memory: daemon %.0f MiB, Prometheus %.0f MiB\n", daemon_mib, prometheus_mib);
  const Stopwatch verifying;
  const int64_t arrived = Verify(prometheus, shape, args.days);
  CHECK(arrived == samples_count) << arrived;
  std::printf("every series has all its samples: %lld, counted in %.1f s\n",
              static_cast<long long>(arrived), verifying.Seconds());
}

}  // namespace
}  // namespace chakrad

int main(int argc, char** argv) {
  chakrad::Args args;
  CLI::App app{"A fleet's history into a real Prometheus"};
  app.add_option("--jobs", args.jobs_count);
  app.add_option("--days", args.days);
  app.add_option("--restart", args.restart);
  CLI11_PARSE(app, argc, argv);
  std::string folder = "/tmp/history_bench.XXXXXX";
  CHECK(mkdtemp(folder.data()) != nullptr);
  if (getenv("TEST_TMPDIR") == nullptr) setenv("TEST_TMPDIR", folder.c_str(), 0);
  chakrad::Run(args);
  return 0;
}
