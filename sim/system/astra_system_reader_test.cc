#include "sim/system/astra_system_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/status_matchers.h"

namespace chakrad {
namespace {

using absl::StatusCode;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kNetwork[] =
    "# two levels\n"
    "topology: [ Ring, Switch ]\n"
    "npus_count: [ 4, 2 ]\n"
    "bandwidth: [ 200.0, 50 ]  # GB/s\n"
    "latency: [ 100.5, 500 ]  # ns\n";

nlohmann::json System() {
  return nlohmann::json::parse(R"({
    "scheduling-policy": "LIFO", "endpoint-delay": 10, "active-chunks-per-dimension": 2,
    "preferred-dataset-splits": 4, "collective-optimization": "localBWAware",
    "local-mem-bw": 1600.5, "roofline-enabled": 1, "peak-perf": 312,
    "all-reduce-implementation": ["ring", "direct3"],
    "all-gather-implementation": ["halvingDoubling", "doubleBinaryTree"],
    "reduce-scatter-implementation": ["oneRing"],
    "all-to-all-implementation": ["direct", "ring"]})");
}

std::string Error(absl::string_view network, absl::string_view system) {
  const absl::StatusOr<SystemDescription> parsed = ParseAstraSystem(network, system);
  EXPECT_EQ(parsed.status().code(), StatusCode::kInvalidArgument);
  return std::string(parsed.status().message());
}

TEST(AstraSystemReaderTest, EveryValueArrives) {
  ASSERT_OK_AND_ASSIGN(const SystemDescription system, ParseAstraSystem(kNetwork, System().dump()));
  SystemDescription want;
  want.dims = {{TopologyKind::kRing, 4, BytesPerNsOfGibPerSec(200), 100.5},
               {TopologyKind::kSwitch, 2, BytesPerNsOfGibPerSec(50), 500}};
  want.all_reduce = {false, {{AlgorithmKind::kRing, -1}, {AlgorithmKind::kDirect, 3}}};
  want.all_gather = {
      false, {{AlgorithmKind::kHalvingDoubling, -1}, {AlgorithmKind::kDoubleBinaryTree, -1}}};
  want.reduce_scatter = {true, {{AlgorithmKind::kRing, -1}}};
  want.all_to_all = {false, {{AlgorithmKind::kDirect, -1}, {AlgorithmKind::kRing, -1}}};
  want.local_bw_aware = true;
  want.splits = 4;
  want.active_chunks_per_dim = 2;
  want.endpoint_delay_ns = 10;
  want.local_mem_bytes_per_ns = 1600.5;
  want.compute.memory_bytes_per_ns = 1600.5;
  want.compute.basis = ComputeBasis::kRoofline;
  want.compute.peak_flops_per_ns = 312'000;
  EXPECT_EQ(system, want);
  EXPECT_EQ(DescribeTopology(system), "8 NPUs: Ring 4 x Switch 2");
}

TEST(AstraSystemReaderTest, EachBadNetworkValueIsNamed) {
  const auto error = [](absl::string_view topology, absl::string_view count,
                        absl::string_view bandwidth, absl::string_view latency) {
    std::ostringstream network;
    network << "topology: " << topology << "\nnpus_count: " << count << "\nbandwidth: " << bandwidth
            << "\nlatency: " << latency << "\n";
    nlohmann::json system = System();
    for (auto& item : system.items()) {
      if (item.value().is_array()) item.value() = {"ring"};
    }
    return Error(network.str(), system.dump());
  };
  EXPECT_EQ(error("[Ring]", "[8]", "[0.0]", "[500]"),
            "network: bandwidth[0]: 0.0 is not a finite number > 0");
  EXPECT_EQ(error("[Ring]", "[8]", "[-1.0]", "[500]"),
            "network: bandwidth[0]: -1.0 is not a finite number > 0");
  EXPECT_EQ(error("[Ring]", "[0]", "[50]", "[500]"),
            "network: npus_count[0]: 0 is not a whole number in [1, 1048576]");
  EXPECT_EQ(error("[Ring]", "[2.5]", "[50]", "[500]"),
            "network: npus_count[0]: 2.5 is not a whole number in [1, 1048576]");
  EXPECT_EQ(error("[Ring]", "[1]", "[50]", "[-5.0]"),
            "network: latency[0]: -5.0 is not a finite number >= 0");
  EXPECT_EQ(error("[Moebius]", "[8]", "[50]", "[500]"),
            "network: topology[0]: Moebius is not one of Ring, FullyConnected, Switch, Mesh");
  // All faults in one message; a number in quotes is text.
  EXPECT_EQ(error("[Ring]", "[\"8\"]", "[1e400]", "[.nan]"),
            "network: npus_count[0]: 8 is not a whole number in [1, 1048576]; "
            "network: bandwidth[0]: 1e400 is not a finite number > 0; "
            "network: latency[0]: .nan is not a finite number >= 0");
  EXPECT_EQ(error("[Ring, Switch]", "[8]", "[50, 50]", "[500]"),
            "network: lists of different length: topology 2, npus_count 1, bandwidth 2, latency 1");
  EXPECT_EQ(error("Ring", "[8]", "[50]", "[500]"),
            "network: topology: must be a list of 1 to 8 entries, one a dimension");
  EXPECT_EQ(error("[Ring, Ring]", "[1048576, 2]", "[50, 50]", "[1, 1]"),
            "npus_count: the product of its entries is over 1048576 NPUs");
}

TEST(AstraSystemReaderTest, TwentyDimensionsAreTooMany) {
  const auto list = [](const std::string& entry) {
    std::string text = "[" + entry;
    for (int i = 1; i < 20; ++i) text += ", " + entry;
    return text + "]\n";
  };
  const std::string error = Error("topology: " + list("Ring") + "npus_count: " + list("2") +
                                      "bandwidth: " + list("50") + "latency: " + list("500"),
                                  System().dump());
  for (const char* key : {"topology", "npus_count", "bandwidth", "latency"}) {
    EXPECT_THAT(error, HasSubstr("network: " + std::string(key) +
                                 ": must be a list of 1 to 8 entries, one a dimension"));
  }
}

TEST(AstraSystemReaderTest, UnknownAndMissingNetworkKeysAreNamed) {
  EXPECT_THAT(
      Error("topology: [Ring]\nnpus_count: [2]\nbandwith: [1]\nlatency: [0]\n", System().dump()),
      AllOf(HasSubstr("network: bandwith is not a known key"),
            HasSubstr("network: bandwidth is missing")));
}

TEST(AstraSystemReaderTest, BytesThatAreNoFilesAreRefused) {
  for (const char* text : {"", "[", "a: b: c", "- 1\n- 2", "<html>", "\x01\xff", "&a [*a]"}) {
    EXPECT_THAT(Error(text, System().dump()), HasSubstr("network: ")) << text;
    EXPECT_THAT(Error(kNetwork, text), HasSubstr("system: not JSON")) << text;
  }
  EXPECT_EQ(Error(kNetwork, "[1]"), "system: not a JSON object");
  EXPECT_EQ(Error(kNetwork, "{\"a\": ,}"), "system: not JSON from byte 7 on");
  EXPECT_THAT(Error(kNetwork, "{\"endpoint-delay\": 1e999}"), HasSubstr("system: not JSON"));
  const std::string deep(500'000, '[');
  EXPECT_THAT(Error(deep, System().dump()), HasSubstr("network: "));
  EXPECT_THAT(Error(kNetwork, deep), HasSubstr("system: not JSON"));
  const std::string large(2 << 20, ' ');
  EXPECT_THAT(Error(large, System().dump()), HasSubstr("network: 2097152 bytes are over"));
}

TEST(AstraSystemReaderTest, ASystemFileCutAnywhereIsRefused) {
  const std::string whole = System().dump();
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THAT(Error(kNetwork, absl::string_view(whole).substr(0, length)), HasSubstr("system: "));
  }
}

TEST(AstraSystemReaderTest, EveryRequiredSystemKeyIsMissedByName) {
  for (const char* key : {"endpoint-delay", "active-chunks-per-dimension",
                          "preferred-dataset-splits", "collective-optimization", "local-mem-bw",
                          "peak-perf", "all-reduce-implementation", "all-gather-implementation",
                          "reduce-scatter-implementation", "all-to-all-implementation"}) {
    nlohmann::json system = System();
    system.erase(key);
    EXPECT_EQ(Error(kNetwork, system.dump()), "system: " + std::string(key) + " is missing");
  }
  nlohmann::json system = System();
  system.erase("peak-perf");
  system["roofline-enabled"] = 0;  // Then it needs no peak.
  EXPECT_THAT(ParseAstraSystem(kNetwork, system.dump()), IsOk());
}

TEST(AstraSystemReaderTest, SystemValuesThatCannotBeAreNamed) {
  const auto error = [](const char* key, const nlohmann::json& value) {
    nlohmann::json system = System();
    system[key] = value;
    return Error(kNetwork, system.dump());
  };
  EXPECT_EQ(error("preferred-dataset-splits", 0),
            "system: preferred-dataset-splits must be a whole number in [1, 4096], not 0");
  EXPECT_EQ(error("active-chunks-per-dimension", 1.5),
            "system: active-chunks-per-dimension must be a whole number in [1, 4096], not 1.5");
  EXPECT_EQ(error("endpoint-delay", "10"), "system: endpoint-delay must be a number, not \"10\"");
  EXPECT_EQ(error("local-mem-bw", 0), "system: local-mem-bw must be finite and above 0, not 0");
  EXPECT_EQ(
      error("model-shared-bus", 1),
      "system: model-shared-bus 1 is not modelled; only 0 is: the LogGP model of a bus inside "
      "a node");
  EXPECT_EQ(error("collective-optimization", "best"),
            "system: collective-optimization must be one of baseline, localBWAware");
  EXPECT_EQ(error("prefered-dataset-splits", 4),
            "system: prefered-dataset-splits is not a known key");
  EXPECT_THAT(error("all-reduce-implementation", {"ring", "magic"}),
              HasSubstr("all-reduce-implementation has magic, which is not one of ring"));
  EXPECT_THAT(error("all-reduce-implementation", {"direct0", "ring"}), HasSubstr("has direct0"));
  EXPECT_EQ(error("all-reduce-implementation", {"ring"}),
            "all-reduce-implementation: 1 entries for 2 dimensions");
  EXPECT_EQ(error("all-reduce-implementation", {"ring", "ring", "direct"}),
            "all-reduce-implementation: 3 entries for 2 dimensions");
  EXPECT_EQ(error("all-reduce-implementation-custom", {"demo/allreduce"}),
            "system: all-reduce-implementation-custom names a file beside ASTRA-sim, which is not "
            "here; name an algorithm in the key without the ending");
  EXPECT_EQ(error("injection-scale", 1e12),
            "system: injection-scale 1e+12 makes endpoint-delay 1e+13 ns, over the limit of "
            "1000000000000");
  EXPECT_EQ(error("num-queues-per-dim", 0),
            "system: num-queues-per-dim must be a whole number in [1, 4096], not 0");
  EXPECT_EQ(error("all-reduce-implementation", {"ring", "oneRing"}).substr(0, 44),
            "system: all-reduce-implementation has oneRin");
}

TEST(AstraSystemReaderTest, KeysWithoutEffectOnAstraSimsAnswerHaveNoneHere) {
  ASSERT_OK_AND_ASSIGN(const SystemDescription plain, ParseAstraSystem(kNetwork, System().dump()));
  nlohmann::json system = System();
  system.update({{"scheduling-policy", "EXPLICIT"},
                 {"intra-dimension-scheduling", "FIFO"},
                 {"inter-dimension-scheduling", "baseline"},
                 {"L", 500},
                 {"o", 1},
                 {"g", 2},
                 {"G", 0.1},
                 {"local-reduction-delay", 3},
                 {"comm-scale", 2},
                 {"compute-scale", 0.5},
                 {"track-local-mem", 1},
                 {"local-mem-trace-filename", "local_mem_trace"},
                 {"trace-enabled", 1},
                 {"boost-mode", 1},
                 {"model-shared-bus", 0},
                 {"replay-only", 0},
                 {"injection-scale", 1},
                 {"num-queues-per-dim", 1}});
  ASSERT_OK_AND_ASSIGN(const SystemDescription full, ParseAstraSystem(kNetwork, system.dump()));
  EXPECT_EQ(full, plain);
}

TEST(AstraSystemReaderTest, OptionsOfTheCommandLineAreKeysToo) {
  nlohmann::json system = System();
  system["injection-scale"] = 0.25;
  system["num-queues-per-dim"] = 2;
  ASSERT_OK_AND_ASSIGN(const SystemDescription parsed, ParseAstraSystem(kNetwork, system.dump()));
  EXPECT_EQ(parsed.endpoint_delay_ns, 2) << "10 * 0.25, cut";
  EXPECT_EQ(parsed.num_queues_per_dim, 2);
}

TEST(AstraSystemReaderTest, FlatAlgorithmsHaveWindowsToo) {
  nlohmann::json system = System();
  system["all-reduce-implementation"] = {"oneDirect3"};
  ASSERT_OK_AND_ASSIGN(const SystemDescription parsed, ParseAstraSystem(kNetwork, system.dump()));
  EXPECT_EQ(parsed.all_reduce, (CollectiveImplementation{true, {{AlgorithmKind::kDirect, 3}}}));
  for (const char* name : {"oneDoubleBinaryTree", "one", "onering", "oneDirect0"}) {
    system["all-reduce-implementation"] = {name};
    EXPECT_THAT(Error(kNetwork, system.dump()), HasSubstr(std::string("has ") + name));
  }
}

TEST(AstraSystemReaderTest, RemoteMemoryIsAThirdFile) {
  const auto parse = [](const char* json) {
    return ParseAstraSystem(kNetwork, System().dump(), json);
  };
  const auto memory = [&](const char* json) {
    const absl::StatusOr<SystemDescription> system = parse(json);
    EXPECT_THAT(system, IsOk());
    return system.ok() ? system->remote_memory : RemoteMemory{};
  };
  using Kind = RemoteMemory::Kind;
  EXPECT_EQ(memory(""), RemoteMemory{});
  EXPECT_EQ(memory(R"({"memory-type": "NO_MEMORY_EXPANSION"})"), RemoteMemory{});
  EXPECT_EQ(memory(R"({"memory-type": "PER_NPU_MEMORY_EXPANSION", "remote-mem-latency": 100,
                       "remote-mem-bw": 64})"),
            (RemoteMemory{Kind::kPerNpu, 100, 64, 1}));
  EXPECT_EQ(memory(R"({"memory-type": "PER_NODE_MEMORY_EXPANSION", "remote-mem-latency": 0,
                       "remote-mem-bw": 128, "num-nodes": 2, "num-npus-per-node": 4})"),
            (RemoteMemory{Kind::kPerNode, 0, 128, 4}));
  EXPECT_EQ(memory(R"({"memory-type": "MEMORY_POOL", "remote-mem-latency": 5.5,
                       "remote-mem-bw": 0.5})"),
            (RemoteMemory{Kind::kPool, 5.5, 0.5, 1}));
  const auto error = [&](const char* json) { return std::string(parse(json).status().message()); };
  EXPECT_EQ(error(R"({"memory-type": "MEMORY_POOL", "remote-mem-bw": 0, "mem-bw": 1})"),
            "remote memory: remote-mem-latency is missing; "
            "remote memory: remote-mem-bw must be finite and above 0, not 0; "
            "remote memory: mem-bw is not a known key");
  EXPECT_THAT(error("{}"), HasSubstr("remote memory: memory-type is missing"));
  EXPECT_THAT(
      error(R"({"memory-type": "CXL"})"),
      HasSubstr("memory-type must be one of NO_MEMORY_EXPANSION, PER_NPU_MEMORY_EXPANSION"));
  EXPECT_THAT(error("[]"), HasSubstr("remote memory: not a JSON object"));
  EXPECT_THAT(error(R"({"memory-type": "PER_NODE_MEMORY_EXPANSION", "remote-mem-latency": 0,
                        "remote-mem-bw": 128, "num-nodes": 1, "num-npus-per-node": 4})"),
              HasSubstr("num-nodes 1 nodes of 4 NPUs are fewer than the topology's 8 NPUs"));
}

TEST(AstraSystemReaderTest, PowersOfTwoAreDemandedWhereTheAlgorithmNeedsThem) {
  const char* network = "topology: [Ring]\nnpus_count: [6]\nbandwidth: [1]\nlatency: [0]\n";
  nlohmann::json system = System();
  for (auto& item : system.items()) {
    if (item.value().is_array()) item.value() = {"halvingDoubling"};
  }
  EXPECT_THAT(Error(network, system.dump()),
              HasSubstr("all-to-all-implementation[0]: halvingDoubling needs a power of two of "
                        "NPUs, and there are 6"));
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(AstraSystemReaderTest, TheExamplesAreRead) {
  const std::string system = ReadFile("sim/examples/system.json");
  for (const char* name : {"ring_100gbps.yaml", "switch_400gbps.yaml"}) {
    ASSERT_OK_AND_ASSIGN(const SystemDescription parsed,
                         ParseAstraSystem(ReadFile(std::string("sim/examples/") + name), system));
    EXPECT_EQ(NpusCount(parsed), 4) << name;
    EXPECT_THAT(ParseAstraSystem(ReadFile(std::string("sim/examples/") + name), system,
                                 ReadFile("sim/examples/remote_memory.json")),
                IsOk());
  }
}

}  // namespace
}  // namespace chakrad
