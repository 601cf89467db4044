// One simulation: a trace on a system, in simulated time.
//
// A pure function of its arguments: same inputs, same bytes out, on any machine
// and beside any other run. No files, no clock, no threads, no statics. Folding
// (SimOptions::fold) changes how much work a run is (events_count, classes), nothing else.
#ifndef CHAKRAD_SIM_SIMULATE_H_
#define CHAKRAD_SIM_SIMULATE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/status.h"
#include "trace/model/timeline.h"

namespace chakrad {

struct Trace;              // trace/model/trace.h
struct SystemDescription;  // sim/system/system_description.h

struct SimOptions {
  // Stand in for the ranks that the trace lacks: rank m runs the graph of the
  // nearest traced rank below it (the lowest traced one when there is none), on
  // its own place in the network and in its own process groups. Without it a
  // trace with missing ranks is refused.
  bool replicate_missing_ranks = false;
  // RESOURCE_EXHAUSTED after this many events; at least 1. The default is about
  // half an hour of one core.
  int64_t max_events = int64_t{10'000'000'000};
  // OUT_OF_RANGE when simulated time passes this; at most kHorizonPs.
  int64_t max_simulated_ps = int64_t{1} << 61;
  // Simulate ranks that behave alike as one, for as long as they do. Never changes a result.
  bool fold = true;
  // Answer collectives whole where that is exact (sim/collective/batch.h), else message by
  // message, always. Never changes a result; needed to fold.
  bool whole_collectives = true;
  // Results to keep: collectives listed one by one, and the critical path (16 bytes a node).
  int64_t max_collectives = 10'000;
  // Traffic by link on the analytical back end too (the link back end always has it). Slower:
  // message by message.
  bool link_traffic = false;
  // Peak memory of tensors; needs the trace's cold blocks, and 16 bytes a node.
  bool memory_use = false;
  bool critical_path = false;
};

struct SimProgress {
  int64_t nodes_done = 0;   // Of all simulated ranks.
  int64_t nodes_count = 0;  // Constant over a run.
  int64_t now_ps = 0;       // Simulated time; never falls.
  int64_t events_count = 0;
};

// What a caller may watch. Called on the simulating thread, which waits.
class SimObserver {
 public:
  virtual ~SimObserver() = default;
  // One finished interval; called in order of (end time, rank, start time, node).
  virtual void OnInterval(const TimelineInterval& interval) { static_cast<void>(interval); }
  // Whether OnInterval will be used: a run that nobody watches so need not make them up.
  virtual bool WantsIntervals() const { return true; }
  // Every few thousand events, and once at the end of a run that succeeds.
  virtual void OnProgress(const SimProgress& progress) { static_cast<void>(progress); }
  // Asked every few thousand events; true ends the run with CANCELLED.
  virtual bool Cancelled() { return false; }
};

struct RankEnd {
  int32_t rank = 0;
  int64_t end_ps = 0;         // When the rank's last node finished.
  int64_t network_bytes = 0;  // Sent by this rank.
  friend bool operator==(const RankEnd&, const RankEnd&) = default;
};

// Why a rank that neither computed nor communicated nor copied did not.
enum class IdleCause : uint8_t {
  kHost = 0,      // Its host ran operations, or recorded idle time (Python, data loading) passed.
  kQueue = 1,     // Device latency, order of queues: nothing else explains it.
  kFinished = 2,  // It had ended; others had not.
};
inline constexpr int kIdleCausesCount = 3;

// Where one rank's time went. compute_ps + exposed_comm_ps + exposed_memory_ps + the sum of
// idle_ps == SimResult::end_ps. The first four as in analysis/exposed_comm.h.
struct RankTime {
  int64_t compute_ps = 0;
  int64_t comm_ps = 0;
  int64_t exposed_comm_ps = 0;
  int64_t exposed_memory_ps = 0;
  int64_t idle_ps[kIdleCausesCount] = {};
  // Of its communication: time in which it was in a collective (or receive) that somebody had
  // not joined (or sent) yet; may exceed comm_ps where communications overlap.
  int64_t wait_ps = 0;
  int32_t waits_most_for_rank = -1;  // Of wait_ps, the rank that came last most of the time.
  uint32_t waits_most_in_group = UINT32_MAX;  // Index into Trace::groups; UINT32_MAX: none.
  friend bool operator==(const RankTime&, const RankTime&) = default;
};

// One collective, over all its ranks.
struct CollectiveResult {
  uint32_t group = 0;   // Index into Trace::groups.
  uint32_t number = 0;  // 0-based place in the group's order.
  CollectiveType type = CollectiveType::kAllReduce;
  int32_t ranks_count = 0;
  int64_t bytes = 0;          // As CommOp::bytes.
  int64_t start_ps = 0;       // When the first rank joined,
  int64_t all_joined_ps = 0;  // the last one did,
  int64_t end_ps = 0;         // and the last one was through.
  int32_t last_rank = -1;     // Who joined last.
  bool flat = false;          // The group fits no dimensions: a flat algorithm ran on it.
  // Bytes a nanosecond (numerically GB/s with GB = 1e9) over end_ps - all_joined_ps: the data
  // size of the operation, and what nccl-tests call bus bandwidth. 0: no time, or no bytes.
  double algorithm_bandwidth = 0;
  double bus_bandwidth = 0;
  friend bool operator==(const CollectiveResult&, const CollectiveResult&) = default;
};

// One node on the critical path, in order of time.
struct CriticalStep {
  int32_t rank = 0;
  uint32_t node = 0;  // Index in the rank's trace.
  int64_t start_ps = 0;
  int64_t end_ps = 0;
  friend bool operator==(const CriticalStep&, const CriticalStep&) = default;
};

// What one directed link carried: sim/network/network.h. Ends: -1 is the switch.
struct LinkResult {
  int32_t dim = 0;
  int32_t src = -1;
  int32_t dst = -1;
  int64_t messages_count = 0;
  int64_t bytes = 0;
  int64_t busy_ps = 0;
  int64_t queue_ps = 0;
  friend bool operator==(const LinkResult&, const LinkResult&) = default;
};

// What one dimension of the network carried, all of its links together. A message counts once
// in each dimension that it goes along; on the link back end, once a link.
struct DimResult {
  int32_t dim = 0;
  int64_t messages_count = 0;
  int64_t bytes = 0;
  // Bytes an NPU over what its link along the dimension could have carried until the end of the
  // run; a ring's NPU has two, so that it may come to 2.
  double utilisation = 0;
  friend bool operator==(const DimResult&, const DimResult&) = default;
};

// The most memory that a rank's tensors took on one device: trace/memory/tensor_lifetimes.h.
struct MemoryPeak {
  int32_t rank = 0;
  std::string device;          // As recorded: "cuda:0".
  int64_t resident_bytes = 0;  // Of what was there before, and stays.
  int64_t peak_bytes = 0;
  int64_t peak_at_ps = 0;  // The first time.
  friend bool operator==(const MemoryPeak&, const MemoryPeak&) = default;
};

// Ranks that behaved alike and were simulated as one.
struct RankClass {
  int32_t representative = 0;  // The lowest of them.
  int32_t ranks_count = 0;
  friend bool operator==(const RankClass&, const RankClass&) = default;
};

struct SimResult {
  std::string semantics;       // Which cost semantics answered: "astra".
  std::string engine_version;  // Changes whenever any result may change.
  int64_t end_ps = 0;          // Of the last rank.
  std::vector<RankEnd> ranks;  // One a rank of the world, ascending.
  int64_t nodes_count = 0;     // Nodes run, over all ranks.
  int64_t events_count = 0;
  int64_t network_bytes = 0;                  // Sum over `ranks`.
  std::vector<RankTime> times;                // Parallel to `ranks`.
  std::vector<CollectiveResult> collectives;  // In order of their ends; see collectives_dropped.
  int64_t collectives_dropped = 0;            // Not listed: over SimOptions::max_collectives.
  std::vector<DimResult> dims;                // One a dimension.
  // By (dim, src, dst); those that carried anything. Of the analytical back end its senders'
  // ports, and only with SimOptions::link_traffic.
  std::vector<LinkResult> links;
  std::vector<MemoryPeak> memory;           // When SimOptions::memory_use; by rank, then device.
  std::vector<CriticalStep> critical_path;  // When SimOptions::critical_path; may be cut.
  std::vector<RankClass> classes;           // By representative; at the end of the run.
  // Ranks that the trace lacks, ascending, and the traced ranks whose graphs they ran.
  std::vector<std::pair<int32_t, int32_t>> stand_in_by_rank;
  // What a user should know about this result, in a fixed order.
  std::vector<std::string> notices;
};

// The version that SimResult carries; part of the key of a cached result.
extern const char kSimEngineVersion[];

// Runs `trace` on `system`. `observer` may be null. Errors:
//   INVALID_ARGUMENT     before anything runs: the pair cannot be simulated (rank count
//                        and topology disagree, ranks missing, unknown groups, a peer out
//                        of range, an operation without a cost model).
//   FAILED_PRECONDITION  the run cannot finish: a dependency cycle, a collective that a
//                        rank never joins, a send without its receive. The message says who
//                        waits for whom. Also: members of one collective disagree about it.
//   CANCELLED, RESOURCE_EXHAUSTED (max_events), OUT_OF_RANGE (simulated time beyond
//   kHorizonPs, about 26 days).
// Time: O(events log events in flight); about one event a network message.
// Memory: 4 bytes a node and simulated rank, about 40 a node of the trace and 40 a chunk in
// flight.
absl::StatusOr<SimResult> Simulate(const Trace& trace, const SystemDescription& system,
                                   const SimOptions& options, SimObserver* observer);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_SIMULATE_H_
