// Small ranks for tests, as they are drawn in comments: what ran where, from when to when.
#ifndef CHAKRAD_ANALYSIS_TIMELINE_TESTING_RANK_SKETCH_H_
#define CHAKRAD_ANALYSIS_TIMELINE_TESTING_RANK_SKETCH_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/model/rank_trace_builder.h"
#include "trace/model/trace.h"

namespace chakrad {

// Times in nanoseconds; kUnknownNs where the recorder did not tell. Each call adds a node and
// returns its index.
class RankSketch {
 public:
  uint32_t Host(absl::string_view name, int64_t start_ns, int64_t end_ns, int64_t thread = 1);
  uint32_t Mark(absl::string_view name, int64_t start_ns, int64_t end_ns, int64_t thread = 1);
  uint32_t Kernel(absl::string_view name, int64_t start_ns, int64_t end_ns, int64_t stream = 7);
  uint32_t Copy(int64_t start_ns, int64_t end_ns, int64_t stream = 7);
  // An all-reduce over the world.
  uint32_t Comm(int64_t start_ns, int64_t end_ns, int64_t stream = 20);
  uint32_t Node(const NodeSpec& spec);  // Its id is chosen.
  void Dep(uint32_t node, uint32_t dependency, EdgeKind kind) {
    builder_.AddEdge(node, dependency, kind);
  }
  // A kernel that `host` launched.
  uint32_t Launched(uint32_t host, absl::string_view name, int64_t start_ns, int64_t end_ns,
                    int64_t stream = 7);

  RankTraceBuilder& builder() { return builder_; }
  // Once.
  RankTrace Build(int32_t rank = 0);

 private:
  RankTraceBuilder builder_;
  uint64_t next_id_ = 0;
};

// A job of these ranks, which are all there are; group 0 is the world.
Trace SketchTrace(std::vector<RankTrace> ranks);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_TIMELINE_TESTING_RANK_SKETCH_H_
