// The congestion-aware network: every link sends one message at a time, first come, first
// served. Routes and links: links.h.
//
// Astra: store and forward. A message of m bytes that comes to a link at t starts at
// s = max(t, when the link is free), is at the other end at s + trunc(latency + m/bandwidth), and
// leaves the link free at s + trunc(m/bandwidth). A switch is a device of its own between a link
// up and a link down, on both of which messages queue. As ASTRA-sim's congestion-aware back end,
// which knows one dimension only and no ring of two.
//
// Physical: cut-through. The head of a message that comes to a link at t starts at
// s = max(t, when the link is free) and is at the other end a latency later, where it goes on; the
// link is free at s + m/bandwidth. The last byte has left at max(s + m/bandwidth, when it came to
// the link): it cannot overtake, and over an idle path it takes PathModel::DelayPs. The first
// link is the sender's port: message_ns passes there before the head leaves (the link is held),
// and a token bucket (sender.h) may hold the last byte, and so the link, longer. A link fed more
// slowly than it sends is held for its own m/bandwidth only: others' bytes fit in the gaps.
//
// Order. A message comes to its first link when it is sent, to the next when it (its head) has
// got there; messages that come to a link at one time are served in the order of those events.
#ifndef CHAKRAD_SIM_NETWORK_LINK_NETWORK_H_
#define CHAKRAD_SIM_NETWORK_LINK_NETWORK_H_

#include <memory>

#include "sim/network/network.h"

namespace chakrad {

// An event a link of a message's way, and one more when it is sent later than now. Memory: 40
// bytes a link (sim/limits.h bounds their count), 48 a message in flight. Both arguments must
// outlive the network.
std::unique_ptr<Network> MakeLinkNetwork(const SystemDescription* system, EventQueue* queue);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_NETWORK_LINK_NETWORK_H_
