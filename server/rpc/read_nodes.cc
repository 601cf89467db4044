#include "server/rpc/read_nodes.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "common/utf8.h"
#include "server/ids.h"
#include "server/limits.h"
#include "trace/codec/rank_reader.h"

namespace chakrad {
namespace {

using NodeStream = grpc::ServerWriter<v1::ReadNodesResponse>;

absl::Status CheckNotBelow0(absl::string_view field, int64_t value) {
  if (value >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", value, " is below 0"));
}

absl::StatusOr<NodeRange> ToRange(const v1::ReadNodesRequest& request) {
  RETURN_IF_ERROR(CheckNotBelow0("first_node", request.first_node()));
  RETURN_IF_ERROR(CheckNotBelow0("max_nodes", request.max_nodes()));
  NodeRange range;
  range.first = static_cast<uint64_t>(request.first_node());
  if (request.has_from_ns()) range.from_ns = request.from_ns();
  if (request.has_to_ns()) range.to_ns = request.to_ns();
  return range;
}

absl::StatusOr<std::unique_ptr<RankReader>> OpenReader(TraceStore* traces, const std::string& id,
                                                       int32_t rank) {
  ASSIGN_OR_RETURN(const TraceInfo info, traces->GetInfo(id));
  ASSIGN_OR_RETURN(RankIndex index, traces->GetRankIndex(id, rank));
  auto reader = RankReader::Open(
      std::move(index), [traces](const std::string& hash) { return traces->ReadChunk(hash); },
      {.groups_count = info.groups.size()});
  // What is wrong with a stored index is not the caller's fault.
  if (absl::IsInvalidArgument(reader.status())) {
    return absl::DataLossError(reader.status().message());
  }
  return reader;
}

std::string QueueText(const Queue& queue) {
  return absl::StrCat(queue.kind == Queue::Kind::kDeviceStream ? "stream " : "thread ",
                      queue.raw_id);
}

// Collects nodes and sends them in pieces.
class NodeSender {
 public:
  explicit NodeSender(NodeStream* stream) : stream_(stream) {}

  absl::Status Add(const RankPart& part, uint32_t row) {
    const RankTrace& rows = part.rows;
    const std::string name = ValidUtf8(rows.NameOf(row), kMaxNodeNameBytes);
    if (response_.position_size() == kNodesPerAnswer || bytes_ + name.size() > kPieceBytes) {
      RETURN_IF_ERROR(Send());
    }
    bytes_ += name.size();
    response_.add_position(part.position[row]);
    response_.add_id(rows.id[row]);
    response_.add_name(name);
    const absl::string_view type = NodeTypeName(rows.type[row]);
    response_.add_type(type.data(), type.size());
    response_.add_queue(QueueText(rows.queues[rows.queue[row]]));
    response_.add_start_ns(rows.start_ns[row]);
    response_.add_dur_ns(rows.dur_ns[row]);
    response_.add_dependencies_count(
        static_cast<int32_t>(rows.dep_begin[row + 1] - rows.dep_begin[row]));
    return absl::OkStatus();
  }
  absl::Status Send() {
    if (response_.position_size() == 0) return absl::OkStatus();
    const bool sent = stream_->Write(response_);
    response_.Clear();
    bytes_ = 0;
    return sent ? absl::OkStatus() : absl::CancelledError("the caller went away");
  }

 private:
  NodeStream* const stream_;
  v1::ReadNodesResponse response_;
  size_t bytes_ = 0;  // Of its names.
};

absl::Status SendNodes(RankReader* reader, NodeRange range, uint64_t nodes_max,
                       grpc::ServerContext* context, NodeStream* stream) {
  NodeSender sender(stream);
  const uint64_t nodes_count = reader->header().nodes_count;
  const bool timed = range.from_ns.has_value() || range.to_ns.has_value();
  do {  // Also for none: whether the range is one is for the reader to say.
    if (context->IsCancelled()) return absl::CancelledError("the caller went away");
    range.count = timed ? kNodesReadAtOnce : std::min(nodes_max, kNodesReadAtOnce);
    ASSIGN_OR_RETURN(const RankPart part, reader->Read(range));
    for (uint32_t row = 0; row < part.position.size() && nodes_max > 0; ++row, --nodes_max) {
      RETURN_IF_ERROR(sender.Add(part, row));
    }
    range.first += range.count;
  } while (range.first < nodes_count && nodes_max > 0);
  return sender.Send();
}

}  // namespace

absl::Status ReadNodes(TraceStore* traces, const v1::ReadNodesRequest& request,
                       grpc::ServerContext* context, NodeStream* stream) {
  ASSIGN_OR_RETURN(const std::string id, IdFromName(request.name(), "traces", "name"));
  ASSIGN_OR_RETURN(const NodeRange range, ToRange(request));
  ASSIGN_OR_RETURN(const std::unique_ptr<TraceLease> lease, traces->Lease(id));
  ASSIGN_OR_RETURN(const auto reader, OpenReader(traces, id, request.rank()));
  const uint64_t nodes_max =
      request.max_nodes() == 0 ? UINT64_MAX : static_cast<uint64_t>(request.max_nodes());
  return Annotate(SendNodes(reader.get(), range, nodes_max, context, stream),
                  absl::StrCat("trace ", id, ", rank ", request.rank()));
}

}  // namespace chakrad
