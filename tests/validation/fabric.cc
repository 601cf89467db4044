#include "tests/validation/fabric.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/system/system_reader.h"

namespace chakrad {
namespace {

constexpr double kBytesPerUsOfMbit = 1.0 / 8;
constexpr int kHeaderBytes = 52;      // IP 20, TCP 20, its time stamps 12.
constexpr int kFrameBytes = 14;       // Ethernet.
constexpr int kHalfAckBytes = 33;     // A frame of 66 for each two of data.
constexpr int kGlooHeaderBytes = 48;  // Of each of its messages.
// Of a step of a ring: two segments, and a notice, which is a frame of a header, before each.
constexpr int kStepExtraBytes =
    2 * (kGlooHeaderBytes + kGlooHeaderBytes + kHeaderBytes + kFrameBytes);

struct MessageCost {
  int32_t hosts_count;
  double us;
};
constexpr MessageCost kMessageCostUs[] = {{2, 34}, {4, 107}};

}  // namespace

absl::StatusOr<double> MessageCostUs(int32_t hosts_count) {
  for (const MessageCost& cost : kMessageCostUs) {
    if (cost.hosts_count == hosts_count) return cost.us;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("world: ", hosts_count, " hosts were not calibrated, only 2 and 4"));
}

std::string FabricYaml(const Fabric& fabric, double message_cost_us) {
  const double share = static_cast<double>(fabric.mtu_bytes - kHeaderBytes) /
                       (fabric.mtu_bytes + kFrameBytes + kHalfAckBytes);
  const double burst_us = fabric.rate_mbit > 500 ? 480 : 200;
  return absl::StrFormat(
      R"(name: gloo over TCP between %d hosts, links of %g Mbit/s, MTU %d
network:
  dimensions:
    - topology: Switch
      npus: %d
      bandwidth: 12 Gbit/s
      latency: 35 us
      message_cost: %g us
      token_bucket: {rate: %.6f Mbit/s, burst: %.3f B}
      algorithms:
        all_reduce: ring
        all_gather: ring
        all_to_all: direct
        broadcast: halvingDoubling
collectives:
  chunks: 1
  endpoint_delay: %d ns
)",
      fabric.hosts_count, fabric.rate_mbit, fabric.mtu_bytes, fabric.hosts_count, message_cost_us,
      fabric.rate_mbit * share, fabric.rate_mbit * share * kBytesPerUsOfMbit * burst_us,
      static_cast<int>(1000 * kStepExtraBytes / (fabric.rate_mbit * kBytesPerUsOfMbit)));
}

absl::StatusOr<SystemDescription> FabricSystem(const Fabric& fabric, double message_cost_us) {
  return ParseSystemYaml(FabricYaml(fabric, message_cost_us));
}

}  // namespace chakrad
