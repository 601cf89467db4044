#include "sim/system/system_description.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"

namespace chakrad {
absl::string_view SemanticsName(Semantics semantics) {
  return semantics == Semantics::kAstra ? "astra" : "physical";
}

absl::string_view NetworkBackEndName(NetworkBackEnd back_end) {
  return back_end == NetworkBackEnd::kAnalytical ? "analytical" : "link";
}

absl::string_view TopologyKindName(TopologyKind kind) {
  switch (kind) {
    case TopologyKind::kRing:
      return "Ring";
    case TopologyKind::kFullyConnected:
      return "FullyConnected";
    case TopologyKind::kSwitch:
      return "Switch";
    case TopologyKind::kMesh:
      return "Mesh";
  }
  return "unknown";
}

absl::string_view AlgorithmKindName(AlgorithmKind kind) {
  switch (kind) {
    case AlgorithmKind::kRing:
      return "ring";
    case AlgorithmKind::kDirect:
      return "direct";
    case AlgorithmKind::kHalvingDoubling:
      return "halvingDoubling";
    case AlgorithmKind::kDoubleBinaryTree:
      return "doubleBinaryTree";
    case AlgorithmKind::kScript:
      return "script";
  }
  return "unknown";
}

bool ParseAlgorithm(absl::string_view text, AlgorithmChoice* choice) {
  for (const AlgorithmKind kind :
       {AlgorithmKind::kRing, AlgorithmKind::kHalvingDoubling, AlgorithmKind::kDoubleBinaryTree}) {
    if (text != AlgorithmKindName(kind)) continue;
    *choice = {kind, -1};
    return true;
  }
  if (!absl::ConsumePrefix(&text, "direct")) return false;
  int32_t window = -1;
  if (!text.empty() && (!absl::SimpleAtoi(text, &window) || window < 1)) return false;
  *choice = {AlgorithmKind::kDirect, window};
  return true;
}

double BytesPerNsOfGibPerSec(double gib_per_sec) {
  constexpr double kBytesPerGib = 1024.0 * 1024.0 * 1024.0;
  constexpr double kNsPerSec = 1e9;
  return gib_per_sec * kBytesPerGib / kNsPerSec;
}

int64_t NpusCount(const SystemDescription& system) {
  int64_t npus_count = 1;
  for (const NetworkDim& dim : system.dims) npus_count *= dim.npus_count;
  return npus_count;
}

std::string DescribeTopology(const SystemDescription& system) {
  return absl::StrCat(NpusCount(system), " NPUs: ",
                      absl::StrJoin(system.dims, " x ", [](std::string* out, const NetworkDim& d) {
                        absl::StrAppend(out, TopologyKindName(d.topology), " ", d.npus_count);
                      }));
}

}  // namespace chakrad
