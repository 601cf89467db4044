// The issue rule: what a node occupies while it runs. Of what it occupies, a rank has
// one; ready nodes that wait for the same take it in ascending order of id.
#ifndef CHAKRAD_SIM_WORKLOAD_ISSUE_RULE_H_
#define CHAKRAD_SIM_WORKLOAD_ISSUE_RULE_H_

#include <cstdint>

#include "trace/model/types.h"

namespace chakrad {

enum class Resource : uint8_t {
  kHost = 0,        // Host compute.
  kDevice = 1,      // Device compute.
  kComm = 2,        // Collectives and sends: two of a rank never overlap.
  kNoResource = 3,  // Receives, memory nodes; and nodes that take no time.
};
inline constexpr int kResourcesCount = 3;

inline Resource ResourceOf(NodeType type, bool is_host) {
  switch (type) {
    case NodeType::kComp:
      return is_host ? Resource::kHost : Resource::kDevice;
    case NodeType::kCommSend:
    case NodeType::kCommColl:
      return Resource::kComm;
    default:
      return Resource::kNoResource;
  }
}

}  // namespace chakrad

#endif  // CHAKRAD_SIM_WORKLOAD_ISSUE_RULE_H_
