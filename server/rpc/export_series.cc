#include "server/rpc/export_series.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "server/history/export_openmetrics.h"
#include "server/limits.h"
#include "server/log.h"

namespace chakrad {
namespace {

// What a protobuf timestamp can say: years 1 to 9999.
constexpr int64_t kMinUnixSeconds = -62'135'596'800;
constexpr int64_t kMaxUnixSeconds = 253'402'300'799;

absl::StatusOr<int64_t> UnixMs(const google::protobuf::Timestamp& time, const char* field) {
  if (time.seconds() < kMinUnixSeconds || time.seconds() > kMaxUnixSeconds || time.nanos() < 0 ||
      time.nanos() > 999'999'999) {
    return absl::InvalidArgumentError(absl::StrCat(field, ": is no time between 0001 and 9999"));
  }
  return time.seconds() * 1'000 + time.nanos() / 1'000'000;
}

absl::StatusOr<ExportQuery> QueryOf(const v1::ExportSeriesRequest& request) {
  ExportQuery query;
  if (request.has_from()) {
    ASSIGN_OR_RETURN(query.from_unix_ms, UnixMs(request.from(), "from"));
  }
  if (request.has_to()) {
    ASSIGN_OR_RETURN(query.to_unix_ms, UnixMs(request.to(), "to"));
  }
  if (query.from_unix_ms >= query.to_unix_ms) {
    return absl::InvalidArgumentError("from: must be before `to`");
  }
  query.cluster = request.cluster();
  query.job = request.job();
  return query;
}

// One of few, while it lives.
class Slot {
 public:
  explicit Slot(std::atomic<int>* running) : running_(running), taken_(++*running) {}
  ~Slot() { --*running_; }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  bool fits() const { return taken_ <= kMaxSeriesExports; }

 private:
  std::atomic<int>* const running_;
  const int taken_;
};

}  // namespace

absl::Status SeriesExports::Export(const v1::ExportSeriesRequest& request,
                                   const std::function<bool()>& cancelled,
                                   grpc::ServerWriter<v1::ExportSeriesResponse>* stream) {
  ASSIGN_OR_RETURN(const ExportQuery query, QueryOf(request));
  const Slot slot(&running_);
  if (!slot.fits()) {
    return absl::ResourceExhaustedError(
        absl::StrCat(kMaxSeriesExports, " exports run already; try again when one has ended"));
  }
  v1::ExportSeriesResponse response;
  const auto write = [&](absl::string_view piece, int64_t samples_so_far) {
    response.set_data(piece.data(), piece.size());
    response.set_samples_count(samples_so_far);
    return stream->Write(response);
  };
  ASSIGN_OR_RETURN(const ExportCounts counts,
                   ExportOpenMetrics(
                       series_, query, {}, [&] { return !cancelled(); }, write));
  if (counts.damaged_records > 0) {
    Log(LogLevel::kError, "export_records_damaged",
        {{"records", absl::StrCat(counts.damaged_records)}});
  }
  return absl::OkStatus();
}

}  // namespace chakrad
