// The result of a simulation as files: a folder of CSV, a JSON document.
#ifndef CHAKRAD_CLIENT_RESULT_FILES_H_
#define CHAKRAD_CLIENT_RESULT_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "chakrad/v1/job.pb.h"

namespace chakrad::client {

// What is done with a finished job beside printing it.
struct ResultOptions {
  bool all_ranks = false;  // A line for each rank, however many.
  std::string csv_folder;  // Empty: none.
  std::string json_file;   // Empty: none.
  bool writes_files() const { return !csv_folder.empty() || !json_file.empty(); }
};

// ranks.csv, collectives.csv, dimensions.csv, links.csv, critical_path.csv, classes.csv and
// summary.csv under `folder`, which is made where it is missing; files that are there are
// replaced. The first line names the columns, whose last word is the unit; times are
// nanoseconds with three decimals, exact. A field that holds a comma, a quote or a line end is
// quoted as RFC 4180 says. INTERNAL with the path when something cannot be written.
absl::Status WriteResultCsv(const v1::SimulationResult& result, const std::string& folder);

// Writes what `options` asks for of a job that has a result; nothing of one that has none.
absl::Status WriteResultFiles(const v1::Job& job, const ResultOptions& options);

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_RESULT_FILES_H_
