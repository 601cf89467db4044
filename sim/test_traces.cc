#include "sim/test_traces.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace chakrad {

TraceMaker::TraceMaker(int32_t world_size) : builders_(world_size) {
  trace_.world_size = world_size;
  std::vector<int32_t> world(world_size);
  std::iota(world.begin(), world.end(), 0);
  AddGroup("world", world);
}

uint32_t TraceMaker::AddGroup(const std::string& name, std::vector<int32_t> ranks) {
  trace_.groups.push_back({name, "", std::move(ranks)});
  return static_cast<uint32_t>(trace_.groups.size() - 1);
}

void TraceMaker::Add(int32_t rank, const NodeSpec& spec, std::vector<uint64_t> deps) {
  RankTraceBuilder& builder = builders_[rank];
  const uint32_t node = builder.AddNode(spec);
  for (const uint64_t dep : deps) builder.AddEdgeById(node, dep, EdgeKind::kData);
}

void TraceMaker::Comp(int32_t rank, uint64_t id, int64_t work_ns, std::vector<uint64_t> deps) {
  NodeSpec spec{.id = id, .type = NodeType::kComp, .name = "comp", .work_ns = work_ns};
  Add(rank, spec, std::move(deps));
}

void TraceMaker::HostComp(int32_t rank, uint64_t id, int64_t work_ns, std::vector<uint64_t> deps) {
  NodeSpec spec{.id = id,
                .type = NodeType::kComp,
                .flags = RankTrace::kHostOp,
                .name = "host",
                .work_ns = work_ns};
  Add(rank, spec, std::move(deps));
}

void TraceMaker::Collective(int32_t rank, uint64_t id, CollectiveType type, int64_t bytes,
                            uint32_t group, std::vector<uint64_t> deps) {
  const CommOp op{.collective = type, .bytes = bytes, .group = group};
  NodeSpec spec{.id = id, .type = NodeType::kCommColl, .name = "coll", .comm = &op};
  Add(rank, spec, std::move(deps));
}

void TraceMaker::Send(int32_t rank, uint64_t id, int32_t to, int64_t bytes, int64_t tag,
                      std::vector<uint64_t> deps) {
  const CommOp op{.bytes = bytes, .peer = to, .tag = tag};
  NodeSpec spec{.id = id, .type = NodeType::kCommSend, .name = "send", .comm = &op};
  Add(rank, spec, std::move(deps));
}

void TraceMaker::Receive(int32_t rank, uint64_t id, int32_t from, int64_t bytes, int64_t tag,
                         std::vector<uint64_t> deps) {
  const CommOp op{.bytes = bytes, .peer = from, .tag = tag};
  NodeSpec spec{.id = id, .type = NodeType::kCommRecv, .name = "recv", .comm = &op};
  Add(rank, spec, std::move(deps));
}

void TraceMaker::OnAll(uint64_t id, CollectiveType type, int64_t bytes,
                       std::vector<uint64_t> deps) {
  for (int32_t rank = 0; rank < trace_.world_size; ++rank) {
    Collective(rank, id, type, bytes, kWorldGroup, deps);
  }
}

Trace TraceMaker::Make(const std::vector<int32_t>& without) {
  for (int32_t rank = 0; rank < trace_.world_size; ++rank) {
    if (std::find(without.begin(), without.end(), rank) != without.end()) continue;
    builders_[rank].header().rank = rank;
    absl::StatusOr<RankTrace> built = builders_[rank].Build(nullptr);
    EXPECT_TRUE(built.ok()) << built.status().ToString();
    if (built.ok()) trace_.ranks.push_back(*std::move(built));
  }
  return std::move(trace_);
}

SystemDescription TestSystem(std::vector<NetworkDim> dims) {
  SystemDescription system;
  system.dims = std::move(dims);
  for (NetworkDim& dim : system.dims) dim.bytes_per_ns = BytesPerNsOfGibPerSec(dim.bytes_per_ns);
  system.local_mem_bytes_per_ns = 1e15;
  SetAlgorithm(&system, AlgorithmChoice{});
  return system;
}

void SetAlgorithm(SystemDescription* system, AlgorithmChoice choice) {
  const CollectiveImplementation all{false,
                                     std::vector<AlgorithmChoice>(system->dims.size(), choice)};
  system->all_reduce = system->all_gather = system->reduce_scatter = system->all_to_all = all;
}

std::vector<int64_t> EndsNs(const Trace& trace, const SystemDescription& system) {
  const absl::StatusOr<SimResult> result = Simulate(trace, system, SimOptions(), nullptr);
  EXPECT_TRUE(result.ok()) << result.status().ToString();
  std::vector<int64_t> ends_ns;
  if (!result.ok()) return ends_ns;
  for (const RankEnd& rank : result->ranks) {
    EXPECT_EQ(rank.end_ps % kPsPerNs, 0);
    ends_ns.push_back(rank.end_ps / kPsPerNs);
  }
  return ends_ns;
}

}  // namespace chakrad
