// The analytical back end, physical: what shares a port.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "sim/limits.h"
#include "sim/network/test_network.h"

namespace chakrad {
namespace {

constexpr int64_t kNs = 1000;
using Times = std::vector<int64_t>;

TEST(PortNetworkTest, APortSendsOneMessageAtATime) {
  const SystemDescription system = PhysicalSystem({UnitDim(TopologyKind::kSwitch, 4)});
  const TestRun run = RunMessages(system, {{0, 0, 1, 1000}, {0, 0, 2, 500}, {0, 3, 1, 1000}});
  // Two hops of 100 ns. The second waits for the first; the third has a port of its own, and
  // what comes down to NPU 1 is not shared.
  EXPECT_EQ(run.arrivals_ps, (Times{1200 * kNs, 1700 * kNs, 1200 * kNs}));
  ASSERT_EQ(run.uses.size(), 2u);
  EXPECT_EQ(run.uses[0].src, 0);
  EXPECT_EQ(run.uses[0].dst, -1);
  EXPECT_EQ(run.uses[0].messages_count, 2);
  EXPECT_EQ(run.uses[0].bytes, 1500);
  EXPECT_EQ(run.uses[0].busy_ps, 1500 * kNs);
  EXPECT_EQ(run.uses[0].queue_ps, 1000 * kNs);
}

TEST(PortNetworkTest, ARingHasAPortEachWayAndEachDimensionItsOwn) {
  const SystemDescription system =
      PhysicalSystem({UnitDim(TopologyKind::kRing, 4), UnitDim(TopologyKind::kMesh, 3)});
  const TestRun run =
      RunMessages(system, {{0, 0, 1, 1000}, {0, 0, 3, 1000}, {0, 0, 4, 1000}, {0, 0, 1, 1000}});
  EXPECT_EQ(run.arrivals_ps, (Times{1100 * kNs, 1100 * kNs, 1100 * kNs, 2100 * kNs}));
  ASSERT_EQ(run.uses.size(), 3u);
  EXPECT_EQ(run.uses[0].dst, 1);
  EXPECT_EQ(run.uses[1].dst, 3);
  EXPECT_EQ(run.uses[2].dim, 1);
  EXPECT_EQ(run.uses[2].dst, 4);
}

TEST(PortNetworkTest, FullyConnectedHasOnePort) {
  const SystemDescription system = PhysicalSystem({UnitDim(TopologyKind::kFullyConnected, 4)});
  const TestRun run = RunMessages(system, {{0, 0, 1, 1000}, {0, 0, 2, 1000}, {0, 0, 3, 1000}});
  EXPECT_EQ(run.arrivals_ps, (Times{1100 * kNs, 2100 * kNs, 3100 * kNs}));
}

TEST(PortNetworkTest, WhatLeavesLaterDoesNotHoldUpWhatLeavesSooner) {
  const SystemDescription system = PhysicalSystem({UnitDim(TopologyKind::kSwitch, 4)});
  const TestRun run = RunMessages(system, {{500 * kNs, 0, 1, 1000}, {0, 0, 2, 1000}});
  EXPECT_EQ(run.arrivals_ps, (Times{2200 * kNs, 1200 * kNs}));
}

TEST(PortNetworkTest, AMessageHasAFixedCostAtThePort) {
  SystemDescription system = PhysicalSystem({UnitDim(TopologyKind::kSwitch, 4)});
  system.dims[0].message_ns = 50;
  const TestRun run = RunMessages(system, {{0, 0, 1, 0}, {0, 0, 1, 1000}, {0, 0, 1, 0.5}});
  EXPECT_EQ(run.arrivals_ps, (Times{250 * kNs, 1300 * kNs, 1350 * kNs + 500}));
}

// Burst 1,000 bytes, 1 byte a nanosecond; the link takes 10.
TEST(PortNetworkTest, ABucketLetsABurstPassAndThenItsRate) {
  SystemDescription system = PhysicalSystem({UnitDim(TopologyKind::kSwitch, 4)});
  system.dims[0].bytes_per_ns = 10;
  system.dims[0].latency_ns = 0;
  system.dims[0].bucket = {1, 1000};
  const TestRun run = RunMessages(system, {{0, 0, 1, 1000},
                                           {0, 0, 2, 1000},
                                           {0, 3, 1, 2000},
                                           {2500 * kNs, 0, 1, 1000},
                                           {2500 * kNs, 0, 1, 1000}});
  // The first takes 100 ns, in which 100 tokens come; the second waits for 900 more. Another
  // port has a bucket of its own: (2000 - 1000) / 1. At 2500 the first is full again.
  EXPECT_EQ(run.arrivals_ps, (Times{100 * kNs, 1000 * kNs, 1000 * kNs, 2600 * kNs, 3500 * kNs}));
  EXPECT_EQ(run.uses[0].busy_ps, 2000 * kNs);
  EXPECT_EQ(run.uses[0].queue_ps, 200 * kNs);
}

TEST(PortNetworkTest, ABucketFasterThanItsLinkChangesNothing) {
  SystemDescription system = PhysicalSystem({UnitDim(TopologyKind::kSwitch, 4)});
  const std::vector<TestMessage> messages = {{0, 0, 1, 1000}, {10, 0, 2, 300}, {20, 0, 1, 7}};
  const Times without = RunMessages(system, messages).arrivals_ps;
  system.dims[0].bucket = {1.5, 100};
  EXPECT_EQ(RunMessages(system, messages).arrivals_ps, without);
}

// Tokens counted one message after the other, in floating point.
TEST(PortNetworkTest, BucketsAgreeWithCountedTokens) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    SystemDescription system = PhysicalSystem({UnitDim(TopologyKind::kSwitch, 2)});
    NetworkDim& dim = system.dims[0];
    dim.bytes_per_ns = 1 + random() % 20;
    dim.latency_ns = random() % 2 * 300;
    dim.message_ns = random() % 2 * 40;
    dim.bucket = {0.25 * (1 + random() % 100), double(random() % 100'000)};
    std::vector<TestMessage> messages;
    int64_t at_ps = 0;
    for (int i = 0; i < 30; ++i) {
      at_ps += random() % 3 == 0 ? random() % 50'000'000 : 0;
      messages.push_back({at_ps, 0, 1, double(random() % 50'000)});
    }
    const TestRun run = RunMessages(system, messages);
    double free_ns = 0, tokens = dim.bucket.burst_bytes, counted_at_ns = 0;
    for (size_t i = 0; i < messages.size(); ++i) {
      const double first_ns = std::max(free_ns, messages[i].at_ps / 1e3) + dim.message_ns;
      tokens = std::min(dim.bucket.burst_bytes,
                        tokens + (first_ns - counted_at_ns) * dim.bucket.bytes_per_ns);
      const double takes_ns = std::max(messages[i].bytes / dim.bytes_per_ns,
                                       (messages[i].bytes - tokens) / dim.bucket.bytes_per_ns);
      tokens = std::min(dim.bucket.burst_bytes,
                        tokens + takes_ns * dim.bucket.bytes_per_ns - messages[i].bytes);
      free_ns = counted_at_ns = first_ns + takes_ns;
      EXPECT_NEAR(run.arrivals_ps[i], (free_ns + 2 * dim.latency_ns) * 1e3, 40)
          << "seed " << seed << ", message " << i;
    }
  }
}

// Never more than burst + rate * t in any time t: from the first byte of one to the last of a
// later one.
TEST(PortNetworkTest, NoTimeSeesMoreThanTheBucketAllows) {
  std::mt19937 random(7);
  SystemDescription system = PhysicalSystem({UnitDim(TopologyKind::kSwitch, 2)});
  system.dims[0].latency_ns = 0;
  system.dims[0].bytes_per_ns = 8;
  system.dims[0].bucket = {2, 5000};
  std::vector<TestMessage> messages;
  int64_t at_ps = 0;
  for (int i = 0; i < 300; ++i) {
    at_ps += random() % 2'000'000;
    messages.push_back({at_ps, 0, 1, double(random() % 4000)});
  }
  const Times left_ps = RunMessages(system, messages).arrivals_ps;
  for (size_t i = 0; i < messages.size(); ++i) {
    const int64_t first_ps = std::max(messages[i].at_ps, i == 0 ? 0 : left_ps[i - 1]);
    double bytes = 0;
    for (size_t j = i; j < messages.size(); ++j) {
      bytes += messages[j].bytes;
      EXPECT_LE(bytes, 5000 + 2 * (left_ps[j] - first_ps) / 1e3 + 1);
    }
  }
}

TEST(PortNetworkTest, TimesEndAtTheHorizon) {
  SystemDescription system = PhysicalSystem({UnitDim(TopologyKind::kRing, 4)});
  system.dims[0].bytes_per_ns = 1e-300;
  system.dims[0].bucket = {1e-300, 1};
  for (const NetworkBackEnd back_end : {NetworkBackEnd::kAnalytical, NetworkBackEnd::kLink}) {
    system.back_end = back_end;
    const TestRun run = RunMessages(system, {{0, 0, 2, 1e12}, {1, 0, 1, 1e12}, {2, 0, 1, 1}});
    EXPECT_EQ(run.arrivals_ps, (Times{kHorizonPs, kHorizonPs, kHorizonPs}));
  }
}

// Burst worth 1e18 ps, messages 2e18 each; the horizon is at 2.3e18.
TEST(PortNetworkTest, ABucketThatFillsPastTheHorizonLetsNothingOutBeforeIt) {
  SystemDescription system = PhysicalSystem({UnitDim(TopologyKind::kRing, 4)});
  system.dims[0].latency_ns = 0;
  system.dims[0].bucket = {1e-9, 1e6};
  const TestRun run = RunMessages(system, {{0, 0, 1, 2e6}, {0, 0, 1, 2e6}});
  EXPECT_EQ(run.arrivals_ps, (Times{1'000'000'000'000'000'000, kHorizonPs}));
}

TEST(AstraNetworkTest, MessagesOfOnePortDoNotWait) {
  SystemDescription system =
      PhysicalSystem({UnitDim(TopologyKind::kSwitch, 4), UnitDim(TopologyKind::kRing, 2)});
  system.semantics = Semantics::kAstra;
  const TestRun run = RunMessages(system, {{0, 0, 1, 1000}, {0, 0, 2, 1000}, {0, 1, 5, 10}});
  EXPECT_EQ(run.arrivals_ps, (Times{1200 * kNs, 1200 * kNs, 110 * kNs}));
  ASSERT_EQ(run.uses.size(), 2u);
  EXPECT_EQ(run.uses[0].messages_count, 2);
  EXPECT_EQ(run.uses[0].bytes, 2000);
  EXPECT_EQ(run.uses[1].dim, 1);
  EXPECT_EQ(run.uses[1].src, 1);
}

}  // namespace
}  // namespace chakrad
