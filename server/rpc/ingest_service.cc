#include "server/rpc/ingest_service.h"

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "chakrad/v1/ingest.grpc.pb.h"
#include "common/mutex.h"
#include "common/status.h"
#include "server/ids.h"
#include "server/rpc/convert.h"
#include "server/rpc/convert_upload.h"
#include "server/rpc/page_size.h"
#include "server/rpc/push_trace.h"
#include "server/rpc/serve.h"

namespace chakrad {
namespace {

using WriteStream = grpc::ServerReaderWriter<v1::WriteResponse, v1::WriteRequest>;

// Commits behind the reading thread's back: whenever pieces have arrived since
// the last commit, all of them are made durable together and answered. A client
// that sends piece by piece gets an answer to each; one that streams pays for few.
class Committer {
 public:
  Committer(UploadWriter* writer, WriteStream* stream)
      : writer_(writer), stream_(stream), thread_([this] { Loop(); }) {}
  ~Committer() { Finish().IgnoreError(); }

  void PieceArrived() {
    MutexLock lock(&mutex_);
    waiting_ = true;
    changed_.NotifyAll();
  }
  // The first error of a commit, if any happened yet.
  absl::Status status() {
    MutexLock lock(&mutex_);
    return status_;
  }
  // Commits and answers what is left; no pieces may arrive any more.
  absl::Status Finish() {
    {
      MutexLock lock(&mutex_);
      finished_ = true;
      changed_.NotifyAll();
    }
    if (thread_.joinable()) thread_.join();
    return status();
  }

 private:
  void Loop() {
    for (;;) {
      {
        MutexLock lock(&mutex_);
        while (!waiting_ && !finished_) changed_.Wait(&mutex_);
        if (!waiting_) return;
        waiting_ = false;
      }
      if (absl::Status status = CommitAndAnswer(); !status.ok()) {
        MutexLock lock(&mutex_);
        status_ = std::move(status);
        return;
      }
    }
  }

  absl::Status CommitAndAnswer() {
    ASSIGN_OR_RETURN(const std::vector<CommittedFile> files, writer_->Commit());
    for (const CommittedFile& file : files) {
      v1::WriteResponse response;
      response.set_file(file.file);
      response.set_committed_bytes(file.committed_bytes);
      stream_->Write(response);  // A client that is gone has its bytes committed all the same.
    }
    return absl::OkStatus();
  }

  UploadWriter* const writer_;
  WriteStream* const stream_;
  Mutex mutex_;
  CondVar changed_;
  bool waiting_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;  // Last: it uses the others.
};

absl::Status Write(UploadManager* uploads, WriteStream* stream) {
  v1::WriteRequest request;
  if (!stream->Read(&request)) {
    return absl::InvalidArgumentError("upload: the stream has no message; the first names it");
  }
  const std::string upload = request.upload();
  ASSIGN_OR_RETURN(const std::string id, IdFromName(upload, "uploads", "upload"));
  ASSIGN_OR_RETURN(const std::unique_ptr<UploadWriter> writer, uploads->BeginWrite(id));
  absl::Status status;
  Committer committer(writer.get(), stream);
  do {
    if (!request.upload().empty() && request.upload() != upload) {
      status = absl::InvalidArgumentError(
          absl::StrCat("upload: ", request.upload(), " in a stream that began with ", upload));
      break;
    }
    status = writer->Append(request.file(), request.offset(), request.data(), request.last());
    if (status.ok()) {
      committer.PieceArrived();
      status = committer.status();
    }
  } while (status.ok() && stream->Read(&request));
  // What arrived before an error stays: the client goes on from there.
  const absl::Status committed = committer.Finish();
  return status.ok() ? committed : status;
}

absl::Status CreateUpload(UploadManager* uploads, const v1::CreateUploadRequest& request,
                          v1::Upload* response) {
  ASSIGN_OR_RETURN(UploadRequest upload, FromProto(request));
  ASSIGN_OR_RETURN(const UploadRecord record, uploads->Create(std::move(upload)));
  ToProto(record, response);
  FitIntoAnswer(response);
  return absl::OkStatus();
}

absl::Status QueryUpload(UploadManager* uploads, const v1::QueryUploadRequest& request,
                         v1::Upload* response) {
  ASSIGN_OR_RETURN(const std::string id, IdFromName(request.name(), "uploads", "name"));
  ASSIGN_OR_RETURN(const UploadRecord record, uploads->Query(id));
  ToProto(record, response);
  FitIntoAnswer(response);
  return absl::OkStatus();
}

absl::Status Seal(UploadManager* uploads, const v1::SealRequest& request,
                  v1::SealResponse* response) {
  ASSIGN_OR_RETURN(const std::string id, IdFromName(request.name(), "uploads", "name"));
  ASSIGN_OR_RETURN(const TraceInfo info, uploads->Seal(id));
  ToProto(info, response->mutable_trace());
  FitIntoAnswer(response->mutable_trace());
  return absl::OkStatus();
}

absl::Status ListUploads(UploadManager* uploads, const v1::ListUploadsRequest& request,
                         v1::ListUploadsResponse* response) {
  ASSIGN_OR_RETURN(int page_size, CheckPageSize(request.page_size()));
  for (;; page_size /= 2) {
    ASSIGN_OR_RETURN(const UploadPage page, uploads->List(page_size, request.page_token()));
    response->Clear();
    for (const UploadRecord& record : page.uploads) {
      v1::Upload* upload = response->add_uploads();
      ToProto(record, upload);
      upload->clear_files();
    }
    response->set_next_page_token(page.next_page_token);
    if (page_size == 1 || response->ByteSizeLong() <= kMaxAnswerBytes) break;
  }
  return absl::OkStatus();
}

absl::Status DeleteUpload(UploadManager* uploads, const v1::DeleteUploadRequest& request) {
  ASSIGN_OR_RETURN(const std::string id, IdFromName(request.name(), "uploads", "name"));
  return uploads->Delete(id);
}

class IngestService : public v1::IngestService::Service {
 public:
  IngestService(UploadManager* uploads, PushManager* pushes, Metrics* metrics)
      : uploads_(uploads), pushes_(pushes), metrics_(metrics) {}

  grpc::Status CreateUpload(grpc::ServerContext*, const v1::CreateUploadRequest* request,
                            v1::Upload* response) override {
    return Serve(metrics_, "CreateUpload",
                 [&] { return chakrad::CreateUpload(uploads_, *request, response); });
  }
  grpc::Status Write(grpc::ServerContext*, WriteStream* stream) override {
    return Serve(metrics_, "Write", [&] { return chakrad::Write(uploads_, stream); });
  }
  grpc::Status QueryUpload(grpc::ServerContext*, const v1::QueryUploadRequest* request,
                           v1::Upload* response) override {
    return Serve(metrics_, "QueryUpload",
                 [&] { return chakrad::QueryUpload(uploads_, *request, response); });
  }
  grpc::Status Seal(grpc::ServerContext*, const v1::SealRequest* request,
                    v1::SealResponse* response) override {
    return Serve(metrics_, "Seal", [&] { return chakrad::Seal(uploads_, *request, response); });
  }
  grpc::Status ListUploads(grpc::ServerContext*, const v1::ListUploadsRequest* request,
                           v1::ListUploadsResponse* response) override {
    return Serve(metrics_, "ListUploads",
                 [&] { return chakrad::ListUploads(uploads_, *request, response); });
  }
  grpc::Status DeleteUpload(grpc::ServerContext*, const v1::DeleteUploadRequest* request,
                            google::protobuf::Empty*) override {
    return Serve(metrics_, "DeleteUpload",
                 [&] { return chakrad::DeleteUpload(uploads_, *request); });
  }
  grpc::Status PushTrace(grpc::ServerContext*, PushTraceStream* stream) override {
    return Serve(metrics_, "PushTrace", [&] { return chakrad::PushTrace(pushes_, stream); });
  }

 private:
  UploadManager* const uploads_;
  PushManager* const pushes_;
  Metrics* const metrics_;
};

}  // namespace

std::unique_ptr<grpc::Service> NewIngestService(UploadManager* uploads, PushManager* pushes,
                                                Metrics* metrics) {
  return std::make_unique<IngestService>(uploads, pushes, metrics);
}

}  // namespace chakrad
