// Traces written as Chakra files and read again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "chakra/et_def.pb.h"
#include "common/status_matchers.h"
#include "tests/round_trip/random_trace.h"
#include "trace/model/attributes.h"
#include "trace/model/rank_trace_builder.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/chakra_et/chakra_et.h"
#include "trace/readers/pytorch_et/pytorch_et.h"
#include "trace/readers/testing/chakra_file_test_util.h"
#include "trace/writers/chakra_et_writer.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;

using Attributes = std::map<std::string, ChakraProtoMsg::AttributeProto>;

absl::StatusOr<std::string> Write(const Trace& trace, int32_t rank) {
  std::string file;
  RETURN_IF_ERROR(WriteChakraEt(trace, rank, [&file](absl::string_view piece) {
    file.append(piece.data(), piece.size());
    return absl::OkStatus();
  }));
  return file;
}

absl::StatusOr<RankTrace> Read(const std::string& file) {
  Ledger ledger;
  const auto source = OpenMemorySource(file);
  return ReadChakraEt(source.get(), {}, &ledger);
}

// No attribute of any node is there twice.
void ExpectNoDoubles(const std::string& file) {
  for (const ChakraProtoMsg::Node& node : NodesOf(file)) {
    Attributes seen;
    for (const auto& attribute : node.attr()) {
      EXPECT_TRUE(seen.emplace(attribute.name(), attribute).second) << node.ShortDebugString();
    }
  }
}

Attributes AttributesOf(const ChakraProtoMsg::Node& node) {
  Attributes attributes;
  for (const auto& attribute : node.attr()) attributes[attribute.name()] = attribute;
  return attributes;
}

TEST(ChakraEtRoundTripTest, ARandomTraceComesBackEqual) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const Trace trace = RandomTrace(seed).Make();
    ASSERT_OK_AND_ASSIGN(const std::string file, Write(trace, trace.ranks[0].rank));
    ASSERT_OK_AND_ASSIGN(const RankTrace again, Read(file));
    ExpectEqual(trace.ranks[0], trace.groups, again);
    ExpectNoDoubles(file);
    // Once more: the file of what was read is the same file.
    Trace second = trace;
    second.ranks[0] = again;
    ASSERT_OK_AND_ASSIGN(const std::string file_again, Write(second, again.rank));
    EXPECT_EQ(file_again, file);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

TEST(ChakraEtRoundTripTest, OtherToolsFindWhatTheyNeed) {
  Trace trace;
  trace.world_size = 8;
  trace.groups = {{"world", "", {}}, {"tp", "", {2, 5}}};
  RankTraceBuilder builder;
  builder.header().rank = 2;
  const CommOp coll{.collective = CollectiveType::kAllGather, .bytes = 4096, .group = 1};
  const CommOp message{.bytes = 77, .peer = 5, .tag = 9};
  const WorkSize size{1000, 64};
  for (const auto& [type, comm] :
       {std::pair{NodeType::kCommColl, &coll}, std::pair{NodeType::kCommSend, &message},
        std::pair{NodeType::kCommRecv, &message}, std::pair{NodeType::kComp, &message}}) {
    NodeSpec spec;
    spec.id = builder.size() + 1;
    spec.type = type;
    spec.name = "n";
    spec.queue = {Queue::Kind::kDeviceStream, 0, 7};
    spec.start_ns = 5'999;
    spec.dur_ns = 100'000;
    spec.work_ns = 12'499;
    if (IsComm(type)) spec.comm = comm;
    if (!IsComm(type)) spec.work_size = &size;
    builder.AddNode(spec);
  }
  builder.AddEdge(3, 0, EdgeKind::kStreamOrder);
  builder.AddEdge(3, 0, EdgeKind::kData);
  builder.AddEdge(3, 1, EdgeKind::kSync);
  builder.AddEdge(3, 2, EdgeKind::kControl);
  ASSERT_OK_AND_ASSIGN(RankTrace rank, builder.Build(nullptr));
  trace.ranks.push_back(std::move(rank));
  ASSERT_OK_AND_ASSIGN(const std::string file, Write(trace, 2));
  const std::vector<ChakraProtoMsg::Node> nodes = NodesOf(file);
  ASSERT_EQ(nodes.size(), 4u);
  for (const ChakraProtoMsg::Node& node : nodes) {
    EXPECT_EQ(node.start_time_micros(), 5u);
    EXPECT_EQ(node.duration_micros(), 12u);  // Of the time it keeps its queue busy.
    const Attributes attributes = AttributesOf(node);
    EXPECT_TRUE(attributes.at("is_cpu_op").has_bool_val());
    EXPECT_EQ(attributes.at("stream").int64_val(), 7);
  }
  const Attributes coll_attributes = AttributesOf(nodes[0]);
  EXPECT_EQ(coll_attributes.at("comm_type").int64_val(), 2);
  EXPECT_EQ(coll_attributes.at("comm_size").int64_val(), 4096);
  EXPECT_EQ(coll_attributes.at("pg_name").string_val(), "tp");
  const Attributes send = AttributesOf(nodes[1]), recv = AttributesOf(nodes[2]);
  EXPECT_EQ(send.at("comm_src").int32_val(), 2);
  EXPECT_EQ(send.at("comm_dst").int32_val(), 5);
  EXPECT_EQ(recv.at("comm_src").int32_val(), 5);
  EXPECT_EQ(recv.at("comm_dst").int32_val(), 2);
  EXPECT_EQ(recv.at("comm_tag").int32_val(), 9);
  EXPECT_EQ(recv.at("comm_size").int64_val(), 77);
  const Attributes comp = AttributesOf(nodes[3]);
  EXPECT_EQ(comp.at("num_ops").int64_val(), 1000);
  EXPECT_EQ(comp.at("tensor_size").uint64_val(), 64u);
  // Each dependency once, whatever its kinds: bit 0 data, 4 stream order, 5 sync.
  EXPECT_THAT(nodes[3].data_deps(), ElementsAre(1, 2));
  EXPECT_THAT(nodes[3].ctrl_deps(), ElementsAre(3));
  EXPECT_THAT(comp.at(attr::kEdgeKinds).int64_list().values(), ElementsAre(1 | 16, 32));
}

TEST(ChakraEtRoundTripTest, AttributesOfAChakraFileComeBackUnchanged) {
  const std::vector<std::string> nodes = {
      "id: 1 name: 'c' type: COMM_COLL_NODE duration_micros: 3 "
      "attr { name: 'comm_size' sint64_val: 64 } attr { name: 'comm_type' fixed32_val: 2 } "
      "attr { name: 'pg_name' string_val: 'tp' } attr { name: 'mine' float_val: 0.5 } "
      "attr { name: 'mine' float_val: 0.25 }",
      "id: 7 name: 'm' type: MEM_STORE_NODE data_deps: 1 ctrl_deps: 1 outputs { shapes: '[]' } "
      "attr { name: 'tensor_size' uint64_val: 8 } attr { name: 'is_cpu_op' int32_val: 1 }",
      "id: 8 name: 's' type: COMM_SEND_NODE data_deps: 7 start_time_micros: 12 "
      "attr { name: 'comm_dst' int32_val: 3 } attr { name: 'comm_src' int32_val: 0 } "
      "attr { name: 'comm_size' uint64_val: 5 } attr { name: 'is_cpu_op' bool_val: false }"};
  const std::string metadata =
      "version: '0.0.4' attr { name: 'pid' uint64_val: 7 } "
      "attr { name: 'input_file' string_val: 'DATA' } attr { name: 'mine' double_val: 0.5 }";
  const std::string input = ChakraFile(metadata, nodes);
  ASSERT_OK_AND_ASSIGN(const RankTrace rank, Read(input));
  Trace trace;
  trace.groups = rank.groups;
  trace.ranks.push_back(rank);
  trace.ranks[0].rank = 0;
  ASSERT_OK_AND_ASSIGN(const std::string output, Write(trace, 0));
  // The file's own attributes come first, ours behind them.
  ChakraProtoMsg::GlobalMetadata head = MetadataOf(output);
  ASSERT_GT(head.attr_size(), 3);
  head.mutable_attr()->DeleteSubrange(3, head.attr_size() - 3);
  EXPECT_EQ(head.SerializeAsString(),
            FromText<ChakraProtoMsg::GlobalMetadata>(metadata).SerializeAsString());
  const auto before = NodesOf(input), after = NodesOf(output);
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i) {
    ChakraProtoMsg::Node kept = after[i];
    ASSERT_GE(kept.attr_size(), before[i].attr_size());
    // The input's own come first, in their order.
    kept.mutable_attr()->DeleteSubrange(before[i].attr_size(),
                                        kept.attr_size() - before[i].attr_size());
    EXPECT_EQ(kept.SerializeAsString(), before[i].SerializeAsString());
  }
  ASSERT_OK_AND_ASSIGN(const RankTrace again, Read(output));
  ExpectEqual(trace.ranks[0], trace.groups, again);
}

// A rank made of a real execution trace alone: its calls as a tree, c10d's as
// communication.
TEST(ChakraEtRoundTripTest, ARealTraceComesBackEqual) {
  for (const char* path : {"mlp_dp/w2/rank0", "dlrm/w4/rank1", "transformer_pp/w2/rank1"}) {
    ASSERT_OK_AND_ASSIGN(const auto source, OpenFileSource(absl::StrCat("tests/data/collected/",
                                                                        path, ".et.json.gz")));
    Ledger ledger;
    ASSERT_OK_AND_ASSIGN(const PyTorchEt et, ReadPyTorchEt(source.get(), ReadOptions(), &ledger));
    RankTraceBuilder builder;
    builder.header().rank = 1;
    builder.header().schema = et.schema;
    for (const EtOp& op : et.ops) {
      NodeSpec spec;
      spec.id = op.id;
      spec.type = op.comm == kNone ? NodeType::kComp : NodeType::kCommColl;
      spec.flags = RankTrace::kHostOp;
      spec.name = et.strings.Get(op.name);
      spec.queue.raw_id = static_cast<int64_t>(op.tid);
      spec.cold = absl::string_view(et.cold).substr(op.cold_begin, op.cold_end - op.cold_begin);
      CommOp comm;
      if (op.comm != kNone) {
        comm.bytes = std::max<int64_t>(et.comm_args[op.comm].in_bytes, 0);
        spec.comm = &comm;
      }
      const uint32_t node = builder.AddNode(spec);
      if (op.parent != op.id) builder.AddEdgeById(node, op.parent, EdgeKind::kControl);
    }
    Trace trace;
    ASSERT_OK_AND_ASSIGN(RankTrace rank, builder.Build(nullptr));
    trace.ranks.push_back(std::move(rank));
    ASSERT_OK_AND_ASSIGN(const std::string file, Write(trace, 1));
    ASSERT_OK_AND_ASSIGN(const RankTrace again, Read(file));
    ExpectEqual(trace.ranks[0], {}, again);
    ExpectNoDoubles(file);
  }
}

TEST(ChakraEtRoundTripTest, WritingEndsWithTheSinksOrItsOwnError) {
  Trace trace = RandomTrace(5).Make();
  const int32_t rank = trace.ranks[0].rank;
  EXPECT_THAT(
      WriteChakraEt(trace, rank,
                    [](absl::string_view) { return absl::ResourceExhaustedError("disk full"); }),
      StatusIs(absl::StatusCode::kResourceExhausted, "disk full"));
  EXPECT_THAT(Write(trace, 99), StatusIs(absl::StatusCode::kNotFound, "rank 99"));
  trace.ranks[0].cold_begin.clear();
  trace.ranks[0].cold.clear();
  EXPECT_THAT(Write(trace, rank),
              StatusIs(absl::StatusCode::kFailedPrecondition, "without its cold block"));
}

}  // namespace
}  // namespace chakrad
