#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "tests/fuzz/fuzz_target.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/pytorch_et/pytorch_et.h"

namespace chakrad {

std::vector<std::string> FuzzSeeds() {
  const std::string flat =
      R"x({"name":"aten::mm","id":3,"rf_id":4,"parent":2,"fw_parent":0,"seq_id":-1,"scope":0,)x"
      R"x("tid":1,"fw_tid":0,"op_schema":"aten::mm(Tensor self) -> Tensor","inputs":)x"
      R"x([[5,6,0,128,4,"cuda:0"],1.5,"s",[1,2],null,true],"input_shapes":[[64,2],[],[],[],[],[]],)x"
      R"x("input_types":["Tensor(float)","Double","String","GenericList[Int,Int]","None","Bool"],)x"
      R"x("outputs":[[7,8,0,64,4,"cpu"]],"output_shapes":[[64]],"output_types":["Tensor(float)"]})x";
  const auto root = [](int id, int parent, absl::string_view what) {
    return absl::StrCat(
        R"x({"name":"[pytorch|profiler|execution_graph|)x", what, R"x(]","id":)x", id,
        R"x(,"rf_id":0,"parent":)x", parent,
        R"x(,"fw_parent":0,"seq_id":-1,"scope":7,"tid":1,"fw_tid":0,"op_schema":"",)x"
        R"x("inputs":[],"input_shapes":[],"input_types":[],"outputs":[],)x"
        R"x("output_shapes":[],"output_types":[]})x");
  };
  const auto nested = [](int id, int parent, absl::string_view name, absl::string_view inputs,
                         absl::string_view attrs) {
    return absl::StrCat(
        R"x({"id":)x", id, R"x(,"name":")x", name, R"x(","ctrl_deps":)x", parent, R"x(,"inputs":)x",
        inputs,
        R"x(,"outputs":{"values":[],"shapes":[],"types":[],"strides":[]},"attrs":[)x"
        R"x({"name":"rf_id","type":"uint64","value":)x",
        id,
        R"x(},{"name":"fw_parent","type":"uint64","value":0},)x"
        R"x({"name":"seq_id","type":"int64","value":-1},{"name":"scope","type":"uint64","value":7},)x"
        R"x({"name":"tid","type":"uint64","value":1},{"name":"fw_tid","type":"uint64","value":0},)x"
        R"x({"name":"op_schema","type":"string","value":""})x",
        attrs, "]}");
  };
  constexpr char kNone[] = R"x({"values":[],"shapes":[],"types":[],"strides":[]})x";
  return {
      absl::StrCat(R"x({"schema":"1.0.1","pid":1,"time":"2024","start_ts":1,"nodes":[)x", flat, ",",
                   root(2, 1, "thread"), ",", root(1, 1, "process"), R"x(],"finish_ts":2})x"),
      absl::StrCat(
          R"x({"schema":"1.1.1-chakra.0.0.4","pid":1,"time":"2024","start_ts":1,"nodes":[)x",
          nested(1, 1, "[pytorch|profiler|execution_trace|process]", kNone, ""), ",",
          nested(2, 1, "[pytorch|profiler|execution_trace|thread]", kNone, ""), ",",
          nested(3, 2, "## process_group:init ##",
                 R"x({"values":["[{\"pg_name\":\"0\",\"pg_desc\":\"default_pg\",\"ranks\":[0,1],)x"
                 R"x(\"group_size\":2}]"],"shapes":[[]],"types":["String"]})x",
                 ""),
          ",",
          nested(
              4, 2, "record_param_comms",
              R"x({"values":[[[5,6,0,64,4,"cuda:0"]],3,["0","default_pg"],0,"allreduce",[],[],0,)x"
              R"x(1,2],"shapes":[],"types":[]})x",
              R"x(,{"name":"collective_name","type":"string","value":"allreduce"},)x"
              R"x({"name":"in_msg_nelems","type":"uint64","value":64},)x"
              R"x({"name":"out_msg_nelems","type":"uint64","value":64},)x"
              R"x({"name":"dtype","type":"string","value":"Float"},)x"
              R"x({"name":"in_split_size","type":"string","value":"[1,2]"},)x"
              R"x({"name":"pg_name","type":"string","value":"0"},)x"
              R"x({"name":"pg_size","type":"int64","value":2},)x"
              R"x({"name":"global_rank_start","type":"uint64","value":0})x"),
          ",",
          nested(5, 2, "c10d::send",
                 R"x({"values":[[[5,6,0,64,4,"cpu"]],"<Object>",1,7],"shapes":[],"types":[]})x",
                 ""),
          R"x(],"finish_ts":2})x"),
  };
}

bool FuzzOne(absl::string_view bytes) {
  bool accepted = false;
  for (const bool lenient : {false, true}) {
    const auto source = OpenMemorySource(bytes);
    Ledger ledger;
    const auto trace = ReadPyTorchEt(source.get(), {.lenient = lenient}, &ledger);
    if (trace.ok()) CHECK(ledger.Balanced()) << ledger.input_records;
    accepted |= trace.ok() && !lenient;
  }
  return accepted;
}

}  // namespace chakrad
