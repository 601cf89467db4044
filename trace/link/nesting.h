// Which host event runs inside which, by time.
#ifndef CHAKRAD_TRACE_LINK_NESTING_H_
#define CHAKRAD_TRACE_LINK_NESTING_H_

#include <cstdint>
#include <vector>

namespace chakrad {

struct KinetoTrace;

// Of each Kineto event an index of another, or kNone.
struct Nesting {
  // Host operations and annotations: the innermost of either around it on its
  // thread. Runtime calls: the innermost host operation around it.
  std::vector<uint32_t> enclosing;
};

// An event lies in another that starts no later and ends after it starts (an
// event without length may also lie at the very end). Communication on worker
// threads encloses nothing and lies in nothing. O(events).
Nesting FindNesting(const KinetoTrace& kineto);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_LINK_NESTING_H_
