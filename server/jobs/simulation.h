// What a simulation job is asked, and its stored form.
#ifndef CHAKRAD_SERVER_JOBS_SIMULATION_H_
#define CHAKRAD_SERVER_JOBS_SIMULATION_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/simulate.h"
#include "sim/system/system_description.h"

namespace chakrad {

struct SimulationSpec {
  std::string trace_id;
  // The system: ours, or ASTRA-sim's files (the third may be empty).
  std::string system_yaml;
  std::string network_yaml;
  std::string system_json;
  std::string remote_memory_json;
  std::optional<NetworkBackEnd> back_end;  // Absent: as the description says.
  bool replicate_missing_ranks = false;
  bool keep_timeline = false;
  bool unfolded = false;
  bool critical_path = false;
  int64_t max_simulated_ps = 0;  // 0: the engine's limit; else in [1, kHorizonPs].
  int64_t max_events = 0;        // 0: the engine's default.
};

// Stored as the wire message chakrad.v1.SimulationSpec. Decoding: DATA_LOSS when the bytes are
// not one.
std::string EncodeSpec(const SimulationSpec& spec);
absl::StatusOr<SimulationSpec> DecodeSpec(absl::string_view bytes);

// INVALID_ARGUMENT: a text that is too large, that does not parse, or that must not stand beside
// another; a limit out of its range.
absl::StatusOr<SystemDescription> SystemOf(const SimulationSpec& spec);
// Of a spec that SystemOf accepts.
SimOptions OptionsOf(const SimulationSpec& spec);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_JOBS_SIMULATION_H_
