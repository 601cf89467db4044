// The causal graph run forward, with some of its times scaled.
#ifndef CHAKRAD_ANALYSIS_CRITICAL_PATH_REPLAY_H_
#define CHAKRAD_ANALYSIS_CRITICAL_PATH_REPLAY_H_

#include <cstdint>
#include <vector>

#include "analysis/critical_path/causal_graph.h"

namespace chakrad {

// What times are multiplied by; each finite and >= 0.
struct TimeFactors {
  // By rank (index into CausalGraph::ranks) and node: the node's own time. Empty: 1 for all.
  std::vector<std::vector<double>> node;
  double gaps = 1;  // Lags.

  double Of(uint32_t rank, uint32_t index) const { return node.empty() ? 1 : node[rank][index]; }
};

// ps * factor, rounded to the nearest; exactly ps for a factor of 1. Never falls when either
// rises. Stops at the ends of int64_t.
int64_t ScaledPs(int64_t ps, double factor);

// When everything happens then. `graph` and `factors` must outlive it.
class CausalReplay {
 public:
  // O(nodes + edges). 8 bytes a node.
  CausalReplay(const CausalGraph& graph, const TimeFactors& factors);

  int64_t StartPs(uint32_t rank, uint32_t node) const { return start_ps_[rank][node]; }
  // When it stopped waiting for other ranks: its start where it did not.
  int64_t AnchorPs(uint32_t rank, uint32_t node) const;
  int64_t EndPs(uint32_t rank, uint32_t node) const;
  // When `cause`, on the same rank, let `node` start: before its lag.
  int64_t ArrivalPs(uint32_t rank, uint32_t cause, uint32_t node) const;
  // When the last of the meeting's joins started.
  int64_t MetPs(uint32_t meeting) const { return met_ps_[meeting]; }

  // The node that ends last: of equals the lowest rank, then node. kNone in an empty graph.
  NodeRef last() const { return last_; }
  int64_t last_end_ps() const { return last_end_ps_; }
  // The job's end: what came after its last operation comes after it still.
  int64_t end_ps() const;

 private:
  void Run();
  // Starts the node that is next on the rank; or returns a meeting that has to be over before.
  uint32_t Start(uint32_t rank, uint32_t node);
  void FindLast();

  const CausalGraph& graph_;
  const TimeFactors& factors_;
  std::vector<std::vector<int64_t>> start_ps_;
  std::vector<int64_t> met_ps_;       // By meeting.
  std::vector<uint32_t> joins_left_;  // By meeting, while it runs.
  NodeRef last_{kNone, kNone};
  int64_t last_end_ps_ = 0;
};

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_CRITICAL_PATH_REPLAY_H_
