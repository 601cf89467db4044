#include "trace/readers/chakra_et/node_codec.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/model/attributes.h"
#include "trace/readers/chakra_et/attribute_value.h"
#include "trace/readers/limits.h"

namespace chakrad {
namespace {

using ChakraProtoMsg::AttributeProto;
using ChakraProtoMsg::Node;

constexpr int64_t kNsPerUs = 1000;
// Keys that attr::kAdded may list: the writer adds about ten.
constexpr int kMaxAdded = 64;
constexpr int kMaxDims = 32;  // Bits of CommOp::involved_dims.

// The known attributes of a node by key, each checked for its type.
class Attributes {
 public:
  absl::Status Index(const Node& node) {
    for (const AttributeProto& attribute : node.attr()) {
      const AttributeInfo* info = FindAttribute(attribute.name(), AttributeScope::kNode);
      if (info == nullptr) continue;
      RETURN_IF_ERROR(CheckAttributeType(attribute, *info));
      if (Find(attribute.name()) != nullptr) {
        return absl::InvalidArgumentError(absl::StrCat(attribute.name(), ": is there twice"));
      }
      found_.push_back(&attribute);
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

  // Leaves `*value` alone when the attribute is missing.
  absl::Status Int(absl::string_view key, int64_t low, int64_t high, int64_t* value) const {
    const AttributeProto* attribute = Find(key);
    return attribute == nullptr ? absl::OkStatus() : ReadInteger(*attribute, low, high, value);
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

 private:
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

absl::Status DecodeTimes(const Node& node, const Attributes& attributes, DecodedNode* decoded) {
  if (node.start_time_micros() != 0) {
    RETURN_IF_ERROR(MicrosToNs("start_time_micros", node.start_time_micros(), &decoded->start_ns));
  }
  RETURN_IF_ERROR(MicrosToNs("duration_micros", node.duration_micros(), &decoded->dur_ns));
  // A memory node of a hand-written workload has a size and no time: the
  // machine's memory decides.
  if (IsMemory(decoded->type) && decoded->dur_ns == 0 && attributes.Has(attr::kTensorSize)) {
    decoded->dur_ns = kUnknownNs;
  }
  decoded->work_ns = decoded->dur_ns;
  RETURN_IF_ERROR(attributes.Int(attr::kStartNs, kUnknownNs, INT64_MAX, &decoded->start_ns));
  RETURN_IF_ERROR(attributes.Int(attr::kDurNs, kUnknownNs, INT64_MAX, &decoded->dur_ns));
  RETURN_IF_ERROR(attributes.Int(attr::kWorkNs, kUnknownNs, INT64_MAX, &decoded->work_ns));
  RETURN_IF_ERROR(attributes.Int(attr::kGapNs, 0, kMaxRecordingNs, &decoded->gap_ns));
  for (auto [key, ns] :
       {std::pair{"duration", decoded->dur_ns}, std::pair{attr::kWorkNs, decoded->work_ns}}) {
    if (ns > kMaxRecordingNs) return OutOfRange(key, ns, 0, kMaxRecordingNs);
  }
  return absl::OkStatus();
}

absl::Status DecodeQueue(const Attributes& attributes, const ChakraFileInfo& info,
                         DecodedNode* decoded) {
  const bool on_host = attributes.Bool(attr::kIsCpuOp, false);
  if (attributes.Bool(attr::kHostOp, on_host)) decoded->flags |= RankTrace::kHostOp;
  if (attributes.Bool(attr::kAnnotation, false)) decoded->flags |= RankTrace::kAnnotation;
  Queue& queue = decoded->queue;
  if (on_host) {
    RETURN_IF_ERROR(attributes.Int(attr::kTid, INT64_MIN, INT64_MAX, &queue.raw_id));
  } else {
    queue.kind = Queue::Kind::kDeviceStream;
    queue.device = 0;
    RETURN_IF_ERROR(attributes.Int(attr::kStream, INT64_MIN, INT64_MAX, &queue.raw_id));
  }
  int64_t index = -1;
  RETURN_IF_ERROR(
      attributes.Int(attr::kQueue, 0, static_cast<int64_t>(info.queues.size()) - 1, &index));
  if (index >= 0) queue = info.queues[static_cast<size_t>(index)];
  return absl::OkStatus();
}

absl::Status DecodeInvolvedDims(const Attributes& attributes, CommOp* comm) {
  const AttributeProto* attribute = attributes.Find(attr::kInvolvedDim);
  if (attribute == nullptr || attribute->bool_list().values().empty()) return absl::OkStatus();
  const auto& dims = attribute->bool_list().values();
  if (dims.size() > kMaxDims) {
    return absl::InvalidArgumentError(
        absl::StrCat(attr::kInvolvedDim, ": ", dims.size(), " dimensions are more than 32"));
  }
  comm->involved_dims = 0;
  for (int dim = 0; dim < dims.size(); ++dim) {
    if (dims[dim]) comm->involved_dims |= uint32_t{1} << dim;
  }
  return absl::OkStatus();
}

// [type, bytes, peer, priority, tag, involved_dims]
absl::Status OverrideComm(const Attributes& attributes, DecodedNode* decoded) {
  if (!attributes.Has(attr::kCommFields)) return absl::OkStatus();
  const std::vector<int64_t> fields = attributes.Ints(attr::kCommFields);
  if (fields.size() != 6 || fields[0] < 0 || fields[0] >= kCollectiveTypesCount || fields[1] < 0 ||
      fields[2] < kNoRank || fields[2] > INT32_MAX || fields[3] < INT32_MIN ||
      fields[3] > INT32_MAX || fields[5] < 0 || fields[5] > UINT32_MAX) {
    return absl::InvalidArgumentError(
        absl::StrCat(attr::kCommFields, ": is not type, bytes, peer, priority, tag, dims"));
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

absl::Status DecodeGroup(const Attributes& attributes, ChakraFileInfo* info, CommOp* comm) {
  int64_t index = -2;
  RETURN_IF_ERROR(
      attributes.Int(attr::kCommGroup, -1, static_cast<int64_t>(info->groups.size()) - 1, &index));
  if (index >= 0) comm->group = static_cast<uint32_t>(index);
  const AttributeProto* name = attributes.Find(attr::kPgName);
  if (index == -2 && name != nullptr && !name->string_val().empty()) {
    comm->group = info->FindGroup(name->string_val());
  }
  return absl::OkStatus();
}

absl::Status DecodeComm(const Attributes& attributes, ChakraFileInfo* info, DecodedNode* decoded) {
  decoded->has_comm = true;
  CommOp& comm = decoded->comm;
  int64_t type = -1, peer = kNoRank, priority = 0, root = kNoRank;
  if (decoded->type == NodeType::kCommColl) {
    RETURN_IF_ERROR(attributes.Int(attr::kCommType, 0, kCollectiveTypesCount - 1, &type));
    if (type < 0 && !attributes.Has(attr::kCommFields)) {
      return absl::InvalidArgumentError("comm_type: missing on a COMM_COLL_NODE");
    }
    if (type >= 0) comm.collective = static_cast<CollectiveType>(type);
  } else {
    const char* key = decoded->type == NodeType::kCommSend ? attr::kCommDst : attr::kCommSrc;
    RETURN_IF_ERROR(attributes.Int(key, 0, INT32_MAX, &peer));
    comm.peer = static_cast<int32_t>(peer);
  }
  // Chakra's own generator gives sends and receives a tensor_size instead.
  const char* size_key = attributes.Has(attr::kCommSize) ? attr::kCommSize : attr::kTensorSize;
  decoded->states_bytes = attributes.Has(size_key);
  RETURN_IF_ERROR(attributes.Int(size_key, 0, INT64_MAX, &comm.bytes));
  RETURN_IF_ERROR(attributes.Int(attr::kCommTag, INT64_MIN, INT64_MAX, &comm.tag));
  RETURN_IF_ERROR(attributes.Int(attr::kCommPriority, INT32_MIN, INT32_MAX, &priority));
  comm.priority = static_cast<int32_t>(priority);
  RETURN_IF_ERROR(attributes.Int(attr::kCommRoot, 0, INT32_MAX, &root));
  comm.root = static_cast<int32_t>(root);
  RETURN_IF_ERROR(DecodeInvolvedDims(attributes, &comm));
  RETURN_IF_ERROR(OverrideComm(attributes, decoded));
  return DecodeGroup(attributes, info, &comm);
}

absl::Status DecodeWorkSize(const Attributes& attributes, DecodedNode* decoded) {
  WorkSize& size = decoded->work_size;
  decoded->has_work_size = attributes.Has(attr::kNumOps) || attributes.Has(attr::kTensorSize) ||
                           attributes.Has(attr::kWorkFields);
  RETURN_IF_ERROR(attributes.Int(attr::kNumOps, 0, INT64_MAX, &size.num_ops));
  RETURN_IF_ERROR(attributes.Int(attr::kTensorSize, 0, INT64_MAX, &size.tensor_bytes));
  if (!attributes.Has(attr::kWorkFields)) return absl::OkStatus();
  const std::vector<int64_t> fields = attributes.Ints(attr::kWorkFields);
  if (fields.size() != 2 || fields[0] < 0 || fields[1] < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(attr::kWorkFields, ": is not num_ops, tensor_bytes"));
  }
  size = {fields[0], fields[1]};
  return absl::OkStatus();
}

absl::Status DecodeEdgeKinds(const Node& node, const Attributes& attributes, DecodedNode* decoded) {
  if (!attributes.Has(attr::kEdgeKinds)) return absl::OkStatus();
  const std::vector<int64_t> kinds = attributes.Ints(attr::kEdgeKinds);
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
    decoded->data_dep_kinds.push_back(static_cast<uint8_t>(mask));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DecodedNode> DecodeNode(const Node& node, ChakraFileInfo* info) {
  DecodedNode decoded;
  if (node.type() < 0 || node.type() >= kNodeTypesCount) {
    return absl::InvalidArgumentError(absl::StrCat("type: ", static_cast<int>(node.type()),
                                                   " is not in [0, ", kNodeTypesCount, ")"));
  }
  if (static_cast<int64_t>(node.name().size()) > kMaxNameBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("name: ", node.name().size(), " bytes are more than ", kMaxNameBytes));
  }
  decoded.type = static_cast<NodeType>(node.type());
  Attributes attributes;
  RETURN_IF_ERROR(attributes.Index(node));
  RETURN_IF_ERROR(DecodeTimes(node, attributes, &decoded));
  RETURN_IF_ERROR(DecodeQueue(attributes, *info, &decoded));
  RETURN_IF_ERROR(DecodeEdgeKinds(node, attributes, &decoded));
  if (!attributes.Bool(attr::kNoSide, false)) {
    RETURN_IF_ERROR(IsComm(decoded.type) ? DecodeComm(attributes, info, &decoded)
                                         : DecodeWorkSize(attributes, &decoded));
  }
  if (const AttributeProto* added = attributes.Find(attr::kAdded)) {
    if (added->string_list().values_size() > kMaxAdded) {
      return absl::InvalidArgumentError(absl::StrCat(attr::kAdded, ": ",
                                                     added->string_list().values_size(),
                                                     " keys are more than ", kMaxAdded));
    }
    decoded.added.assign(added->string_list().values().begin(),
                         added->string_list().values().end());
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
