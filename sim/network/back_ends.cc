#include "sim/network/analytical.h"
#include "sim/network/link_network.h"
#include "sim/network/network.h"

namespace chakrad {

std::unique_ptr<Network> MakeNetwork(const SystemDescription* system, EventQueue* queue) {
  if (system->back_end == NetworkBackEnd::kLink) return MakeLinkNetwork(system, queue);
  return MakeAnalyticalNetwork(system, queue);
}

}  // namespace chakrad
