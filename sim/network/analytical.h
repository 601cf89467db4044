// The congestion-unaware network: a message costs what an idle network would take.
#ifndef CHAKRAD_SIM_NETWORK_ANALYTICAL_H_
#define CHAKRAD_SIM_NETWORK_ANALYTICAL_H_

#include <memory>

#include "sim/network/network.h"

namespace chakrad {

// A message takes PathModel::DelayPs. Astra: messages never wait for each other. Both
// arguments must outlive the network.
std::unique_ptr<Network> MakeAnalyticalNetwork(const SystemDescription* system, EventQueue* queue);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_NETWORK_ANALYTICAL_H_
