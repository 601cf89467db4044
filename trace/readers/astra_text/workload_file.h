// An ASTRA-sim 1 text workload as it stands in the file. What it means is in
// astra_text.h.
#ifndef CHAKRAD_TRACE_READERS_ASTRA_TEXT_WORKLOAD_FILE_H_
#define CHAKRAD_TRACE_READERS_ASTRA_TEXT_WORKLOAD_FILE_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/model/ledger.h"
#include "trace/model/types.h"
#include "trace/readers/read_options.h"

namespace chakrad {

class ByteSource;  // trace/readers/byte_source.h

enum class WorkloadParallelism : uint8_t {
  kMicro,
  kData,
  kModel,
  kDistributedInference,
  kHybridDataModel,
  kHybridModelData,
  kHybridDlrm,
  kHybridDlrmEnhanced,
  kHybridTransformer,
  kHybridTransformerFwdInBckwd,
  kHybridCustomized,
};
// "HYBRID_DLRM", ...: as the file spells it.
absl::string_view WorkloadParallelismName(WorkloadParallelism parallelism);
// Nullopt for another word.
std::optional<WorkloadParallelism> FindParallelism(absl::string_view name);

struct LayerPhase {
  int64_t compute = 0;                       // In the file's unit of time.
  std::optional<CollectiveType> collective;  // Nullopt: NONE.
  int64_t bytes = 0;
};

struct Layer {
  std::string name;
  LayerPhase forward, input_gradient, weight_gradient;
  int64_t update = 0;                 // In the file's unit of time: after each of its collectives.
  WorkloadParallelism parallelism{};  // Its own of HYBRID_CUSTOMIZED, else the file's.
  int64_t record = 0, byte_offset = 0;
};

struct WorkloadFile {
  WorkloadParallelism parallelism{};
  int32_t model_group_npus = 0;   // model_parallel_NPU_group; 0: not stated.
  int32_t npus_count = 0;         // all_gpus, which SimAI adds; 0: not stated.
  int64_t last_bottom_layer = 0;  // Of HYBRID_DLRM*.
  std::set<int64_t> checkpoints, checkpoint_initiates;
  std::vector<Layer> layers;
};

// Line 1: the parallelism; of HYBRID_DLRM* the last bottom layer behind it; of
// HYBRID_TRANSFORMER* `model_parallel_NPU_group: N`, and of ..._FWD_IN_BCKWD
// `checkpoints: COUNT LAYER...` and `checkpoint_initiates: COUNT LAYER...`. SimAI adds
// `ep: pp: vpp: ga: all_gpus: pp_comm:`; ep, pp and ga must be 1.
// Line 2: how many layers follow, a line each, of 12 columns (13 of HYBRID_CUSTOMIZED):
//   name reserved fwd_time fwd_comm fwd_bytes ig_time ig_comm ig_bytes
//   wg_time wg_comm wg_bytes update_time [parallelism]
// INVALID_ARGUMENT with byte offset and line, else as ReadAstraText says.
absl::StatusOr<WorkloadFile> ReadWorkloadFile(ByteSource* source, const ReadOptions& options,
                                              Ledger* ledger);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_ASTRA_TEXT_WORKLOAD_FILE_H_
