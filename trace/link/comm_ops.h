// What each communication moves: kind, bytes, group, peer, root, tag.
#ifndef CHAKRAD_TRACE_LINK_COMM_OPS_H_
#define CHAKRAD_TRACE_LINK_COMM_OPS_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/link/comm_calls.h"
#include "trace/link/link_graph.h"

namespace chakrad {

// The bytes of a call by the definition at CommOp::bytes; -1 when no record
// tells. all_to_allv: the sum of the input splits, times the element size.
int64_t CommBytes(const CommKind& kind, const CommArgs& args);

// Fills LinkGraph::comm and ::groups and each node's `comm`. `rank` is this
// rank's number (kNoRank when unknown: manifest groups then cannot be chosen).
// The group of a call is, in this order:
//  1. the one it names: with the members that the group table of either file,
//     the manifest, the call itself, or start, stride and size tell; else a group
//     without members;
//  2. where nothing names it: the manifest's first matching rule; the world
//     when the manifest has no other group that holds this rank; else a guess
//     by where it was called: gradient buckets (under AccumulateGrad) and DDP's
//     broadcasts belong to a group named dp* or data*, all else to tp*, mp*,
//     model*; else a group without members. Guesses and unknown groups are
//     notices;
//  3. where the calls give the addresses of several groups and nothing else, a
//     group without members for each address;
//  4. the world (kNone) where no groups are known at all.
// Peers and roots become global ranks. O(calls * depth of calls).
void FillCommOps(const std::vector<CommCall>& calls, int32_t rank, LinkGraph* graph);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_LINK_COMM_OPS_H_
