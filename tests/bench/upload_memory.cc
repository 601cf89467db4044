// Memory of the daemon over many uploads of a small real trace, half of them as files,
// half converted and pushed: upload_memory [--uploads N] [--delete]
//
// Every trace is stored (its labels differ); --delete deletes each again, so that what
// grows is not the catalog. Run as bazel run: the daemon is started from the runfiles.
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/encoded_trace.h"
#include "client/push.h"
#include "common/check.h"
#include "common/status.h"
#include "tests/e2e/test_server.h"
#include "tests/fault/daemon_process.h"
#include "trace/import/import.h"

namespace chakrad {
namespace {

constexpr char kMlp[] = "tests/data/collected/mlp_dp/w2";

int64_t RssKib(pid_t pid) {
  std::ifstream status(absl::StrCat("/proc/", pid, "/status"));
  std::string line;
  while (std::getline(status, line)) {
    if (!absl::StartsWith(line, "VmRSS:")) continue;
    const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    int64_t kib = 0;
    if (words.size() > 2 && absl::SimpleAtoi(words[words.size() - 2], &kib)) return kib;
  }
  return 0;
}

client::EncodedTrace Encoded(const std::map<std::string, std::string>& files) {
  std::vector<ImportFile> inputs;
  for (const auto& [name, bytes] : files) inputs.push_back({name, absl::StrCat(kMlp, "/", name)});
  return client::EncodeTrace(ImportTrace(inputs, ImportOptions()).value().trace).value();
}

absl::Status Delete(const std::string& name, TestClient* client) {
  grpc::ClientContext context;
  v1::DeleteTraceRequest request;
  request.set_name(name);
  google::protobuf::Empty empty;
  return FromGrpc(client->traces().DeleteTrace(&context, request, &empty));
}

absl::Status Run(int64_t uploads, bool remove) {
  DaemonProcess daemon(MakeTempFolder(), {"--log_level", "error"});
  CHECK(daemon.WaitUntilReady()) << daemon.Errors();
  TestClient client;
  client.Connect(daemon.grpc_address());
  const auto files = ReadFolder(kMlp);
  client::EncodedTrace encoded = Encoded(files);
  client::PushOptions options;
  options.sleep = [](std::chrono::milliseconds) {};
  const auto begin = std::chrono::steady_clock::now();
  for (int64_t i = 0; i <= uploads; ++i) {
    if (i % std::max<int64_t>(1, uploads / 10) == 0) {
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      std::printf("%6lld uploads: %.1f MiB resident, %.1f s\n", static_cast<long long>(i),
                  static_cast<double>(RssKib(daemon.pid())) / 1024, seconds.count());
      std::fflush(stdout);
    }
    if (i == uploads) break;
    std::string name;
    if (i % 2 == 0) {
      v1::CreateUploadRequest request;
      request.set_request_id(absl::StrCat("upload-", i));
      (*request.mutable_labels())["n"] = absl::StrCat(i);
      ASSIGN_OR_RETURN(const v1::Trace trace, client.Upload(files, request));
      name = trace.name();
    } else {
      encoded.labels["n"] = absl::StrCat(i);
      client::Relabel(&encoded);
      ASSIGN_OR_RETURN(
          const client::PushResult result,
          client::PushTrace(client.channel(), encoded, absl::StrCat("push-", i), options));
      name = result.trace.name();
    }
    if (remove) RETURN_IF_ERROR(Delete(name, &client));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace chakrad

int main(int argc, char** argv) {
  int64_t uploads = 10'000;
  bool remove = false;
  CLI::App app("Memory of the daemon over many uploads.");
  app.add_option("--uploads", uploads, "How many")->capture_default_str();
  app.add_flag("--delete", remove, "Delete each again");
  CLI11_PARSE(app, argc, argv);
  if (getenv("TEST_TMPDIR") == nullptr) setenv("TEST_TMPDIR", "/tmp", 1);
  const absl::Status status = chakrad::Run(uploads, remove);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
