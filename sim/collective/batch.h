// Whole collectives as functions: from when each member joins to when each is through.
//
// Where messages of one collective share nothing with any other traffic of its ranks, and
// every member's end depends on every member's join, a collective can be answered at once when
// the last member joins, without an event for each message. Join times only shift: all later by
// t means all ends later by t; so an answer for members that join together is kept and reused.
//
// How. A ring is a max-plus recurrence, answered in O(members) by a sliding maximum where ports
// are alike, and run by run (run_line.h) where they are not; halving-doubling step by step;
// symmetric plans of several phases by one rank that stands for all. What is left (trees, skewed
// joins over several dimensions, ...) goes through CollectiveEngine with an event queue of its
// own, message by message. The property tests compare all of these with that.
#ifndef CHAKRAD_SIM_COLLECTIVE_BATCH_H_
#define CHAKRAD_SIM_COLLECTIVE_BATCH_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "common/status.h"
#include "sim/collective/collective_engine.h"
#include "sim/collective/collective_plan.h"
#include "sim/collective/group_index.h"
#include "sim/collective/traffic.h"
#include "sim/network/path_model.h"
#include "sim/system/system_description.h"

namespace chakrad {

struct BatchAnswer {
  // By position in the group; one entry when all are alike.
  std::vector<int64_t> end_ps;
  std::vector<int64_t> bytes;  // Sent by each.
  bool flat = false;           // See CollectiveResult::flat.
  int64_t EndPs(int32_t position) const { return end_ps[end_ps.size() == 1 ? 0 : position]; }
  int64_t Bytes(int32_t position) const { return bytes[bytes.size() == 1 ? 0 : position]; }
  bool alike() const { return end_ps.size() == 1 && bytes.size() == 1; }
};

// Whether collectives of `type` on the dimensions of the mask `involved_dims` can be answered so
// on `system` at all: each member depends on all others, and nothing but the collective uses its
// ports (one communication at a time on each rank, which the caller knows; no token buckets, no
// shared links).
bool BatchCovers(const SystemDescription& system, CollectiveType type, uint32_t involved_dims);

// Not thread-safe: belongs to one run. Pointers must outlive it.
class BatchEvaluator {
 public:
  BatchEvaluator(const SystemDescription* system, const std::vector<ProcessGroup>* groups);
  ~BatchEvaluator();

  // `join_ps`: by position in the group; one entry when all join together. RESOURCE_EXHAUSTED
  // when the collective is too large for the message-by-message way.
  absl::Status Evaluate(const CollectiveCall& call, const GroupIndex& group,
                        absl::Span<const int64_t> join_ps, BatchAnswer* answer);
  // Whether the collective has no phases: each member is through when it joins.
  bool NothingToDo(const CollectiveCall& call, const GroupIndex& group);
  // What the collective puts on each dimension, all members together. Valid until the next call.
  const std::vector<DimTraffic>& Traffic(const CollectiveCall& call, const GroupIndex& group);
  // Asked now and then in the message-by-message way; an error ends it.
  void SetLook(std::function<absl::Status()> look) { look_ = std::move(look); }
  // Messages that ways other than the short cuts took: a measure of work, for limits.
  int64_t events_count() const { return events_count_; }

 private:
  // Type, bytes, group, dimensions.
  using Key = std::tuple<CollectiveType, int64_t, uint32_t, uint32_t>;

  void Plan(const CollectiveCall& call, const GroupIndex& group);
  absl::Status EvaluateAfresh(const CollectiveCall& call, const GroupIndex& group,
                              absl::Span<const int64_t> join_ps, BatchAnswer* answer);
  // The two fill in `answer` and return true, or return false: not a case of theirs.
  // RESOURCE_EXHAUSTED: a ring of too many places that all differ.
  absl::StatusOr<bool> SinglePhase(const GroupIndex& group, absl::Span<const int64_t> join_ps,
                                   BatchAnswer* answer);
  bool Symmetric(const GroupIndex& group, int64_t join_ps, BatchAnswer* answer);
  bool IsSymmetric(const GroupIndex& group, const CollectivePhase& phase) const;
  // One chunk of a phase over all members, from start to end of each; ps.
  std::vector<int64_t> RingTurn(const GroupIndex& group, const CollectivePhase& phase,
                                int32_t direction, const std::vector<int64_t>& start_ps) const;
  std::vector<int64_t> PairsTurn(const GroupIndex& group, const CollectivePhase& phase,
                                 const std::vector<int64_t>& start_ps) const;
  bool CostsAllTheSame(const GroupIndex& group, const CollectivePhase& phase, int32_t offset) const;
  bool OnePortEach() const;
  int64_t BytesOfMember() const;
  absl::Status ByMessages(const CollectiveCall& call, const GroupIndex& group,
                          absl::Span<const int64_t> join_ps, BatchAnswer* answer);

  const SystemDescription* system_;
  const std::vector<ProcessGroup>* groups_;
  PathModel paths_;
  CollectivePlan plan_;  // Of planned_.
  Key planned_{CollectiveType::kAllReduce, -1, 0, 0};
  std::map<Key, std::vector<DimTraffic>> traffic_;
  std::map<Key, BatchAnswer> kept_;  // Of members that join together at 0.
  int64_t kept_entries_ = 0;
  std::function<absl::Status()> look_;
  int64_t events_count_ = 0;
};

}  // namespace chakrad

#endif  // CHAKRAD_SIM_COLLECTIVE_BATCH_H_
