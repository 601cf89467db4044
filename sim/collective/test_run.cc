#include "sim/collective/test_run.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>

#include "sim/engine/event_kind.h"
#include "sim/network/network.h"

namespace chakrad {
namespace {

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
  const std::unique_ptr<Network> network = MakeNetwork(&system, &queue);
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
  run.uses = network->LinkUses();
  for (const int32_t rank : ranks) {
    run.end_ps.push_back(host.end_ps[rank]);
    run.network_bytes.push_back(engine.network_bytes(rank));
  }
  return run;
}

}  // namespace chakrad
