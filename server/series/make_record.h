// From one stored trace, or one finished simulation, to its record of series.
#ifndef CHAKRAD_SERVER_SERIES_MAKE_RECORD_H_
#define CHAKRAD_SERVER_SERIES_MAKE_RECORD_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "analysis/metrics/metric_families.h"
#include "storage/job_store.h"
#include "storage/series_store.h"
#include "storage/trace_store.h"

namespace chakrad {

struct MadeRecord {
  SeriesRecord record;  // Without its sequence.
  std::vector<MetricSample> samples;
  std::map<MetricId, int64_t> dropped_samples;  // Beyond kMaxSamplesPerFamily.
};

// Loads the trace's hot columns and analyses them. It holds no lease: a delete goes on. Its time is
// the end of the recording; where the trace tells none, or one that lies before 2010 or more than
// ten minutes after it was stored (a clock that was not set), when it was stored, and it has no
// sample of when the recording ended.
//
// NOT_FOUND: deleted meanwhile. DATA_LOSS: damaged. FAILED_PRECONDITION: no times.
// RESOURCE_EXHAUSTED: more than kMaxSeriesNodes. UNAVAILABLE: try again.
absl::StatusOr<MadeRecord> MakeTraceRecord(const TraceCard& card, TraceStore* traces);

// Of a job that has succeeded; its time is the job's end. The measured time to compare with is
// the longest rank's span: of the trace itself or, of a projected one whose trace names a job, of
// the newest stored trace with the same cluster, job, model and as many ranks. Errors as above;
// NOT_FOUND: the trace is gone, and with it whose series these are.
absl::StatusOr<MadeRecord> MakeJobRecord(const JobRecord& job, TraceStore* traces);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_SERIES_MAKE_RECORD_H_
