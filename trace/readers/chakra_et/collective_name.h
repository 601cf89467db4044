// Which collective a node's name tells, where no attribute does.
#ifndef CHAKRAD_TRACE_READERS_CHAKRA_ET_COLLECTIVE_NAME_H_
#define CHAKRAD_TRACE_READERS_CHAKRA_ET_COLLECTIVE_NAME_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "trace/model/types.h"

namespace chakrad {

// "ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)", "c10d::broadcast_", "nccl:all_gather",
// "COMM_COLL_NODE_conv1_ALL_TO_ALL": the one collective whose name stands in it, whatever
// the case and the underscores. Nullopt when there is none or when there are several.
// Names of nodes that are known to be collectives; of others it proves nothing.
std::optional<CollectiveType> CollectiveOfName(absl::string_view name);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_CHAKRA_ET_COLLECTIVE_NAME_H_
