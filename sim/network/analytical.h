// The congestion-unaware network: a message costs what an idle network would take.
#ifndef CHAKRAD_SIM_NETWORK_ANALYTICAL_H_
#define CHAKRAD_SIM_NETWORK_ANALYTICAL_H_

#include <memory>

#include "sim/network/network.h"
#include "sim/network/topology.h"

namespace chakrad {

// A message takes hops * latency + bytes / bandwidth, rounded as RoundDelayPs does, in
// the lowest dimension in which its ends differ; further differing dimensions are free,
// as in ASTRA-sim. The bytes are paid once, however many the hops, and messages never
// wait for each other. Both arguments must outlive the network.
std::unique_ptr<Network> MakeAnalyticalNetwork(const Topology* topology, EventQueue* queue);

// The delay itself.
int64_t MessageDelayPs(const Topology& topology, int32_t src, int32_t dst, int64_t bytes);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_NETWORK_ANALYTICAL_H_
