#include "common/check.h"
#include "tests/fuzz/fuzz_target.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/kineto/kineto.h"
#include "trace/readers/pytorch_et/pytorch_et.h"
#include "trace/readers/repair/repair_source.h"

namespace chakrad {

std::vector<std::string> FuzzSeeds() {
  return {
      R"x({"schema":"1.0.1","pid":1,"nodes":[{"name":"a","id":3,"rf_id":4,"parent":2,)x"
      R"x("fw_parent":0,"seq_id":-1,"scope":0,"tid":1,"fw_tid":0,"op_schema":"","inputs":[NaN,1],)x"
      R"x("input_shapes":[],"input_types":[],"outputs":[],"output_shapes":[],"output_types":[]},,)x"
      R"x({"name":"p","id":2,"rf_id":0,"parent":2,"fw_parent":0,"seq_id":-1,"scope":0,"tid":1,)x"
      R"x("fw_tid":0,"op_schema":"","inputs":[],"input_shapes":[],"input_types":[],"outputs":[],)x"
      R"x("output_shapes":[],"output_types":[]} {"name":"q","id":7,"pare)x",
      R"x({"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a "quoted" name","ts":1,"dur":2,"tid":3},)x"
      R"x({"ph":"X","cat":"cpu_op","name":"b","ts":4,"dur":-Infinity,"tid":3},]})x",
  };
}

namespace {

// A copy, since each reader wants a source of its own.
std::unique_ptr<ByteSource> Repaired(absl::string_view bytes, RepairReport* report) {
  return OpenRepairSource(OpenMemorySource(bytes), report);
}

}  // namespace
}  // namespace chakrad

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  {
    chakrad::RepairReport report;
    chakrad::Ledger ledger;
    const auto source = chakrad::Repaired(bytes, &report);
    const auto et = chakrad::ReadPyTorchEt(source.get(), {.lenient = true}, &ledger);
    report.AddTo(&ledger);
    if (et.ok()) CHECK(ledger.Balanced()) << ledger.input_records;
  }
  {
    chakrad::RepairReport report;
    chakrad::Ledger ledger;
    const auto source = chakrad::Repaired(bytes, &report);
    const auto kineto = chakrad::ReadKineto(source.get(), &ledger);
    report.AddTo(&ledger);
    if (kineto.ok()) CHECK(ledger.Balanced()) << ledger.input_records;
  }
  return 0;
}
