#include "trace/readers/chakra_et/chakra_et.h"

#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "chakra/et_def.pb.h"
#include "common/status.h"
#include "common/utf8.h"
#include "trace/model/rank_trace_builder.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/chakra_et/chakra_messages.h"
#include "trace/readers/chakra_et/node_codec.h"
#include "trace/readers/limits.h"

namespace chakrad {
namespace {

absl::Status AtOffset(int64_t offset, absl::string_view reason) {
  return absl::InvalidArgumentError(absl::StrCat("byte offset ", offset, ": ", reason));
}

// Whether a message that was parsed as GlobalMetadata is a Node: protobuf takes
// its id and type, which are integers, for fields it does not know.
bool HasNodeFields(const ChakraProtoMsg::GlobalMetadata& metadata) {
  const google::protobuf::UnknownFieldSet& fields =
      metadata.GetReflection()->GetUnknownFields(metadata);
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField& field = fields.field(i);
    if (field.type() == google::protobuf::UnknownField::TYPE_VARINT &&
        (field.number() == ChakraProtoMsg::Node::kIdFieldNumber ||
         field.number() == ChakraProtoMsg::Node::kTypeFieldNumber)) {
      return true;
    }
  }
  return false;
}

// Messages behind varint lengths. Memory grows with the bytes that are there,
// not with the length that is claimed.
class MessageReader {
 public:
  explicit MessageReader(ByteSource* source) : source_(source), buffer_(kReadBytes, '\0') {}

  // The next message's bytes; false at the clean end of the file.
  absl::StatusOr<bool> Next(std::string* message) {
    offset_ = position();
    ASSIGN_OR_RETURN(const int first, NextByte());
    if (first < 0) return false;
    uint64_t size = static_cast<uint64_t>(first & 0x7f);
    int byte = first;
    for (int shift = 7; (byte & 0x80) != 0; shift += 7) {
      if (shift > 28) return AtOffset(offset_, "a message's length has more than 5 bytes");
      ASSIGN_OR_RETURN(byte, NextByte());
      if (byte < 0) return AtOffset(offset_, "cut off inside a message's length");
      size |= static_cast<uint64_t>(byte & 0x7f) << shift;
    }
    if (size > static_cast<uint64_t>(kMaxChakraMessageBytes)) {
      return AtOffset(offset_, absl::StrCat("a message of ", size, " bytes is larger than ",
                                            kMaxChakraMessageBytes));
    }
    message->clear();
    while (message->size() < size) {
      if (begin_ == end_) {
        ASSIGN_OR_RETURN(const bool more, Refill());
        if (!more) {
          return AtOffset(offset_, absl::StrCat("cut off: a message of ", size, " bytes has only ",
                                                message->size()));
        }
      }
      const size_t count = std::min(end_ - begin_, static_cast<size_t>(size) - message->size());
      message->append(buffer_, begin_, count);
      begin_ += count;
    }
    return true;
  }
  // Where the last message's length starts.
  int64_t offset() const { return offset_; }

 private:
  int64_t position() const { return source_->offset() - static_cast<int64_t>(end_ - begin_); }
  absl::StatusOr<bool> Refill() {
    begin_ = end_ = 0;
    ASSIGN_OR_RETURN(end_, source_->Read(buffer_.data(), buffer_.size()));
    return end_ > 0;
  }
  absl::StatusOr<int> NextByte() {
    if (begin_ == end_) {
      ASSIGN_OR_RETURN(const bool more, Refill());
      if (!more) return -1;
    }
    return static_cast<uint8_t>(buffer_[begin_++]);
  }

  ByteSource* source_;
  std::string buffer_;
  size_t begin_ = 0, end_ = 0;
  int64_t offset_ = 0;
};

class EtMessageSource final : public ChakraMessageSource {
 public:
  explicit EtMessageSource(ByteSource* source) : messages_(source) {}

  // Files of old converters have no metadata, but start with a node.
  absl::StatusOr<Kind> Next(ChakraProtoMsg::GlobalMetadata* metadata,
                            ChakraProtoMsg::Node* node) override {
    ASSIGN_OR_RETURN(const bool more, messages_.Next(&message_));
    if (!more) return Kind::kEnd;
    if (count_++ == 0) {
      if (metadata->ParseFromString(message_) && !HasNodeFields(*metadata)) return Kind::kMetadata;
      if (node->ParseFromString(message_)) return Kind::kNode;
      return AtOffset(0, "the first message is neither GlobalMetadata nor a Node");
    }
    if (message_.empty()) return AtOffset(messages_.offset(), "an empty message is no node");
    if (!node->ParseFromString(message_)) {
      return AtOffset(messages_.offset(),
                      absl::StrCat("message ", count_ - 1, " is no Node: damaged"));
    }
    return Kind::kNode;
  }
  int64_t offset() const override { return messages_.offset(); }

 private:
  MessageReader messages_;
  std::string message_;
  int64_t count_ = 0;
};

class ChakraFileReader {
 public:
  ChakraFileReader(ChakraMessageSource* messages, const ReadOptions& options, Ledger* ledger)
      : messages_(messages), options_(options), ledger_(ledger) {}
  absl::StatusOr<RankTrace> Read();

 private:
  using Kind = ChakraMessageSource::Kind;

  absl::Status ReadMetadata();
  absl::Status ReadNode();
  absl::Status AddNode();
  void AddEdges(const std::vector<uint64_t>& ctrl_deps, const std::vector<uint64_t>& data_deps,
                const std::vector<uint8_t>& data_dep_kinds);
  void AddFlaw(const char* rule, absl::string_view reason);
  void AddNodeFlaw(const char* rule, absl::string_view reason);
  void CheckForRepeats(absl::string_view kind, const std::vector<uint64_t>& dependencies);
  absl::Status CheckDangling(const std::vector<RankTraceBuilder::Dangling>& dangling,
                             const RankTrace& trace);
  absl::Status ShiftToBase(RankTrace* trace);
  void AddNotices();

  ChakraMessageSource* messages_;
  const ReadOptions& options_;
  Ledger* ledger_;
  ChakraProtoMsg::GlobalMetadata metadata_;
  ChakraProtoMsg::Node node_;
  ChakraFileInfo info_;
  RankTraceBuilder builder_;
  absl::flat_hash_map<uint64_t, uint32_t> index_by_id_;
  std::vector<int64_t> byte_offsets_;  // Of nodes.
  std::vector<uint32_t> records_;      // The same: place among the file's messages.
  int64_t sizeless_ = 0, peerless_ = 0;
  std::string cold_;
};

absl::Status ChakraFileReader::ReadMetadata() {
  std::vector<MessageFlaw> flaws;
  absl::StatusOr<ChakraFileInfo> info = DecodeMetadata(metadata_, options_, &flaws);
  if (!info.ok()) {
    return Annotate(info.status(),
                    absl::StrCat("byte offset ", messages_->offset(), ": GlobalMetadata"));
  }
  for (const MessageFlaw& flaw : flaws) {
    AddFlaw(flaw.rule, absl::StrCat("GlobalMetadata: ", flaw.reason));
  }
  info_ = *std::move(info);
  builder_.header().queues = info_.queues;
  ledger_->Merge("global_metadata");
  return absl::OkStatus();
}

// Of the message that is being read.
void ChakraFileReader::AddFlaw(const char* rule, absl::string_view reason) {
  ledger_->AddFlaw(rule, ledger_->input_records, messages_->offset(), reason);
}

void ChakraFileReader::AddNodeFlaw(const char* rule, absl::string_view reason) {
  AddFlaw(rule,
          absl::StrCat("node ", node_.id(), " (", ValidUtf8(node_.name(), 100), "): ", reason));
}

absl::Status ChakraFileReader::ReadNode() {
  const absl::Status added = AddNode();
  if (added.ok()) return added;
  return Annotate(added, absl::StrCat("byte offset ", messages_->offset(), ", node ", node_.id(),
                                      " (", node_.name().substr(0, 100), ")"));
}

// Feeders that count entries wait for ever on one that is there twice.
void ChakraFileReader::CheckForRepeats(absl::string_view kind,
                                       const std::vector<uint64_t>& dependencies) {
  if (dependencies.size() < 2) return;
  std::vector<uint64_t> sorted = dependencies;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end()) return;
  AddNodeFlaw("duplicate_dependency", absl::StrCat(kind, ": ", *twice, " is there twice"));
}

// Of the newest node.
void ChakraFileReader::AddEdges(const std::vector<uint64_t>& ctrl_deps,
                                const std::vector<uint64_t>& data_deps,
                                const std::vector<uint8_t>& data_dep_kinds) {
  const uint32_t node = builder_.size() - 1;
  for (const uint64_t dependency : ctrl_deps) {
    builder_.AddEdgeById(node, dependency, EdgeKind::kControl);
  }
  for (size_t i = 0; i < data_deps.size(); ++i) {
    const uint8_t kinds = data_dep_kinds.empty() ? 1 : data_dep_kinds[i];
    for (int kind = 0; kind < kEdgeKindsCount; ++kind) {
      if ((kinds >> kind & 1) == 0) continue;
      builder_.AddEdgeById(node, data_deps[i], static_cast<EdgeKind>(kind));
    }
  }
}

absl::Status ChakraFileReader::AddNode() {
  const auto [it, added] = index_by_id_.emplace(node_.id(), builder_.size());
  if (!added) {
    const std::string what = absl::StrCat(
        "id: ", node_.id(), " is used twice, first at byte offset ", byte_offsets_[it->second]);
    if (!options_.lenient) {
      return absl::InvalidArgumentError(absl::StrCat(what, " (--lenient leaves the second out)"));
    }
    ledger_->Reject("duplicate_node_id", ledger_->input_records, messages_->offset(), what);
    return absl::OkStatus();
  }
  if (builder_.size() >= kMaxRecords) {
    return absl::InvalidArgumentError(absl::StrCat("more than ", kMaxRecords, " nodes"));
  }
  ASSIGN_OR_RETURN(const DecodedNode decoded, DecodeNode(node_, options_, &info_));
  for (const MessageFlaw& flaw : decoded.flaws) AddNodeFlaw(flaw.rule, flaw.reason);
  NodeSpec spec;
  spec.id = node_.id();
  spec.type = decoded.type;
  spec.flags = decoded.flags;
  const std::string name = node_.name();
  spec.name = name;
  spec.queue = decoded.queue;
  spec.start_ns = decoded.start_ns;
  spec.dur_ns = decoded.dur_ns;
  spec.work_ns = decoded.work_ns;
  spec.gap_ns = decoded.gap_ns;
  if (decoded.has_comm) spec.comm = &decoded.comm;
  if (decoded.has_work_size) spec.work_size = &decoded.work_size;
  const CommOp& comm = decoded.comm;
  const bool collective = decoded.type == NodeType::kCommColl;
  if (decoded.has_comm && !decoded.states_bytes &&
      !(collective && comm.collective == CollectiveType::kBarrier)) {
    ++sizeless_;
  }
  if (decoded.has_comm && !collective && comm.peer == kNoRank) ++peerless_;
  std::vector<uint64_t> ctrl_deps(node_.ctrl_deps().begin(), node_.ctrl_deps().end());
  const std::vector<uint64_t> data_deps(node_.data_deps().begin(), node_.data_deps().end());
  // PyTorch's root is its own parent, and Chakra's older converters kept that.
  if (std::erase(ctrl_deps, node_.id()) > 0) {
    AddNodeFlaw("self_control_dependency", "ctrl_deps: the node names itself; dropped");
  }
  CheckForRepeats("ctrl_deps", ctrl_deps);
  CheckForRepeats("data_deps", data_deps);
  ReduceToCold(decoded.added, &node_);
  cold_.clear();
  node_.AppendToString(&cold_);
  spec.cold = cold_;
  builder_.AddNode(spec);
  AddEdges(ctrl_deps, data_deps, decoded.data_dep_kinds);
  byte_offsets_.push_back(messages_->offset());
  records_.push_back(static_cast<uint32_t>(ledger_->input_records));
  ledger_->Keep();
  return absl::OkStatus();
}

// Chakra's own feeder ignores ctrl_deps, and its converter leaves two that name no
// node in every file: those are left out even when strict.
absl::Status ChakraFileReader::CheckDangling(
    const std::vector<RankTraceBuilder::Dangling>& dangling, const RankTrace& trace) {
  std::string listed;
  int64_t missing = 0;
  for (const auto& [node, dependency_id, kind] : dangling) {
    const bool control = kind == EdgeKind::kControl;
    const std::string what =
        absl::StrCat(EdgeKindName(kind), " dependency ", dependency_id, " is not in the file");
    if (control || options_.lenient) {
      ledger_->AddFlaw(control ? "missing_control_dependency" : "missing_dependency",
                       records_[node], byte_offsets_[node],
                       absl::StrCat(DescribeNode(trace, node), ": ", what));
    } else if (++missing <= kListedMissing) {
      absl::StrAppend(&listed, missing == 1 ? "" : "; ", DescribeNode(trace, node),
                      " at byte offset ", byte_offsets_[node], ": ", what);
    }
  }
  if (missing == 0) return absl::OkStatus();
  if (missing > kListedMissing) {
    absl::StrAppend(&listed, "; ", missing, " such dependencies in all");
  }
  return absl::InvalidArgumentError(
      absl::StrCat(listed, " (--lenient leaves such dependencies out)"));
}

// Other tools may give starts from 1970: counted from the first one then.
absl::Status ChakraFileReader::ShiftToBase(RankTrace* trace) {
  int64_t first_ns = INT64_MAX, last_ns = 0;
  for (int64_t start_ns : trace->start_ns) {
    if (start_ns == kUnknownNs) continue;
    first_ns = std::min(first_ns, start_ns);
    last_ns = std::max(last_ns, start_ns);
  }
  if (first_ns == INT64_MAX) return absl::OkStatus();
  if (last_ns - first_ns > kMaxRecordingNs) {
    const std::string what = absl::StrCat("start_time_micros: the nodes start over ",
                                          last_ns - first_ns, " ns, more than ", kMaxRecordingNs);
    if (!options_.lenient) return absl::InvalidArgumentError(what);
    ledger_->AddFlaw("time_out_of_range", -1, -1, absl::StrCat(what, ": no start is used"));
    std::fill(trace->start_ns.begin(), trace->start_ns.end(), kUnknownNs);
    return absl::OkStatus();
  }
  if (first_ns <= kMaxRecordingNs / 9) return absl::OkStatus();
  int64_t base_ns;
  if (__builtin_add_overflow(trace->base_unix_ns, first_ns, &base_ns)) {
    return absl::InvalidArgumentError("chakrad.base_unix_ns: does not fit 63 bits");
  }
  trace->base_unix_ns = base_ns;
  for (int64_t& start_ns : trace->start_ns) {
    if (start_ns != kUnknownNs) start_ns -= first_ns;
  }
  return absl::OkStatus();
}

void ChakraFileReader::AddNotices() {
  if (sizeless_ > 0) {
    ledger_->notices.push_back(absl::StrCat(
        sizeless_, " communication nodes state neither comm_size nor tensor_size: 0 bytes"));
  }
  if (peerless_ > 0) {
    ledger_->notices.push_back(
        absl::StrCat(peerless_, " sends and receives state no comm_dst or comm_src"));
  }
}

absl::StatusOr<RankTrace> ChakraFileReader::Read() {
  ASSIGN_OR_RETURN(Kind kind, messages_->Next(&metadata_, &node_));
  if (kind == Kind::kEnd) return AtOffset(0, "the file is empty");
  if (kind == Kind::kMetadata) {
    RETURN_IF_ERROR(ReadMetadata());
    ASSIGN_OR_RETURN(kind, messages_->Next(&metadata_, &node_));
  } else {
    ledger_->notices.push_back("the file has no GlobalMetadata: it starts with a node");
  }
  while (kind == Kind::kNode) {
    RETURN_IF_ERROR(ReadNode());
    ASSIGN_OR_RETURN(kind, messages_->Next(&metadata_, &node_));
  }
  if (builder_.size() == 0) {
    return AtOffset(messages_->offset(), "the file holds GlobalMetadata, but no nodes");
  }
  RankTrace& header = builder_.header();
  header.schema = info_.schema;
  header.rank = info_.rank;
  header.base_unix_ns = info_.base_unix_ns;
  header.groups = info_.groups;
  header.file_cold = info_.cold;
  std::vector<RankTraceBuilder::Dangling> dangling;
  ASSIGN_OR_RETURN(RankTrace trace, builder_.Build(&dangling));
  RETURN_IF_ERROR(CheckDangling(dangling, trace));
  RETURN_IF_ERROR(ShiftToBase(&trace));
  AddNotices();
  return trace;
}

}  // namespace

absl::StatusOr<RankTrace> ReadChakraMessages(ChakraMessageSource* source,
                                             const ReadOptions& options, Ledger* ledger) {
  return ChakraFileReader(source, options, ledger).Read();
}

absl::StatusOr<RankTrace> ReadChakraEt(ByteSource* source, const ReadOptions& options,
                                       Ledger* ledger) {
  EtMessageSource messages(source);
  return ReadChakraMessages(&messages, options, ledger);
}

}  // namespace chakrad
