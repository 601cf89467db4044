#include "tests/prometheus/example_jobs.h"

#include <zlib.h>

#include <atomic>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"

namespace chakrad {
namespace {

constexpr char kTransformer[] = "tests/data/collected/transformer_dp_tp/w4";
constexpr char kDlrm[] = "tests/data/collected/dlrm/w4";
constexpr char kMlp[] = "tests/data/collected/mlp_dp/w2";
constexpr int64_t kHourMs = 3'600'000;

std::string Unzipped(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  CHECK(file != nullptr) << path;
  std::string text;
  char buffer[1 << 16];
  for (int count; (count = gzread(file, buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<size_t>(count));
  }
  CHECK(gzclose(file) == Z_OK) << path;
  return text;
}

std::string UploadRun(TestServer* server, const std::string& folder, int64_t unix_ms,
                      const std::map<std::string, std::string>& labels) {
  v1::CreateUploadRequest request;
  request.mutable_labels()->insert(labels.begin(), labels.end());
  const auto trace = server->Upload(RunAt(folder, unix_ms), request);
  CHECK(trace.ok()) << folder << ": " << trace.status();
  return trace->name();
}

void Simulate(TestServer* server, const std::string& trace, const std::string& topology,
              const std::string& variant) {
  v1::GetTraceRequest request;
  request.set_name(trace);
  grpc::ClientContext context;
  v1::Trace info;
  CHECK(server->traces().GetTrace(&context, request, &info).ok());
  v1::SimulationSpec spec = SpecOf(info, topology);
  spec.set_variant(variant);
  const auto job = server->Run(spec);
  CHECK(job.ok() && job->state() == v1::Job::SUCCEEDED) << trace << ": " << job->error();
}

}  // namespace

std::map<std::string, std::string> RunAt(const std::string& folder, int64_t unix_ms) {
  std::map<std::string, std::string> files = ReadFolder(folder);
  std::map<std::string, std::string> dated;
  for (auto& [name, bytes] : files) {
    if (!absl::StrContains(name, ".kineto.json")) {
      dated[name] = std::move(bytes);
      continue;
    }
    std::string text = Unzipped(absl::StrCat(folder, "/", name));
    CHECK(text.front() == '{') << name;
    text.insert(1, absl::StrCat("\"baseTimeNanoseconds\":", unix_ms * 1'000'000, ","));
    dated[name.substr(0, name.size() - 3)] = std::move(text);
  }
  return dated;
}

ExampleJobs UploadExampleJobs(TestServer* server, int64_t now_unix_ms) {
  ExampleJobs jobs;
  jobs.pretrain.labels = {
      {"cluster", "a"}, {"job", "pretrain"}, {"model", "transformer"}, {"rank_group", "all"}};
  jobs.recommend.labels = {
      {"cluster", "b"}, {"job", "recommend"}, {"model", "dlrm"}, {"rank_group", "all"}};
  jobs.nameless.labels = {{"rank_group", "sample"}};
  for (int64_t hours = 5; hours >= 1; --hours) {
    const int64_t then_ms = now_unix_ms - hours * kHourMs;
    jobs.pretrain.traces.push_back(UploadRun(server, kTransformer, then_ms, jobs.pretrain.labels));
    if (hours > 2) continue;
    jobs.recommend.traces.push_back(UploadRun(server, kDlrm, then_ms, jobs.recommend.labels));
  }
  jobs.nameless.traces.push_back(
      UploadRun(server, kMlp, now_unix_ms - kHourMs, jobs.nameless.labels));
  for (const ExampleJob* job : {&jobs.pretrain, &jobs.recommend, &jobs.nameless}) {
    Simulate(server, job->traces.back(), "Ring", "as_recorded");
    Simulate(server, job->traces.back(), "FullyConnected", "fully_connected");
  }
  return jobs;
}

void MakeTraffic(TestServer* server, const ExampleJobs& jobs) {
  // One record of two is rejected; then the same without leniency: refused whole. Another trace
  // each time: what is known already is not counted again.
  static std::atomic<int> times{0};
  const std::map<std::string, std::string> broken = {
      {"rank0.graph",
       absl::StrCat("digraph g { node0 [label=\"{device_id=0|a", ++times,
                    "|Forward|COMP_NODE|simulated_run_time=1}\"]; node0 -> node7; }")}};
  v1::CreateUploadRequest lenient;
  lenient.set_lenient(true);
  CHECK(server->Upload(broken, lenient).ok());
  CHECK(!server->Upload(broken).ok());
  CHECK(!server->GetJob("jobs/none").ok());
  CHECK(Chakra(*server, {"retention", "run"}).exit_code == 0);
  Simulate(server, jobs.nameless.traces.back(), "Ring", "as_recorded");
  for (const ExampleJob* job : {&jobs.pretrain, &jobs.recommend}) {
    Analysis(*server, job->traces.back());
  }
}

client::Json Analysis(const TestServer& server, const std::string& trace) {
  const Ran ran = Chakra(server, {"analyze", trace, "--top", "1000", "--output", "json"});
  CHECK(ran.exit_code == 0) << ran.err;
  return ran.json();
}

}  // namespace chakrad
