#include <gtest/gtest.h>

#include "sim/network/analytical.h"
#include "sim/network/path_model.h"
#include "sim/network/topology.h"

namespace chakrad {
namespace {

SystemDescription System(std::vector<NetworkDim> dims) {
  SystemDescription system;
  system.dims = std::move(dims);
  return system;
}

int64_t MessageDelayPs(const SystemDescription& system, int32_t src, int32_t dst, int64_t bytes) {
  return PathModel(&system).DelayPs(src, dst, static_cast<double>(bytes));
}

NetworkDim Dim(TopologyKind kind, int32_t npus_count, double bandwidth, double latency_ns) {
  return NetworkDim{kind, npus_count, BytesPerNsOfGibPerSec(bandwidth), latency_ns};
}

TEST(TopologyTest, HopsFollowTheKind) {
  EXPECT_EQ(HopsCount(Dim(TopologyKind::kFullyConnected, 8, 1, 1), 0, 5), 1);
  EXPECT_EQ(HopsCount(Dim(TopologyKind::kSwitch, 8, 1, 1), 0, 5), 2);
  EXPECT_EQ(HopsCount(Dim(TopologyKind::kRing, 8, 1, 1), 0, 5), 3);
  EXPECT_EQ(HopsCount(Dim(TopologyKind::kRing, 8, 1, 1), 7, 0), 1);
  EXPECT_EQ(HopsCount(Dim(TopologyKind::kRing, 8, 1, 1), 0, 4), 4);
  EXPECT_EQ(HopsCount(Dim(TopologyKind::kSwitch, 8, 1, 1), 3, 3), 0);
}

TEST(TopologyTest, DimensionZeroVariesFastest) {
  const Topology topology({Dim(TopologyKind::kRing, 4, 1, 1), Dim(TopologyKind::kSwitch, 2, 1, 1),
                           Dim(TopologyKind::kRing, 3, 1, 1)});
  EXPECT_EQ(topology.npus_count(), 24);
  // 23 = 3 + 4 * (1 + 2 * 2).
  EXPECT_EQ(topology.coordinate(23, 0), 3);
  EXPECT_EQ(topology.coordinate(23, 1), 1);
  EXPECT_EQ(topology.coordinate(23, 2), 2);
  EXPECT_EQ(topology.FirstDifferingDim(0, 4), 1);
  EXPECT_EQ(topology.FirstDifferingDim(0, 5), 0);
  EXPECT_EQ(topology.FirstDifferingDim(9, 9), 3);
}

TEST(AnalyticalNetworkTest, ADelayIsLatencyPlusBytesOverBandwidth) {
  // 50 GB/s is 50 * 2^30 / 1e9 = 53.6870912 B/ns. 1 MiB: 1048576 / 53.687.. = 19531.25 ns;
  // one hop of 500 ns: 20031.25, cut to 20031.
  const SystemDescription ring = System({Dim(TopologyKind::kRing, 4, 50, 500)});
  EXPECT_EQ(MessageDelayPs(ring, 0, 1, 1 << 20), 20'031'000);
  EXPECT_EQ(MessageDelayPs(ring, 0, 2, 1 << 20), 20'531'000);
  EXPECT_EQ(MessageDelayPs(ring, 0, 1, 0), 500'000);
  EXPECT_EQ(MessageDelayPs(ring, 2, 2, 1 << 20), 0);
}

TEST(AnalyticalNetworkTest, HalvingTheBandwidthDoublesTheBandwidthTerm) {
  const SystemDescription fast = System({Dim(TopologyKind::kSwitch, 4, 50, 0)});
  const SystemDescription slow = System({Dim(TopologyKind::kSwitch, 4, 25, 0)});
  const int64_t bytes = int64_t{1} << 30;  // 2^30 / 50 GiB/s = 20 ms.
  EXPECT_EQ(MessageDelayPs(fast, 0, 1, bytes), 20'000'000'000);
  EXPECT_EQ(MessageDelayPs(slow, 0, 1, bytes), 40'000'000'000);
}

TEST(AnalyticalNetworkTest, OnlyTheLowestDifferingDimensionCosts) {
  const SystemDescription topology =
      System({Dim(TopologyKind::kRing, 4, 50, 500), Dim(TopologyKind::kSwitch, 2, 1, 9000)});
  EXPECT_EQ(MessageDelayPs(topology, 0, 5, 0), 500'000);
  EXPECT_EQ(MessageDelayPs(topology, 0, 4, 0), 18'000'000);
}

TEST(AnalyticalNetworkTest, ADelayBeyondAllTimeIsBounded) {
  const SystemDescription topology = System({Dim(TopologyKind::kRing, 2, 1e-300, 500)});
  EventQueue queue;
  const auto network = MakeAnalyticalNetwork(&topology, &queue);
  network->Send(0, 0, 1, int64_t{1} << 50, EventTag{0, 0, 0});
  Event event;
  ASSERT_TRUE(queue.Pop(&event));
  EXPECT_GT(event.at_ps, int64_t{1} << 58);
}

}  // namespace
}  // namespace chakrad
