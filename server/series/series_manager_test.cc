#include "server/series/series_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "server/series/series_manager_test_fixture.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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
