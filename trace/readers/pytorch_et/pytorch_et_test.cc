#include "trace/readers/pytorch_et/pytorch_et.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "chakra/et_def.pb.h"
#include "common/status_matchers.h"
#include "trace/readers/pytorch_et/et_test_util.h"
#include "trace/readers/testing/sources.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

// As Flat and FlatCall, with attributes.
std::string Nested(absl::string_view schema, absl::string_view nodes) {
  return absl::StrCat(
      R"({"nodes":[{"id":1,"name":"process","ctrl_deps":1,"attrs":[]},{"id":2,"name":"thread",)",
      R"("ctrl_deps":1,"attrs":[{"name":"scope","type":"uint64","value":7}]})",
      nodes.empty() ? "" : ",", nodes, R"(],"schema":")", schema, R"("})");
}
std::string NestedCall(int id, absl::string_view name, absl::string_view values,
                       absl::string_view types, absl::string_view attrs) {
  return absl::StrCat(R"({"id":)", id, R"(,"name":")", name,
                      R"(","ctrl_deps":2,"inputs":{"values":)", values,
                      R"(,"shapes":[[[3,4]]],"types":)", types,
                      R"(},"outputs":{"values":[],"shapes":[],"types":[]},"attrs":[)", attrs, "]}");
}

ChakraProtoMsg::Node ColdOf(const PyTorchEt& et, size_t index) {
  ChakraProtoMsg::Node node;
  const EtOp& op = et.ops[index];
  EXPECT_TRUE(node.ParseFromString(et.cold.substr(op.cold_begin, op.cold_end - op.cold_begin)));
  return node;
}

const CommArgs& CommOfLast(const PyTorchEt& et) {
  static const CommArgs& none = *new CommArgs;
  for (size_t i = et.ops.size(); i > 0; --i) {
    if (et.ops[i - 1].comm != kNone) return et.comm_args[et.ops[i - 1].comm];
  }
  ADD_FAILURE() << "no communication";
  return none;
}

TEST(PyTorchEtTest, FlatNodesAreReadWithAllTheirFields) {
  const std::string text = Flat(
      R"({"name":"aten::mm","id":4,"rf_id":3,"parent":2,"fw_parent":9007199254740993,)"
      R"J("seq_id":139,"scope":1,"tid":5,"fw_tid":6,"op_schema":"aten::mm(\"a\")",)J"
      R"J("inputs":[[3,4, 0,8,4,"cpu"]],"input_shapes":[[8]],"input_types":["Tensor(float)"],)J"
      R"("outputs":[1],"output_shapes":[[]],"output_types":["Int"]})");
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(const PyTorchEt et, Read(text, &ledger));
  EXPECT_EQ(et.schema, "1.0.1");
  EXPECT_EQ(et.rank, kNoRank);
  ASSERT_THAT(et.ops, SizeIs(3));
  const EtOp& op = et.ops[1];
  EXPECT_EQ(op.id, 4u);
  EXPECT_EQ(op.parent, 2u);
  EXPECT_EQ(op.rf_id, 3u);
  EXPECT_EQ(op.fw_parent, 9007199254740993u);  // 2^53 + 1.
  EXPECT_EQ(op.seq_id, 139);
  EXPECT_EQ(op.scope, 1u);
  EXPECT_EQ(op.tid, 5u);
  EXPECT_EQ(op.fw_tid, 6u);
  EXPECT_EQ(op.comm, kNone);
  EXPECT_EQ(et.strings.Get(op.name), "aten::mm");
  EXPECT_EQ(text.substr(static_cast<size_t>(op.byte_offset), 18), "{\"name\":\"aten::mm\"");
  const ChakraProtoMsg::Node cold = ColdOf(et, 1);
  EXPECT_EQ(cold.inputs().values(), R"([[3,4, 0,8,4,"cpu"]])");
  EXPECT_EQ(cold.inputs().types(), R"J(["Tensor(float)"])J");
  EXPECT_EQ(cold.outputs().values(), "[1]");
  ASSERT_EQ(cold.attr_size(), 7);
  EXPECT_EQ(cold.attr(0).name(), "rf_id");
  EXPECT_EQ(cold.attr(0).int64_val(), 3);
  EXPECT_EQ(cold.attr(6).name(), "op_schema");
  EXPECT_EQ(cold.attr(6).string_val(), "aten::mm(\"a\")");
  EXPECT_EQ(ledger.kept, 3);
  EXPECT_TRUE(ledger.Balanced());
}

TEST(PyTorchEtTest, AttributesKeepTheirKinds) {
  const std::string text = Nested(
      "1.0.4-chakra.0.0.4",
      R"({"id":3,"name":"x","ctrl_deps":2,"inputs":{"values":[1],"shapes":[[]],"types":["Int"],)"
      R"("strides":[[2]]},"attrs":[{"name":"rf_id","type":"uint64","value":18446744073709551615},)"
      R"({"name":"kernel_file","type":"string","value":"a\\b"},)"
      R"({"name":"big","type":"uint64","value":17093776592125785438},)"
      R"({"value":-3,"type":"int64","name":"small"},{"name":"ratio","type":"double","value":0.25},)"
      R"({"name":"yes","type":"bool","value":true},{"name":"list","type":"x","value":[1, {}]}],)"
      R"("exclusive_dur":17,"cat":"kernel","ts":20.5,"inclusive_dur":17,"stream":7})");
  ASSERT_OK_AND_ASSIGN(const PyTorchEt et, Read(text));
  EXPECT_EQ(et.ops[2].rf_id, UINT64_MAX);
  EXPECT_EQ(et.ops[1].scope, 7u);
  const ChakraProtoMsg::Node cold = ColdOf(et, 2);
  std::map<std::string, ChakraProtoMsg::AttributeProto> by_name;
  for (const auto& attribute : cold.attr()) by_name[attribute.name()] = attribute;
  EXPECT_EQ(by_name["rf_id"].uint64_val(), UINT64_MAX);
  EXPECT_EQ(by_name["kernel_file"].string_val(), "a\\b");
  EXPECT_EQ(by_name["big"].uint64_val(), 17093776592125785438u);
  EXPECT_EQ(by_name["small"].int64_val(), -3);
  EXPECT_EQ(by_name["ratio"].double_val(), 0.25);
  EXPECT_TRUE(by_name["yes"].bool_val());
  EXPECT_EQ(by_name["list"].string_val(), "[1, {}]");
  EXPECT_EQ(by_name["exclusive_dur"].int64_val(), 17);
  EXPECT_EQ(by_name["cat"].string_val(), "kernel");
  EXPECT_EQ(by_name.count("ts"), 0u);  // A column.
  ASSERT_THAT(et.linked, SizeIs(1));
  EXPECT_EQ(et.linked[0].op, 2u);
  EXPECT_EQ(et.linked[0].device, EtDevice::kKernel);
  EXPECT_EQ(et.linked[0].stream, 7);
  EXPECT_EQ(et.linked[0].start_ns, 20'500);
  EXPECT_EQ(et.linked[0].dur_ns, 17'000);
  EXPECT_EQ(by_name["input_strides"].string_val(), "[[2]]");
}

TEST(PyTorchEtTest, NotNumbersAreRefusedOrWhenLenientKeptAsRecorded) {
  Ledger ledger;
  const std::string file =
      Flat(R"({"name":"fill","id":3,"parent":2,"inputs":[1,-Infinity,NaN],"loss":nan})");
  EXPECT_THAT(Read(file, &ledger),
              StatusIs(kInvalid, "3 numbers are NaN or infinite, of which this is the first"));
  ledger = Ledger();
  ASSERT_OK_AND_ASSIGN(const PyTorchEt et, Read(file, &ledger, {.lenient = true}));
  const ChakraProtoMsg::Node cold = ColdOf(et, 1);
  EXPECT_EQ(cold.inputs().values(), "[1,-Infinity,NaN]");
  EXPECT_NE(cold.attr(7).double_val(), cold.attr(7).double_val());
  EXPECT_EQ(ledger.flaws_by_rule["not_a_number"], 1);
}

TEST(PyTorchEtTest, VersionsAreReadNoticedOrRefused) {
  for (const char* schema : {"1.0.2-chakra.0.0.4", "1.0.3", "1.0.4-chakra.9", "1.1.0-chakra.0.0.4",
                             "1.1.1-chakra.1.0.0"}) {
    Ledger ledger;
    EXPECT_THAT(Read(Nested(schema, ""), &ledger), IsOk()) << schema;
    EXPECT_THAT(ledger.notices, IsEmpty()) << schema;
  }
  for (const char* schema : {"1.1.2-chakra.0.0.4", "1.2.0", "1.10.0"}) {
    Ledger ledger;
    EXPECT_THAT(Read(Nested(schema, ""), &ledger), IsOk()) << schema;
    EXPECT_THAT(ledger.notices, ElementsAre(HasSubstr("newer than 1.1.1"))) << schema;
  }
  for (const char* schema : {"2.0.0", "0.9.0", "1.0.0", "1.1", "1.x.0", "", "chakra"}) {
    EXPECT_THAT(Read(Nested(schema, "")),
                StatusIs(kInvalid, "is not supported; supported are 1.0.1, 1.0.2"))
        << schema;
  }
}

TEST(PyTorchEtTest, ParamCommsOfSchema101) {
  ASSERT_OK_AND_ASSIGN(
      const PyTorchEt et,
      Read(Flat(FlatCall(
          3, "record_param_comms",
          R"([[718,715,0,6144,4,"cuda:0"],147,94594108284448,5,"all_to_allv",[768,5376],[6000,144]])",
          "[[6144],[],[],[],[],[[],[]],[[],[]]]",
          R"J(["Tensor(float)","Int","Int","Int","String","GenericList[Int,Int]","x"])J",
          R"([[723,724,0,6144,4,"cuda:0"]])"))));
  const CommArgs& args = CommOfLast(et);
  EXPECT_EQ(args.op, "all_to_allv");
  EXPECT_EQ(args.in_bytes, 24576);
  EXPECT_EQ(args.out_bytes, 24576);
  EXPECT_EQ(args.in_elements, 6144);
  EXPECT_EQ(args.dtype, "float");
  EXPECT_EQ(args.input_dims, 1);
  EXPECT_THAT(args.in_splits, ElementsAre(768, 5376));
  EXPECT_THAT(args.out_splits, ElementsAre(6000, 144));
  EXPECT_EQ(args.sequence, 147);
  EXPECT_EQ(args.group_name, "");
  EXPECT_EQ(args.group_address, 94594108284448u);
  EXPECT_EQ(et.rank, kNoRank);  // 5 may be the rank in a group.

  ASSERT_OK_AND_ASSIGN(
      const PyTorchEt wait,
      Read(Flat(FlatCall(3, "record_param_comms", R"([141,0,0,"wait",[],[]])", "[]", "[]", "[]"))));
  EXPECT_EQ(CommOfLast(wait).op, "wait");
  EXPECT_EQ(CommOfLast(wait).sequence, 141);
  EXPECT_EQ(CommOfLast(wait).in_bytes, kNotStated);
}

TEST(PyTorchEtTest, ParamCommsOfSchema103NameTheirGroup) {
  const std::string call = NestedCall(
      3, "record_param_comms",
      R"([[[5,4,0,12,4,"cuda:0"],[6,4,0,3,8,"cuda:0"]],33,["0","default_pg"],2,"broadcast",[],[],0,1,4])",
      R"(["GenericList[Tensor(float),Tensor(long int)]"])", "");
  ASSERT_OK_AND_ASSIGN(const PyTorchEt et, Read(Nested("1.0.3-chakra.0.0.4", call)));
  const CommArgs& args = CommOfLast(et);
  EXPECT_EQ(args.op, "broadcast");
  EXPECT_EQ(args.in_bytes, 12 * 4 + 3 * 8);  // A list is summed.
  EXPECT_EQ(args.in_elements, 15);
  EXPECT_EQ(args.input_dims, 2);  // [3,4]
  EXPECT_EQ(args.group_name, "0");
  EXPECT_EQ(args.group_description, "default_pg");
  EXPECT_EQ(args.root, 2);
  EXPECT_EQ(args.global_rank_start, 0);
  EXPECT_EQ(args.global_rank_stride, 1);
  EXPECT_EQ(args.group_size, 4);
  EXPECT_EQ(et.rank, kNoRank);  // 2 is the root.

  // In an all-reduce of the whole job it is the caller's own rank.
  ASSERT_OK_AND_ASSIGN(
      const PyTorchEt own,
      Read(Nested("1.0.3", absl::StrReplaceAll(call, {{"\"broadcast\"", "\"allreduce\""}}))));
  EXPECT_EQ(CommOfLast(own).op, "all_reduce");
  EXPECT_EQ(own.rank, 2);
  // Point to point it is the peer; newer versions pair the sequence with a flag.
  ASSERT_OK_AND_ASSIGN(
      const PyTorchEt send,
      Read(Nested("1.1.0", absl::StrReplaceAll(
                               call, {{"\"broadcast\"", "\"send\""}, {",33,", ",[33,true],"}}))));
  EXPECT_EQ(CommOfLast(send).peer, 2);
  EXPECT_EQ(CommOfLast(send).sequence, 33);
}

TEST(PyTorchEtTest, AttributesOfParamCommsStandOverTheArguments) {
  const std::string call =
      NestedCall(3, "record_param_comms", R"([[[5,4,0,12,4,"cuda:0"]],33,["1","tp"],0,"x"])", "[]",
                 R"({"name":"collective_name","type":"string","value":"_allgather_base"},)"
                 R"({"name":"dtype","type":"string","value":"BFloat16"},)"
                 R"({"name":"in_msg_nelems","type":"uint64","value":1024},)"
                 R"({"name":"out_msg_nelems","type":"uint64","value":4096},)"
                 R"({"name":"in_split_size","type":"string","value":"[1, 2, ...]"},)"
                 R"({"name":"pg_name","type":"string","value":"1"},)"
                 R"({"name":"pg_size","type":"uint64","value":4})");
  ASSERT_OK_AND_ASSIGN(const PyTorchEt et, Read(Nested("1.1.0-chakra.0.0.4", call)));
  const CommArgs& args = CommOfLast(et);
  EXPECT_EQ(args.op, "all_gather_base");
  EXPECT_EQ(args.in_bytes, 2048);
  EXPECT_EQ(args.out_bytes, 8192);
  EXPECT_EQ(args.group_name, "1");
  EXPECT_EQ(args.group_size, 4);
  EXPECT_TRUE(args.in_splits.empty());
  EXPECT_TRUE(args.splits_cut);
  EXPECT_EQ(ColdOf(et, 2).attr_size(), 7 + 7);
}

TEST(PyTorchEtTest, C10dCallsAreReadByPosition) {
  const std::string tensor = R"([[8,9,0,10,4,"cpu"]])";
  const struct {
    const char* name;
    std::string inputs;
    const char* op;
    int64_t in_bytes, out_bytes, root, peer, tag;
  } cases[] = {
      {"c10d::allreduce_", "[$,\"<Object>\",\"<Object>\",-1]", "all_reduce", 40, 40, -1, -1, -1},
      {"c10d::broadcast_", "[$,\"<Object>\",3,0,-1]", "broadcast", 40, 40, 3, -1, -1},
      {"c10d::reduce_", "[$,\"<Object>\",\"<Object>\",2,0,-1]", "reduce", 40, 40, 2, -1, -1},
      {"c10d::send", "[$,\"<Object>\",1,77]", "send", 40, -1, -1, 1, 77},
      {"c10d::recv_", "[$,\"<Object>\",5,78]", "recv", -1, 40, -1, 5, 78},
      {"c10d::recv_any_source_", "[$,\"<Object>\",79]", "recv_any_source", -1, 40, -1, -1, 79},
      {"c10d::allgather_", "[[$,$],$,\"<Object>\",-1]", "all_gather", 40, 80, -1, -1, -1},
      {"c10d::_reduce_scatter_base_", R"([[1,2,0,5,4,"cpu"],[3,4,0,10,4,"cpu"],"<Object>"])",
       "reduce_scatter_base", 40, 20, -1, -1, -1},
      {"c10d::barrier", R"([[1,2,0,1,1,"cpu"],"<Object>",[],-1])", "barrier", -1, -1, -1, -1, -1},
      {"gloo:all_reduce", R"([[8,9,0,10,4,"cpu"]])", "all_reduce", 40, -1, -1, -1, -1},
      {"nccl:send 0->1", R"([[8,9,0,10,4,"cpu"]])", "send", 40, -1, -1, 1, -1},
      {"_c10d_functional::all_reduce", R"([[8,9,0,10,4,"cpu"],"sum","7"])", "all_reduce", 40, -1,
       -1, -1, -1},
  };
  for (const auto& c : cases) {
    const std::string inputs = absl::StrReplaceAll(c.inputs, {{"$", tensor}});
    ASSERT_OK_AND_ASSIGN(
        const PyTorchEt et,
        Read(Flat(FlatCall(3, c.name, inputs, "[[[5,2]]]", "[\"Tensor(float)\"]", "[]"))));
    const CommArgs& args = CommOfLast(et);
    EXPECT_EQ(args.op, c.op);
    EXPECT_EQ(args.in_bytes, c.in_bytes) << c.name;
    EXPECT_EQ(args.out_bytes, c.out_bytes) << c.name;
    EXPECT_EQ(args.root, c.root) << c.name;
    EXPECT_EQ(args.peer, c.peer) << c.name;
    EXPECT_EQ(args.tag, c.tag) << c.name;
  }
}

TEST(PyTorchEtTest, SplitsOfAllToAllBaseComeFromTheirPlaces) {
  ASSERT_OK_AND_ASSIGN(
      const PyTorchEt et,
      Read(Flat(FlatCall(3, "c10d::alltoall_base_",
                         R"([[1,2,0,7,4,"cpu"],[3,4,0,5,4,"cpu"],"<Object>",[3,4],[1,4],-1])",
                         "[[7],[5]]", R"J(["Tensor(float)","Tensor(float)"])J", "[]"))));
  const CommArgs& args = CommOfLast(et);
  EXPECT_EQ(args.in_bytes, 20);
  EXPECT_EQ(args.out_bytes, 28);
  EXPECT_THAT(args.out_splits, ElementsAre(3, 4));
  EXPECT_THAT(args.in_splits, ElementsAre(1, 4));
}

TEST(PyTorchEtTest, TheGroupTableIsRead) {
  const std::string table =
      R"([{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"ranks\": [], \"group_size\": 3}, )"
      R"({\"pg_name\": \"1\", \"pg_desc\": \"tp\", \"ranks\": [2, 0]})";
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(
      const PyTorchEt et,
      Read(Nested("1.1.0", NestedCall(3, "## process_group:init ##",
                                      absl::StrCat("[\"", table, "\"]"), "[\"String\"]", "")),
           &ledger));
  EXPECT_EQ(CommOfLast(et).op, "init");
  ASSERT_THAT(et.groups, SizeIs(2));
  EXPECT_THAT(et.groups[0].ranks, ElementsAre(0, 1, 2));
  EXPECT_THAT(et.groups[1].ranks, ElementsAre(2, 0));
  EXPECT_EQ(et.world_size, 3);
  EXPECT_THAT(ledger.notices, ElementsAre(HasSubstr("2 complete entries")));  // No "]".
}

TEST(PyTorchEtTest, FaultyNodesAreNamed) {
  const std::string mm = R"({"name":"aten::mm","id":3,"parent":2})";
  const std::pair<std::string, const char*> cases[] = {
      {absl::StrCat(mm, ",", mm),
       "record 2, node 3 (aten::mm): id: 3 is used twice, first by "
       "aten::mm at byte offset "},
      {R"({"name":"a","id":3,"parent":99},{"name":"b","id":4,"parent":98})",
       "parent 99 is not in the file; node 4 (b) at byte offset "},
      {R"({"name":"a","parent":2})", "id: missing"},
      {R"({"id":3,"parent":2})", "name: missing"},
      {R"({"name":"a","id":3})", "parent: missing"},
      {R"({"name":5,"id":3,"parent":2})", "name: 5 is not a string"},
      {R"({"name":"a","id":-3,"parent":2})", "id: -3 is not an integer of 64 bits without sign"},
      {R"({"name":"a","id":3.5,"parent":2})", "id: 3.5 is not an integer"},
      {R"({"name":"a","id":"x","parent":2})", "id: x is not an integer"},
      {R"({"name":"a","id":3,"parent":2,"scope":4294967296})", "scope: 4294967296 is not"},
      {R"({"name":"a","id":18446744073709551616,"parent":2})", "does not fit 64 bits"},
      {R"({"name":"a","id":3,"parent":2,"attrs":[{"name":"x"}]})", "attrs: x has no value"},
      {R"({"name":"a","id":3,"parent":2,"attrs":[{"value":1}]})", "attrs: an entry has no name"},
      {R"({"name":"a","id":3,"parent":2,"attrs":{}})", "attrs: is not a list"},
      {R"({"name":"a","id":3,"parent":2,"x":1,"x":2})", "x: is there twice"},
      {R"({"name":"a","id":3,"parent":2,"chakrad.start_ns":1})", "the prefix is reserved"},
      {R"({"name":"a","id":3,"parent":2,"comm_size":"big"})",
       "comm_size: big is not an integer that is not negative"},
      {R"(17)", "a node is not an object"},
      {FlatCall(3, "gloo:x", R"([[1,2,0,9223372036854775807,4,"cpu"]])", "[]", "[]", "[]"),
       "the tensors' bytes do not fit 63 bits"},
      {FlatCall(3, "gloo:x", R"([[1,2,0,-5,4,"cpu"]])", "[]", "[]", "[]"),
       "a tensor's number of elements is not in [0, 2^63)"},
  };
  for (const auto& [nodes, part] : cases) {
    EXPECT_THAT(Read(Flat(nodes)), StatusIs(kInvalid, part));
    EXPECT_THAT(Read(Flat(nodes)), StatusIs(kInvalid, "byte offset "));
  }
}

TEST(PyTorchEtTest, ManyMissingParentsAreCounted) {
  std::string nodes;
  for (int id = 10; id < 35; ++id) {
    absl::StrAppend(&nodes, id == 10 ? "" : ",", R"({"name":"a","id":)", id, R"(,"parent":999})");
  }
  EXPECT_THAT(Read(Flat(nodes)), StatusIs(kInvalid, "25 such nodes in all"));
}

TEST(PyTorchEtTest, DocumentsOfAnotherKindAreRefused) {
  EXPECT_THAT(Read("[]"), StatusIs(kInvalid, "a list, not the object"));
  EXPECT_THAT(Read("{}"), StatusIs(kInvalid, "nodes: missing"));
  EXPECT_THAT(Read(R"({"nodes":[]})"), StatusIs(kInvalid, "schema: missing"));
  EXPECT_THAT(Read(R"({"nodes":{}})"), StatusIs(kInvalid, "expected a list"));
  EXPECT_THAT(Read(R"({"schema":7,"nodes":[]})"), StatusIs(kInvalid, "schema: 7 is not a string"));
  EXPECT_THAT(Read(R"({"schema":"1.0.1","nodes":[],"nodes":[]})"),
              StatusIs(kInvalid, "nodes: is there twice"));
}

TEST(PyTorchEtTest, TheLastGoodNodeIsNamedWhereTheJsonBreaks) {
  EXPECT_THAT(Read(R"({"schema":"1.0.1","nodes":[{"name":"p","id":1,"parent":1},{"name":"a",,}]})"),
              StatusIs(kInvalid, "extra comma; the last good node is 1"));
}

TEST(PyTorchEtTest, AFileCutAtAnyByteIsAnError) {
  const std::string text = Nested("1.0.3", NestedCall(3, "gloo:x", R"([[1,2,0,5,4,"cpu"]])", "[]",
                                                      R"({"name":"a","value":1})"));
  for (size_t cut = 0; cut < text.size(); ++cut) {
    EXPECT_THAT(Read(text.substr(0, cut)), StatusIs(kInvalid, "byte offset ")) << cut;
  }
}

TEST(PyTorchEtTest, AnyByteMayBeDamaged) {
  const std::string text =
      Flat(FlatCall(3, "gloo:x", R"([[1,2,0,5,4,"cpu"]])", "[[5]]", R"(["Int"])", "[]"));
  ASSERT_THAT(Read(text), IsOk());
  for (size_t at = 0; at < text.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = text;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      const absl::Status status = Read(damaged).status();
      EXPECT_TRUE(status.ok() || status.code() == kInvalid) << status << "\n" << damaged;
    }
  }
}

// Of tests/data/collected, counted with another program.
TEST(PyTorchEtTest, RealFilesAreReadWhole) {
  const struct {
    const char* path;
    size_t nodes;
    std::map<std::string, int> comm;
  } cases[] = {
      {"mlp_dp/w2/rank0", 673, {{"all_reduce", 12}, {"broadcast", 4}}},
      {"dlrm/w4/rank3", 2109, {{"all_reduce", 4}, {"all_to_all", 4}, {"broadcast", 4}}},
      {"transformer_dp_tp/w4/rank2", 5839, {{"all_reduce", 40}, {"broadcast", 4}}},
      {"transformer_pp/w2/rank0", 10588, {{"recv", 16}, {"send", 16}}},
  };
  for (const auto& c : cases) {
    Ledger ledger;
    ASSERT_OK_AND_ASSIGN(const auto source, OpenFileSource(absl::StrCat("tests/data/collected/",
                                                                        c.path, ".et.json.gz")));
    ASSERT_OK_AND_ASSIGN(const PyTorchEt et, ReadPyTorchEt(source.get(), ReadOptions(), &ledger));
    EXPECT_THAT(et.ops, SizeIs(c.nodes)) << c.path;
    EXPECT_EQ(ledger.kept, static_cast<int64_t>(c.nodes)) << c.path;
    EXPECT_TRUE(ledger.Balanced());
    std::map<std::string, int> comm;
    for (const CommArgs& args : et.comm_args) ++comm[args.op];
    EXPECT_EQ(comm, c.comm) << c.path;
  }
}

}  // namespace
}  // namespace chakrad
