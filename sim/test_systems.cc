#include "sim/test_systems.h"

#include <vector>

#include "sim/test_traces.h"

namespace chakrad {
namespace {

void MakePhysical(std::mt19937* random, SystemDescription* system) {
  const auto pick = [&](int32_t low, int32_t high) {
    return std::uniform_int_distribution<int32_t>(low, high)(*random);
  };
  system->semantics = Semantics::kPhysical;
  for (NetworkDim& dim : system->dims) {
    if (pick(0, 3) == 0) dim.topology = TopologyKind::kMesh;
    if (pick(0, 2) == 0) dim.message_ns = pick(0, 900) / 8.0;
  }
  if (pick(0, 1) == 0) system->endpoint_delay_ns = 0, system->local_mem_bytes_per_ns = 0;
  if (pick(0, 1) == 0) system->active_chunks_per_dim = system->num_queues_per_dim = 1;
  for (int i = pick(0, 4); i > 2; --i) {
    const int32_t npu = pick(0, 7);
    const int32_t dim = pick(0, static_cast<int32_t>(system->dims.size()) - 1);
    LinkOverride over{dim, npu, -1, system->dims[dim].bytes_per_ns / pick(1, 4), -1};
    if (pick(0, 1) == 0) over.latency_ns = pick(0, 2000);
    system->link_overrides.push_back(over);
  }
  if (pick(0, 2) == 0) {
    const int32_t first = pick(0, 7);
    system->npu_overrides.push_back({first, pick(first, 7), 1 + pick(1, 10) / 10.0});
  }
  // Trees other than an all-reduce's are refused.
  for (CollectiveImplementation* implementation :
       {&system->all_gather, &system->reduce_scatter, &system->all_to_all}) {
    for (AlgorithmChoice& choice : implementation->per_dim) {
      if (choice.kind == AlgorithmKind::kDoubleBinaryTree) choice.kind = AlgorithmKind::kRing;
    }
  }
}

}  // namespace

SystemDescription RandomSystem(std::mt19937* random, Semantics semantics) {
  const auto pick = [&](int32_t low, int32_t high) {
    return std::uniform_int_distribution<int32_t>(low, high)(*random);
  };
  const std::vector<std::vector<int32_t>> shapes = {{8}, {2, 4}, {4, 2}, {2, 2, 2}, {8, 1}};
  std::vector<NetworkDim> dims;
  for (const int32_t npus_count : shapes[pick(0, 4)]) {
    dims.push_back({static_cast<TopologyKind>(pick(0, 2)), npus_count, pick(1, 400) / 4.0,
                    pick(0, 4000) / 4.0});
  }
  SystemDescription system = TestSystem(dims);
  for (CollectiveImplementation* implementation :
       {&system.all_reduce, &system.all_gather, &system.reduce_scatter, &system.all_to_all}) {
    const int32_t last = implementation == &system.all_to_all ? 1 : 3;  // Ring, direct.
    for (AlgorithmChoice& choice : implementation->per_dim) {
      choice.kind = static_cast<AlgorithmKind>(pick(0, last));
      if (choice.kind == AlgorithmKind::kDirect && pick(0, 1) == 1) choice.window = pick(1, 9);
    }
    if (pick(0, 5) == 0) {
      implementation->flat = true;
      implementation->per_dim.resize(1);
    }
  }
  system.local_bw_aware = pick(0, 1) == 1;
  system.splits = pick(1, 9);
  system.active_chunks_per_dim = pick(1, 5);
  system.num_queues_per_dim = pick(1, 4);
  system.endpoint_delay_ns = pick(0, 50);
  system.local_mem_bytes_per_ns = pick(1, 3000);
  if (semantics == Semantics::kPhysical) MakePhysical(random, &system);
  return system;
}

}  // namespace chakrad
