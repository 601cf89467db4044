// What a simulation job is asked, and its stored form.
#ifndef CHAKRAD_SERVER_JOBS_SIMULATION_H_
#define CHAKRAD_SERVER_JOBS_SIMULATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/projection/projection.h"
#include "sim/simulate.h"
#include "sim/system/system_description.h"

namespace chakrad {

namespace v1 {
class SimulationSpec;
}  // namespace v1

// A collective algorithm given as a stored trace.
struct CustomAlgorithm {
  std::string trace_id;
  std::optional<CollectiveType> type;  // One of the two says who runs it.
  std::vector<uint64_t> node_ids;
  int64_t total_bytes = 0;
};

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
  bool link_traffic = false;
  bool memory_use = false;
  int64_t max_simulated_ps = 0;  // 0: the engine's limit; else in [1, kHorizonPs].
  int64_t max_events = 0;        // 0: the engine's default.
  std::optional<ProjectionSpec> projection;
  std::vector<CustomAlgorithm> custom_algorithms;
  std::string variant;  // Of its series; empty: see VariantOf.
};

// The variant, or what stands for none: "unnamed", of a projected trace "projected".
std::string VariantOf(const SimulationSpec& spec);

// Stored as the wire message chakrad.v1.SimulationSpec. Decoding: DATA_LOSS when the bytes are
// not one.
std::string EncodeSpec(const SimulationSpec& spec);
absl::StatusOr<SimulationSpec> DecodeSpec(absl::string_view bytes);

// From the wire. INVALID_ARGUMENT: names that are none, values that are not known.
absl::StatusOr<SimulationSpec> SpecFromProto(const v1::SimulationSpec& message);

// INVALID_ARGUMENT: a text that is too large, that does not parse, or that must not stand beside
// another; a limit out of its range; a projection or custom algorithm that is not one. The
// system has no scripts yet: those are in the traces that custom algorithms name.
absl::StatusOr<SystemDescription> SystemOf(const SimulationSpec& spec);
// Of a spec that SystemOf accepts.
SimOptions OptionsOf(const SimulationSpec& spec);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_JOBS_SIMULATION_H_
