#include "trace/link/times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "trace/link/build_graph.h"
#include "trace/link/fake_traces.h"
#include "trace/link/match_device.h"
#include "trace/link/match_host.h"
#include "trace/link/nesting.h"

namespace chakrad {
namespace {

LinkGraph GraphOf(const KinetoTrace& kineto) {
  const Nesting nesting = FindNesting(kineto);
  return BuildGraph(nullptr, &kineto, nullptr, HostMatch(), nesting, MatchDevice(kineto, nesting))
      .value();
}

uint32_t Index(const LinkGraph& graph, absl::string_view name) {
  uint32_t index = 0;
  while (graph.nodes[index].name != name) ++index;
  return index;
}
int64_t Work(const LinkGraph& graph, absl::string_view name) {
  return graph.work_ns[Index(graph, name)];
}
int64_t Gap(const LinkGraph& graph, absl::string_view name) {
  return graph.gap_ns[Index(graph, name)];
}

// |mark 0..100                              |
//    |a 10............50|     |c 60...90|
//        |b 20..30|
TEST(TimesTest, WorkLastsUntilTheNextStartAndGapsLieOutsideOfOperations) {
  FakeKineto fake;
  fake.Mark(1, "mark", 0, 100);
  fake.Host(1, "a", 10, 40);
  fake.Host(1, "b", 20, 10);
  fake.Host(1, "c", 60, 30);
  const KinetoTrace kineto = fake.Take();
  LinkGraph graph = GraphOf(kineto);
  const std::vector<ThreadTimes> times = ShareOutTimes(&graph);
  EXPECT_EQ(Work(graph, "mark"), 0);
  EXPECT_EQ(Gap(graph, "a"), 10 * kUs);
  EXPECT_EQ(Work(graph, "a"), 10 * kUs);
  EXPECT_EQ(Work(graph, "b"), 30 * kUs);  // 20..50: a goes on after b.
  EXPECT_EQ(Gap(graph, "c"), 10 * kUs);
  EXPECT_EQ(Work(graph, "c"), 30 * kUs);
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times[0].span_ns, 90 * kUs);
}

// |a 0......40|  wait 25..60  |b 70..80|
TEST(TimesTest, WaitsAreNeitherWorkNorGapAndWhatFollowsThemBelongsToTheNext) {
  FakeKineto fake;
  fake.Host(1, "a", 0, 40);
  fake.Host(1, "b", 70, 10);
  const KinetoTrace kineto = fake.Take();
  LinkGraph graph = GraphOf(kineto);
  graph.waits.push_back({1, 0, 25 * kUs, 60 * kUs});
  const std::vector<ThreadTimes> times = ShareOutTimes(&graph);
  EXPECT_EQ(Work(graph, "a"), 25 * kUs);
  EXPECT_EQ(Gap(graph, "b"), 10 * kUs);
  EXPECT_EQ(Work(graph, "b"), 10 * kUs);
  EXPECT_EQ(times[0].waiting_ns, 35 * kUs);
}

// |a 0.......................100|   wait 20..50 inside a
//                              |b 100..110|
TEST(TimesTest, WorkAfterAWaitInsideAnOperationComesAfterIt) {
  FakeKineto fake;
  fake.Host(1, "a", 0, 100);
  fake.Host(1, "b", 100, 10);
  const KinetoTrace kineto = fake.Take();
  LinkGraph graph = GraphOf(kineto);
  graph.waits.push_back({1, 0, 20 * kUs, 50 * kUs});
  ShareOutTimes(&graph);
  EXPECT_EQ(Work(graph, "a"), 20 * kUs);
  EXPECT_EQ(Work(graph, "b"), 60 * kUs);  // 50..100, then its own 10.
}

// Random nested operations and waits on several threads: nothing is lost,
// nothing counted twice, nothing negative.
TEST(TimesTest, SharesAddUpToEachThreadsSpan) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    FakeKineto fake;
    fake.Mark(1, "first", 0, 5);
    const int threads = 1 + static_cast<int>(random() % 3);
    for (int thread = 1; thread <= threads; ++thread) {
      int64_t now_us = static_cast<int64_t>(random() % 50);
      for (int i = 0; i < 40; ++i) {
        const int64_t dur_us = static_cast<int64_t>(random() % 60);
        fake.Host(thread, "outer", now_us, dur_us);
        if (dur_us > 4) {
          const int64_t from_us = static_cast<int64_t>(random() % static_cast<uint32_t>(dur_us));
          fake.Host(thread, "inner", now_us + from_us,
                    static_cast<int64_t>(random() % static_cast<uint32_t>(dur_us - from_us)));
        }
        if (random() % 4 == 0) fake.Mark(thread, "mark", now_us, dur_us + 7);
        now_us += dur_us + static_cast<int64_t>(random() % 30);
      }
    }
    const KinetoTrace kineto = fake.Take();
    LinkGraph graph = GraphOf(kineto);
    for (int i = 0; i < 15; ++i) {
      const uint32_t node = random() % graph.size();
      const int64_t begin_ns = static_cast<int64_t>(random() % 2000) * kUs;
      graph.waits.push_back(
          {node, node, begin_ns, begin_ns + static_cast<int64_t>(random() % 90) * kUs});
    }
    for (const ThreadTimes& times : ShareOutTimes(&graph)) {
      int64_t work_ns = 0, gap_ns = 0, last_end_ns = 0;
      for (uint32_t i = 0; i < graph.size(); ++i) {
        const LinkNode& node = graph.nodes[i];
        if (node.queue != times.queue || node.role != NodeRole::kHostOp) continue;
        EXPECT_GE(graph.work_ns[i], 0);
        EXPECT_GE(graph.gap_ns[i], 0);
        work_ns += graph.work_ns[i];
        gap_ns += graph.gap_ns[i];
        last_end_ns = std::max(last_end_ns, node.end_ns());
      }
      EXPECT_EQ(times.span_ns, last_end_ns) << seed;
      EXPECT_EQ(work_ns, times.work_ns) << seed;
      EXPECT_EQ(gap_ns, times.gap_ns) << seed;
      EXPECT_EQ(work_ns + gap_ns + times.waiting_ns, times.span_ns) << seed;
    }
  }
}

TEST(TimesTest, DeviceOperationsHaveTheTimeSinceTheirLastDependencyAsGap) {
  FakeKineto fake;
  fake.Host(1, "a", 0, 20);
  fake.Call(1, "cudaLaunchKernel", 5, 2, 1);
  fake.Kernel(7, "k1", 27, 10, 1);
  fake.Kernel(7, "k2", 40, 10, 99);
  const KinetoTrace kineto = fake.Take();
  LinkGraph graph = GraphOf(kineto);
  graph.AddEdge(1, 0, EdgeKind::kLaunch);
  graph.AddEdge(2, 1, EdgeKind::kStreamOrder);
  ShareOutTimes(&graph);
  EXPECT_EQ(Gap(graph, "k1"), 7 * kUs);
  EXPECT_EQ(Gap(graph, "k2"), 3 * kUs);
  EXPECT_EQ(Work(graph, "k2"), 10 * kUs);
}

}  // namespace
}  // namespace chakrad
