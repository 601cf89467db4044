#include "analysis/testing/fake_job.h"

#include <numeric>
#include <utility>

#include "common/check.h"

namespace chakrad {

FakeJob::FakeJob(int32_t world_size) {
  trace_.world_size = world_size;
  std::vector<int32_t> world(static_cast<size_t>(world_size));
  std::iota(world.begin(), world.end(), 0);
  trace_.groups.push_back({"world", "", world});
}

uint32_t FakeJob::AddGroup(const std::string& name, const std::vector<int32_t>& ranks,
                           const std::string& description) {
  trace_.groups.push_back({name, description, ranks});
  return static_cast<uint32_t>(trace_.groups.size() - 1);
}

uint32_t FakeJob::Add(int32_t rank, NodeType type, const CommOp* comm, int64_t start_ns,
                      int64_t end_ns) {
  RankTraceBuilder& builder = builders_[rank];
  builder.header().rank = rank;
  NodeSpec spec;
  spec.id = builder.size() + 1;
  spec.type = type;
  spec.name = type == NodeType::kComp ? "kernel" : "comm";
  spec.queue = {Queue::Kind::kDeviceStream, 0, type == NodeType::kComp ? 7 : 20};
  spec.start_ns = start_ns;
  spec.dur_ns = spec.work_ns = end_ns - start_ns;
  spec.comm = comm;
  return builder.AddNode(spec);
}

uint32_t FakeJob::Compute(int32_t rank, int64_t start_ns, int64_t end_ns) {
  return Add(rank, NodeType::kComp, nullptr, start_ns, end_ns);
}

uint32_t FakeJob::Collective(int32_t rank, uint32_t group, CollectiveType type, int64_t bytes,
                             int64_t start_ns, int64_t end_ns) {
  const CommOp op{.collective = type, .bytes = bytes, .group = group};
  return Add(rank, NodeType::kCommColl, &op, start_ns, end_ns);
}

uint32_t FakeJob::Send(int32_t rank, int32_t to, int64_t bytes, int64_t start_ns, int64_t end_ns) {
  const CommOp op{.bytes = bytes, .peer = to};
  return Add(rank, NodeType::kCommSend, &op, start_ns, end_ns);
}

uint32_t FakeJob::Receive(int32_t rank, int32_t from, int64_t bytes, int64_t start_ns,
                          int64_t end_ns) {
  const CommOp op{.bytes = bytes, .peer = from};
  return Add(rank, NodeType::kCommRecv, &op, start_ns, end_ns);
}

JobTimeline FakeJob::Timeline(const std::vector<int32_t>& ranks) {
  for (auto& [rank, builder] : builders_) {
    absl::StatusOr<RankTrace> built = builder.Build(nullptr);
    CHECK(built.ok()) << built.status().message();
    trace_.ranks.push_back(*std::move(built));
  }
  builders_.clear();
  absl::StatusOr<JobTimeline> timeline = MeasuredTimeline(trace_, ranks);
  CHECK(timeline.ok()) << timeline.status().message();
  return *std::move(timeline);
}

}  // namespace chakrad
