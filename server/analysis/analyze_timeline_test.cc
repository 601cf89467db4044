#include "server/analysis/analyze_timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "analysis/timeline/testing/rank_sketch.h"
#include "chakrad/v1/analysis.pb.h"
#include "chakrad/v1/job.pb.h"
#include "common/check.h"
#include "common/status_matchers.h"
#include "server/jobs/simulation.h"
#include "server/limits.h"
#include "storage/open.h"
#include "trace/operators/test_operators.h"

namespace chakrad {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// Two steps on each of two ranks: an operation of 10 ns, a kernel of 60, an all-reduce of 20 that
// the kernel hides half of, a copy of 5.
RankTrace TwoSteps(int32_t rank) {
  RankSketch sketch;
  sketch.builder().header().base_unix_ns = 1'700'000'000'000'000'001;
  for (int64_t step = 0; step < 2; ++step) {
    const int64_t at_ns = 100 * step;
    sketch.Mark(absl::StrCat("ProfilerStep#", 7 + step), at_ns, at_ns + 100);
    const uint32_t op = sketch.Host("op", at_ns, at_ns + 10);
    sketch.Launched(op, "kernel", at_ns + 10, at_ns + 70);
    sketch.Dep(sketch.Comm(at_ns + 60, at_ns + 80), op, EdgeKind::kLaunch);
    sketch.Copy(at_ns + 80, at_ns + 85);
  }
  return sketch.Build(rank);
}

class AnalyzeTimelineTest : public testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<Stores> stores =
        OpenMemStores(absl::StrCat(testing::TempDir(), "/analyze_timeline_test"));
    CHECK(stores.ok()) << stores.status();
    stores_ = *std::move(stores);
    Store("t-1", SketchTrace({TwoSteps(0), TwoSteps(1)}));
  }

  void Store(const std::string& id, const Trace& trace) {
    TraceInfo info;
    info.id = id;
    info.world_size = trace.world_size;
    info.groups = trace.groups;
    const absl::Status put = stores_.traces->Put(trace, info);
    CHECK(put.ok()) << put;
  }

  absl::StatusOr<v1::TimelineAnalysis> Analyze(const v1::AnalyzeTimelineRequest& request) {
    v1::TimelineAnalysis answer;
    const absl::Status status =
        AnalyzeTimeline(request, stores_.traces.get(), stores_.jobs.get(), &answer);
    if (!status.ok()) return status;
    return answer;
  }

  static v1::AnalyzeTimelineRequest Request(const char* name) {
    v1::AnalyzeTimelineRequest request;
    request.mutable_timeline()->set_name(name);
    return request;
  }

  Stores stores_;
};

TEST_F(AnalyzeTimelineTest, AllSectionsTogetherAndEachAlone) {
  ASSERT_OK_AND_ASSIGN(const v1::TimelineAnalysis all, Analyze(Request("traces/t-1")));
  EXPECT_EQ(all.ranks_count(), 2);
  EXPECT_EQ(all.base_time().nanos(), 1);
  ASSERT_EQ(all.rank_times_size(), 2);
  EXPECT_EQ(all.rank_times(1).rank(), 1);
  EXPECT_EQ(all.rank_times(1).span_ps(), 200'000);
  EXPECT_EQ(all.rank_times(1).compute_ps(), 120'000);
  EXPECT_EQ(all.rank_times(1).exposed_comm_ps(), 20'000);
  EXPECT_EQ(all.rank_times(1).exposed_memory_ps(), 10'000);
  EXPECT_EQ(all.rank_times(1).idle_host_bound_ps(), 35'000);  // 0-10 and 85-110.
  EXPECT_EQ(all.rank_times(1).idle_other_ps(), 15'000);       // 185-200.
  EXPECT_DOUBLE_EQ(all.rank_times(1).overlap_ratio(), 0.5);
  EXPECT_DOUBLE_EQ(all.mean_shares().compute_ratio(), 0.6);
  EXPECT_EQ(all.steps_source(), "profiler_step");
  EXPECT_EQ(all.steps_count(), 2);
  ASSERT_EQ(all.steps_size(), 2);
  EXPECT_EQ(all.steps(1).name(), "ProfilerStep#8");
  EXPECT_EQ(all.steps(1).start_ps(), 100'000);
  EXPECT_EQ(all.steps(1).ranks_count(), 2);
  EXPECT_DOUBLE_EQ(all.steps(1).mean_span_ps(), 100'000);
  EXPECT_DOUBLE_EQ(all.steps(1).mean_shares().exposed_comm_ratio(), 0.1);
  ASSERT_EQ(all.kernels_size(), 3);
  EXPECT_EQ(all.kernels(0).name(), "kernel");
  EXPECT_EQ(all.kernels(0).count(), 4);
  EXPECT_NEAR(all.kernels(0).share(), 240.0 / 340, 1e-12);
  EXPECT_EQ(all.kernel_totals().comm_ps(), 80'000);
  ASSERT_EQ(all.launches_size(), 2);
  EXPECT_EQ(all.launches(0).launches_count(), 4);
  EXPECT_EQ(all.launches(0).without_launch_count(), 2);
  EXPECT_EQ(all.launches(0).max_delay_ps(), 60'000);
  EXPECT_EQ(all.launches(0).queues(0).queue(), "device 0 stream 20");

  v1::AnalyzeTimelineRequest one = Request("traces/t-1");
  one.add_sections(v1::KERNELS);
  one.mutable_timeline()->add_ranks(1);
  ASSERT_OK_AND_ASSIGN(const v1::TimelineAnalysis kernels, Analyze(one));
  EXPECT_EQ(kernels.rank_times_size(), 0);
  EXPECT_EQ(kernels.kernels(0).count(), 2);
}

TEST_F(AnalyzeTimelineTest, MetricsAreThoseOfAllRanksOrNone) {
  v1::AnalyzeTimelineRequest request = Request("traces/t-1");
  request.add_sections(v1::METRICS);
  ASSERT_OK_AND_ASSIGN(const v1::TimelineAnalysis all, Analyze(request));
  ASSERT_GT(all.metrics_size(), 0);
  EXPECT_EQ(all.metrics(0).labels().at("rank_group"), "all");
  request.mutable_timeline()->add_ranks(1);
  ASSERT_OK_AND_ASSIGN(const v1::TimelineAnalysis one, Analyze(request));
  EXPECT_EQ(one.metrics_size(), 0);
  EXPECT_THAT(one.notices(), Contains(HasSubstr("metrics: left out")));
}

// 10 nodes, which 8,000,000 ranks run: 80,000,000 of them, though no interval was kept.
TEST_F(AnalyzeTimelineTest, AGraphThatMillionsOfRanksRunIsTooMuchUnlessSomeAreNamed) {
  Trace trace = SketchTrace({TwoSteps(0)});
  trace.world_size = 8'000'000;
  Store("wide", trace);
  SimulationSpec spec;
  spec.trace_id = "wide";
  spec.keep_timeline = true;
  v1::SimulationResult result;
  result.set_end_ps(100);
  ASSERT_THAT(stores_.jobs
                  ->Create({.id = "j-1",
                            .state = JobRecord::State::kSucceeded,
                            .trace_id = "wide",
                            .spec = EncodeSpec(spec),
                            .result = result.SerializeAsString()})
                  .status(),
              IsOk());
  v1::AnalyzeTimelineRequest request = Request("jobs/j-1");
  request.add_sections(v1::KERNELS);
  EXPECT_THAT(Analyze(request).status(),
              StatusIs(absl::StatusCode::kResourceExhausted, "80000000 nodes"));
  request.mutable_timeline()->add_ranks(7'999'999);
  ASSERT_OK_AND_ASSIGN(const v1::TimelineAnalysis one, Analyze(request));
  EXPECT_EQ(one.ranks_count(), 1);
}

TEST_F(AnalyzeTimelineTest, AStepIsAnalysedAlone) {
  v1::AnalyzeTimelineRequest request = Request("traces/t-1");
  request.mutable_timeline()->set_step(1);
  ASSERT_OK_AND_ASSIGN(const v1::TimelineAnalysis step, Analyze(request));
  EXPECT_EQ(step.start_ps(), 100'000);
  EXPECT_EQ(step.end_ps(), 200'000);
  EXPECT_EQ(step.rank_times(0).compute_ps(), 60'000);
  EXPECT_EQ(step.kernels(0).count(), 2);
  EXPECT_EQ(step.launches(1).launches_count(), 2);
  EXPECT_EQ(step.steps_count(), 2);  // The list stays whole.
  EXPECT_THAT(step.notices(), Contains(HasSubstr("only step 1 of 2, ProfilerStep#8")));
}

TEST_F(AnalyzeTimelineTest, AStepThatIsNotThereTellsHowManyAre) {
  v1::AnalyzeTimelineRequest request = Request("traces/t-1");
  request.mutable_timeline()->set_step(2);
  EXPECT_THAT(Analyze(request),
              StatusIs(absl::StatusCode::kOutOfRange, "traces/t-1: step: 2 is not in [0, 2)"));
  request.mutable_timeline()->set_step(-1);
  EXPECT_THAT(Analyze(request), StatusIs(absl::StatusCode::kInvalidArgument, "-1 is below 0"));
  RankSketch sketch;
  sketch.Kernel("k", 0, 1);
  Store("t-2", SketchTrace({sketch.Build()}));
  request = Request("traces/t-2");
  request.mutable_timeline()->set_step(0);
  EXPECT_THAT(Analyze(request), StatusIs(absl::StatusCode::kOutOfRange, "no steps were found"));
}

TEST_F(AnalyzeTimelineTest, UnknownSectionsAndListsOutOfRangeAreRefused) {
  v1::AnalyzeTimelineRequest request = Request("traces/t-1");
  request.add_sections(static_cast<v1::AnalysisSection>(99));
  EXPECT_THAT(Analyze(request), StatusIs(absl::StatusCode::kInvalidArgument, "sections: 99"));
  request = Request("traces/t-1");
  request.set_top(kMaxAnalysisTop + 1);
  EXPECT_THAT(Analyze(request), StatusIs(absl::StatusCode::kInvalidArgument, "top: "));
  EXPECT_THAT(Analyze(Request("traces/t-9")), StatusIs(absl::StatusCode::kNotFound, "t-9"));
}

TEST_F(AnalyzeTimelineTest, MemoryIsSaidOnlyWhenAskedForAndWhereOperatorsNameTensors) {
  ASSERT_OK_AND_ASSIGN(const v1::TimelineAnalysis all, Analyze(Request("traces/t-1")));
  EXPECT_EQ(all.memory_size(), 0);
  v1::AnalyzeTimelineRequest request = Request("traces/t-1");
  request.add_sections(v1::MEMORY);
  ASSERT_OK_AND_ASSIGN(const v1::TimelineAnalysis none, Analyze(request));
  EXPECT_EQ(none.memory_size(), 0);
  EXPECT_THAT(none.notices(), Contains(HasSubstr("name no tensors")));

  // A tensor of 40 bytes comes out of an operation and is read by the next.
  RankSketch sketch;
  for (int64_t i = 0; i < 2; ++i) {
    OpArguments arguments{.in_values = "[]", .out_values = "[]"};
    (i == 0 ? arguments.out_values : arguments.in_values) = "[[1,5,0,10,4,\"cuda:0\"]]";
    const std::string cold = ColdOf(arguments);
    NodeSpec spec;
    spec.type = NodeType::kComp;
    spec.flags = RankTrace::kHostOp;
    spec.start_ns = 10 * i;
    spec.dur_ns = 10;
    spec.cold = cold;
    sketch.Node(spec);
  }
  Store("t-4", SketchTrace({sketch.Build()}));
  request.mutable_timeline()->set_name("traces/t-4");
  ASSERT_OK_AND_ASSIGN(const v1::TimelineAnalysis memory, Analyze(request));
  ASSERT_EQ(memory.memory_size(), 1);
  EXPECT_EQ(memory.memory(0).device(), "cuda:0");
  EXPECT_EQ(memory.memory(0).peak_bytes(), 40);
  EXPECT_THAT(memory.memory(0).at_ps(), testing::ElementsAre(0, 20'000));
  EXPECT_THAT(memory.memory(0).bytes(), testing::ElementsAre(40, 0));
}

// Thousands of kernels with names of a megabyte, and steps without end.
TEST_F(AnalyzeTimelineTest, AnAnswerStaysSmallWhateverTheTraceHolds) {
  RankSketch sketch;
  for (int i = 0; i < 12'000; ++i) {
    sketch.Mark(absl::StrCat("ProfilerStep#", i), 10 * i, 10 * i + 10);
    sketch.Kernel(absl::StrCat("\xff kernel ", i, std::string(i < 3 ? 1 << 20 : 900, 'x')), 10 * i,
                  10 * i + 9, i);
  }
  Store("t-3", SketchTrace({sketch.Build()}));
  v1::AnalyzeTimelineRequest request = Request("traces/t-3");
  request.set_top(kMaxAnalysisTop);
  ASSERT_OK_AND_ASSIGN(const v1::TimelineAnalysis answer, Analyze(request));
  EXPECT_LT(answer.ByteSizeLong(), size_t{3} << 20);
  EXPECT_EQ(answer.steps_count(), 12'000);
  EXPECT_EQ(answer.kernels_count(), 12'000);
  EXPECT_GT(answer.kernels_size(), 500);
  EXPECT_LE(answer.kernels(0).name().size(), kMaxAnalysisNameBytes);
  EXPECT_THAT(answer.notices(), Contains(HasSubstr("kernels: the ")));
  EXPECT_THAT(answer.notices(), Contains(HasSubstr("steps: the first ")));
}

}  // namespace
}  // namespace chakrad
