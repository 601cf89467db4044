#include "tests/fuzz/fuzz_target.h"
#include "trace/readers/manifest/manifest.h"

namespace chakrad {

std::vector<std::string> FuzzSeeds() {
  return {
      R"({"world_size":4,"process_groups":{"dp0":[0,2],"tp":[0,1]},)"
      R"("files":{"a.json":0,"b.json":1},"collective_rules":[{"op":"all_reduce",)"
      R"("under":"AccumulateGrad","groups":["dp0"]}]})",
      R"({"world":2,"model":"mlp","process_groups":[{"name":"0","ranks":[0,1],"description":"x"}]})",
      R"({"1":[0,1,2,3],"2":[2,3]})",
  };
}

bool FuzzOne(absl::string_view bytes) {
  LooksLikeManifest(bytes);
  return ParseManifest(bytes).ok();
}

}  // namespace chakrad
