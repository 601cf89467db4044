// Nodes of the JSON that Chakra's feeder reads, {"workload_graph": [{"Id", "Name",
// "NodeType", "is_cpu_op", "runtime", "data_deps", "tensor_size", "comm_type",
// "comm_priority", "comm_size", "comm_src", "comm_dst", "comm_tag"}, ...]}.
// Includes simdjson: for .cc files only.
#ifndef CHAKRAD_TRACE_READERS_CHAKRA_JSON_WORKLOAD_GRAPH_H_
#define CHAKRAD_TRACE_READERS_CHAKRA_JSON_WORKLOAD_GRAPH_H_

#include <simdjson.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "chakra/et_def.pb.h"

namespace chakrad {

// The same node as a message of a .et file, into an empty `node`. runtime is in
// microseconds; a fraction is kept to the nanosecond. A key that the feeder does
// not know becomes an attribute, if its value is a number, a bool or a string; one
// with another value is treated as MessageFromJson treats unknown keys.
absl::Status NodeFromWorkloadGraph(simdjson::dom::object object, ChakraProtoMsg::Node* node,
                                   std::vector<std::string>* unknown_keys);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_CHAKRA_JSON_WORKLOAD_GRAPH_H_
