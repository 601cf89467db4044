#include "common/check.h"
#include "tests/fuzz/fuzz_target.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/chakra_et/chakra_et.h"
#include "trace/readers/testing/chakra_file_test_util.h"

namespace chakrad {

std::vector<std::string> FuzzSeeds() {
  return {
      ChakraFile(R"(version: "0.0.4" attr { name: "schema" string_val: "1.0.2-chakra.0.0.4" }
                    attr { name: "chakrad.rank" int64_val: 3 })",
                 {R"(id: 1 name: "aten::mm" type: COMP_NODE duration_micros: 7 start_time_micros: 4
                     inputs { values: "[1]" shapes: "[[]]" types: "['Int']" }
                     attr { name: "is_cpu_op" bool_val: true } attr { name: "tid" uint64_val: 9 }
                     attr { name: "num_ops" sint64_val: 5 }
                     attr { name: "mine" double_list { values: 0.5 values: -1 } })",
                  R"(id: 2 name: "k" type: COMM_COLL_NODE ctrl_deps: 1 data_deps: 1
                     attr { name: "is_cpu_op" bool_val: false }
                     attr { name: "comm_type" int64_val: 5 } attr { name: "comm_size" fixed64_val: 64 }
                     attr { name: "pg_name" string_val: "0" }
                     attr { name: "involved_dim" bool_list { values: true values: false } })",
                  R"(id: 3 name: "s" type: COMM_SEND_NODE data_deps: 2
                     attr { name: "comm_size" uint32_val: 8 } attr { name: "comm_dst" int32_val: 1 }
                     attr { name: "comm_tag" uint64_val: 2 })",
                  R"(id: 4 name: "m" type: MEM_LOAD_NODE data_deps: 2
                     attr { name: "tensor_size" uint64_val: 4096 })"}),
  };
}

bool FuzzOne(absl::string_view bytes) {
  bool accepted = false;
  for (const bool lenient : {false, true}) {
    const auto source = OpenMemorySource(bytes);
    Ledger ledger;
    const auto trace = ReadChakraEt(source.get(), {.lenient = lenient}, &ledger);
    if (trace.ok()) CHECK(ledger.Balanced()) << ledger.input_records;
    accepted |= trace.ok() && !lenient;
  }
  return accepted;
}

}  // namespace chakrad
