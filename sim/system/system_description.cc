#include "sim/system/system_description.h"

#include <bit>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/limits.h"

namespace chakrad {
namespace {

using Faults = std::vector<std::string>;

void CheckRange(absl::string_view field, int64_t value, int64_t low, int64_t high, Faults* faults) {
  if (value < low || value > high) {
    faults->push_back(absl::StrCat(field, ": ", value, " is not in [", low, ", ", high, "]"));
  }
}

void CheckPositive(absl::string_view field, double value, Faults* faults) {
  if (!std::isfinite(value) || value <= 0) {
    faults->push_back(absl::StrCat(field, ": ", value, " is not finite and above 0"));
  }
}

void CheckNetwork(const SystemDescription& system, Faults* faults) {
  CheckRange("dimensions", static_cast<int64_t>(system.dims.size()), 1, kMaxDims, faults);
  int64_t npus_count = 1;
  for (size_t i = 0; i < system.dims.size(); ++i) {
    const NetworkDim& dim = system.dims[i];
    CheckRange(absl::StrCat("npus_count[", i, "]"), dim.npus_count, 1, kMaxNpusCount, faults);
    CheckPositive(absl::StrCat("bandwidth[", i, "]"), dim.bytes_per_ns, faults);
    if (!std::isfinite(dim.latency_ns) || dim.latency_ns < 0) {
      faults->push_back(
          absl::StrCat("latency[", i, "]: ", dim.latency_ns, " is not finite and at least 0"));
    }
    if (npus_count <= kMaxNpusCount && dim.npus_count > 0) npus_count *= dim.npus_count;
  }
  if (npus_count > kMaxNpusCount) {
    faults->push_back(
        absl::StrCat("npus_count: the product of its entries is over ", kMaxNpusCount, " NPUs"));
  }
}

void CheckImplementation(const SystemDescription& system, absl::string_view field,
                         const CollectiveImplementation& implementation, Faults* faults) {
  const size_t want = implementation.flat ? 1 : system.dims.size();
  if (implementation.per_dim.size() != want) {
    faults->push_back(absl::StrCat(field, ": ", implementation.per_dim.size(), " entries for ",
                                   want, implementation.flat ? " flat group" : " dimensions"));
    return;
  }
  for (size_t i = 0; i < want; ++i) {
    const AlgorithmChoice& choice = implementation.per_dim[i];
    const int64_t npus_count = implementation.flat ? NpusCount(system) : system.dims[i].npus_count;
    const bool power_of_two = npus_count > 0 && std::has_single_bit(uint64_t(npus_count));
    const bool needs_it = choice.kind == AlgorithmKind::kHalvingDoubling ||
                          choice.kind == AlgorithmKind::kDoubleBinaryTree;
    if (needs_it && !power_of_two) {
      faults->push_back(absl::StrCat(field, "[", i, "]: ", AlgorithmKindName(choice.kind),
                                     " needs a power of two of NPUs, and there are ", npus_count));
    }
    if (choice.window != -1) {
      CheckRange(absl::StrCat(field, "[", i, "]: window"), choice.window, 1, kMaxNpusCount, faults);
    }
  }
}

}  // namespace

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

absl::Status CheckSystem(const SystemDescription& system) {
  Faults faults;
  CheckNetwork(system, &faults);
  if (faults.empty()) {  // The product of the dimensions is safe to use from here on.
    CheckImplementation(system, "all-reduce-implementation", system.all_reduce, &faults);
    CheckImplementation(system, "all-gather-implementation", system.all_gather, &faults);
    CheckImplementation(system, "reduce-scatter-implementation", system.reduce_scatter, &faults);
    CheckImplementation(system, "all-to-all-implementation", system.all_to_all, &faults);
  }
  CheckRange("preferred-dataset-splits", system.splits, 1, kMaxSplits, &faults);
  CheckRange("active-chunks-per-dimension", system.active_chunks_per_dim, 1, kMaxSplits, &faults);
  CheckRange("num-queues-per-dim", system.num_queues_per_dim, 1, kMaxSplits, &faults);
  CheckRange("endpoint-delay", system.endpoint_delay_ns, 0, int64_t{1'000'000'000'000}, &faults);
  CheckPositive("local-mem-bw", system.local_mem_bytes_per_ns, &faults);
  if (system.compute.basis != ComputeBasis::kRecorded) {
    CheckPositive("peak-perf", system.compute.peak_flops_per_ns, &faults);
    CheckPositive("compute memory bandwidth", system.compute.memory_bytes_per_ns, &faults);
  }
  if (faults.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(faults, "; "));
}

}  // namespace chakrad
