#include "trace/model/attributes.h"

namespace chakrad {
namespace {

using enum AttributeType;

constexpr AttributeScope kNode = AttributeScope::kNode;
constexpr AttributeScope kFile = AttributeScope::kFile;

std::vector<AttributeInfo> PlainAttributes() {
  return {
      {attr::kIsCpuOp, kBool, kNode, "", "Runs on the host. Missing: on a device."},
      {attr::kCommType, kInt, kNode, "", "CollectiveType of a COMM_COLL_NODE, required there."},
      {attr::kCommSize, kUint, kNode, "bytes", "CommOp::bytes."},
      {attr::kCommSrc, kInt, kNode, "rank",
       "Global rank that sends; the peer of a COMM_RECV_NODE."},
      {attr::kCommDst, kInt, kNode, "rank",
       "Global rank that receives; the peer of a "
       "COMM_SEND_NODE."},
      {attr::kCommTag, kInt, kNode, "", "Matches a send with its receive."},
      {attr::kCommPriority, kInt, kNode, "", "CommOp::priority."},
      {attr::kPgName, kString, kNode, "",
       "Name of the process group; empty or missing: not named."},
      {attr::kInvolvedDim, kBoolList, kNode, "",
       "Network dimensions that a collective may use; "
       "missing or empty: all."},
      {attr::kNumOps, kUint, kNode, "operations", "WorkSize::num_ops."},
      {attr::kTensorSize, kUint, kNode, "bytes", "WorkSize::tensor_bytes."},
      {attr::kStream, kInt, kNode, "", "Device stream that the node runs on. Missing: 0."},

      {attr::kRfId, kUint, kNode, "", "Record-function id; 0: none."},
      {attr::kFwParent, kUint, kNode, "node id", "Forward operation of a backward one; 0: none."},
      {attr::kSeqId, kInt, kNode, "", "Autograd's sequence number; -1: none."},
      {attr::kScope, kUint, kNode, "", "0 operator, 1 backward function, 7 user annotation."},
      {attr::kTid, kInt, kNode, "", "Host thread that the node runs on. Missing: 0."},
      {attr::kFwTid, kUint, kNode, "", "Thread of the forward operation; 0: none."},
      {attr::kOpSchema, kString, kNode, "", "The operator's signature."},
      {attr::kInputStrides, kString, kNode, "elements", "Strides of the inputs, as JSON."},
      {attr::kOutputStrides, kString, kNode, "elements", "Strides of the outputs, as JSON."},
  };
}

std::vector<AttributeInfo> OwnAttributes() {
  return {
      {attr::kStartNs, kInt, kNode, "ns",
       "RankTrace::start_ns where start_time_micros times 1,000 "
       "is another; -1: unknown."},
      {attr::kDurNs, kInt, kNode, "ns",
       "RankTrace::dur_ns where duration_micros times 1,000 is "
       "another; -1: unknown."},
      {attr::kWorkNs, kInt, kNode, "ns",
       "RankTrace::work_ns where duration_micros times 1,000 is "
       "another; -1: unknown."},
      {attr::kGapNs, kInt, kNode, "ns", "RankTrace::gap_ns; missing: 0."},
      {attr::kAnnotation, kBool, kNode, "", "RankTrace::kAnnotation; missing: false."},
      {attr::kHostOp, kBool, kNode, "", "RankTrace::kHostOp where is_cpu_op says another thing."},
      {attr::kQueue, kInt, kNode, "",
       "Index into chakrad.queues where tid or stream name another "
       "queue."},
      {attr::kEdgeKinds, kIntList, kNode, "",
       "One entry for each of data_deps: bit k set for an "
       "edge of EdgeKind k. Missing: all are data edges."},
      {attr::kCommGroup, kInt, kNode, "",
       "Index into chakrad.groups where pg_name names another; "
       "-1: no group."},
      {attr::kCommRoot, kInt, kNode, "rank", "CommOp::root; missing: none."},
      {attr::kCommFields, kIntList, kNode, "",
       "Type, bytes, peer, priority, tag and involved_dims "
       "of CommOp, where the plain attributes say another "
       "thing."},
      {attr::kWorkFields, kIntList, kNode, "",
       "num_ops and tensor_bytes of WorkSize, where the "
       "plain attributes say another thing."},
      {attr::kNoSide, kBool, kNode, "",
       "The node has no CommOp or WorkSize, whatever the plain "
       "attributes say."},
      {attr::kAdded, kStringList, kNode, "",
       "Plain attributes that the writer added for other "
       "tools: not of the input."},

      {attr::kSchema, kString, kFile, "", "Schema of the file that the trace was recorded in."},
      {attr::kFormat, kInt, kFile, "", "Version of chakrad's own attributes: 1."},
      {attr::kRank, kInt, kFile, "rank", "RankTrace::rank; -1: unknown."},
      {attr::kBaseUnixNs, kInt, kFile, "ns", "RankTrace::base_unix_ns."},
      {attr::kQueues, kIntList, kFile, "", "Kind, device and raw id of every queue."},
      {attr::kGroups, kStringList, kFile, "",
       "Every process group as JSON: name, description, "
       "ranks."},
  };
}

std::vector<AttributeInfo> MakeAttributes() {
  std::vector<AttributeInfo> all = PlainAttributes();
  for (const AttributeInfo& own : OwnAttributes()) all.push_back(own);
  return all;
}

}  // namespace

const std::vector<AttributeInfo>& KnownAttributes() {
  static const std::vector<AttributeInfo>& attributes =
      *new std::vector<AttributeInfo>(MakeAttributes());
  return attributes;
}

const AttributeInfo* FindAttribute(absl::string_view key, AttributeScope scope) {
  for (const AttributeInfo& info : KnownAttributes()) {
    if (info.scope == scope && info.key == key) return &info;
  }
  return nullptr;
}

absl::string_view AttributeTypeName(AttributeType type) {
  switch (type) {
    case kInt:
      return "an integer";
    case kUint:
      return "an integer that is not negative";
    case kBool:
      return "a bool";
    case kString:
      return "a string";
    case kBoolList:
      return "a list of bools";
    case kIntList:
      return "a list of integers";
    case kStringList:
      return "a list of strings";
  }
  return "";
}

}  // namespace chakrad
