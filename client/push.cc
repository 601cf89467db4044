#include "client/push.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "chakrad/v1/ingest.grpc.pb.h"
#include "client/connection.h"
#include "common/mutex.h"
#include "common/status.h"
#include "trace/api/trace_to_proto.h"
#include "trace/codec/rank_index.pb.h"

namespace chakrad::client {
namespace {

using Stream = grpc::ClientReaderWriter<v1::PushTraceRequest, v1::PushTraceResponse>;

// Ranks that are named before the server has answered about the first of them.
constexpr size_t kRanksAhead = 8;

// What the server says, taken by a thread of its own: a server that could not answer
// would stop reading.
class Answers {
 public:
  explicit Answers(Stream* stream) : thread_([this, stream] { Loop(stream); }) {}
  ~Answers() { Join(); }

  // The next rank's missing chunks, in order; nothing when `wait` is false and there is
  // no answer yet, or when the stream has ended or the trace is known.
  std::optional<std::vector<std::string>> NextMissing(bool wait) {
    MutexLock lock(&mutex_);
    while (wait && missing_.empty() && !ended_) changed_.Wait(&mutex_);
    if (missing_.empty()) return std::nullopt;
    std::vector<std::string> next = std::move(missing_.front());
    missing_.pop_front();
    return next;
  }
  // Whether the server has said all that it will.
  bool ended() {
    MutexLock lock(&mutex_);
    return ended_;
  }
  void Join() {
    if (thread_.joinable()) thread_.join();
  }
  // After Join: the trace, if the server named it.
  std::optional<v1::Trace> trace() {
    MutexLock lock(&mutex_);
    return trace_;
  }
  bool known() {
    MutexLock lock(&mutex_);
    return known_;
  }

 private:
  void Loop(Stream* stream) {
    v1::PushTraceResponse response;
    while (stream->Read(&response)) {
      MutexLock lock(&mutex_);
      if (response.has_missing()) {
        missing_.emplace_back(response.missing().sha256().begin(),
                              response.missing().sha256().end());
      } else {
        known_ = response.has_known();
        trace_ = std::move(known_ ? *response.mutable_known() : *response.mutable_trace());
        ended_ = true;
      }
      changed_.NotifyAll();
    }
    MutexLock lock(&mutex_);
    ended_ = true;
    changed_.NotifyAll();
  }

  Mutex mutex_;
  CondVar changed_;
  std::deque<std::vector<std::string>> missing_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool known_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<v1::Trace> trace_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;  // Last: it uses the others.
};

v1::PushTraceRequest BeginOf(const EncodedTrace& trace, const std::string& request_id) {
  v1::PushTraceRequest request;
  request.mutable_begin()->set_request_id(request_id);
  request.mutable_begin()->mutable_labels()->insert(trace.labels.begin(), trace.labels.end());
  request.mutable_begin()->set_content_hash(trace.content_hash);
  return request;
}

// The header in messages that each stay below the limit of one, but for a single
// group or file that is larger.
std::vector<v1::PushTraceRequest> HeadersOf(const EncodedTrace& trace) {
  constexpr size_t kHeaderBytes = size_t{512} << 10;
  std::vector<v1::PushTraceRequest> requests(1);
  size_t bytes = 0;
  const auto next = [&](size_t entry_bytes) {
    if (bytes > 0 && bytes + entry_bytes > kHeaderBytes) {
      requests.emplace_back();
      bytes = 0;
    }
    bytes += entry_bytes;
    requests.back().mutable_header()->set_world_size(trace.world_size);
    return requests.back().mutable_header();
  };
  for (size_t i = 0; i < trace.groups.size(); ++i) {
    v1::ProcessGroup group;
    ToProto(trace.groups[i], &group);
    if (i == kWorldGroup) group.clear_ranks();  // The server knows them.
    *next(group.ByteSizeLong())->add_process_groups() = std::move(group);
  }
  for (const Ledger& ledger : trace.ledgers) {
    v1::FileLedger file;
    ToProto(ledger, &file);
    *next(file.ByteSizeLong())->add_files() = std::move(file);
  }
  for (const std::string& notice : trace.notices) next(notice.size())->add_notices(notice);
  return requests;
}

class Push {
 public:
  Push(const EncodedTrace& trace, const PushOptions& options) : trace_(trace), options_(options) {
    progress_.bytes = trace.chunk_bytes;
  }

  // One stream. UNAVAILABLE and the like: another may do.
  absl::StatusOr<PushResult> Run(v1::IngestService::Stub* stub, const std::string& request_id) {
    grpc::ClientContext context;
    const std::unique_ptr<Stream> stream = stub->PushTrace(&context);
    Answers answers(stream.get());
    SendAll(stream.get(), BeginOf(trace_, request_id), &answers);
    stream->WritesDone();
    answers.Join();
    RETURN_IF_ERROR(FromGrpc(stream->Finish()));
    std::optional<v1::Trace> trace = answers.trace();
    if (!trace.has_value()) return absl::UnavailableError("the server ended the stream early");
    return PushResult{*std::move(trace), progress_.sent_bytes, answers.known()};
  }
  // That the last stream was asked for, as far as it came.
  int64_t asked_bytes() const { return asked_bytes_; }

 private:
  // Stops where the stream breaks; the status of the stream tells why.
  void SendAll(Stream* stream, const v1::PushTraceRequest& begin, Answers* answers) {
    if (!stream->Write(begin)) return;
    for (const v1::PushTraceRequest& header : HeadersOf(trace_)) {
      if (!stream->Write(header)) return;
    }
    size_t named = 0, answered = 0;
    asked_bytes_ = 0;
    progress_.checking = false;
    while (answered < trace_.ranks.size()) {
      const bool all_named = named == trace_.ranks.size() || named - answered >= kRanksAhead;
      const auto missing = answers->NextMissing(/*wait=*/all_named);
      if (missing.has_value()) {
        ++answered;
        for (const std::string& hash : *missing) {
          const auto chunk = trace_.chunks.find(hash);
          // A server that asks for what it was not told of is none that we know.
          if (chunk == trace_.chunks.end() || !SendChunk(hash, chunk->second, stream)) return;
          asked_bytes_ += static_cast<int64_t>(chunk->second.size());
        }
        progress_.known_bytes = std::max<int64_t>(0, progress_.bytes - asked_bytes_);
        options_.progress(progress_);
      } else if (answers->ended() || !SendRank(trace_.ranks[named++], stream)) {
        return;
      }
    }
    progress_.checking = true;
    options_.progress(progress_);
    v1::PushTraceRequest end;
    end.mutable_end()->set_ranks_count(static_cast<int32_t>(trace_.ranks.size()));
    stream->Write(end);
  }

  bool SendRank(const RankIndex& index, Stream* stream) {
    codec::RankIndexRecord record;
    RankIndexToProto(index, &record);
    const std::string bytes = record.SerializeAsString();
    for (size_t at = 0;; at += kPieceBytesMax) {
      v1::PushTraceRequest request;
      const bool last = bytes.size() - at <= kPieceBytesMax;
      *(last ? request.mutable_rank_end() : request.mutable_rank()) =
          bytes.substr(at, kPieceBytesMax);
      if (!stream->Write(request)) return false;
      if (last) return true;
    }
  }

  bool SendChunk(const std::string& hash, const std::string& stored, Stream* stream) {
    for (size_t at = 0; at == 0 || at < stored.size(); at += kPieceBytesMax) {
      const size_t size = std::min<size_t>(kPieceBytesMax, stored.size() - at);
      v1::PushTraceRequest::Chunk* piece = request_.mutable_chunk();
      piece->set_sha256(hash);
      piece->set_data(stored.data() + at, size);
      piece->set_more(at + size < stored.size());
      if (!stream->Write(request_)) return false;
      progress_.sent_bytes += static_cast<int64_t>(size);
      options_.progress(progress_);
    }
    return true;
  }

  const EncodedTrace& trace_;
  const PushOptions& options_;
  PushProgress progress_;
  int64_t asked_bytes_ = 0;
  v1::PushTraceRequest request_;  // Of chunks: keeps its buffers.
};

bool CanGoOn(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsAborted(status) || absl::IsCancelled(status);
}

}  // namespace

absl::StatusOr<PushResult> PushTrace(const std::shared_ptr<grpc::Channel>& channel,
                                     const EncodedTrace& trace, const std::string& request_id,
                                     const PushOptions& options) {
  const std::unique_ptr<v1::IngestService::Stub> stub = v1::IngestService::NewStub(channel);
  Backoff backoff(options.retry, options.sleep);
  Push push(trace, options);
  int64_t least_asked_bytes = INT64_MAX;
  for (;;) {
    absl::StatusOr<PushResult> result = push.Run(stub.get(), request_id);
    if (result.ok() || !CanGoOn(result.status())) return result;
    // What was sent and not taken is no progress: a server that ends with each try must
    // not be asked for ever.
    if (push.asked_bytes() > 0 && push.asked_bytes() < least_asked_bytes) {
      least_asked_bytes = push.asked_bytes();
      backoff.Reset();
    }
    if (!backoff.Wait()) return result;
  }
}

}  // namespace chakrad::client
