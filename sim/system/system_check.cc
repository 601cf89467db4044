// What system_description.h says a system must be.
#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/limits.h"
#include "sim/system/faults.h"
#include "sim/system/system_description.h"

namespace chakrad {
namespace {

constexpr int64_t kMaxEndpointDelayNs = 1'000'000'000'000;

class Checker {
 public:
  Checker(const SystemDescription& system, SystemFields fields)
      : system_(system),
        ours_(fields == SystemFields::kOurs),
        astra_(system.semantics == Semantics::kAstra) {}

  std::vector<std::string> Find() {
    CheckDims();
    if (faults_.empty()) {  // The product of the dimensions is safe to use from here on.
      CheckImplementation("all_reduce", "all-reduce-implementation", system_.all_reduce);
      CheckImplementation("all_gather", "all-gather-implementation", system_.all_gather);
      CheckImplementation("reduce_scatter", "reduce-scatter-implementation",
                          system_.reduce_scatter);
      CheckImplementation("all_to_all", "all-to-all-implementation", system_.all_to_all);
      CheckRooted("broadcast", system_.broadcast);
      CheckRooted("reduce", system_.reduce);
      CheckRooted("gather", system_.gather);
      CheckRooted("scatter", system_.scatter);
      CheckScripts();
      CheckLinks();
      CheckNpus();
    }
    CheckRest();
    CheckCompute();
    CheckRemoteMemory();
    return std::move(faults_);
  }

 private:
  void Fault(absl::string_view field, absl::string_view what) {
    faults_.push_back(absl::StrCat(field, ": ", what));
  }
  void CheckRange(absl::string_view field, int64_t value, int64_t low, int64_t high) {
    if (value >= low && value <= high) return;
    Fault(field, absl::StrCat(value, " is not in [", low, ", ", high, "]"));
  }
  void CheckPositive(absl::string_view field, double value) {
    if (std::isfinite(value) && value > 0) return;
    Fault(field, absl::StrCat(value, " is not finite and above 0"));
  }
  void CheckNotNegative(absl::string_view field, double value) {
    if (std::isfinite(value) && value >= 0) return;
    Fault(field, absl::StrCat(value, " is not finite and at least 0"));
  }
  std::string OfDim(size_t dim, const char* ours, const char* astras) const {
    return ours_ ? absl::StrCat("network.dimensions[", dim, "].", ours)
                 : absl::StrCat(astras, "[", dim, "]");
  }
  absl::string_view Name(absl::string_view ours, absl::string_view astras) const {
    return ours_ ? ours : astras;
  }

  void CheckDims() {
    CheckRange(Name("network.dimensions", "dimensions"), static_cast<int64_t>(system_.dims.size()),
               1, kMaxDims);
    int64_t npus_count = 1;
    for (size_t i = 0; i < system_.dims.size(); ++i) {
      const NetworkDim& dim = system_.dims[i];
      CheckRange(OfDim(i, "npus", "npus_count"), dim.npus_count, 1, kMaxNpusCount);
      CheckPositive(OfDim(i, "bandwidth", "bandwidth"), dim.bytes_per_ns);
      CheckNotNegative(OfDim(i, "latency", "latency"), dim.latency_ns);
      CheckPort(i, dim);
      if (npus_count <= kMaxNpusCount && dim.npus_count > 0) npus_count *= dim.npus_count;
    }
    if (npus_count > kMaxNpusCount) {
      Fault(Name("network.dimensions", "npus_count"),
            absl::StrCat("the product of its ", ours_ ? "npus" : "entries", " is over ",
                         kMaxNpusCount, " NPUs"));
    }
  }

  void CheckPort(size_t i, const NetworkDim& dim) {
    const std::string message = OfDim(i, "message_cost", "message_ns");
    const std::string bucket = OfDim(i, "token_bucket", "bucket");
    CheckNotNegative(message, dim.message_ns);
    const bool has_bucket = dim.bucket != TokenBucket{};
    if (has_bucket) {
      CheckPositive(absl::StrCat(bucket, ".rate"), dim.bucket.bytes_per_ns);
      CheckNotNegative(absl::StrCat(bucket, ".burst"), dim.bucket.burst_bytes);
    }
    if (!astra_) return;
    constexpr char kWhy[] = "only physical semantics has it, and the system asks for astra";
    if (dim.message_ns > 0) Fault(message, kWhy);
    if (has_bucket) Fault(bucket, kWhy);
  }

  void CheckImplementation(const char* ours, const char* astras,
                           const CollectiveImplementation& implementation) {
    const size_t want = implementation.flat ? 1 : system_.dims.size();
    if (implementation.per_dim.size() != want) {
      Fault(ours_ ? absl::StrCat("algorithms.", ours) : std::string(astras),
            absl::StrCat(implementation.per_dim.size(), " entries for ", want,
                         implementation.flat ? " flat group" : " dimensions"));
      return;
    }
    for (size_t i = 0; i < want; ++i) {
      const AlgorithmChoice& choice = implementation.per_dim[i];
      std::string field = absl::StrCat(astras, "[", i, "]");
      if (ours_) {
        field = implementation.flat ? absl::StrCat("collectives.flat.", ours)
                                    : absl::StrCat("network.dimensions[", i, "].algorithms.", ours);
      }
      CheckChoice(field, choice,
                  implementation.flat ? NpusCount(system_) : system_.dims[i].npus_count);
    }
  }

  // Without a choice these have that of another type; with one, any algorithm's shape fits any
  // number of NPUs.
  void CheckRooted(const char* type, const CollectiveImplementation& implementation) {
    if (implementation == CollectiveImplementation{}) return;
    const size_t want = implementation.flat ? 1 : system_.dims.size();
    if (implementation.per_dim.size() != want) {
      Fault(absl::StrCat("algorithms.", type),
            absl::StrCat(implementation.per_dim.size(), " entries for ", want,
                         implementation.flat ? " flat group" : " dimensions"));
    }
  }

  void CheckScripts() {
    const int64_t last = static_cast<int64_t>(system_.scripts.size()) - 1;
    for (const auto& [type, script] : system_.script_by_type) {
      CheckRange(absl::StrCat("script of ", std::string(CollectiveTypeName(type))), script, 0,
                 last);
    }
    for (const auto& [node_id, script] : system_.script_by_node_id) {
      CheckRange(absl::StrCat("script of node ", node_id), script, 0, last);
    }
  }

  void CheckChoice(absl::string_view field, const AlgorithmChoice& choice, int64_t npus_count) {
    const bool power_of_two = std::has_single_bit(static_cast<uint64_t>(npus_count));
    const bool needs_it = choice.kind == AlgorithmKind::kHalvingDoubling ||
                          (astra_ && choice.kind == AlgorithmKind::kDoubleBinaryTree);
    if (needs_it && !power_of_two) {
      Fault(field, absl::StrCat(AlgorithmKindName(choice.kind),
                                " needs a power of two of NPUs, and there are ", npus_count));
    }
    if (choice.window != -1) {
      CheckRange(absl::StrCat(field, ": window"), choice.window, 1, kMaxNpusCount);
    }
  }

  // The place of `npu` along `dim`.
  int64_t PlaceOf(int64_t npu, int dim) const {
    for (int lower = 0; lower < dim; ++lower) npu /= system_.dims[lower].npus_count;
    return npu % system_.dims[dim].npus_count;
  }

  // Why there is no such link, or "".
  std::string LinkFault(const LinkOverride& link) const {
    const NetworkDim& dim = system_.dims[link.dim];
    if (link.src == -1 && link.dst == -1) return "names no NPU";
    if (link.src == -1 || link.dst == -1) return "";
    if (dim.topology == TopologyKind::kSwitch) {
      return "a switch's link has one NPU: give from (the way up) or to (the way down), not both";
    }
    const int64_t from = PlaceOf(link.src, link.dim);
    const int64_t to = PlaceOf(link.dst, link.dim);
    int64_t stride = 1;
    for (int lower = 0; lower < link.dim; ++lower) stride *= system_.dims[lower].npus_count;
    const int64_t distance = std::abs(from - to);
    const bool in_line = link.dst - link.src == (to - from) * stride && distance > 0;
    const bool closes = dim.topology == TopologyKind::kRing && distance == dim.npus_count - 1;
    const bool linked = dim.topology == TopologyKind::kFullyConnected || distance == 1 || closes;
    if (in_line && linked) return "";
    return absl::StrCat("NPUs ", link.src, " and ", link.dst, " have no link along dimension ",
                        link.dim, " (", TopologyKindName(dim.topology), " of ", dim.npus_count,
                        ")");
  }

  // The link back end keeps something of each link.
  void CheckLinksCount() {
    if (system_.back_end != NetworkBackEnd::kLink) return;
    int64_t links_per_npu = 0;
    for (const NetworkDim& dim : system_.dims) {
      links_per_npu += dim.topology == TopologyKind::kFullyConnected ? dim.npus_count : 2;
    }
    const int64_t count = links_per_npu * NpusCount(system_);
    if (count <= kMaxLinks) return;
    Fault("network",
          absl::StrCat(count, " links are over the limit of ", kMaxLinks, " of the link back end"));
  }

  void CheckLinks() {
    CheckLinksCount();
    const int64_t last = NpusCount(system_) - 1;
    CheckRange("network.links", static_cast<int64_t>(system_.link_overrides.size()), 0,
               kMaxOverrides);
    for (size_t i = 0; i < system_.link_overrides.size(); ++i) {
      const LinkOverride& link = system_.link_overrides[i];
      const std::string field = absl::StrCat("network.links[", i, "]");
      const size_t before = faults_.size();
      CheckRange(absl::StrCat(field, ".dimension"), link.dim, 0,
                 static_cast<int64_t>(system_.dims.size()) - 1);
      if (link.src != -1) CheckRange(absl::StrCat(field, ".from"), link.src, 0, last);
      if (link.dst != -1) CheckRange(absl::StrCat(field, ".to"), link.dst, 0, last);
      CheckNotNegative(absl::StrCat(field, ".bandwidth"), link.bytes_per_ns);
      if (!std::isfinite(link.latency_ns)) {
        Fault(absl::StrCat(field, ".latency"), absl::StrCat(link.latency_ns, " is not finite"));
      }
      if (faults_.size() > before) continue;
      if (const std::string fault = LinkFault(link); !fault.empty()) Fault(field, fault);
    }
  }

  void CheckNpus() {
    CheckRange("npus", static_cast<int64_t>(system_.npu_overrides.size()), 0, kMaxOverrides);
    const int64_t last = NpusCount(system_) - 1;
    std::vector<std::pair<int32_t, int32_t>> ranges;
    for (size_t i = 0; i < system_.npu_overrides.size(); ++i) {
      const NpuOverride& npus = system_.npu_overrides[i];
      const std::string field = absl::StrCat("npus[", i, "]");
      CheckPositive(absl::StrCat(field, ".compute_scale"), npus.compute_scale);
      if (npus.first_npu < 0 || npus.last_npu < npus.first_npu || npus.last_npu > last) {
        Fault(absl::StrCat(field, ".range"),
              absl::StrCat(npus.first_npu, "-", npus.last_npu, " is not in 0-", last));
        continue;
      }
      ranges.push_back({npus.first_npu, npus.last_npu});
    }
    std::sort(ranges.begin(), ranges.end());
    for (size_t i = 1; i < ranges.size(); ++i) {
      if (ranges[i].first > ranges[i - 1].second) continue;
      Fault("npus", absl::StrCat("ranges ", ranges[i - 1].first, "-", ranges[i - 1].second, " and ",
                                 ranges[i].first, "-", ranges[i].second, " overlap"));
    }
  }

  void CheckRest() {
    CheckRange(Name("collectives.chunks", "preferred-dataset-splits"), system_.splits, 1,
               kMaxSplits);
    CheckRange(Name("collectives.active_chunks_per_dimension", "active-chunks-per-dimension"),
               system_.active_chunks_per_dim, 1, kMaxSplits);
    CheckRange(Name("collectives.queues_per_dimension", "num-queues-per-dim"),
               system_.num_queues_per_dim, 1, kMaxSplits);
    CheckRange(Name("collectives.endpoint_delay", "endpoint-delay"), system_.endpoint_delay_ns, 0,
               kMaxEndpointDelayNs);
    const absl::string_view reduction = Name("memory.reduction_bandwidth", "local-mem-bw");
    if (astra_) {
      CheckPositive(reduction, system_.local_mem_bytes_per_ns);
    } else {
      CheckNotNegative(reduction, system_.local_mem_bytes_per_ns);
    }
  }

  void CheckCompute() {
    const ComputeModel& compute = system_.compute;
    if (compute.basis != ComputeBasis::kRecorded) {
      CheckPositive(Name("compute.peak", "peak-perf"), compute.peak_flops_per_ns);
      CheckPositive(Name("compute.memory_bandwidth", "compute memory bandwidth"),
                    compute.memory_bytes_per_ns);
    }
    CheckPositive("compute.recorded_scale", compute.recorded_scale);
    std::set<std::string> classes;
    for (const auto& [name, scale] : compute.scale_by_class) {
      const std::string field = absl::StrCat("compute.class_scales.", name.substr(0, 60));
      CheckPositive(field, scale);
      if (!classes.insert(name).second) Fault(field, "stands twice");
    }
  }

  void CheckRemoteMemory() {
    const RemoteMemory& memory = system_.remote_memory;
    if (memory.kind == RemoteMemory::Kind::kNone) return;
    CheckNotNegative(Name("memory.remote.latency", "remote-mem-latency"), memory.latency_ns);
    CheckPositive(Name("memory.remote.bandwidth", "remote-mem-bw"), memory.bytes_per_ns);
    CheckRange(Name("memory.remote.npus_per_node", "num-npus-per-node"), memory.npus_per_node, 1,
               kMaxNpusCount);
  }

  const SystemDescription& system_;
  const bool ours_;
  const bool astra_;
  Faults faults_;
};

}  // namespace

std::vector<std::string> FindSystemFaults(const SystemDescription& system, SystemFields fields) {
  return Checker(system, fields).Find();
}

absl::Status CheckSystem(const SystemDescription& system) {
  const std::vector<std::string> faults =
      FindSystemFaults(system, system.semantics == Semantics::kAstra ? SystemFields::kAstraFiles
                                                                     : SystemFields::kOurs);
  if (faults.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(JoinFaults(faults));
}

}  // namespace chakrad
