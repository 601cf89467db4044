#include "sim/memory/remote_memory.h"

#include <gtest/gtest.h>

#include <random>

#include "sim/limits.h"

namespace chakrad {
namespace {

// 100.5 ns, and 3 bytes a nanosecond.
RemoteMemory Memory(RemoteMemory::Kind kind, int32_t npus_per_node = 1) {
  RemoteMemory memory;
  memory.kind = kind;
  memory.latency_ns = 100.5;
  memory.bytes_per_ns = 3;
  memory.npus_per_node = npus_per_node;
  return memory;
}

TEST(RemoteMemoryTest, AstraCutsLatencyAndTransferApart) {
  RemoteMemoryQueue queue(Semantics::kAstra, Memory(RemoteMemory::Kind::kPerNpu), 1);
  EXPECT_EQ(queue.AccessPs(1000), 433'000);  // 100 + 333.
  EXPECT_EQ(queue.AccessPs(0), 100'000);
}

TEST(RemoteMemoryTest, PhysicalRoundsTheSumToThePicosecond) {
  RemoteMemoryQueue queue(Semantics::kPhysical, Memory(RemoteMemory::Kind::kPerNpu), 1);
  EXPECT_EQ(queue.AccessPs(1000), 433'833);  // 100.5 + 333.333.
}

TEST(RemoteMemoryTest, MemoryOfEachNpuNeverWaits) {
  RemoteMemoryQueue queue(Semantics::kAstra, Memory(RemoteMemory::Kind::kPerNpu), 4);
  EXPECT_FALSE(queue.IsShared());
  for (const int32_t rank : {0, 1, 0, 3}) EXPECT_EQ(queue.Access(7, rank, 1000), 433'007);
}

// Ranks 0, 1 share a memory, 2, 3 another.
TEST(RemoteMemoryTest, MemoryOfANodeServesOneAtATime) {
  RemoteMemoryQueue queue(Semantics::kAstra, Memory(RemoteMemory::Kind::kPerNode, 2), 4);
  EXPECT_TRUE(queue.IsShared());
  EXPECT_EQ(queue.Access(0, 0, 1000), 433'000);
  EXPECT_EQ(queue.Access(0, 1, 1000), 866'000);
  EXPECT_EQ(queue.Access(0, 2, 1000), 433'000);
  EXPECT_EQ(queue.Access(500'000, 3, 1000), 933'000);
  EXPECT_EQ(queue.Access(500'000, 0, 0), 966'000);
}

TEST(RemoteMemoryTest, APoolServesOneAtATimeOfAll) {
  RemoteMemoryQueue queue(Semantics::kAstra, Memory(RemoteMemory::Kind::kPool), 8);
  for (int32_t rank = 0; rank < 8; ++rank) {
    EXPECT_EQ(queue.Access(0, rank, 1000), 433'000 * (rank + 1));
  }
}

TEST(RemoteMemoryTest, ALastNodeMayBeSmaller) {
  RemoteMemoryQueue queue(Semantics::kAstra, Memory(RemoteMemory::Kind::kPerNode, 4), 6);
  EXPECT_EQ(queue.Access(0, 5, 0), 100'000);
  EXPECT_EQ(queue.Access(0, 4, 0), 200'000);
  EXPECT_EQ(queue.Access(0, 3, 0), 100'000);
}

TEST(RemoteMemoryTest, TimesEndAtTheHorizon) {
  RemoteMemory slow = Memory(RemoteMemory::Kind::kPool);
  slow.bytes_per_ns = 1e-300;
  RemoteMemoryQueue queue(Semantics::kPhysical, slow, 2);
  EXPECT_EQ(queue.Access(0, 0, int64_t{1} << 42), kHorizonPs);
  EXPECT_EQ(queue.Access(kHorizonPs - 1, 1, int64_t{1} << 42), kHorizonPs);
}

// Served in order, never before it is asked for, and never idle while somebody waits: the last
// one ends at the longest sum of service times that follows an arrival.
TEST(RemoteMemoryTest, AQueueWorksOffWhatIsAskedForOverRandomLoads) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 100; ++round) {
    RemoteMemoryQueue queue(Semantics::kPhysical, Memory(RemoteMemory::Kind::kPool), 16);
    std::vector<std::pair<int64_t, int64_t>> asked;  // When, how long.
    int64_t now_ps = 0, end_ps = 0;
    for (int i = 0; i < 50; ++i) {
      now_ps += static_cast<int64_t>(random() % 400'000);
      const auto bytes = static_cast<int64_t>(random() % 1000);
      asked.emplace_back(now_ps, queue.AccessPs(bytes));
      const int64_t before_ps = end_ps;
      end_ps = queue.Access(now_ps, static_cast<int32_t>(random() % 16), bytes);
      EXPECT_GE(end_ps, before_ps);
    }
    int64_t want_ps = 0, sum_ps = 0;
    for (auto it = asked.rbegin(); it != asked.rend(); ++it) {
      sum_ps += it->second;
      want_ps = std::max(want_ps, it->first + sum_ps);
    }
    EXPECT_EQ(end_ps, want_ps) << "round " << round;
  }
}

}  // namespace
}  // namespace chakrad
