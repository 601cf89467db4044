// The congestion-unaware networks: a message costs what an idle network would take.
//
// Astra: messages never wait for each other.
//
// Physical: messages share the sender's port, nothing else. An NPU has a port for each dimension
// (ring and mesh: two, one each way); a message uses the one of its first hop. It begins when it
// has come to the port and the port has sent what came before; the port is its own for
// PathModel::PortPs, and its last byte arrives PathModel::DelayPs after it began. Where the port
// has a token bucket (sender.h), message_ns passes before the first byte leaves; the port is held
// until the last one has left, and that one arrives the path's latency later, if that is later.
// Messages come to a port in the order of the times at which they are sent; at equal times, in
// the order of events.
#ifndef CHAKRAD_SIM_NETWORK_ANALYTICAL_H_
#define CHAKRAD_SIM_NETWORK_ANALYTICAL_H_

#include <memory>

#include "sim/network/network.h"

namespace chakrad {

// One event a message; physical: two when it is sent later than now. LinkUses: physical, of the
// ports, named as the link they send on (switch and fully connected: {src, -1}); astra, messages
// and bytes of each NPU and dimension as {src, -1}, nothing else. Both arguments must outlive the
// network.
std::unique_ptr<Network> MakeAnalyticalNetwork(const SystemDescription* system, EventQueue* queue);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_NETWORK_ANALYTICAL_H_
