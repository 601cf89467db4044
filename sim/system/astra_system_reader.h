// Reads the two files that describe a system to ASTRA-sim's analytical back ends.
// Their semantics: docs in sim/examples/README.md.
#ifndef CHAKRAD_SIM_SYSTEM_ASTRA_SYSTEM_READER_H_
#define CHAKRAD_SIM_SYSTEM_ASTRA_SYSTEM_READER_H_

#include "common/status.h"
#include "sim/system/system_description.h"

namespace chakrad {

// `network_yaml`: topology (Ring, FullyConnected, Switch), npus_count, bandwidth
// (GB/s, GB = 2^30 bytes), latency (ns): each a list with one entry a dimension.
// `system_json`: see sim/examples/README.md. A key that is not known, a value
// that would change the result in a way that is not modelled, and a missing
// required key are errors that name it. INVALID_ARGUMENT lists the faults of both
// files together. Thread-safe.
absl::StatusOr<SystemDescription> ParseAstraSystem(absl::string_view network_yaml,
                                                   absl::string_view system_json);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_SYSTEM_ASTRA_SYSTEM_READER_H_
