// Paths that are found by hand. Times are nanoseconds: "r0 mm 10-40" is a step of rank 0.
#include "analysis/critical_path/critical_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/critical_path/test_job.h"
#include "trace/codec/rank_generator.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Path {
  explicit Path(const JobTimeline& job, const JobTimeline* whole = nullptr)
      : graph(BuildCausalGraph(job, whole == nullptr ? job : *whole)), replay(graph, factors) {
    steps = FindCriticalPath(graph, replay);
  }
  std::vector<std::string> Texts() const {
    std::vector<std::string> texts;
    for (const PathStep& step : steps) {
      for (const RankCauses& rank : graph.ranks) {
        if (rank.timeline->rank != step.rank) continue;
        const std::string name = absl::StrCat(step.is_gap ? "gap before " : "",
                                              std::string(rank.timeline->trace->NameOf(step.node)));
        const std::string edge(PathEdgeName(step.edge));
        texts.push_back(absl::StrCat("r", step.rank, " ", name, " ", step.start_ps / 1000, "-",
                                     step.end_ps / 1000, edge.empty() ? "" : " ", edge));
      }
    }
    return texts;
  }

  TimeFactors factors;
  CausalGraph graph;
  CausalReplay replay;
  std::vector<PathStep> steps;
};

// The steps cover [start, end) without holes, and so do the shares.
void ExpectConserved(const Path& path) {
  int64_t at_ps = path.graph.start_ps;
  for (const PathStep& step : path.steps) {
    EXPECT_EQ(step.start_ps, at_ps);
    EXPECT_GT(step.end_ps, step.start_ps);
    at_ps = step.end_ps;
  }
  EXPECT_EQ(at_ps, path.graph.end_ps);
  EXPECT_EQ(path.replay.end_ps(), path.graph.end_ps);
  const PathShares shares = SharesOf(path.graph, path.steps);
  for (const auto* list : {&shares.by_class, &shares.by_edge, &shares.by_name, &shares.by_rank}) {
    int64_t total_ps = 0;
    for (const PathShare& share : *list) total_ps += share.total_ps;
    EXPECT_EQ(total_ps, path.graph.end_ps - path.graph.start_ps);
  }
}

// Every node starts in the replay when it was recorded to.
void ExpectIdentity(const Path& path) {
  for (uint32_t rank = 0; rank < path.graph.ranks.size(); ++rank) {
    const RankCauses& causes = path.graph.ranks[rank];
    for (const uint32_t node : causes.order) {
      ASSERT_EQ(path.replay.StartPs(rank, node), causes.start_ps[node]) << rank << " " << node;
      ASSERT_EQ(path.replay.EndPs(rank, node), causes.end_ps[node]) << rank << " " << node;
      ASSERT_GE(causes.lag_ps[node], 0) << rank << " " << node;
    }
  }
}

TEST(CriticalPathTest, KernelsThatWaitForTheirStreamHideTheirLaunches) {
  // thread |aa bb|                    a 0-10, b 10-20
  // stream |  KKKKKK LLLL|            K 15-60, launched by a; L 62-90, launched by b
  RecordedJob job(1);
  job.Host(0, "a", 0, 10);
  job.Host(0, "b", 10, 20, {{0, EdgeKind::kThreadOrder}});
  job.Kernel(0, "K", 15, 60, {{0, EdgeKind::kLaunch}});
  job.Kernel(0, "L", 62, 90, {{1, EdgeKind::kLaunch}, {2, EdgeKind::kStreamOrder}});
  const Path path(job.Make());
  EXPECT_THAT(path.Texts(),
              ElementsAre("r0 a 0-10", "r0 gap before K 10-15 launch", "r0 K 15-60 launch",
                          "r0 gap before L 60-62 stream_order", "r0 L 62-90 stream_order"));
  ExpectConserved(path);
  ExpectIdentity(path);
  EXPECT_THAT(SharesOf(path.graph, path.steps).by_class,
              ElementsAre(PathShare{"compute", 73'000, 2}, PathShare{"host", 10'000, 1},
                          PathShare{"gap", 7'000, 2}));
  EXPECT_THAT(path.graph.notices, IsEmpty());
}

TEST(CriticalPathTest, ALaunchInTheMiddleOfACallEndsThePartOfTheCallThatCounts) {
  // a 0-50 launches K, which starts at 20 and runs to 100: nothing else held K back.
  RecordedJob job(1);
  job.Host(0, "a", 0, 50);
  job.Kernel(0, "K", 20, 100, {{0, EdgeKind::kLaunch}});
  const Path path(job.Make());
  EXPECT_THAT(path.Texts(), ElementsAre("r0 a 0-20", "r0 K 20-100 launch"));
  ExpectConserved(path);
  ExpectIdentity(path);
}

TEST(CriticalPathTest, ACallThatStillRunsDidNotHoldBackWhatWaitedForItsStream) {
  // a 0-80 launches L at some time; L starts at 62, 2 after K ended on the stream.
  RecordedJob job(1);
  job.Host(0, "a", 0, 80);
  job.Kernel(0, "K", 5, 60);
  job.Kernel(0, "L", 62, 90, {{0, EdgeKind::kLaunch}});
  const Path path(job.Make());
  EXPECT_THAT(path.Texts(),
              ElementsAre("r0 gap before K 0-5", "r0 K 5-60", "r0 gap before L 60-62 stream_order",
                          "r0 L 62-90 stream_order"));
  ExpectConserved(path);
  ExpectIdentity(path);
}

TEST(CriticalPathTest, CallsWithinCallsCountOnce) {
  // linear |pppppppppppppppp|      0-100, of which its own are 0-20 and 70-100
  // mm     |    mmmmmmmm    |      20-70
  // next                       xx  104-110
  RecordedJob job(1);
  job.Host(0, "linear", 0, 100);
  job.Host(0, "mm", 20, 70, {{0, EdgeKind::kControl}});
  job.Host(0, "next", 104, 110, {{1, EdgeKind::kThreadOrder}});
  job.Kernel(0, "K", 1, 3);  // So that the rank has a device.
  const Path path(job.Make());
  // What linear does after mm counts as mm's, as the linker shares it out.
  EXPECT_THAT(path.Texts(), ElementsAre("r0 linear 0-20", "r0 mm 20-100 control",
                                        "r0 gap before next 100-104 thread_order",
                                        "r0 next 104-110 thread_order"));
  ExpectConserved(path);
  ExpectIdentity(path);
}

TEST(CriticalPathTest, WorkGoesToTheOperationThatTheLinkerGaveItTo) {
  // As above, linked: mm's work lasts until its caller ends.
  RecordedJob job(1);
  job.Host(0, "linear", 0, 100, {}, 20);
  job.Host(0, "mm", 20, 100, {{0, EdgeKind::kControl}, {0, EdgeKind::kThreadOrder}}, 80);
  job.Host(0, "next", 104, 110, {{1, EdgeKind::kThreadOrder}}, 6);
  job.Kernel(0, "K", 1, 3);
  const Path path(job.Make());
  EXPECT_THAT(path.Texts(), ElementsAre("r0 linear 0-20", "r0 mm 20-100 control",
                                        "r0 gap before next 100-104 thread_order",
                                        "r0 next 104-110 thread_order"));
  ExpectConserved(path);
  ExpectIdentity(path);
}

TEST(CriticalPathTest, AHostThatWaitsForTheDeviceGoesOnAfterIt) {
  // thread |a  ssssssssss b|   s (synchronise) 10-95 works 2; b 97-100 waits for K by kSync
  // stream |  KKKKKKKKKK   |   K 12-94
  RecordedJob job(1);
  job.Host(0, "a", 0, 10, {}, 10);
  job.Host(0, "s", 10, 95, {{0, EdgeKind::kThreadOrder}}, 2);
  job.Kernel(0, "K", 12, 94, {{0, EdgeKind::kLaunch}});
  job.Host(0, "b", 97, 100, {{1, EdgeKind::kThreadOrder}, {2, EdgeKind::kSync}}, 3);
  const Path path(job.Make());
  EXPECT_THAT(path.Texts(),
              ElementsAre("r0 a 0-10", "r0 gap before K 10-12 launch", "r0 K 12-94 launch",
                          "r0 gap before b 94-97 sync", "r0 b 97-100 sync"));
  ExpectConserved(path);
  ExpectIdentity(path);
}

TEST(CriticalPathTest, ACollectiveWaitsForWhoJoinsLast) {
  // r0 |KKKK nnnnnnnnnnnnnn|   K 0-10, n 10-70
  // r1 |KKKKKKKKKKKKK nnnnn|   K 0-50, n 52-69
  RecordedJob job(2);
  job.Kernel(0, "K0", 0, 10);
  job.AllReduce(0, 10, 70, {{0, EdgeKind::kData}});
  job.Kernel(1, "K1", 0, 50);
  job.AllReduce(1, 52, 69, {{0, EdgeKind::kData}});
  const Path path(job.Make());
  // Rank 0 ends last; until 52 it waited for rank 1.
  EXPECT_THAT(path.Texts(), ElementsAre("r1 K1 0-50", "r1 gap before collective 50-52 data",
                                        "r0 collective 52-70 collective"));
  ExpectConserved(path);
  ExpectIdentity(path);
}

TEST(CriticalPathTest, AReceiveWaitsForItsSend) {
  // r0 |KKKKKKKK ss|   K 0-40, send 40-45
  // r1 |rrrrrrrrrrrr LL|   receive 0-60, L 60-80
  RecordedJob job(2);
  job.Kernel(0, "K", 0, 40);
  job.Message(0, false, 1, 40, 45, {{0, EdgeKind::kData}});
  job.Message(1, true, 0, 0, 60);
  job.Kernel(1, "L", 60, 80, {{0, EdgeKind::kSync}});
  const Path path(job.Make());
  EXPECT_THAT(path.Texts(), ElementsAre("r0 K 0-40", "r1 recv 40-60 message", "r1 L 60-80 sync"));
  ExpectConserved(path);
  ExpectIdentity(path);
}

TEST(CriticalPathTest, OneRankAloneCountsItsWaitingAsCommunication) {
  RecordedJob job(2);
  job.Kernel(0, "K", 0, 10);
  job.AllReduce(0, 10, 70, {{0, EdgeKind::kData}});
  const Path path(job.Make());
  EXPECT_THAT(path.Texts(), ElementsAre("r0 K 0-10", "r0 collective 10-70 data"));
  ExpectConserved(path);
}

TEST(CriticalPathTest, MarksAreWalkedThrough) {
  // b depends on a by way of a mark alone.
  RecordedJob job(1);
  job.Host(0, "a", 0, 10);
  job.Mark(0, "step", 10, 50, {{0, EdgeKind::kThreadOrder}});
  job.Host(0, "b", 12, 30, {{1, EdgeKind::kControl}});
  const Path path(job.Make());
  // The mark ends the job at 50: what follows the last operation is a gap.
  EXPECT_THAT(path.Texts(), ElementsAre("r0 a 0-10", "r0 gap before b 10-12 control",
                                        "r0 b 12-30 control", "r0 gap before b 30-50"));
  ExpectConserved(path);
  ExpectIdentity(path);
}

TEST(CriticalPathTest, ClocksThatDisagreeMakeNobodyWait) {
  // Rank 1's clock is 1000 ahead: on rank 0 the collective ended before rank 1 joined.
  RecordedJob job(2);
  job.AllReduce(0, 0, 20);
  job.AllReduce(1, 1000, 1020);
  const Path path(job.Make());
  EXPECT_THAT(path.Texts(),
              ElementsAre("r1 gap before collective 0-1000", "r1 collective 1000-1020"));
  ExpectIdentity(path);
  ASSERT_EQ(path.graph.notices.size(), 1);
  EXPECT_THAT(path.graph.notices[0], HasSubstr("1 communication operations ended before"));
}

TEST(CriticalPathTest, OperationsThatDifferInOrderDoNotMeet) {
  RecordedJob job(2);
  job.Collective(0, CollectiveType::kAllReduce, 0, 10);
  job.Collective(0, CollectiveType::kBroadcast, 10, 20);
  job.Collective(1, CollectiveType::kBroadcast, 5, 10);
  job.Collective(1, CollectiveType::kAllReduce, 10, 21);
  const Path path(job.Make());
  EXPECT_THAT(path.graph.meetings, IsEmpty());
  ASSERT_EQ(path.graph.notices.size(), 1);
  EXPECT_THAT(path.graph.notices[0], HasSubstr("world, collective 0"));
  ExpectConserved(path);
}

TEST(CriticalPathTest, DependenciesThatPointBackInTimeAreLeftOutAndCounted) {
  RecordedJob job(1);
  job.Kernel(0, "K", 50, 60, {{1, EdgeKind::kData}});
  job.Kernel(0, "L", 70, 90);
  const Path path(job.Make());
  EXPECT_THAT(path.Texts(), ElementsAre("r0 K 50-60", "r0 gap before L 60-70 stream_order",
                                        "r0 L 70-90 stream_order"));
  ExpectConserved(path);
  ASSERT_EQ(path.graph.notices.size(), 1);
  EXPECT_THAT(path.graph.notices[0], HasSubstr("1 dependencies start after"));
}

TEST(CriticalPathTest, PartOfATimelineKeepsTheNumbersOfItsCollectives) {
  // Cut at 100: rank 0's first collective ends before, rank 1's reaches into the part. Counted
  // in the part alone, rank 1's first would meet rank 0's second.
  RecordedJob maker(2);
  maker.AllReduce(0, 0, 99);
  maker.Kernel(0, "K", 100, 180);
  maker.AllReduce(0, 180, 200, {{1, EdgeKind::kData}});
  maker.AllReduce(1, 0, 101);
  maker.Kernel(1, "K", 101, 120);
  maker.AllReduce(1, 120, 201, {{1, EdgeKind::kData}});
  const JobTimeline& whole = maker.Make();
  const JobTimeline part = CutTimeline(whole, {100'000, 100'000}, {201'000, 201'000});
  const Path path(part, &whole);
  EXPECT_THAT(path.Texts(), ElementsAre("r0 K 100-180", "r1 collective 180-201 collective"));
  ExpectConserved(path);
  ExpectIdentity(path);
}

TEST(CriticalPathTest, AnythingThatCanBeRecordedIsReplayedExactlyAndCovered) {
  int64_t steps_count = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = RandomTrace(seed, 3, 40);
    const absl::StatusOr<JobTimeline> job = MeasuredTimeline(trace, {});
    if (!job.ok()) continue;
    const Path path(*job);
    ExpectIdentity(path);
    if (!path.steps.empty()) ExpectConserved(path);
    steps_count += static_cast<int64_t>(path.steps.size());
  }
  EXPECT_GT(steps_count, 60);
}

}  // namespace
}  // namespace chakrad
