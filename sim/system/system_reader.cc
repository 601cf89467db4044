#include "sim/system/system_reader.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "sim/compute/operator_class.h"
#include "sim/limits.h"
#include "sim/system/astra_system_reader.h"
#include "sim/system/field_reader.h"
#include "sim/system/yaml_tree.h"

namespace chakrad {
namespace {

using Sign = FieldReader::Sign;

constexpr int64_t kMaxEndpointDelayNs = 1'000'000'000'000;

// ---- Algorithms.

struct TypeField {
  const char* key;
  CollectiveImplementation SystemDescription::*implementation;
};
constexpr TypeField kTypeFields[] = {{"all_reduce", &SystemDescription::all_reduce},
                                     {"all_gather", &SystemDescription::all_gather},
                                     {"reduce_scatter", &SystemDescription::reduce_scatter},
                                     {"all_to_all", &SystemDescription::all_to_all}};

// Those that have a root follow another type where no dimension names them.
struct RootedField {
  const char* key;
  CollectiveImplementation SystemDescription::*implementation;
  CollectiveImplementation SystemDescription::*follows;
};
constexpr RootedField kRootedFields[] = {
    {"broadcast", &SystemDescription::broadcast, &SystemDescription::all_reduce},
    {"reduce", &SystemDescription::reduce, &SystemDescription::all_reduce},
    {"gather", &SystemDescription::gather, &SystemDescription::all_gather},
    {"scatter", &SystemDescription::scatter, &SystemDescription::reduce_scatter}};

// What a dimension runs where the file names nothing: the algorithm whose messages use links
// that are there.
AlgorithmChoice DefaultAlgorithm(TopologyKind topology, bool all_to_all) {
  const bool direct = topology == TopologyKind::kFullyConnected ||
                      (topology == TopologyKind::kSwitch && all_to_all);
  return {direct ? AlgorithmKind::kDirect : AlgorithmKind::kRing, -1};
}

void ReadAlgorithm(const YamlNode& node, absl::string_view path, FieldReader* reader,
                   AlgorithmChoice* choice) {
  if (node.is_scalar() && ParseAlgorithm(node.text, choice)) return;
  reader->Fault(&node, path,
                absl::StrCat(Shown(node),
                             " is not one of ring, direct, directN (N messages "
                             "outstanding), halvingDoubling, doubleBinaryTree"));
}

// (type, dimension) of the algorithms that were named for types with a root.
using NamedRooted = std::set<std::pair<std::string, size_t>>;

// Where one dimension names a type with a root, the others follow.
void CompleteRooted(const NamedRooted& named, SystemDescription* system) {
  for (const RootedField& type : kRootedFields) {
    std::vector<AlgorithmChoice>& per_dim = (system->*type.implementation).per_dim;
    if (per_dim.empty()) continue;
    per_dim.resize(system->dims.size());
    for (size_t dim = 0; dim < per_dim.size(); ++dim) {
      if (named.count({type.key, dim}) == 0) {
        per_dim[dim] = (system->*type.follows).per_dim[dim];
      }
    }
  }
}

// `algorithms` of one dimension: one for all types, or a map by type.
void ReadAlgorithms(FieldReader* dim, TopologyKind topology, NamedRooted* named_rooted,
                    Faults* faults, SystemDescription* system) {
  const YamlNode* node = dim->Take("algorithms");
  const std::string path = dim->PathOf("algorithms");
  const bool one_for_all = node != nullptr && node->is_scalar();
  FieldReader by_type(one_for_all ? nullptr : node, path, faults);
  for (const TypeField& type : kTypeFields) {
    AlgorithmChoice choice =
        DefaultAlgorithm(topology, type.implementation == &SystemDescription::all_to_all);
    if (const YamlNode* named = by_type.Take(type.key); named != nullptr) {
      ReadAlgorithm(*named, by_type.PathOf(type.key), &by_type, &choice);
    } else if (one_for_all) {
      AlgorithmChoice common;
      if (ParseAlgorithm(node->text, &common)) choice = common;
    }
    (system->*type.implementation).per_dim.push_back(choice);
  }
  for (const RootedField& type : kRootedFields) {
    const YamlNode* named = by_type.Take(type.key);
    if (named == nullptr) continue;
    // Dimensions that do not name it follow.
    std::vector<AlgorithmChoice>& per_dim = (system->*type.implementation).per_dim;
    per_dim.resize(system->dims.size() + 1);
    ReadAlgorithm(*named, by_type.PathOf(type.key), &by_type, &per_dim.back());
    named_rooted->insert({type.key, system->dims.size()});
  }
  AlgorithmChoice unused;
  if (one_for_all) ReadAlgorithm(*node, path, dim, &unused);
  by_type.ReportUnknownKeys();
}

// ---- The network.

void ReadDimension(const YamlNode& node, size_t index, NamedRooted* named_rooted, Faults* faults,
                   SystemDescription* system) {
  FieldReader reader(&node, absl::StrCat("network.dimensions[", index, "]"), faults);
  NetworkDim dim;
  dim.bytes_per_ns = 1;  // Where the file's is wrong, so that the rest can be checked.
  const int topology =
      reader.Choice("topology", {"Ring", "FullyConnected", "Switch", "Mesh"}, true);
  if (topology >= 0) dim.topology = static_cast<TopologyKind>(topology);
  reader.Whole("npus", 1, kMaxNpusCount, true, &dim.npus_count);
  reader.Quantity("bandwidth", QuantityKind::kBandwidth, Sign::kPositive, true, &dim.bytes_per_ns);
  reader.Quantity("latency", QuantityKind::kTime, Sign::kNotNegative, true, &dim.latency_ns);
  reader.Quantity("message_cost", QuantityKind::kTime, Sign::kNotNegative, false, &dim.message_ns);
  if (const YamlNode* bucket = reader.Take("token_bucket"); bucket != nullptr) {
    FieldReader bucket_reader(bucket, reader.PathOf("token_bucket"), faults);
    bucket_reader.Quantity("rate", QuantityKind::kBandwidth, Sign::kPositive, true,
                           &dim.bucket.bytes_per_ns);
    bucket_reader.Quantity("burst", QuantityKind::kBytes, Sign::kNotNegative, true,
                           &dim.bucket.burst_bytes);
    bucket_reader.ReportUnknownKeys();
  }
  ReadAlgorithms(&reader, dim.topology, named_rooted, faults, system);
  reader.ReportUnknownKeys();
  system->dims.push_back(dim);
}

using LinksSeen = std::set<std::tuple<int32_t, int32_t, int32_t>>;

void ReadLink(const YamlNode& node, size_t index, LinksSeen* seen, Faults* faults,
              SystemDescription* system) {
  FieldReader reader(&node, absl::StrCat("network.links[", index, "]"), faults);
  LinkOverride link;
  reader.Whole("dimension", 0, kMaxDims - 1, true, &link.dim);
  const bool from = reader.Whole("from", 0, kMaxNpusCount - 1, false, &link.src);
  const bool to = reader.Whole("to", 0, kMaxNpusCount - 1, false, &link.dst);
  const bool bandwidth = reader.Quantity("bandwidth", QuantityKind::kBandwidth, Sign::kPositive,
                                         false, &link.bytes_per_ns);
  const bool latency =
      reader.Quantity("latency", QuantityKind::kTime, Sign::kNotNegative, false, &link.latency_ns);
  reader.ReportUnknownKeys();
  if (node.is_map() && !bandwidth && !latency) {
    reader.Fault(&node, reader.PathOf("bandwidth"), "neither bandwidth nor latency is given");
  }
  if (from || to) {
    system->link_overrides.push_back(link);
    if (!seen->insert({link.dim, link.src, link.dst}).second) {
      reader.Fault(&node, reader.PathOf("from"), "the same link stands twice");
    }
  }
  if (node.is_map() && !from && !to) {
    reader.Fault(&node, reader.PathOf("from"), "neither from nor to is given");
  }
}

void ReadNetwork(const YamlNode* node, Faults* faults, SystemDescription* system) {
  FieldReader reader(node, "network", faults);
  const int back_end = reader.Choice("back_end", {"analytical", "link"}, false);
  if (back_end == 1) system->back_end = NetworkBackEnd::kLink;
  NamedRooted named_rooted;
  size_t index = 0;
  for (const YamlNode* dim : reader.List("dimensions", kMaxDims, true)) {
    ReadDimension(*dim, index++, &named_rooted, faults, system);
  }
  CompleteRooted(named_rooted, system);
  LinksSeen seen;
  index = 0;
  for (const YamlNode* link : reader.List("links", kMaxOverrides, false)) {
    ReadLink(*link, index++, &seen, faults, system);
  }
  reader.ReportUnknownKeys();
}

// ---- The rest.

// "3" or "3-5".
bool ParseRange(absl::string_view text, NpuOverride* npus) {
  const std::vector<absl::string_view> ends = absl::StrSplit(text, '-');
  if (ends.size() > 2) return false;
  return absl::SimpleAtoi(ends.front(), &npus->first_npu) &&
         absl::SimpleAtoi(ends.back(), &npus->last_npu);
}

void ReadNpus(const YamlNode& node, size_t index, Faults* faults, SystemDescription* system) {
  FieldReader reader(&node, absl::StrCat("npus[", index, "]"), faults);
  NpuOverride npus;
  const YamlNode* range = reader.Take("range", true);
  const bool has_range = range != nullptr && range->is_scalar() && ParseRange(range->text, &npus);
  if (range != nullptr && !has_range) {
    reader.Fault(range, reader.PathOf("range"),
                 absl::StrCat(Shown(*range), " is not an NPU such as 3, or NPUs such as 3-5"));
  }
  reader.Factor("compute_scale", true, &npus.compute_scale);
  reader.ReportUnknownKeys();
  if (has_range) system->npu_overrides.push_back(npus);
}

void ReadFlat(const YamlNode* node, Faults* faults, SystemDescription* system) {
  FieldReader reader(node, "collectives.flat", faults);
  for (const TypeField& type : kTypeFields) {
    const YamlNode* named = reader.Take(type.key);
    if (named == nullptr) continue;
    AlgorithmChoice choice;
    ReadAlgorithm(*named, reader.PathOf(type.key), &reader, &choice);
    system->*type.implementation = {true, {choice}};
  }
  for (const RootedField& type : kRootedFields) {
    const YamlNode* named = reader.Take(type.key);
    if (named == nullptr) continue;
    AlgorithmChoice choice;
    ReadAlgorithm(*named, reader.PathOf(type.key), &reader, &choice);
    system->*type.implementation = {true, {choice}};
  }
  reader.ReportUnknownKeys();
}

void ReadCollectives(const YamlNode* node, Faults* faults, SystemDescription* system) {
  FieldReader reader(node, "collectives", faults);
  system->splits = 4;
  reader.Whole("chunks", 1, kMaxSplits, false, &system->splits);
  reader.Whole("active_chunks_per_dimension", 1, kMaxSplits, false, &system->active_chunks_per_dim);
  reader.Whole("queues_per_dimension", 1, kMaxSplits, false, &system->num_queues_per_dim);
  system->local_bw_aware = reader.Choice("optimization", {"baseline", "localBWAware"}, false) != 0;
  system->endpoint_delay_ns = 0;
  double endpoint_ns = 0;
  if (reader.Quantity("endpoint_delay", QuantityKind::kTime, Sign::kNotNegative, false,
                      &endpoint_ns)) {
    const auto whole_ns = static_cast<int64_t>(
        endpoint_ns < static_cast<double>(kMaxEndpointDelayNs) ? endpoint_ns : -1);
    if (static_cast<double>(whole_ns) == endpoint_ns) {
      system->endpoint_delay_ns = whole_ns;
    } else {
      reader.Fault(
          node, reader.PathOf("endpoint_delay"),
          absl::StrCat(endpoint_ns, " ns is not a whole number of ns below ", kMaxEndpointDelayNs));
    }
  }
  ReadFlat(reader.Take("flat"), faults, system);
  reader.ReportUnknownKeys();
}

void ReadExecution(const YamlNode* node, Faults* faults, SystemDescription* system) {
  FieldReader reader(node, "execution", faults);
  const int rule = reader.Choice("issue_rule", {"one_of_each", "recorded_queues"}, false);
  if (rule >= 0) {
    system->issue_rule = static_cast<IssueRule>(rule);
  } else if (system->semantics == Semantics::kPhysical) {
    system->issue_rule = IssueRule::kRecordedQueues;
  }
  reader.ReportUnknownKeys();
}

std::string OperatorClasses() {
  std::string names;
  for (int i = 0; i < kOperatorClassesCount; ++i) {
    absl::StrAppend(&names, i > 0 ? ", " : "", OperatorClassName(static_cast<OperatorClass>(i)));
  }
  return names;
}

void ReadCompute(const YamlNode* node, Faults* faults, SystemDescription* system) {
  FieldReader reader(node, "compute", faults);
  ComputeModel& compute = system->compute;
  const int basis = reader.Choice("basis", {"recorded", "roofline", "operator_shapes"}, false);
  if (basis > 0) compute.basis = static_cast<ComputeBasis>(basis);
  const bool modelled = compute.basis != ComputeBasis::kRecorded;
  reader.Quantity("peak", QuantityKind::kComputeRate, Sign::kPositive, modelled,
                  &compute.peak_flops_per_ns);
  reader.Quantity("memory_bandwidth", QuantityKind::kBandwidth, Sign::kPositive, modelled,
                  &compute.memory_bytes_per_ns);
  reader.Factor("recorded_scale", false, &compute.recorded_scale);
  if (const YamlNode* scales = reader.Take("class_scales"); scales != nullptr) {
    FieldReader by_class(scales, "compute.class_scales", faults);
    if (scales->is_map()) {
      for (size_t i = 0; i < scales->keys.size(); ++i) {
        const std::string& name = scales->keys[i];
        if (!FindOperatorClass(name).has_value()) {
          by_class.Fault(&scales->items[i], by_class.PathOf(name.substr(0, 60)),
                         absl::StrCat("is no class of operators, which are ", OperatorClasses()));
        }
        double scale = 1;
        if (by_class.Factor(name.c_str(), true, &scale)) {
          compute.scale_by_class.emplace_back(name, scale);
        }
      }
    }
  }
  reader.ReportUnknownKeys();
}

void ReadRemoteMemory(const YamlNode* node, Faults* faults, RemoteMemory* memory) {
  if (node == nullptr) return;
  FieldReader reader(node, "memory.remote", faults);
  const int kind = reader.Choice("kind", {"none", "per_npu", "per_node", "pool"}, true);
  if (kind > 0) memory->kind = static_cast<RemoteMemory::Kind>(kind);
  reader.Quantity("latency", QuantityKind::kTime, Sign::kNotNegative, false, &memory->latency_ns);
  reader.Quantity("bandwidth", QuantityKind::kBandwidth, Sign::kPositive, kind > 0,
                  &memory->bytes_per_ns);
  const bool per_node = memory->kind == RemoteMemory::Kind::kPerNode;
  const bool given =
      reader.Whole("npus_per_node", 1, kMaxNpusCount, per_node, &memory->npus_per_node);
  if (given && kind >= 0 && !per_node) {
    reader.Fault(node, reader.PathOf("npus_per_node"), "only the kind per_node has nodes");
  }
  reader.ReportUnknownKeys();
}

void ReadMemory(const YamlNode* node, Faults* faults, SystemDescription* system) {
  FieldReader reader(node, "memory", faults);
  reader.Quantity("reduction_bandwidth", QuantityKind::kBandwidth, Sign::kPositive,
                  system->semantics == Semantics::kAstra, &system->local_mem_bytes_per_ns);
  ReadRemoteMemory(reader.Take("remote"), faults, &system->remote_memory);
  reader.ReportUnknownKeys();
}

// What concerns several fields; not again those that have a fault already.
void AddSystemFaults(const SystemDescription& system, Faults* faults) {
  if (static_cast<int64_t>(faults->size()) > kMaxFaultsListed) return;
  const Faults known = *faults;
  for (const std::string& fault : FindSystemFaults(system, SystemFields::kOurs)) {
    const absl::string_view field = absl::string_view(fault).substr(0, fault.find(": "));
    const bool again = std::any_of(known.begin(), known.end(), [&](const std::string& other) {
      return absl::StrContains(other, field);
    });
    if (!again) faults->push_back(fault);
  }
}

}  // namespace

absl::StatusOr<SystemDescription> ParseSystemYaml(absl::string_view system_yaml) {
  const absl::StatusOr<YamlNode> root = ParseYaml(system_yaml);
  if (!root.ok()) return root.status();
  Faults faults;
  SystemDescription system;
  FieldReader reader(&*root, "", &faults);
  if (root->is_map()) {
    reader.Take("name");  // For people.
    system.semantics = Semantics::kPhysical;
    if (reader.Choice("semantics", {"physical", "astra"}, false) == 1) {
      system.semantics = Semantics::kAstra;
    }
    ReadNetwork(reader.Take("network", true), &faults, &system);
    const bool sound_network = faults.empty();
    size_t index = 0;
    for (const YamlNode* npus : reader.List("npus", kMaxOverrides, false)) {
      ReadNpus(*npus, index++, &faults, &system);
    }
    ReadCollectives(reader.Take("collectives"), &faults, &system);
    ReadExecution(reader.Take("execution"), &faults, &system);
    ReadCompute(reader.Take("compute"), &faults, &system);
    ReadMemory(reader.Take("memory"), &faults, &system);
    reader.ReportUnknownKeys();
    // Of a network with faults it would say things that are not so.
    if (sound_network) AddSystemFaults(system, &faults);
  }
  if (!faults.empty()) return absl::InvalidArgumentError(JoinFaults(faults));
  return system;
}

absl::StatusOr<SystemDescription> ParseSystem(const SystemText& text) {
  const bool astra =
      !text.network_yaml.empty() || !text.system_json.empty() || !text.remote_memory_json.empty();
  if (text.system_yaml.empty()) {
    if (!astra) {
      return absl::InvalidArgumentError(
          "no system: give system_yaml, or network_yaml and system_json");
    }
    return ParseAstraSystem(text.network_yaml, text.system_json, text.remote_memory_json);
  }
  if (astra) {
    return absl::InvalidArgumentError(
        "system_yaml describes a whole system: network_yaml, system_json and remote_memory_json "
        "must be empty beside it");
  }
  absl::StatusOr<SystemDescription> system = ParseSystemYaml(text.system_yaml);
  if (!system.ok()) return Annotate(system.status(), "system_yaml");
  return system;
}

}  // namespace chakrad
