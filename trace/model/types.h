// The enumerations that every part of the pipeline shares. The numbers of
// NodeType and CollectiveType are those of Chakra's et_def.proto.
#ifndef CHAKRAD_TRACE_MODEL_TYPES_H_
#define CHAKRAD_TRACE_MODEL_TYPES_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace chakrad {

enum class NodeType : uint8_t {
  kInvalid = 0,
  kMetadata = 1,  // Carries no work: annotations, process and thread roots.
  kMemLoad = 2,
  kMemStore = 3,
  kComp = 4,
  kCommSend = 5,
  kCommRecv = 6,
  kCommColl = 7,
};
inline constexpr int kNodeTypesCount = 8;

enum class CollectiveType : uint8_t {
  kAllReduce = 0,
  kReduce = 1,
  kAllGather = 2,
  kGather = 3,
  kScatter = 4,
  kBroadcast = 5,
  kAllToAll = 6,
  kReduceScatter = 7,
  kReduceScatterBlock = 8,
  kBarrier = 9,
};
inline constexpr int kCollectiveTypesCount = 10;

// Why one node waits for another. All kinds mean the same to a simulator: the
// dependency has finished before the dependent starts.
enum class EdgeKind : uint8_t {
  kData = 0,         // Recorded: data_deps of a Chakra file.
  kControl = 1,      // Recorded: ctrl_deps of a Chakra file, or call nesting.
  kThreadOrder = 2,  // Linked: the operation before it on the same host thread.
  kLaunch = 3,       // Linked: the host operation that launched a device operation.
  kStreamOrder = 4,  // Linked: the operation before it on the same device stream.
  kSync = 5,         // Linked: stream, event or device synchronisation; a wait for a collective.
  kForwardBackward = 6,  // Linked: autograd's forward operation of a backward one.
};
inline constexpr int kEdgeKindsCount = 7;

// "COMP_NODE", "COMM_COLL_NODE", ...: Chakra's spelling.
absl::string_view NodeTypeName(NodeType type);
// "ALL_REDUCE", ...: Chakra's spelling.
absl::string_view CollectiveTypeName(CollectiveType type);
// "data", "control", "thread_order", ...
absl::string_view EdgeKindName(EdgeKind kind);

inline bool IsComm(NodeType type) {
  return type == NodeType::kCommSend || type == NodeType::kCommRecv || type == NodeType::kCommColl;
}
inline bool IsMemory(NodeType type) {
  return type == NodeType::kMemLoad || type == NodeType::kMemStore;
}

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_MODEL_TYPES_H_
