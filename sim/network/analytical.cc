#include "sim/network/analytical.h"

#include "sim/engine/semantics.h"

namespace chakrad {
namespace {

constexpr double kBytesPerGib = 1024.0 * 1024.0 * 1024.0;
constexpr double kNsPerSec = 1e9;

class AnalyticalNetwork : public Network {
 public:
  AnalyticalNetwork(const Topology* topology, EventQueue* queue)
      : topology_(topology), queue_(queue) {}

  void Send(int64_t at_ps, int32_t src, int32_t dst, int64_t bytes, EventTag arrival) override {
    queue_->Push(at_ps + MessageDelayPs(*topology_, src, dst, bytes), arrival);
  }

 private:
  const Topology* topology_;
  EventQueue* queue_;
};

}  // namespace

int64_t MessageDelayPs(const Topology& topology, int32_t src, int32_t dst, int64_t bytes) {
  const int dim = topology.FirstDifferingDim(src, dst);
  if (dim == static_cast<int>(topology.dims().size())) return 0;
  const NetworkDim& along = topology.dims()[dim];
  const double bytes_per_ns = along.bandwidth_gib_per_sec * kBytesPerGib / kNsPerSec;
  const int32_t hops =
      HopsCount(along, topology.coordinate(src, dim), topology.coordinate(dst, dim));
  return RoundDelayPs(hops * along.latency_ns + static_cast<double>(bytes) / bytes_per_ns);
}

std::unique_ptr<Network> MakeAnalyticalNetwork(const Topology* topology, EventQueue* queue) {
  return std::make_unique<AnalyticalNetwork>(topology, queue);
}

}  // namespace chakrad
