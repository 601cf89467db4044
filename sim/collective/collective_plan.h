// How one collective is cut into chunks and phases: which algorithm over which
// dimension, in which order, with how many bytes.
//
// Chunks, physical. Sizes are exact fractions of what was asked for; nothing is rounded up and
// 0 bytes are one chunk of 0 bytes. A plan of one phase is a single chunk: its chunks would
// share the phase's ports and stay in step. A plan of several phases has `splits` chunks of
// equal size, which pipeline over the dimensions.
//   But what passes on whole what it receives (a lone double binary tree; broadcast, reduce,
// gather and scatter but in a single star) pipelines within a phase: all chunks start at once,
// and there are at least as many as places (trees: up to 64; chains: up to kMaxSplits; as fit
// kMaxFlowsPerCollective). Of a double binary tree an even number, half of them on either tree.
// Chunks, astra. chunk_bytes = bytes / splits (whole division); unless it is an all-gather,
// at least one byte a NPU of the system. chunks_count = ceil(bytes / chunk_bytes), and
// each is simulated at full size, the last one too, as ASTRA-sim does. An all-gather
// of fewer bytes than splits is cut into chunks of one byte; one of 0 bytes is a single
// chunk of 0 bytes (ASTRA-sim does not end on either). Messages are whole bytes, cut down.
//
// Phases of a group that fits the network's dimensions (group_shape.h), on those dimensions
// along which it has more than one coordinate and which are not excluded:
//   reduce-scatter, all-to-all   dimensions ascending
//   all-gather                   descending
//   all-reduce, local_bw_aware   reduce-scatter ascending, all-reduce on the last
//                                dimension, all-gather descending; a reduce-scatter
//                                divides the bytes by the dimension's NPUs, an
//                                all-gather multiplies them
//   all-reduce, otherwise        a full all-reduce on each dimension, ascending
//   barrier                      an all-reduce of 0 bytes
//   reduce, gather               ascending; where the lower dimensions are done, only the
//                                root's coordinates in them go on
//   broadcast, scatter           descending, the same in the other direction
// A flat implementation is one phase over all members. A group that does not fit is one phase
// over its ranks in list order: on a system of one dimension by the configured algorithm, else
// by ring (physical: an all-to-all directly, operations with a root by binomial tree). Astra:
// any group but the whole system is such a one, and its endpoint delay is always 10 ns.
// A custom algorithm is one phase of one chunk over all members.
// Broadcast, reduce, gather and scatter are scripts: rooted_scripts.h.
#ifndef CHAKRAD_SIM_COLLECTIVE_COLLECTIVE_PLAN_H_
#define CHAKRAD_SIM_COLLECTIVE_COLLECTIVE_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "sim/collective/group_shape.h"
#include "sim/system/system_description.h"
#include "trace/model/types.h"

namespace chakrad {

enum class PhaseOp : uint8_t {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kAllToAll,
  kBroadcast,
  kReduce,
  kGather,
  kScatter,
};

// What a script is: given by the system description, or one of MakeRootedScript.
enum class ScriptShape : uint8_t { kCustom, kChain, kStar, kBinomialTree };

// num / den bytes, exactly. den >= 1.
struct ByteFraction {
  int64_t num = 0;
  int64_t den = 1;
  double AsDouble() const { return static_cast<double>(num) / static_cast<double>(den); }
};

struct CollectivePhase {
  Semantics semantics = Semantics::kAstra;
  PhaseOp op = PhaseOp::kAllReduce;
  AlgorithmKind algorithm = AlgorithmKind::kRing;
  // Members of the phase's ring (or other shape) are `stride` apart in the list of
  // the collective's members; places_count of them, at least 2.
  int32_t places_count = 0;
  int32_t stride = 1;
  ByteFraction all_chunks;   // Of a rank's chunks together when the phase begins.
  double chunk_bytes = 0;    // Of one of them. Astra: whole.
  double message_bytes = 0;  // Ring and direct. Astra: whole.
  int64_t sends_count = 0;   // Messages a chunk that a rank sends; ring, direct, halving-doubling.
  int32_t window = 1;        // Direct: messages outstanding.
  int32_t reduce_run = 0;    // Direct, astra: see DirectReceiptReduces.
  ScriptShape script_shape = ScriptShape::kCustom;  // Scripts.
  // Scripts: of a custom one; of others CollectiveEngine fills it in.
  const CollectiveScript* script = nullptr;
  int32_t root = 0;  // Scripts: a member; 0 for custom ones.
  int64_t endpoint_delay_ps = 0;
  int32_t first_lane = 0;  // Chunk c runs on lane first_lane + c % lanes_count.
  int32_t lanes_count = 1;
};

struct CollectivePlan {
  std::vector<CollectivePhase> phases;  // Empty: nothing to do.
  int32_t chunks_count = 0;
  int32_t lanes_count = 0;        // Lanes of a rank: (dimension, queue) pairs.
  int32_t lane_chunks_count = 1;  // Chunks that run together on a lane.
  bool flat = false;              // The group fits none of several dimensions.
};

// A collective, apart from who is in it.
struct CollectiveSpec {
  CollectiveType type = CollectiveType::kAllReduce;
  int64_t bytes = 0;                    // CommOp::bytes; in [0, kMaxCommBytes].
  uint32_t involved_dims = UINT32_MAX;  // Bit i: dimension i may be used.
  int32_t root = 0;                     // Broadcast, reduce, gather, scatter: place in the group.
  int32_t script = -1;  // Index into SystemDescription::scripts; -1: not a custom algorithm.
};

// Bytes are CommOp::bytes: of all-reduce, reduce, broadcast, reduce-scatter, scatter and
// all-to-all the full buffer (of scatter the root's); of all-gather and gather what each rank
// contributes; of a barrier nothing.

// ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, ALL_TO_ALL: those with
// a cost model in both semantics.
bool HasCostModel(CollectiveType type);
// Physical: all types.
bool HasCostModel(Semantics semantics, CollectiveType type);

// Whether the operation has a root: broadcast, reduce, gather, scatter.
bool HasRoot(CollectiveType type);

// The implementation that the system configures for `type`.
const CollectiveImplementation& ImplementationOf(const SystemDescription& system,
                                                 CollectiveType type);

// The custom algorithm of a collective node of this type and id: an index into
// SystemDescription::scripts, or -1.
int32_t ScriptOf(const SystemDescription& system, CollectiveType type, uint64_t node_id);

// Fills `*plan`, reusing its memory.
void PlanCollective(const SystemDescription& system, const CollectiveSpec& spec,
                    const GroupShape& shape, CollectivePlan* plan);
// Without a root or a custom algorithm, for all NPUs or a group that fits no dimensions.
void PlanCollective(const SystemDescription& system, CollectiveType type, int64_t bytes,
                    int32_t ranks_count, uint32_t involved_dims, CollectivePlan* plan);

// What a group of this shape cannot run: a message part, or "". `script`: as in CollectiveSpec.
// Beside missing powers of two and custom algorithms for another number of ranks: an all-to-all
// by halving-doubling in astra; in physical anything but an all-reduce by double binary tree
// (astra runs an all-reduce's tree in its place, as ASTRA-sim does).
std::string PlanFault(const SystemDescription& system, CollectiveType type, const GroupShape& shape,
                      int32_t script = -1);
// The same for all NPUs or a group that fits no dimensions.
std::string PlanFault(const SystemDescription& system, CollectiveType type, int32_t ranks_count);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_COLLECTIVE_COLLECTIVE_PLAN_H_
