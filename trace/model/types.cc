#include "trace/model/types.h"

namespace chakrad {

absl::string_view NodeTypeName(NodeType type) {
  switch (type) {
    case NodeType::kInvalid:
      return "INVALID_NODE";
    case NodeType::kMetadata:
      return "METADATA_NODE";
    case NodeType::kMemLoad:
      return "MEM_LOAD_NODE";
    case NodeType::kMemStore:
      return "MEM_STORE_NODE";
    case NodeType::kComp:
      return "COMP_NODE";
    case NodeType::kCommSend:
      return "COMM_SEND_NODE";
    case NodeType::kCommRecv:
      return "COMM_RECV_NODE";
    case NodeType::kCommColl:
      return "COMM_COLL_NODE";
  }
  return "UNKNOWN_NODE_TYPE";
}

absl::string_view CollectiveTypeName(CollectiveType type) {
  switch (type) {
    case CollectiveType::kAllReduce:
      return "ALL_REDUCE";
    case CollectiveType::kReduce:
      return "REDUCE";
    case CollectiveType::kAllGather:
      return "ALL_GATHER";
    case CollectiveType::kGather:
      return "GATHER";
    case CollectiveType::kScatter:
      return "SCATTER";
    case CollectiveType::kBroadcast:
      return "BROADCAST";
    case CollectiveType::kAllToAll:
      return "ALL_TO_ALL";
    case CollectiveType::kReduceScatter:
      return "REDUCE_SCATTER";
    case CollectiveType::kReduceScatterBlock:
      return "REDUCE_SCATTER_BLOCK";
    case CollectiveType::kBarrier:
      return "BARRIER";
  }
  return "UNKNOWN_COLLECTIVE_TYPE";
}

absl::string_view EdgeKindName(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::kData:
      return "data";
    case EdgeKind::kControl:
      return "control";
    case EdgeKind::kThreadOrder:
      return "thread_order";
    case EdgeKind::kLaunch:
      return "launch";
    case EdgeKind::kStreamOrder:
      return "stream_order";
    case EdgeKind::kSync:
      return "sync";
    case EdgeKind::kForwardBackward:
      return "forward_backward";
  }
  return "unknown_edge_kind";
}

}  // namespace chakrad
