// The machine on which the ground truth was measured, as a system file of ours.
//
// A star of hosts around a bridge; token buckets limit both directions of each host's link, to
// `rate` with a burst worth 200 us (480 us above 500 Mbit/s). Both are in bytes on the wire,
// frames of MTU + 14. What follows from the protocols, for any rate and MTU:
//   rate, burst     times the share of payload: of a full frame MTU - 52 bytes (IP and TCP headers
//                   with time stamps) are payload, and gloo's traffic runs both ways at once, so
//                   each second frame is answered by an acknowledgement of 66 bytes:
//                   (MTU - 52) / (MTU + 14 + 33). 0.936 at MTU 1500, 0.989 at 9000.
//   buckets         the one at the sender. The second, at the switch's port to the receiver, gets
//                   traffic that the first has shaped already, and holds nothing up unless two
//                   hosts send to one.
//   bandwidth       12 Gbit/s: the most that the hosts reach where nothing limits the links.
//                   It shows within a burst only.
//   latency         35 us for each of the two hops: in sum the measured round trip of 0.06 to
//                   0.08 ms, since a receiver first tells the sender that it is ready.
//   endpoint delay  the time of 324 bytes at `rate`: gloo sends each step of a ring as two
//                   segments, each with a header of 48 bytes, after a notice that the receiver is
//                   ready (a frame of 114).
//   algorithms      gloo's: rings; an all-to-all directly; a broadcast down a binomial tree, whole
//                   messages, of which the root's leave one after the other here.
// What is calibrated, once for each number of hosts, with the rows of 4 KiB at 100 Mbit/s
// (ground_truth --calibrate 100 does it again):
//   message cost    kMessageCostUs. All hosts share two cores, so it grows with their number.
#ifndef CHAKRAD_TESTS_VALIDATION_FABRIC_H_
#define CHAKRAD_TESTS_VALIDATION_FABRIC_H_

#include <string>

#include "common/status.h"
#include "sim/system/system_description.h"
#include "tests/validation/ground_truth_rows.h"

namespace chakrad {

// The calibrated message cost. INVALID_ARGUMENT unless there are 2 or 4 hosts.
absl::StatusOr<double> MessageCostUs(int32_t hosts_count);

// Its text, for people and ParseSystemYaml. fabric.rate_mbit > 0.
std::string FabricYaml(const Fabric& fabric, double message_cost_us);

absl::StatusOr<SystemDescription> FabricSystem(const Fabric& fabric, double message_cost_us);

}  // namespace chakrad

#endif  // CHAKRAD_TESTS_VALIDATION_FABRIC_H_
