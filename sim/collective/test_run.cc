#include "sim/collective/test_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "sim/engine/event_kind.h"
#include "sim/network/path_model.h"

namespace chakrad {
namespace {

// Physical semantics on paths that share only the sender's port, which sends one message at a
// time in the order in which they are handed to it.
class PortNetwork : public Network {
 public:
  PortNetwork(const SystemDescription* system, EventQueue* queue)
      : paths_(system), queue_(queue), free_ps_(NpusCount(*system), 0) {}

  void Send(int64_t at_ps, int32_t src, int32_t dst, double bytes, EventTag arrival) override {
    if (at_ps == queue_->now_ps()) return Start({src, dst, bytes, arrival});
    queue_->Push(at_ps, EventTag{kFirstNetworkKind, 0, static_cast<uint32_t>(waiting_.size())});
    waiting_.push_back({src, dst, bytes, arrival});
  }
  void Handle(const Event& event) override { Start(waiting_[event.tag.target]); }

 private:
  struct Message {
    int32_t src, dst;
    double bytes;
    EventTag arrival;
  };
  void Start(const Message& message) {
    int64_t& free_ps = free_ps_[message.src];
    const int64_t start_ps = std::max(free_ps, queue_->now_ps());
    free_ps = start_ps + paths_.PortPs(message.src, message.dst, message.bytes);
    queue_->Push(start_ps + paths_.DelayPs(message.src, message.dst, message.bytes),
                 message.arrival);
  }

  const PathModel paths_;
  EventQueue* queue_;
  std::vector<int64_t> free_ps_;
  std::vector<Message> waiting_;
};

class Host : public CollectiveHost {
 public:
  Host(const EventQueue* queue, int64_t npus_count) : end_ps(npus_count, -1), queue_(queue) {}
  void OnCollectiveDone(int32_t rank, uint32_t) override { end_ps[rank] = queue_->now_ps(); }
  std::string Describe(int32_t rank, uint32_t) const override {
    return "rank " + std::to_string(rank);
  }
  std::vector<int64_t> end_ps;

 private:
  const EventQueue* queue_;
};

}  // namespace

OneRun RunOne(const SystemDescription& system, const OneCollective& collective) {
  const int64_t npus_count = NpusCount(system);
  std::vector<int32_t> ranks = collective.ranks;
  if (ranks.empty()) {
    ranks.resize(npus_count);
    std::iota(ranks.begin(), ranks.end(), 0);
  }
  const std::vector<ProcessGroup> groups = {{"group", "", ranks}};
  EventQueue queue;
  std::unique_ptr<Network> network = MakeNetwork(&system, &queue);
  if (system.semantics == Semantics::kPhysical) {
    network = std::make_unique<PortNetwork>(&system, &queue);
  }
  Host host(&queue, npus_count);
  CollectiveEngine engine(&system, &groups, &queue, network.get(), &host);
  OneRun run;
  const auto join = [&](uint32_t place) {
    CollectiveCall call = collective.call;
    call.rank = ranks[place];
    bool done = false;
    const absl::Status status = engine.Join(call, &done);
    EXPECT_TRUE(status.ok()) << status.ToString();
    if (done) host.OnCollectiveDone(call.rank, call.node);
  };
  for (uint32_t place = 0; place < ranks.size(); ++place) {
    const int64_t at_ps = collective.join_ps.empty() ? 0 : collective.join_ps[place];
    if (at_ps == 0) {
      join(place);
    } else {
      queue.Push(at_ps, EventTag{static_cast<uint8_t>(EventKind::kTimer), 0, place});
    }
  }
  for (Event event; queue.Pop(&event); ++run.events_count) {
    if (event.tag.kind >= kFirstCollectiveKind) {
      engine.Handle(event);
    } else if (event.tag.kind >= kFirstNetworkKind) {
      network->Handle(event);
    } else {
      join(event.tag.target);
    }
  }
  run.waits = engine.Waits();
  for (const int32_t rank : ranks) {
    run.end_ps.push_back(host.end_ps[rank]);
    run.network_bytes.push_back(engine.network_bytes(rank));
  }
  return run;
}

}  // namespace chakrad
