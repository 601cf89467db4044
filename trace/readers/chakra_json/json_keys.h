// Keys of chakrad's own layout of Chakra's JSON form: one place for reader and
// writer. None is one of PyTorch's or Kineto's.
#ifndef CHAKRAD_TRACE_READERS_CHAKRA_JSON_JSON_KEYS_H_
#define CHAKRAD_TRACE_READERS_CHAKRA_JSON_JSON_KEYS_H_

namespace chakrad {

inline constexpr char kJsonMetadataKey[] = "chakra_metadata";  // Its GlobalMetadata.
inline constexpr char kJsonNodesKey[] = "chakra_nodes";        // A list of its Nodes.
// Of a node: its whole message in base64, which stands over the other keys.
inline constexpr char kJsonMessageKey[] = "chakrad.message";
// Not ours: the list of nodes in the JSON that Chakra's feeder reads.
inline constexpr char kWorkloadGraphKey[] = "workload_graph";

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_CHAKRA_JSON_JSON_KEYS_H_
