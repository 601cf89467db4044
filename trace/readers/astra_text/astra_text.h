// ASTRA-sim 1 text workloads: the layers of a network with the time of each of their
// passes and the collective behind it, and on the first line the way of training. The
// layout is in workload_file.h.
//
// Sources: astra-sim, astra-sim/workload/Workload.cc and Layer.cc as of f2972f4 (the
// last text front end), workload_inputs/README.md; mlcommons/chakra's text converter for
// comparison. What follows is what ASTRA-sim 1 did; where it went wrong, it says so.
//
// One NPU runs its program step by step; all run the same. "blocking" collectives hold
// up the program, others only who waits for them:
//   fwd i     waits for the weight gradient's collective of layer i of the pass before
//   DATA      fwd 0..n-1; then from the last layer down: wg, its collective, ig (not of 0)
//   MODEL     fwd with a blocking collective; down: ig, its collective (not of 0), wg,
//             wait for the ig collective
//   HYBRID_DATA_MODEL, HYBRID_MODEL_DATA, HYBRID_CUSTOMIZED   as MODEL, and the wg
//             collective behind wg
//   HYBRID_TRANSFORMER   the same, with a blocking ig collective, also of layer 0
//   HYBRID_TRANSFORMER_FWD_IN_BCKWD   the same; before ig of a layer that is listed
//             under checkpoint_initiates the fwd of all layers from the nearest
//             checkpoint below up to that layer is run again
//   HYBRID_DLRM   fwd, an ALLTOALL behind it not blocking; the last bottom layer waits
//             for layer 0's; down: wg, its collective, (wait for the layer's ig collective), ig
//             (not of 0); behind ig of the layer above the last bottom one, layer 0's ig
//             collective.  HYBRID_DLRM_ENHANCED: without the wait in brackets
//   DISTRIBUTED_INFERENCE   fwd with a blocking collective
//   MICRO     the wg collectives alone, none waits. (ASTRA-sim runs the first layer's only)
// The update time passes behind each collective before it counts as over. It holds up
// nothing else, so it is the gap of a METADATA_NODE "... update" that takes no resource.
//
// Who takes part:
//                       fwd, ig          wg
//   DATA, MICRO, DLRM*  nobody           all         (layer 0 of DLRM*: all, all)
//   MODEL, INFERENCE    all              nobody
//   HYBRID_DATA_MODEL   dimension 0      the others
//   HYBRID_MODEL_DATA   the others       dimension 0
//   HYBRID_TRANSFORMER* model group      data group
//   HYBRID_CUSTOMIZED   as the layer's own parallelism says
// Dimensions become CommOp::involved_dims, as they mean something only together with a
// topology. Groups become process groups: ASTRA-sim takes the lowest dimensions for the
// model group and splits one in two where sizes do not fit, which no involved_dims can
// say without the topology; NPUs are numbered along dimension 0 first, so
// a model group is N consecutive ranks, a data group every N-th. The simulator runs such
// groups as one ring (sim/collective/collective_plan.h), not dimension by dimension.
// A collective that nobody takes part in, or that its way of training never
// issues, is left out, as in ASTRA-sim: flaw astra_text_unused_collective. NONE is no
// communication (Chakra's converter makes it an ALL_REDUCE). Scheduling (LIFO, FIFO,
// HIGHEST) is the simulator's, not the file's.
//
// Times. ASTRA-sim counts cycles of 1 ns. Chakra's converter copies the same numbers
// into microseconds, which makes computing a thousand times slower: time_unit_ns = 1000
// does that too. A notice names the unit.
#ifndef CHAKRAD_TRACE_READERS_ASTRA_TEXT_ASTRA_TEXT_H_
#define CHAKRAD_TRACE_READERS_ASTRA_TEXT_ASTRA_TEXT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "trace/model/ledger.h"
#include "trace/model/rank_trace.h"
#include "trace/readers/read_options.h"

namespace chakrad {

class ByteSource;  // trace/readers/byte_source.h

struct AstraTextOptions {
  int32_t npus_count = 0;    // The file does not say (SimAI's all_gpus apart): 0 is an error then.
  int32_t passes_count = 1;  // Training iterations, at least 1.
  int64_t time_unit_ns = 1;  // Of the file's times.
};

// Ranks 0 to npus_count - 1, equal but for the rank and the members of its groups; ids
// from 0 in the program's order; compute on stream 0, collectives on stream 1; no start
// times; schema "astra-sim-text <parallelism>".
//
// Ledger: a record is a line with words. Layers are kept, the two lines before them are
// merged as "header".
//
// INVALID_ARGUMENT, with byte offset and line where there is one: fewer layers or
// columns than there should be, a number that is none or out of range, no parallelism,
// no NPU count (the message names --world-size), one that model_parallel_NPU_group does
// not divide, over kMaxRanksOfFile ranks, kMaxTextWorkloadNodes nodes or
// kMaxGroupRanksInAll members of groups. When strict also, when lenient a flaw or a
// rejection: a collective's name that is not known ("astra_text_unknown_collective": no
// communication then), more columns ("astra_text_extra_column"), more layers than line 2
// says ("astra_text_extra_layer").
// O(nodes of all ranks).
absl::StatusOr<std::vector<RankTrace>> ReadAstraText(ByteSource* source,
                                                     const AstraTextOptions& text_options,
                                                     const ReadOptions& options, Ledger* ledger);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_ASTRA_TEXT_ASTRA_TEXT_H_
