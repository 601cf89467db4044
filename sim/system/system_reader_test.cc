#include "sim/system/system_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "common/status_matchers.h"
#include "sim/system/quantity.h"

namespace chakrad {
namespace {

using absl::StatusCode;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kSmallest[] = R"(
network:
  dimensions:
    - {topology: Ring, npus: 4, bandwidth: 100 Gbit/s, latency: 1 us}
)";

constexpr char kEverything[] = R"(
name: a machine with every setting
semantics: physical
network:
  back_end: link
  dimensions:
    - topology: FullyConnected
      npus: 4
      bandwidth: 300 GB/s
      latency: 700 ns
      algorithms: {all_reduce: direct2, all_gather: halvingDoubling, all_to_all: direct}
    - topology: Switch
      npus: 6
      bandwidth: 400 Gbit/s
      latency: 1.5 us
      message_cost: 250 ns
      token_bucket: {rate: 100 Mbit/s, burst: 48 KiB}
      algorithms: ring
  links:
    - {dimension: 0, from: 4, to: 7, bandwidth: 150 GB/s}
    - {dimension: 1, from: 3, latency: 3 us}
    - {dimension: 1, to: 3, bandwidth: 25 GB/s, latency: 0 ns}
npus:
  - {range: 2-5, compute_scale: 110 %}
  - {range: 7, compute_scale: 0.5}
collectives:
  chunks: 16
  active_chunks_per_dimension: 2
  queues_per_dimension: 3
  optimization: baseline
  endpoint_delay: 1.5 us
  flat: {reduce_scatter: direct3}
execution: {issue_rule: one_of_each}
compute:
  basis: roofline
  peak: 312 TFLOP/s
  memory_bandwidth: 2039 GB/s
  recorded_scale: 0.9
  class_scales: {matmul: 1.2, normalisation: 90%}
memory:
  reduction_bandwidth: 1600 GB/s
  remote: {kind: per_node, latency: 2 us, bandwidth: 64 GB/s, npus_per_node: 4}
)";

std::string Error(absl::string_view yaml) {
  const absl::StatusOr<SystemDescription> parsed = ParseSystemYaml(yaml);
  EXPECT_EQ(parsed.status().code(), StatusCode::kInvalidArgument) << yaml;
  return std::string(parsed.status().message());
}

// kEverything with one piece of text in the place of another.
std::string ErrorWith(absl::string_view from, absl::string_view to) {
  const std::string text = absl::StrReplaceAll(kEverything, {{from, to}});
  EXPECT_NE(text, kEverything) << from;
  return Error(text);
}

TEST(SystemReaderTest, EveryValueArrives) {
  ASSERT_OK_AND_ASSIGN(const SystemDescription system, ParseSystemYaml(kEverything));
  SystemDescription want;
  want.semantics = Semantics::kPhysical;
  want.back_end = NetworkBackEnd::kLink;
  want.issue_rule = IssueRule::kOneOfEach;
  want.dims = {{TopologyKind::kFullyConnected, 4, 300, 700, 0, {}},
               {TopologyKind::kSwitch, 6, 50, 1500, 250, {0.0125, 49152}}};
  want.link_overrides = {{0, 4, 7, 150, -1}, {1, 3, -1, 0, 3000}, {1, -1, 3, 25, 0}};
  want.npu_overrides = {{2, 5, 1.1}, {7, 7, 0.5}};
  const AlgorithmChoice ring{AlgorithmKind::kRing, -1};
  want.all_reduce = {false, {{AlgorithmKind::kDirect, 2}, ring}};
  want.all_gather = {false, {{AlgorithmKind::kHalvingDoubling, -1}, ring}};
  want.reduce_scatter = {true, {{AlgorithmKind::kDirect, 3}}};
  want.all_to_all = {false, {{AlgorithmKind::kDirect, -1}, ring}};
  want.local_bw_aware = false;
  want.splits = 16;
  want.active_chunks_per_dim = 2;
  want.num_queues_per_dim = 3;
  want.endpoint_delay_ns = 1500;
  want.local_mem_bytes_per_ns = 1600;
  want.compute = {
      ComputeBasis::kRoofline, 312'000, 2039, 0.9, {{"matmul", 1.2}, {"normalisation", 0.9}}};
  want.remote_memory = {RemoteMemory::Kind::kPerNode, 2000, 64, 4};
  EXPECT_EQ(system, want);
}

TEST(SystemReaderTest, WhatIsNotSaidHasTheDocumentedDefault) {
  ASSERT_OK_AND_ASSIGN(const SystemDescription system, ParseSystemYaml(kSmallest));
  SystemDescription want;
  want.semantics = Semantics::kPhysical;
  want.issue_rule = IssueRule::kRecordedQueues;
  want.dims = {{TopologyKind::kRing, 4, 12.5, 1000, 0, {}}};
  want.all_reduce = want.all_gather = want.reduce_scatter =
      want.all_to_all = {false, {{AlgorithmKind::kRing, -1}}};
  want.splits = 4;
  want.endpoint_delay_ns = 0;
  EXPECT_EQ(system, want);
}

TEST(SystemReaderTest, TheDefaultAlgorithmUsesLinksThatAreThere) {
  const auto of = [](absl::string_view topology) {
    return *ParseSystemYaml(absl::StrReplaceAll(kSmallest, {{"Ring", topology}}));
  };
  EXPECT_EQ(of("FullyConnected").all_reduce.per_dim[0].kind, AlgorithmKind::kDirect);
  EXPECT_EQ(of("Switch").all_reduce.per_dim[0].kind, AlgorithmKind::kRing);
  EXPECT_EQ(of("Switch").all_to_all.per_dim[0].kind, AlgorithmKind::kDirect);
  EXPECT_EQ(of("Mesh").all_to_all.per_dim[0].kind, AlgorithmKind::kRing);
}

TEST(SystemReaderTest, TypesWithARootFollowTheirsUnlessADimensionNamesThem) {
  ASSERT_OK_AND_ASSIGN(const SystemDescription plain, ParseSystemYaml(kEverything));
  EXPECT_EQ(plain.broadcast, CollectiveImplementation{});
  ASSERT_OK_AND_ASSIGN(const SystemDescription named,
                       ParseSystemYaml(absl::StrReplaceAll(
                           kEverything, {{"{all_reduce: direct2,",
                                          "{broadcast: halvingDoubling, all_reduce: direct2,"},
                                         {"algorithms: ring", "algorithms: {scatter: direct}"},
                                         {"flat: {", "flat: {gather: direct2, "}})));
  const AlgorithmChoice ring{AlgorithmKind::kRing, -1};
  EXPECT_EQ(named.broadcast,
            (CollectiveImplementation{false, {{AlgorithmKind::kHalvingDoubling, -1}, ring}}));
  EXPECT_EQ(named.reduce, CollectiveImplementation{});
  EXPECT_EQ(named.gather, (CollectiveImplementation{true, {{AlgorithmKind::kDirect, 2}}}));
  EXPECT_EQ(named.scatter.per_dim.size(), 2u);
  EXPECT_EQ(named.scatter.per_dim[1], (AlgorithmChoice{AlgorithmKind::kDirect, -1}));
}

TEST(SystemReaderTest, AstraSemanticsCanBeAskedFor) {
  const std::string text = absl::StrCat("semantics: astra\n", kSmallest);
  EXPECT_EQ(Error(text), "memory.reduction_bandwidth: is missing");
  ASSERT_OK_AND_ASSIGN(
      const SystemDescription system,
      ParseSystemYaml(absl::StrCat(text, "memory: {reduction_bandwidth: 50 GB/s}\n")));
  EXPECT_EQ(system.semantics, Semantics::kAstra);
  EXPECT_EQ(system.issue_rule, IssueRule::kOneOfEach);
  EXPECT_THAT(ErrorWith("semantics: physical", "semantics: astra"),
              AllOf(HasSubstr("network.dimensions[1].message_cost: only physical"),
                    HasSubstr("network.dimensions[1].token_bucket: only physical")));
}

TEST(SystemReaderTest, ANumberWithoutItsUnitIsRefusedWithTheUnitsThatFit) {
  EXPECT_EQ(ErrorWith("bandwidth: 300 GB/s", "bandwidth: 300"),
            "line 9: network.dimensions[0].bandwidth: 300 has no unit: write a number and one of "
            "B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s, TiB/s, bit/s, kbit/s, Mbit/s, "
            "Gbit/s, Tbit/s");
  EXPECT_EQ(ErrorWith("latency: 700 ns", "latency: 700 GB/s"),
            "line 10: network.dimensions[0].latency: 700 GB/s has a unit that is not known here: "
            "write a number and one of ps, ns, us, ms, s");
  // A slip of case is a factor of eight.
  EXPECT_THAT(ErrorWith("300 GB/s", "300 Gb/s"), HasSubstr("300 Gb/s has a unit that is not"));
  EXPECT_THAT(ErrorWith("312 TFLOP/s", "312"), HasSubstr("compute.peak: 312 has no unit"));
  EXPECT_THAT(ErrorWith("burst: 48 KiB", "burst: 48"), HasSubstr("token_bucket.burst: 48 has no"));
  EXPECT_THAT(ErrorWith("2039 GB/s", "[1]"), HasSubstr("compute.memory_bandwidth: a list is not"));
}

TEST(SystemReaderTest, EachValueThatCannotBeIsNamedWithItsLimit) {
  const struct {
    const char* from;
    const char* to;
    const char* want;
  } kCases[] = {
      {"300 GB/s", "0 GB/s", "network.dimensions[0].bandwidth: 0 GB/s is not above 0"},
      {"300 GB/s", "-1 GB/s", "network.dimensions[0].bandwidth: -1 GB/s is not above 0"},
      {"300 GB/s", ".nan", "network.dimensions[0].bandwidth: .nan is not a number with a unit"},
      {"300 GB/s", "1e999 GB/s", "network.dimensions[0].bandwidth: 1e999 GB/s is not finite"},
      {"latency: 700 ns", "latency: -1 ns", "network.dimensions[0].latency: -1 ns is below 0"},
      {"rate: 100 Mbit/s", "rate: 0 B/s", "token_bucket.rate: 0 B/s is not above 0"},
      {"npus: 4\n", "npus: 0\n", "network.dimensions[0].npus: 0 is not a whole number in [1,"},
      {"npus: 4\n", "npus: 2.5\n", "network.dimensions[0].npus: 2.5 is not a whole number"},
      {"npus: 6\n", "npus: 1048576\n", "the product of its npus is over 1048576 NPUs"},
      {"FullyConnected", "Torus",
       "network.dimensions[0].topology: Torus is not one of Ring, FullyConnected, Switch, Mesh"},
      {"direct2", "direct0", "network.dimensions[0].algorithms.all_reduce: direct0 is not one of"},
      {"algorithms: ring", "algorithms: magic", "network.dimensions[1].algorithms: magic is not"},
      {"algorithms: ring", "algorithms: {all_reduce: halvingDoubling}",
       "network.dimensions[1].algorithms.all_reduce: halvingDoubling needs a power of two of NPUs, "
       "and there are 6"},
      {"direct3", "halvingDoubling",
       "collectives.flat.reduce_scatter: halvingDoubling needs a power of two of NPUs, and there "
       "are 24"},
      {"from: 4, to: 7", "from: 3, to: 4",
       "network.links[0]: NPUs 3 and 4 have no link along dimension 0 (FullyConnected of 4)"},
      {"from: 4, to: 7", "from: 4, to: 24", "network.links[0].to: 24 is not in [0, 23]"},
      {"from: 4, to: 7", "from: 4, to: 4", "network.links[0]: NPUs 4 and 4 have no link"},
      {"from: 4, to: 7,", "", "network.links[0].from: neither from nor to is given"},
      {"{dimension: 1, from: 3", "{dimension: 1, to: 4, from: 3",
       "network.links[1]: a switch's link has one NPU"},
      {"{dimension: 1, from: 3", "{dimension: 2, from: 3",
       "network.links[1].dimension: 2 is not in [0, 1]"},
      {"{dimension: 1, from: 3", "{dimension: 1, to: 3",
       "network.links[2].from: the same link stands twice"},
      {", latency: 3 us", "", "network.links[1].bandwidth: neither bandwidth nor latency"},
      {"range: 2-5", "range: 2-24", "npus[0].range: 2-24 is not in 0-23"},
      {"range: 2-5", "range: 5-2", "npus[0].range: 5-2 is not in 0-23"},
      {"range: 2-5", "range: all", "npus[0].range: all is not an NPU such as 3"},
      {"range: 2-5", "range: 2-7", "npus: ranges 2-7 and 7-7 overlap"},
      {"110 %", "0", "npus[0].compute_scale: 0 is not a finite factor above 0"},
      {"110 %", "nan", "npus[0].compute_scale: nan is not a finite factor above 0"},
      {"chunks: 16", "chunks: 5000", "collectives.chunks: 5000 is not a whole number in [1, 4096]"},
      {"baseline", "best", "collectives.optimization: best is not one of baseline, localBWAware"},
      {"1.5 us\n  flat", "0.5 ns\n  flat",
       "collectives.endpoint_delay: 0.5 ns is not a whole number of ns"},
      {"one_of_each", "two", "execution.issue_rule: two is not one of one_of_each"},
      {"basis: roofline", "basis: guess", "compute.basis: guess is not one of recorded, roofline"},
      {"peak: 312 TFLOP/s", "", "compute.peak: is missing"},
      {"normalisation: 90%", "normalisation: -1",
       "compute.class_scales.normalisation: -1 is not a finite factor above 0"},
      {"matmul: 1.2", "gemm: 1.2",
       "compute.class_scales.gemm: is no class of operators, which are matmul, convolution"},
      {"kind: per_node", "kind: pool", "memory.remote.npus_per_node: only the kind per_node"},
      {"bandwidth: 64 GB/s, ", "", "memory.remote.bandwidth: is missing"},
      {"back_end: link", "back_end: ns3", "network.back_end: ns3 is not one of analytical, link"},
  };
  for (const auto& test : kCases) {
    const std::string error = ErrorWith(test.from, test.to);
    EXPECT_THAT(error, HasSubstr(test.want));
    EXPECT_THAT(error, Not(HasSubstr("; "))) << "more than the one fault";
  }
}

TEST(SystemReaderTest, AllFaultsComeInOneMessageWithTheirLines) {
  EXPECT_EQ(Error("network:\n"
                  "  dimensions:\n"
                  "    - {topology: Ring, npu: 4, bandwidth: 0 GB/s, latency: 5}\n"
                  "compute: {basis: roofline}\n"
                  "colectives: {}\n"),
            "line 3: network.dimensions[0].npus: is missing; "
            "line 3: network.dimensions[0].bandwidth: 0 GB/s is not above 0; "
            "line 3: network.dimensions[0].latency: 5 has no unit: write a number and one of ps, "
            "ns, us, ms, s; "
            "line 3: network.dimensions[0].npu: is not a known key; known are topology, npus, "
            "bandwidth, latency, message_cost, token_bucket, algorithms; "
            "line 4: compute.peak: is missing; line 4: compute.memory_bandwidth: is missing; "
            "line 5: colectives: is not a known key; known are name, semantics, network, npus, "
            "collectives, execution, compute, memory");
}

TEST(SystemReaderTest, TwentyDimensionsAreTooMany) {
  std::string text = "network:\n  dimensions:\n";
  for (int i = 0; i < 20; ++i) {
    absl::StrAppend(&text, "    - {topology: Ring, npus: 2, bandwidth: 1 GB/s, latency: 1 ns}\n");
  }
  EXPECT_EQ(Error(text), "line 3: network.dimensions: 20 entries are not in [1, 8]");
}

TEST(SystemReaderTest, TheLinkBackEndHasALimitOfLinks) {
  const std::string text =
      "network: {back_end: link, dimensions: [{topology: FullyConnected, npus: 8192, "
      "bandwidth: 1 GB/s, latency: 1 ns}]}\n";
  EXPECT_THAT(Error(text),
              HasSubstr("network: 67108864 links are over the limit of 33554432 of the link back"));
  std::string analytical = text;
  analytical.replace(analytical.find("link"), 4, "analytical");
  EXPECT_TRUE(ParseSystemYaml(analytical).ok());
}

TEST(SystemReaderTest, TextThatIsNoDescriptionIsRefused) {
  EXPECT_EQ(Error(""), "the file: nothing is not a map");
  EXPECT_EQ(Error("[1, 2]"), "line 1: the file: a list is not a map");
  EXPECT_EQ(Error("network: 3"), "line 1: network: 3 is not a map");
  EXPECT_THAT(Error("a: b: c"), HasSubstr("not YAML"));
  EXPECT_THAT(Error("name: x\nname: y\n"), HasSubstr("line 2: the key name stands twice"));
  EXPECT_THAT(Error("--- {}\n--- {}\n"), HasSubstr("a second document begins"));
  EXPECT_THAT(Error("? [a]\n: b\n"), HasSubstr("a key is not plain text"));
  EXPECT_THAT(Error("&a [*a]"), HasSubstr("line 1: "));
  EXPECT_THAT(Error(std::string(2 << 20, ' ')), HasSubstr("2097152 bytes are over the limit"));
}

TEST(SystemReaderTest, ADescriptionCutAnywhereIsReadOrRefused) {
  const absl::string_view whole = kEverything;
  for (size_t length = 0; length < whole.size(); ++length) {
    const absl::StatusOr<SystemDescription> parsed = ParseSystemYaml(whole.substr(0, length));
    if (!parsed.ok()) {
      EXPECT_EQ(parsed.status().code(), StatusCode::kInvalidArgument) << length;
    }
  }
}

// Text that other readers choke on, within a bound of time.
TEST(SystemReaderTest, ABombOfAliasesOrDepthIsRefusedAtOnce) {
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    absl::StrAppend(&laughs, "a", i, ": &a", i, " [");
    for (int k = 0; k < 10; ++k) absl::StrAppend(&laughs, k == 0 ? "" : ", ", "*a", i - 1);
    absl::StrAppend(&laughs, "]\n");
  }
  std::string chain = "a0: &a0 [x]\n";
  for (int i = 1; i < 40; ++i) absl::StrAppend(&chain, "a", i, ": &a", i, " [*a", i - 1, "]\n");
  std::string dashes;
  for (int i = 0; i < 100'000; ++i) dashes += "- ";
  std::string anchors;
  for (int i = 0; i < 60'000; ++i) absl::StrAppend(&anchors, "- &a", i, " x\n");
  std::string keys;
  for (int i = 0; i < 100'000; ++i) absl::StrAppend(&keys, "k", i, ": 1\n");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(Error(laughs), HasSubstr("more than 262144 values, aliases expanded"));
  EXPECT_THAT(Error(chain), HasSubstr("nested deeper than 16"));
  EXPECT_THAT(Error(std::string(500'000, '[')), HasSubstr("nested deeper than 16"));
  EXPECT_THAT(Error(std::string(500'000, '{')), HasSubstr("nested deeper than 16"));
  EXPECT_THAT(Error(dashes), HasSubstr("nested deeper than 16"));
  EXPECT_THAT(Error(anchors), HasSubstr("the file: a list is not a map"));
  EXPECT_THAT(Error(keys), HasSubstr("more than 256 keys in one map"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(SystemReaderTest, AnAliasStandsForWhatItNames) {
  ASSERT_OK_AND_ASSIGN(const SystemDescription system, ParseSystemYaml(R"(
network:
  dimensions:
    - &torus {topology: Ring, npus: 4, bandwidth: 100 GB/s, latency: 1 us}
    - *torus
)"));
  EXPECT_EQ(DescribeTopology(system), "16 NPUs: Ring 4 x Ring 4");
  EXPECT_EQ(system.dims[0], system.dims[1]);
}

TEST(SystemReaderTest, ParseSystemTakesOneDescriptionOrTheOther) {
  constexpr char kNetwork[] = "topology: [Ring]\nnpus_count: [4]\nbandwidth: [1]\nlatency: [0]\n";
  constexpr char kSystem[] = R"({"endpoint-delay": 1, "active-chunks-per-dimension": 1,
    "preferred-dataset-splits": 4, "collective-optimization": "baseline", "local-mem-bw": 1,
    "all-reduce-implementation": ["ring"], "all-gather-implementation": ["ring"],
    "reduce-scatter-implementation": ["ring"], "all-to-all-implementation": ["ring"]})";
  ASSERT_OK_AND_ASSIGN(const SystemDescription ours, ParseSystem({kSmallest, "", "", ""}));
  EXPECT_EQ(ours.semantics, Semantics::kPhysical);
  ASSERT_OK_AND_ASSIGN(
      const SystemDescription astra,
      ParseSystem(
          {"", kNetwork, kSystem,
           R"({"memory-type": "MEMORY_POOL", "remote-mem-latency": 5, "remote-mem-bw": 8})"}));
  EXPECT_EQ(astra.semantics, Semantics::kAstra);
  EXPECT_EQ(astra.remote_memory, (RemoteMemory{RemoteMemory::Kind::kPool, 5, 8, 1}));
  EXPECT_THAT(ParseSystem({kSmallest, kNetwork, "", ""}),
              StatusIs(StatusCode::kInvalidArgument, "must be empty beside it"));
  EXPECT_THAT(ParseSystem({"", "", "", ""}), StatusIs(StatusCode::kInvalidArgument, "no system"));
  EXPECT_THAT(
      ParseSystem({"x", "", "", ""}),
      StatusIs(StatusCode::kInvalidArgument, "system_yaml: line 1: the file: x is not a map"));
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(SystemExamplesTest, EachIsRead) {
  std::map<std::string, std::string> topology_by_name;
  for (const auto& entry : std::filesystem::directory_iterator("sim/examples")) {
    const std::string text = ReadFile(entry.path());
    // ASTRA-sim's files are read in astra_system_reader_test.cc.
    if (entry.path().extension() != ".yaml" || absl::StrContains(text, "npus_count")) continue;
    const absl::StatusOr<SystemDescription> system = ParseSystemYaml(text);
    ASSERT_THAT(system, IsOk()) << entry.path();
    EXPECT_EQ(system->semantics, Semantics::kPhysical);
    topology_by_name[entry.path().stem()] = DescribeTopology(*system);
  }
  const std::map<std::string, std::string> want = {
      {"degraded_torus", "16 NPUs: Ring 4 x Ring 4"},
      {"dgx2", "16 NPUs: Switch 16"},
      {"dgx_h100", "8 NPUs: Switch 8"},
      {"ethernet_star", "4 NPUs: Switch 4"},
      {"fat_tree_like", "128 NPUs: Switch 8 x Switch 4 x Switch 4"},
      {"gpu_roofline", "2 NPUs: FullyConnected 2"},
      {"tpu_torus_2d", "32 NPUs: Ring 4 x Ring 8"},
      {"tpu_torus_3d", "64 NPUs: Ring 4 x Ring 4 x Ring 4"},
  };
  EXPECT_EQ(topology_by_name, want);
  ASSERT_OK_AND_ASSIGN(const SystemDescription h100,
                       ParseSystemYaml(ReadFile("sim/examples/dgx_h100.yaml")));
  EXPECT_EQ(h100.dims[0], (NetworkDim{TopologyKind::kSwitch, 8, 400, 936.25, 0, {}}));
}

TEST(SystemManualTest, ItsExamplesAreRead) {
  const std::string manual = ReadFile("docs/systems.md");
  int examples_count = 0;
  for (size_t at = 0; (at = manual.find("```yaml\n", at)) != std::string::npos;) {
    at += 8;
    const size_t end = manual.find("```", at);
    ASSERT_NE(end, std::string::npos);
    EXPECT_THAT(ParseSystemYaml(manual.substr(at, end - at)), IsOk());
    ++examples_count;
    at = end + 3;
  }
  EXPECT_GE(examples_count, 2);
}

// What the reader says it knows, map by map, stands in the manual.
TEST(SystemManualTest, ItNamesEveryKey) {
  const std::string manual = ReadFile("docs/systems.md");
  const std::string error = Error(R"(
zz: 1
network:
  zz: 1
  dimensions:
    - {zz: 1, token_bucket: {zz: 1}, algorithms: {zz: 1}}
  links: [{zz: 1}]
npus: [{zz: 1}]
collectives: {zz: 1, flat: {zz: 1}}
execution: {zz: 1}
compute: {zz: 1}
memory: {zz: 1, remote: {zz: 1}}
)");
  int maps_count = 0;
  for (const absl::string_view fault : absl::StrSplit(error, "; ")) {
    const std::vector<absl::string_view> parts = absl::StrSplit(fault, "known are ");
    if (parts.size() < 2) continue;
    ++maps_count;
    for (const absl::string_view key : absl::StrSplit(parts[1], ", ")) {
      EXPECT_TRUE(absl::StrContains(manual, absl::StrCat(key, "`"))) << key;
    }
  }
  EXPECT_EQ(maps_count, 13);
}

TEST(QuantityTest, EachUnitHasItsFactor) {
  const struct {
    QuantityKind kind;
    const char* text;
    double want;
  } kCases[] = {
      {QuantityKind::kTime, "1 ps", 0.001},
      {QuantityKind::kTime, "936.25 ns", 936.25},
      {QuantityKind::kTime, "10us", 10'000},
      {QuantityKind::kTime, "0.1 us", 100},
      {QuantityKind::kTime, " 2  ms ", 2e6},
      {QuantityKind::kTime, "1e-3 s", 1e6},
      {QuantityKind::kBytes, "48 KiB", 49152},
      {QuantityKind::kBytes, "48 kB", 48000},
      {QuantityKind::kBytes, "1.5 MiB", 1572864},
      {QuantityKind::kBytes, "2 GiB", 2147483648.0},
      {QuantityKind::kBytes, "7 B", 7},
      {QuantityKind::kBandwidth, "400 GB/s", 400},
      {QuantityKind::kBandwidth, "400 GiB/s", 429.4967296},
      {QuantityKind::kBandwidth, "400 Gbit/s", 50},
      {QuantityKind::kBandwidth, "100 Mbit/s", 0.0125},
      {QuantityKind::kBandwidth, "8 bit/s", 1e-9},
      {QuantityKind::kBandwidth, "1.6 Tbit/s", 200},
      {QuantityKind::kBandwidth, "1.6 TB/s", 1600},
      {QuantityKind::kComputeRate, "312 TFLOP/s", 312'000},
      {QuantityKind::kComputeRate, "1 PFLOP/s", 1'000'000},
      {QuantityKind::kComputeRate, "5 GFLOP/s", 5},
  };
  for (const auto& test : kCases) {
    ASSERT_OK_AND_ASSIGN(const double value, ParseQuantity(test.kind, test.text));
    EXPECT_EQ(value, test.want) << test.text;
  }
  for (const char* text : {"", "ns", "inf ns", "nan ns", "0x10 ns", "1 ns ns", "1,5 ns", "--1 ns",
                           "1 Ns", "1e ns", ". ns"}) {
    EXPECT_THAT(ParseQuantity(QuantityKind::kTime, text),
                StatusIs(StatusCode::kInvalidArgument, "write a number"))
        << text;
  }
}

}  // namespace
}  // namespace chakrad
