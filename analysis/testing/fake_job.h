// Jobs for tests of analyses, operation by operation, with times in nanoseconds.
#ifndef CHAKRAD_ANALYSIS_TESTING_FAKE_JOB_H_
#define CHAKRAD_ANALYSIS_TESTING_FAKE_JOB_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analysis/timeline/timeline.h"
#include "trace/model/rank_trace_builder.h"

namespace chakrad {

class FakeJob {
 public:
  explicit FakeJob(int32_t world_size);

  // Returns its index; 0 is the world.
  uint32_t AddGroup(const std::string& name, const std::vector<int32_t>& ranks,
                    const std::string& description = "");

  // Each adds a device operation that ran [start_ns, end_ns), and returns its node.
  uint32_t Compute(int32_t rank, int64_t start_ns, int64_t end_ns);
  uint32_t Collective(int32_t rank, uint32_t group, CollectiveType type, int64_t bytes,
                      int64_t start_ns, int64_t end_ns);
  uint32_t Send(int32_t rank, int32_t to, int64_t bytes, int64_t start_ns, int64_t end_ns);
  uint32_t Receive(int32_t rank, int32_t from, int64_t bytes, int64_t start_ns, int64_t end_ns);

  // What was recorded so far. The job must outlive it, and not grow.
  JobTimeline Timeline(const std::vector<int32_t>& ranks = {});
  const Trace& trace() const { return trace_; }

 private:
  uint32_t Add(int32_t rank, NodeType type, const CommOp* comm, int64_t start_ns, int64_t end_ns);

  Trace trace_;
  std::map<int32_t, RankTraceBuilder> builders_;
};

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_TESTING_FAKE_JOB_H_
