#include "server/rpc/push_trace.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "chakrad/v1/ingest.grpc.pb.h"
#include "common/status.h"
#include "server/limits.h"
#include "server/rpc/convert.h"
#include "trace/codec/limits.h"
#include "trace/codec/rank_index.pb.h"

namespace chakrad {
namespace {

using Request = v1::PushTraceRequest;

LedgerEntry FromProto(const v1::Rejection& entry) {
  return {entry.rule(), entry.record(), entry.byte_offset(), entry.reason()};
}

Ledger FromProto(const v1::FileLedger& file) {
  Ledger ledger;
  ledger.file = file.file();
  ledger.input_records = file.records_count();
  ledger.kept = file.kept_count();
  ledger.merged = file.merged_count();
  ledger.rejected = file.rejected_count();
  ledger.merged_by_rule = {file.merged_by_rule().begin(), file.merged_by_rule().end()};
  ledger.rejected_by_rule = {file.rejected_by_rule().begin(), file.rejected_by_rule().end()};
  for (const v1::Rejection& entry : file.rejections()) {
    ledger.rejections.push_back(FromProto(entry));
  }
  ledger.flaws_by_rule = {file.flaws_by_rule().begin(), file.flaws_by_rule().end()};
  for (const v1::Rejection& entry : file.flaws()) ledger.flaws.push_back(FromProto(entry));
  ledger.notices = {file.notices().begin(), file.notices().end()};
  return ledger;
}

PushHeader FromProto(const Request::Header& message) {
  PushHeader header;
  header.world_size = message.world_size();
  for (const v1::ProcessGroup& group : message.process_groups()) {
    header.groups.push_back(
        {group.group(), group.description(), {group.ranks().begin(), group.ranks().end()}});
  }
  for (const v1::FileLedger& file : message.files()) header.ledgers.push_back(FromProto(file));
  header.notices = {message.notices().begin(), message.notices().end()};
  return header;
}

// Puts the stream's messages together where one thing takes several.
class Receiver {
 public:
  Receiver(PushSession* session, PushTraceStream* stream) : session_(session), stream_(stream) {}

  absl::Status Take(Request* request) {
    if (!request->has_chunk()) RETURN_IF_ERROR(CheckNoChunkIsOpen());
    switch (request->part_case()) {
      case Request::kHeader:
        return TakeHeader(request->header());
      case Request::kRank:
        return AddToRank(request->rank());
      case Request::kRankEnd:
        RETURN_IF_ERROR(AddToRank(request->rank_end()));
        return TakeRank();
      case Request::kChunk:
        return TakeChunk(request->mutable_chunk());
      case Request::kBegin:
        return absl::InvalidArgumentError("begin: came twice");
      case Request::kEnd:
      case Request::PART_NOT_SET:
        break;
    }
    return absl::InvalidArgumentError("part: a message has none that is known");
  }

  // Before the session is finished.
  absl::Status Finish() {
    RETURN_IF_ERROR(CheckNoChunkIsOpen());
    return FinishHeader();
  }

 private:
  absl::Status CheckNoChunkIsOpen() const {
    if (chunk_hash_.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError("chunk: the rest of it did not follow");
  }

  absl::Status FinishHeader() {
    if (header_done_ || header_bytes_ == 0) return absl::OkStatus();
    header_done_ = true;
    return session_->SetHeader(FromProto(header_));
  }

  absl::Status TakeHeader(const Request::Header& part) {
    if (header_done_) return absl::InvalidArgumentError("header: came after a rank");
    header_bytes_ += part.ByteSizeLong();
    if (header_bytes_ > kMaxPushHeaderBytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("header: takes more than ", kMaxPushHeaderBytes, " bytes"));
    }
    header_.MergeFrom(part);
    // An empty entry takes two bytes here and a hundred times as much in memory.
    for (const int count :
         {header_.files_size(), header_.process_groups_size(), header_.notices_size()}) {
      if (count <= kMaxPushHeaderEntries) continue;
      return absl::ResourceExhaustedError(absl::StrCat(
          "header: lists more than ", kMaxPushHeaderEntries, " files, groups or notices"));
    }
    return absl::OkStatus();
  }

  absl::Status AddToRank(const std::string& piece) {
    if (rank_.size() + piece.size() > kMaxRankIndexBytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("rank: an index takes more than ", kMaxRankIndexBytes, " bytes"));
    }
    rank_ += piece;
    return absl::OkStatus();
  }

  absl::Status TakeRank() {
    RETURN_IF_ERROR(FinishHeader());
    codec::RankIndexRecord record;
    const bool parsed = record.ParseFromString(rank_);
    rank_.clear();
    if (!parsed) return absl::InvalidArgumentError("rank: is no RankIndexRecord");
    RankIndex index;
    RETURN_IF_ERROR(RankIndexFromProto(record, &index));
    ASSIGN_OR_RETURN(const std::vector<std::string> missing, session_->AddRank(std::move(index)));
    v1::PushTraceResponse response;
    response.mutable_missing();
    for (const std::string& hash : missing) response.mutable_missing()->add_sha256(hash);
    if (!stream_->Write(response)) return absl::CancelledError("the stream broke");
    return absl::OkStatus();
  }

  absl::Status TakeChunk(Request::Chunk* chunk) {
    if (chunk_hash_.empty()) {
      chunk_hash_ = chunk->sha256();
      chunk_ = std::move(*chunk->mutable_data());
    } else {
      if (chunk->sha256() != chunk_hash_) {
        return absl::InvalidArgumentError("chunk: another one came before the rest of it");
      }
      chunk_ += chunk->data();
    }
    // A frame may be a little larger than what it holds.
    if (chunk_.size() > kMaxChunkRawBytes + kPieceBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("chunk: is larger than ", kMaxChunkRawBytes, " bytes"));
    }
    if (chunk->more()) return absl::OkStatus();
    const std::string hash = std::move(chunk_hash_);
    chunk_hash_.clear();
    return session_->AddChunk(hash, std::move(chunk_));
  }

  PushSession* const session_;
  PushTraceStream* const stream_;
  Request::Header header_;
  size_t header_bytes_ = 0;
  bool header_done_ = false;
  std::string rank_;        // Of the index that is coming.
  std::string chunk_hash_;  // Of the chunk that is coming; empty: none.
  std::string chunk_;
};

absl::Status Answer(const TraceInfo& info, bool known, PushTraceStream* stream) {
  v1::PushTraceResponse response;
  v1::Trace* trace = known ? response.mutable_known() : response.mutable_trace();
  ToProto(info, trace);
  FitIntoAnswer(trace);
  stream->Write(response);  // The trace is stored, whether or not the client is still there.
  return absl::OkStatus();
}

}  // namespace

absl::Status PushTrace(PushManager* pushes, PushTraceStream* stream) {
  Request request;
  if (!stream->Read(&request) || !request.has_begin()) {
    return absl::InvalidArgumentError("begin: must be the first message");
  }
  const Request::Begin& begin = request.begin();
  ASSIGN_OR_RETURN(const std::unique_ptr<PushSession> session,
                   pushes->Begin({begin.request_id(),
                                  {begin.labels().begin(), begin.labels().end()},
                                  begin.content_hash()}));
  if (session->known().has_value()) return Answer(*session->known(), true, stream);
  Receiver receiver(session.get(), stream);
  while (stream->Read(&request)) {
    if (request.has_end()) {
      const absl::Status status = receiver.Finish();
      if (absl::IsInvalidArgument(status)) session->Abandon();
      RETURN_IF_ERROR(status);
      ASSIGN_OR_RETURN(const TraceInfo info, session->Finish(request.end().ranks_count()));
      return Answer(info, false, stream);
    }
    const absl::Status status = receiver.Take(&request);
    if (absl::IsInvalidArgument(status)) session->Abandon();
    RETURN_IF_ERROR(status);
  }
  return absl::CancelledError("the stream broke before its end; what arrived is kept for a while");
}

}  // namespace chakrad
