// How fast the simulator is: items are events.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <numeric>

#include "sim/simulate.h"
#include "sim/system/system_description.h"
#include "trace/model/rank_trace_builder.h"
#include "trace/model/trace.h"

namespace chakrad {
namespace {

SystemDescription System(TopologyKind topology, AlgorithmKind algorithm, int32_t npus_count) {
  SystemDescription system;
  system.dims = {{topology, npus_count, 50, 500}};
  system.splits = 4;
  system.local_mem_bytes_per_ns = 1600;
  const CollectiveImplementation implementation{false, {{algorithm, -1}}};
  system.all_reduce = system.all_gather = implementation;
  system.reduce_scatter = system.all_to_all = implementation;
  return system;
}

// `layers` times: 20 chained compute nodes, then an all-reduce that the next layer's
// compute does not wait for.
Trace Layers(int32_t ranks_count, int layers, int64_t bytes) {
  Trace trace;
  trace.world_size = ranks_count;
  trace.groups.push_back({"0", "", std::vector<int32_t>(ranks_count)});
  std::iota(trace.groups[0].ranks.begin(), trace.groups[0].ranks.end(), 0);
  for (int32_t rank = 0; rank < ranks_count; ++rank) {
    RankTraceBuilder builder;
    builder.header().rank = rank;
    const CommOp all_reduce{.bytes = bytes};
    uint32_t last = kNone;
    for (int layer = 0; layer < layers; ++layer) {
      for (int i = 0; i < 20; ++i) {
        NodeSpec comp;
        comp.id = builder.size();
        comp.type = NodeType::kComp;
        comp.work_ns = 50'000;
        const uint32_t node = builder.AddNode(comp);
        if (last != kNone) builder.AddEdge(node, last, EdgeKind::kData);
        last = node;
      }
      NodeSpec comm;
      comm.id = builder.size();
      comm.type = NodeType::kCommColl;
      comm.comm = &all_reduce;
      const uint32_t node = builder.AddNode(comm);
      builder.AddEdge(node, last, EdgeKind::kData);
    }
    trace.ranks.push_back(*builder.Build(nullptr));
  }
  return trace;
}

void RunToTheEnd(benchmark::State& state, const Trace& trace, const SystemDescription& system) {
  int64_t events_count = 0;
  for (auto _ : state) {
    const absl::StatusOr<SimResult> result = Simulate(trace, system, SimOptions(), nullptr);
    if (!result.ok()) std::abort();
    events_count += result->events_count;
  }
  state.SetItemsProcessed(events_count);
}

// One all-reduce of 1 GiB in 4 chunks, one at a time.
void BM_OneAllReduce(benchmark::State& state, TopologyKind topology, AlgorithmKind algorithm) {
  const int32_t npus_count = static_cast<int32_t>(state.range(0));
  Trace trace = Layers(npus_count, 1, int64_t{1} << 30);
  RunToTheEnd(state, trace, System(topology, algorithm, npus_count));
}

// The same on the link back end.
void BM_OneAllReduceOverLinks(benchmark::State& state, TopologyKind topology,
                              AlgorithmKind algorithm, Semantics semantics) {
  const int32_t npus_count = static_cast<int32_t>(state.range(0));
  Trace trace = Layers(npus_count, 1, int64_t{1} << 30);
  SystemDescription system = System(topology, algorithm, npus_count);
  system.semantics = semantics;
  system.back_end = NetworkBackEnd::kLink;
  if (semantics == Semantics::kPhysical) system.endpoint_delay_ns = 0;
  RunToTheEnd(state, trace, system);
}
BENCHMARK_CAPTURE(BM_OneAllReduceOverLinks, ring_astra, TopologyKind::kRing, AlgorithmKind::kRing,
                  Semantics::kAstra)
    ->Arg(1024)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_OneAllReduceOverLinks, ring_physical, TopologyKind::kRing,
                  AlgorithmKind::kRing, Semantics::kPhysical)
    ->Arg(1024)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_OneAllReduceOverLinks, switch_direct_astra, TopologyKind::kSwitch,
                  AlgorithmKind::kDirect, Semantics::kAstra)
    ->Arg(256)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_OneAllReduce, ring, TopologyKind::kRing, AlgorithmKind::kRing)
    ->Arg(64)
    ->Arg(256)
    ->Arg(1024)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_OneAllReduce, switch_halving_doubling, TopologyKind::kSwitch,
                  AlgorithmKind::kHalvingDoubling)
    ->Arg(1024)
    ->Arg(4096)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_OneAllReduce, switch_direct, TopologyKind::kSwitch, AlgorithmKind::kDirect)
    ->Arg(256)
    ->Unit(benchmark::kMillisecond);

// Many nodes, few messages: 8 ranks of 100,000 nodes.
void BM_ManyNodes(benchmark::State& state) {
  SystemDescription system = System(TopologyKind::kRing, AlgorithmKind::kRing, 8);
  system.splits = 1;
  const Trace trace = Layers(8, 4762, int64_t{4} << 20);
  RunToTheEnd(state, trace, system);
}
BENCHMARK(BM_ManyNodes)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace chakrad

BENCHMARK_MAIN();
