// Who meets whom: the members of process groups, and the collectives that some have joined.
//
// The k-th collective that a rank joins in a process group is the k-th collective of that group.
#ifndef CHAKRAD_SIM_WORKLOAD_RENDEZVOUS_H_
#define CHAKRAD_SIM_WORKLOAD_RENDEZVOUS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "common/status.h"
#include "sim/collective/collective_engine.h"
#include "sim/collective/group_index.h"
#include "trace/model/trace.h"

namespace chakrad {

// One collective of one group, from its first join to its end.
struct Meeting {
  CollectiveCall first_call;  // Of whoever joined first; `rank` and `node` name it in messages.
  uint32_t number = 0;        // 0-based place in the group's order.
  int32_t members_count = 0;
  int32_t joined_count = 0;
  int32_t done_count = 0;  // Members through with it; event-driven runs count them one by one.
  int64_t start_ps = 0;    // First join.
  int64_t all_joined_ps = 0;
  int64_t end_ps = 0;
  int32_t last_position = 0;  // Of those who joined last, the first in the group's order.
  // By position in the group. Both empty when all members joined together, with first_call.node.
  std::vector<int64_t> join_ps;  // < 0: not joined.
  std::vector<uint32_t> nodes;

  bool complete() const { return joined_count == members_count; }
  bool together() const { return join_ps.empty(); }
  int64_t JoinPs(int32_t position) const { return together() ? start_ps : join_ps[position]; }
  uint32_t NodeOf(int32_t position) const { return together() ? first_call.node : nodes[position]; }
};

// Not thread-safe: belongs to one run.
class Rendezvous {
 public:
  using DescribeFn = std::function<std::string(int32_t rank, uint32_t node)>;
  // Groups as in Trace::groups; `describe` names a node for messages. Both must outlive it.
  Rendezvous(const std::vector<ProcessGroup>* groups, const SystemDescription* system,
             DescribeFn describe);

  const GroupIndex& IndexOf(uint32_t group);

  // The members at `positions` of call.group join its collective `number` at now_ps, all with
  // call.node; no positions: all members do. The meeting stays valid until Close.
  // FAILED_PRECONDITION when members disagree about what they do.
  absl::StatusOr<Meeting*> Join(const CollectiveCall& call, uint32_t number,
                                absl::Span<const int32_t> positions, int64_t now_ps);
  // The open meeting, or null.
  Meeting* Find(uint32_t group, uint32_t number);
  void Close(Meeting* meeting);

  // The collectives that have not ended, by group and number. `missing`: who has not joined;
  // `waiting`: who has.
  std::vector<CollectiveWait> Waits() const;

 private:
  const std::vector<ProcessGroup>* groups_;
  const SystemDescription* system_;
  DescribeFn describe_;
  std::vector<std::unique_ptr<GroupIndex>> indices_;             // By group; null until used.
  std::unordered_map<uint64_t, std::unique_ptr<Meeting>> open_;  // By group << 32 | number.
  std::vector<std::unique_ptr<Meeting>> free_;
};

}  // namespace chakrad

#endif  // CHAKRAD_SIM_WORKLOAD_RENDEZVOUS_H_
