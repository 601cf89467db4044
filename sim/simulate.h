// One simulation: a trace on a system, in simulated time.
//
// A pure function of its arguments: same inputs, same bytes out, on any machine
// and beside any other run. No files, no clock, no threads, no statics.
#ifndef CHAKRAD_SIM_SIMULATE_H_
#define CHAKRAD_SIM_SIMULATE_H_

#include <cstdint>
#include <map>
#include <string>
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
  // One finished interval; called in order of end time, ties in a fixed order.
  virtual void OnInterval(const TimelineInterval& interval) { static_cast<void>(interval); }
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

struct SimResult {
  std::string semantics;       // Which cost semantics answered: "astra".
  std::string engine_version;  // Changes whenever any result may change.
  int64_t end_ps = 0;          // Of the last rank.
  std::vector<RankEnd> ranks;  // One a rank of the world, ascending.
  int64_t nodes_count = 0;     // Nodes run, over all ranks.
  int64_t events_count = 0;
  int64_t network_bytes = 0;  // Sum over `ranks`.
  // Key: a rank the trace lacks; value: the traced rank whose graph it ran.
  std::map<int32_t, int32_t> stand_in_by_rank;
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
