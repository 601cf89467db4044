#include "tests/fault/kill_trials.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/encoded_trace.h"
#include "client/push.h"
#include "common/check.h"
#include "common/mutex.h"
#include "common/status.h"
#include "tests/e2e/test_server.h"
#include "tests/fault/daemon_process.h"
#include "trace/import/import.h"

namespace chakrad {
namespace {

using Files = std::map<std::string, std::string>;

// What an uploader sends, under a label "kind" that tells which.
struct Content {
  std::string kind;
  Files files;                   // Or:
  client::EncodedTrace encoded;  // Without labels.
  Files exported;                // What its export must be.
};

// Contents share some of their chunks, so that deletes of one trace meet the chunks of
// another.
std::vector<Content> MakeContents() {
  std::vector<Content> contents(1);
  contents[0].kind = "files";
  contents[0].files = ReadFolder("tests/data/collected/mlp_dp/w2");
  std::vector<ImportFile> files;
  for (const auto& [name, bytes] : contents[0].files) {
    files.push_back({name, "tests/data/collected/mlp_dp/w2/" + name});
  }
  const Trace recorded = ImportTrace(files, ImportOptions()).value().trace;
  for (int64_t shift_ns = 1'000; shift_ns <= 3'000; shift_ns += 1'000) {
    Trace trace = recorded;
    for (size_t node = 0; node < trace.ranks[1].size(); node += 2) {
      if (trace.ranks[1].start_ns[node] != kUnknownNs) trace.ranks[1].start_ns[node] += shift_ns;
    }
    Content& content = contents.emplace_back();
    content.kind = absl::StrCat("ranks-", shift_ns);
    content.encoded = client::EncodeTrace(trace).value();
  }
  return contents;
}

struct Request {
  size_t content = 0;
  std::string id;
};

absl::StatusOr<std::string> Send(const Content& content, const std::string& id,
                                 TestClient* client) {
  if (!content.files.empty()) {
    v1::CreateUploadRequest request;
    request.set_request_id(id);
    (*request.mutable_labels())["kind"] = content.kind;
    (*request.mutable_labels())["req"] = id;
    ASSIGN_OR_RETURN(const v1::Upload upload, client->Create(request));
    if (upload.state() == v1::Upload::SEALED) return upload.trace();
    RETURN_IF_ERROR(client->Write(upload.name(), content.files));
    ASSIGN_OR_RETURN(const v1::Trace trace, client->Seal(upload.name()));
    return trace.name();
  }
  client::EncodedTrace encoded = content.encoded;
  encoded.labels = {{"kind", content.kind}, {"req", id}};
  client::Relabel(&encoded);
  client::PushOptions options;
  options.retry.attempts_max = 1;
  options.sleep = [](std::chrono::milliseconds) {};
  ASSIGN_OR_RETURN(const client::PushResult result,
                   client::PushTrace(client->channel(), encoded, id, options));
  return result.trace.name();
}

absl::Status DeleteTrace(const std::string& name, TestClient* client) {
  grpc::ClientContext context;
  v1::DeleteTraceRequest request;
  request.set_name(name);
  google::protobuf::Empty empty;
  return FromGrpc(client->traces().DeleteTrace(&context, request, &empty));
}

// What a daemon that was killed answers.
bool IsDeath(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsCancelled(status) ||
         status.message().find("Socket closed") != std::string::npos ||
         status.message().find("Stream removed") != std::string::npos;
}

class Trials {
 public:
  explicit Trials(const KillTrialsOptions& options)
      : options_(options), random_(options.seed), contents_(MakeContents()) {}

  KillTrialsSummary Run() {
    MakeReferences();
    for (int trial = 0; trial < options_.trials && summary_.failures.empty(); ++trial) {
      trial_ = trial;
      RunTrial();
      ++summary_.trials;
      if (options_.progress && (trial + 1) % 20 == 0) {
        std::cerr << "trial " << trial + 1 << " of " << options_.trials << ": "
                  << summary_.acknowledged << " acknowledged, " << traces_.size()
                  << " in the store, slowest start " << summary_.startup_ms_max << " ms\n";
      }
    }
    if (summary_.failures.empty()) Empty();
    return std::move(summary_);
  }

 private:
  void Fail(const std::string& what) {
    MutexLock lock(&mutex_);
    summary_.failures.push_back(absl::StrCat("trial ", trial_, ": ", what));
  }

  // Starts a daemon and waits; null after noting a failure.
  std::unique_ptr<DaemonProcess> Start() {
    const auto begin = std::chrono::steady_clock::now();
    auto daemon =
        std::make_unique<DaemonProcess>(folder_, std::vector<std::string>{"--log_level", "info"});
    if (!daemon->WaitUntilReady()) {
      Fail("the daemon does not start: " + daemon->Errors());
      return nullptr;
    }
    const int64_t ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                           std::chrono::steady_clock::now() - begin)
                           .count();
    summary_.startup_ms_max = std::max(summary_.startup_ms_max, ms);
    if (ms > options_.startup_ms_max) Fail(absl::StrCat("it started in ", ms, " ms"));
    return daemon;
  }

  void MakeReferences() {
    const auto daemon = Start();
    if (daemon == nullptr) return;
    TestClient client;
    client.Connect(daemon->grpc_address());
    for (Content& content : contents_) {
      const auto name = Send(content, "reference-" + content.kind, &client);
      CHECK(name.ok()) << name.status();
      auto exported = client.Export(*name);
      CHECK(exported.ok()) << exported.status();
      content.exported = *std::move(exported);
      CHECK(DeleteTrace(*name, &client).ok());
    }
    daemon->Signal(SIGTERM);
    daemon->Wait();
  }

  void RunTrial() {
    if (random_() % 10 == 0) {  // Killed while it starts.
      DaemonProcess starting(folder_);
      std::this_thread::sleep_for(std::chrono::milliseconds(random_() % 120));
      starting.Signal(SIGKILL);
      starting.Wait();
    }
    const auto daemon = Start();
    if (daemon == nullptr) return;
    Check(daemon.get());
    if (!summary_.failures.empty()) return;
    std::vector<std::thread> uploaders;
    for (int i = 0; i < options_.uploaders; ++i) {
      uploaders.emplace_back([&, i, seed = random_()] { Load(i, seed, daemon->grpc_address()); });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5 + random_() % options_.load_ms_max));
    daemon->Signal(SIGKILL);
    daemon->Wait();
    for (std::thread& uploader : uploaders) uploader.join();
    cut_off_.merge(unanswered_);
    unanswered_.clear();
    CountSwept(daemon->Errors());
  }

  // Works until the daemon is gone.
  void Load(int uploader, uint64_t seed, const std::string& address) {
    std::mt19937_64 random(seed);
    TestClient client;
    client.Connect(address);
    for (int n = 0;; ++n) {
      if (random() % 6 == 0) {
        if (!DeleteSome(&random, &client)) return;
        continue;
      }
      Request request{random() % contents_.size(),
                      absl::StrCat("r", trial_, ".", uploader, ".", n)};
      if (const auto again = Again(&random); again.has_value()) request = *again;
      if (!SendOne(request, &client)) return;
    }
  }

  // Now and then a request that an earlier daemon did not answer.
  std::optional<Request> Again(std::mt19937_64* random) {
    MutexLock lock(&mutex_);
    if (!cut_off_.empty() && (*random)() % 2 == 0) {
      const auto first = cut_off_.begin();
      Request request{first->second, first->first};
      unanswered_.insert(*first);
      cut_off_.erase(first);
      return request;
    }
    return std::nullopt;
  }

  bool SendOne(const Request& request, TestClient* client) {
    {
      MutexLock lock(&mutex_);
      unanswered_[request.id] = request.content;
    }
    const absl::StatusOr<std::string> name = Send(contents_[request.content], request.id, client);
    MutexLock lock(&mutex_);
    if (!name.ok()) {
      if (IsDeath(name.status())) {
        ++summary_.unanswered;
        return false;
      }
      summary_.failures.push_back(
          absl::StrCat("trial ", trial_, ": ", request.id, ": ", name.status().ToString()));
      return false;
    }
    unanswered_.erase(request.id);
    ++summary_.acknowledged;
    traces_[*name] = request.id;
    return true;
  }

  // Whether the request is still to be repeated: a trace of files would then be made anew,
  // under the same name if its Seal had been cut off.
  bool MayComeAgain(const std::string& request_id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return cut_off_.count(request_id) > 0 || unanswered_.count(request_id) > 0;
  }

  bool DeleteSome(std::mt19937_64* random, TestClient* client) {
    std::string name;
    {
      MutexLock lock(&mutex_);
      if (traces_.empty()) return true;
      const auto chosen =
          std::next(traces_.begin(), static_cast<int64_t>((*random)() % traces_.size()));
      if (MayComeAgain(chosen->second)) return true;
      name = chosen->first;
      traces_.erase(chosen);
      deleting_.insert(name);
    }
    const absl::Status status = DeleteTrace(name, client);
    MutexLock lock(&mutex_);
    if (IsDeath(status)) return false;  // May be there afterwards, or not.
    deleting_.erase(name);
    if (!status.ok()) {
      summary_.failures.push_back(
          absl::StrCat("trial ", trial_, ": delete ", name, ": ", status.ToString()));
      return false;
    }
    deleted_.insert(name);
    ++summary_.deleted;
    return true;
  }

  struct Visible {
    std::string name, kind, request_id;
  };
  absl::StatusOr<std::vector<Visible>> List(TestClient* client) {
    std::vector<Visible> visible;
    v1::ListTracesRequest request;
    request.set_page_size(1000);
    do {
      grpc::ClientContext context;
      v1::ListTracesResponse response;
      RETURN_IF_ERROR(FromGrpc(client->traces().ListTraces(&context, request, &response)));
      for (const v1::Trace& trace : response.traces()) {
        const auto kind = trace.labels().find("kind"), req = trace.labels().find("req");
        visible.push_back({trace.name(), kind == trace.labels().end() ? "" : kind->second,
                           req == trace.labels().end() ? "" : req->second});
      }
      request.set_page_token(response.next_page_token());
    } while (!request.page_token().empty());
    return visible;
  }

  // What must hold after a start.
  void Check(DaemonProcess* daemon) {
    TestClient client;
    client.Connect(daemon->grpc_address());
    const auto visible = List(&client);
    if (!visible.ok()) return Fail(visible.status().ToString());
    std::map<std::string, std::string> now;
    std::set<std::string> request_ids;
    for (const Visible& trace : *visible) {
      const auto content = std::find_if(contents_.begin(), contents_.end(),
                                        [&](const Content& c) { return c.kind == trace.kind; });
      if (content == contents_.end()) return Fail(trace.name + " has no kind");
      if (deleted_.count(trace.name) > 0) return Fail(trace.name + " was deleted, and is there");
      if (!request_ids.insert(trace.request_id).second) {
        return Fail(absl::StrCat("request ", trace.request_id, " has two traces"));
      }
      const auto exported = client.Export(trace.name);
      if (!exported.ok()) return Fail(absl::StrCat(trace.name, ": ", exported.status().ToString()));
      if (*exported != content->exported) return Fail(trace.name + " is not as it was sent");
      ++summary_.exports;
      if (traces_.count(trace.name) == 0 && deleting_.count(trace.name) == 0) ++summary_.appeared;
      now[trace.name] = trace.request_id;
    }
    for (const auto& [name, request_id] : traces_) {
      if (now.count(name) == 0) return Fail(name + " was acknowledged, and is not there");
    }
    deleting_.clear();
    traces_ = std::move(now);
    CheckFolders();
    Prune(static_cast<size_t>(options_.traces_max), &client);
  }

  // Nothing is left of archives that were being unpacked, nor bytes of no upload.
  void CheckFolders() {
    std::error_code error;
    if (!std::filesystem::is_empty(folder_ + "/scratch", error)) Fail("scratch is not empty");
  }

  void Prune(size_t keep, TestClient* client) {
    for (auto it = traces_.begin(); traces_.size() > keep && it != traces_.end();) {
      const std::string name = it->first;
      {
        MutexLock lock(&mutex_);
        if (keep > 0 && MayComeAgain(it->second)) {
          ++it;
          continue;
        }
      }
      const absl::Status status = DeleteTrace(name, client);
      if (!status.ok()) return Fail(absl::StrCat("prune ", name, ": ", status.ToString()));
      it = traces_.erase(it);
      deleted_.insert(name);
    }
  }

  // "orphan_chunks_swept=12" of the daemon's first line.
  void CountSwept(const std::string& log) {
    constexpr absl::string_view kKey = "orphan_chunks_swept=";
    const size_t at = log.find(std::string(kKey));
    if (at == std::string::npos) return;
    const size_t begin = at + kKey.size();
    int64_t swept = 0;
    if (absl::SimpleAtoi(log.substr(begin, log.find_first_of(" \n", begin) - begin), &swept)) {
      summary_.orphans_swept += swept;
    }
  }

  // A last check; then, with every trace deleted, no chunk may be left.
  void Empty() {
    const auto daemon = Start();
    if (daemon == nullptr) return;
    Check(daemon.get());
    if (!summary_.failures.empty()) return;
    TestClient client;
    client.Connect(daemon->grpc_address());
    Prune(0, &client);
    const std::string metrics = HttpGet(daemon->http_address(), "/metrics");
    if (metrics.find("chakrad_store_bytes 0") == std::string::npos) {
      Fail("chunks are left of no trace");
    }
    daemon->Signal(SIGTERM);
    if (daemon->Wait() != 0) Fail("it does not stop: " + daemon->Errors());
  }

  const KillTrialsOptions options_;
  std::mt19937_64 random_;
  std::vector<Content> contents_;
  const std::string folder_ = MakeTempFolder();
  int trial_ = 0;
  Mutex mutex_;  // Over what uploaders change.
  KillTrialsSummary summary_;
  std::map<std::string, std::string> traces_;  // Acknowledged: request ids by name.
  std::set<std::string> deleting_;             // Asked for and not answered.
  std::set<std::string> deleted_;              // Answered.
  std::map<std::string, size_t> cut_off_;      // Of earlier daemons: see unanswered_.
  std::map<std::string, size_t> unanswered_;   // Content by request id.
};

}  // namespace

KillTrialsSummary RunKillTrials(const KillTrialsOptions& options) { return Trials(options).Run(); }

std::string SummaryText(const KillTrialsOptions& options, const KillTrialsSummary& summary) {
  std::string text = absl::StrCat(
      "seed ", options.seed, ": ", summary.trials, " kills under ", options.uploaders,
      " uploaders: ", summary.acknowledged, " traces acknowledged, ", summary.deleted, " deleted, ",
      summary.unanswered, " requests unanswered (", summary.appeared,
      " of their traces appeared), ", summary.exports, " exports compared, slowest start ",
      summary.startup_ms_max, " ms, ", summary.orphans_swept, " orphaned chunks swept: ",
      summary.failures.empty() ? "nothing lost, nothing half visible" : "FAILED", "\n");
  for (const std::string& failure : summary.failures) absl::StrAppend(&text, failure, "\n");
  return text;
}

}  // namespace chakrad
