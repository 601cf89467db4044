// Systems for tests, drawn at random.
#ifndef CHAKRAD_SIM_TEST_SYSTEMS_H_
#define CHAKRAD_SIM_TEST_SYSTEMS_H_

#include <random>

#include "sim/system/system_description.h"

namespace chakrad {

// A system of 8 NPUs in 1 to 3 dimensions with any algorithms, queues and chunks. Physical: also
// meshes, costs a message, links and NPUs that differ; no reductions or endpoint delays half of
// the time.
SystemDescription RandomSystem(std::mt19937* random, Semantics semantics);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_TEST_SYSTEMS_H_
