// A reader of series over real stores in memory, with a clock that the test owns.
#ifndef CHAKRAD_SERVER_SERIES_SERIES_MANAGER_TEST_FIXTURE_H_
#define CHAKRAD_SERVER_SERIES_SERIES_MANAGER_TEST_FIXTURE_H_

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "chakrad/v1/job.pb.h"
#include "common/status_matchers.h"
#include "server/jobs/simulation.h"
#include "server/series/parse_metrics_text.h"
#include "server/series/sample_codec.h"
#include "server/series/series_manager.h"
#include "storage/faulty_kv.h"
#include "storage/job_store_kv.h"
#include "storage/mem_kv.h"
#include "storage/trace_store_kv.h"
#include "trace/model/rank_trace_builder.h"

namespace chakrad {

inline constexpr int64_t kSecondNs = 1'000'000'000;
inline constexpr int64_t kStartNs = 1'700'000'000 * kSecondNs;

// compute |####....|   [0, 4) ms
// comm    |..######|   [2, 8) ms: 4 ms exposed of 8.
inline Trace SmallTrace(int64_t base_unix_ns, int32_t world_size = 2,
                        int64_t compute_ns = 4'000'000) {
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

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_SERIES_SERIES_MANAGER_TEST_FIXTURE_H_
