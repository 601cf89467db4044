#include "server/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "common/mutex.h"
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

prometheus::Gauge& AddGauge(const char* name, const char* help, prometheus::Registry* registry) {
  return BuildGauge().Name(name).Help(help).Register(*registry).Add({});
}

prometheus::Counter& AddCounter(const char* name, const char* help,
                                prometheus::Registry* registry) {
  return BuildCounter().Name(name).Help(help).Register(*registry).Add({});
}

// A count that somebody else keeps. It may begin anew, as one of Prometheus may.
void Raise(double to, prometheus::Counter* counter, double* last) {
  counter->Increment(to >= *last ? to - *last : to);
  *last = to;
}

struct EngineFamilies {
  explicit EngineFamilies(prometheus::Registry* registry);

  prometheus::Gauge& table_bytes;
  prometheus::Gauge& blob_bytes;
  prometheus::Gauge& dead_blob_bytes;
  prometheus::Gauge& memory_bytes;
  prometheus::Gauge& pending_bytes;
  prometheus::Gauge& compactions;
  prometheus::Gauge& stopped;
  prometheus::Counter& stall_seconds;
  prometheus::Family<prometheus::Counter>& cache;
  double last_stall_seconds = 0;
  double last_hits = 0;
  double last_misses = 0;
};

EngineFamilies::EngineFamilies(prometheus::Registry* registry)
    : table_bytes(AddGauge("chakrad_store_engine_table_bytes",
                           "Bytes of RocksDB's table files: records and keys.", registry)),
      blob_bytes(AddGauge("chakrad_store_engine_blob_bytes",
                          "Bytes of RocksDB's blob files: chunks, raw files, results.", registry)),
      dead_blob_bytes(AddGauge("chakrad_store_engine_dead_blob_bytes",
                               "The part of them that was deleted and not given back yet.",
                               registry)),
      memory_bytes(AddGauge("chakrad_store_engine_memory_bytes",
                            "Memory of RocksDB's write buffers, block cache and table readers.",
                            registry)),
      pending_bytes(AddGauge("chakrad_store_engine_pending_compaction_bytes",
                             "Bytes that compactions have yet to rewrite, estimated.", registry)),
      compactions(
          AddGauge("chakrad_store_engine_compactions_running", "Compactions under way.", registry)),
      stopped(AddGauge("chakrad_store_engine_writes_stopped",
                       "1 while RocksDB lets writes wait for flushes or compactions.", registry)),
      stall_seconds(AddCounter("chakrad_store_engine_stall_seconds_total",
                               "Time that writes waited for flushes or compactions.", registry)),
      cache(BuildCounter()
                .Name("chakrad_store_engine_cache_reads_total")
                .Help("Reads of blocks by whether the block cache had them.")
                .Register(*registry)) {}

// Of server/series, and of analyses.
struct SeriesFamilies {
  explicit SeriesFamilies(prometheus::Registry* registry);

  prometheus::Family<prometheus::Histogram>& duration;
  prometheus::Family<prometheus::Counter>& skipped;
  prometheus::Counter& failures;
  prometheus::Gauge& pending_traces;
  prometheus::Gauge& lag_seconds;
  prometheus::Gauge& keys;
  prometheus::Counter& keys_dropped;
  prometheus::Family<prometheus::Counter>& samples_dropped;
  prometheus::Gauge& analyses_running;
  prometheus::Gauge& analyses_waiting;
  prometheus::Family<prometheus::Histogram>& analysis_duration;
};

SeriesFamilies::SeriesFamilies(prometheus::Registry* registry)
    : duration(BuildHistogram()
                   .Name("chakrad_series_duration_seconds")
                   .Help("Time to turn a stored trace, or a simulation, into its series.")
                   .Register(*registry)),
      skipped(BuildCounter()
                  .Name("chakrad_series_skipped_total")
                  .Help("Traces and simulations that gave no series, by reason.")
                  .Register(*registry)),
      failures(AddCounter("chakrad_series_failures_total",
                          "Times that the store did not take or give series; tried again.",
                          registry)),
      pending_traces(AddGauge("chakrad_series_pending_traces",
                              "Stored traces that are not turned into series yet.", registry)),
      lag_seconds(AddGauge("chakrad_series_lag_seconds",
                           "Time since the oldest of them was stored; 0 without any.", registry)),
      keys(AddGauge("chakrad_metric_keys",
                    "Keys (cluster, job, model, rank group, variant) shown here.", registry)),
      keys_dropped(AddCounter("chakrad_metric_keys_dropped_total",
                              "Records not shown here because --metric_keys are shown already.",
                              registry)),
      samples_dropped(BuildCounter()
                          .Name("chakrad_metric_samples_dropped_total")
                          .Help("Samples left out because a trace had too many of a family.")
                          .Register(*registry)),
      analyses_running(
          AddGauge("chakrad_analyses_running", "Analyses of callers under way.", registry)),
      analyses_waiting(
          AddGauge("chakrad_analyses_waiting", "Analyses that wait for their turn.", registry)),
      analysis_duration(BuildHistogram()
                            .Name("chakrad_analysis_duration_seconds")
                            .Help("Time of an analysis, without its waiting for its turn.")
                            .Register(*registry)) {
  // So that an alert has something to rise from.
  for (const char* reason :
       {"damaged", "deleted", "no_times", "too_large", "unreadable", "crashed", "failed"}) {
    skipped.Add({{"reason", reason}});
  }
}

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
          .Help("Time from a job's start to its end, by kind and final state.")
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
  Mutex engine_mutex;  // Of the last_... in `engine`.
  EngineFamilies engine{&registry};
  SeriesFamilies series{&registry};
  prometheus::Gauge& build_info = BuildGauge()
                                      .Name("chakrad_build_info")
                                      .Help("1; the label tells the version.")
                                      .Register(registry)
                                      .Add({{"version", kVersion}});
};

// A counter that appears with its first event has not risen by what Prometheus sees: those that
// alerts and dashboards look at stand at 0 from the start.
Metrics::Metrics() : families_(std::make_unique<Families>()) {
  families_->build_info.Set(1);
  for (const char* outcome : {"kept", "merged", "rejected"}) {
    families_->records.Add({{"outcome", outcome}});
  }
  for (const char* outcome : {"ok", "refused"}) families_->seals.Add({{"outcome", outcome}});
  for (const char* state : {"succeeded", "failed", "cancelled"}) {
    families_->jobs.Add({{"kind", "simulation"}, {"state", state}}, kJobSeconds);
  }
  for (const char* outcome : {"ok", "failed"}) {
    families_->retention_runs.Add({{"outcome", outcome}});
  }
  for (const char* reason : {"in_use", "damaged"}) {
    families_->retention_skipped.Add({{"reason", reason}});
  }
}

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

void Metrics::ObserveJob(absl::string_view kind, absl::string_view state, double seconds) {
  families_->jobs.Add({{"kind", std::string(kind)}, {"state", std::string(state)}}, kJobSeconds)
      .Observe(seconds);
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

void Metrics::SetEngine(const KvStats& stats) {
  EngineFamilies& engine = families_->engine;
  engine.table_bytes.Set(static_cast<double>(stats.table_bytes));
  engine.blob_bytes.Set(static_cast<double>(stats.blob_bytes));
  engine.dead_blob_bytes.Set(static_cast<double>(stats.dead_blob_bytes));
  engine.memory_bytes.Set(static_cast<double>(stats.memory_bytes));
  engine.pending_bytes.Set(static_cast<double>(stats.pending_compaction_bytes));
  engine.compactions.Set(static_cast<double>(stats.running_compactions));
  engine.stopped.Set(stats.writes_stopped ? 1 : 0);
  MutexLock lock(&families_->engine_mutex);
  Raise(static_cast<double>(stats.stall_us) * 1e-6, &engine.stall_seconds,
        &engine.last_stall_seconds);
  Raise(static_cast<double>(stats.cache_hits), &engine.cache.Add({{"outcome", "hit"}}),
        &engine.last_hits);
  Raise(static_cast<double>(stats.cache_misses), &engine.cache.Add({{"outcome", "miss"}}),
        &engine.last_misses);
}

void Metrics::ObserveSeries(absl::string_view kind, double seconds) {
  families_->series.duration.Add({{"kind", std::string(kind)}}, kRpcSeconds).Observe(seconds);
}

void Metrics::AddSeriesSkipped(absl::string_view reason) {
  families_->series.skipped.Add({{"reason", std::string(reason)}}).Increment();
}

void Metrics::AddSeriesFailure() { families_->series.failures.Increment(); }

void Metrics::SetSeriesPending(int64_t traces, int64_t lag_ns) {
  families_->series.pending_traces.Set(static_cast<double>(traces));
  families_->series.lag_seconds.Set(static_cast<double>(lag_ns) * 1e-9);
}

void Metrics::SetMetricKeys(int64_t keys) { families_->series.keys.Set(static_cast<double>(keys)); }

void Metrics::AddMetricKeyDropped() { families_->series.keys_dropped.Increment(); }

void Metrics::AddMetricSamplesDropped(absl::string_view family, int64_t count) {
  families_->series.samples_dropped.Add({{"family", std::string(family)}})
      .Increment(static_cast<double>(count));
}

void Metrics::SetAnalyses(int64_t running, int64_t waiting) {
  families_->series.analyses_running.Set(static_cast<double>(running));
  families_->series.analyses_waiting.Set(static_cast<double>(waiting));
}

void Metrics::ObserveAnalysis(absl::string_view method, double seconds) {
  families_->series.analysis_duration.Add({{"method", std::string(method)}}, kRpcSeconds)
      .Observe(seconds);
}

std::string Metrics::Text() const {
  return prometheus::TextSerializer().Serialize(families_->registry.Collect());
}

}  // namespace chakrad
