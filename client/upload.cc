#include "client/upload.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "chakrad/v1/ingest.grpc.pb.h"
#include "client/connection.h"
#include "client/unary_call.h"
#include "common/mutex.h"
#include "common/status.h"

namespace chakrad::client {
namespace {

using IngestStub = v1::IngestService::Stub;
using WriteStream = grpc::ClientReaderWriter<v1::WriteRequest, v1::WriteResponse>;

absl::Status FileChanged(const UploadFile& file) {
  return absl::FailedPreconditionError(
      absl::StrCat(file.path, ": changed while it was uploaded (it had ", file.bytes, " bytes)"));
}

// What the server has of each file. A file that is absent does not exist there
// yet, which for an empty one makes a difference.
class Committed {
 public:
  explicit Committed(const UploadPlan& plan, const UploadOptions& options)
      : plan_(plan), options_(options) {
    for (const UploadFile& file : plan.files) total_bytes_ += file.bytes;
  }

  void Set(const v1::Upload& upload) {
    MutexLock lock(&mutex_);
    bytes_by_file_.clear();
    for (const v1::UploadFile& file : upload.files()) {
      bytes_by_file_[file.file()] = file.committed_bytes();
    }
    Report();
  }
  void Set(const v1::WriteResponse& response) {
    MutexLock lock(&mutex_);
    bytes_by_file_[response.file()] = response.committed_bytes();
    Report();
  }

  std::optional<int64_t> BytesOf(const std::string& file) {
    MutexLock lock(&mutex_);
    const auto found = bytes_by_file_.find(file);
    if (found == bytes_by_file_.end()) return std::nullopt;
    return found->second;
  }
  int64_t Sum() {
    MutexLock lock(&mutex_);
    return SumLocked();
  }
  bool Complete() {
    return std::all_of(plan_.files.begin(), plan_.files.end(),
                       [&](const UploadFile& file) { return BytesOf(file.file) == file.bytes; });
  }

 private:
  // Only our own files: an upload found again by a request id of the user's
  // choice may hold others.
  int64_t SumLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    int64_t sum = 0;
    for (const UploadFile& file : plan_.files) {
      const auto found = bytes_by_file_.find(file.file);
      if (found != bytes_by_file_.end()) sum += found->second;
    }
    return sum;
  }
  void Report() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    options_.progress({SumLocked(), total_bytes_, false});
  }

  const UploadPlan& plan_;
  const UploadOptions& options_;
  int64_t total_bytes_ = 0;
  Mutex mutex_;
  std::map<std::string, int64_t> bytes_by_file_ ABSL_GUARDED_BY(mutex_);
};

// Sends what is missing of one file. False when the stream broke.
absl::StatusOr<bool> SendFile(const UploadFile& file, const std::string& upload,
                              std::optional<int64_t> committed_bytes, WriteStream* stream) {
  int64_t offset = committed_bytes.value_or(0);
  if (committed_bytes == file.bytes) return true;
  if (offset > file.bytes) return FileChanged(file);
  std::ifstream in(file.path, std::ios::binary);
  if (!in.seekg(offset)) return absl::NotFoundError(absl::StrCat(file.path, ": cannot be read"));
  v1::WriteRequest request;
  request.set_upload(upload);
  request.set_file(file.file);
  do {
    const int64_t piece_bytes = std::min<int64_t>(kPieceBytesMax, file.bytes - offset);
    request.mutable_data()->resize(piece_bytes);
    if (!in.read(request.mutable_data()->data(), piece_bytes)) return FileChanged(file);
    request.set_offset(offset);
    if (!stream->Write(request)) return false;
    offset += piece_bytes;
  } while (offset < file.bytes);
  return true;
}

// One stream over all files. OK means that the server has taken all that was
// sent; `committed` tells what that is.
absl::Status RunStream(IngestStub* stub, const UploadPlan& plan, const std::string& upload,
                       Committed* committed) {
  grpc::ClientContext context;
  const std::unique_ptr<WriteStream> stream = stub->Write(&context);
  // Answers are read while pieces are sent: a server that could not answer
  // would stop reading.
  std::thread reader([&] {
    v1::WriteResponse response;
    while (stream->Read(&response)) committed->Set(response);
  });
  absl::Status local = absl::OkStatus();
  for (const UploadFile& file : plan.files) {
    const absl::StatusOr<bool> sent =
        SendFile(file, upload, committed->BytesOf(file.file), stream.get());
    if (!sent.ok()) {
      local = sent.status();
      context.TryCancel();
    }
    if (!sent.ok() || !*sent) break;
  }
  stream->WritesDone();
  reader.join();
  const grpc::Status status = stream->Finish();
  return local.ok() ? FromGrpc(status) : local;
}

bool CanGoOn(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:           // Ended early: the rest goes by another stream.
    case absl::StatusCode::kUnavailable:  // The connection or the daemon went away.
    case absl::StatusCode::kAborted:      // The server still sees our broken stream.
    case absl::StatusCode::kOutOfRange:   // It lost what was not committed.
      return true;
    default:
      return false;
  }
}

absl::Status SendAll(IngestStub* stub, const UploadPlan& plan, const std::string& upload,
                     const UploadOptions& options, Committed* committed) {
  Backoff backoff(options.resume, options.sleep);
  v1::QueryUploadRequest query;
  query.set_name(upload);
  while (!committed->Complete()) {
    const int64_t before_bytes = committed->Sum();
    const absl::Status status = RunStream(stub, plan, upload, committed);
    if (!CanGoOn(status)) return status;
    if (committed->Complete()) break;
    if (committed->Sum() > before_bytes) backoff.Reset();
    if (!backoff.Wait()) {
      return status.ok() ? absl::InternalError("the server takes no more of the upload") : status;
    }
    ASSIGN_OR_RETURN(const v1::Upload now,
                     UnaryCall(stub, &IngestStub::QueryUpload, query,
                               CallOptions{.sleep = options.sleep, .retry = options.resume}));
    committed->Set(now);
  }
  return absl::OkStatus();
}

v1::CreateUploadRequest ToCreateRequest(const UploadPlan& plan) {
  v1::CreateUploadRequest request;
  request.set_request_id(plan.request_id);
  request.mutable_labels()->insert(plan.labels.begin(), plan.labels.end());
  const ImportSettings& settings = plan.settings;
  request.mutable_rank_by_file()->insert(settings.rank_by_file.begin(),
                                         settings.rank_by_file.end());
  request.set_world_size(settings.world_size);
  request.set_passes_count(settings.passes_count);
  request.set_lenient(settings.lenient);
  request.set_repair(settings.repair);
  return request;
}

}  // namespace

absl::StatusOr<v1::Trace> UploadTrace(const std::shared_ptr<grpc::Channel>& channel,
                                      const UploadPlan& plan, const UploadOptions& options) {
  const std::unique_ptr<IngestStub> stub = v1::IngestService::NewStub(channel);
  ASSIGN_OR_RETURN(const v1::Upload upload,
                   UnaryCall(stub.get(), &IngestStub::CreateUpload, ToCreateRequest(plan),
                             CallOptions{.sleep = options.sleep, .retry = options.first_call}));
  Committed committed(plan, options);
  committed.Set(upload);
  if (upload.state() != v1::Upload::SEALED) {
    RETURN_IF_ERROR(SendAll(stub.get(), plan, upload.name(), options, &committed));
  }
  const int64_t sent_bytes = committed.Sum();
  options.progress({sent_bytes, sent_bytes, true});
  v1::SealRequest seal;
  seal.set_name(upload.name());
  // Converting a large trace takes its time; keepalive notices a dead server.
  ASSIGN_OR_RETURN(v1::SealResponse sealed, UnaryCall(stub.get(), &IngestStub::Seal, seal,
                                                      CallOptions{.sleep = options.sleep,
                                                                  .retry = options.resume,
                                                                  .deadline = std::nullopt}));
  return std::move(*sealed.mutable_trace());
}

}  // namespace chakrad::client
