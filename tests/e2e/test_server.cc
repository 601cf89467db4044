#include "tests/e2e/test_server.h"

#include <arpa/inet.h>
#include <grpcpp/create_channel.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status.h"

namespace chakrad {
namespace {

constexpr size_t kTestPieceBytes = 64 << 10;

}  // namespace

absl::Status FromGrpc(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

std::string ReadFileOrDie(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  CHECK(file.good()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::map<std::string, std::string> ReadFolder(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files[entry.path().filename()] = ReadFileOrDie(entry.path());
  }
  CHECK(!files.empty()) << folder;
  return files;
}

std::string MakeTempFolder() {
  std::string pattern = absl::StrCat(getenv("TEST_TMPDIR"), "/chakrad.XXXXXX");
  CHECK(mkdtemp(pattern.data()) != nullptr) << pattern;
  return pattern;
}

TestServer::TestServer(ServerOptions options) : options_(std::move(options)) {
  options_.data_dir = MakeTempFolder();
  options_.listen = options_.http_listen = "127.0.0.1:0";
  Start();
}

TestServer::TestServer(const std::function<void(const std::string& data_dir)>& fill) {
  options_.data_dir = MakeTempFolder();
  options_.listen = options_.http_listen = "127.0.0.1:0";
  fill(options_.data_dir);
  Start();
}

void TestServer::Restart() {
  server_ = nullptr;
  Start();
}

void TestServer::Start() {
  auto started = StartServer(options_);
  CHECK(started.ok()) << started.status();
  server_ = *std::move(started);
  Connect(absl::StrCat("127.0.0.1:", server_->grpc_port()));
}

void TestClient::Connect(const std::string& address) {
  channel_ = grpc::CreateChannel(address, grpc::InsecureChannelCredentials());
  ingest_ = v1::IngestService::NewStub(channel_);
  traces_ = v1::TraceService::NewStub(channel_);
  jobs_ = v1::JobService::NewStub(channel_);
}

std::string TestServer::HttpGet(const std::string& path) {
  return chakrad::HttpGet(absl::StrCat("127.0.0.1:", server_->http_port()), path);
}

std::string HttpGet(const std::string& address, const std::string& path,
                    const std::string& version) {
  int port = 0;
  CHECK(absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port)) << address;
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0);
  const std::string request =
      absl::StrCat("GET ", path, " HTTP/", version, "\r\nHost: localhost\r\n\r\n");
  CHECK(write(fd, request.data(), request.size()) == static_cast<ssize_t>(request.size()));
  std::string answer;
  char buffer[4096];
  for (ssize_t n; (n = read(fd, buffer, sizeof(buffer))) > 0;) answer.append(buffer, n);
  close(fd);
  return answer;
}

absl::StatusOr<v1::Upload> TestClient::Create(v1::CreateUploadRequest request) {
  if (request.request_id().empty()) request.set_request_id(absl::StrCat("r", ++requests_count_));
  grpc::ClientContext context;
  v1::Upload upload;
  RETURN_IF_ERROR(FromGrpc(ingest_->CreateUpload(&context, request, &upload)));
  return upload;
}

absl::Status TestClient::Write(const std::string& upload,
                               const std::map<std::string, std::string>& files) {
  if (files.empty()) return absl::OkStatus();
  grpc::ClientContext context;
  const auto stream = ingest_->Write(&context);
  std::thread sender([&] {
    for (const auto& [file, bytes] : files) {
      for (size_t offset = 0; offset == 0 || offset < bytes.size(); offset += kTestPieceBytes) {
        v1::WriteRequest piece;
        piece.set_upload(upload);
        piece.set_file(file);
        piece.set_offset(static_cast<int64_t>(offset));
        piece.set_data(bytes.substr(offset, kTestPieceBytes));
        if (!stream->Write(piece)) return;
      }
    }
    stream->WritesDone();
  });
  v1::WriteResponse response;
  while (stream->Read(&response)) {
  }
  sender.join();
  return FromGrpc(stream->Finish());
}

absl::StatusOr<v1::Trace> TestClient::Seal(const std::string& upload) {
  grpc::ClientContext context;
  v1::SealRequest request;
  request.set_name(upload);
  v1::SealResponse response;
  RETURN_IF_ERROR(FromGrpc(ingest_->Seal(&context, request, &response)));
  return response.trace();
}

absl::StatusOr<v1::Trace> TestClient::Upload(const std::map<std::string, std::string>& files,
                                             const v1::CreateUploadRequest& request) {
  ASSIGN_OR_RETURN(const v1::Upload upload, Create(request));
  RETURN_IF_ERROR(Write(upload.name(), files));
  return Seal(upload.name());
}

absl::StatusOr<v1::Job> TestClient::CreateJob(const v1::SimulationSpec& spec,
                                              const std::string& request_id) {
  grpc::ClientContext context;
  v1::CreateJobRequest request;
  *request.mutable_spec() = spec;
  request.set_request_id(request_id);
  v1::Job job;
  RETURN_IF_ERROR(FromGrpc(jobs_->CreateJob(&context, request, &job)));
  return job;
}

absl::StatusOr<v1::Job> TestClient::Wait(const std::string& job) {
  grpc::ClientContext context;
  v1::WatchJobRequest request;
  request.set_name(job);
  const auto stream = jobs_->WatchJob(&context, request);
  v1::JobEvent event;
  while (stream->Read(&event)) {
  }
  RETURN_IF_ERROR(FromGrpc(stream->Finish()));
  return event.job();
}

absl::StatusOr<v1::Job> TestClient::Run(const v1::SimulationSpec& spec) {
  ASSIGN_OR_RETURN(const v1::Job job, CreateJob(spec));
  return Wait(job.name());
}

absl::StatusOr<std::map<std::string, std::string>> TestClient::Export(const std::string& trace) {
  grpc::ClientContext context;
  v1::ExportTraceRequest request;
  request.set_name(trace);
  const auto stream = traces_->ExportTrace(&context, request);
  std::map<std::string, std::string> files;
  v1::ExportTraceResponse piece;
  while (stream->Read(&piece)) files[piece.file()] += piece.data();
  RETURN_IF_ERROR(FromGrpc(stream->Finish()));
  return files;
}

absl::StatusOr<std::vector<std::string>> TestClient::TraceNames() {
  std::vector<std::string> names;
  v1::ListTracesRequest request;
  do {
    grpc::ClientContext context;
    v1::ListTracesResponse response;
    RETURN_IF_ERROR(FromGrpc(traces_->ListTraces(&context, request, &response)));
    for (const v1::Trace& trace : response.traces()) names.push_back(trace.name());
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  return names;
}

absl::StatusOr<v1::Job> TestClient::GetJob(const std::string& job) {
  grpc::ClientContext context;
  v1::GetJobRequest request;
  request.set_name(job);
  v1::Job answer;
  RETURN_IF_ERROR(FromGrpc(jobs_->GetJob(&context, request, &answer)));
  return answer;
}

absl::StatusOr<v1::Job> TestClient::CancelJob(const std::string& job) {
  grpc::ClientContext context;
  v1::CancelJobRequest request;
  request.set_name(job);
  v1::Job answer;
  RETURN_IF_ERROR(FromGrpc(jobs_->CancelJob(&context, request, &answer)));
  return answer;
}

std::string NetworkYaml(const std::string& topology, int npus_count, double gib_per_sec,
                        double latency_ns) {
  return absl::StrCat("topology: [ ", topology, " ]\nnpus_count: [ ", npus_count,
                      " ]\nbandwidth: [ ", gib_per_sec, " ]\nlatency: [ ", latency_ns, " ]\n");
}

std::string RingSystemJson() {
  return R"({
  "scheduling-policy": "LIFO",
  "endpoint-delay": 10,
  "active-chunks-per-dimension": 1,
  "preferred-dataset-splits": 4,
  "all-reduce-implementation": ["ring"],
  "all-gather-implementation": ["ring"],
  "reduce-scatter-implementation": ["ring"],
  "all-to-all-implementation": ["ring"],
  "collective-optimization": "localBWAware",
  "local-mem-bw": 1600
})";
}

v1::SimulationSpec SpecOf(const v1::Trace& trace, const std::string& topology) {
  v1::SimulationSpec spec;
  spec.set_trace(trace.name());
  spec.set_network_yaml(NetworkYaml(topology, trace.world_size()));
  spec.set_system_json(RingSystemJson());
  spec.set_keep_timeline(true);
  return spec;
}

absl::StatusOr<v1::SimulationSpec> EndlessSpec(TestClient* client) {
  v1::CreateUploadRequest request;
  request.set_world_size(512);
  const std::string file = "rank0.et.json.gz";
  ASSIGN_OR_RETURN(
      const v1::Trace trace,
      client->Upload({{file, ReadFileOrDie("tests/data/collected/mlp_dp/w2/" + file)}}, request));
  v1::SimulationSpec spec = SpecOf(trace, "Ring");
  spec.set_back_end(v1::SimulationSpec::LINK);  // Every message of every rank is an event.
  spec.set_replicate_missing_ranks(true);
  std::string system = spec.system_json();
  const std::string splits = "\"preferred-dataset-splits\": 4";
  system.replace(system.find(splits), splits.size(), "\"preferred-dataset-splits\": 4096");
  spec.set_system_json(system);
  return spec;
}

}  // namespace chakrad
