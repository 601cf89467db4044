// Small recorded jobs for tests, in nanoseconds.
#ifndef CHAKRAD_ANALYSIS_CRITICAL_PATH_TEST_JOB_H_
#define CHAKRAD_ANALYSIS_CRITICAL_PATH_TEST_JOB_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/timeline/timeline.h"
#include "common/check.h"
#include "trace/model/rank_trace_builder.h"
#include "trace/model/trace.h"

namespace chakrad {

inline constexpr Queue kThread{Queue::Kind::kHostThread, -1, 1};
inline constexpr Queue kStream{Queue::Kind::kDeviceStream, 0, 7};
inline constexpr Queue kCommStream{Queue::Kind::kDeviceStream, 0, 20};

using Deps = std::vector<std::pair<uint64_t, EdgeKind>>;

// Node ids are their indices in the rank: 0, 1, ...
class RecordedJob {
 public:
  explicit RecordedJob(int32_t world_size) : builders_(world_size) {
    trace_.world_size = world_size;
    for (int32_t rank = 0; rank < world_size; ++rank) builders_[rank].header().rank = rank;
    trace_.groups.push_back({"world", "", {}});
  }

  // [start, end) on the queue.
  void Kernel(int32_t rank, const char* name, int64_t start_ns, int64_t end_ns, Deps deps = {},
              Queue queue = kStream) {
    Add(rank, {.type = NodeType::kComp, .name = name, .queue = queue}, start_ns, end_ns, deps);
  }
  // `work_ns` < 0: as long as it is.
  void Host(int32_t rank, const char* name, int64_t start_ns, int64_t end_ns, Deps deps = {},
            int64_t work_ns = -1) {
    NodeSpec spec{
        .type = NodeType::kComp, .flags = RankTrace::kHostOp, .name = name, .queue = kThread};
    spec.work_ns = work_ns;
    Add(rank, spec, start_ns, end_ns, deps);
  }
  void Copy(int32_t rank, const char* name, int64_t start_ns, int64_t end_ns, Deps deps = {}) {
    Add(rank, {.type = NodeType::kMemLoad, .name = name, .queue = kStream}, start_ns, end_ns, deps);
  }
  void Mark(int32_t rank, const char* name, int64_t start_ns, int64_t end_ns, Deps deps = {}) {
    Add(rank,
        {.type = NodeType::kMetadata,
         .flags = RankTrace::kHostOp | RankTrace::kAnnotation,
         .name = name,
         .queue = kThread},
        start_ns, end_ns, deps);
  }
  void Collective(int32_t rank, CollectiveType type, int64_t start_ns, int64_t end_ns,
                  Deps deps = {}, uint32_t group = kWorldGroup) {
    const CommOp op{.collective = type, .bytes = 1024, .group = group};
    Add(rank,
        {.type = NodeType::kCommColl, .name = "collective", .queue = kCommStream, .comm = &op},
        start_ns, end_ns, deps);
  }
  void AllReduce(int32_t rank, int64_t start_ns, int64_t end_ns, Deps deps = {}) {
    Collective(rank, CollectiveType::kAllReduce, start_ns, end_ns, std::move(deps));
  }
  void Message(int32_t rank, bool is_receive, int32_t peer, int64_t start_ns, int64_t end_ns,
               Deps deps = {}) {
    const CommOp op{.bytes = 64, .group = kWorldGroup, .peer = peer};
    Add(rank,
        {.type = is_receive ? NodeType::kCommRecv : NodeType::kCommSend,
         .name = is_receive ? "recv" : "send",
         .queue = kCommStream,
         .comm = &op},
        start_ns, end_ns, deps);
  }
  void Add(int32_t rank, NodeSpec spec, int64_t start_ns, int64_t end_ns, const Deps& deps) {
    RankTraceBuilder& builder = builders_[rank];
    spec.id = builder.size();
    spec.start_ns = start_ns;
    spec.dur_ns = end_ns - start_ns;
    const uint32_t node = builder.AddNode(spec);
    for (const auto& [dep, kind] : deps) builder.AddEdgeById(node, dep, kind);
  }
  uint32_t AddGroup(const std::string& name, std::vector<int32_t> ranks) {
    trace_.groups.push_back({name, "", std::move(ranks)});
    return static_cast<uint32_t>(trace_.groups.size()) - 1;
  }

  // It lives as long as this; nothing can be added any more.
  const JobTimeline& Make() {
    if (!trace_.ranks.empty()) return job_;
    for (RankTraceBuilder& builder : builders_) {
      absl::StatusOr<RankTrace> rank = builder.Build(nullptr);
      CHECK(rank.ok()) << rank.status();
      if (rank->size() > 0) trace_.ranks.push_back(*std::move(rank));
    }
    trace_.groups[kWorldGroup].ranks.clear();  // Those that do something.
    for (const RankTrace& rank : trace_.ranks)
      trace_.groups[kWorldGroup].ranks.push_back(rank.rank);
    absl::StatusOr<JobTimeline> job = MeasuredTimeline(trace_, {});
    CHECK(job.ok()) << job.status();
    job_ = *std::move(job);
    return job_;
  }
  // After Make.
  const JobTimeline& job() const { return job_; }

 private:
  Trace trace_;
  std::vector<RankTraceBuilder> builders_;
  JobTimeline job_;
};

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_CRITICAL_PATH_TEST_JOB_H_
