#include "tests/prometheus/prometheus_process.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/check.h"
#include "common/status.h"

namespace chakrad {
namespace {

using Json = nlohmann::json;

constexpr char kPrometheus[] = "/usr/bin/prometheus";
constexpr char kPromtool[] = "/usr/bin/promtool";
// A large head is replayed first: tests/bench/history_bench on a busy machine.
constexpr absl::Duration kReadyWithin = absl::Seconds(180);
constexpr long kAnswerWithinSeconds = 30;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void WriteFile(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  CHECK(file.good()) << path;
}

std::string MakeFolder() {
  std::string pattern = absl::StrCat(getenv("TEST_TMPDIR"), "/prometheus.XXXXXX");
  CHECK(mkdtemp(pattern.data()) != nullptr) << pattern;
  return pattern;
}

// Its stdout and stderr go to the end of `log`.
pid_t Spawn(std::vector<std::string> words, const std::string& folder, const std::string& log) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int log_fd = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  CHECK(log_fd >= 0) << log;
  const pid_t pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // A test that aborts leaves nothing behind.
    if (chdir(folder.c_str()) != 0) _exit(126);
    dup2(log_fd, STDOUT_FILENO);
    dup2(log_fd, STDERR_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  close(log_fd);
  return pid;
}

int WaitForEnd(pid_t pid) {
  int status = 0;
  CHECK(waitpid(pid, &status, 0) == pid);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

std::string Escaped(absl::string_view text) {
  char* const escaped = curl_easy_escape(nullptr, text.data(), static_cast<int>(text.size()));
  std::string result(escaped);
  curl_free(escaped);
  return result;
}

std::string Seconds(int64_t unix_ms) { return absl::StrFormat("%.3f", unix_ms / 1000.0); }

size_t AppendBody(char* data, size_t size, size_t count, void* body) {
  static_cast<std::string*>(body)->append(data, size * count);
  return size * count;
}

PrometheusSample SampleOf(const Json& pair) {
  PrometheusSample sample;
  sample.time_unix_ms = std::llround(pair.at(0).get<double>() * 1000);
  const std::string text = pair.at(1);  // "NaN", "+Inf" and "-Inf" too.
  CHECK(absl::SimpleAtod(text, &sample.value)) << text;
  return sample;
}

// What is under "data", or why there is nothing.
absl::StatusOr<Json> DataOf(const absl::StatusOr<std::string>& body) {
  RETURN_IF_ERROR(body.status());
  const Json answer = Json::parse(*body, nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object()) return absl::UnavailableError(*body);
  if (answer.value("status", "") != "success") {
    return absl::InvalidArgumentError(answer.value("error", *body));
  }
  return answer.at("data");
}

absl::StatusOr<std::vector<PrometheusSeries>> SeriesOf(const absl::StatusOr<std::string>& body) {
  ASSIGN_OR_RETURN(const Json data, DataOf(body));
  const Json& result = data.at("result");
  std::vector<PrometheusSeries> all;
  if (data.at("resultType") == "scalar") {
    all.push_back({{}, {SampleOf(result)}});
    return all;
  }
  for (const Json& one : result) {
    PrometheusSeries& series = all.emplace_back();
    one.at("metric").get_to(series.labels);
    if (one.contains("value")) series.samples.push_back(SampleOf(one.at("value")));
    if (one.contains("values")) {
      for (const Json& pair : one.at("values")) series.samples.push_back(SampleOf(pair));
    }
  }
  return all;
}

}  // namespace

std::string PrometheusSeries::label(const std::string& name) const {
  const auto found = labels.find(name);
  return found == labels.end() ? "" : found->second;
}

int64_t NowUnixMs() { return absl::ToUnixMillis(absl::Now()); }

PrometheusProcess::PrometheusProcess(PrometheusOptions options)
    : folder_(MakeFolder()), flags_(std::move(options.flags)) {
  WriteFile(folder_ + "/prometheus.yml", options.config);
  for (const auto& [name, text] : options.files) WriteFile(folder_ + "/" + name, text);
  Start();
}

PrometheusProcess::~PrometheusProcess() {
  if (running()) Kill();
}

void PrometheusProcess::Start() {
  CHECK(!running());
  const size_t log_start = Log().size();
  std::vector<std::string> words{kPrometheus, "--config.file=prometheus.yml",
                                 "--storage.tsdb.path=data",
                                 absl::StrCat("--web.listen-address=127.0.0.1:", port_)};
  words.insert(words.end(), flags_.begin(), flags_.end());
  pid_ = Spawn(words, folder_, folder_ + "/log");
  // It logs the port that it was given, then that it is ready.
  const absl::Time give_up = absl::Now() + kReadyWithin;
  for (;;) {
    const std::string log = Log().substr(log_start);
    if (log.find("Server is ready to receive web requests") != std::string::npos) {
      const std::string before = "msg=\"Listening on\" address=127.0.0.1:";
      const size_t at = log.find(before);
      CHECK(at != std::string::npos) << log;
      std::istringstream(log.substr(at + before.size())) >> port_;
      CHECK(port_ > 0) << log;
      break;
    }
    CHECK(waitpid(pid_, nullptr, WNOHANG) == 0) << "prometheus ended: " << log;
    CHECK(absl::Now() < give_up) << "prometheus is not ready: " << log;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  // Queries are answered a moment later.
  for (;;) {
    const absl::StatusOr<std::string> answer = Get("/-/ready");
    if (answer.ok() && answer->find("is Ready") != std::string::npos) return;
    CHECK(absl::Now() < give_up) << "prometheus is not ready: " << Log().substr(log_start);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

void PrometheusProcess::Stop() {
  CHECK(running() && kill(pid_, SIGTERM) == 0);
  const int code = WaitForEnd(std::exchange(pid_, -1));
  CHECK(code == 0) << code << ": " << Log();
}

void PrometheusProcess::Kill() {
  CHECK(running() && kill(pid_, SIGKILL) == 0);
  WaitForEnd(std::exchange(pid_, -1));
}

std::string PrometheusProcess::address() const { return absl::StrCat("127.0.0.1:", port_); }

std::string PrometheusProcess::Log() const { return ReadFile(folder_ + "/log"); }

absl::StatusOr<std::string> PrometheusProcess::Get(const std::string& path) const {
  CURL* const curl = curl_easy_init();
  CHECK(curl != nullptr);
  std::string body;
  const std::string url = absl::StrCat("http://", address(), path);
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, kAnswerWithinSeconds);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &AppendBody);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &body);
  const CURLcode code = curl_easy_perform(curl);
  curl_easy_cleanup(curl);
  if (code != CURLE_OK) {
    return absl::UnavailableError(absl::StrCat("GET ", url, ": ", curl_easy_strerror(code)));
  }
  return body;
}

absl::StatusOr<std::vector<PrometheusSeries>> PrometheusProcess::Query(absl::string_view promql,
                                                                       int64_t time_unix_ms) const {
  std::string path = absl::StrCat("/api/v1/query?query=", Escaped(promql));
  if (time_unix_ms >= 0) absl::StrAppend(&path, "&time=", Seconds(time_unix_ms));
  return SeriesOf(Get(path));
}

absl::StatusOr<std::vector<PrometheusSeries>> PrometheusProcess::QueryRange(
    absl::string_view promql, int64_t start_unix_ms, int64_t end_unix_ms, int64_t step_ms) const {
  return SeriesOf(Get(absl::StrCat("/api/v1/query_range?query=", Escaped(promql),
                                   "&start=", Seconds(start_unix_ms), "&end=", Seconds(end_unix_ms),
                                   "&step=", Seconds(step_ms))));
}

absl::StatusOr<std::vector<PrometheusSeries>> PrometheusProcess::Series(absl::string_view selector,
                                                                        int64_t back_ms) const {
  const int64_t now_ms = NowUnixMs();
  ASSIGN_OR_RETURN(const Json data,
                   DataOf(Get(absl::StrCat("/api/v1/series?match[]=", Escaped(selector), "&start=",
                                           Seconds(now_ms - back_ms), "&end=", Seconds(now_ms)))));
  std::vector<PrometheusSeries> all;
  for (const Json& labels : data) labels.get_to(all.emplace_back().labels);
  return all;
}

absl::StatusOr<std::vector<std::string>> PrometheusProcess::LabelValues(absl::string_view label,
                                                                        absl::string_view selector,
                                                                        int64_t back_ms) const {
  const int64_t now_ms = NowUnixMs();
  ASSIGN_OR_RETURN(
      const Json data,
      DataOf(Get(absl::StrCat("/api/v1/label/", label, "/values?match[]=", Escaped(selector),
                              "&start=", Seconds(now_ms - back_ms), "&end=", Seconds(now_ms)))));
  return data.get<std::vector<std::string>>();
}

ProgramRun RunProgram(const std::vector<std::string>& words, const std::string& folder) {
  const std::string log = MakeFolder() + "/output";
  ProgramRun run;
  run.exit_code = WaitForEnd(Spawn(words, folder, log));
  run.output = ReadFile(log);
  return run;
}

ProgramRun RunPromtool(std::vector<std::string> args, const std::string& folder) {
  args.insert(args.begin(), kPromtool);
  return RunProgram(args, folder);
}

}  // namespace chakrad
