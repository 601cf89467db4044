#include "server/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "server/version.h"

namespace chakrad {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;

// Seconds. RPCs answer within milliseconds; sealing and simulating may take minutes.
const prometheus::Histogram::BucketBoundaries kRpcSeconds{
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60};
const prometheus::Histogram::BucketBoundaries kJobSeconds{0.01, 0.1, 0.5, 1,   2.5,  5,
                                                          10,   30,  60,  300, 1800, 3600};

}  // namespace

struct Metrics::Families {
  prometheus::Registry registry;
  prometheus::Family<prometheus::Histogram>& rpc =
      BuildHistogram()
          .Name("chakrad_rpc_duration_seconds")
          .Help("Time from a request's arrival to its answer, streams to their end.")
          .Register(registry);
  prometheus::Counter& ingest_bytes = BuildCounter()
                                          .Name("chakrad_ingest_bytes_total")
                                          .Help("Bytes of uploaded files that were committed.")
                                          .Register(registry)
                                          .Add({});
  prometheus::Family<prometheus::Counter>& records =
      BuildCounter()
          .Name("chakrad_ingest_records_total")
          .Help("Records of uploaded files by what became of them.")
          .Register(registry);
  prometheus::Family<prometheus::Counter>& rejected =
      BuildCounter()
          .Name("chakrad_ingest_rejected_records_total")
          .Help("Records of uploaded files that were rejected, by rule.")
          .Register(registry);
  prometheus::Family<prometheus::Counter>& seals =
      BuildCounter()
          .Name("chakrad_traces_sealed_total")
          .Help("Uploads that were sealed, by outcome.")
          .Register(registry);
  prometheus::Gauge& jobs_pending = BuildGauge()
                                        .Name("chakrad_jobs_pending")
                                        .Help("Jobs that wait for a worker.")
                                        .Register(registry)
                                        .Add({});
  prometheus::Gauge& jobs_running = BuildGauge()
                                        .Name("chakrad_jobs_running")
                                        .Help("Jobs that a worker runs.")
                                        .Register(registry)
                                        .Add({});
  prometheus::Family<prometheus::Histogram>& jobs =
      BuildHistogram()
          .Name("chakrad_job_duration_seconds")
          .Help("Time from a job's start to its end, by final state.")
          .Register(registry);
  prometheus::Family<prometheus::Counter>& retention_runs =
      BuildCounter()
          .Name("chakrad_retention_runs_total")
          .Help("Runs of the retention policies, by outcome.")
          .Register(registry);
  prometheus::Counter& retention_deleted = BuildCounter()
                                               .Name("chakrad_retention_deleted_traces_total")
                                               .Help("Traces that the retention policies deleted.")
                                               .Register(registry)
                                               .Add({});
  prometheus::Counter& retention_freed =
      BuildCounter()
          .Name("chakrad_retention_freed_bytes_total")
          .Help("Stored bytes of those traces; chunks that others share stayed.")
          .Register(registry)
          .Add({});
  prometheus::Family<prometheus::Counter>& retention_skipped =
      BuildCounter()
          .Name("chakrad_retention_skipped_traces_total")
          .Help("Traces that were to go and stayed, by reason.")
          .Register(registry);
  prometheus::Gauge& retention_held =
      BuildGauge()
          .Name("chakrad_retention_held_traces")
          .Help("Traces that stay only because the clock is not trusted, in the last run.")
          .Register(registry)
          .Add({});
  prometheus::Gauge& store_bytes = BuildGauge()
                                       .Name("chakrad_store_bytes")
                                       .Help("Bytes of all stored traces, compressed.")
                                       .Register(registry)
                                       .Add({});
  prometheus::Gauge& store_writable =
      BuildGauge()
          .Name("chakrad_store_writable")
          .Help("1 while the store takes uploads; 0 while its disk is full or refuses writes.")
          .Register(registry)
          .Add({});
  prometheus::Gauge& store_disk_free_bytes = BuildGauge()
                                                 .Name("chakrad_store_disk_free_bytes")
                                                 .Help("Bytes free on the disk of the data folder.")
                                                 .Register(registry)
                                                 .Add({});
  prometheus::Gauge& build_info = BuildGauge()
                                      .Name("chakrad_build_info")
                                      .Help("1; the label tells the version.")
                                      .Register(registry)
                                      .Add({{"version", kVersion}});
};

Metrics::Metrics() : families_(std::make_unique<Families>()) { families_->build_info.Set(1); }

Metrics::~Metrics() = default;

void Metrics::ObserveRpc(absl::string_view method, absl::string_view code, double seconds) {
  families_->rpc.Add({{"method", std::string(method)}, {"code", std::string(code)}}, kRpcSeconds)
      .Observe(seconds);
}

void Metrics::AddIngestBytes(int64_t bytes) {
  families_->ingest_bytes.Increment(static_cast<double>(bytes));
}

void Metrics::AddLedger(const Ledger& ledger) {
  const auto add = [this](const char* outcome, int64_t count) {
    families_->records.Add({{"outcome", outcome}}).Increment(static_cast<double>(count));
  };
  add("kept", ledger.kept);
  add("merged", ledger.merged);
  add("rejected", ledger.rejected);
  for (const auto& [rule, count] : ledger.rejected_by_rule) {
    families_->rejected.Add({{"rule", rule}}).Increment(static_cast<double>(count));
  }
}

void Metrics::AddSeal(bool ok) {
  families_->seals.Add({{"outcome", ok ? "ok" : "refused"}}).Increment();
}

void Metrics::SetJobs(int64_t pending, int64_t running) {
  families_->jobs_pending.Set(static_cast<double>(pending));
  families_->jobs_running.Set(static_cast<double>(running));
}

void Metrics::ObserveJob(absl::string_view state, double seconds) {
  families_->jobs.Add({{"state", std::string(state)}}, kJobSeconds).Observe(seconds);
}

void Metrics::AddRetentionRun(const RetentionRunCounts& run) {
  families_->retention_runs.Add({{"outcome", run.ok ? "ok" : "failed"}}).Increment();
  families_->retention_deleted.Increment(static_cast<double>(run.deleted_traces));
  families_->retention_freed.Increment(static_cast<double>(run.freed_bytes));
  families_->retention_skipped.Add({{"reason", "in_use"}})
      .Increment(static_cast<double>(run.in_use_traces));
  families_->retention_skipped.Add({{"reason", "damaged"}})
      .Increment(static_cast<double>(run.damaged_traces));
  families_->retention_held.Set(static_cast<double>(run.held_traces));
}

void Metrics::SetStoreBytes(int64_t bytes) {
  families_->store_bytes.Set(static_cast<double>(bytes));
}

void Metrics::SetStoreHealth(const StoreHealth& health) {
  families_->store_writable.Set(health.writable ? 1 : 0);
  families_->store_disk_free_bytes.Set(static_cast<double>(health.disk_free_bytes));
}

std::string Metrics::Text() const {
  return prometheus::TextSerializer().Serialize(families_->registry.Collect());
}

}  // namespace chakrad
