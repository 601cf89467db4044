// The daemon's own metrics, in Prometheus's terms: base units, bounded labels,
// never an id of a trace or a job.
#ifndef CHAKRAD_SERVER_METRICS_H_
#define CHAKRAD_SERVER_METRICS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "storage/kv_stats.h"
#include "storage/store_health.h"
#include "trace/model/ledger.h"

namespace chakrad {

// What one run of retention did.
struct RetentionRunCounts {
  bool ok = false;
  int64_t deleted_traces = 0;
  int64_t freed_bytes = 0;    // Before sharing.
  int64_t in_use_traces = 0;  // To go, but read or pinned meanwhile.
  int64_t damaged_traces = 0;
  int64_t held_traces = 0;  // Would go, if the clock could be trusted.
};

// Thread-safe.
class Metrics {
 public:
  Metrics();
  ~Metrics();

  // chakrad_rpc_duration_seconds{method,code}
  void ObserveRpc(absl::string_view method, absl::string_view code, double seconds);
  // chakrad_ingest_bytes_total
  void AddIngestBytes(int64_t bytes);
  // chakrad_ingest_records_total{outcome}, chakrad_ingest_rejected_records_total{rule}
  void AddLedger(const Ledger& ledger);
  // chakrad_traces_sealed_total{outcome="ok"|"refused"}
  void AddSeal(bool ok);
  // chakrad_jobs_pending, chakrad_jobs_running
  void SetJobs(int64_t pending, int64_t running);
  // chakrad_job_duration_seconds{kind,state}
  void ObserveJob(absl::string_view kind, absl::string_view state, double seconds);
  // chakrad_retention_runs_total{outcome="ok"|"failed"},
  // chakrad_retention_deleted_traces_total, chakrad_retention_freed_bytes_total,
  // chakrad_retention_skipped_traces_total{reason="in_use"|"damaged"},
  // chakrad_retention_held_traces
  void AddRetentionRun(const RetentionRunCounts& run);
  // chakrad_store_bytes
  void SetStoreBytes(int64_t bytes);
  // chakrad_store_writable (0 or 1), chakrad_store_disk_free_bytes
  void SetStoreHealth(const StoreHealth& health);

  // chakrad_store_engine_...: what RocksDB says of itself.
  void SetEngine(const KvStats& stats);

  // chakrad_series_duration_seconds{kind="trace"|"simulation"}: its count is that of records made.
  void ObserveSeries(absl::string_view kind, double seconds);
  // chakrad_series_skipped_total{reason}
  void AddSeriesSkipped(absl::string_view reason);
  // chakrad_series_failures_total
  void AddSeriesFailure();
  // chakrad_series_pending_traces, chakrad_series_lag_seconds: of the oldest of them.
  void SetSeriesPending(int64_t traces, int64_t lag_ns);
  // chakrad_metric_keys, chakrad_metric_keys_dropped_total,
  // chakrad_metric_samples_dropped_total{family}
  void SetMetricKeys(int64_t keys);
  void AddMetricKeyDropped();
  void AddMetricSamplesDropped(absl::string_view family, int64_t count);

  // chakrad_analyses_running, chakrad_analyses_waiting
  void SetAnalyses(int64_t running, int64_t waiting);
  // chakrad_analysis_duration_seconds{method}: without the time that it waited for its turn.
  void ObserveAnalysis(absl::string_view method, double seconds);

  // Everything in Prometheus's text format.
  std::string Text() const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_METRICS_H_
