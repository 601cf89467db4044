// The contract of attributes on Chakra nodes: every key that chakrad reads or
// writes, with its type, unit and meaning. Other keys pass through untouched. A
// known key may have any integer kind on the wire, but never another type.
#ifndef CHAKRAD_TRACE_MODEL_ATTRIBUTES_H_
#define CHAKRAD_TRACE_MODEL_ATTRIBUTES_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakrad {

enum class AttributeType : uint8_t {
  kInt,   // Any of the ten integer kinds; must fit an int64_t.
  kUint,  // The same, not negative; must fit a uint64_t.
  kBool,  // bool, or an integer 0 or 1.
  kString,
  kBoolList,
  kIntList,  // Any list of integers.
  kStringList,
};

enum class AttributeScope : uint8_t { kNode, kFile };  // Node.attr or GlobalMetadata.attr.

struct AttributeInfo {
  absl::string_view key;
  AttributeType type;
  AttributeScope scope;
  absl::string_view unit;  // "" where there is none.
  absl::string_view meaning;
};

namespace attr {

// Chakra's own, in the spelling of its feeder.
inline constexpr char kIsCpuOp[] = "is_cpu_op";
inline constexpr char kCommType[] = "comm_type";
inline constexpr char kCommSize[] = "comm_size";
inline constexpr char kCommSrc[] = "comm_src";
inline constexpr char kCommDst[] = "comm_dst";
inline constexpr char kCommTag[] = "comm_tag";
inline constexpr char kCommPriority[] = "comm_priority";
inline constexpr char kPgName[] = "pg_name";
inline constexpr char kInvolvedDim[] = "involved_dim";
inline constexpr char kNumOps[] = "num_ops";
inline constexpr char kTensorSize[] = "tensor_size";
inline constexpr char kStream[] = "stream";

// PyTorch's, as Chakra's converter writes them.
inline constexpr char kRfId[] = "rf_id";
inline constexpr char kFwParent[] = "fw_parent";
inline constexpr char kSeqId[] = "seq_id";
inline constexpr char kScope[] = "scope";
inline constexpr char kTid[] = "tid";
inline constexpr char kFwTid[] = "fw_tid";
inline constexpr char kOpSchema[] = "op_schema";
inline constexpr char kInputStrides[] = "input_strides";
inline constexpr char kOutputStrides[] = "output_strides";

// Ours. What a plain Chakra file cannot say; each stands over the plain fields
// and attributes of its node.
inline constexpr char kOwnPrefix[] = "chakrad.";
inline constexpr char kStartNs[] = "chakrad.start_ns";
inline constexpr char kDurNs[] = "chakrad.dur_ns";
inline constexpr char kWorkNs[] = "chakrad.work_ns";
inline constexpr char kGapNs[] = "chakrad.gap_ns";
inline constexpr char kAnnotation[] = "chakrad.annotation";
inline constexpr char kHostOp[] = "chakrad.host_op";
inline constexpr char kQueue[] = "chakrad.queue";
inline constexpr char kEdgeKinds[] = "chakrad.edge_kinds";
inline constexpr char kCommGroup[] = "chakrad.comm_group";
inline constexpr char kCommRoot[] = "chakrad.comm_root";
inline constexpr char kCommFields[] = "chakrad.comm_fields";
inline constexpr char kWorkFields[] = "chakrad.work_fields";
inline constexpr char kNoSide[] = "chakrad.no_side";
inline constexpr char kAdded[] = "chakrad.added";

// Of GlobalMetadata.
inline constexpr char kSchema[] = "schema";
inline constexpr char kFormat[] = "chakrad.format";
inline constexpr char kRank[] = "chakrad.rank";
inline constexpr char kBaseUnixNs[] = "chakrad.base_unix_ns";
inline constexpr char kQueues[] = "chakrad.queues";
inline constexpr char kGroups[] = "chakrad.groups";

}  // namespace attr

// The value of attr::kFormat that this version writes, and the newest it reads.
inline constexpr int64_t kAttributeFormat = 1;

// All of them, in the order above.
const std::vector<AttributeInfo>& KnownAttributes();
// Null for a key that is not known in this scope.
const AttributeInfo* FindAttribute(absl::string_view key, AttributeScope scope);
// "an integer", "a string", ...: for messages.
absl::string_view AttributeTypeName(AttributeType type);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_MODEL_ATTRIBUTES_H_
