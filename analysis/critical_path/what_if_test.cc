// Timelines with some times scaled, by hand; and properties over random ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/critical_path/critical_path.h"
#include "analysis/critical_path/scaling.h"
#include "analysis/critical_path/test_job.h"
#include "common/status_matchers.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The span in ns, with the scalings.
int64_t SpanNs(const CausalGraph& graph, const std::vector<Scaling>& scalings) {
  std::vector<std::string> notices;
  const absl::StatusOr<TimeFactors> factors = FactorsOf(graph, scalings, &notices);
  EXPECT_THAT(factors.status(), IsOk());
  return (CausalReplay(graph, *factors).end_ps() - graph.start_ps) / 1000;
}

absl::Status ErrorOf(const CausalGraph& graph, const Scaling& scaling) {
  std::vector<std::string> notices;
  return FactorsOf(graph, {scaling}, &notices).status();
}

// thread |aaaa|                        a 0-10
// stream |     KKKKKKKK      LLLL|     K 15-55, L 101-131
// comm   |              nnnnn|         n 55-100 (after K), L after n
class WhatIfTest : public ::testing::Test {
 protected:
  WhatIfTest() : job_(2) {
    const uint32_t half = job_.AddGroup("half", {0, 1});
    job_.Host(0, "aten::a", 0, 10);
    job_.Kernel(0, "gemm", 15, 55, {{0, EdgeKind::kLaunch}});
    job_.Collective(0, CollectiveType::kAllGather, 55, 100, {{1, EdgeKind::kSync}}, half);
    job_.Kernel(0, "relu", 101, 131, {{2, EdgeKind::kSync}, {1, EdgeKind::kStreamOrder}});
    graph_ = BuildCausalGraph(job_.Make(), job_.Make());
  }
  RecordedJob job_;
  CausalGraph graph_;
};

TEST_F(WhatIfTest, NothingScaledGivesWhatWasRecorded) {
  EXPECT_EQ(SpanNs(graph_, {}), 131);
  EXPECT_EQ(SpanNs(graph_, {{"comm", 1}, {"gaps", 1}}), 131);
}

TEST_F(WhatIfTest, AClassTakesItsFactorOfTime) {
  // 131 = 10 host + 5 gap + 40 gemm + 45 comm + 1 gap + 30 relu.
  EXPECT_EQ(SpanNs(graph_, {{"compute", 0.5}}), 10 + 5 + 20 + 45 + 1 + 15);
  EXPECT_EQ(SpanNs(graph_, {{"comm", 0}}), 10 + 5 + 40 + 0 + 1 + 30);
  EXPECT_EQ(SpanNs(graph_, {{"host", 2}}), 20 + 5 + 40 + 45 + 1 + 30);
  EXPECT_EQ(SpanNs(graph_, {{"gaps", 0}}), 10 + 40 + 45 + 30);
  EXPECT_EQ(SpanNs(graph_, {{"name:^ge", 0.1}}), 10 + 5 + 4 + 45 + 1 + 30);
  EXPECT_EQ(SpanNs(graph_, {{"comm:ALL_GATHER", 2}}), 10 + 5 + 40 + 90 + 1 + 30);
  EXPECT_EQ(SpanNs(graph_, {{"comm:ALL_REDUCE", 2}}), 131);
  EXPECT_EQ(SpanNs(graph_, {{"group:half", 2}}), 10 + 5 + 40 + 90 + 1 + 30);
  EXPECT_EQ(SpanNs(graph_, {{"rank:0", 2}}), 20 + 5 + 80 + 90 + 1 + 60);
}

TEST_F(WhatIfTest, FactorsOfSeveralClassesMultiply) {
  EXPECT_EQ(SpanNs(graph_, {{"compute", 0.5}, {"name:gemm", 0.5}}), 10 + 5 + 10 + 45 + 1 + 15);
}

TEST_F(WhatIfTest, SaysWhatIsWrongWithAClass) {
  EXPECT_THAT(ErrorOf(graph_, {"gpu", 1}),
              StatusIs(absl::StatusCode::kInvalidArgument, "known are compute, comm"));
  EXPECT_THAT(ErrorOf(graph_, {"compute", -1}),
              StatusIs(absl::StatusCode::kInvalidArgument, "factor -1"));
  EXPECT_THAT(ErrorOf(graph_, {"compute", std::nan("")}),
              StatusIs(absl::StatusCode::kInvalidArgument, "finite"));
  EXPECT_THAT(ErrorOf(graph_, {"comm:ALLREDUCE", 1}),
              StatusIs(absl::StatusCode::kInvalidArgument, "ALL_REDUCE, REDUCE"));
  EXPECT_THAT(ErrorOf(graph_, {"rank:1", 1}),
              StatusIs(absl::StatusCode::kInvalidArgument, "rank 1 is not among"));
  EXPECT_THAT(ErrorOf(graph_, {"rank:x", 1}),
              StatusIs(absl::StatusCode::kInvalidArgument, "no rank"));
  EXPECT_THAT(ErrorOf(graph_, {"group:dp", 1}),
              StatusIs(absl::StatusCode::kInvalidArgument, "\"half\""));
  EXPECT_THAT(ErrorOf(graph_, {"name:(", 1}),
              StatusIs(absl::StatusCode::kInvalidArgument, "missing )"));
  EXPECT_THAT(ErrorOf(graph_, {absl::StrCat("name:", std::string(1001, 'a')), 1}),
              StatusIs(absl::StatusCode::kInvalidArgument, "1001 bytes"));
  std::vector<std::string> notices;
  EXPECT_THAT(FactorsOf(graph_, std::vector<Scaling>(65, {"comm", 1}), &notices).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "65 classes"));
}

TEST_F(WhatIfTest, AClassWithoutOperationsIsNoted) {
  std::vector<std::string> notices;
  EXPECT_THAT(FactorsOf(graph_, {{"memory", 2}}, &notices).status(), IsOk());
  ASSERT_EQ(notices.size(), 1);
  EXPECT_THAT(notices[0], HasSubstr("\"memory\": no operation"));
}

TEST_F(WhatIfTest, TimesStopAtTheEndOfTheirType) {
  std::vector<std::string> notices;
  const absl::StatusOr<TimeFactors> factors =
      FactorsOf(graph_, {{"compute", 1e300}, {"gaps", 1e300}}, &notices);
  ASSERT_THAT(factors.status(), IsOk());
  const CausalReplay replay(graph_, *factors);
  EXPECT_EQ(replay.end_ps(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(SharesOf(graph_, FindCriticalPath(graph_, replay)).by_rank[0].total_ps,
            std::numeric_limits<int64_t>::max());
}

TEST_F(WhatIfTest, AProductOfFactorsMustBeFinite) {
  std::vector<std::string> notices;
  for (const char* name : {"compute", "gaps"}) {
    EXPECT_THAT(FactorsOf(graph_, {{name, 1e200}, {name, 1e200}, {name, 0}}, &notices).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, "too large"))
        << name;
    EXPECT_THAT(FactorsOf(graph_, {{name, 1e200}, {name, 0}, {name, 1e200}}, &notices).status(),
                IsOk());
  }
  EXPECT_EQ(ScaledPs(0, std::numeric_limits<double>::infinity()), 0);
}

TEST(WhatIfAcrossRanksTest, FasterComputeOnTheSlowRankMovesTheWait) {
  // r0: K 0-10, n 10-70; r1: K 0-50, n 52-69. The collective itself takes 18 on r0, 17 on r1.
  RecordedJob job(2);
  job.Kernel(0, "K", 0, 10);
  job.AllReduce(0, 10, 70, {{0, EdgeKind::kData}});
  job.Kernel(1, "K", 0, 50);
  job.AllReduce(1, 52, 69, {{0, EdgeKind::kData}});
  const CausalGraph graph = BuildCausalGraph(job.Make(), job.Make());
  EXPECT_EQ(SpanNs(graph, {}), 70);
  EXPECT_EQ(SpanNs(graph, {{"rank:1", 0.5}}), 25 + 2 + 18);
  // With rank 1 at a tenth, rank 0 joins last: at 10.
  EXPECT_EQ(SpanNs(graph, {{"rank:1", 0.1}}), 10 + 18);
  // Waiting is not scaled, only what comes after it: the halved 18 after 52.
  EXPECT_EQ(SpanNs(graph, {{"comm", 0.5}}), 52 + 9);
  std::vector<std::string> notices;
  const absl::StatusOr<TimeFactors> factors = FactorsOf(graph, {{"rank:1", 0.1}}, &notices);
  ASSERT_THAT(factors.status(), IsOk());
  const CausalReplay replay(graph, *factors);
  EXPECT_THAT(SharesOf(graph, FindCriticalPath(graph, replay)).by_rank,
              ElementsAre(PathShare{"0", 28'000, 2}));
}

TEST(WhatIfAcrossRanksTest, ASlowerSendDelaysItsReceive) {
  RecordedJob job(2);
  job.Kernel(0, "K", 0, 40);
  job.Message(0, false, 1, 40, 45, {{0, EdgeKind::kData}});
  job.Message(1, true, 0, 0, 60);
  const CausalGraph graph = BuildCausalGraph(job.Make(), job.Make());
  EXPECT_EQ(SpanNs(graph, {{"compute", 2}}), 80 + 20);
  EXPECT_EQ(SpanNs(graph, {{"compute", 0}}), 20);
}

TEST(ScaledPsTest, IsExactForOneAndStopsAtTheEnds) {
  const int64_t large = std::numeric_limits<int64_t>::max() - 1;
  EXPECT_EQ(ScaledPs(large, 1), large);
  EXPECT_EQ(ScaledPs(large, 2), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(ScaledPs(3, 0.5), 2);
  EXPECT_EQ(ScaledPs(0, 1e300), 0);
}

// ---- Random jobs, with an oracle that knows how they were made.

struct Node {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t lag_ns = 0;
  std::vector<size_t> causes;  // Indices in the rank, the one before on the queue among them.
  int64_t collective = -1;     // Which.
  bool follows = false;        // The last of `causes` is the one before on the queue.
};

// Ranks whose operations wait for some earlier ones and for their queue, and meet in collectives.
struct RandomJob {
  std::vector<std::vector<Node>> ranks;
  std::vector<int64_t> all_joined_ns;  // Of each collective.

  RandomJob(uint64_t seed, RecordedJob* job) : random(seed), ranks_count(1 + Draw(3)) {
    ranks.resize(ranks_count);
    last_on.assign(ranks_count, {kNoNode, kNoNode, kNoNode});
    // Without a device the host's operations would be the rank's compute.
    for (int32_t rank = 0; rank < ranks_count; ++rank) AddOperation(rank, 1, -1);
    for (int64_t round = 0; round < 6; ++round) {
      for (int32_t rank = 0; rank < ranks_count; ++rank) {
        const int64_t count = Draw(6);
        for (int64_t i = 0; i < count; ++i) AddOperation(rank, static_cast<int>(Draw(2)), -1);
      }
      AddCollective();
    }
    Write(job);
  }

  // By recursion, not by order. `factor`: of the kinds host, stream and comm.
  int64_t SpanNs(const std::vector<double>& factor, double gaps) {
    start_memo.assign(ranks.size(), {});
    int64_t span_ns = 0;
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      start_memo[rank].assign(ranks[rank].size(), -1);
    }
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      for (size_t node = 0; node < ranks[rank].size(); ++node) {
        span_ns = std::max(span_ns, End(rank, node, factor, gaps));
      }
    }
    return span_ns;
  }

 private:
  static constexpr size_t kNoNode = SIZE_MAX;

  int64_t Draw(int64_t below) {
    return std::uniform_int_distribution<int64_t>(0, below - 1)(random);
  }

  void AddOperation(int32_t rank, int queue, int64_t collective) {
    Node node;
    node.collective = collective;
    std::vector<Node>& nodes = ranks[rank];
    for (int64_t i = 0; i < 2 && !nodes.empty(); ++i) {
      node.causes.push_back(static_cast<size_t>(Draw(static_cast<int64_t>(nodes.size()))));
    }
    size_t& before = last_on[rank][queue];
    node.follows = before != kNoNode;
    if (node.follows) node.causes.push_back(before);
    int64_t ready_ns = 0;
    for (const size_t cause : node.causes) ready_ns = std::max(ready_ns, nodes[cause].end_ns);
    node.lag_ns = Draw(3) == 0 ? Draw(50) : 0;
    node.start_ns = ready_ns + node.lag_ns;
    node.end_ns = node.start_ns + 2 * (1 + Draw(100));
    before = nodes.size();
    queues[{rank, nodes.size()}] = queue;
    nodes.push_back(node);
  }

  void AddCollective() {
    const int64_t number = static_cast<int64_t>(all_joined_ns.size());
    int64_t joined_ns = 0;
    for (int32_t rank = 0; rank < ranks_count; ++rank) {
      AddOperation(rank, 2, number);
      joined_ns = std::max(joined_ns, ranks[rank].back().start_ns);
    }
    for (int32_t rank = 0; rank < ranks_count; ++rank) {
      ranks[rank].back().end_ns = joined_ns + 2 * (1 + Draw(60));
    }
    all_joined_ns.push_back(joined_ns);
  }

  void Write(RecordedJob* job) {
    for (int32_t rank = 0; rank < ranks_count; ++rank) {
      for (size_t i = 0; i < ranks[rank].size(); ++i) {
        const Node& node = ranks[rank][i];
        Deps deps;
        for (const size_t cause : node.causes) deps.emplace_back(cause, EdgeKind::kData);
        // The order of queues is left to the timeline now and then.
        if (node.follows && Draw(2) == 0) deps.pop_back();
        const int queue = queues[{rank, i}];
        if (queue == 0) job->Host(rank, "h", node.start_ns, node.end_ns, deps);
        if (queue == 1) job->Kernel(rank, "k", node.start_ns, node.end_ns, deps);
        if (queue == 2) job->AllReduce(rank, node.start_ns, node.end_ns, deps);
      }
    }
  }

  int64_t Start(size_t rank, size_t node, const std::vector<double>& factor, double gaps) {
    int64_t& memo = start_memo[rank][node];
    if (memo >= 0) return memo;
    int64_t ready_ns = 0;
    for (const size_t cause : ranks[rank][node].causes) {
      ready_ns = std::max(ready_ns, End(rank, cause, factor, gaps));
    }
    const int64_t start_ns =
        ready_ns + std::llround(static_cast<double>(ranks[rank][node].lag_ns) * gaps);
    start_memo[rank][node] = start_ns;
    return start_ns;
  }

  int64_t End(size_t rank, size_t node, const std::vector<double>& factor, double gaps) {
    const Node& of = ranks[rank][node];
    int64_t from_ns = Start(rank, node, factor, gaps);
    int64_t own_ns = of.end_ns - of.start_ns;
    if (of.collective >= 0) {
      own_ns = of.end_ns - all_joined_ns[of.collective];
      for (size_t other = 0; other < ranks.size(); ++other) {
        for (size_t i = 0; i < ranks[other].size(); ++i) {
          if (ranks[other][i].collective != of.collective) continue;
          from_ns = std::max(from_ns, Start(other, i, factor, gaps));
        }
      }
    }
    const int queue = queues[{static_cast<int32_t>(rank), node}];
    return from_ns + std::llround(static_cast<double>(own_ns) * factor[queue]);
  }

  std::mt19937_64 random;
  int32_t ranks_count;
  std::vector<std::vector<size_t>> last_on;  // By rank and queue.
  std::map<std::pair<int32_t, size_t>, int> queues;
  std::vector<std::vector<int64_t>> start_memo;
};

TEST(WhatIfPropertyTest, AgreesWithTheLongestPathFoundByRecursion) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    RecordedJob job(3);
    RandomJob made(seed, &job);
    const CausalGraph graph = BuildCausalGraph(job.Make(), job.Make());
    EXPECT_THAT(graph.notices, IsEmpty());
    const int64_t start_ns = graph.start_ps / 1000;
    EXPECT_EQ(SpanNs(graph, {}) + start_ns, made.SpanNs({1, 1, 1}, 1));
    if (start_ns != 0) continue;  // The first lag is then no part of the job.
    EXPECT_EQ(SpanNs(graph, {{"compute", 0.5}}), made.SpanNs({1, 0.5, 1}, 1));
    EXPECT_EQ(SpanNs(graph, {{"comm", 2.5}, {"host", 0}}), made.SpanNs({0, 1, 2.5}, 1));
    EXPECT_EQ(SpanNs(graph, {{"gaps", 0}, {"comm", 0.5}}), made.SpanNs({1, 1, 0.5}, 0));
  }
}

TEST(WhatIfPropertyTest, LessTimeNeverMakesAJobLonger) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    RecordedJob job(3);
    const RandomJob made(seed, &job);
    const CausalGraph graph = BuildCausalGraph(job.Make(), job.Make());
    for (const char* name : {"compute", "comm", "host", "gaps", "rank:0", "name:k"}) {
      int64_t last_ns = 0;
      for (const double factor : {0.0, 0.3, 0.9, 0.999, 1.0, 1.001, 1.7, 4.0}) {
        const int64_t span_ns = SpanNs(graph, {{name, factor}});
        EXPECT_GE(span_ns, last_ns) << name << " " << factor;
        if (factor == 1) {
          EXPECT_EQ(span_ns, (graph.end_ps - graph.start_ps) / 1000);
        }
        last_ns = span_ns;
      }
    }
  }
}

TEST(WhatIfPropertyTest, TheReplayedPathCoversTheReplayedTime) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    RecordedJob job(3);
    const RandomJob made(seed, &job);
    const CausalGraph graph = BuildCausalGraph(job.Make(), job.Make());
    std::vector<std::string> notices;
    const absl::StatusOr<TimeFactors> factors =
        FactorsOf(graph, {{"compute", 0.3}, {"rank:0", 1.9}, {"gaps", 0.7}}, &notices);
    ASSERT_THAT(factors.status(), IsOk());
    const CausalReplay replay(graph, *factors);
    int64_t at_ps = graph.start_ps;
    for (const PathStep& step : FindCriticalPath(graph, replay)) {
      EXPECT_EQ(step.start_ps, at_ps);
      at_ps = step.end_ps;
    }
    EXPECT_EQ(at_ps, replay.end_ps());
  }
}

}  // namespace
}  // namespace chakrad
