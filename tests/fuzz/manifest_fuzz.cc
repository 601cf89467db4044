#include "tests/fuzz/fuzz_target.h"
#include "trace/readers/manifest/manifest.h"

namespace chakrad {

std::vector<std::string> FuzzSeeds() {
  return {
      R"({"world_size":4,"process_groups":{"dp0":[0,2],"tp":{"ranks":[0,1],"desc":"x"}},)"
      R"("files":{"a.json":0,"b.json":1},"collective_rules":[{"op":"all_reduce",)"
      R"("under":"AccumulateGrad","groups":["dp0"]}]})",
      R"({"world":2,"model":"mlp","process_groups":[{"pg_name":"0","ranks":[0,1]}]})",
  };
}

}  // namespace chakrad

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  chakrad::LooksLikeManifest(text);
  const auto manifest = chakrad::ParseManifest(text);
  return manifest.ok() ? 0 : 0;
}
