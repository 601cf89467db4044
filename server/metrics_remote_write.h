// Prometheus's text of what the remote writers did.
#ifndef CHAKRAD_SERVER_METRICS_REMOTE_WRITE_H_
#define CHAKRAD_SERVER_METRICS_REMOTE_WRITE_H_

#include <string>
#include <vector>

#include "server/remote_write/remote_writer.h"

namespace chakrad {

// Each with the label `receiver`:
//   chakrad_remote_write_up
//   chakrad_remote_write_pending_records
//   chakrad_remote_write_samples_total
//   chakrad_remote_write_samples_dropped_total{reason}: RemoteWriterStats
//   chakrad_remote_write_damaged_records_total
//   chakrad_remote_write_requests_total{outcome}: AnswerKindName
//   chakrad_remote_write_last_success_timestamp_seconds
// "" without receivers.
std::string RemoteWriteMetricsText(const std::vector<RemoteWriterStats>& writers);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_METRICS_REMOTE_WRITE_H_
