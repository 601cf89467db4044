#include "client/upload.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "chakrad/v1/ingest.grpc.pb.h"
#include "chakrad/v1/trace.grpc.pb.h"
#include "client/connection.h"
#include "client/unary_call.h"
#include "common/mutex.h"
#include "common/status.h"

namespace chakrad::client {
namespace {

using IngestStub = v1::IngestService::Stub;
// How often a joint upload that is waited for is looked at.
constexpr std::chrono::milliseconds kJoinPollPeriod(1000);

using WriteStream = grpc::ClientReaderWriter<v1::WriteRequest, v1::WriteResponse>;

absl::Status FileChanged(const UploadFile& file) {
  return absl::FailedPreconditionError(
      absl::StrCat(file.path, ": changed while it was uploaded (it had ", file.bytes, " bytes)"));
}

// What the server has of each file. A file that is absent does not exist there
// yet, which for an empty one makes a difference.
class Committed {
 public:
  struct State {
    int64_t bytes = 0;
    bool complete = false;
  };

  explicit Committed(const UploadPlan& plan, const UploadOptions& options)
      : plan_(plan), options_(options) {
    for (const UploadFile& file : plan.files) total_bytes_ += file.bytes;
  }

  void Set(const v1::Upload& upload) {
    MutexLock lock(&mutex_);
    state_by_file_.clear();
    for (const v1::UploadFile& file : upload.files()) {
      state_by_file_[file.file()] = {file.committed_bytes(), file.complete()};
    }
    Report();
  }
  void Set(const v1::WriteResponse& response) {
    MutexLock lock(&mutex_);
    state_by_file_[response.file()].bytes = response.committed_bytes();
    Report();
  }
  // The server has taken all that was sent, and that was all.
  void SetAllComplete() {
    MutexLock lock(&mutex_);
    for (const UploadFile& file : plan_.files) state_by_file_[file.file] = {file.bytes, true};
  }

  std::optional<State> StateOf(const std::string& file) {
    MutexLock lock(&mutex_);
    const auto found = state_by_file_.find(file);
    if (found == state_by_file_.end()) return std::nullopt;
    return found->second;
  }
  // Whether nothing of the file has to be sent.
  bool Has(const UploadFile& file) {
    const std::optional<State> state = StateOf(file.file);
    if (!state.has_value() || state->bytes != file.bytes) return false;
    return state->complete || !plan_.join.has_value();
  }
  int64_t Sum() {
    MutexLock lock(&mutex_);
    return SumLocked();
  }
  bool Complete() {
    return std::all_of(plan_.files.begin(), plan_.files.end(),
                       [&](const UploadFile& file) { return Has(file); });
  }

 private:
  // Only our own files: an upload found again by a request id of the user's
  // choice may hold others.
  int64_t SumLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    int64_t sum = 0;
    for (const UploadFile& file : plan_.files) {
      const auto found = state_by_file_.find(file.file);
      if (found != state_by_file_.end()) sum += found->second.bytes;
    }
    return sum;
  }
  void Report() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    options_.progress({SumLocked(), total_bytes_});
  }

  const UploadPlan& plan_;
  const UploadOptions& options_;
  int64_t total_bytes_ = 0;
  Mutex mutex_;
  std::map<std::string, State> state_by_file_ ABSL_GUARDED_BY(mutex_);
};

// Sends what is missing of one file; its last piece is marked as such. False when
// the stream broke.
absl::StatusOr<bool> SendFile(const UploadFile& file, const std::string& upload, int64_t offset,
                              WriteStream* stream) {
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
    offset += piece_bytes;
    request.set_last(offset == file.bytes);
    if (!stream->Write(request)) return false;
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
  bool sent_all = true;
  for (const UploadFile& file : plan.files) {
    if (committed->Has(file)) continue;
    const auto state = committed->StateOf(file.file);
    const absl::StatusOr<bool> sent =
        SendFile(file, upload, state.has_value() ? state->bytes : 0, stream.get());
    if (!sent.ok()) {
      local = sent.status();
      context.TryCancel();
    }
    sent_all = sent.ok() && *sent;
    if (!sent_all) break;
  }
  stream->WritesDone();
  reader.join();
  const grpc::Status status = stream->Finish();
  if (!local.ok()) return local;
  if (status.ok() && sent_all && plan.join.has_value()) committed->SetAllComplete();
  return FromGrpc(status);
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
  request.set_keep_files(plan.keep_files);
  if (plan.join.has_value()) {
    request.mutable_join()->set_expected_files(plan.join->expected_files);
    request.mutable_join()->set_seal_after_seconds(plan.join->seal_after_seconds);
    return request;
  }
  const bool hashed = std::all_of(plan.files.begin(), plan.files.end(),
                                  [](const UploadFile& file) { return !file.sha256.empty(); });
  if (!hashed) return request;
  for (const UploadFile& file : plan.files) {
    v1::FileClaim* claim = request.add_files();
    claim->set_file(file.file);
    claim->set_size_bytes(file.bytes);
    claim->set_sha256(file.sha256);
  }
  // What a server reads as one message; a larger upload goes without.
  if (request.ByteSizeLong() > kPieceBytesMax) request.clear_files();
  return request;
}

CallOptions ResumeCall(const UploadOptions& options) {
  return CallOptions{.sleep = options.sleep, .retry = options.resume};
}

// FAILED_PRECONDITION when another host wrote a file with one of our names.
absl::Status CheckNames(const UploadPlan& plan, const v1::Upload& upload) {
  std::map<std::string, const v1::UploadFile*> there;
  for (const v1::UploadFile& file : upload.files()) there[file.file()] = &file;
  for (const UploadFile& file : plan.files) {
    const auto found = there.find(file.file);
    if (found == there.end() || !found->second->complete() || file.sha256.empty()) continue;
    if (found->second->sha256() == file.sha256) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        file.file, ": the joint upload ", plan.request_id,
        " has another file of this name, complete with ", found->second->committed_bytes(),
        " bytes: hosts must name their files differently (", file.path, ")"));
  }
  return absl::OkStatus();
}

// A joint upload takes nothing any more: fine when it has our files.
absl::Status CheckTaken(const UploadPlan& plan, const v1::Upload& upload, Committed* committed) {
  if (upload.state() == v1::Upload::REFUSED) return absl::InvalidArgumentError(upload.error());
  RETURN_IF_ERROR(CheckNames(plan, upload));
  if (committed->Complete() || upload.files_count() > upload.files_size()) return absl::OkStatus();
  int64_t missing_count = 0;
  for (const UploadFile& file : plan.files) missing_count += committed->Has(file) ? 0 : 1;
  return absl::FailedPreconditionError(absl::StrCat(
      "the joint upload ", plan.request_id, " (", upload.name(), ") was sealed before ",
      missing_count, " of ", plan.files.size(), " files were there",
      upload.trace().empty() ? "" : absl::StrCat(": its trace is ", upload.trace())));
}

absl::StatusOr<v1::Trace> GetTrace(const std::shared_ptr<grpc::Channel>& channel,
                                   const std::string& name, const UploadOptions& options) {
  const auto stub = v1::TraceService::NewStub(channel);
  v1::GetTraceRequest request;
  request.set_name(name);
  return UnaryCall(stub.get(), &v1::TraceService::Stub::GetTrace, request, ResumeCall(options));
}

// Asks every so often until the daemon has sealed or refused the upload.
absl::StatusOr<v1::Upload> WaitUntilSealed(IngestStub* stub, v1::Upload upload,
                                           const UploadOptions& options) {
  v1::QueryUploadRequest query;
  query.set_name(upload.name());
  while (upload.state() == v1::Upload::OPEN || upload.state() == v1::Upload::SEALING) {
    UploadProgress progress{upload.committed_bytes(), upload.committed_bytes()};
    progress.sealing = upload.state() == v1::Upload::SEALING;
    progress.complete_files = upload.complete_files_count();
    progress.expected_files = upload.join().expected_files();
    options.progress(progress);
    options.sleep(kJoinPollPeriod);
    ASSIGN_OR_RETURN(upload, UnaryCall(stub, &IngestStub::QueryUpload, query, ResumeCall(options)));
  }
  return upload;
}

// Until everything is there, or a joint upload takes no more; `upload` is as last seen.
absl::Status SendAll(IngestStub* stub, const UploadPlan& plan, const UploadOptions& options,
                     Committed* committed, v1::Upload* upload) {
  Backoff backoff(options.resume, options.sleep);
  v1::QueryUploadRequest query;
  query.set_name(upload->name());
  while (upload->state() == v1::Upload::OPEN && !committed->Complete()) {
    const int64_t before_bytes = committed->Sum();
    const absl::Status status = RunStream(stub, plan, upload->name(), committed);
    const bool may_be_sealed =
        plan.join.has_value() && status.code() == absl::StatusCode::kFailedPrecondition;
    if (!CanGoOn(status) && !may_be_sealed) return status;
    if (committed->Complete()) break;
    if (committed->Sum() > before_bytes) backoff.Reset();
    if (!may_be_sealed && !backoff.Wait()) {
      return status.ok() ? absl::InternalError("the server takes no more of the upload") : status;
    }
    ASSIGN_OR_RETURN(*upload,
                     UnaryCall(stub, &IngestStub::QueryUpload, query, ResumeCall(options)));
    committed->Set(*upload);
    if (may_be_sealed && upload->state() == v1::Upload::OPEN) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<Uploaded> JoinUpload(const std::shared_ptr<grpc::Channel>& channel, IngestStub* stub,
                                    const UploadPlan& plan, const UploadOptions& options,
                                    v1::Upload upload, Committed* committed) {
  RETURN_IF_ERROR(CheckNames(plan, upload));
  RETURN_IF_ERROR(SendAll(stub, plan, options, committed, &upload));
  v1::QueryUploadRequest query;
  query.set_name(upload.name());
  if (upload.state() == v1::Upload::OPEN) {
    ASSIGN_OR_RETURN(upload, UnaryCall(stub, &IngestStub::QueryUpload, query, ResumeCall(options)));
  } else {
    RETURN_IF_ERROR(CheckTaken(plan, upload, committed));
  }
  Uploaded result;
  if (plan.join->wait) {
    ASSIGN_OR_RETURN(upload, WaitUntilSealed(stub, std::move(upload), options));
  }
  if (upload.state() == v1::Upload::REFUSED) return absl::InvalidArgumentError(upload.error());
  if (upload.state() == v1::Upload::SEALED) {
    ASSIGN_OR_RETURN(result.trace, GetTrace(channel, upload.trace(), options));
  }
  result.upload = std::move(upload);
  return result;
}

}  // namespace

absl::StatusOr<Uploaded> UploadTrace(const std::shared_ptr<grpc::Channel>& channel,
                                     const UploadPlan& plan, const UploadOptions& options) {
  const std::unique_ptr<IngestStub> stub = v1::IngestService::NewStub(channel);
  Uploaded result;
  ASSIGN_OR_RETURN(result.upload,
                   UnaryCall(stub.get(), &IngestStub::CreateUpload, ToCreateRequest(plan),
                             CallOptions{.sleep = options.sleep, .retry = options.first_call}));
  Committed committed(plan, options);
  committed.Set(result.upload);
  if (plan.join.has_value()) {
    return JoinUpload(channel, stub.get(), plan, options, std::move(result.upload), &committed);
  }
  result.already_stored = result.upload.state() == v1::Upload::SEALED;
  if (!result.already_stored) {
    RETURN_IF_ERROR(SendAll(stub.get(), plan, options, &committed, &result.upload));
  }
  const int64_t sent_bytes = committed.Sum();
  options.progress({sent_bytes, sent_bytes, true});
  v1::SealRequest seal;
  seal.set_name(result.upload.name());
  // Converting a large trace takes its time; keepalive notices a dead server.
  CallOptions call = ResumeCall(options);
  call.deadline = std::nullopt;
  ASSIGN_OR_RETURN(v1::SealResponse sealed, UnaryCall(stub.get(), &IngestStub::Seal, seal, call));
  result.trace = std::move(*sealed.mutable_trace());
  return result;
}

}  // namespace chakrad::client
