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

// Target: a message. It, or its head, is at its place.
constexpr uint8_t kAtPlace = kFirstNetworkKind;
// Target: a link. It has sent what it was sending. Astra only.
constexpr uint8_t kLinkFree = kFirstNetworkKind + 1;

struct Message {
  double bytes;
  // Astra: when it came to `place`. Physical: when its last byte comes there; kAtSource: it has
  // not been sent yet.
  int64_t place_ps;
  int32_t place;  // See Links::Next.
  int32_t dst;
  EventTag arrival;
  int32_t dim;    // Of the hop before.
  uint32_t next;  // Astra: the message that waits behind it for the same link.
};
constexpr int64_t kAtSource = -1;
constexpr uint32_t kNobody = UINT32_MAX;

// What both semantics share: links, and messages on their way.
class LinkNetwork : public Network {
 public:
  LinkNetwork(const SystemDescription* system, EventQueue* queue)
      : queue_(queue), topology_(system->dims), links_(&topology_, true), senders_(links_.count()) {
    const LinkConstants constants(system);
    if (constants.uniform()) return;
    for (size_t link = 0; link < links_.count(); ++link) {
      const LinkEnds ends = links_.EndsOf(link);
      constants_.push_back(constants.Of(ends.dim, ends.src, ends.dst));
    }
  }

  void Send(int64_t at_ps, int32_t src, int32_t dst, double bytes, EventTag arrival) final {
    if (src == dst) return queue_->Push(at_ps, arrival);
    const Message message{bytes, kAtSource, src, dst, arrival, 0, kNobody};
    if (at_ps == queue_->now_ps()) return ReachLink(message);
    queue_->Push(at_ps, EventTag{kAtPlace, 0, moving_.Put(message)});
  }

  void Handle(const Event& event) final {
    if (event.tag.kind == kLinkFree) return EndSending(event.tag.target);
    ReachLink(moving_.Take(event.tag.target));
  }

  std::vector<LinkUse> LinkUses() const final { return UsesOf(links_, senders_); }

 protected:
  virtual void ReachLink(const Message& message) = 0;
  virtual void EndSending(uint32_t link) { static_cast<void>(link); }

  Hop NextHop(const Message& message) const {
    return links_.Next(message.place, message.dim, message.dst);
  }
  Link ConstantsOf(const Hop& hop) const {
    if (!constants_.empty()) return constants_[hop.link];
    const NetworkDim& dim = topology_.dims()[hop.dim];
    return {dim.bytes_per_ns, dim.latency_ns};
  }
  // It is at the other end of the hop at `at_ps`.
  void Forward(Message message, const Hop& hop, int64_t at_ps) {
    if (hop.place == message.dst) return queue_->Push(at_ps, message.arrival);
    message.place = hop.place;
    message.dim = hop.dim;
    queue_->Push(at_ps, EventTag{kAtPlace, 0, moving_.Put(message)});
  }

  EventQueue* queue_;
  const Topology topology_;
  const Links links_;
  std::vector<Sender> senders_;  // By link.
  std::vector<Link> constants_;  // By link; empty where links are as their dimension.
  MessagePool<Message> moving_;
};

class StoreAndForwardNetwork final : public LinkNetwork {
 public:
  StoreAndForwardNetwork(const SystemDescription* system, EventQueue* queue)
      : LinkNetwork(system, queue), lines_(links_.count()) {}

 private:
  // Those who wait for a link, and whether it is sending.
  struct Line {
    uint32_t first = kNobody;
    uint32_t last : 31 = 0;
    uint32_t sending : 1 = 0;
  };

  void ReachLink(const Message& message) override {
    const Hop hop = NextHop(message);
    Message here = message;
    here.place_ps = queue_->now_ps();
    Line& line = lines_[hop.link];
    if (line.sending == 0) return Start(here, hop);
    const uint32_t slot = moving_.Put(here);
    if (line.first == kNobody) {
      line.first = slot;
    } else {
      moving_[line.last].next = slot;
    }
    line.last = slot;
  }

  void Start(const Message& message, const Hop& hop) {
    const Link link = ConstantsOf(hop);
    const double busy_ns = message.bytes / link.bytes_per_ns;
    const int64_t now_ps = queue_->now_ps();
    const int64_t free_ps = LaterPs(now_ps, RoundDelayPs(Semantics::kAstra, busy_ns));
    senders_[hop.link].Take(message.place_ps, now_ps, free_ps, message.bytes);
    lines_[hop.link].sending = 1;
    Forward(message, hop,
            LaterPs(now_ps, RoundDelayPs(Semantics::kAstra, link.latency_ns + busy_ns)));
    queue_->Push(free_ps, EventTag{kLinkFree, 0, static_cast<uint32_t>(hop.link)});
  }

  void EndSending(uint32_t link) override {
    Line& line = lines_[link];
    line.sending = 0;
    if (line.first == kNobody) return;
    Message message = moving_.Take(line.first);
    line.first = message.next;
    message.next = kNobody;
    Start(message, NextHop(message));
  }

  std::vector<Line> lines_;  // By link.
};

class CutThroughNetwork final : public LinkNetwork {
 public:
  CutThroughNetwork(const SystemDescription* system, EventQueue* queue)
      : LinkNetwork(system, queue), buckets_(*system, links_.count()) {
    for (const NetworkDim& dim : system->dims) {
      message_ps_.push_back(RoundDelayPs(Semantics::kPhysical, dim.message_ns));
    }
  }

  int64_t PortFreePs(int32_t src, int32_t dst) const override {
    return src == dst ? 0 : senders_[links_.Next(src, 0, dst).link].free_ps;
  }

 private:
  void ReachLink(const Message& message) override {
    const Hop hop = NextHop(message);
    const Link link = ConstantsOf(hop);
    const int64_t latency_ps = RoundDelayPs(Semantics::kPhysical, link.latency_ns);
    const int64_t busy_ps = RoundDelayPs(Semantics::kPhysical, message.bytes / link.bytes_per_ns);
    const int64_t at_ps = queue_->now_ps();
    Sender& sender = senders_[hop.link];
    const int64_t begin_ps = sender.BeginPs(at_ps);
    int64_t head_ps = begin_ps;
    int64_t free_ps = LaterPs(begin_ps, busy_ps);
    if (message.place_ps == kAtSource) {
      head_ps = LaterPs(begin_ps, message_ps_[hop.dim]);
      free_ps = std::max(LaterPs(head_ps, busy_ps),
                         buckets_.LastPs(hop.dim, hop.link, head_ps, message.bytes));
    }
    sender.Take(at_ps, begin_ps, free_ps, message.bytes);
    Message there = message;
    there.place_ps = LaterPs(std::max(message.place_ps, free_ps), latency_ps);
    Forward(there, hop, hop.place == message.dst ? there.place_ps : LaterPs(head_ps, latency_ps));
  }

  TokenBuckets buckets_;
  std::vector<int64_t> message_ps_;  // By dimension.
};

}  // namespace

std::unique_ptr<Network> MakeLinkNetwork(const SystemDescription* system, EventQueue* queue) {
  if (system->semantics == Semantics::kAstra) {
    return std::make_unique<StoreAndForwardNetwork>(system, queue);
  }
  return std::make_unique<CutThroughNetwork>(system, queue);
}

}  // namespace chakrad
