// Over real stores in memory, with a clock that the test owns.
#include "server/series/series_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "chakrad/v1/job.pb.h"
#include "common/status_matchers.h"
#include "server/jobs/simulation.h"
#include "server/limits.h"
#include "server/series/parse_metrics_text.h"
#include "server/series/sample_codec.h"
#include "storage/faulty_kv.h"
#include "storage/job_store_kv.h"
#include "storage/mem_kv.h"
#include "storage/trace_store_kv.h"
#include "trace/model/rank_trace_builder.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kStartNs = 1'700'000'000 * kSecondNs;

// compute |####....|   [0, 4) ms
// comm    |..######|   [2, 8) ms: 4 ms exposed of 8.
Trace SmallTrace(int64_t base_unix_ns, int32_t world_size = 2, int64_t compute_ns = 4'000'000) {
  Trace trace;
  trace.world_size = world_size;
  ProcessGroup world;
  for (int32_t rank = 0; rank < world_size; ++rank) world.ranks.push_back(rank);
  trace.groups.push_back(world);
  for (int32_t rank = 0; rank < world_size; ++rank) {
    RankTraceBuilder builder;
    builder.header().rank = rank;
    builder.header().base_unix_ns = base_unix_ns;
    builder.AddNode(
        {.id = 1, .type = NodeType::kComp, .name = "gemm", .start_ns = 0, .dur_ns = compute_ns});
    const CommOp op{.bytes = 1'024, .group = 0};
    builder.AddNode({.id = 2,
                     .type = NodeType::kCommColl,
                     .name = "allreduce",
                     .start_ns = 2'000'000,
                     .dur_ns = 6'000'000,
                     .comm = &op});
    trace.ranks.push_back(*builder.Build(nullptr));
  }
  return trace;
}

// Some chunks cannot be read for now.
class BusyKv : public FaultyKv {
 public:
  using FaultyKv::FaultyKv;
  absl::StatusOr<std::string> Get(Family family, absl::string_view key) override {
    if (family == Family::kChunks && busy_.count(std::string(key)) > 0) {
      if (when_asked_) when_asked_();
      return absl::UnavailableError("busy");
    }
    return FaultyKv::Get(family, key);
  }
  std::set<std::string> busy_;
  std::function<void()> when_asked_;
};

class SeriesManagerTest : public testing::Test {
 protected:
  // A trace that shares no chunk with the others of its tests, and whose first cannot be read.
  void PutBusy(const std::string& id) {
    PutTrace(id, "busy", SmallTrace(kStartNs, 2, 5));
    kv_->busy_.insert(traces_->GetRankIndex(id, 0)->hot[0].hash);
  }
  void Put(const std::string& id, const std::string& job, int64_t base_unix_ns = kStartNs,
           int32_t world_size = 2) {
    PutTrace(id, job, SmallTrace(base_unix_ns, world_size));
  }
  void PutTrace(const std::string& id, const std::string& job, Trace trace) {
    TraceInfo info;
    info.id = id;
    info.labels = trace.labels = {{"job", job}, {"cluster", "c"}};
    info.create_unix_ns = clock_.NowUnixNs();
    info.world_size = trace.world_size;
    info.groups = trace.groups;
    info.check.quality = 0.75;
    ASSERT_THAT(traces_->Put(trace, info), IsOk());
  }
  std::unique_ptr<SeriesManager> NewManager(SeriesOptions options = {}) {
    return std::make_unique<SeriesManager>(
        traces_.get(), jobs_.get(), series_.get(), [this] { return jobs_ended_; }, &clock_,
        &metrics_, options);
  }
  // A job that ends as it is given.
  void PutJob(const std::string& id, const std::string& trace_id, int64_t end_ps,
              JobRecord::State state = JobRecord::State::kSucceeded,
              const std::string& variant = "", int32_t project_to = 0) {
    SimulationSpec spec;
    spec.trace_id = trace_id;
    spec.variant = variant;
    if (project_to > 0) {
      spec.projection = ProjectionSpec{};
      spec.projection->new_size = project_to;
    }
    v1::SimulationResult result;
    result.set_end_ps(end_ps);
    result.set_ranks_count(project_to > 0 ? project_to : 2);
    auto* rank = result.add_ranks();
    rank->set_exposed_comm_ps(end_ps / 4);
    rank->set_ranks_count(result.ranks_count());
    JobRecord job;
    job.id = id;
    job.trace_id = trace_id;
    job.create_unix_ns = clock_.NowUnixNs();
    job.spec = EncodeSpec(spec);
    ASSERT_THAT(jobs_->Create(job), IsOk());
    job.state = state;
    job.start_unix_ns = job.end_unix_ns = clock_.NowUnixNs() + kSecondNs;
    job.result = result.SerializeAsString();
    if (state == JobRecord::State::kPending) return;
    ASSERT_THAT(jobs_->Update(job), IsOk());
    ++jobs_ended_;
  }
  void EndJob(const std::string& id) {
    JobRecord job = *jobs_->Get(id);
    job.state = JobRecord::State::kSucceeded;
    job.end_unix_ns = clock_.NowUnixNs();
    ASSERT_THAT(jobs_->Update(job), IsOk());
    ++jobs_ended_;
  }
  std::vector<SeriesRecord> Records() {
    std::vector<SeriesRecord> records;
    EXPECT_THAT(series_->Scan(0,
                              [&](const SeriesRecord& record) {
                                records.push_back(record);
                                return true;
                              }),
                IsOk());
    return records;
  }
  std::vector<std::string> Sources() {
    std::vector<std::string> sources;
    for (const SeriesRecord& record : Records()) sources.push_back(record.source);
    return sources;
  }
  // -1: the record has no such sample.
  static double ValueOf(const SeriesRecord& record, MetricId id) {
    const auto samples = DecodeSamples(record.samples);
    EXPECT_THAT(samples, IsOk());
    for (const MetricSample& sample : *samples) {
      if (sample.id == id) return sample.value;
    }
    return -1;
  }
  static ParsedMetrics Shown(SeriesManager* manager) {
    std::string text;
    manager->WriteText([&](absl::string_view piece) {
      text.append(piece.data(), piece.size());
      return true;
    });
    const auto metrics = ParseMetricsText(text);
    EXPECT_THAT(metrics, IsOk());
    return *metrics;
  }

  const std::shared_ptr<BusyKv> kv_ = std::make_shared<BusyKv>(std::shared_ptr<Kv>(NewMemKv()));
  FakeClock clock_{kStartNs + 60 * kSecondNs};
  Metrics metrics_;
  int64_t jobs_ended_ = 0;
  std::unique_ptr<TraceStore> traces_ = *OpenTraceStore(kv_);
  const std::unique_ptr<JobStore> jobs_ = NewJobStore(kv_);
  const std::unique_ptr<SeriesStore> series_ = *NewSeriesStore(kv_);
};

TEST_F(SeriesManagerTest, ATraceBecomesARecordWithItsOwnTimeAndIsShown) {
  Put("t-1", "train");
  const auto manager = NewManager();
  ASSERT_THAT(manager->CatchUp(), IsOk());
  const auto records = Records();
  ASSERT_EQ(records.size(), 1);
  EXPECT_EQ(records[0].source, "traces/t-1");
  EXPECT_EQ(records[0].key, (SeriesKey{"c", "train", "", "all"}));
  EXPECT_EQ(records[0].time_unix_ms, kStartNs / 1'000'000 + 8);
  EXPECT_EQ(records[0].added_unix_ms, clock_.NowUnixNs() / 1'000'000);
  EXPECT_NEAR(ValueOf(records[0], MetricId::kSpanSeconds), 0.008, 1e-12);
  EXPECT_NEAR(ValueOf(records[0], MetricId::kExposedCommSeconds), 0.004, 1e-12);
  EXPECT_NEAR(ValueOf(records[0], MetricId::kExposedCommRatio), 0.5, 1e-12);
  EXPECT_EQ(ValueOf(records[0], MetricId::kQualityRatio), 0.75);
  const auto shown = Shown(manager.get());
  const MetricLabels labels{
      {"cluster", "c"}, {"job", "train"}, {"model", ""}, {"rank_group", "all"}};
  EXPECT_NEAR(shown.at({"chakrad_trace_exposed_comm_ratio", labels}), 0.5, 1e-12);
}

TEST_F(SeriesManagerTest, TracesAreTakenInTheirOrderAndEachOnceAlsoAfterARestart) {
  for (int i = 0; i < 3; ++i) Put(absl::StrCat("t-", i), "j");
  ASSERT_THAT(NewManager()->CatchUp(), IsOk());
  for (int i = 3; i < 5; ++i) Put(absl::StrCat("t-", i), "j");
  const auto manager = NewManager();
  ASSERT_THAT(manager->CatchUp(), IsOk());
  ASSERT_THAT(manager->CatchUp(), IsOk());
  EXPECT_THAT(Sources(),
              ElementsAre("traces/t-0", "traces/t-1", "traces/t-2", "traces/t-3", "traces/t-4"));
}

TEST_F(SeriesManagerTest, ARestartShowsTheLatestOfEachKeyBeforeAnythingIsAnalysed) {
  Put("t-1", "a");
  Put("t-2", "b");
  ASSERT_THAT(NewManager()->CatchUp(), IsOk());
  ASSERT_THAT(traces_->Delete("t-1"), IsOk());  // Records outlive their traces.
  const auto manager = NewManager();
  manager->Start();
  const auto shown = Shown(manager.get());
  int steps = 0;
  for (const auto& [key, value] : shown) steps += key.first == "chakrad_trace_span_seconds";
  EXPECT_EQ(steps, 2);
  manager->Stop();
}

TEST_F(SeriesManagerTest, WhatGivesNoSeriesIsCountedByReasonAndPassedOver) {
  Put("t-1", "a");
  Trace timeless = SmallTrace(kStartNs);
  for (RankTrace& rank : timeless.ranks) {
    rank.start_ns.assign(rank.size(), kUnknownNs);
    rank.dur_ns.assign(rank.size(), kUnknownNs);
  }
  PutTrace("t-timeless", "a", timeless);
  PutTrace("t-damaged", "b", SmallTrace(kStartNs, 2, 5));  // Shares no chunk of nodes.
  const RankIndex index = *traces_->GetRankIndex("t-damaged", 0);
  kv_->Damage(Family::kChunks, index.hot[0].hash);
  Put("t-3", "c", kStartNs, 3);
  const auto manager = NewManager();
  ASSERT_THAT(manager->CatchUp(), IsOk());
  EXPECT_THAT(Sources(), ElementsAre("traces/t-1", "traces/t-3"));
  EXPECT_THAT(metrics_.Text(), HasSubstr("chakrad_series_skipped_total{reason=\"damaged\"} 1\n"));
  EXPECT_THAT(metrics_.Text(), HasSubstr("chakrad_series_skipped_total{reason=\"no_times\"} 1\n"));
  manager->Publish();
  EXPECT_THAT(metrics_.Text(), HasSubstr("chakrad_series_pending_traces 0\n"));
}

TEST_F(SeriesManagerTest, AFullDiskLosesNothingAndRepeatsNothing) {
  for (int i = 0; i < 600; ++i) Put(absl::StrCat("t-", 1000 + i), "j");
  kv_->FailWritesAfter(1, absl::ResourceExhaustedError("full"));
  const auto manager = NewManager();
  EXPECT_THAT(manager->CatchUp(), StatusIs(absl::StatusCode::kResourceExhausted, "full"));
  const size_t before = Records().size();
  EXPECT_GT(before, 0);
  EXPECT_LT(before, 600);
  EXPECT_THAT(manager->CatchUp(), StatusIs(absl::StatusCode::kResourceExhausted, "full"));
  kv_->Heal();
  ASSERT_THAT(manager->CatchUp(), IsOk());
  const auto sources = Sources();
  ASSERT_EQ(sources.size(), 600);
  for (int i = 0; i < 600; ++i) EXPECT_EQ(sources[i], absl::StrCat("traces/t-", 1000 + i));
}

// A process that dies anywhere, many times over.
TEST_F(SeriesManagerTest, RestartsAndFailedWritesAtRandomLoseAndRepeatNothing) {
  int stored = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    for (int i = 0; i < 7; ++i) Put(absl::StrCat("t-", 1000 + stored++), "j");
    kv_->FailWritesAtRandom(0.5, seed);
    NewManager()->CatchUp().IgnoreError();
    kv_->Heal();
  }
  ASSERT_THAT(NewManager()->CatchUp(), IsOk());
  const auto sources = Sources();
  ASSERT_EQ(sources.size(), static_cast<size_t>(stored));
  for (int i = 0; i < stored; ++i) EXPECT_EQ(sources[i], absl::StrCat("traces/t-", 1000 + i));
}

TEST_F(SeriesManagerTest, TimesThatNoClockCanHaveShownGiveWayToWhenItWasStored) {
  Put("t-none", "a", 0);
  Put("t-past", "b", 1'000 * kSecondNs);
  Put("t-future", "c", kStartNs + 86'400 * kSecondNs);
  Put("t-ahead", "d", clock_.NowUnixNs() + 601 * kSecondNs);
  Put("t-2100", "e", int64_t{4'102'444'800} * kSecondNs);
  ASSERT_THAT(NewManager()->CatchUp(), IsOk());
  const int64_t stored_ms = clock_.NowUnixNs() / 1'000'000;
  for (const SeriesRecord& record : Records()) {
    EXPECT_EQ(record.time_unix_ms, stored_ms) << record.source;
    EXPECT_EQ(ValueOf(record, MetricId::kEndTimestampSeconds), -1) << record.source;
  }
  // A little ahead, as clocks are.
  const int64_t ahead_ns = clock_.NowUnixNs() + 590 * kSecondNs;
  Put("t-near", "f", ahead_ns);
  ASSERT_THAT(NewManager()->CatchUp(), IsOk());
  EXPECT_EQ(Records().back().time_unix_ms, ahead_ns / 1'000'000 + 8);
  EXPECT_NEAR(ValueOf(Records().back(), MetricId::kEndTimestampSeconds),
              static_cast<double>(ahead_ns) * 1e-9 + 0.008, 1e-3);
}

TEST_F(SeriesManagerTest, ASimulationIsComparedWithItsTrace) {
  Put("t-1", "train");
  PutJob("j-1", "t-1", 10'000'000'000, JobRecord::State::kSucceeded, "400G");  // 10 ms for 8.
  PutJob("j-2", "t-1", 4'000'000'000);
  PutJob("j-failed", "t-1", 1, JobRecord::State::kFailed);
  const auto manager = NewManager();
  ASSERT_THAT(manager->CatchUp(), IsOk());
  const auto records = Records();
  ASSERT_EQ(records.size(), 3);
  EXPECT_EQ(records[1].source, "jobs/j-1");
  EXPECT_EQ(records[1].key, records[0].key);
  EXPECT_EQ(records[1].variant, "400G");
  EXPECT_EQ(records[1].time_unix_ms, (clock_.NowUnixNs() + kSecondNs) / 1'000'000);
  EXPECT_NEAR(ValueOf(records[1], MetricId::kSimulatedSpanSeconds), 0.010, 1e-12);
  EXPECT_NEAR(ValueOf(records[1], MetricId::kSimulatedExposedCommRatio), 0.25, 1e-12);
  EXPECT_NEAR(ValueOf(records[1], MetricId::kSimulationMeasuredSeconds), 0.008, 1e-12);
  EXPECT_NEAR(ValueOf(records[1], MetricId::kSimulationErrorRatio), 0.25, 1e-12);
  EXPECT_EQ(records[2].variant, "unnamed");
  EXPECT_NEAR(ValueOf(records[2], MetricId::kSimulationErrorRatio), -0.5, 1e-12);
  const MetricLabels labels{{"cluster", "c"},
                            {"job", "train"},
                            {"model", ""},
                            {"rank_group", "all"},
                            {"variant", "400G"}};
  EXPECT_NEAR(Shown(manager.get()).at({"chakrad_simulation_error_ratio", labels}), 0.25, 1e-12);
}

TEST_F(SeriesManagerTest, AProjectionIsComparedWithTheNewestTraceOfThatSizeIfThereIsOne) {
  Put("t-2", "train", kStartNs, 2);
  PutJob("j-alone", "t-2", 8'000'000'000, JobRecord::State::kSucceeded, "", 4);
  const auto manager = NewManager();
  ASSERT_THAT(manager->CatchUp(), IsOk());
  EXPECT_EQ(Records()[1].variant, "projected");
  EXPECT_EQ(ValueOf(Records()[1], MetricId::kSimulationMeasuredSeconds), -1);
  EXPECT_EQ(ValueOf(Records()[1], MetricId::kSimulationErrorRatio), -1);
  Put("t-4", "train", kStartNs, 4);
  Put("t-other", "other", kStartNs + 1, 4);
  PutJob("j-2", "t-2", 6'000'000'000, JobRecord::State::kSucceeded, "", 4);
  ASSERT_THAT(manager->CatchUp(), IsOk());
  const auto records = Records();
  EXPECT_EQ(records.back().source, "jobs/j-2");
  EXPECT_NEAR(ValueOf(records.back(), MetricId::kSimulationErrorRatio), -0.25, 1e-12);
}

TEST_F(SeriesManagerTest, TracesWithoutAJobAreNotComparedWithEachOther) {
  Trace two = SmallTrace(kStartNs, 2), four = SmallTrace(kStartNs, 4);
  PutTrace("t-2", "", two);
  PutTrace("t-4", "", four);
  PutJob("j-projected", "t-2", 8'000'000'000, JobRecord::State::kSucceeded, "", 4);
  PutJob("j-itself", "t-2", 8'000'000'000);
  ASSERT_THAT(NewManager()->CatchUp(), IsOk());
  std::map<std::string, double> measured;
  for (const SeriesRecord& record : Records()) {
    measured[record.source] = ValueOf(record, MetricId::kSimulationMeasuredSeconds);
  }
  EXPECT_EQ(measured.at("jobs/j-projected"), -1);
  EXPECT_NEAR(measured.at("jobs/j-itself"), 0.008, 1e-12);
}

TEST_F(SeriesManagerTest, JobsThatEndOutOfOrderAreAllTakenOnce) {
  Put("t-1", "j");
  PutJob("j-slow", "t-1", 1'000, JobRecord::State::kPending);
  clock_.AdvanceNs(10'000 * kSecondNs);  // Beyond kJobsSettledNs.
  PutJob("j-fast", "t-1", 2'000);
  ASSERT_THAT(NewManager()->CatchUp(), IsOk());
  EXPECT_THAT(Sources(), ElementsAre("traces/t-1", "jobs/j-fast"));
  clock_.AdvanceNs(10'000 * kSecondNs);
  const auto manager = NewManager();
  ASSERT_THAT(manager->CatchUp(), IsOk());
  EndJob("j-slow");
  ASSERT_THAT(manager->CatchUp(), IsOk());
  EXPECT_THAT(Sources(), ElementsAre("traces/t-1", "jobs/j-fast", "jobs/j-slow"));
  ASSERT_THAT(NewManager()->CatchUp(), IsOk());
  EXPECT_EQ(Sources().size(), 3);
}

TEST_F(SeriesManagerTest, AJobWhoseClockWentBackIsTakenAllTheSame) {
  Put("t-1", "j");
  PutJob("j-1", "t-1", 1'000);
  clock_.AdvanceNs(10'000 * kSecondNs);
  const auto manager = NewManager();
  ASSERT_THAT(manager->CatchUp(), IsOk());
  clock_.StepNs(-20'000 * kSecondNs);
  PutJob("j-early", "t-1", 1'000, JobRecord::State::kPending);
  ASSERT_THAT(manager->CatchUp(), IsOk());
  EndJob("j-early");
  ASSERT_THAT(manager->CatchUp(), IsOk());
  EXPECT_THAT(Sources(), ElementsAre("traces/t-1", "jobs/j-1", "jobs/j-early"));
}

TEST_F(SeriesManagerTest, ADamagedCursorKeepsNobodyFromWorking) {
  Put("t-1", "j");
  PutJob("j-1", "t-1", 1'000);
  ASSERT_THAT(NewManager()->CatchUp(), IsOk());
  for (const char* key : {"ctraces", "cjobs", "cattempt"}) kv_->Damage(Family::kSeries, key);
  Put("t-2", "j");
  const auto manager = NewManager();
  ASSERT_THAT(manager->CatchUp(), IsOk());
  PutJob("j-2", "t-2", 1'000);
  ASSERT_THAT(manager->CatchUp(), IsOk());
  EXPECT_THAT(Sources(), ElementsAre("traces/t-1", "jobs/j-1", "traces/t-2", "jobs/j-2"));
}

TEST_F(SeriesManagerTest, ATraceThatCannotBeReadHoldsTheOthersUpForAWhileOnly) {
  Put("t-1", "j");
  Put("t-2", "j");
  PutBusy("t-3");
  Put("t-4", "j");
  PutJob("j-1", "t-1", 1'000);
  const auto manager = NewManager();
  EXPECT_THAT(manager->CatchUp(), StatusIs(absl::StatusCode::kUnavailable, "traces/t-3"));
  EXPECT_THAT(Sources(), ElementsAre("traces/t-1", "traces/t-2", "jobs/j-1"));
  for (int i = 2; i < kSeriesReadTries; ++i) {
    EXPECT_THAT(manager->CatchUp(), StatusIs(absl::StatusCode::kUnavailable, "traces/t-3"));
  }
  EXPECT_EQ(Sources().size(), 3);
  EXPECT_THAT(metrics_.Text(),
              HasSubstr("chakrad_series_duration_seconds_count{kind=\"trace\"} 2\n"));
  ASSERT_THAT(manager->CatchUp(), IsOk());
  EXPECT_THAT(Sources(), ElementsAre("traces/t-1", "traces/t-2", "jobs/j-1", "traces/t-4"));
  EXPECT_THAT(metrics_.Text(),
              HasSubstr("chakrad_series_skipped_total{reason=\"unreadable\"} 1\n"));
}

TEST_F(SeriesManagerTest, ALargeTraceThatEndedTheDaemonTwiceIsPassedOver) {
  SeriesOptions options;
  options.marked_nodes = 4;  // Two ranks of two nodes.
  Put("t-1", "j");
  PutBusy("t-2");
  std::string mark;
  kv_->when_asked_ = [&] { mark = *series_->GetCursor("attempt"); };
  // Its process would end where the chunk is read.
  EXPECT_FALSE(NewManager(options)->CatchUp().ok());
  EXPECT_EQ(mark, "1 t-2");
  ASSERT_THAT(series_->SetCursor("attempt", "1 t-2"), IsOk());
  EXPECT_FALSE(NewManager(options)->CatchUp().ok());
  EXPECT_EQ(mark, "2 t-2");
  mark.clear();
  ASSERT_THAT(series_->SetCursor("attempt", "2 t-2"), IsOk());
  Put("t-3", "j");
  ASSERT_THAT(NewManager(options)->CatchUp(), IsOk());
  EXPECT_EQ(mark, "") << "it is not even read";
  EXPECT_THAT(Sources(), ElementsAre("traces/t-1", "traces/t-3"));
  EXPECT_EQ(*series_->GetCursor("attempt"), "");
  EXPECT_THAT(metrics_.Text(), HasSubstr("chakrad_series_skipped_total{reason=\"crashed\"} 1\n"));
}

TEST_F(SeriesManagerTest, ADamagedJobIsPassedOver) {
  Put("t-1", "j");
  PutJob("j-1", "t-1", 1'000);
  PutJob("j-2", "t-1", 1'000);
  PutJob("j-3", "t-1", 1'000);
  kv_->Damage(Family::kJobs, "jj-2");
  const auto manager = NewManager();
  ASSERT_THAT(manager->CatchUp(), IsOk());
  ++jobs_ended_;
  ASSERT_THAT(manager->CatchUp(), IsOk());
  EXPECT_THAT(Sources(), ElementsAre("traces/t-1", "jobs/j-1", "jobs/j-3"));
  EXPECT_THAT(metrics_.Text(), HasSubstr("chakrad_series_skipped_total{reason=\"damaged\"} 1\n"));
}

TEST_F(SeriesManagerTest, TracesAfterOneOfAClockThatWasAheadAreTaken) {
  Put("t-1", "j");
  clock_.StepNs(1'000'000 * kSecondNs);
  Put("t-ahead", "j");
  ASSERT_THAT(NewManager()->CatchUp(), IsOk());
  clock_.StepNs(-1'000'000 * kSecondNs);
  ASSERT_THAT(traces_->Delete("t-ahead"), IsOk());
  traces_.reset();
  traces_ = *OpenTraceStore(kv_);  // A restart forgets how far creation times had come.
  const auto manager = NewManager();
  ASSERT_THAT(manager->CatchUp(), IsOk());
  clock_.AdvanceNs(kSecondNs);
  Put("t-2", "j");
  ASSERT_THAT(manager->CatchUp(), IsOk());
  EXPECT_THAT(Sources(), ElementsAre("traces/t-1", "traces/t-ahead", "traces/t-2"));
}

TEST_F(SeriesManagerTest, PendingTracesAndTheirLagAreThoseOfTheMoment) {
  Put("t-1", "j");
  clock_.AdvanceNs(5 * kSecondNs);
  Put("t-2", "j");
  clock_.AdvanceNs(2 * kSecondNs);
  const auto manager = NewManager();
  manager->Publish();
  EXPECT_THAT(metrics_.Text(), HasSubstr("chakrad_series_pending_traces 2\n"));
  EXPECT_THAT(metrics_.Text(), HasSubstr("chakrad_series_lag_seconds 7\n"));
  ASSERT_THAT(manager->CatchUp(), IsOk());
  manager->Publish();
  EXPECT_THAT(metrics_.Text(), HasSubstr("chakrad_series_pending_traces 0\n"));
  EXPECT_THAT(metrics_.Text(), HasSubstr("chakrad_series_lag_seconds 0\n"));
}

TEST_F(SeriesManagerTest, AJobWhoseTraceIsGoneIsPassedOver) {
  Put("t-1", "j");
  PutJob("j-1", "t-1", 1'000);
  ASSERT_THAT(traces_->Delete("t-1"), IsOk());
  ASSERT_THAT(NewManager()->CatchUp(), IsOk());
  EXPECT_THAT(Sources(), IsEmpty());
  EXPECT_THAT(metrics_.Text(), HasSubstr("chakrad_series_skipped_total{reason=\"deleted\"} 1\n"));
}

TEST_F(SeriesManagerTest, HostileLabelsOfATraceBecomeValuesThatPrometheusTakes) {
  const std::string hostile = std::string("a\"\n\\\xff\x01") + std::string(1'000'000, 'x');
  Put("t-1", hostile);
  const auto manager = NewManager();
  ASSERT_THAT(manager->CatchUp(), IsOk());
  const auto shown = Shown(manager.get());
  ASSERT_FALSE(shown.empty());
  const std::string job = shown.begin()->first.second.at("job");
  EXPECT_LE(job.size(), 128);
  EXPECT_THAT(job, HasSubstr("a\" \\? x"));
}

TEST_F(SeriesManagerTest, BeyondTheCapKeysAreCountedAndTheirHistoryIsKept) {
  for (int i = 0; i < 5; ++i) Put(absl::StrCat("t-", i), absl::StrCat("job-", i));
  SeriesOptions options;
  options.metric_keys = 3;
  const auto manager = NewManager(options);
  ASSERT_THAT(manager->CatchUp(), IsOk());
  EXPECT_EQ(Sources().size(), 5);
  manager->Publish();
  EXPECT_THAT(metrics_.Text(), HasSubstr("chakrad_metric_keys 3\n"));
  EXPECT_THAT(metrics_.Text(), HasSubstr("chakrad_metric_keys_dropped_total 2\n"));
  // A restart shows those that came last.
  const auto restarted = NewManager(options);
  restarted->Start();
  restarted->Stop();
  std::set<std::string> jobs;
  for (const auto& [key, value] : Shown(restarted.get())) jobs.insert(key.second.at("job"));
  EXPECT_THAT(jobs, ElementsAre("job-2", "job-3", "job-4"));
}

TEST_F(SeriesManagerTest, TheThreadTakesWhatComesAndEndsWhenAsked) {
  const auto manager = NewManager();
  manager->Start();
  Put("t-1", "a");
  for (int i = 0; i < 500 && Records().empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_THAT(Sources(), ElementsAre("traces/t-1"));
  manager->Stop();
  Put("t-2", "a");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_THAT(Sources(), ElementsAre("traces/t-1"));
}

}  // namespace
}  // namespace chakrad
