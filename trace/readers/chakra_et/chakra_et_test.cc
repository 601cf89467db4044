#include "trace/readers/chakra_et/chakra_et.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "trace/model/attributes.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/testing/chakra_file_test_util.h"
#include "trace/readers/testing/sources.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

constexpr ReadOptions kLenient = {.lenient = true};

absl::StatusOr<RankTrace> Read(absl::string_view bytes, Ledger* ledger,
                               const ReadOptions& options = {}) {
  const auto source = OpenMemorySource(bytes);
  return ReadChakraEt(source.get(), options, ledger);
}
absl::StatusOr<RankTrace> ReadNode(const std::string& node) {
  Ledger ledger;
  return Read(ChakraFile("", {node}), &ledger);
}
std::string Attribute(absl::string_view name, absl::string_view value) {
  return absl::StrCat("attr { name: '", name, "' ", value, " } ");
}
// Of a collective with all it needs.
const std::string& Collective() {
  static const std::string& text = *new std::string("id: 5 name: 'ar' type: COMM_COLL_NODE " +
                                                    Attribute("comm_type", "int64_val: 5") +
                                                    Attribute("comm_size", "int64_val: 1048576"));
  return text;
}

TEST(ChakraEtTest, NodesEdgesAndTimesAreRead) {
  const std::string file = ChakraFile(
      "version: '0.0.4' attr { name: 'schema' string_val: '1.0.2' } "
      "attr { name: 'pid' uint64_val: 7 }",
      {"id: 9 name: 'late' type: COMP_NODE data_deps: [4, 5] ctrl_deps: 5 duration_micros: 10 "
       "start_time_micros: 3",
       "id: 4 name: 'load' type: MEM_LOAD_NODE " + Attribute("tensor_size", "uint64_val: 64"),
       Collective()});
  for (const std::string& bytes : {file, Gzip(file)}) {
    Ledger ledger;
    ASSERT_OK_AND_ASSIGN(const RankTrace trace, Read(bytes, &ledger));
    EXPECT_EQ(trace.schema, "1.0.2");
    EXPECT_EQ(trace.rank, kNoRank);
    EXPECT_THAT(trace.id, ElementsAre(9, 4, 5));
    EXPECT_THAT(trace.type, ElementsAre(NodeType::kComp, NodeType::kMemLoad, NodeType::kCommColl));
    EXPECT_EQ(trace.NameOf(0), "late");
    EXPECT_THAT(trace.start_ns, ElementsAre(3000, kUnknownNs, kUnknownNs));
    EXPECT_THAT(trace.dur_ns, ElementsAre(10000, kUnknownNs, 0));
    EXPECT_THAT(trace.work_ns, ElementsAre(10000, kUnknownNs, 0));
    EXPECT_THAT(trace.dep_begin, ElementsAre(0, 3, 3, 3));
    EXPECT_THAT(trace.dep_node, ElementsAre(1, 2, 2));
    EXPECT_THAT(trace.dep_kind, ElementsAre(EdgeKind::kData, EdgeKind::kData, EdgeKind::kControl));
    EXPECT_EQ(trace.WorkSizeOf(1)->tensor_bytes, 64);
    EXPECT_EQ(trace.WorkSizeOf(0), nullptr);
    EXPECT_EQ(ledger.kept, 3);
    EXPECT_EQ(ledger.merged_by_rule.at("global_metadata"), 1);
    EXPECT_TRUE(ledger.Balanced());
    EXPECT_THAT(ledger.notices, IsEmpty());
    // What no field of a rank trace says stays.
    EXPECT_EQ(trace.file_cold, FromText<ChakraProtoMsg::GlobalMetadata>(
                                   "version: '0.0.4' attr { name: 'pid' uint64_val: 7 }")
                                   .SerializeAsString());
  }
}

TEST(ChakraEtTest, EveryIntegerKindOfASizeIsRead) {
  for (const char* kind :
       {"int32_val", "int64_val", "uint32_val", "uint64_val", "sint32_val", "sint64_val",
        "fixed32_val", "fixed64_val", "sfixed32_val", "sfixed64_val"}) {
    ASSERT_OK_AND_ASSIGN(
        const RankTrace trace,
        ReadNode("type: COMM_COLL_NODE " + Attribute("comm_type", absl::StrCat(kind, ": 2")) +
                 Attribute("comm_size", absl::StrCat(kind, ": 1048576"))));
    EXPECT_EQ(trace.CommOf(0)->bytes, 1048576) << kind;
    EXPECT_EQ(trace.CommOf(0)->collective, CollectiveType::kAllGather) << kind;
  }
}

TEST(ChakraEtTest, CommunicationHasAllItsFields) {
  ASSERT_OK_AND_ASSIGN(
      const RankTrace trace,
      ReadNode(Collective() + Attribute("pg_name", "string_val: 'tp'") +
               Attribute("comm_priority", "int32_val: 3") +
               Attribute("involved_dim", "bool_list { values: [true, false, true] }")));
  const CommOp& comm = *trace.CommOf(0);
  EXPECT_EQ(comm.collective, CollectiveType::kBroadcast);
  EXPECT_EQ(comm.priority, 3);
  EXPECT_EQ(comm.involved_dims, 5u);
  ASSERT_EQ(trace.groups.size(), 1u);
  EXPECT_EQ(comm.group, 0u);
  EXPECT_EQ(trace.groups[0], (ProcessGroup{"tp", "", {}}));

  const std::string peers =
      Attribute("comm_src", "int32_val: 6") + Attribute("comm_dst", "int32_val: 7") +
      Attribute("comm_tag", "uint64_val: 40") + Attribute("comm_size", "int64_val: 8");
  ASSERT_OK_AND_ASSIGN(const RankTrace send, ReadNode("type: COMM_SEND_NODE " + peers));
  EXPECT_EQ(*send.CommOf(0), (CommOp{.bytes = 8, .peer = 7, .tag = 40}));
  ASSERT_OK_AND_ASSIGN(const RankTrace recv, ReadNode("type: COMM_RECV_NODE " + peers));
  EXPECT_EQ(recv.CommOf(0)->peer, 6);
}

TEST(ChakraEtTest, QueuesComeFromThreadOrStream) {
  ASSERT_OK_AND_ASSIGN(
      const RankTrace host,
      ReadNode("type: COMP_NODE " + Attribute("is_cpu_op", "bool_val: true") +
               Attribute("tid", "int64_val: 2") + Attribute("stream", "int64_val: 9")));
  EXPECT_EQ(host.queues[host.queue[0]], (Queue{Queue::Kind::kHostThread, -1, 2}));
  EXPECT_TRUE(host.is_host(0));
  ASSERT_OK_AND_ASSIGN(const RankTrace device,
                       ReadNode("type: COMP_NODE " + Attribute("stream", "int32_val: 9")));
  EXPECT_EQ(device.queues[device.queue[0]], (Queue{Queue::Kind::kDeviceStream, 0, 9}));
  EXPECT_FALSE(device.is_host(0));
}

TEST(ChakraEtTest, AttributesAndArgumentsStayInTheColdBlock) {
  ASSERT_OK_AND_ASSIGN(
      const RankTrace trace,
      ReadNode("id: 3 name: 'x' type: COMP_NODE duration_micros: 4 inputs { values: '[1]' } " +
               Attribute("is_cpu_op", "int32_val: 1") + Attribute("mine", "double_val: 0.5")));
  const auto expected = FromText<ChakraProtoMsg::Node>("inputs { values: '[1]' } " +
                                                       Attribute("is_cpu_op", "int32_val: 1") +
                                                       Attribute("mine", "double_val: 0.5"));
  EXPECT_EQ(trace.ColdOf(0), expected.SerializeAsString());
}

TEST(ChakraEtTest, SizesAndPeersThatAreNotStatedAreNoticed) {
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(
      const RankTrace trace,
      Read(ChakraFile("",
                      {"id: 1 type: COMM_SEND_NODE " + Attribute("tensor_size", "uint64_val: 1024"),
                       "id: 2 type: COMM_RECV_NODE",
                       "id: 3 type: COMM_COLL_NODE " + Attribute("comm_type", "int64_val: 9")}),
           &ledger));
  EXPECT_EQ(trace.CommOf(0)->bytes, 1024);
  EXPECT_THAT(ledger.notices, ElementsAre(HasSubstr("1 communication nodes state neither"),
                                          HasSubstr("2 sends and receives")));
}

TEST(ChakraEtTest, WrongAttributesAreNamed) {
  const std::pair<std::string, const char*> cases[] = {
      {Attribute("comm_size", "string_val: 'big'"), "comm_size: string_val: \"big\" is not"},
      {Attribute("comm_size", "int64_val: -1"), "comm_size: int64_val: -1 is not"},
      {Attribute("comm_size", "double_val: 1"), "is not an integer that is not negative"},
      {Attribute("comm_size", "uint64_val: 9223372036854775808"),
       "comm_size: 9223372036854775808 is not in [0, 9223372036854775807]"},
      {Attribute("comm_type", "int64_val: 10"), "comm_type: 10 is not in [0, 9]"},
      {Attribute("pg_name", "int64_val: 1"), "pg_name: int64_val: 1 is not a string"},
      {Attribute("is_cpu_op", "int64_val: 2"), "is_cpu_op: int64_val: 2 is not a bool"},
      {Attribute("comm_tag", "uint64_val: 18446744073709551615"), "comm_tag"},
      {Attribute("involved_dim", "bool_val: true"), "is not a list of bools"},
      {Attribute("tensor_size", ""), "tensor_size"},
      {Attribute("chakrad.queue", "int64_val: 0"), "chakrad.queue: 0 is not in [0, -1]"},
      {Attribute("chakrad.comm_group", "int64_val: 0"), "chakrad.comm_group: 0 is not in [-1, -1]"},
      {Attribute("chakrad.edge_kinds", "int64_list { values: 1 }"), "1 entries for 0 data_deps"},
      {Attribute("chakrad.comm_fields", "int64_list { values: 1 }"), "chakrad.comm_fields"},
      {Attribute("chakrad.work_ns", "int64_val: 9000000000000000000"), "chakrad.work_ns"},
      {"duration_micros: 18446744073709551615", "duration_micros: 18446744073709551615"},
      {"start_time_micros: 18446744073709551615", "start_time_micros"},
  };
  for (const auto& [extra, part] : cases) {
    const bool replaces = extra.find("comm_size") != std::string::npos ||
                          extra.find("comm_type") != std::string::npos;
    const std::string node = replaces ? "id: 5 name: 'ar' type: COMM_COLL_NODE " +
                                            (extra.find("comm_type") == std::string::npos
                                                 ? Attribute("comm_type", "int64_val: 0")
                                                 : "") +
                                            extra
                                      : Collective() + extra;
    EXPECT_THAT(ReadNode(node), StatusIs(kInvalid, part)) << node;
    EXPECT_THAT(ReadNode(node), StatusIs(kInvalid, "byte offset 1, node 5 (ar)")) << node;
  }
  EXPECT_THAT(ReadNode("type: COMM_COLL_NODE"), StatusIs(kInvalid, "comm_type: missing"));
  EXPECT_THAT(ReadNode(Collective() + Attribute("comm_size", "int64_val: 1")),
              StatusIs(kInvalid, "comm_size: is there twice"));
}

TEST(ChakraEtTest, UnknownDuplicateAndMissingNodesAreNamed) {
  Ledger ledger;
  EXPECT_THAT(Read(ChakraFile("", {"id: 1 name: 'a' type: 1", "id: 1 name: 'b' type: 1"}), &ledger),
              StatusIs(kInvalid,
                       "byte offset 9, node 1 (b): id: 1 is used twice, first at byte "
                       "offset 1"));
  EXPECT_THAT(Read(ChakraFile("", {"id: 1 name: 'a' type: 4 data_deps: 7 ctrl_deps: 8"}), &ledger),
              StatusIs(kInvalid,
                       "node 1 (a) at byte offset 1: data dependency 7 is not in the "
                       "file (--lenient leaves such dependencies out)"));
  EXPECT_THAT(ReadNode("id: 1 type: 77"), StatusIs(kInvalid, "type: 77 is not in [0, 8)"));
}

TEST(ChakraEtTest, AFileWithoutMetadataStartsWithItsFirstNode) {
  const std::string nodes = ChakraFile("", {"id: 1 name: 'a' type: COMP_NODE", Collective()});
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(const RankTrace trace, Read(nodes.substr(1), &ledger));
  EXPECT_THAT(trace.id, ElementsAre(1, 5));
  EXPECT_THAT(ledger.notices, ElementsAre(HasSubstr("no GlobalMetadata")));
}

TEST(ChakraEtTest, DamageIsAnErrorWithTheOffset) {
  const std::string good = ChakraFile("version: 'v'", {"id: 1 name: 'a' type: COMP_NODE"});
  const std::pair<std::string, const char*> cases[] = {
      {"", "byte offset 0: the file is empty"},
      {std::string("\x03\xff\xff\xff", 4), "byte offset 0: the first message is neither"},
      {good + std::string("\x03\x0f\xff\xff", 4), "byte offset 12: message 2 is no Node"},
      {good + std::string(1, '\0'), "byte offset 12: an empty message is no node"},
      {good + "\xff\xff\xff\xff\xff\xff", "byte offset 12: a message's length has more than 5"},
      {good + "\xff\xff\xff\xff\x0f", "byte offset 12: a message of 4294967295 bytes is larger"},
      {good + "\x80\x80\x80\x10"
              "x",
       "byte offset 12: cut off: a message of 33554432 bytes has"},
      {good + "\x80", "byte offset 12: cut off inside a message's length"},
  };
  ASSERT_EQ(good.size(), 12u);
  for (const auto& [bytes, part] : cases) {
    Ledger ledger;
    EXPECT_THAT(Read(bytes, &ledger), StatusIs(kInvalid, part));
  }
}

TEST(ChakraEtTest, AFileCutAtAnyByteIsAnErrorOrEndsBetweenMessages) {
  const std::string file = ChakraFile("version: 'v'", {"id: 1 name: 'a' type: 4", Collective()});
  const size_t first = 4, second = first + 8;  // Where metadata and node 1 end.
  for (size_t cut = 0; cut < file.size(); ++cut) {
    Ledger ledger;
    const absl::StatusOr<RankTrace> trace = Read(file.substr(0, cut), &ledger);
    if (cut == first) {
      EXPECT_THAT(trace, StatusIs(kInvalid, "but no nodes")) << cut;
    } else if (cut == second) {
      EXPECT_THAT(trace, IsOk()) << cut;
    } else {
      EXPECT_THAT(trace, StatusIs(kInvalid, "byte offset ")) << cut;
    }
  }
}

TEST(ChakraEtTest, AnyByteMayBeDamaged) {
  const std::string file =
      ChakraFile("version: 'v'", {"id: 1 name: 'a' type: 4 data_deps: 5", Collective()});
  for (size_t at = 0; at < file.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = file;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      Ledger ledger, lenient_ledger;
      const absl::StatusOr<RankTrace> trace = Read(damaged, &ledger);
      EXPECT_TRUE(trace.ok() || trace.status().code() == kInvalid) << trace.status();
      // What strict reading takes, lenient reading takes as well, and makes the same of it.
      const absl::StatusOr<RankTrace> lenient = Read(damaged, &lenient_ledger, kLenient);
      EXPECT_TRUE(lenient.ok() || lenient.status().code() == kInvalid) << lenient.status();
      if (!trace.ok()) continue;
      ASSERT_THAT(lenient, IsOk());
      EXPECT_EQ(lenient->comm, trace->comm);
      EXPECT_EQ(lenient->dep_node, trace->dep_node);
      EXPECT_EQ(lenient_ledger.flaws_by_rule, ledger.flaws_by_rule);
    }
  }
}

TEST(ChakraEtTest, StartsFrom1970AreCountedFromTheFirst) {
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(
      const RankTrace trace,
      Read(ChakraFile("", {"id: 1 type: 4 start_time_micros: 1700000000000005", "id: 2 type: 4",
                           "id: 3 type: 4 start_time_micros: 1700000000000000"}),
           &ledger));
  EXPECT_EQ(trace.base_unix_ns, 1'700'000'000'000'000'000);
  EXPECT_THAT(trace.start_ns, ElementsAre(5000, kUnknownNs, 0));
  EXPECT_THAT(Read(ChakraFile("", {"id: 1 type: 4 start_time_micros: 1700000000000000",
                                   "id: 3 type: 4 start_time_micros: 1"}),
                   &ledger),
              StatusIs(kInvalid, "start_time_micros: the nodes start over"));
}

TEST(ChakraEtTest, DependenciesThatNameNoNodeAreLeftOutAndCounted) {
  const std::string file = ChakraFile(
      "", {"id: 1 name: 'a' type: 4 data_deps: [2, 7, 8] ctrl_deps: [2, 9]", "id: 2 type: 4"});
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(const RankTrace trace, Read(file, &ledger, kLenient));
  EXPECT_THAT(trace.dep_node, ElementsAre(1, 1));
  EXPECT_EQ(ledger.flaws_by_rule["missing_dependency"], 2);
  EXPECT_EQ(ledger.flaws_by_rule["missing_control_dependency"], 1);
  EXPECT_EQ(ledger.flaws[0].record, 1);
  EXPECT_EQ(ledger.flaws[0].byte_offset, 1);
  EXPECT_THAT(ledger.flaws[1].reason, HasSubstr("node 1 (a): data dependency 7"));
  EXPECT_EQ(ledger.kept, 2);
  EXPECT_TRUE(ledger.Balanced());
  // Of control dependencies nobody's results depend.
  Ledger strict;
  ASSERT_OK_AND_ASSIGN(const RankTrace control,
                       Read(ChakraFile("", {"id: 1 type: 4 ctrl_deps: 9"}), &strict));
  EXPECT_THAT(control.dep_node, IsEmpty());
  EXPECT_EQ(strict.flaws_by_rule["missing_control_dependency"], 1);
}

TEST(ChakraEtTest, ARootThatIsItsOwnParentIsNoCycle) {
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(
      const RankTrace trace,
      Read(ChakraFile("", {"id: 1 type: 1 ctrl_deps: 1", "id: 2 type: 4 ctrl_deps: 1"}), &ledger));
  EXPECT_THAT(trace.dep_node, ElementsAre(0));
  EXPECT_EQ(ledger.flaws_by_rule["self_control_dependency"], 1);
}

TEST(ChakraEtTest, ManyMissingDependenciesAreCountedInTheError) {
  std::string node = "id: 1 type: 4 ";
  for (int id = 10; id < 35; ++id) absl::StrAppend(&node, "data_deps: ", id, " ");
  const absl::Status status = ReadNode(node).status();
  EXPECT_THAT(status, StatusIs(kInvalid, "data dependency 19 is not in the file; 25 such"));
}

TEST(ChakraEtTest, TheFirstOfTwoNodesWithOneIdCounts) {
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(const RankTrace trace,
                       Read(ChakraFile("", {"id: 1 name: 'a' type: 4", "id: 1 name: 'b' type: 4",
                                            "id: 2 type: 4 data_deps: [1, 1]"}),
                            &ledger, kLenient));
  EXPECT_THAT(trace.id, ElementsAre(1, 2));
  EXPECT_EQ(trace.NameOf(0), "a");
  EXPECT_THAT(trace.dep_node, ElementsAre(0));
  EXPECT_EQ(ledger.rejected_by_rule["duplicate_node_id"], 1);
  EXPECT_EQ(ledger.rejections[0].record, 2);
  EXPECT_EQ(ledger.rejections[0].byte_offset, 9);
  EXPECT_EQ(ledger.flaws_by_rule["duplicate_dependency"], 1);
  EXPECT_EQ(ledger.flaws[0].record, 3);
  EXPECT_TRUE(ledger.Balanced());
}

TEST(ChakraEtTest, ARepeatedDependencyIsAFlawEvenWhenStrict) {
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(
      const RankTrace trace,
      Read(ChakraFile("", {"id: 1 type: 4", "id: 2 type: 4 data_deps: [1, 1]"}), &ledger));
  EXPECT_THAT(trace.dep_node, ElementsAre(0));
  EXPECT_EQ(ledger.flaws_by_rule["duplicate_dependency"], 1);
}

TEST(ChakraEtTest, TheNameTellsACollectiveWhoseTypeIsMissing) {
  const std::pair<const char*, CollectiveType> cases[] = {
      {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*)", CollectiveType::kAllReduce},
      {"ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage)", CollectiveType::kBroadcast},
      {"ncclDevKernel_Reduce_RING_LL(x)", CollectiveType::kReduce},
      {"ncclDevKernel_ReduceScatter_Sum_f32_RING_LL(x)", CollectiveType::kReduceScatter},
      {"c10d::allreduce_", CollectiveType::kAllReduce},
      {"c10d::gather_", CollectiveType::kGather},
      {"nccl:all_to_all", CollectiveType::kAllToAll},
      {"nccl:scatter", CollectiveType::kScatter},
      {"gloo:barrier", CollectiveType::kBarrier},
      {"COMM_COLL_NODE_conv1_ALL_GATHER", CollectiveType::kAllGather},
      {"_allgather_base", CollectiveType::kAllGather},
  };
  for (const auto& [name, collective] : cases) {
    Ledger ledger;
    ASSERT_OK_AND_ASSIGN(
        const RankTrace trace,
        Read(ChakraFile("", {absl::StrCat("id: 1 type: COMM_COLL_NODE name: '", name, "' ",
                                          Attribute("comm_size", "int64_val: 8"))}),
             &ledger));
    EXPECT_EQ(trace.CommOf(0)->collective, collective) << name;
    EXPECT_EQ(trace.CommOf(0)->bytes, 8);
    EXPECT_EQ(ledger.flaws_by_rule["comm_type_missing"], 1);
  }
  for (const char* name : {"ncclKernel_SendRecv_RING(x)", "reduce_the_gather", "",
                           "allreduce_barrier", "f(allreduce)", "scatter"}) {
    const std::string file =
        ChakraFile("", {absl::StrCat("id: 1 type: COMM_COLL_NODE name: '", name, "' ",
                                     Attribute("comm_size", "int64_val: 8"))});
    Ledger ledger;
    EXPECT_THAT(Read(file, &ledger), StatusIs(kInvalid, "its name does not tell")) << name;
    ASSERT_OK_AND_ASSIGN(const RankTrace trace, Read(file, &ledger, kLenient));
    EXPECT_EQ(trace.type[0], NodeType::kMetadata);  // Never an all-reduce of its own accord.
    EXPECT_EQ(trace.CommOf(0), nullptr);
  }
}

// As converters of Chakra 0.0.4 write them: the kernel beside them is the collective.
TEST(ChakraEtTest, AHostCallWithoutTypeAndSizeIsTheCallNotTheCollective) {
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(
      const RankTrace trace,
      Read(ChakraFile("", {"id: 1 name: 'c10d::allreduce_(0)' type: COMM_COLL_NODE "
                           "duration_micros: 5 " +
                           Attribute("is_cpu_op", "bool_val: true")}),
           &ledger));
  EXPECT_EQ(trace.type[0], NodeType::kComp);
  EXPECT_EQ(trace.work_ns[0], 5000);
  EXPECT_TRUE(trace.comm.empty());
  EXPECT_EQ(ledger.flaws_by_rule["comm_type_missing"], 1);
}

TEST(ChakraEtTest, WrongAttributesStandForNothingWhenLenient) {
  const std::tuple<std::string, const char*> cases[] = {
      {Attribute("comm_size", "string_val: 'big'"), "attribute_type"},
      {Attribute("comm_size", "double_val: 1"), "attribute_type"},
      {Attribute("comm_size", "int64_val: -1"), "attribute_range"},
      {Attribute("comm_size", "uint64_val: 9223372036854775808"), "attribute_range"},
      {Attribute("comm_type", "int64_val: 10") + Attribute("comm_size", "int64_val: 1"),
       "attribute_range"},
      {Attribute("pg_name", "int64_val: 1"), "attribute_type"},
      {Attribute("is_cpu_op", "int64_val: 2"), "attribute_range"},
      {Attribute("involved_dim", "bool_val: true"), "attribute_type"},
      {Attribute("chakrad.queue", "int64_val: 0"), "attribute_range"},
      {Attribute("chakrad.comm_group", "int64_val: 0"), "attribute_range"},
      {Attribute("chakrad.edge_kinds", "int64_list { values: 1 }"), "attribute_range"},
      {Attribute("chakrad.comm_fields", "int64_list { values: 1 }"), "attribute_range"},
      {Attribute("chakrad.work_ns", "int64_val: 9000000000000000000"), "time_out_of_range"},
      {Attribute("comm_tag", "int64_val: 1") + Attribute("comm_tag", "int64_val: 2"),
       "duplicate_attribute"},
      {"duration_micros: 18446744073709551615", "time_out_of_range"},
      {"start_time_micros: 18446744073709551615", "time_out_of_range"},
  };
  for (const auto& [extra, rule] : cases) {
    const std::string file =
        ChakraFile("", {"id: 5 name: 'all_reduce' type: COMM_COLL_NODE " + extra});
    Ledger ledger;
    ASSERT_OK_AND_ASSIGN(const RankTrace trace, Read(file, &ledger, kLenient));
    EXPECT_EQ(ledger.flaws_by_rule[rule], 1) << extra;
    ASSERT_NE(trace.CommOf(0), nullptr);
    EXPECT_EQ(trace.CommOf(0)->collective, CollectiveType::kAllReduce);
    EXPECT_EQ(trace.CommOf(0)->involved_dims, UINT32_MAX);
    EXPECT_EQ(trace.CommOf(0)->group, kNone);
    EXPECT_FALSE(trace.is_host(0));
    // Said to be missing, not read as 0 in silence.
    EXPECT_EQ(trace.CommOf(0)->bytes, extra.find("comm_type") == std::string::npos ? 0 : 1);
    EXPECT_EQ(ledger.notices.size(), extra.find("comm_type") == std::string::npos ? 1u : 0u);
    EXPECT_NE(trace.work_ns[0], 9000000000000000000);
    EXPECT_EQ(trace.start_ns[0], kUnknownNs);
    EXPECT_TRUE(ledger.Balanced());
    // The attribute is kept as it was, chakrad's own apart.
    if (extra.find("attr") == 0 && extra.find("chakrad") == std::string::npos) {
      EXPECT_THAT(std::string(trace.ColdOf(0)),
                  HasSubstr(FromText<ChakraProtoMsg::Node>(extra).SerializeAsString()));
    }
  }
}

TEST(ChakraEtTest, UnknownNodeTypesSayNothing) {
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(
      const RankTrace trace,
      Read(ChakraFile("", {"id: 1 type: 77 duration_micros: 3", "id: 2"}), &ledger, kLenient));
  EXPECT_THAT(trace.type, ElementsAre(NodeType::kMetadata, NodeType::kInvalid));
  EXPECT_EQ(ledger.flaws_by_rule["unknown_node_type"], 2);
  Ledger strict;
  EXPECT_THAT(Read(ChakraFile("", {"id: 2"}), &strict), IsOk());
  EXPECT_EQ(strict.flaws_by_rule["unknown_node_type"], 1);
}

TEST(ChakraEtTest, WrongMetadataStandsForNothingWhenLenient) {
  const std::string file =
      ChakraFile(Attribute("schema", "int64_val: 3") + Attribute("chakrad.rank", "int64_val: -7") +
                     Attribute("chakrad.queues", "int64_list { values: [7, 0, 0] }") +
                     Attribute("chakrad.groups", "string_list { values: 'x' }"),
                 {"id: 1 type: 4"});
  Ledger ledger;
  EXPECT_THAT(Read(file, &ledger), StatusIs(kInvalid, "GlobalMetadata: schema"));
  Ledger lenient;
  ASSERT_OK_AND_ASSIGN(const RankTrace trace, Read(file, &lenient, kLenient));
  EXPECT_EQ(trace.rank, kNoRank);
  EXPECT_EQ(trace.queues.size(), 1u);
  EXPECT_EQ(lenient.flaws_by_rule["attribute_type"], 3);
  EXPECT_EQ(lenient.flaws_by_rule["attribute_range"], 1);
  EXPECT_EQ(lenient.flaws[0].record, 0);
}

TEST(ChakraEtTest, StartsThatSpanTooMuchAreUnknownWhenLenient) {
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(const RankTrace trace,
                       Read(ChakraFile("", {"id: 1 type: 4 start_time_micros: 1700000000000000",
                                            "id: 3 type: 4 start_time_micros: 1"}),
                            &ledger, kLenient));
  EXPECT_THAT(trace.start_ns, ElementsAre(kUnknownNs, kUnknownNs));
  EXPECT_EQ(ledger.flaws_by_rule["time_out_of_range"], 1);
}

TEST(AttributesTest, KeysAreKnownOnceAndDescribed) {
  for (const AttributeInfo& info : KnownAttributes()) {
    EXPECT_EQ(FindAttribute(info.key, info.scope), &info) << info.key;
    EXPECT_FALSE(info.meaning.empty()) << info.key;
  }
  EXPECT_EQ(FindAttribute("nobody", AttributeScope::kNode), nullptr);
  EXPECT_EQ(FindAttribute(attr::kRank, AttributeScope::kNode), nullptr);
}

}  // namespace
}  // namespace chakrad
