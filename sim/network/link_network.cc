#include "sim/network/link_network.h"

#include <algorithm>
#include <vector>

#include "sim/engine/event_kind.h"
#include "sim/engine/semantics.h"
#include "sim/network/links.h"
#include "sim/network/message_pool.h"
#include "sim/network/sender.h"
#include "sim/network/topology.h"

namespace chakrad {
namespace {

class LinkNetwork : public Network {
 public:
  LinkNetwork(const SystemDescription* system, EventQueue* queue)
      : semantics_(system->semantics),
        queue_(queue),
        topology_(system->dims),
        links_(&topology_, true),
        senders_(links_.count()),
        buckets_(*system, links_.count()) {
    const LinkConstants constants(system);
    for (const NetworkDim& dim : system->dims) {
      dims_.push_back(
          {dim.bytes_per_ns, dim.latency_ns, RoundDelayPs(Semantics::kPhysical, dim.message_ns)});
    }
    if (constants.uniform()) return;
    for (size_t link = 0; link < links_.count(); ++link) {
      const LinkEnds ends = links_.EndsOf(link);
      constants_.push_back(constants.Of(ends.dim, ends.src, ends.dst));
    }
  }

  void Send(int64_t at_ps, int32_t src, int32_t dst, double bytes, EventTag arrival) override {
    if (src == dst) return queue_->Push(at_ps, arrival);
    const Message message{bytes, kAtSource, src, dst, arrival, 0};
    if (at_ps == queue_->now_ps()) return ReachLink(message);
    queue_->Push(at_ps, EventTag{kFirstNetworkKind, 0, moving_.Put(message)});
  }

  void Handle(const Event& event) override { ReachLink(moving_.Take(event.tag.target)); }

  std::vector<LinkUse> LinkUses() const override { return UsesOf(links_, senders_); }

 private:
  static constexpr int64_t kAtSource = -1;
  struct DimCost {
    double bytes_per_ns;
    double latency_ns;
    int64_t message_ps;
  };
  struct Message {
    double bytes;
    int64_t last_ps;  // Physical: when its last byte comes to `place`; kAtSource: not sent yet.
    int32_t place;    // Where its head is: see Links::Next.
    int32_t dst;
    EventTag arrival;
    int32_t dim;  // Of the hop before.
  };

  Link ConstantsOf(const Hop& hop) const {
    if (!constants_.empty()) return constants_[hop.link];
    return {dims_[hop.dim].bytes_per_ns, dims_[hop.dim].latency_ns};
  }

  // Its head, or all of it, is at message.place now.
  void ReachLink(Message message) {
    const Hop hop = links_.Next(message.place, message.dim, message.dst);
    if (semantics_ == Semantics::kAstra) return StoreAndForward(message, hop);
    CutThrough(message, hop);
  }

  void StoreAndForward(Message message, const Hop& hop) {
    const Link link = ConstantsOf(hop);
    const double busy_ns = message.bytes / link.bytes_per_ns;
    const int64_t at_ps = queue_->now_ps();
    Sender& sender = senders_[hop.link];
    const int64_t begin_ps = sender.BeginPs(at_ps);
    sender.Take(at_ps, begin_ps, LaterPs(begin_ps, RoundDelayPs(semantics_, busy_ns)),
                message.bytes);
    Forward(message, hop, LaterPs(begin_ps, RoundDelayPs(semantics_, link.latency_ns + busy_ns)));
  }

  void CutThrough(Message message, const Hop& hop) {
    const Link link = ConstantsOf(hop);
    const int64_t latency_ps = RoundDelayPs(semantics_, link.latency_ns);
    const int64_t busy_ps = RoundDelayPs(semantics_, message.bytes / link.bytes_per_ns);
    const int64_t at_ps = queue_->now_ps();
    Sender& sender = senders_[hop.link];
    const int64_t begin_ps = sender.BeginPs(at_ps);
    int64_t head_ps = begin_ps;
    int64_t free_ps = LaterPs(begin_ps, busy_ps);
    if (message.last_ps == kAtSource) {
      head_ps = LaterPs(begin_ps, dims_[hop.dim].message_ps);
      free_ps = std::max(LaterPs(head_ps, busy_ps),
                         buckets_.LastPs(hop.dim, hop.link, head_ps, message.bytes));
    }
    sender.Take(at_ps, begin_ps, free_ps, message.bytes);
    message.last_ps = LaterPs(std::max(message.last_ps, free_ps), latency_ps);
    Forward(message, hop,
            hop.place == message.dst ? message.last_ps : LaterPs(head_ps, latency_ps));
  }

  // It is at the other end of the hop at `at_ps`.
  void Forward(Message message, const Hop& hop, int64_t at_ps) {
    if (hop.place == message.dst) return queue_->Push(at_ps, message.arrival);
    message.place = hop.place;
    message.dim = hop.dim;
    queue_->Push(at_ps, EventTag{kFirstNetworkKind, 0, moving_.Put(message)});
  }

  const Semantics semantics_;
  EventQueue* queue_;
  const Topology topology_;
  const Links links_;
  std::vector<Sender> senders_;  // By link.
  TokenBuckets buckets_;
  std::vector<DimCost> dims_;
  std::vector<Link> constants_;  // By link; empty where links are as their dimension.
  MessagePool<Message> moving_;
};

}  // namespace

std::unique_ptr<Network> MakeLinkNetwork(const SystemDescription* system, EventQueue* queue) {
  return std::make_unique<LinkNetwork>(system, queue);
}

}  // namespace chakrad
