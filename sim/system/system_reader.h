// Reads the texts that describe a system: our own YAML (docs/systems.md is its manual), or
// ASTRA-sim's files.
#ifndef CHAKRAD_SIM_SYSTEM_SYSTEM_READER_H_
#define CHAKRAD_SIM_SYSTEM_SYSTEM_READER_H_

#include "common/status.h"
#include "sim/system/system_description.h"

namespace chakrad {

// Our YAML. Semantics::kPhysical unless it says `semantics: astra`; defaults are in
// docs/systems.md. INVALID_ARGUMENT lists all faults with line, field, value and limit: an
// unknown or missing key, a number without its unit, what CheckSystem refuses. Linear in the
// text, whatever it holds. Thread-safe.
absl::StatusOr<SystemDescription> ParseSystemYaml(absl::string_view system_yaml);

// The texts of one system.
struct SystemText {
  absl::string_view system_yaml;  // Ours; then the three others are empty.
  // ASTRA-sim's, see astra_system_reader.h: the third is optional.
  absl::string_view network_yaml;
  absl::string_view system_json;
  absl::string_view remote_memory_json;
};

// Whichever of the two `text` holds. INVALID_ARGUMENT as above; also when it holds both, or
// neither.
absl::StatusOr<SystemDescription> ParseSystem(const SystemText& text);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_SYSTEM_SYSTEM_READER_H_
