// Walks every rank through its graph: issues what is ready and free to run, and what
// follows when something ends. The rules are in issue_rule.h, the costs in node_cost.h.
#ifndef CHAKRAD_SIM_WORKLOAD_WORKLOAD_H_
#define CHAKRAD_SIM_WORKLOAD_WORKLOAD_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/status.h"
#include "sim/collective/collective_engine.h"
#include "sim/engine/event_queue.h"
#include "sim/network/network.h"
#include "sim/simulate.h"
#include "sim/system/system_description.h"
#include "sim/workload/cast.h"
#include "sim/workload/channels.h"
#include "sim/workload/issue_rule.h"
#include "sim/workload/rank_graph.h"
#include "trace/model/trace.h"

namespace chakrad {

// What happened in a run, for its notices.
struct WorkloadCounts {
  int64_t nodes_done = 0;
  int64_t unknown_durations = 0;                   // Compute nodes charged 0.
  int64_t roofline_skipped = 0;                    // Compute nodes that move no bytes.
  int64_t roofline_without_size = 0;               // Compute nodes with no work size.
  int64_t unmodelled[kCollectiveTypesCount] = {};  // Collectives charged as recorded.
  int64_t zero_bytes = 0;                          // Collectives that state 0 bytes.
  int64_t without_work = 0;                        // Collectives with nothing to move.
  int64_t uneven_all_to_alls = 0;                  // Charged at another rank's size.
  int64_t tree_substitutes = 0;                    // See notices.cc.
  bool charged_any_time = false;                   // Of compute, memory or recorded comm.
};

// Not thread-safe: belongs to one run. All arguments must outlive it; `observer` may be
// null. `graphs`: by index of Trace::ranks.
class Workload : public CollectiveHost {
 public:
  Workload(const Trace* trace, const SystemDescription* system, const Cast* cast,
           const std::vector<RankGraph>* graphs, Channels channels, EventQueue* queue,
           Network* network, SimObserver* observer);

  // Issues what is ready at time 0.
  void Start();
  // Any event of the run. Look at status() afterwards.
  void Handle(const Event& event);
  // Not OK when the run cannot go on.
  const absl::Status& status() const { return status_; }

  bool AllDone() const { return counts_.nodes_done == nodes_count_; }
  int64_t nodes_count() const { return nodes_count_; }
  const WorkloadCounts& counts() const { return counts_; }
  std::vector<RankEnd> RankEnds() const;
  // Who waits for whom, when no event is left and not all is done.
  std::string DescribeWaits() const;

  // CollectiveHost.
  void OnCollectiveDone(int32_t rank, uint32_t node) override;
  std::string Describe(int32_t rank, uint32_t node) const override;

 private:
  static constexpr uint32_t kFree = kNone;
  struct RankState {
    const RankTrace* trace = nullptr;
    const RankGraph* graph = nullptr;
    size_t first_pending = 0;  // Into pending_, one a node.
    bool has_device_compute = false;
    uint32_t running[kResourcesCount] = {kFree, kFree, kFree};  // Nodes.
    int64_t running_since_ps[kResourcesCount] = {};
    std::vector<uint32_t> ready[kResourcesCount];  // Min-heaps of places in id order.
    uint32_t nodes_done = 0;
    int64_t end_ps = 0;
    int64_t sent_bytes = 0;  // By send nodes.
  };
  // Something that a rank may have many of in flight.
  struct Timer {
    enum class Kind : uint8_t { kGap, kMemory, kReceive };
    Kind kind = Kind::kGap;
    int32_t rank = 0;
    uint32_t node = 0;
    int64_t start_ps = 0;
  };

  void FindUnevenAllToAlls();
  void BecomeUnblocked(int32_t rank, uint32_t node);
  void BecomeReady(int32_t rank, uint32_t node);
  bool IssueNext(int32_t rank);
  void Issue(int32_t rank, Resource resource, uint32_t node);
  void IssueCollective(int32_t rank, uint32_t node);
  void IssueSend(int32_t rank, uint32_t node);
  void PostReceive(int32_t rank, uint32_t node);
  void EndResource(int32_t rank, Resource resource);
  void EndSend(int32_t rank);
  void EndTimer(uint32_t index);
  // `node` of `rank` ends now; Settle runs what follows from that.
  void End(int32_t rank, uint32_t node, int64_t start_ps);
  void Settle(int32_t rank);
  void SetTimer(Timer::Kind kind, int32_t rank, uint32_t node, int64_t dur_ps);
  IntervalKind KindOf(const RankState& state, uint32_t node) const;
  Channel& ChannelOf(int32_t rank, uint32_t node);

  const Trace* trace_;
  const SystemDescription* system_;
  const Cast* cast_;
  Channels channels_;
  EventQueue* queue_;
  Network* network_;
  SimObserver* observer_;
  CollectiveEngine collectives_;
  std::vector<RankState> ranks_;
  std::vector<uint32_t> pending_;  // Dependencies left, of all ranks' nodes.
  std::vector<uint32_t> ended_;    // Nodes of the rank being settled, oldest first.
  std::vector<Timer> timers_;
  std::vector<uint32_t> free_timers_;
  // (rank << 32 | node): bytes of an all-to-all that another member has more of.
  std::unordered_map<uint64_t, int64_t> all_to_all_bytes_;
  WorkloadCounts counts_;
  int64_t nodes_count_ = 0;
  absl::Status status_;
};

}  // namespace chakrad

#endif  // CHAKRAD_SIM_WORKLOAD_WORKLOAD_H_
