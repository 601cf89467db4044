#include "client/fake_chakrad.h"

#include <grpcpp/grpcpp.h>

#include "absl/strings/str_cat.h"
#include "chakrad/v1/ingest.grpc.pb.h"
#include "chakrad/v1/job.grpc.pb.h"
#include "chakrad/v1/trace.grpc.pb.h"
#include "common/check.h"

namespace chakrad::client {
namespace {

using grpc::ServerContext;
using grpc::Status;
using grpc::StatusCode;

// gRPC's own words, so that tests see what people would.
Status Unavailable() { return Status(StatusCode::UNAVAILABLE, "Socket closed"); }

}  // namespace

class FakeChakrad::Ingest : public v1::IngestService::Service {
 public:
  explicit Ingest(FakeChakrad* fake) : fake_(*fake) {}

  Status CreateUpload(ServerContext*, const v1::CreateUploadRequest* request,
                      v1::Upload* upload) override {
    if (fake_.broken_creates > 0) {
      --fake_.broken_creates;
      return Unavailable();
    }
    fake_.created_upload = *request;
    *upload = UploadNow();
    return Status::OK;
  }

  Status Write(ServerContext*,
               grpc::ServerReaderWriter<v1::WriteResponse, v1::WriteRequest>* stream) override {
    const size_t number = fake_.write_streams++;
    int pieces_left = number < fake_.break_write_after_pieces.size()
                          ? fake_.break_write_after_pieces[number]
                          : -1;
    v1::WriteRequest piece;
    while (stream->Read(&piece)) {
      if (pieces_left > 0 && --pieces_left == 0) return Unavailable();
      fake_.piece_bytes.push_back(piece.data().size());
      if (piece.last()) {
        fake_.last_end_by_file[piece.file()] = piece.offset() + piece.data().size();
      }
      std::string& content = fake_.content_by_file[piece.file()];
      const int64_t committed_bytes = content.size();
      if (piece.offset() > committed_bytes) return Status(StatusCode::OUT_OF_RANGE, "a gap");
      if (piece.offset() == committed_bytes) content += piece.data();
      v1::WriteResponse response;
      response.set_file(piece.file());
      response.set_committed_bytes(content.size());
      stream->Write(response);
    }
    return Status::OK;
  }

  Status QueryUpload(ServerContext*, const v1::QueryUploadRequest*, v1::Upload* upload) override {
    ++fake_.query_calls;
    *upload = UploadNow();
    return Status::OK;
  }

  Status Seal(ServerContext*, const v1::SealRequest*, v1::SealResponse* response) override {
    ++fake_.seal_calls;
    *response->mutable_trace() = fake_.trace;
    return Status::OK;
  }

 private:
  v1::Upload UploadNow() const {
    v1::Upload upload;
    upload.set_name("uploads/u-1");
    const bool sealed = fake_.seal_calls > 0 || fake_.known_content;
    upload.set_state(sealed ? v1::Upload::SEALED : v1::Upload::OPEN);
    for (const auto& [name, content] : fake_.content_by_file) {
      v1::UploadFile& file = *upload.add_files();
      file.set_file(name);
      file.set_committed_bytes(content.size());
    }
    return upload;
  }

  FakeChakrad& fake_;
};

class FakeChakrad::Traces : public v1::TraceService::Service {
 public:
  explicit Traces(FakeChakrad* fake) : fake_(*fake) {}

  // Two pages, for a client that forgets the token.
  Status ListTraces(ServerContext*, const v1::ListTracesRequest* request,
                    v1::ListTracesResponse* response) override {
    v1::Trace& trace = *response->add_traces();
    trace = fake_.trace;
    if (!request->page_token().empty()) {
      trace.set_name(absl::StrCat(trace.name(), "-older"));
    } else {
      response->set_next_page_token("page 2");
    }
    return Status::OK;
  }

  Status GetTrace(ServerContext*, const v1::GetTraceRequest* request, v1::Trace* trace) override {
    if (request->name() != fake_.trace.name()) {
      return Status(StatusCode::NOT_FOUND, absl::StrCat(request->name(), ": no such trace"));
    }
    *trace = fake_.trace;
    return Status::OK;
  }

  Status DeleteTrace(ServerContext*, const v1::DeleteTraceRequest* request,
                     google::protobuf::Empty*) override {
    fake_.deleted_trace = request->name();
    return Status::OK;
  }

  // In pieces of three bytes.
  Status ExportTrace(ServerContext*, const v1::ExportTraceRequest*,
                     grpc::ServerWriter<v1::ExportTraceResponse>* writer) override {
    for (const auto& [name, content] : fake_.exported) {
      for (size_t at = 0; at < content.size(); at += 3) {
        v1::ExportTraceResponse piece;
        piece.set_file(name);
        piece.set_data(content.substr(at, 3));
        writer->Write(piece);
      }
    }
    return Status::OK;
  }

 private:
  FakeChakrad& fake_;
};

class FakeChakrad::Jobs : public v1::JobService::Service {
 public:
  explicit Jobs(FakeChakrad* fake) : fake_(*fake) {}

  Status CreateJob(ServerContext*, const v1::CreateJobRequest* request, v1::Job* job) override {
    fake_.created_jobs.push_back(*request);
    *job = fake_.job;
    job->set_state(v1::Job::PENDING);
    job->clear_result();
    return Status::OK;
  }
  Status GetJob(ServerContext*, const v1::GetJobRequest*, v1::Job* job) override {
    *job = fake_.job;
    return Status::OK;
  }
  Status ListJobs(ServerContext*, const v1::ListJobsRequest*,
                  v1::ListJobsResponse* response) override {
    *response->add_jobs() = fake_.job;
    return Status::OK;
  }
  Status CancelJob(ServerContext*, const v1::CancelJobRequest*, v1::Job*) override {
    return Status(StatusCode::FAILED_PRECONDITION,
                  absl::StrCat(fake_.job.name(), ": already\nSUCCEEDED"));
  }
  Status WatchJob(ServerContext*, const v1::WatchJobRequest*,
                  grpc::ServerWriter<v1::JobEvent>* writer) override {
    v1::JobEvent event;
    *event.mutable_job() = fake_.job;
    event.mutable_job()->set_state(v1::Job::RUNNING);
    event.mutable_job()->clear_result();
    writer->Write(event);
    if (fake_.broken_watches > 0) {
      --fake_.broken_watches;
      return Unavailable();
    }
    *event.mutable_job() = fake_.job;
    writer->Write(event);
    return Status::OK;
  }
  Status StreamTimeline(ServerContext*, const v1::StreamTimelineRequest* request,
                        grpc::ServerWriter<v1::TimelineChunk>* writer) override {
    fake_.timeline_ranks = {request->ranks().begin(), request->ranks().end()};
    for (const v1::TimelineChunk& chunk : fake_.timeline) writer->Write(chunk);
    return Status::OK;
  }

 private:
  FakeChakrad& fake_;
};

struct FakeChakrad::Server {
  explicit Server(FakeChakrad* fake) : ingest(fake), traces(fake), jobs(fake) {}

  Ingest ingest;
  Traces traces;
  Jobs jobs;
  int port = 0;
  std::unique_ptr<grpc::Server> grpc;
};

FakeChakrad::FakeChakrad() : server_(std::make_unique<Server>(this)) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &server_->port);
  builder.RegisterService(&server_->ingest);
  builder.RegisterService(&server_->traces);
  builder.RegisterService(&server_->jobs);
  server_->grpc = builder.BuildAndStart();
  CHECK(server_->grpc != nullptr) << "no port on localhost";
}

FakeChakrad::~FakeChakrad() { server_->grpc->Shutdown(); }

std::string FakeChakrad::address() const { return absl::StrCat("127.0.0.1:", server_->port); }

}  // namespace chakrad::client
