// Collectives in flight: matches the ranks that join them and drives their chunks
// through the phases of their plans, message by message.
//
// Matching. The k-th collective that a rank joins in a process group is the k-th
// collective of that group. Nothing waits for the others to join; only messages do.
//
// A phase, for one chunk on one rank (a "flow"), with endpoint delay e and reduction
// cost P(m) = 3 m / local_mem_bytes_per_ns (astra: 3 * trunc(m / local_mem_bytes_per_ns)):
//   ring, halving-doubling  the first message leaves e after the flow starts; each next
//                           one e (+ P when the receipt is reduced) after the receipt of
//                           the one before. Ends e (+ P) after the last receipt.
//   direct                  `window` messages leave e after the start; each receipt is
//                           dealt with in e (+ P), which lets one more leave. The second
//                           half of an all-reduce starts when the first is received
//                           (physical: and reduced).
//   double binary tree      leaves send e after they start; whoever has children sends
//                           up when each child's chunk is dealt with (e + P, side by
//                           side), and down again, after e (astra: e + P inside the tree),
//                           what comes from the parent.
//   script                  a step starts when those that it waits for have ended. A send
//                           leaves at once, e later when it waits for none, and ends when its
//                           message has arrived; a receive ends e (+ P) after it has started
//                           and its message has come; a compute step takes its duration
//                           (astra: at least 1 ns).
// A member is through when everything has come and its own messages have left its ports.
// A lane (dimension and queue) of a rank starts its chunks, a few at a time, in the order in
// which the first rank to get to each did. ASTRA-sim takes each rank's own order: the same
// when ranks run in step, and a hang, now and then, when they do not.
// A message that comes before its receipt is posted is received when that happens.
#ifndef CHAKRAD_SIM_COLLECTIVE_COLLECTIVE_ENGINE_H_
#define CHAKRAD_SIM_COLLECTIVE_COLLECTIVE_ENGINE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/status.h"
#include "sim/collective/collective_plan.h"
#include "sim/collective/segment_pool.h"
#include "sim/collective/steps.h"
#include "sim/engine/event_kind.h"
#include "sim/engine/event_queue.h"
#include "sim/network/message_pool.h"
#include "sim/network/network.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

// What the engine needs from whoever runs the ranks.
class CollectiveHost {
 public:
  virtual ~CollectiveHost() = default;
  // The collective that `rank` joined with `node` is over for it. May call Join.
  virtual void OnCollectiveDone(int32_t rank, uint32_t node) = 0;
  // "rank 3, node 17 (nccl:all_reduce)", for messages.
  virtual std::string Describe(int32_t rank, uint32_t node) const = 0;
};

struct CollectiveCall {
  int32_t rank = 0;
  uint32_t node = 0;
  uint32_t group = 0;  // Index into the trace's groups; holds `rank`.
  CollectiveType type = CollectiveType::kAllReduce;
  int64_t bytes = 0;
  uint32_t involved_dims = UINT32_MAX;
  int32_t root = kNoRank;  // HasRoot(type): a global rank; kNoRank: the group's first.
  int32_t script = -1;     // ScriptOf the node.
};

// OK when `call` may be the same collective as `first`, `number` of the group of this name. Else
// FAILED_PRECONDITION with both; `describe` names a (rank, node).
absl::Status CheckAgree(const CollectiveCall& first, const CollectiveCall& call, uint32_t number,
                        absl::string_view group_name,
                        const std::function<std::string(int32_t, uint32_t)>& describe);

// A collective that some of its members wait in.
struct CollectiveWait {
  uint32_t group = 0;
  uint32_t number = 0;                                // 0-based place in the group's order.
  std::vector<std::pair<int32_t, uint32_t>> waiting;  // (rank, node), by place in the group.
  std::vector<int32_t> missing;                       // Ranks that have not joined.
};

// Not thread-safe: belongs to one run. All pointers must outlive it.
class CollectiveEngine {
 public:
  // Groups: as in Trace::groups; those that a Join names must have their members.
  CollectiveEngine(const SystemDescription* system, const std::vector<ProcessGroup>* groups,
                   EventQueue* queue, Network* network, CollectiveHost* host);
  ~CollectiveEngine();

  // `call.rank` joins its group's next collective now; it may be in others.
  // Done at once (*done) when there is nothing to do: a group of one rank, no dimension
  // left. FAILED_PRECONDITION when members disagree, or the root is none of them;
  // RESOURCE_EXHAUSTED when too large.
  absl::Status Join(const CollectiveCall& call, bool* done);

  // An event of a kind from kFirstCollectiveKind on.
  void Handle(const Event& event);

  // Whether the collective, which has been joined, runs flat: CollectivePlan::flat.
  bool IsFlat(const CollectiveCall& call);
  // Bytes that `rank` has sent in the collectives that are over for it.
  int64_t network_bytes(int32_t rank) const { return network_bytes_[rank]; }
  // The collectives that have not ended, by group and number.
  std::vector<CollectiveWait> Waits() const;

 private:
  struct Flow;
  struct Lane;
  struct Collective;
  struct Group;

  Group& GroupOf(uint32_t index);
  int32_t RankOf(const Collective& collective, int32_t member) const;
  absl::Status Open(const CollectiveCall& call, const Group& group, uint32_t number,
                    uint32_t* slot);
  absl::Status Plan(const CollectiveCall& call, const Group& group, CollectivePlan* plan);
  const CollectiveScript* RootedScript(const CollectivePhase& phase);
  // Memory for the flows of a collective that is planned, and the flows themselves.
  absl::Status TakeFlows(uint32_t slot);
  void Close(uint32_t slot);

  // The rest is in flows.cc. `index`: of a flow.
  size_t FlowIndex(const Collective& collective, int phase, int32_t chunk, int32_t member) const;
  static int32_t LaneOf(const CollectivePhase& phase, int32_t chunk);
  static void List(Collective* collective, int32_t phase, int32_t chunk);
  void StartWaiting(Collective* collective, int32_t member, int32_t lane_index);
  void StartFlow(const Collective& collective, size_t index);
  void EndPhase(size_t index);
  void EndMember(size_t index);

  void SendPair(size_t index, int64_t at_ps);
  void DrainPair(size_t index);

  size_t EarlyWord(const Flow& flow, size_t index, uint32_t number) const;
  void StartDirect(size_t index);
  void ReceiveDirect(size_t index);
  void ReadyDirect(size_t index);
  void SendDirect(size_t index);

  TreePlace TreeOf(const Flow& flow) const;
  void StartTree(size_t index);
  void ReceiveFromChild(size_t index);
  void ReceiveFromParent(size_t index);

  void CountBytes(const Collective& collective, int32_t member);
  // In script_flows.cc.
  struct ScriptSpot;
  ScriptSpot SpotOf(size_t index) const;
  void StartScript(size_t index);
  void ReceiveScript(size_t index, uint32_t step);
  void EndScriptStep(size_t index, uint32_t step);
  void DealWithReceipt(size_t index, const ScriptSpot& spot, uint32_t step);
  void FinishScriptStep(size_t index, const ScriptSpot& spot, uint32_t step);
  void RunReadySteps(size_t index, const ScriptSpot& spot);

  // A message, and whose it is.
  struct HeldSend {
    uint32_t slot;
    int32_t member;
    int32_t src;
    int32_t dst;
    double bytes;
    EventTag arrival;
  };
  void SendNow(const HeldSend& send);
  void Send(size_t index, int32_t peer, double bytes, int64_t at_ps, EventKind kind, int64_t arg);
  void Push(int64_t at_ps, EventTag tag);

  const SystemDescription* system_;
  const std::vector<ProcessGroup>* groups_config_;
  EventQueue* queue_;
  Network* network_;
  CollectiveHost* host_;
  int32_t npus_count_;
  std::vector<std::unique_ptr<Group>> groups_;            // By index; null until used.
  std::vector<std::unique_ptr<Collective>> collectives_;  // Slots; reused when over.
  std::vector<uint32_t> free_slots_;
  SegmentPool<Flow> flows_;
  MessagePool<HeldSend> held_;
  SegmentPool<uint64_t> early_;  // Bits: direct messages that came before their receipt.
  SegmentPool<uint32_t> words_;  // Scripts: see Collective::first_word.
  std::vector<uint32_t> ready_;  // Scripts: steps of one flow that can start now, oldest first.
  // By operation, shape and number of places.
  std::map<std::tuple<PhaseOp, ScriptShape, int32_t>, std::unique_ptr<CollectiveScript>> scripts_;
  std::vector<int64_t> network_bytes_;
};

}  // namespace chakrad

#endif  // CHAKRAD_SIM_COLLECTIVE_COLLECTIVE_ENGINE_H_
