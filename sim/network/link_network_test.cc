// The link back end.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include "sim/engine/semantics.h"
#include "sim/network/links.h"
#include "sim/network/path_model.h"
#include "sim/network/test_network.h"

namespace chakrad {
namespace {

constexpr int64_t kNs = 1000;
using Times = std::vector<int64_t>;

SystemDescription LinkSystem(Semantics semantics, std::vector<NetworkDim> dims) {
  SystemDescription system = PhysicalSystem(std::move(dims));
  system.semantics = semantics;
  system.back_end = NetworkBackEnd::kLink;
  return system;
}
SystemDescription Astra(std::vector<NetworkDim> dims) {
  return LinkSystem(Semantics::kAstra, std::move(dims));
}
SystemDescription Physical(std::vector<NetworkDim> dims) {
  return LinkSystem(Semantics::kPhysical, std::move(dims));
}

// "dim:src>dst" of each link that carried something.
std::set<std::string> Names(const TestRun& run) {
  std::set<std::string> names;
  for (const LinkUse& use : run.uses) {
    names.insert(std::to_string(use.dim) + ":" + std::to_string(use.src) + ">" +
                 std::to_string(use.dst));
  }
  return names;
}

TEST(LinkNetworkTest, AstraStoresAndForwards) {
  const TestRun run = RunMessages(Astra({UnitDim(TopologyKind::kRing, 8)}), {{0, 0, 3, 1000}});
  EXPECT_EQ(run.arrivals_ps, Times{3 * 1100 * kNs});
  EXPECT_EQ(Names(run), (std::set<std::string>{"0:0>1", "0:1>2", "0:2>3"}));
}

TEST(LinkNetworkTest, AstraCutsLatencyAndBytesTogetherAndTheLinksTimeAlone) {
  NetworkDim dim = UnitDim(TopologyKind::kRing, 4);
  dim.bytes_per_ns = 3;
  dim.latency_ns = 0.5;
  const TestRun run = RunMessages(Astra({dim}), {{0, 0, 1, 5}, {0, 0, 1, 5}});
  // trunc(0.5 + 5/3) = 2; the link is free after trunc(5/3) = 1.
  EXPECT_EQ(run.arrivals_ps, (Times{2 * kNs, 3 * kNs}));
}

TEST(LinkNetworkTest, AnAstraSwitchIsADeviceWithQueuesOnBothSides) {
  const TestRun run = RunMessages(Astra({UnitDim(TopologyKind::kSwitch, 4)}),
                                  {{0, 0, 3, 1000}, {0, 1, 3, 1000}, {0, 0, 2, 500}});
  // Up 1100 each; down to 3 one after the other; the third leaves NPU 0 at 1000 and is at the
  // switch at 1600.
  EXPECT_EQ(run.arrivals_ps, (Times{2200 * kNs, 3200 * kNs, 2200 * kNs}));
  EXPECT_EQ(Names(run), (std::set<std::string>{"0:0>-1", "0:1>-1", "0:-1>2", "0:-1>3"}));
  EXPECT_EQ(run.uses[1].dst, 3);
  EXPECT_EQ(run.uses[1].messages_count, 2);
  EXPECT_EQ(run.uses[1].bytes, 2000);
  EXPECT_EQ(run.uses[1].busy_ps, 2000 * kNs);
  EXPECT_EQ(run.uses[1].queue_ps, 1000 * kNs);
}

TEST(LinkNetworkTest, FullyConnectedHasALinkForEachPair) {
  for (const SystemDescription& system : {Astra({UnitDim(TopologyKind::kFullyConnected, 4)}),
                                          Physical({UnitDim(TopologyKind::kFullyConnected, 4)})}) {
    const TestRun run = RunMessages(system, {{0, 0, 1, 1000}, {0, 0, 2, 1000}, {0, 0, 1, 1000}});
    EXPECT_EQ(run.arrivals_ps, (Times{1100 * kNs, 1100 * kNs, 2100 * kNs}));
  }
}

TEST(LinkNetworkTest, AMeshGoesNotRoundAndATieOnARingGoesUp) {
  const auto names = [](TopologyKind kind, int32_t npus_count, int32_t src, int32_t dst) {
    return Names(RunMessages(Astra({UnitDim(kind, npus_count)}), {{0, src, dst, 1}}));
  };
  EXPECT_EQ(names(TopologyKind::kRing, 4, 3, 0), (std::set<std::string>{"0:3>0"}));
  EXPECT_EQ(names(TopologyKind::kMesh, 4, 3, 0),
            (std::set<std::string>{"0:3>2", "0:2>1", "0:1>0"}));
  EXPECT_EQ(names(TopologyKind::kRing, 4, 3, 1), (std::set<std::string>{"0:3>0", "0:0>1"}));
  EXPECT_EQ(names(TopologyKind::kRing, 4, 0, 3), (std::set<std::string>{"0:0>3"}));
  EXPECT_EQ(names(TopologyKind::kRing, 2, 1, 0), (std::set<std::string>{"0:1>0"}));
}

TEST(LinkNetworkTest, DimensionsAreTakenFromTheLowestOn) {
  const std::vector<NetworkDim> dims = {UnitDim(TopologyKind::kRing, 4),
                                        UnitDim(TopologyKind::kSwitch, 2),
                                        UnitDim(TopologyKind::kFullyConnected, 3)};
  // 0 -> 2 along the ring, -> 6 through the switch, -> 22 over a link.
  const std::set<std::string> way = {"0:0>1", "0:1>2", "1:2>-1", "1:-1>6", "2:6>22"};
  TestRun run = RunMessages(Astra(dims), {{0, 0, 22, 1000}});
  EXPECT_EQ(Names(run), way);
  EXPECT_EQ(run.arrivals_ps, Times{5 * 1100 * kNs});
  run = RunMessages(Physical(dims), {{0, 0, 22, 1000}});
  EXPECT_EQ(Names(run), way);
  EXPECT_EQ(run.arrivals_ps, Times{1500 * kNs});
}

TEST(LinkNetworkTest, PhysicalCutsThroughAndQueuesAtTheHead) {
  // NPU 0 -> 2 and 1 -> 2 share the link 1 > 2. The first's head is there at 100; the second has
  // begun at 50 and holds it until 1050.
  const TestRun run = RunMessages(Physical({UnitDim(TopologyKind::kRing, 5)}),
                                  {{0, 0, 2, 1000}, {50 * kNs, 1, 2, 1000}});
  EXPECT_EQ(run.arrivals_ps, (Times{2150 * kNs, 1150 * kNs}));
  EXPECT_EQ(run.uses[1].queue_ps, 950 * kNs);
}

TEST(LinkNetworkTest, ALastByteIsNotFasterThanTheSlowestLinkBeforeIt) {
  SystemDescription system = Physical({UnitDim(TopologyKind::kRing, 8)});
  system.link_overrides = {{0, 1, 2, 0.25, -1}, {0, 2, 3, 4, 7}};
  // At 1: from 0 to 1000, from 1 from 100 on at 1/4: to 4100; the rest only adds its latency.
  const TestRun run = RunMessages(system, {{0, 0, 3, 1000}, {0, 2, 3, 400}});
  EXPECT_EQ(run.arrivals_ps, (Times{4100 * kNs + 100 * kNs + 7 * kNs, 107 * kNs}));
  EXPECT_EQ(run.uses[2].busy_ps, 350 * kNs);  // 1400 bytes at 4 a nanosecond.
}

TEST(LinkNetworkTest, OverridesOfASwitchAreItsWaysUpAndDown) {
  SystemDescription system = Physical({UnitDim(TopologyKind::kSwitch, 4)});
  system.link_overrides = {{0, 1, -1, 0.5, -1}, {0, -1, 2, 0, 1000}};
  EXPECT_EQ(RunMessages(system, {{0, 1, 3, 1000}}).arrivals_ps, Times{2200 * kNs});
  EXPECT_EQ(RunMessages(system, {{0, 3, 1, 1000}}).arrivals_ps, Times{1200 * kNs});
  EXPECT_EQ(RunMessages(system, {{0, 3, 2, 1000}}).arrivals_ps, Times{2100 * kNs});
}

TEST(LinkNetworkTest, ThePortsFixedCostAndBucketAreTheFirstLinks) {
  SystemDescription system = Physical({UnitDim(TopologyKind::kRing, 4)});
  system.dims[0].bytes_per_ns = 10;
  system.dims[0].message_ns = 20;
  system.dims[0].bucket = {1, 1000};
  // First byte at 20, last at 20 + 100 or, tokens short by 1000, 20 + 1000; two hops. The second
  // begins at 1020 and finds the bucket empty.
  const TestRun run = RunMessages(system, {{0, 0, 2, 2000}, {0, 0, 1, 100}, {0, 1, 2, 10}});
  EXPECT_EQ(run.arrivals_ps, (Times{1220 * kNs, 1020 * kNs + 20 * kNs + 80 * kNs + 100 * kNs,
                                    20 * kNs + kNs + 100 * kNs}));
}

// Random systems, physical: what nothing disturbs takes DelayPs in both back ends. Astra: as many
// truncated delays as hops.
TEST(LinkNetworkTest, AnIdlePathCostsTheSameInBothBackEnds) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    std::vector<NetworkDim> dims(1 + random() % 3);
    for (NetworkDim& dim : dims) {
      dim.topology = static_cast<TopologyKind>(random() % 4);
      dim.npus_count = 1 + random() % 6;
      dim.bytes_per_ns = 0.1 * (1 + random() % 1000);
      dim.latency_ns = 0.37 * (random() % 3000);
      dim.message_ns = 0.11 * (random() % 100);
    }
    SystemDescription system = Physical(dims);
    const int32_t npus_count = static_cast<int32_t>(NpusCount(system));
    const int32_t src = random() % npus_count, dst = random() % npus_count;
    const double bytes = random() % 10'000'000 / 7.0;
    if (random() % 2 == 0) {
      for (int i = 0; i < 5; ++i) {
        const int32_t npu = random() % npus_count;
        const int32_t dim = random() % dims.size();
        system.link_overrides.push_back(
            {dim, npu, -1, 0.5 * (1 + random() % 20), i % 2 == 0 ? -1 : 10.0 * i});
      }
    }
    const int64_t want_ps = PathModel(&system).DelayPs(src, dst, bytes);
    EXPECT_EQ(RunMessages(system, {{7, src, dst, bytes}}).arrivals_ps, Times{7 + want_ps})
        << "seed " << seed << ", " << DescribeTopology(system);
    system.back_end = NetworkBackEnd::kAnalytical;
    EXPECT_EQ(RunMessages(system, {{7, src, dst, bytes}}).arrivals_ps, Times{7 + want_ps});
  }
}

// Any messages at all: nothing is lost, no link is faster than it is, and bytes over all links are
// the messages' bytes times their hops.
TEST(LinkNetworkTest, BytesAreConservedAndLinksKeepTheirRate) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const std::vector<NetworkDim> dims = {
        UnitDim(static_cast<TopologyKind>(random() % 4), 1 + random() % 5),
        UnitDim(static_cast<TopologyKind>(random() % 4), 1 + random() % 5)};
    for (const SystemDescription& system : {Astra(dims), Physical(dims)}) {
      const Topology topology(dims);
      std::vector<TestMessage> messages;
      double hop_bytes = 0;
      for (int i = 0; i < 100; ++i) {
        const int32_t src = random() % topology.npus_count();
        const int32_t dst = random() % topology.npus_count();
        messages.push_back({static_cast<int64_t>(i) * 50 * kNs, src, dst, double(random() % 2000)});
        for (int dim = 0; dim < 2; ++dim) {
          hop_bytes += messages.back().bytes * HopsCount(dims[dim], topology.coordinate(src, dim),
                                                         topology.coordinate(dst, dim));
        }
      }
      const TestRun run = RunMessages(system, messages);
      int64_t last_ps = 0;
      for (size_t i = 0; i < messages.size(); ++i) {
        EXPECT_GE(run.arrivals_ps[i], messages[i].at_ps);
        last_ps = std::max(last_ps, run.arrivals_ps[i]);
      }
      double carried = 0;
      for (const LinkUse& use : run.uses) {
        carried += use.bytes;
        EXPECT_EQ(use.busy_ps, static_cast<int64_t>(use.bytes) * kNs);  // 1 byte a nanosecond.
        EXPECT_LE(use.busy_ps, last_ps);
      }
      EXPECT_EQ(carried, hop_bytes) << "seed " << seed;
    }
  }
}

// Each link of any way has a number of its own, and its ends are where the message was and went.
TEST(LinksTest, WaysAreMadeOfLinksThatFitTogether) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    std::vector<NetworkDim> dims(1 + random() % 4);
    for (NetworkDim& dim : dims) {
      dim = UnitDim(static_cast<TopologyKind>(random() % 4), 1 + random() % 5);
    }
    const Topology topology(dims);
    const Links links(&topology, true);
    for (int32_t src = 0; src < topology.npus_count(); src += 3) {
      for (int32_t dst = 0; dst < topology.npus_count(); dst += 2) {
        Hop hop{0, 0, src};
        for (int32_t at = src; at != dst; at = hop.place) {
          hop = links.Next(at, hop.dim, dst);
          ASSERT_LT(hop.link, links.count());
          const LinkEnds ends = links.EndsOf(hop.link);
          EXPECT_EQ(ends.dim, hop.dim);
          EXPECT_EQ(ends.src, at < 0 ? -1 : at);
          EXPECT_EQ(ends.dst, hop.place < 0 ? -1 : hop.place);
        }
      }
    }
  }
}

}  // namespace
}  // namespace chakrad
