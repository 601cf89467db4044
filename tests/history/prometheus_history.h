// What a Prometheus has of the history.
#ifndef CHAKRAD_TESTS_HISTORY_PROMETHEUS_HISTORY_H_
#define CHAKRAD_TESTS_HISTORY_PROMETHEUS_HISTORY_H_

#include <string>

#include "tests/history/history_records.h"
#include "tests/prometheus/prometheus_process.h"

namespace chakrad {

// A receiver with an out-of-order window, as docs/history.md sets it up.
PrometheusOptions ReceiverOptions(const std::string& window = "100d");

// The address that takes remote write.
std::string WriteUrl(const PrometheusProcess& prometheus);

// Every sample of the last `days` of chakrad's series, raw, heartbeats apart.
HistorySamples StoredSamples(const PrometheusProcess& prometheus, int days = 110);

// "" when both are equal, else the first differences.
std::string DifferenceOf(const HistorySamples& wanted, const HistorySamples& stored);

}  // namespace chakrad

#endif  // CHAKRAD_TESTS_HISTORY_PROMETHEUS_HISTORY_H_
