#include "common/check.h"
#include "sim/system/system_reader.h"
#include "tests/fuzz/fuzz_target.h"

namespace chakrad {
namespace {

constexpr char kNetwork[] =
    "topology: [ Ring, Switch ]\nnpus_count: [ 4, 2 ]\nbandwidth: [ 200.5, 50 ]\n"
    "latency: [ 100, 0 ]\n";
constexpr char kSystem[] = R"({"endpoint-delay": 10, "active-chunks-per-dimension": 2,
  "preferred-dataset-splits": 4, "collective-optimization": "localBWAware", "local-mem-bw": 1600.5,
  "roofline-enabled": 1, "peak-perf": 312, "num-queues-per-dim": 2, "injection-scale": 0.5,
  "all-reduce-implementation": ["ring", "direct3"], "all-gather-implementation": ["oneDirect"],
  "reduce-scatter-implementation": ["halvingDoubling", "doubleBinaryTree"],
  "all-to-all-implementation": ["direct", "ring"], "scheduling-policy": "LIFO"})";
constexpr char kMemory[] = R"({"memory-type": "PER_NODE_MEMORY_EXPANSION",
  "remote-mem-latency": 5, "remote-mem-bw": 8, "num-nodes": 2, "num-npus-per-node": 4})";

// What a reader takes, the simulator takes.
bool Took(const SystemText& text) {
  const absl::StatusOr<SystemDescription> system = ParseSystem(text);
  if (!system.ok()) {
    CHECK(absl::IsInvalidArgument(system.status())) << system.status();
    return false;
  }
  CHECK(CheckSystem(*system).ok()) << CheckSystem(*system);
  return true;
}

}  // namespace

std::vector<std::string> FuzzSeeds() {
  return {kNetwork, kSystem, kMemory,
          "network: {dimensions: [{topology: Mesh, npus: 3, bandwidth: 1 bit/s, latency: 0 ps}]}",
          R"(
name: &n x
semantics: physical
network:
  back_end: link
  dimensions:
    - {topology: FullyConnected, npus: 4, bandwidth: 300 GB/s, latency: 700 ns,
       algorithms: {all_reduce: direct2, all_gather: halvingDoubling, broadcast: ring}}
    - topology: Switch
      npus: 6
      bandwidth: 400 Gbit/s
      latency: 1.5 us
      message_cost: 250 ns
      token_bucket: {rate: 100 Mbit/s, burst: 48 KiB}
      algorithms: ring
  links:
    - {dimension: 0, from: 4, to: 7, bandwidth: 150 GB/s}
    - {dimension: 1, to: 3, latency: 0 ns}
npus: [{range: 2-5, compute_scale: 110 %}]
collectives: {chunks: 16, active_chunks_per_dimension: 2, queues_per_dimension: 3,
  optimization: baseline, endpoint_delay: 1.5 us, flat: {reduce_scatter: direct3}}
execution: {issue_rule: one_of_each}
compute: {basis: roofline, peak: 312 TFLOP/s, memory_bandwidth: 2039 GB/s, recorded_scale: 0.9,
  class_scales: {matmul: 1.2}}
memory: {reduction_bandwidth: 1600 GB/s,
  remote: {kind: per_node, latency: 2 us, bandwidth: 64 GB/s, npus_per_node: 4}}
)"};
}

bool FuzzOne(absl::string_view bytes) {
  bool accepted = Took({bytes, "", "", ""});
  accepted |= Took({"", bytes, kSystem, ""});
  accepted |= Took({"", kNetwork, bytes, ""});
  accepted |= Took({"", kNetwork, kSystem, bytes}) && !bytes.empty();
  return accepted;
}

}  // namespace chakrad
