#include "common/check.h"
#include "tests/fuzz/fuzz_target.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/flexflow/flexflow.h"

namespace chakrad {

std::vector<std::string> FuzzSeeds() {
  return {
      R"x(digraph taskgraph {
  node0 [color=red,label="{device_id=0|Dense_100|Forward|COMP_NODE|simulated_run_time=0.0205856}",shape=record];
  node0 -> node1; // to the link
  node1 [label="{device_id=4|Comm from 0 to 1|Comm|COMM_SEND_RECV_NODE|src_device_id=0|dst_device_id=1|comm_size=4096|run_time=0.5}"]
  node1 -> node2 [style=dotted];
  node2 [label="{device_id=1|Dense_101|Backward|COMP_NODE|simulated_run_time=1e-3}",shape=record];
  node0 -> node2 -> node3; /* a chain */
  node3 [label="{device_id=1|Barrier|Barrier|COMP_NODE|simulated_run_time=0}",shape=record];
}
)x",
      R"x(digraph taskgraph {
  node0 [label="{ Dense \"a\" | Forward | { 0 | 1.25 } }",shape=record];
  node1 [label="{ Dense_1 | Comm | { 1.25 | 2.5 } }",shape=record];
  node0 -> node1;
})x",
  };
}

bool FuzzOne(absl::string_view bytes) {
  bool accepted = false;
  for (const bool lenient : {false, true}) {
    const auto source = OpenMemorySource(bytes);
    Ledger ledger;
    const auto ranks = ReadFlexFlow(source.get(), {.lenient = lenient}, &ledger);
    if (ranks.ok()) CHECK(ledger.Balanced()) << ledger.input_records;
    accepted |= ranks.ok() && !lenient;
  }
  return accepted;
}

}  // namespace chakrad
