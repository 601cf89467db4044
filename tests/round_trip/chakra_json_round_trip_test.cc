// Traces written as Chakra's JSON and read again.
#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "chakra/et_def.pb.h"
#include "common/status_matchers.h"
#include "tests/round_trip/random_trace.h"
#include "trace/import/import.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/chakra_et/chakra_et.h"
#include "trace/readers/chakra_json/chakra_json.h"
#include "trace/readers/detect.h"
#include "trace/readers/testing/chakra_file_test_util.h"
#include "trace/writers/chakra_et_writer.h"
#include "trace/writers/chakra_json_writer.h"

namespace chakrad {
namespace {

template <typename Writer>
absl::StatusOr<std::string> WriteWith(Writer writer, const Trace& trace, int32_t rank) {
  std::string file;
  RETURN_IF_ERROR(writer(trace, rank, [&file](absl::string_view piece) {
    file.append(piece.data(), piece.size());
    return absl::OkStatus();
  }));
  return file;
}

absl::StatusOr<RankTrace> ReadJson(const std::string& file) {
  const auto front = OpenMemorySource(file);
  ASSIGN_OR_RETURN(const FileKind kind, DetectFileKind(front.get()));
  EXPECT_EQ(kind, FileKind::kChakraJson);
  Ledger ledger;
  const auto source = OpenMemorySource(file);
  absl::StatusOr<RankTrace> trace = ReadChakraJson(source.get(), {}, &ledger);
  EXPECT_TRUE(ledger.Balanced());
  // Random nodes have any type, INVALID_NODE too; nothing else may be wrong.
  EXPECT_EQ(ledger.flaws_by_rule.size(), ledger.flaws_by_rule.count("unknown_node_type"));
  return trace;
}

absl::StatusOr<RankTrace> ReadEt(const std::string& file) {
  Ledger ledger;
  const auto source = OpenMemorySource(file);
  return ReadChakraEt(source.get(), {}, &ledger);
}

Trace TraceOf(const RankTrace& rank) {
  Trace trace;
  trace.groups = rank.groups;
  trace.ranks.push_back(rank);
  return trace;
}

TEST(ChakraJsonRoundTripTest, ARandomTraceComesBackEqual) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const Trace trace = RandomTrace(seed).Make();
    ASSERT_OK_AND_ASSIGN(const std::string file,
                         WriteWith(WriteChakraJson, trace, trace.ranks[0].rank));
    ASSERT_TRUE(nlohmann::json::accept(file)) << file;
    ASSERT_OK_AND_ASSIGN(const RankTrace again, ReadJson(file));
    ExpectEqual(trace.ranks[0], trace.groups, again);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

// What protobuf's own library makes of each line is what a .et file has.
TEST(ChakraJsonRoundTripTest, ProtobufReadsTheSameMessages) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const Trace trace = RandomTrace(seed).Make();
    const int32_t rank = trace.ranks[0].rank;
    ASSERT_OK_AND_ASSIGN(const std::string json, WriteWith(WriteChakraJson, trace, rank));
    ASSERT_OK_AND_ASSIGN(const std::string et, WriteWith(WriteChakraEt, trace, rank));
    const std::vector<ChakraProtoMsg::Node> nodes = NodesOf(et);
    const std::vector<std::string> lines = absl::StrSplit(json, '\n');
    ASSERT_EQ(lines.size(), nodes.size() + 4);
    for (size_t i = 0; i < nodes.size(); ++i) {
      std::string line = lines[i + 2];
      if (absl::EndsWith(line, ",")) line.pop_back();
      ChakraProtoMsg::Node node;
      ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(line, &node).ok()) << line;
      EXPECT_EQ(node.ShortDebugString(), nodes[i].ShortDebugString());
    }
  }
}

// A value of every kind, at its ends, in protobuf's text form.
std::vector<std::string> AttributesOfEveryKind() {
  return {"double_val: -0.0",
          "double_val: inf",
          "double_val: nan",
          "double_val: 4.9e-324",
          "double_val: 0.1",
          "double_list { values: [1e308, -1.5, 0] }",
          "float_val: 0.1",
          "float_val: -inf",
          "float_val: 3.4028235e38",
          "float_val: 1e-45",
          "float_list { values: [0.3, 16777217] }",
          "int32_val: -2147483648",
          "int32_val: 0",
          "int32_list { values: [1, 0] }",
          "int64_val: -9223372036854775808",
          "int64_val: 0",
          "int64_list { }",
          "uint32_val: 4294967295",
          "uint32_list { values: 0 }",
          "uint64_val: 18446744073709551615",
          "uint64_list { values: 18446744073709551615 }",
          "sint32_val: -1",
          "sint32_list { values: -1 }",
          "sint64_val: -1",
          "sint64_list { values: -9007199254740993 }",
          "fixed32_val: 1",
          "fixed32_list { values: 1 }",
          "fixed64_val: 9007199254740993",
          "fixed64_list { values: 1 }",
          "sfixed32_val: -1",
          "sfixed32_list { values: -1 }",
          "sfixed64_val: -1",
          "sfixed64_list { values: -1 }",
          "bool_val: false",
          "bool_list { values: [true, false] }",
          "string_val: ''",
          "string_val: 'a\"b\\\\c\\n\\001\\303\\251'",
          "string_list { values: ['', 'x'] }",
          "bytes_val: '\\000\\377'",
          "bytes_list { values: ['', '\\376'] }",
          "",
          "doc_string: 'd'"};
}

// As no recorder may ever write them.
TEST(ChakraJsonRoundTripTest, EveryAttributeKindAndUnknownFieldComesBack) {
  const std::vector<std::string> attributes = AttributesOfEveryKind();
  std::vector<ChakraProtoMsg::Node> nodes;
  ChakraProtoMsg::Node every;
  for (size_t i = 0; i < attributes.size(); ++i) {
    const auto node = FromText<ChakraProtoMsg::Node>(
        absl::StrCat("id: ", i, " name: '<", i, ">' type: COMP_NODE attr { name: 'a", i, "' ",
                     attributes[i], " }"));
    every.mutable_attr()->MergeFrom(node.attr());
    nodes.push_back(node);
  }
  every.set_id(std::numeric_limits<uint64_t>::max());
  every.mutable_inputs()->set_types("['Tensor(float)']");
  every.mutable_outputs();
  nodes.push_back(every);
  // Fields of a newer Chakra: of the node, and inside an attribute.
  every.set_id(1000);
  every.GetReflection()->MutableUnknownFields(&every)->AddLengthDelimited(77, "new");
  nodes.push_back(every);
  ChakraProtoMsg::Node inside = nodes[0];
  inside.set_id(1001);
  auto* attribute = inside.mutable_attr(0);
  attribute->GetReflection()->MutableUnknownFields(attribute)->AddVarint(78, 5);
  nodes.push_back(inside);

  std::string et = ChakraFile("", {});
  for (const auto& node : nodes) et += WithLength(node.SerializeAsString());
  ASSERT_OK_AND_ASSIGN(RankTrace rank, ReadEt(et));
  rank.rank = 3;
  ASSERT_OK_AND_ASSIGN(const std::string json, WriteWith(WriteChakraJson, TraceOf(rank), 3));
  ASSERT_TRUE(nlohmann::json::accept(json));
  ASSERT_OK_AND_ASSIGN(const RankTrace again, ReadJson(json));
  ExpectEqual(rank, rank.groups, again);
  ASSERT_OK_AND_ASSIGN(const std::string first, WriteWith(WriteChakraEt, TraceOf(rank), 3));
  ASSERT_OK_AND_ASSIGN(const std::string second, WriteWith(WriteChakraEt, TraceOf(again), 3));
  EXPECT_EQ(first, second);
}

TEST(ChakraJsonRoundTripTest, ALinkedRankOfARealJobComesBackEqual) {
  std::vector<ImportFile> files;
  for (const char* kind : {"et", "kineto"}) {
    const std::string name = absl::StrCat("rank0.", kind, ".json.gz");
    files.push_back({name, absl::StrCat("tests/data/collected/mlp_dp/w2/", name)});
  }
  ASSERT_OK_AND_ASSIGN(const ImportResult imported, ImportTrace(files, {}));
  const RankTrace& rank = imported.trace.ranks[0];
  ASSERT_GT(rank.size(), 100u);
  ASSERT_OK_AND_ASSIGN(const std::string json,
                       WriteWith(WriteChakraJson, imported.trace, rank.rank));
  ASSERT_OK_AND_ASSIGN(const RankTrace again, ReadJson(json));
  ExpectEqual(rank, imported.trace.groups, again);
}

TEST(ChakraJsonRoundTripTest, WritingEndsWithTheSinksOrItsOwnError) {
  const Trace trace = RandomTrace(5).Make();
  EXPECT_THAT(
      WriteChakraJson(trace, trace.ranks[0].rank,
                      [](absl::string_view) { return absl::ResourceExhaustedError("disk full"); }),
      StatusIs(absl::StatusCode::kResourceExhausted, "disk full"));
  EXPECT_THAT(WriteWith(WriteChakraJson, trace, 99),
              StatusIs(absl::StatusCode::kNotFound, "rank 99"));
}

}  // namespace
}  // namespace chakrad
