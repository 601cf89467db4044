// The simulator at scale: user seconds and peak memory of each case, each in a process of its
// own. With names of cases as arguments only those; --run NAME runs one in this process.
//
//   bazel run //tests/bench:sim_bench
//
// The cases are those of docs/performance.md: what ASTRA-sim took for some of them is there.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "common/check.h"
#include "sim/simulate.h"
#include "sim/system/system_description.h"
#include "trace/model/rank_trace_builder.h"
#include "trace/model/trace.h"

namespace chakrad {
namespace {

constexpr int64_t kGib = int64_t{1} << 30;

SystemDescription AstraSystem(std::vector<NetworkDim> dims, AlgorithmKind algorithm, int splits) {
  SystemDescription system;
  system.dims = std::move(dims);
  for (NetworkDim& dim : system.dims) {
    dim.bytes_per_ns = BytesPerNsOfGibPerSec(50);
    dim.latency_ns = 500;
  }
  system.splits = splits;
  system.local_mem_bytes_per_ns = 1600;
  const CollectiveImplementation implementation{
      false, std::vector<AlgorithmChoice>(system.dims.size(), {algorithm, -1})};
  system.all_reduce = system.all_gather = implementation;
  system.reduce_scatter = system.all_to_all = implementation;
  return system;
}

SystemDescription Ring(int32_t npus_count) {
  return AstraSystem({{TopologyKind::kRing, npus_count}}, AlgorithmKind::kRing, 4);
}

// A link of half the speed, and another NPU that computes 10 % more slowly.
SystemDescription Uneven(int32_t npus_count, Semantics semantics) {
  SystemDescription system = Ring(npus_count);
  system.semantics = semantics;
  if (semantics == Semantics::kPhysical) {
    system.endpoint_delay_ns = 0;
    system.local_mem_bytes_per_ns = 0;
  }
  const int32_t slow = npus_count / 3;
  system.link_overrides.push_back({0, slow, slow + 1, system.dims[0].bytes_per_ns / 2, -1});
  const int32_t late = npus_count / 2;
  system.npu_overrides.push_back({late, late, 1.1});
  return system;
}

NodeSpec Compute(uint64_t id, int64_t work_ns) {
  NodeSpec node;
  node.id = id;
  node.type = NodeType::kComp;
  node.work_ns = work_ns;
  return node;
}

NodeSpec AllReduce(uint64_t id, const CommOp* op) {
  NodeSpec node;
  node.id = id;
  node.type = NodeType::kCommColl;
  node.comm = op;
  return node;
}

Trace World(int32_t world_size) {
  Trace trace;
  trace.world_size = world_size;
  trace.groups.push_back({"0", "", std::vector<int32_t>(world_size)});
  std::iota(trace.groups[0].ranks.begin(), trace.groups[0].ranks.end(), 0);
  return trace;
}

// Compute of 1 ms, then an all-reduce of 1 GiB. One rank is traced, the others copy it.
Trace OneAllReduce(int32_t world_size) {
  Trace trace = World(world_size);
  RankTraceBuilder builder;
  builder.header().rank = 0;
  builder.AddNode(Compute(0, 1'000'000));
  const CommOp op{.bytes = kGib};
  builder.AddEdge(builder.AddNode(AllReduce(1, &op)), 0, EdgeKind::kData);
  trace.ranks.push_back(*builder.Build(nullptr));
  return trace;
}

// Tensor-parallel groups of 8, three all-reduces in each and one of the world after compute. One
// rank is traced.
Trace GroupsOfEight(int32_t world_size) {
  Trace trace = World(world_size);
  for (int32_t first = 0; first < world_size; first += 8) {
    std::vector<int32_t> ranks(8);
    std::iota(ranks.begin(), ranks.end(), first);
    trace.groups.push_back({std::to_string(trace.groups.size()), "", std::move(ranks)});
  }
  RankTraceBuilder builder;
  builder.header().rank = 0;
  builder.AddNode(Compute(0, 1'000'000));
  for (uint32_t id = 1; id <= 4; ++id) {
    const CommOp op{.bytes = int64_t{64} << 20, .group = id < 4 ? 1 : kWorldGroup};
    builder.AddEdge(builder.AddNode(AllReduce(id, &op)), id - 1, EdgeKind::kData);
  }
  trace.ranks.push_back(*builder.Build(nullptr));
  return trace;
}

// Per layer 20 chained compute nodes of 20 to 80 us, then an all-reduce of 4 MiB that the next
// layer does not wait for: `nodes_count` nodes in all. `ranks_count` ranks are traced, each a
// little slower than the one before; the others copy the last.
Trace TransformerLike(int32_t world_size, int32_t ranks_count, uint32_t nodes_count) {
  Trace trace = World(world_size);
  const CommOp op{.bytes = int64_t{4} << 20};
  for (int32_t rank = 0; rank < ranks_count; ++rank) {
    RankTraceBuilder builder;
    builder.header().rank = rank;
    uint32_t last = kNone;
    while (builder.size() < nodes_count) {
      const uint32_t id = builder.size();
      const bool communicates = id % 21 == 20;
      const uint32_t node = builder.AddNode(
          communicates ? AllReduce(id, &op) : Compute(id, 20'000 + id * 7919 % 60'000 + rank));
      if (last != kNone) builder.AddEdge(node, last, EdgeKind::kData);
      if (!communicates) last = node;
    }
    trace.ranks.push_back(*builder.Build(nullptr));
  }
  return trace;
}

struct Case {
  const char* name;
  std::function<SimResult()> run;
};

enum class How { kFolded, kUnfolded, kMessageByMessage };

SimResult Run(const Trace& trace, const SystemDescription& system, How how = How::kFolded) {
  SimOptions options;
  options.replicate_missing_ranks = true;
  options.fold = how == How::kFolded;
  options.whole_collectives = how != How::kMessageByMessage;
  absl::StatusOr<SimResult> result = Simulate(trace, system, options, nullptr);
  CHECK(result.ok()) << result.status().ToString();
  return *std::move(result);
}

SimResult RunRing(int32_t npus_count) { return Run(OneAllReduce(npus_count), Ring(npus_count)); }

SimResult RunOver(std::vector<NetworkDim> dims, AlgorithmKind algorithm) {
  const SystemDescription system = AstraSystem(std::move(dims), algorithm, 4);
  return Run(OneAllReduce(static_cast<int32_t>(NpusCount(system))), system);
}

SimResult RunTransformer(int32_t world_size, int32_t ranks_count, uint32_t nodes_count) {
  return Run(TransformerLike(world_size, ranks_count, nodes_count),
             AstraSystem({{TopologyKind::kRing, world_size}}, AlgorithmKind::kRing, 1));
}

SimResult RunLinks(int32_t npus_count, Semantics semantics) {
  SystemDescription system = Ring(npus_count);
  system.back_end = NetworkBackEnd::kLink;
  system.semantics = semantics;
  if (semantics == Semantics::kPhysical) system.endpoint_delay_ns = 0;
  return Run(OneAllReduce(npus_count), system);
}

const Case kCases[] = {
    {"ring_1024", [] { return RunRing(1024); }},
    {"ring_4096", [] { return RunRing(4096); }},
    {"ring_16384", [] { return RunRing(16384); }},
    {"ring_65536", [] { return RunRing(65536); }},
    {"ring_262144", [] { return RunRing(262144); }},
    {"ring_1048576", [] { return RunRing(1048576); }},
    {"ring_1024_unfolded", [] { return Run(OneAllReduce(1024), Ring(1024), How::kUnfolded); }},
    {"ring_1024_message_by_message",
     [] { return Run(OneAllReduce(1024), Ring(1024), How::kMessageByMessage); }},
    {"uneven_65536_physical",
     [] { return Run(OneAllReduce(65536), Uneven(65536, Semantics::kPhysical)); }},
    {"uneven_65536_astra",
     [] { return Run(OneAllReduce(65536), Uneven(65536, Semantics::kAstra)); }},
    {"groups_of_8_1048576",
     [] {
       return Run(GroupsOfEight(1 << 20),
                  AstraSystem({{TopologyKind::kSwitch, 8}, {TopologyKind::kRing, 1 << 17}},
                              AlgorithmKind::kRing, 1));
     }},
    {"torus_32x32",
     [] {
       return RunOver({{TopologyKind::kRing, 32}, {TopologyKind::kRing, 32}}, AlgorithmKind::kRing);
     }},
    {"torus_64x64",
     [] {
       return RunOver({{TopologyKind::kRing, 64}, {TopologyKind::kRing, 64}}, AlgorithmKind::kRing);
     }},
    {"switch_4096_halving_doubling",
     [] {
       return RunOver({{TopologyKind::kSwitch, 4096}}, AlgorithmKind::kHalvingDoubling);
     }},
    {"transformer_64x100002_folded", [] { return RunTransformer(64, 1, 100'002); }},
    {"transformer_64x100002_unfolded", [] { return RunTransformer(64, 64, 100'002); }},
    {"transformer_8x100002_unfolded", [] { return RunTransformer(8, 8, 100'002); }},
    {"link_ring_1024_astra", [] { return RunLinks(1024, Semantics::kAstra); }},
    {"link_ring_1024_physical", [] { return RunLinks(1024, Semantics::kPhysical); }},
    // Cost against nodes, and against classes of ranks.
    {"nodes_12500", [] { return RunTransformer(64, 16, 12'500); }},
    {"nodes_25000", [] { return RunTransformer(64, 16, 25'000); }},
    {"nodes_50000", [] { return RunTransformer(64, 16, 50'000); }},
    {"nodes_100000", [] { return RunTransformer(64, 16, 100'000); }},
    {"classes_1", [] { return RunTransformer(64, 1, 100'000); }},
    {"classes_8", [] { return RunTransformer(64, 8, 100'000); }},
    {"classes_16", [] { return RunTransformer(64, 16, 100'000); }},
    {"classes_32", [] { return RunTransformer(64, 32, 100'000); }},
    {"classes_64", [] { return RunTransformer(64, 64, 100'000); }},
};

double UserSeconds(const rusage& usage) {
  return static_cast<double>(usage.ru_utime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec) * 1e-6;
}

// In this process: what it does, and how much of the time was Simulate's is for perf to say.
int RunOne(const char* name) {
  for (const Case& one : kCases) {
    if (std::strcmp(one.name, name) != 0) continue;
    const SimResult result = one.run();
    std::printf("%15.3f us  %8zu classes  %10lld events", static_cast<double>(result.end_ps) * 1e-6,
                result.classes.size(), static_cast<long long>(result.events_count));
    return 0;
  }
  std::fprintf(stderr, "no case named %s\n", name);
  return 1;
}

// In a child, whose use of time and memory is the answer.
bool RunInChild(const char* name) {
  std::printf("%-32s", name);
  std::fflush(stdout);
  const pid_t child = fork();
  CHECK(child >= 0) << std::strerror(errno);
  if (child == 0) {
    execl("/proc/self/exe", "sim_bench", "--run", name, nullptr);
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  CHECK(wait4(child, &status, 0, &usage) == child) << std::strerror(errno);
  std::printf("  %8.3f s user  %7.1f MB\n", UserSeconds(usage),
              static_cast<double>(usage.ru_maxrss) / 1024);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace
}  // namespace chakrad

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--run") == 0) return chakrad::RunOne(argv[2]);
  bool ok = true;
  for (int i = 1; i < argc; ++i) ok = chakrad::RunInChild(argv[i]) && ok;
  if (argc == 1) {
    for (const chakrad::Case& one : chakrad::kCases) ok = chakrad::RunInChild(one.name) && ok;
  }
  return ok ? 0 : 1;
}
