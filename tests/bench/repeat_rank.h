// A longer recording of a rank, and copies of one that are equal nowhere.
#ifndef CHAKRAD_TESTS_BENCH_REPEAT_RANK_H_
#define CHAKRAD_TESTS_BENCH_REPEAT_RANK_H_

#include <cstdint>

#include "trace/model/rank_trace.h"

namespace chakrad {

// `rank`, `count` times after each other in time: columns, edges, side records, cold
// blocks. Names stay one table; ids stay unique.
RankTrace RepeatRank(const RankTrace& rank, int64_t count);

// Moves starts by a few hundred nanoseconds, and changes a digit in each stretch of
// 16 KiB of cold blocks, so that no chunk of nodes or cold blocks is that of another seed
// and all compress as before.
void MakeDistinct(uint64_t seed, RankTrace* rank);

}  // namespace chakrad

#endif  // CHAKRAD_TESTS_BENCH_REPEAT_RANK_H_
