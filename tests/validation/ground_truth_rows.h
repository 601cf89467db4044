// Rows of measurements on a real network: collectives and whole training iterations of PyTorch
// with gloo between hosts whose links were limited in rate. One JSON object a line, plain or
// gzip. Read here:
//   kind            "collective" or "iteration"
//   fabric          "tbf": a star of hosts with a token bucket on both directions of each link;
//                   others were measured for other purposes
//   rate_mbit       of each link, Mbit/s with 1e6 bits; null: not limited
//   mtu             of the links, bytes
//   sched           "rr1": real-time scheduling; else ordinary
//   world           ranks, one a host
//   collective      op; bytes (the tensor given to the call on each rank; of an all-gather what
//   each
//                   rank contributes; send_recv: rank 0 to 1); p10_us, median_us, p90_us of the
//                   span from the first rank's start to the last one's end; start_skew_us (median)
//   iteration       model; sync: span_ms, span_p10_ms, span_p90_ms (the same of one training
//                   iteration), exposed_wait_ms (the longest time that a rank's backward pass
//                   waited after it had launched its last collective)
#ifndef CHAKRAD_TESTS_VALIDATION_GROUND_TRUTH_ROWS_H_
#define CHAKRAD_TESTS_VALIDATION_GROUND_TRUTH_ROWS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/status.h"

namespace chakrad {

// A network on which rows were measured.
struct Fabric {
  int32_t hosts_count = 0;
  double rate_mbit = 0;  // 0: not limited.
  int32_t mtu_bytes = 0;
  friend bool operator==(const Fabric&, const Fabric&) = default;
};

struct GroundTruthRow {
  bool is_collective = false;  // Else an iteration.
  std::string fabric_kind;
  Fabric fabric;
  bool real_time = false;

  std::string op;  // Collectives.
  int64_t bytes = 0;
  double start_skew_us = 0;

  std::string model;  // Iterations.
  double exposed_ms = 0;

  // Microseconds of a collective, milliseconds of an iteration.
  double p10 = 0;
  double median = 0;
  double p90 = 0;
};

// INVALID_ARGUMENT names what is missing.
absl::StatusOr<GroundTruthRow> ParseGroundTruthRow(const std::string& line);

// The rows of ground_truth.jsonl.gz, or else ground_truth.jsonl, in `folder`; those of token
// buckets with a limited rate only, and of those that measured the same thing the quieter:
// real-time scheduling before ordinary, then the one whose p10 and p90 are closer together. By
// kind, hosts, rate, op or model, and bytes.
absl::StatusOr<std::vector<GroundTruthRow>> ReadGroundTruth(const std::string& folder);

}  // namespace chakrad

#endif  // CHAKRAD_TESTS_VALIDATION_GROUND_TRUTH_ROWS_H_
