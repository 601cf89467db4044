// What nccl-tests divides by time to state the bandwidth of an operation
// (github.com/NVIDIA/nccl-tests, doc/PERFORMANCE.md).
#ifndef CHAKRAD_TRACE_MODEL_COMM_BYTES_H_
#define CHAKRAD_TRACE_MODEL_COMM_BYTES_H_

#include <cstdint>

#include "trace/model/types.h"

namespace chakrad {

// Algorithm bandwidth: the data that the operation is about. `bytes` as CommOp::bytes, of a
// group of `ranks_count` >= 1 ranks: of an all-gather and a gather, what each rank contributes.
double AlgorithmBytes(CollectiveType type, int64_t bytes, int64_t ranks_count);

// Bus bandwidth: the share of AlgorithmBytes that the busiest rank has to send or receive,
// whatever the algorithm: times 2 (n-1)/n for an all-reduce; (n-1)/n for an all-gather,
// reduce-scatter, all-to-all, gather and scatter; 1 for a broadcast and a reduce. 0 of a
// barrier, and of an exchange of one rank with itself.
double BusBytes(CollectiveType type, int64_t bytes, int64_t ranks_count);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_MODEL_COMM_BYTES_H_
