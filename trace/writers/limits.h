// Bounds on what the writers make, with unit and reason. One that is exceeded is
// INVALID_ARGUMENT with the limit in the message.
#ifndef CHAKRAD_TRACE_WRITERS_LIMITS_H_
#define CHAKRAD_TRACE_WRITERS_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace chakrad {

// Nodes of a graph that graphviz lays out: of real traces 500 take it 0.3 s and 900
// some 3 s, but 2,000 with 3,900 edges more than 50 s and 1.3 GB; and nobody sees
// anything in a larger picture.
inline constexpr int64_t kMaxLayoutNodes = 1000;
// Nodes of a graph in a file that nobody needs to lay out: 4 Mi are about 1 GB of text.
inline constexpr int64_t kMaxGraphNodes = int64_t{4} << 20;
// Bytes of a node's name in a graph: templated kernel names reach ten thousand,
// and a box as wide as the page shows nothing.
inline constexpr size_t kMaxGraphNameBytes = 120;
// Seconds that graphviz gets unless the caller says otherwise.
inline constexpr int kLayoutSeconds = 60;

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_WRITERS_LIMITS_H_
