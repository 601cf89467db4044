// Debian's prometheus as a child process, and promtool.
#ifndef CHAKRAD_TESTS_PROMETHEUS_PROMETHEUS_PROCESS_H_
#define CHAKRAD_TESTS_PROMETHEUS_PROMETHEUS_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakrad {

struct PrometheusSample {
  int64_t time_unix_ms = 0;
  double value = 0;  // NaN and infinities are possible.
};

struct PrometheusSeries {
  std::map<std::string, std::string> labels;  // With __name__, where there is one.
  std::vector<PrometheusSample> samples;      // In order of time; one in an instant vector.

  double value() const { return samples.back().value; }
  std::string label(const std::string& name) const;  // "" without.
};

struct PrometheusOptions {
  // Of prometheus.yml; what it names by relative path is looked for in `files`.
  std::string config = "scrape_configs: []\n";
  std::map<std::string, std::string> files;  // Beside prometheus.yml: name, contents.
  std::vector<std::string> flags;            // "--web.enable-remote-write-receiver", say.
};

// Listens on a free port of the loopback, which it keeps when it is started again, and keeps its
// data in a folder of the test. Not thread-safe; it ends with the thread that started it.
class PrometheusProcess {
 public:
  // Starts it and waits until it is ready; ends the test after 180 s, with its log.
  explicit PrometheusProcess(PrometheusOptions options = {});
  ~PrometheusProcess();  // kill -9, if it still runs.

  void Stop();   // SIGTERM; waits for the end. CHECKs that it ended cleanly.
  void Kill();   // kill -9; waits.
  void Start();  // Again after Stop or Kill, on the same data and port.
  bool running() const { return pid_ > 0; }

  std::string address() const;  // "127.0.0.1:port"
  const std::string& folder() const { return folder_; }
  std::string data_dir() const { return folder_ + "/data"; }
  std::string Log() const;  // What it wrote to stderr so far.

  // An instant vector, or a scalar as one series without labels. `time_unix_ms` < 0: now.
  // INVALID_ARGUMENT: Prometheus refuses the query; UNAVAILABLE: no answer.
  absl::StatusOr<std::vector<PrometheusSeries>> Query(absl::string_view promql,
                                                      int64_t time_unix_ms = -1) const;
  absl::StatusOr<std::vector<PrometheusSeries>> QueryRange(absl::string_view promql,
                                                           int64_t start_unix_ms,
                                                           int64_t end_unix_ms,
                                                           int64_t step_ms) const;
  // Label sets that match a selector in the last `back_ms`, without samples.
  absl::StatusOr<std::vector<PrometheusSeries>> Series(absl::string_view selector,
                                                       int64_t back_ms = 3'600'000) const;
  // The values of a label in the series that match.
  absl::StatusOr<std::vector<std::string>> LabelValues(absl::string_view label,
                                                       absl::string_view selector,
                                                       int64_t back_ms = 3'600'000) const;
  // The body of a GET of "/api/v1/...", whatever its code. UNAVAILABLE: no answer.
  absl::StatusOr<std::string> Get(const std::string& path) const;

 private:
  std::string folder_;
  std::vector<std::string> flags_;
  int port_ = 0;
  pid_t pid_ = -1;
};

int64_t NowUnixMs();

struct ProgramRun {
  int exit_code = 0;   // -signal when it was killed.
  std::string output;  // stdout and stderr together.
};
// Runs it in `folder` and waits. words[0] is its whole path.
ProgramRun RunProgram(const std::vector<std::string>& words, const std::string& folder = ".");
// `promtool ARGS`.
ProgramRun RunPromtool(std::vector<std::string> args, const std::string& folder = ".");

}  // namespace chakrad

#endif  // CHAKRAD_TESTS_PROMETHEUS_PROMETHEUS_PROCESS_H_
