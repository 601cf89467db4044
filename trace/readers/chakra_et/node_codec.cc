#include "trace/readers/chakra_et/node_codec.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/model/attributes.h"
#include "trace/readers/chakra_et/attribute_value.h"
#include "trace/readers/chakra_et/collective_name.h"
#include "trace/readers/limits.h"

namespace chakrad {
namespace {

using ChakraProtoMsg::AttributeProto;
using ChakraProtoMsg::Node;

constexpr int64_t kNsPerUs = 1000;
// Keys that attr::kAdded may list: the writer adds about ten.
constexpr int kMaxAdded = 64;
constexpr int kMaxDims = 32;  // Bits of CommOp::involved_dims.

// The known attributes of a node by key, each checked for its type; and what to do
// about those that are wrong.
class Attributes {
 public:
  Attributes(const ReadOptions& options, std::vector<MessageFlaw>* flaws)
      : options_(options), flaws_(flaws) {}

  absl::Status Index(const Node& node) {
    for (const AttributeProto& attribute : node.attr()) {
      const AttributeInfo* info = FindAttribute(attribute.name(), AttributeScope::kNode);
      if (info == nullptr) continue;
      const absl::Status type = CheckAttributeType(attribute, *info);
      if (!type.ok()) {
        RETURN_IF_ERROR(FaultOf(RuleOfAttribute(attribute, *info), type));
      } else if (Find(attribute.name()) != nullptr) {
        RETURN_IF_ERROR(FaultOf("duplicate_attribute", absl::InvalidArgumentError(absl::StrCat(
                                                           attribute.name(), ": is there twice"))));
      } else {
        found_.push_back(&attribute);
      }
    }
    return absl::OkStatus();
  }

  const AttributeProto* Find(absl::string_view key) const {
    for (const AttributeProto* attribute : found_) {
      if (attribute->name() == std::string_view(key.data(), key.size())) return attribute;
    }
    return nullptr;
  }
  bool Has(absl::string_view key) const { return Find(key) != nullptr; }

  // Leaves `*value` alone when the attribute is missing, or wrong and that is a flaw.
  absl::Status Int(absl::string_view key, int64_t low, int64_t high, int64_t* value) {
    const AttributeProto* attribute = Find(key);
    if (attribute == nullptr) return absl::OkStatus();
    return Ignore(key, ReadInteger(*attribute, low, high, value));
  }
  bool Bool(absl::string_view key, bool otherwise) const {
    const AttributeProto* attribute = Find(key);
    bool value = otherwise;
    if (attribute != nullptr) GetBool(*attribute, &value);
    return value;
  }
  std::vector<int64_t> Ints(absl::string_view key) const {
    const AttributeProto* attribute = Find(key);
    std::vector<int64_t> values;
    if (attribute != nullptr) GetIntegers(*attribute, &values);
    return values;
  }

  // What to do about a fault: return it, or enter it as a flaw.
  absl::Status FaultOf(const char* rule, const absl::Status& fault) {
    if (fault.ok() || !options_.lenient) return fault;
    AddFlaw(rule, std::string(fault.message()));
    return absl::OkStatus();
  }
  // The same of an attribute's value; as a flaw, the attribute is missing from now on.
  absl::Status Ignore(absl::string_view key, const absl::Status& fault) {
    if (fault.ok()) return fault;
    RETURN_IF_ERROR(FaultOf("attribute_range", fault));
    found_.erase(std::find(found_.begin(), found_.end(), Find(key)));
    return absl::OkStatus();
  }
  void AddFlaw(const char* rule, std::string reason) {
    flaws_->push_back({rule, std::move(reason)});
  }

 private:
  const ReadOptions& options_;
  std::vector<MessageFlaw>* flaws_;
  std::vector<const AttributeProto*> found_;
};

absl::Status OutOfRange(absl::string_view key, int64_t value, int64_t low, int64_t high) {
  return absl::InvalidArgumentError(
      absl::StrCat(key, ": ", value, " is not in [", low, ", ", high, "]"));
}

absl::Status MicrosToNs(absl::string_view field, uint64_t micros, int64_t* ns) {
  if (micros > static_cast<uint64_t>(INT64_MAX / kNsPerUs)) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ": ", micros, " is above ", INT64_MAX / kNsPerUs));
  }
  *ns = static_cast<int64_t>(micros) * kNsPerUs;
  return absl::OkStatus();
}

absl::Status DecodeTimes(const Node& node, Attributes* attributes, DecodedNode* decoded) {
  const auto micros = [&](absl::string_view field, uint64_t value, int64_t* ns) {
    return attributes->FaultOf("time_out_of_range", MicrosToNs(field, value, ns));
  };
  if (node.start_time_micros() != 0) {
    RETURN_IF_ERROR(micros("start_time_micros", node.start_time_micros(), &decoded->start_ns));
  }
  RETURN_IF_ERROR(micros("duration_micros", node.duration_micros(), &decoded->dur_ns));
  // A memory node of a hand-written workload has a size and no time: the
  // machine's memory decides.
  if (IsMemory(decoded->type) && decoded->dur_ns == 0 && attributes->Has(attr::kTensorSize)) {
    decoded->dur_ns = kUnknownNs;
  }
  decoded->work_ns = decoded->dur_ns;
  RETURN_IF_ERROR(attributes->Int(attr::kStartNs, kUnknownNs, INT64_MAX, &decoded->start_ns));
  RETURN_IF_ERROR(attributes->Int(attr::kDurNs, kUnknownNs, INT64_MAX, &decoded->dur_ns));
  RETURN_IF_ERROR(attributes->Int(attr::kWorkNs, kUnknownNs, INT64_MAX, &decoded->work_ns));
  RETURN_IF_ERROR(attributes->Int(attr::kGapNs, 0, kMaxRecordingNs, &decoded->gap_ns));
  for (auto [key, ns] :
       {std::pair{"duration", &decoded->dur_ns}, std::pair{attr::kWorkNs, &decoded->work_ns}}) {
    if (*ns <= kMaxRecordingNs) continue;
    RETURN_IF_ERROR(
        attributes->FaultOf("time_out_of_range", OutOfRange(key, *ns, 0, kMaxRecordingNs)));
    *ns = kUnknownNs;
  }
  return absl::OkStatus();
}

absl::Status DecodeQueue(Attributes* attributes, const ChakraFileInfo& info, DecodedNode* decoded) {
  const bool on_host = attributes->Bool(attr::kIsCpuOp, false);
  if (attributes->Bool(attr::kHostOp, on_host)) decoded->flags |= RankTrace::kHostOp;
  if (attributes->Bool(attr::kAnnotation, false)) decoded->flags |= RankTrace::kAnnotation;
  Queue& queue = decoded->queue;
  if (on_host) {
    RETURN_IF_ERROR(attributes->Int(attr::kTid, INT64_MIN, INT64_MAX, &queue.raw_id));
  } else {
    queue.kind = Queue::Kind::kDeviceStream;
    queue.device = 0;
    RETURN_IF_ERROR(attributes->Int(attr::kStream, INT64_MIN, INT64_MAX, &queue.raw_id));
  }
  int64_t index = -1;
  RETURN_IF_ERROR(
      attributes->Int(attr::kQueue, 0, static_cast<int64_t>(info.queues.size()) - 1, &index));
  if (index >= 0) queue = info.queues[static_cast<size_t>(index)];
  return absl::OkStatus();
}

absl::Status DecodeInvolvedDims(Attributes* attributes, CommOp* comm) {
  const AttributeProto* attribute = attributes->Find(attr::kInvolvedDim);
  if (attribute == nullptr || attribute->bool_list().values().empty()) return absl::OkStatus();
  const auto& dims = attribute->bool_list().values();
  if (dims.size() > kMaxDims) {
    return attributes->Ignore(attr::kInvolvedDim, absl::InvalidArgumentError(absl::StrCat(
                                                      attr::kInvolvedDim, ": ", dims.size(),
                                                      " dimensions are more than 32")));
  }
  comm->involved_dims = 0;
  for (int dim = 0; dim < dims.size(); ++dim) {
    if (dims[dim]) comm->involved_dims |= uint32_t{1} << dim;
  }
  return absl::OkStatus();
}

// [type, bytes, peer, priority, tag, involved_dims]
absl::Status OverrideComm(Attributes* attributes, DecodedNode* decoded) {
  if (!attributes->Has(attr::kCommFields)) return absl::OkStatus();
  const std::vector<int64_t> fields = attributes->Ints(attr::kCommFields);
  if (fields.size() != 6 || fields[0] < 0 || fields[0] >= kCollectiveTypesCount || fields[1] < 0 ||
      fields[2] < kNoRank || fields[2] > INT32_MAX || fields[3] < INT32_MIN ||
      fields[3] > INT32_MAX || fields[5] < 0 || fields[5] > UINT32_MAX) {
    return attributes->Ignore(
        attr::kCommFields,
        absl::InvalidArgumentError(
            absl::StrCat(attr::kCommFields, ": is not type, bytes, peer, priority, tag, dims")));
  }
  CommOp& comm = decoded->comm;
  comm.collective = static_cast<CollectiveType>(fields[0]);
  comm.bytes = fields[1];
  comm.peer = static_cast<int32_t>(fields[2]);
  comm.priority = static_cast<int32_t>(fields[3]);
  comm.tag = fields[4];
  comm.involved_dims = static_cast<uint32_t>(fields[5]);
  decoded->states_bytes = true;
  return absl::OkStatus();
}

absl::Status DecodeGroup(Attributes* attributes, ChakraFileInfo* info, CommOp* comm) {
  int64_t index = -2;
  RETURN_IF_ERROR(
      attributes->Int(attr::kCommGroup, -1, static_cast<int64_t>(info->groups.size()) - 1, &index));
  if (index >= 0) comm->group = static_cast<uint32_t>(index);
  const AttributeProto* name = attributes->Find(attr::kPgName);
  if (index == -2 && name != nullptr && !name->string_val().empty()) {
    comm->group = info->FindGroup(name->string_val());
  }
  return absl::OkStatus();
}

// False: lenient, and nothing tells which collective it is.
absl::StatusOr<bool> DecodeCommType(const Node& node, Attributes* attributes, CommOp* comm) {
  int64_t type = -1;
  RETURN_IF_ERROR(attributes->Int(attr::kCommType, 0, kCollectiveTypesCount - 1, &type));
  if (type >= 0) {
    comm->collective = static_cast<CollectiveType>(type);
    return true;
  }
  if (attributes->Has(attr::kCommFields)) return true;
  const std::optional<CollectiveType> told = CollectiveOfName(node.name());
  if (told.has_value()) {
    comm->collective = *told;
    attributes->AddFlaw("comm_type_missing",
                        absl::StrCat("comm_type: missing on a COMM_COLL_NODE; its name says ",
                                     CollectiveTypeName(*told)));
    return true;
  }
  RETURN_IF_ERROR(attributes->FaultOf(
      "comm_type_missing",
      absl::InvalidArgumentError("comm_type: missing on a COMM_COLL_NODE, and its name does not "
                                 "tell the collective; with --lenient it is a METADATA_NODE")));
  return false;
}

absl::Status DecodeComm(const Node& node, Attributes* attributes, ChakraFileInfo* info,
                        DecodedNode* decoded) {
  decoded->has_comm = true;
  CommOp& comm = decoded->comm;
  int64_t peer = kNoRank, priority = 0, root = kNoRank;
  if (decoded->type == NodeType::kCommColl) {
    ASSIGN_OR_RETURN(const bool told, DecodeCommType(node, attributes, &comm));
    if (!told) {
      decoded->type = NodeType::kMetadata;
      decoded->has_comm = false;
      return absl::OkStatus();
    }
  } else {
    const char* key = decoded->type == NodeType::kCommSend ? attr::kCommDst : attr::kCommSrc;
    RETURN_IF_ERROR(attributes->Int(key, 0, INT32_MAX, &peer));
    comm.peer = static_cast<int32_t>(peer);
  }
  // Chakra's own generator gives sends and receives a tensor_size instead.
  const char* size_key = attributes->Has(attr::kCommSize) ? attr::kCommSize : attr::kTensorSize;
  RETURN_IF_ERROR(attributes->Int(size_key, 0, INT64_MAX, &comm.bytes));
  decoded->states_bytes = attributes->Has(size_key);
  RETURN_IF_ERROR(attributes->Int(attr::kCommTag, INT64_MIN, INT64_MAX, &comm.tag));
  RETURN_IF_ERROR(attributes->Int(attr::kCommPriority, INT32_MIN, INT32_MAX, &priority));
  comm.priority = static_cast<int32_t>(priority);
  RETURN_IF_ERROR(attributes->Int(attr::kCommRoot, 0, INT32_MAX, &root));
  comm.root = static_cast<int32_t>(root);
  RETURN_IF_ERROR(DecodeInvolvedDims(attributes, &comm));
  RETURN_IF_ERROR(OverrideComm(attributes, decoded));
  return DecodeGroup(attributes, info, &comm);
}

absl::Status DecodeWorkSize(Attributes* attributes, DecodedNode* decoded) {
  WorkSize& size = decoded->work_size;
  RETURN_IF_ERROR(attributes->Int(attr::kNumOps, 0, INT64_MAX, &size.num_ops));
  RETURN_IF_ERROR(attributes->Int(attr::kTensorSize, 0, INT64_MAX, &size.tensor_bytes));
  if (attributes->Has(attr::kWorkFields)) {
    const std::vector<int64_t> fields = attributes->Ints(attr::kWorkFields);
    if (fields.size() == 2 && fields[0] >= 0 && fields[1] >= 0) {
      size = {fields[0], fields[1]};
    } else {
      RETURN_IF_ERROR(attributes->Ignore(
          attr::kWorkFields, absl::InvalidArgumentError(absl::StrCat(
                                 attr::kWorkFields, ": is not num_ops, tensor_bytes"))));
    }
  }
  decoded->has_work_size = attributes->Has(attr::kNumOps) || attributes->Has(attr::kTensorSize) ||
                           attributes->Has(attr::kWorkFields);
  return absl::OkStatus();
}

absl::Status ReadEdgeKinds(const Node& node, const std::vector<int64_t>& kinds,
                           std::vector<uint8_t>* data_dep_kinds) {
  constexpr int64_t kControlBit = int64_t{1} << static_cast<int>(EdgeKind::kControl);
  if (kinds.size() != static_cast<size_t>(node.data_deps_size())) {
    return absl::InvalidArgumentError(absl::StrCat(attr::kEdgeKinds, ": ", kinds.size(),
                                                   " entries for ", node.data_deps_size(),
                                                   " data_deps"));
  }
  for (int64_t mask : kinds) {
    if (mask < 1 || mask >= (int64_t{1} << kEdgeKindsCount) || (mask & kControlBit) != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(attr::kEdgeKinds, ": ", mask, " is no set of edge kinds"));
    }
    data_dep_kinds->push_back(static_cast<uint8_t>(mask));
  }
  return absl::OkStatus();
}

absl::Status DecodeEdgeKinds(const Node& node, Attributes* attributes, DecodedNode* decoded) {
  if (!attributes->Has(attr::kEdgeKinds)) return absl::OkStatus();
  const absl::Status read =
      ReadEdgeKinds(node, attributes->Ints(attr::kEdgeKinds), &decoded->data_dep_kinds);
  if (!read.ok()) decoded->data_dep_kinds.clear();
  return attributes->Ignore(attr::kEdgeKinds, read);
}

absl::Status DecodeType(const Node& node, Attributes* attributes, DecodedNode* decoded) {
  if (node.type() < 0 || node.type() >= kNodeTypesCount) {
    decoded->type = NodeType::kMetadata;
    return attributes->FaultOf("unknown_node_type", absl::InvalidArgumentError(absl::StrCat(
                                                        "type: ", static_cast<int>(node.type()),
                                                        " is not in [0, ", kNodeTypesCount, ")")));
  }
  decoded->type = static_cast<NodeType>(node.type());
  if (decoded->type == NodeType::kInvalid) {
    attributes->AddFlaw("unknown_node_type", "type: INVALID_NODE or missing; it takes no time");
  }
  return absl::OkStatus();
}

// A host operation that neither says which collective nor how much: converters of
// Chakra 0.0.4 give the calls of one (c10d::allreduce_) its node type too.
bool IsCallOfACollective(const Attributes& attributes, const DecodedNode& decoded) {
  return decoded.type == NodeType::kCommColl && (decoded.flags & RankTrace::kHostOp) != 0 &&
         !attributes.Has(attr::kCommType) && !attributes.Has(attr::kCommFields) &&
         !attributes.Has(attr::kCommSize) && !attributes.Has(attr::kTensorSize);
}

}  // namespace

absl::StatusOr<DecodedNode> DecodeNode(const Node& node, const ReadOptions& options,
                                       ChakraFileInfo* info) {
  DecodedNode decoded;
  if (static_cast<int64_t>(node.name().size()) > kMaxNameBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("name: ", node.name().size(), " bytes are more than ", kMaxNameBytes));
  }
  Attributes attributes(options, &decoded.flaws);
  RETURN_IF_ERROR(DecodeType(node, &attributes, &decoded));
  RETURN_IF_ERROR(attributes.Index(node));
  RETURN_IF_ERROR(DecodeTimes(node, &attributes, &decoded));
  RETURN_IF_ERROR(DecodeQueue(&attributes, *info, &decoded));
  RETURN_IF_ERROR(DecodeEdgeKinds(node, &attributes, &decoded));
  if (!attributes.Bool(attr::kNoSide, false)) {
    if (IsCallOfACollective(attributes, decoded)) {
      decoded.type = NodeType::kComp;
      attributes.AddFlaw("comm_type_missing",
                         "comm_type: missing on a COMM_COLL_NODE, and so is its size: the host's "
                         "call of a collective, a COMP_NODE");
    }
    RETURN_IF_ERROR(IsComm(decoded.type) ? DecodeComm(node, &attributes, info, &decoded)
                                         : DecodeWorkSize(&attributes, &decoded));
  }
  const AttributeProto* added = attributes.Find(attr::kAdded);
  if (added == nullptr) return decoded;
  const auto& keys = added->string_list().values();
  if (keys.size() > kMaxAdded) {
    RETURN_IF_ERROR(attributes.Ignore(
        attr::kAdded, absl::InvalidArgumentError(absl::StrCat(attr::kAdded, ": ", keys.size(),
                                                              " keys are more than ", kMaxAdded))));
  } else {
    decoded.added.assign(keys.begin(), keys.end());
  }
  return decoded;
}

void ReduceToCold(const std::vector<std::string>& added, Node* node) {
  node->clear_id();
  node->clear_name();
  node->clear_type();
  node->clear_ctrl_deps();
  node->clear_data_deps();
  node->clear_start_time_micros();
  node->clear_duration_micros();
  auto* attributes = node->mutable_attr();
  const auto last = std::remove_if(
      attributes->begin(), attributes->end(), [&added](const AttributeProto& attribute) {
        const std::string& key = attribute.name();
        if (key.rfind(attr::kOwnPrefix, 0) == 0) {
          return FindAttribute(key, AttributeScope::kNode) != nullptr;
        }
        return std::find(added.begin(), added.end(), key) != added.end();
      });
  attributes->erase(last, attributes->end());
}

}  // namespace chakrad
