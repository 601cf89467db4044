#include "sim/network/analytical.h"

#include "sim/engine/semantics.h"
#include "sim/network/path_model.h"

namespace chakrad {
namespace {

class AnalyticalNetwork : public Network {
 public:
  AnalyticalNetwork(const SystemDescription* system, EventQueue* queue)
      : paths_(system), queue_(queue) {}

  void Send(int64_t at_ps, int32_t src, int32_t dst, double bytes, EventTag arrival) override {
    queue_->Push(at_ps + paths_.DelayPs(src, dst, bytes), arrival);
  }

 private:
  const PathModel paths_;
  EventQueue* queue_;
};

}  // namespace

std::unique_ptr<Network> MakeAnalyticalNetwork(const SystemDescription* system, EventQueue* queue) {
  return std::make_unique<AnalyticalNetwork>(system, queue);
}

std::unique_ptr<Network> MakeNetwork(const SystemDescription* system, EventQueue* queue) {
  return MakeAnalyticalNetwork(system, queue);
}

}  // namespace chakrad
