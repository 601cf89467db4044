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
// and a token bucket (sender.h) may hold the last byte, and so the link, longer. Fully connected,
// each pair has a link, so a port and a bucket, of its own. A link fed more slowly than it sends is
// held for its own m/bandwidth only: others' bytes fit in the gaps.
//
// Order. Events at one time run in the order in which they were pushed, and what comes to a link
// at one time is served in the order of those events. Physical: a message comes to its first link
// when it is sent, to the next when its head has got there; that event is pushed when it comes to
// the link before. Astra: exactly ASTRA-sim's order, on which contended runs depend: when a link
// starts a message, the message's arrival at the other end is pushed and then the event that frees
// the link; that one starts the message that has waited longest. So a message that waits has its
// arrival pushed when its turn comes, and one that comes to a link at the time at which it gets
// free, but before that event, waits for it.
#ifndef CHAKRAD_SIM_NETWORK_LINK_NETWORK_H_
#define CHAKRAD_SIM_NETWORK_LINK_NETWORK_H_

#include <memory>

#include "sim/network/network.h"

namespace chakrad {

// Events a message: one for each link of its way (astra: two), and one when it is sent later than
// now. Memory: about 50 bytes a link (sim/limits.h bounds their count), 40 a message in flight.
// Both arguments must outlive the network.
std::unique_ptr<Network> MakeLinkNetwork(const SystemDescription* system, EventQueue* queue);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_NETWORK_LINK_NETWORK_H_
