// The way for everything: a collective message by message, on its own.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "sim/collective/batch.h"
#include "sim/engine/event_kind.h"
#include "sim/engine/event_queue.h"
#include "sim/limits.h"
#include "sim/network/network.h"

namespace chakrad {
namespace {

class EndsKeeper : public CollectiveHost {
 public:
  EndsKeeper(const GroupIndex& group, const EventQueue& queue, std::vector<int64_t>* end_ps)
      : group_(group), queue_(queue), end_ps_(end_ps) {}

  void OnCollectiveDone(int32_t rank, uint32_t /*node*/) override {
    (*end_ps_)[group_.PositionOf(rank)] = queue_.now_ps();
    ++done_count_;
  }
  std::string Describe(int32_t rank, uint32_t node) const override {
    return absl::StrCat("rank ", rank, ", node ", node);
  }
  int32_t done_count() const { return done_count_; }

 private:
  const GroupIndex& group_;
  const EventQueue& queue_;
  std::vector<int64_t>* end_ps_;
  int32_t done_count_ = 0;
};

}  // namespace

absl::Status BatchEvaluator::ByMessages(const CollectiveCall& call, const GroupIndex& group,
                                        absl::Span<const int64_t> join_ps, BatchAnswer* answer) {
  const int32_t members_count = group.members_count();
  answer->end_ps.assign(members_count, kHorizonPs);
  EventQueue queue;
  const std::unique_ptr<Network> network = MakeNetwork(system_, &queue);
  EndsKeeper keeper(group, queue, &answer->end_ps);
  CollectiveEngine engine(system_, groups_, &queue, network.get(), &keeper);
  for (int32_t position = 0; position < members_count; ++position) {
    queue.Push(
        join_ps[join_ps.size() == 1 ? 0 : position],
        EventTag{static_cast<uint8_t>(EventKind::kTimer), 0, static_cast<uint32_t>(position)});
  }
  for (Event event; queue.Pop(&event);) {
    if (++events_count_ % kEventsPerLook == 0 && look_) RETURN_IF_ERROR(look_());
    if (event.at_ps >= kHorizonPs) break;
    if (event.tag.kind >= kFirstCollectiveKind) {
      engine.Handle(event);
    } else if (event.tag.kind >= kFirstNetworkKind) {
      network->Handle(event);
    } else {
      CollectiveCall joined = call;
      joined.rank = group.RankAt(static_cast<int32_t>(event.tag.target));
      bool done = false;
      RETURN_IF_ERROR(engine.Join(joined, &done));
      CHECK(!done) << "a collective without phases";
    }
  }
  CHECK(keeper.done_count() == members_count || queue.now_ps() >= kHorizonPs)
      << members_count - keeper.done_count() << " of " << members_count << " members hang";
  answer->bytes.resize(members_count);
  for (int32_t position = 0; position < members_count; ++position) {
    answer->bytes[position] = engine.network_bytes(group.RankAt(position));
  }
  const auto all_equal = [](const std::vector<int64_t>& values) {
    return std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == values[0]; });
  };
  if (all_equal(answer->bytes)) answer->bytes.resize(1);
  if (all_equal(answer->end_ps)) answer->end_ps.resize(1);
  return absl::OkStatus();
}

}  // namespace chakrad
