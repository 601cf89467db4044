// Rows of golden simulations: a workload, a system, and the times that ASTRA-sim's
// analytical back ends gave for them. One JSON object a line, plain or gzip:
//   id, group      number and family of the row
//   backend        "congestion_unaware" or "congestion_aware"
//                  our analytical or link back end answers it
//   network        {topology[], npus_per_dim[], bandwidth_GiBps[], latency_ns[]}
//   system         ASTRA-sim's system JSON; num_queues_per_dim beside it
//   comm_groups    {"id": [ranks]} or null
//   workload       {npus, all_ranks: [nodes] | ranks: [[nodes], ...]}; a node has id, type
//                  (COMP, COLL, SEND, RECV), deps, micros, ops, tensor, coll, bytes, src, dst,
//                  tag, pg, dims
//   remote_memory  ASTRA-sim's remote memory JSON, or null
//   result         {ok, cycles: ns of all ranks, or a list by rank}
#ifndef CHAKRAD_TESTS_GOLDEN_GOLDEN_ROWS_H_
#define CHAKRAD_TESTS_GOLDEN_GOLDEN_ROWS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/status.h"
#include "sim/system/system_description.h"
#include "trace/model/trace.h"

namespace chakrad {

struct GoldenRow {
  int64_t id = 0;
  std::string group;
  std::string backend;
  bool ok = false;     // The simulation behind it ended well; else nothing below is filled in.
  absl::Status fault;  // Why the row cannot be simulated: an unknown key of its system, say.
  Trace trace;
  SystemDescription system;
  std::vector<int64_t> end_ns;  // By rank.
};

// The lines of a plain or gzip file.
absl::StatusOr<std::vector<std::string>> ReadLines(const std::string& path);
// INVALID_ARGUMENT when the line is not a row at all; what it asks for and we do not have is the
// row's fault.
absl::StatusOr<GoldenRow> ParseGoldenRow(const std::string& line);

struct GoldenVerdict {
  bool matches = false;
  bool exact = false;      // To the nanosecond, on every rank.
  std::string difference;  // The first rank that differs, or the error; else empty.
};
// Simulates the row, unless it has a fault. Each rank's end must be within 1 ns + 0.1 % of the
// golden one.
GoldenVerdict JudgeGoldenRow(const GoldenRow& row);

}  // namespace chakrad

#endif  // CHAKRAD_TESTS_GOLDEN_GOLDEN_ROWS_H_
