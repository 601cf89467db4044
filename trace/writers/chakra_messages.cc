#include "trace/writers/chakra_messages.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "chakra/et_def.pb.h"
#include "common/status.h"
#include "trace/model/attributes.h"
#include "trace/readers/chakra_et/node_codec.h"

namespace chakrad {
namespace {

using ChakraProtoMsg::AttributeProto;
using ChakraProtoMsg::Node;

constexpr int64_t kNsPerUs = 1000;
// A trace that was read leniently may hold attributes that are wrong. They are written
// as they were, and overridden as they were read.
constexpr ReadOptions kAsRead = {.lenient = true};

// Writes a node as other tools read it, looks what our reader would make of
// that, and adds chakrad's own attributes for what differs.
class NodeWriter {
 public:
  NodeWriter(const RankTrace& rank, ChakraFileInfo* info) : rank_(rank), info_(info) {}

  absl::Status Write(uint32_t node, Node* message);

 private:
  AttributeProto* Add(const char* key) {
    AttributeProto* attribute = message_->add_attr();
    attribute->set_name(key);
    return attribute;
  }
  // A plain attribute, unless the input has one of that name already.
  AttributeProto* AddPlain(const char* key);
  void AddTimes(uint32_t node);
  void AddEdges(uint32_t node);
  void AddPlainAttributes(uint32_t node);
  void AddPlainComm(uint32_t node, const CommOp& comm);
  void AddTimeOverrides(uint32_t node, const DecodedNode& decoded);
  void AddCommOverrides(const CommOp& comm, const DecodedNode& decoded);
  void AddOverrides(uint32_t node, const DecodedNode& decoded);

  const RankTrace& rank_;
  ChakraFileInfo* info_;
  Node* message_ = nullptr;
  std::vector<std::string> added_;
  std::vector<std::pair<uint32_t, uint8_t>> data_deps_;  // Node and kinds of edges.
};

AttributeProto* NodeWriter::AddPlain(const char* key) {
  for (const AttributeProto& attribute : message_->attr()) {
    if (attribute.name() == key) return nullptr;
  }
  added_.push_back(key);
  return Add(key);
}

void NodeWriter::AddTimes(uint32_t node) {
  const int64_t start_ns = rank_.start_ns[node];
  if (start_ns > 0) message_->set_start_time_micros(static_cast<uint64_t>(start_ns / kNsPerUs));
  // Others replay duration_micros as the time that the node takes its queue for.
  const int64_t ns = rank_.work_ns[node] != kUnknownNs ? rank_.work_ns[node] : rank_.dur_ns[node];
  if (ns > 0) message_->set_duration_micros(static_cast<uint64_t>((ns + kNsPerUs / 2) / kNsPerUs));
}

// A node stands in data_deps once, whatever the kinds of its edges: feeders of
// other tools count the entries.
void NodeWriter::AddEdges(uint32_t node) {
  data_deps_.clear();
  for (uint32_t i = rank_.dep_begin[node]; i < rank_.dep_begin[node + 1]; ++i) {
    const uint32_t dependency = rank_.dep_node[i];
    if (rank_.dep_kind[i] == EdgeKind::kControl) {
      message_->add_ctrl_deps(rank_.id[dependency]);
    } else {
      data_deps_.emplace_back(dependency, uint8_t{1} << static_cast<int>(rank_.dep_kind[i]));
    }
  }
  std::sort(data_deps_.begin(), data_deps_.end());
  size_t kept = 0;
  for (const auto& [dependency, kinds] : data_deps_) {
    if (kept > 0 && data_deps_[kept - 1].first == dependency) {
      data_deps_[kept - 1].second |= kinds;
    } else {
      data_deps_[kept++] = {dependency, kinds};
    }
  }
  data_deps_.resize(kept);
  bool all_data = true;
  for (const auto& [dependency, kinds] : data_deps_) {
    message_->add_data_deps(rank_.id[dependency]);
    all_data &= kinds == uint8_t{1} << static_cast<int>(EdgeKind::kData);
  }
  if (all_data) return;
  auto* list = Add(attr::kEdgeKinds)->mutable_int64_list();
  for (const auto& [dependency, kinds] : data_deps_) list->add_values(kinds);
}

void NodeWriter::AddPlainComm(uint32_t node, const CommOp& comm) {
  if (rank_.type[node] == NodeType::kCommColl) {
    if (AttributeProto* type = AddPlain(attr::kCommType)) {
      type->set_int64_val(static_cast<int64_t>(comm.collective));
    }
    if (comm.involved_dims != UINT32_MAX) {
      if (AttributeProto* dims = AddPlain(attr::kInvolvedDim)) {
        auto* list = dims->mutable_bool_list();
        for (uint32_t rest = comm.involved_dims; rest != 0; rest >>= 1) list->add_values(rest & 1);
        if (comm.involved_dims == 0) list->add_values(false);
      }
    }
  } else if (comm.peer != kNoRank) {
    const bool send = rank_.type[node] == NodeType::kCommSend;
    const int32_t source = send ? rank_.rank : comm.peer;
    const int32_t destination = send ? comm.peer : rank_.rank;
    // Chakra's feeder knows these as int32_val only.
    if (AttributeProto* src = AddPlain(attr::kCommSrc)) src->set_int32_val(source);
    if (AttributeProto* dst = AddPlain(attr::kCommDst)) dst->set_int32_val(destination);
  }
  if (AttributeProto* size = AddPlain(attr::kCommSize)) size->set_int64_val(comm.bytes);
  if (comm.tag >= INT32_MIN && comm.tag <= INT32_MAX && rank_.type[node] != NodeType::kCommColl) {
    if (AttributeProto* tag = AddPlain(attr::kCommTag)) {
      tag->set_int32_val(static_cast<int32_t>(comm.tag));
    }
  }
  if (comm.priority != 0) {
    if (AttributeProto* priority = AddPlain(attr::kCommPriority)) {
      priority->set_int32_val(comm.priority);
    }
  }
  if (comm.group != kNone && comm.group < info_->groups.size() &&
      !info_->groups[comm.group].name.empty()) {
    if (AttributeProto* group = AddPlain(attr::kPgName)) {
      group->set_string_val(info_->groups[comm.group].name);
    }
  }
}

void NodeWriter::AddPlainAttributes(uint32_t node) {
  if (AttributeProto* host = AddPlain(attr::kIsCpuOp)) host->set_bool_val(rank_.is_host(node));
  const Queue& queue = rank_.queues[rank_.queue[node]];
  const bool on_thread = queue.kind == Queue::Kind::kHostThread;
  if (AttributeProto* id = AddPlain(on_thread ? attr::kTid : attr::kStream)) {
    id->set_int64_val(queue.raw_id);
  }
  if (const CommOp* comm = rank_.CommOf(node)) AddPlainComm(node, *comm);
  if (const WorkSize* size = rank_.WorkSizeOf(node)) {
    if (AttributeProto* ops = AddPlain(attr::kNumOps)) ops->set_int64_val(size->num_ops);
    if (AttributeProto* bytes = AddPlain(attr::kTensorSize)) {
      bytes->set_uint64_val(static_cast<uint64_t>(size->tensor_bytes));
    }
  }
}

void NodeWriter::AddTimeOverrides(uint32_t node, const DecodedNode& decoded) {
  const std::pair<const char*, std::pair<int64_t, int64_t>> times[] = {
      {attr::kStartNs, {rank_.start_ns[node], decoded.start_ns}},
      {attr::kDurNs, {rank_.dur_ns[node], decoded.dur_ns}},
      {attr::kWorkNs, {rank_.work_ns[node], decoded.work_ns}}};
  for (const auto& [key, values] : times) {
    if (values.first != values.second) Add(key)->set_int64_val(values.first);
  }
  const auto gap = std::lower_bound(rank_.gap_node.begin(), rank_.gap_node.end(), node);
  if (gap != rank_.gap_node.end() && *gap == node) {
    Add(attr::kGapNs)
        ->set_int64_val(rank_.gap_ns[static_cast<size_t>(gap - rank_.gap_node.begin())]);
  }
}

void NodeWriter::AddCommOverrides(const CommOp& comm, const DecodedNode& decoded) {
  CommOp same = decoded.comm;
  same.group = comm.group;
  same.root = comm.root;
  if (same != comm) {
    auto* fields = Add(attr::kCommFields)->mutable_int64_list();
    fields->add_values(static_cast<int64_t>(comm.collective));
    fields->add_values(comm.bytes);
    fields->add_values(comm.peer);
    fields->add_values(comm.priority);
    fields->add_values(comm.tag);
    fields->add_values(comm.involved_dims);
  }
  if (comm.root != kNoRank) Add(attr::kCommRoot)->set_int64_val(comm.root);
  if (comm.group != decoded.comm.group) {
    Add(attr::kCommGroup)->set_int64_val(comm.group == kNone ? -1 : int64_t{comm.group});
  }
}

void NodeWriter::AddOverrides(uint32_t node, const DecodedNode& decoded) {
  AddTimeOverrides(node, decoded);
  const bool host = rank_.is_host(node);
  if (host != ((decoded.flags & RankTrace::kHostOp) != 0)) Add(attr::kHostOp)->set_bool_val(host);
  if ((rank_.flags[node] & RankTrace::kAnnotation) != 0) Add(attr::kAnnotation)->set_bool_val(true);
  if (decoded.queue != rank_.queues[rank_.queue[node]]) {
    Add(attr::kQueue)->set_int64_val(rank_.queue[node]);
  }
  if (const CommOp* comm = rank_.CommOf(node)) AddCommOverrides(*comm, decoded);
  if (const WorkSize* size = rank_.WorkSizeOf(node)) {
    if (*size != decoded.work_size) {
      auto* fields = Add(attr::kWorkFields)->mutable_int64_list();
      fields->add_values(size->num_ops);
      fields->add_values(size->tensor_bytes);
    }
  } else if (decoded.has_work_size) {
    Add(attr::kNoSide)->set_bool_val(true);
  }
}

absl::Status NodeWriter::Write(uint32_t node, Node* message) {
  message_ = message;
  added_.clear();
  message->Clear();
  const absl::string_view cold = rank_.ColdOf(node);
  if (!message->ParseFromArray(cold.data(), static_cast<int>(cold.size()))) {
    return absl::DataLossError("the cold block does not parse");
  }
  message->set_id(rank_.id[node]);
  const absl::string_view name = rank_.NameOf(node);
  message->set_name(name.data(), name.size());
  message->set_type(static_cast<ChakraProtoMsg::NodeType>(rank_.type[node]));
  AddTimes(node);
  AddPlainAttributes(node);
  AddEdges(node);
  if (IsComm(rank_.type[node]) && rank_.CommOf(node) == nullptr) {
    Add(attr::kNoSide)->set_bool_val(true);
  }
  ASSIGN_OR_RETURN(const DecodedNode decoded, DecodeNode(*message, kAsRead, info_));
  AddOverrides(node, decoded);
  if (!added_.empty()) {
    auto* list = Add(attr::kAdded)->mutable_string_list();
    for (const std::string& key : added_) list->add_values(key);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ForEachChakraMessage(
    const Trace& trace, int32_t rank,
    const std::function<absl::Status(const google::protobuf::Message&)>& sink) {
  const RankTrace* part = trace.FindRank(rank);
  if (part == nullptr) return absl::NotFoundError(absl::StrCat("rank ", rank, ": is not here"));
  if (part->size() > 0 && part->cold_begin.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("rank ", rank, ": was loaded without its cold block"));
  }
  ChakraFileInfo info;
  info.schema = part->schema;
  info.rank = part->rank;
  info.base_unix_ns = part->base_unix_ns;
  info.queues = part->queues;
  info.groups = trace.groups;
  info.cold = part->file_cold;
  const absl::StatusOr<ChakraProtoMsg::GlobalMetadata> metadata = EncodeMetadata(info);
  if (!metadata.ok()) return Annotate(metadata.status(), absl::StrCat("rank ", rank));
  RETURN_IF_ERROR(sink(*metadata));
  NodeWriter writer(*part, &info);
  Node message;
  for (uint32_t node = 0; node < part->size(); ++node) {
    const absl::Status written = writer.Write(node, &message);
    if (!written.ok()) {
      return Annotate(written, absl::StrCat("rank ", rank, ", ", DescribeNode(*part, node)));
    }
    RETURN_IF_ERROR(sink(message));
  }
  return absl::OkStatus();
}

}  // namespace chakrad
