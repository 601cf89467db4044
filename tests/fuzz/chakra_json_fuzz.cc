#include "common/check.h"
#include "tests/fuzz/fuzz_target.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/chakra_json/chakra_json.h"

namespace chakrad {

std::vector<std::string> FuzzSeeds() {
  const std::string metadata =
      R"x({"version":"0.0.4","attr":[{"name":"schema","string_val":"1.0.2-chakra.0.0.4"}]})x";
  const std::string nodes[] = {
      R"x({"id":"1","name":"aten::mm","type":"COMP_NODE","duration_micros":"7","inputs":{"values":)x"
      R"x("[1]","shapes":"[[]]","types":"['Int']"},"attr":[{"name":"is_cpu_op","bool_val":true},)x"
      R"x({"name":"mine","double_list":{"values":[0.5,"NaN"]}},{"name":"b","bytes_val":"AAE="}]})x",
      R"x({"id":2,"name":"k","type":7,"dataDeps":["1"],"ctrl_deps":[1],"attr":[{"name":"comm_type",)x"
      R"x("int64Val":"5"},{"name":"comm_size","uint64_val":64}]})x",
  };
  return {
      R"x({"chakra_metadata":)x" + metadata + R"x(,"chakra_nodes":[)x" + nodes[0] + "," + nodes[1] +
          "]}",
      metadata + nodes[0] + "\n" + nodes[1],
      R"x({"workload_graph":[{"Id":1,"Name":"a","NodeType":4,"is_cpu_op":true,"runtime":5,)x"
      R"x("data_deps":[],"tensor_size":64},{"Id":2,"Name":"c","NodeType":7,"is_cpu_op":false,)x"
      R"x("data_deps":[1],"comm_type":0,"comm_size":4096,"comm_src":-1,"comm_dst":-1,"comm_tag":0}]})x",
  };
}

bool FuzzOne(absl::string_view bytes) {
  bool accepted = false;
  for (const bool lenient : {false, true}) {
    const auto source = OpenMemorySource(bytes);
    Ledger ledger;
    const auto rank = ReadChakraJson(source.get(), {.lenient = lenient}, &ledger);
    if (rank.ok()) CHECK(ledger.Balanced()) << ledger.input_records;
    accepted |= rank.ok() && !lenient;
  }
  return accepted;
}

}  // namespace chakrad
