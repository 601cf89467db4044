#include "sim/network/analytical.h"

#include <algorithm>
#include <vector>

#include "sim/engine/event_kind.h"
#include "sim/network/message_pool.h"
#include "sim/network/path_model.h"
#include "sim/network/sender.h"

namespace chakrad {
namespace {

class AstraNetwork : public Network {
 public:
  AstraNetwork(const SystemDescription* system, EventQueue* queue) : paths_(system), queue_(queue) {
    traffic_.resize(static_cast<size_t>(paths_.topology().npus_count()) * system->dims.size());
  }

  void Send(int64_t at_ps, int32_t src, int32_t dst, double bytes, EventTag arrival) override {
    if (src == dst) return queue_->Push(at_ps, arrival);
    const Path path = paths_.PathOf(src, dst);
    Traffic& traffic = traffic_[static_cast<size_t>(src) * paths_.topology().dims().size() +
                                static_cast<size_t>(path.dim)];
    ++traffic.messages_count;
    traffic.bytes += bytes;
    queue_->Push(at_ps + paths_.DelayPs(path, bytes), arrival);
  }

  std::vector<LinkUse> LinkUses() const override {
    std::vector<LinkUse> uses;
    const int dims_count = paths_.topology().dims_count();
    for (int dim = 0; dim < dims_count; ++dim) {
      for (int32_t npu = 0; npu < paths_.topology().npus_count(); ++npu) {
        const Traffic& traffic = traffic_[static_cast<size_t>(npu) * dims_count + dim];
        if (traffic.messages_count == 0) continue;
        uses.push_back({dim, npu, -1, traffic.messages_count, traffic.bytes, 0, 0});
      }
    }
    return uses;
  }

 private:
  struct Traffic {
    int64_t messages_count = 0;
    double bytes = 0;
  };
  const PathModel paths_;
  EventQueue* queue_;
  std::vector<Traffic> traffic_;  // By NPU, then dimension.
};

class PortNetwork : public Network {
 public:
  PortNetwork(const SystemDescription* system, EventQueue* queue)
      : paths_(system),
        queue_(queue),
        links_(&paths_.topology(), false),
        ports_(links_.count()),
        buckets_(*system, ports_.size()) {}

  void Send(int64_t at_ps, int32_t src, int32_t dst, double bytes, EventTag arrival) override {
    const Message message{src, dst, bytes, arrival};
    if (at_ps == queue_->now_ps()) return ReachPort(message);
    queue_->Push(at_ps, EventTag{kFirstNetworkKind, 0, waiting_.Put(message)});
  }

  int64_t PortFreePs(int32_t src, int32_t dst) const override {
    return src == dst ? 0 : ports_[links_.Next(src, 0, dst).link].free_ps;
  }

  void Handle(const Event& event) override { ReachPort(waiting_.Take(event.tag.target)); }

  std::vector<LinkUse> LinkUses() const override { return UsesOf(links_, ports_); }

 private:
  struct Message {
    int32_t src;
    int32_t dst;
    double bytes;
    EventTag arrival;
  };

  void ReachPort(const Message& message) {
    const int64_t at_ps = queue_->now_ps();
    if (message.src == message.dst) return queue_->Push(at_ps, message.arrival);
    const Path path = paths_.PathOf(message.src, message.dst);
    const size_t number = links_.Next(message.src, 0, message.dst).link;
    Sender& port = ports_[number];
    const int64_t begin_ps = port.BeginPs(at_ps);
    int64_t left_ps = LaterPs(begin_ps, paths_.PortPs(path, message.bytes));
    int64_t arrival_ps = LaterPs(begin_ps, paths_.DelayPs(path, message.bytes));
    const int64_t first_ps = LaterPs(begin_ps, path.message_ps);
    const int64_t last_ps = buckets_.LastPs(path.dim, number, first_ps, message.bytes);
    if (last_ps > left_ps) {
      left_ps = last_ps;
      arrival_ps = std::max(arrival_ps, LaterPs(left_ps, path.latency_ps));
    }
    port.Take(at_ps, begin_ps, left_ps, message.bytes);
    queue_->Push(arrival_ps, message.arrival);
  }

  const PathModel paths_;
  EventQueue* queue_;
  const Links links_;  // Of which only first ones, the ports, are used.
  std::vector<Sender> ports_;
  TokenBuckets buckets_;
  MessagePool<Message> waiting_;
};

}  // namespace

std::unique_ptr<Network> MakeAnalyticalNetwork(const SystemDescription* system, EventQueue* queue) {
  if (system->semantics == Semantics::kAstra) return std::make_unique<AstraNetwork>(system, queue);
  return std::make_unique<PortNetwork>(system, queue);
}

}  // namespace chakrad
