// Walks every rank through its graph: issues what is ready and free to run, and what
// follows when something ends. Ranks that behave alike are walked as one (cohort.h); what a
// node costs and occupies is in node_plan.h.
#ifndef CHAKRAD_SIM_WORKLOAD_WORKLOAD_H_
#define CHAKRAD_SIM_WORKLOAD_WORKLOAD_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/status.h"
#include "sim/collective/batch.h"
#include "sim/collective/collective_engine.h"
#include "sim/engine/event_queue.h"
#include "sim/memory/remote_memory.h"
#include "sim/network/network.h"
#include "sim/simulate.h"
#include "sim/system/system_description.h"
#include "sim/workload/cast.h"
#include "sim/workload/channels.h"
#include "sim/workload/cohort.h"
#include "sim/workload/collective_log.h"
#include "sim/workload/node_plan.h"
#include "sim/workload/rank_graph.h"
#include "sim/workload/rendezvous.h"
#include "trace/model/trace.h"

namespace chakrad {

// What happened in a run, for its notices. Counts of nodes are over all ranks.
struct WorkloadCounts {
  int64_t nodes_done = 0;
  int64_t unknown_durations = 0;                   // Compute nodes charged 0.
  int64_t roofline_skipped = 0;                    // Compute nodes that move no bytes.
  int64_t recorded_durations = 0;                  // Compute nodes charged as recorded,
  int64_t rooflines = 0;                           // by the roofline,
  int64_t shapes = 0;                              // from operator shapes.
  int64_t without_size = 0;                        // That had nothing for the basis asked for.
  int64_t unmodelled[kCollectiveTypesCount] = {};  // Collectives charged as recorded.
  int64_t zero_bytes = 0;                          // Collectives that state 0 bytes.
  int64_t zero_sends = 0;                          // Sends that do.
  int64_t without_work = 0;                        // Collectives with nothing to move.
  int64_t uneven_all_to_alls = 0;                  // Charged at another rank's size.
  int64_t tree_substitutes = 0;                    // See notices.cc.
  bool charged_any_time = false;                   // Of compute, memory or recorded comm.
};

// What a run is made of. Everything must outlive the workload; `observer` may be null.
struct WorkloadParts {
  const Trace* trace = nullptr;
  const SystemDescription* system = nullptr;
  const SimOptions* options = nullptr;
  const Cast* cast = nullptr;
  const std::vector<RankGraph>* graphs = nullptr;  // By index of Trace::ranks, as `plans`.
  const std::vector<NodePlan>* plans = nullptr;
  EventQueue* queue = nullptr;
  Network* network = nullptr;
  SimObserver* observer = nullptr;
};

// Not thread-safe: belongs to one run.
class Workload : public CollectiveHost {
 public:
  Workload(const WorkloadParts& parts, Channels channels);

  // Issues what is ready at time 0.
  void Start();
  // Any event of the run. Look at status() afterwards.
  void Handle(const Event& event);
  // Hands out what the observer has not seen yet. After the last event.
  void Flush();
  // Not OK when the run cannot go on.
  const absl::Status& status() const { return status_; }

  bool AllDone() const { return counts_.nodes_done == nodes_count_; }
  int64_t nodes_count() const { return nodes_count_; }
  const WorkloadCounts& counts() const { return counts_; }
  // Events beside those of the queue: collectives that were answered message by message.
  int64_t batch_events_count() const { return batch_ == nullptr ? 0 : batch_->events_count(); }
  // Fills in all of `result` that ranks, collectives and classes make up.
  void Report(SimResult* result);
  // report.cc: `links`, and what no link saw, dimension by dimension.
  std::vector<MemoryPeak> MemoryPeaks() const;
  std::vector<DimResult> Dims(const std::vector<LinkUse>& links, int64_t end_ps) const;
  // Who waits for whom, when no event is left and not all is done.
  std::string DescribeWaits() const;

  // CollectiveHost.
  void OnCollectiveDone(int32_t rank, uint32_t node) override;
  std::string Describe(int32_t rank, uint32_t node) const override;

 private:
  // Something that a cohort may have many of in flight.
  struct Timer {
    enum class Kind : uint8_t { kGap, kMemory, kReceive };
    Kind kind = Kind::kGap;
    uint32_t cohort = 0;
    uint32_t node = 0;
    int64_t start_ps = 0;
    int64_t end_ps = 0;
    int64_t number = 0;  // kReceive: of the message in its channel.
    int64_t push = 0;    // As Slot::push.
    size_t place = 0;    // In Cohort::timers.
  };
  // How a collective went for some of a cohort's ranks.
  struct Outcome {
    uint32_t cohort = 0;
    int32_t rank = 0;        // The one it is about; with `group`, the first of that group.
    uint32_t group = kNone;  // All ranks of this group, alike.
    int32_t ranks_count = 1;
    int64_t end_ps = 0;
    int64_t bytes = 0;
    int64_t wait_ps = 0;
    int32_t last_position = 0;
    uint32_t last_node = 0;  // Of who came last; 0 unless it was waited for and is asked for.
    uint32_t node = 0;
    bool LikeAs(const Outcome& other) const {
      return end_ps == other.end_ps && bytes == other.bytes && wait_ps == other.wait_ps &&
             last_position == other.last_position && last_node == other.last_node;
    }
  };

  // waits.cc: whether `node` of `rank` has been issued and has not ended.
  bool IsRunning(int32_t rank, uint32_t node) const;

  // workload.cc
  absl::Status Look() const;  // Whether to go on, in a long evaluation.
  void BecomeUnblocked(uint32_t cohort, uint32_t node);
  void BecomeReady(uint32_t cohort, uint32_t node);
  bool IssueNext(uint32_t cohort);
  void Issue(uint32_t cohort, uint16_t slot, uint32_t node);
  void IssueSend(uint32_t cohort, uint16_t slot, uint32_t node);
  void IssueMemory(uint32_t cohort, uint16_t slot, uint32_t node);
  void PostReceive(uint32_t cohort, uint32_t node);
  void EndSlot(uint32_t cohort, uint16_t slot);
  void EndSend(uint32_t cohort, uint16_t slot);
  void EndReceive(uint32_t cohort, uint32_t node, int64_t start_ps, int64_t number);
  void EndTimer(uint32_t index);
  // `node` ends now; Settle runs what follows from that. An interval unless start_ps is now.
  void End(uint32_t cohort, uint32_t node, int64_t start_ps);
  void Settle(uint32_t cohort);
  void SetTimer(Timer timer, int64_t dur_ps);
  void PushTimer(const Timer& timer);
  // What runs on the slot ends at until_ps.
  void PushSlotEnd(uint32_t cohort, uint16_t slot, int64_t until_ps);
  IntervalKind KindOf(const Cohort& cohort, uint32_t node) const;
  Channel& ChannelOf(const Cohort& cohort, uint32_t node);
  void AddBytes(Cohort* cohort, int64_t bytes);

  // collectives.cc
  void IssueCollective(uint32_t cohort, uint16_t slot, uint32_t node);
  CollectiveCall CallOf(const Cohort& cohort, uint32_t node) const;
  void JoinMeetings(uint32_t cohort, uint16_t slot, const CollectiveCall& call);
  void JoinEngine(uint32_t cohort, uint16_t slot, CollectiveCall call, uint32_t number);
  void FillParts(const Cohort& cohort, GroupUse* use);
  void ApplyOutcomes();
  void CollectOutcomes(const std::vector<Meeting*>& meetings, std::vector<Outcome>* outcomes);
  bool InOneCohort(const GroupIndex& group) const;
  void ApplyTo(std::vector<Outcome>::iterator begin, std::vector<Outcome>::iterator end);
  void Conclude(uint32_t cohort, const Outcome& outcome);
  void LogMeeting(const Meeting& meeting, bool flat);
  void AddTraffic(const std::vector<DimTraffic>& traffic);

  // cohorts.cc
  void MakeCohorts(bool fold);
  void MakeCohort(uint32_t trace_index, double compute_scale, std::vector<int32_t> ranks);
  // Parts `parent` into `parts`, disjoint and sorted, each of which becomes a cohort, and
  // what is left, which stays `parent`; if nothing is, the first part does. Their indices.
  std::vector<uint32_t> Split(uint32_t parent, std::vector<std::vector<int32_t>> parts);
  void CopyInFlight(uint32_t parent, uint32_t child);

  const WorkloadParts parts_;
  const Trace* trace_;
  const SystemDescription* system_;
  Channels channels_;
  EventQueue* queue_;
  SimObserver* observer_;
  bool wants_intervals_;
  Rendezvous rendezvous_;
  // One of the two answers collectives: messages as events, or whole collectives at once.
  std::unique_ptr<CollectiveEngine> engine_;
  std::unique_ptr<BatchEvaluator> batch_;
  std::unique_ptr<RemoteMemoryQueue> remote_memory_;  // Null: memory nodes as recorded.
  std::deque<Cohort> cohorts_;
  std::vector<uint32_t> cohort_of_;  // By rank.
  int64_t pending_count_ = 0;        // Entries of Cohort::pending, over all cohorts.
  std::vector<uint32_t> ended_;      // Nodes of the cohort being settled, oldest first.
  std::vector<Timer> timers_;
  int64_t pushes_count_ = 0;  // Of ends of slots and timers.
  std::vector<uint32_t> free_timers_;
  std::deque<std::vector<Meeting*>> complete_;  // By join: meetings that it completed.
  size_t cohorts_before_outcomes_ = 0;          // Their number when ApplyOutcomes began.
  std::vector<TimelineInterval> intervals_;     // That end now; not yet seen by the observer.
  // (rank << 32 | node): bytes of an all-to-all that another member has more of.
  std::unordered_map<uint64_t, int64_t> all_to_all_bytes_;
  CollectiveLog log_;
  std::vector<DimTraffic> traffic_;  // By dimension: of collectives answered whole.
  WorkloadCounts counts_;
  int64_t nodes_count_ = 0;
  absl::Status status_;
};

}  // namespace chakrad

#endif  // CHAKRAD_SIM_WORKLOAD_WORKLOAD_H_
