// A real daemon in this process on free ports of the loopback, and a client that
// speaks to any daemon over gRPC.
#ifndef CHAKRAD_TESTS_E2E_TEST_SERVER_H_
#define CHAKRAD_TESTS_E2E_TEST_SERVER_H_

#include <grpcpp/channel.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "chakrad/v1/ingest.grpc.pb.h"
#include "chakrad/v1/job.grpc.pb.h"
#include "chakrad/v1/trace.grpc.pb.h"
#include "server/options.h"
#include "server/server.h"

namespace chakrad {

absl::Status FromGrpc(const grpc::Status& status);

// The bytes of a file; ends the test when it cannot be read.
std::string ReadFileOrDie(const std::string& path);
// File names and contents of a folder of bundled traces: "tests/data/collected/mlp_dp/w2".
std::map<std::string, std::string> ReadFolder(const std::string& folder);

// The answer to a GET of "127.0.0.1:port", "HTTP/1.1 ..." line included.
std::string HttpGet(const std::string& address, const std::string& path,
                    const std::string& version = "1.0");

// A fresh, empty folder under the test's own temporary one.
std::string MakeTempFolder();

// What a client says to a daemon.
class TestClient {
 public:
  void Connect(const std::string& address);

  v1::IngestService::StubInterface& ingest() { return *ingest_; }
  v1::TraceService::StubInterface& traces() { return *traces_; }
  v1::JobService::StubInterface& jobs() { return *jobs_; }
  std::shared_ptr<grpc::Channel> channel() { return channel_; }

  // CreateUpload, Write in pieces, Seal.
  absl::StatusOr<v1::Trace> Upload(const std::map<std::string, std::string>& files,
                                   const v1::CreateUploadRequest& request = {});
  // The steps of Upload; a request without request_id gets a fresh one.
  absl::StatusOr<v1::Upload> Create(v1::CreateUploadRequest request);
  absl::Status Write(const std::string& upload, const std::map<std::string, std::string>& files);
  absl::StatusOr<v1::Trace> Seal(const std::string& upload);

  // The files of a trace, by name.
  absl::StatusOr<std::map<std::string, std::string>> Export(const std::string& trace);
  // Names of all traces, newest first.
  absl::StatusOr<std::vector<std::string>> TraceNames();

  absl::StatusOr<v1::Job> CreateJob(const v1::SimulationSpec& spec,
                                    const std::string& request_id = "");
  absl::StatusOr<v1::Job> GetJob(const std::string& job);
  absl::StatusOr<v1::Job> CancelJob(const std::string& job);
  // Watches until the job has ended.
  absl::StatusOr<v1::Job> Wait(const std::string& job);
  // CreateJob and Wait.
  absl::StatusOr<v1::Job> Run(const v1::SimulationSpec& spec);

 private:
  int requests_count_ = 0;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::IngestService::StubInterface> ingest_;
  std::unique_ptr<v1::TraceService::StubInterface> traces_;
  std::unique_ptr<v1::JobService::StubInterface> jobs_;
};

// A daemon in this process, and a client of it.
class TestServer : public TestClient {
 public:
  // Starts on an empty folder; `options` gives everything but folder and ports.
  explicit TestServer(ServerOptions options = {});
  // The same on a folder that `fill` was given, empty, before the daemon starts.
  explicit TestServer(const std::function<void(const std::string& data_dir)>& fill);

  // Stops the daemon without grace and starts another on the same folder.
  void Restart();
  void Stop() { server_ = nullptr; }
  ChakradServer& server() { return *server_; }
  int port() const { return server_->grpc_port(); }
  int http_port() const { return server_->http_port(); }
  const std::string& data_dir() const { return options_.data_dir; }
  std::string HttpGet(const std::string& path);

 private:
  void Start();

  ServerOptions options_;
  std::unique_ptr<ChakradServer> server_;
};

// A one-dimensional network of ASTRA-sim's format, and a system with ring
// collectives.
std::string NetworkYaml(const std::string& topology, int npus_count, double gib_per_sec = 50,
                        double latency_ns = 500);
std::string RingSystemJson();
v1::SimulationSpec SpecOf(const v1::Trace& trace, const std::string& topology);
// Uploads one rank of a world of 512 and describes a simulation of it with some
// billion events, which ends only by being stopped.
absl::StatusOr<v1::SimulationSpec> EndlessSpec(TestClient* client);

}  // namespace chakrad

#endif  // CHAKRAD_TESTS_E2E_TEST_SERVER_H_
