// Series as a fleet leaves them behind: jobs with a record every so often, thirty samples each,
// whose values tell where they belong.
#ifndef CHAKRAD_TESTS_HISTORY_HISTORY_RECORDS_H_
#define CHAKRAD_TESTS_HISTORY_HISTORY_RECORDS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "storage/series_store.h"

namespace chakrad {

struct HistoryShape {
  int jobs_count = 1;
  int records_per_job = 1;
  int64_t newest_unix_ms = 0;  // Of job 0; each other job's is 1,001 ms earlier.
  int64_t step_ms = 3'600'000;
};
inline constexpr int kHistorySamples = 30;  // Of a record.

// Record `number`, 0 the oldest, of a job.
SeriesRecord HistoryRecord(const HistoryShape& shape, int job, int number);
// All of them, in order of time.
std::vector<SeriesRecord> HistoryRecords(const HistoryShape& shape);

// By "name{label=value,...}", labels by name: value by time.
using HistorySamples = std::map<std::string, std::map<int64_t, double>>;
HistorySamples SamplesOf(const std::vector<SeriesRecord>& records);

}  // namespace chakrad

#endif  // CHAKRAD_TESTS_HISTORY_HISTORY_RECORDS_H_
