#include "trace/readers/chakra_json/chakra_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/detect.h"
#include "trace/readers/testing/sources.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

absl::StatusOr<RankTrace> Read(absl::string_view text, Ledger* ledger, bool lenient = false) {
  PiecewiseSource source(text, 7);
  return ReadChakraJson(&source, {.lenient = lenient}, ledger);
}
absl::StatusOr<RankTrace> Read(absl::string_view text) {
  Ledger ledger;
  return Read(text, &ledger);
}

const char kOwn[] = R"({"chakra_metadata":{"version":"0.0.4",
  "attr":[{"name":"schema","string_val":"1.0.2"},{"name":"chakrad.rank","int64_val":3}]},
 "chakra_nodes":[
  {"id":"18446744073709551615","name":"late","type":"COMP_NODE","data_deps":["4",5],
   "duration_micros":10,"attr":[{"name":"is_cpu_op","bool_val":true},{"name":"mine","int32_val":7}]},
  {"id":4,"name":"load","type":2,"attr":[{"name":"tensor_size","uint64_val":"64"}]},
  {"id":5,"name":"ar","type":"COMM_COLL_NODE","ctrl_deps":[4],"attr":[
    {"name":"comm_type","int64_val":"2"},{"name":"comm_size","int64_val":1048576}]}
 ]})";

// What Chakra's jsonizer writes: indented, camel case, nothing in between.
const char kJsonizer[] = R"({
  "version": "0.0.4",
  "attr": [
    {
      "name": "schema",
      "stringVal": "1.0.2"
    }
  ]
}{
  "id": "4",
  "name": "load",
  "type": "MEM_LOAD_NODE",
  "attr": [{"name": "tensor_size", "uint64Val": "64"}]
}{
  "id": "5",
  "name": "ar",
  "type": "COMM_COLL_NODE",
  "ctrlDeps": ["4"],
  "durationMicros": "12",
  "attr": [{"name": "comm_type", "int64Val": "2"}, {"name": "comm_size", "int64Val": "1048576"}]
})";

const char kFeeder[] = R"({"workload_graph":[
  {"Id":0,"Name":"a","NodeType":4,"is_cpu_op":false,"runtime":2.5,"data_deps":[],"mine":"x"},
  {"Id":1,"Name":"ar","NodeType":7,"is_cpu_op":false,"runtime":3,"data_deps":[0],"tensor_size":1,
   "comm_type":0,"comm_priority":2,"comm_size":4096,"comm_src":0,"comm_dst":0,"comm_tag":0},
  {"Id":2,"Name":"s","NodeType":5,"is_cpu_op":false,"data_deps":[1],"comm_size":8,
   "comm_src":0,"comm_dst":3,"comm_tag":9}]})";

TEST(ChakraJsonTest, OurOwnDocumentIsRead) {
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(const RankTrace trace, Read(kOwn, &ledger));
  EXPECT_EQ(trace.schema, "1.0.2");
  EXPECT_EQ(trace.rank, 3);
  EXPECT_THAT(trace.id, ElementsAre(18446744073709551615u, 4, 5));
  EXPECT_THAT(trace.type, ElementsAre(NodeType::kComp, NodeType::kMemLoad, NodeType::kCommColl));
  EXPECT_THAT(trace.dep_node, ElementsAre(1, 2, 1));
  EXPECT_THAT(trace.dep_kind, ElementsAre(EdgeKind::kData, EdgeKind::kData, EdgeKind::kControl));
  EXPECT_EQ(trace.CommOf(2)->bytes, 1048576);
  EXPECT_EQ(trace.CommOf(2)->collective, CollectiveType::kAllGather);
  EXPECT_EQ(ledger.kept, 3);
  EXPECT_EQ(ledger.merged_by_rule.at("global_metadata"), 1);
  EXPECT_TRUE(ledger.Balanced());
}

TEST(ChakraJsonTest, MessagesWithoutAListAreRead) {
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(const RankTrace trace, Read(kJsonizer, &ledger));
  EXPECT_EQ(trace.schema, "1.0.2");
  EXPECT_THAT(trace.id, ElementsAre(4, 5));
  EXPECT_THAT(trace.dur_ns, ElementsAre(kUnknownNs, 12000));
  EXPECT_EQ(trace.CommOf(1)->bytes, 1048576);
  EXPECT_EQ(ledger.input_records, 3);
  EXPECT_TRUE(ledger.Balanced());
  // GlobalMetadata may be empty, and missing.
  ASSERT_OK_AND_ASSIGN(const RankTrace empty, Read(R"({}{"id":"1","type":"COMP_NODE"})"));
  EXPECT_THAT(empty.id, ElementsAre(1));
  Ledger without;
  ASSERT_OK_AND_ASSIGN(
      const RankTrace none,
      Read("\xef\xbb\xbf{\"id\":\"1\",\"type\":\"COMP_NODE\"}\n{\"id\":\"2\",\"type\":4}",
           &without));
  EXPECT_THAT(none.id, ElementsAre(1, 2));
  EXPECT_THAT(without.notices, ElementsAre(HasSubstr("no GlobalMetadata")));
}

TEST(ChakraJsonTest, TheFeedersDocumentIsRead) {
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(const RankTrace trace, Read(kFeeder, &ledger));
  EXPECT_THAT(trace.id, ElementsAre(0, 1, 2));
  EXPECT_THAT(trace.dur_ns, ElementsAre(2500, 3000, 0));
  EXPECT_THAT(trace.work_ns, ElementsAre(2500, 3000, 0));
  EXPECT_EQ(*trace.CommOf(1), (CommOp{.bytes = 4096, .priority = 2}));
  EXPECT_EQ(*trace.CommOf(2), (CommOp{.bytes = 8, .peer = 3, .tag = 9}));
  EXPECT_THAT(std::string(trace.ColdOf(0)), HasSubstr("mine"));
  EXPECT_EQ(ledger.kept, 3);
}

TEST(ChakraJsonTest, EachLayoutIsDetected) {
  const std::pair<std::string, bool> cases[] = {
      {kOwn, true},
      {kJsonizer, true},
      {kFeeder, true},
      {R"({"comment":"x","chakra_nodes":[]})", true},
      {R"({"version":"1"}{"id":"1"})", true},
      {R"({}{"id":"1"})", true},
      {R"({"attr":[{"name":"schema"}]})", true},
      {R"({"name":"job","world_size":2})", false},
      {R"({"id":1,"nodes":[]})", false},
      {R"({"type":"x","traceEvents":[]})", false},
      {"{}", false},
  };
  for (const auto& [text, chakra] : cases) {
    const auto source = OpenMemorySource(text);
    const absl::StatusOr<FileKind> kind = DetectFileKind(source.get());
    EXPECT_EQ(kind.ok() && *kind == FileKind::kChakraJson, chakra) << text;
  }
}

TEST(ChakraJsonTest, WhatDoesNotFitIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("id":-1)", "byte offset 17, record 0: id: -1 is not in [0, 18446744073709551615]"},
      {R"("id":1.5)", "id: 1.5 is not an integer"},
      {R"("id":"1x")", "id: \"1x\" is not an integer"},
      {R"("id":18446744073709551616)", "does not fit 64 bits"},
      {R"("id":7,"name":3)", "byte offset 17, record 0, node 7: name: 3 is not a string"},
      {R"("id":7,"type":"COMP")", "type: \"COMP\" is not a NodeType"},
      {R"("id":7,"type":77)", "byte offset 17, node 7 (): type: 77 is not in [0, 8)"},
      {R"("id":7,"data_deps":3)", "data_deps: 3 is not a list"},
      {R"("id":7,"data_deps":[3,null])", "data_deps[1]: null is not an integer"},
      {R"("id":7,"inputs":[1])", "inputs: a list is not an object"},
      {R"("id":7,"attr":[{"name":"a"},{"int32_val":2147483648}])",
       "attr[1].int32_val: 2147483648 is not in [-2147483648, 2147483647]"},
      {R"("id":7,"attr":[{"int32_val":1,"int64_val":1}])", "attr[0].int64_val: is a second value"},
      {R"("id":7,"attr":[{"bool_val":1}])", "attr[0].bool_val: 1 is not a bool"},
      {R"("id":7,"attr":[{"float_val":1e300}])", "1e+300 is not a float's value"},
      {R"("id":7,"attr":[{"double_val":NaN}])", "byte offset 47: NaN or Infinity without quotes"},
      {R"("id":7,"attr":[{"double_val":"nun"}])", "\"nun\" is not a number"},
      {R"("id":7,"attr":[{"bytes_val":"?"}])", "\"?\" is not base64"},
      {R"("id":7,"id":8)", "id: is there twice"},
      {R"("id":7,"colour":{"a":[1]})", "colour: is no field of Node"},
      {R"("chakrad.message":"AAAA")", "chakrad.message: is not a Node's bytes"},
      {R"("id":7,"attr":[{"name":"comm_size","string_val":"x"}],"type":7)", "comm_size"},
      {R"("id":7,})", "extra comma"},
      {R"()", "an empty object is no node"},
  };
  for (const auto& [node, part] : cases) {
    EXPECT_THAT(Read(absl::StrCat(R"({"chakra_nodes":[{)", node, "}]}")), StatusIs(kInvalid, part))
        << node;
  }
  EXPECT_THAT(Read(R"({"chakra_nodes":[7]})"), StatusIs(kInvalid, "a node must be an object"));
  EXPECT_THAT(Read(R"({"chakra_nodes":[],"chakra_metadata":{}})"),
              StatusIs(kInvalid, "must stand once, before the nodes"));
  EXPECT_THAT(Read(R"({"chakra_metadata":{}})"), StatusIs(kInvalid, "neither chakra_nodes"));
  EXPECT_THAT(Read(R"({"chakra_nodes":[],"chakra_nodes":[]})"), StatusIs(kInvalid, "second list"));
  EXPECT_THAT(Read(R"({"chakra_metadata":[]})"), StatusIs(kInvalid, "must be an object"));
  EXPECT_THAT(Read(R"({"chakra_metadata":{"attr":[{"colour":1}]}})"),
              StatusIs(kInvalid, "byte offset 19: GlobalMetadata: attr[0].colour: is no field"));
  EXPECT_THAT(Read(R"({}{"id":1,"type":4},{"id":2})"),
              StatusIs(kInvalid, "byte offset 19 (line 1): expected a message"));
  EXPECT_THAT(Read(R"({}{"id":1,"name":"a"b"})"), StatusIs(kInvalid, "byte offset 20 (line 1)"));
  EXPECT_THAT(Read(R"({}{"id":1,"duration_micros":NaN})"), StatusIs(kInvalid, "byte offset 28"));
  EXPECT_THAT(Read(R"({}{"id":1,"type":4}{"id":1,"type":4})"),
              StatusIs(kInvalid, "byte offset 19, node 1 (): id: 1 is used twice"));
}

TEST(ChakraJsonTest, FaultsOfTheFeedersDocumentAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("Name":"a","NodeType":4)", "byte offset 19, record 0: Id: is missing"},
      {R"("Id":7,"Name":"a")", "record 0, node 7: NodeType: is missing"},
      {R"("Id":-1)", "Id: is not one integer"},
      {R"("Id":7,"NodeType":4,"runtime":-1)", "runtime: is not in [0, "},
      {R"("Id":7,"NodeType":4,"runtime":1e300)", "runtime: is not in [0, "},
      {R"("Id":7,"NodeType":"x")", "NodeType: is not a NodeType"},
      {R"("Id":7,"NodeType":4,"data_deps":[-1])", "data_deps: is not a list of node ids"},
      {R"("Id":7,"NodeType":4,"extra":[1])", "extra: is not a number, a bool or a string"},
      {R"("Id":7,"NodeType":7)", "comm_type: missing"},
      {R"("Id":7,"NodeType":4,"data_deps":[99])", "data dependency 99 is not in the file"},
  };
  for (const auto& [node, part] : cases) {
    EXPECT_THAT(Read(absl::StrCat(R"({"workload_graph":[{)", node, "}]}")),
                StatusIs(kInvalid, part))
        << node;
  }
}

TEST(ChakraJsonTest, LenientReadingLeavesOutKeysThatAreNoField) {
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(
      const RankTrace trace,
      Read(R"({"chakra_nodes":[{"id":7,"type":4,"colour":{"a":[1]},"attr":[{"x":1}]}]})", &ledger,
           /*lenient=*/true));
  EXPECT_THAT(trace.id, ElementsAre(7));
  EXPECT_EQ(ledger.flaws_by_rule.at("unknown_json_key"), 2);
  EXPECT_EQ(ledger.flaws[0].byte_offset, 17);
  EXPECT_EQ(ledger.flaws[0].record, 0);
  EXPECT_THAT(ledger.flaws[0].reason, HasSubstr("colour"));
  EXPECT_TRUE(ledger.Balanced());
}

TEST(ChakraJsonTest, ATextCutAtAnyByteIsAnErrorOrEndsBetweenMessages) {
  for (const std::string text : {kOwn, kFeeder, kJsonizer}) {
    for (size_t cut = 0; cut < text.size(); ++cut) {
      const absl::StatusOr<RankTrace> trace = Read(text.substr(0, cut));
      if (trace.ok()) {
        EXPECT_EQ(text[cut - 1], '}') << cut;
        EXPECT_EQ(text, kJsonizer);
      } else {
        EXPECT_THAT(trace, StatusIs(kInvalid, "byte offset ")) << cut;
      }
    }
  }
}

TEST(ChakraJsonTest, DamagedTextsAreReadOrRefusedWithAnOffset) {
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string text = std::vector<std::string>{kOwn, kFeeder, kJsonizer}[random() % 3];
    for (int i = 0; i < 3; ++i) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text.erase(at, 1 + random() % 4);
          break;
        case 1:
          text[at] = "{}[]\",:0a-\\\xff"[random() % 12];
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 20));
      }
    }
    Ledger ledger;
    const absl::StatusOr<RankTrace> trace = Read(text, &ledger, random() % 2 == 0);
    ASSERT_TRUE(trace.ok() || trace.status().code() == kInvalid) << trace.status() << text;
    EXPECT_TRUE(!trace.ok() || ledger.Balanced());
  }
}

TEST(ChakraJsonTest, ManyWindowsAreReadAsOneList) {
  std::string text = R"({"chakra_nodes":[)";
  constexpr int kNodes = 40000;
  for (int i = 0; i < kNodes; ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ",", R"({"id":)", i, R"(,"type":4,"name":"n)", i,
                    R"(","attr":[{"name":"some attribute of a node","int64_val":"12"}]})");
  }
  text += "]}";
  Ledger ledger;
  const auto source = OpenMemorySource(text);
  ASSERT_OK_AND_ASSIGN(const RankTrace trace, ReadChakraJson(source.get(), {}, &ledger));
  ASSERT_EQ(trace.size(), static_cast<uint32_t>(kNodes));
  EXPECT_EQ(trace.NameOf(kNodes - 1), absl::StrCat("n", kNodes - 1));
}

}  // namespace
}  // namespace chakrad
