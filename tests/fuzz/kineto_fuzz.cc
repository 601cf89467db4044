#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "tests/fuzz/fuzz_target.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/kineto/kineto.h"

namespace chakrad {

std::vector<std::string> FuzzSeeds() {
  const std::string host =
      R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":4,"tid":5,"ts":100.125,"dur":40,)"
      R"("args":{"External id":7,"Record function id":9,"Sequence number":3,"Fwd thread id":0}})";
  const std::string launch =
      R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":4,"tid":5,"ts":110,)"
      R"("dur":5,"args":{"correlation":12,"External id":7}})";
  const std::string kernel =
      R"({"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_f32_RING_LL",)"
      R"("pid":0,"tid":7,"ts":120,"dur":31.5,"args":{"device":0,"stream":7,"correlation":12,)"
      R"("Collective name":"allreduce","In msg nelems":1024,"Out msg nelems":1024,"Group size":2,)"
      R"("dtype":"Float","Process Group Name":"0","Process Group Description":"default_pg",)"
      R"("Process Group Ranks":"[0, 1]","In split size":"[]","Out split size":"[]"}})";
  const std::string sync =
      R"({"ph":"X","cat":"cuda_sync","name":"Stream Sync","pid":4,"tid":5,"ts":160,"dur":9,)"
      R"("args":{"stream":7,"correlation":13,"wait_on_stream":7,"wait_on_cuda_event_id":3}})";
  const std::string others =
      R"({"ph":"B","cat":"cpu_op","name":"x","pid":4,"tid":5,"ts":1},)"
      R"({"ph":"E","pid":4,"tid":5,"ts":2},{"ph":"s","id":1,"cat":"ac2g","ts":"3"},)"
      R"({"ph":"M","name":"thread_name","args":{"name":"t"}},{"ph":"i","ts":4,"s":"g"})";
  return {
      absl::StrCat(R"({"schemaVersion":1,"baseTimeNanoseconds":1700000000000000000,)",
                   R"("distributedInfo":{"backend":"nccl","rank":1,"world_size":2,"pg_config":)",
                   R"([{"pg_name":"0","pg_desc":"default_pg","ranks":[0,1],"pg_size":2}]},)",
                   R"("traceEvents":[)", host, ",", launch, ",", kernel, ",", sync, ",", others,
                   R"(],"traceName":"a"})"),
      absl::StrCat("[", host, ",", kernel, "]"),
      R"({"traceEvents":[]})",
  };
}

bool FuzzOne(absl::string_view bytes) {
  const auto source = OpenMemorySource(bytes);
  Ledger ledger;
  const auto trace = ReadKineto(source.get(), &ledger);
  if (trace.ok()) CHECK(ledger.Balanced()) << ledger.input_records;
  return trace.ok();
}

}  // namespace chakrad
