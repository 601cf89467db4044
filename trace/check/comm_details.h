// What a recording says about a communication call beyond CommOp, out of cold blocks.
#ifndef CHAKRAD_TRACE_CHECK_COMM_DETAILS_H_
#define CHAKRAD_TRACE_CHECK_COMM_DETAILS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "trace/check/check_graph.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

// As PyTorch notes it on record_param_comms since schema 1.1.0.
struct CommDetails {
  bool stated = false;       // Any of the below.
  std::string dtype;         // "Float"; empty: not stated.
  int64_t in_elements = -1;  // -1: not stated.
  int64_t out_elements = -1;
  // Elements to and from each member, in group order; an empty known list: even.
  bool in_splits_known = false;
  bool out_splits_known = false;
  std::vector<int64_t> in_splits;
  std::vector<int64_t> out_splits;
};

// Of a communication node: what stands on the node itself, else on the host operation that
// launched it, else on a call around or inside that. Nothing where no cold block is. O(neighbours).
CommDetails CommDetailsOf(const RankTrace& rank, const CheckGraph& graph, uint32_t node);

// Nodes whose cold blocks CommDetailsOf may read, whichever communication node it is asked about:
// those of all others need not be there. An entry a node. `rank` needs its type and dependencies
// only. O(nodes + edges).
std::vector<bool> NodesWithCommDetails(const RankTrace& rank);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_CHECK_COMM_DETAILS_H_
