// Aligns two recordings of one thread's operations, of which one may cover only
// a window of the other.
#ifndef CHAKRAD_TRACE_LINK_ALIGN_H_
#define CHAKRAD_TRACE_LINK_ALIGN_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace chakrad {

// `a` and `b` hold name numbers in start order. Returns, for each entry of `a`,
// its partner's index in `b` or kNone; partners have equal names and ascend, but
// for entries that changed places between two others.
// First the offset that most runs of 8 equal names vote for, near offsets
// together, is found (where several agree within 5 %, the one nearest to
// `preferred_begin`; when that is negative, the first of the best); from a run at that offset the
// two are walked both ways, and after a difference they are joined again at the nearest run of 3
// equal names within 64 entries. O((a + b) * constant); extra or missing
// entries cost only themselves.
std::vector<uint32_t> AlignSequences(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b,
                                     int64_t preferred_begin);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_LINK_ALIGN_H_
