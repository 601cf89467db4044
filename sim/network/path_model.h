// What a message costs on an idle network: the congestion-unaware part that every back end
// and every closed form shares.
#ifndef CHAKRAD_SIM_NETWORK_PATH_MODEL_H_
#define CHAKRAD_SIM_NETWORK_PATH_MODEL_H_

#include <cstdint>
#include <vector>

#include "sim/network/links.h"
#include "sim/network/topology.h"
#include "sim/system/system_description.h"

namespace chakrad {

// The way from one NPU to another, dimension by dimension from the lowest on.
// Astra: only the lowest dimension in which the two differ; others are free, as in ASTRA-sim.
// Physical: all of them.
struct Path {
  double latency_ns = 0;         // Sum over its hops.
  int64_t latency_ps = 0;        // The same, each hop's rounded to the nearest picosecond.
  int64_t message_ps = 0;        // Physical: fixed cost at the sender's port.
  double bytes_per_ns = 0;       // Of its slowest link; +inf when src == dst.
  double port_bytes_per_ns = 0;  // Of its first link, which is the sender's port.
  int dim = -1;                  // Of the first hop; -1 when src == dst.
};

// Immutable. Thread-safe. O(dimensions) a call; O(hops) where links differ from their dimension.
class PathModel {
 public:
  explicit PathModel(const SystemDescription* system);  // Must outlive it.

  const Topology& topology() const { return topology_; }
  Path PathOf(int32_t src, int32_t dst) const;
  // From when a message leaves an idle port until its last byte is there. Astra: trunc(hops *
  // latency + bytes / bandwidth). Physical (cut-through): message_ns + sum of latencies + bytes
  // / slowest bandwidth, where message_ns, each latency and the quotient are rounded to the
  // nearest picosecond, so that sums over hops are exact. At most kMaxDelayPs.
  int64_t DelayPs(int32_t src, int32_t dst, double bytes) const {
    return src == dst ? 0 : DelayPs(PathOf(src, dst), bytes);
  }
  int64_t DelayPs(const Path& path, double bytes) const;
  // How long it holds the sender's port. Astra: 0. Physical: message_ns + bytes / bandwidth of
  // the first link, each rounded to the nearest picosecond.
  int64_t PortPs(int32_t src, int32_t dst, double bytes) const {
    return src == dst ? 0 : PortPs(PathOf(src, dst), bytes);
  }
  int64_t PortPs(const Path& path, double bytes) const;
  // Whether all links of a dimension are alike.
  bool uniform() const { return constants_.uniform(); }

 private:
  struct DimCost {
    int64_t latency_ps = 0;
    int64_t message_ps = 0;
  };
  void AddDim(int dim, int32_t from, int32_t to_coordinate, Path* path) const;
  void AddLink(int dim, const Link& link, int64_t latency_ps, Path* path) const;

  const bool astra_;
  const Topology topology_;
  const LinkConstants constants_;
  std::vector<DimCost> dims_;
};

}  // namespace chakrad

#endif  // CHAKRAD_SIM_NETWORK_PATH_MODEL_H_
