// What a simulation job is asked and what it answers, and their stored form.
#ifndef CHAKRAD_SERVER_JOBS_SIMULATION_H_
#define CHAKRAD_SERVER_JOBS_SIMULATION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "analysis/exposed_comm.h"
#include "sim/simulate.h"

namespace chakrad {

struct SimulationSpec {
  std::string trace_id;
  std::string network_yaml;
  std::string system_json;
  bool replicate_missing_ranks = false;
  bool keep_timeline = false;
};

struct SimulationOutcome {
  SimResult result;
  std::vector<RankBreakdown> ranks;  // Parallel to result.ranks.
};

// Stored as the wire messages chakrad.v1.SimulationSpec and SimulationResult.
// Decoding: DATA_LOSS when the bytes are not one.
std::string EncodeSpec(const SimulationSpec& spec);
absl::StatusOr<SimulationSpec> DecodeSpec(absl::string_view bytes);
std::string EncodeOutcome(const SimulationOutcome& outcome);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_JOBS_SIMULATION_H_
