// AnalysisService.ExportSeries: stored series as OpenMetrics text.
#ifndef CHAKRAD_SERVER_RPC_EXPORT_SERIES_H_
#define CHAKRAD_SERVER_RPC_EXPORT_SERIES_H_

#include <grpcpp/support/sync_stream.h>

#include <atomic>
#include <functional>

#include "absl/status/status.h"
#include "chakrad/v1/analysis.pb.h"
#include "storage/series_store.h"

namespace chakrad {

// Thread-safe. `series` must outlive it.
class SeriesExports {
 public:
  explicit SeriesExports(SeriesStore* series) : series_(series) {}

  // INVALID_ARGUMENT: `from` is not before `to`. RESOURCE_EXHAUSTED: kMaxSeriesExports run.
  // CANCELLED: `cancelled` returned true, or the stream broke.
  absl::Status Export(const v1::ExportSeriesRequest& request,
                      const std::function<bool()>& cancelled,
                      grpc::ServerWriter<v1::ExportSeriesResponse>* stream);

 private:
  SeriesStore* const series_;
  std::atomic<int> running_{0};
};

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_RPC_EXPORT_SERIES_H_
