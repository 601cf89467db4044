// The program that an ASTRA-sim 1 text workload makes every NPU run, as one RankTrace:
// the table in astra_text.h, written out.
#ifndef CHAKRAD_TRACE_READERS_ASTRA_TEXT_PROGRAM_H_
#define CHAKRAD_TRACE_READERS_ASTRA_TEXT_PROGRAM_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "trace/model/ledger.h"
#include "trace/model/rank_trace.h"
#include "trace/readers/astra_text/workload_file.h"

namespace chakrad {

// CommOp::group of a collective of the rank's model or data group.
inline constexpr uint32_t kModelGroup = 0, kDataGroup = 1;

struct ProgramOptions {
  int32_t npus_count = 1;
  int32_t passes_count = 1;
  int64_t time_unit_ns = 1;
  int64_t nodes_max = 0;
};

// Rank and groups are for the caller to fill in; *uses_groups tells whether any
// collective names one. Collectives that are never issued become flaws.
// INVALID_ARGUMENT: a time over kMaxRecordingNs, more nodes than nodes_max.
absl::StatusOr<RankTrace> MakeProgram(const WorkloadFile& file, const ProgramOptions& options,
                                      Ledger* ledger, bool* uses_groups);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_ASTRA_TEXT_PROGRAM_H_
