// Reads the files that describe a system to ASTRA-sim's analytical back ends.
// docs/systems.md lists every key with its unit and effect.
#ifndef CHAKRAD_SIM_SYSTEM_ASTRA_SYSTEM_READER_H_
#define CHAKRAD_SIM_SYSTEM_ASTRA_SYSTEM_READER_H_

#include "common/status.h"
#include "sim/system/system_description.h"

namespace chakrad {

// `network_yaml`: topology (Ring, FullyConnected, Switch, Mesh), npus_count, bandwidth
// (GB/s, GB = 2^30 bytes), latency (ns): each a list with one entry a dimension.
// `system_json`: algorithms, chunks, delays, the roofline; also the options num-queues-per-dim
// and injection-scale, which ASTRA-sim takes on its command line.
// `remote_memory_json`: what memory nodes reach; "" for none.
// Always Semantics::kAstra and the analytical back end. A key that is not known, a value that
// would change the result in a way that is not modelled, and a missing required key are errors
// that name it. INVALID_ARGUMENT lists the faults of all files together. Thread-safe.
absl::StatusOr<SystemDescription> ParseAstraSystem(absl::string_view network_yaml,
                                                   absl::string_view system_json,
                                                   absl::string_view remote_memory_json = "");

}  // namespace chakrad

#endif  // CHAKRAD_SIM_SYSTEM_ASTRA_SYSTEM_READER_H_
