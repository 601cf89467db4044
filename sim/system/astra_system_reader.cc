#include "sim/system/astra_system_reader.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "sim/limits.h"
#include "sim/system/faults.h"
#include "sim/system/field_reader.h"
#include "sim/system/yaml_tree.h"

namespace chakrad {
namespace {

using Json = nlohmann::json;

// ---- The network file.

bool PlainNumber(const YamlNode& node, double* value) {
  return node.is_scalar() && !node.quoted && absl::SimpleAtod(node.text, value);
}

// Calls `use(i, entry)` for each entry of the list `key`; returns its length.
size_t ForEachEntry(const YamlNode& root, const char* key, Faults* faults,
                    const std::function<void(size_t, const YamlNode&)>& use) {
  const auto found = std::find(root.keys.begin(), root.keys.end(), key);
  if (found == root.keys.end()) {
    faults->push_back(absl::StrCat("network: ", key, " is missing"));
    return 0;
  }
  const YamlNode& list = root.items[static_cast<size_t>(found - root.keys.begin())];
  if (!list.is_list() || list.items.empty() || list.items.size() > size_t{kMaxDims}) {
    faults->push_back(absl::StrCat("network: ", key, ": must be a list of 1 to ", kMaxDims,
                                   " entries, one a dimension"));
    return 0;
  }
  for (size_t i = 0; i < list.items.size(); ++i) use(i, list.items[i]);
  return list.items.size();
}

void ReadTopology(const YamlNode& entry, size_t i, NetworkDim* dim, Faults* faults) {
  for (const TopologyKind kind : {TopologyKind::kRing, TopologyKind::kFullyConnected,
                                  TopologyKind::kSwitch, TopologyKind::kMesh}) {
    if (entry.is_scalar() && entry.text == TopologyKindName(kind)) {
      dim->topology = kind;
      return;
    }
  }
  faults->push_back(absl::StrCat("network: topology[", i, "]: ", Shown(entry),
                                 " is not one of Ring, FullyConnected, Switch, Mesh"));
}

void ReadNumber(const YamlNode& entry, const char* key, size_t i, bool zero_allowed, double* value,
                Faults* faults) {
  if (PlainNumber(entry, value) && std::isfinite(*value) && *value >= 0 &&
      (zero_allowed || *value > 0)) {
    return;
  }
  faults->push_back(absl::StrCat("network: ", key, "[", i, "]: ", Shown(entry),
                                 " is not a finite number ", zero_allowed ? ">= 0" : "> 0"));
}

void ReadCount(const YamlNode& entry, size_t i, NetworkDim* dim, Faults* faults) {
  double value = 0;
  if (PlainNumber(entry, &value) && value == std::floor(value) && value >= 1 &&
      value <= static_cast<double>(kMaxNpusCount)) {
    dim->npus_count = static_cast<int32_t>(value);
    return;
  }
  faults->push_back(absl::StrCat("network: npus_count[", i, "]: ", Shown(entry),
                                 " is not a whole number in [1, ", kMaxNpusCount, "]"));
}

void ReadNetwork(const YamlNode& root, SystemDescription* system, Faults* faults) {
  if (!root.is_map()) {
    faults->push_back("network: not a YAML map of topology, npus_count, bandwidth, latency");
    return;
  }
  for (const std::string& key : root.keys) {
    if (key != "topology" && key != "npus_count" && key != "bandwidth" && key != "latency") {
      faults->push_back(absl::StrCat("network: ", key.substr(0, 60), " is not a known key"));
    }
  }
  std::vector<NetworkDim> dims(kMaxDims);
  const size_t counts[] = {
      ForEachEntry(root, "topology", faults,
                   [&](size_t i, const YamlNode& e) { ReadTopology(e, i, &dims[i], faults); }),
      ForEachEntry(root, "npus_count", faults,
                   [&](size_t i, const YamlNode& e) { ReadCount(e, i, &dims[i], faults); }),
      ForEachEntry(root, "bandwidth", faults,
                   [&](size_t i, const YamlNode& e) {
                     double gib_per_sec = 0;
                     ReadNumber(e, "bandwidth", i, false, &gib_per_sec, faults);
                     dims[i].bytes_per_ns = BytesPerNsOfGibPerSec(gib_per_sec);
                   }),
      ForEachEntry(root, "latency", faults, [&](size_t i, const YamlNode& e) {
        ReadNumber(e, "latency", i, true, &dims[i].latency_ns, faults);
      })};
  size_t count = counts[0];
  for (const size_t other : counts) {
    if (other == counts[0] || other == 0 || counts[0] == 0) continue;
    faults->push_back(absl::StrCat("network: lists of different length: topology ", counts[0],
                                   ", npus_count ", counts[1], ", bandwidth ", counts[2],
                                   ", latency ", counts[3]));
    break;
  }
  for (const size_t other : counts) count = std::min(count, other);
  dims.resize(count);
  system->dims = std::move(dims);
}

// ---- The system file.

// Reads known keys off a JSON object and reports the ones left over.
class JsonReader {
 public:
  // `file`: "system" or "remote memory", in messages.
  JsonReader(const char* file, const Json& root, Faults* faults)
      : file_(file), root_(root), faults_(faults) {
    for (const auto& item : root.items()) unread_[item.key()] = true;
  }

  // Null when absent; `required` reports that.
  const Json* Take(const char* key, bool required) {
    unread_.erase(key);
    const auto it = root_.find(key);
    if (it != root_.end()) return &*it;
    if (required) Fault(key, "is missing");
    return nullptr;
  }
  void Fault(const char* key, absl::string_view what) {
    faults_->push_back(absl::StrCat(file_, ": ", key, " ", what));
  }
  bool Number(const char* key, bool required, double* value) {
    const Json* json = Take(key, required);
    if (json == nullptr) return false;
    if (!json->is_number() && !json->is_boolean()) {
      Fault(key,
            absl::StrCat(
                "must be a number, not ",
                // A nested value is not shown: printing one recurses.
                json->is_structured()
                    ? std::string(json->type_name())
                    : json->dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, 60)));
      return false;
    }
    *value = json->is_boolean() ? json->get<bool>() : json->get<double>();
    return true;
  }
  // A whole number; out of range and fractions are faults.
  template <typename Int>
  void Whole(const char* key, bool required, int64_t low, int64_t high, Int* value) {
    double number = 0;
    if (!Number(key, required, &number)) return;
    if (number != std::floor(number) || number < static_cast<double>(low) ||
        number > static_cast<double>(high)) {
      Fault(key, absl::StrCat("must be a whole number in [", low, ", ", high, "], not ", number));
      return;
    }
    *value = static_cast<Int>(number);
  }
  void Positive(const char* key, bool required, double* value) {
    if (Number(key, required, value) && !(*value > 0 && std::isfinite(*value))) {
      Fault(key, absl::StrCat("must be finite and above 0, not ", *value));
    }
  }
  void NotNegative(const char* key, bool required, double* value) {
    if (Number(key, required, value) && !(*value >= 0 && std::isfinite(*value))) {
      Fault(key, absl::StrCat("must be finite and at least 0, not ", *value));
    }
  }
  // A key of which only one value is modelled; `why`: what another one would mean.
  void OnlyValue(const char* key, double modelled, const char* why) {
    double number = modelled;
    Number(key, false, &number);
    if (number != modelled) {
      Fault(key, absl::StrCat(number, " is not modelled; only ", modelled, " is: ", why));
    }
  }
  // One of `choices`; the index, or -1.
  int Choice(const char* key, bool required, const std::vector<std::string>& choices) {
    const Json* json = Take(key, required);
    if (json == nullptr) return -1;
    for (size_t i = 0; i < choices.size(); ++i) {
      if (json->is_string() && json->get_ref<const std::string&>() == choices[i]) {
        return static_cast<int>(i);
      }
    }
    Fault(key, absl::StrCat("must be one of ", absl::StrJoin(choices, ", ")));
    return -1;
  }
  void ReportUnread() {
    for (const auto& [key, unused] : unread_) {
      faults_->push_back(absl::StrCat(file_, ": ", key.substr(0, 60), " is not a known key"));
    }
  }

 private:
  const char* const file_;
  const Json& root_;
  Faults* faults_;
  std::map<std::string, bool> unread_;
};

// "oneRing", "oneDirect", "oneDirect3", "oneHalvingDoubling".
bool ParseFlatAlgorithm(absl::string_view text, AlgorithmChoice* choice) {
  if (!absl::ConsumePrefix(&text, "one") || text.empty()) return false;
  std::string name(text);
  name[0] = absl::ascii_tolower(static_cast<unsigned char>(name[0]));
  return name != text && ParseAlgorithm(name, choice) &&
         choice->kind != AlgorithmKind::kDoubleBinaryTree;
}

void ReadImplementation(JsonReader* reader, const char* key, CollectiveImplementation* out) {
  const Json* json = reader->Take(key, true);
  if (json == nullptr) return;
  if (!json->is_array() || json->empty() || json->size() > size_t{kMaxDims}) {
    reader->Fault(key, "must be a list with one algorithm a dimension");
    return;
  }
  for (const Json& entry : *json) {
    const std::string text = entry.is_string() ? entry.get<std::string>() : "(not text)";
    AlgorithmChoice choice;
    if (json->size() == 1 && ParseFlatAlgorithm(text, &choice)) {
      out->flat = true;
    } else if (!ParseAlgorithm(text, &choice)) {
      reader->Fault(key, absl::StrCat("has ", text.substr(0, 60),
                                      ", which is not one of ring, direct, directN, "
                                      "halvingDoubling, doubleBinaryTree, or alone oneRing, "
                                      "oneDirect, oneHalvingDoubling"));
    }
    out->per_dim.push_back(choice);
  }
}

// What ASTRA-sim reads and what has no effect on its answer.
void ReadKeysWithoutEffect(JsonReader* reader) {
  // One collective of a rank runs at a time, so there is nothing to reorder.
  reader->Choice("scheduling-policy", false, {"LIFO", "FIFO", "EXPLICIT"});
  reader->Choice("intra-dimension-scheduling", false, {"FIFO"});
  reader->Choice("inter-dimension-scheduling", false, {"baseline"});
  double unused = 0;
  for (const char* key : {"L", "o", "g", "G",                  // Of model-shared-bus.
                          "local-reduction-delay",             // Of model-shared-bus.
                          "comm-scale", "compute-scale",       // Ignored by ASTRA-sim.
                          "track-local-mem", "trace-enabled",  // Print more.
                          "boost-mode"}) {
    reader->Number(key, false, &unused);
  }
  reader->Take("local-mem-trace-filename", false);
}

void RefuseCustomAlgorithms(JsonReader* reader) {
  for (const char* type : {"all-reduce", "all-gather", "reduce-scatter", "all-to-all"}) {
    for (const char* end : {"custom", "chakra", "chakra-experimental"}) {
      const std::string key = absl::StrCat(type, "-implementation-", end);
      if (reader->Take(key.c_str(), false) == nullptr) continue;
      reader->Fault(key.c_str(),
                    "names a file beside ASTRA-sim, which is not here; name an "
                    "algorithm in the key without the ending");
    }
  }
}

void ReadSystem(const Json& root, SystemDescription* system, Faults* faults) {
  JsonReader reader("system", root, faults);
  ReadImplementation(&reader, "all-reduce-implementation", &system->all_reduce);
  ReadImplementation(&reader, "all-gather-implementation", &system->all_gather);
  ReadImplementation(&reader, "reduce-scatter-implementation", &system->reduce_scatter);
  ReadImplementation(&reader, "all-to-all-implementation", &system->all_to_all);
  RefuseCustomAlgorithms(&reader);
  system->local_bw_aware =
      reader.Choice("collective-optimization", true, {"baseline", "localBWAware"}) != 0;
  reader.Whole("preferred-dataset-splits", true, 1, kMaxSplits, &system->splits);
  reader.Whole("active-chunks-per-dimension", true, 1, kMaxSplits, &system->active_chunks_per_dim);
  reader.Whole("num-queues-per-dim", false, 1, kMaxSplits, &system->num_queues_per_dim);
  reader.Whole("endpoint-delay", true, 0, int64_t{1'000'000'000'000}, &system->endpoint_delay_ns);
  double injection_scale = 1;
  reader.NotNegative("injection-scale", false, &injection_scale);
  // Of all delays it scales this one only, cut to a nanosecond.
  const double scaled_ns = static_cast<double>(system->endpoint_delay_ns) * injection_scale;
  if (scaled_ns <= 1e12) {
    system->endpoint_delay_ns = static_cast<int64_t>(scaled_ns);
  } else {
    reader.Fault("injection-scale",
                 absl::StrCat(injection_scale, " makes endpoint-delay ", scaled_ns,
                              " ns, over the limit of 1000000000000"));
  }
  reader.Positive("local-mem-bw", true, &system->local_mem_bytes_per_ns);
  system->compute.memory_bytes_per_ns = system->local_mem_bytes_per_ns;
  int roofline = 0;
  reader.Whole("roofline-enabled", false, 0, 1, &roofline);
  int replay_only = 0;
  reader.Whole("replay-only", false, 0, 1, &replay_only);
  double peak_tflops = 0;
  reader.Positive("peak-perf", roofline != 0, &peak_tflops);
  system->compute.peak_flops_per_ns = peak_tflops * 1000;
  if (roofline != 0 && replay_only == 0) system->compute.basis = ComputeBasis::kRoofline;
  reader.OnlyValue("model-shared-bus", 0, "the LogGP model of a bus inside a node");
  ReadKeysWithoutEffect(&reader);
  reader.ReportUnread();
}

// ---- The remote memory file.

void ReadRemoteMemory(const Json& root, SystemDescription* system, Faults* faults) {
  JsonReader reader("remote memory", root, faults);
  RemoteMemory& memory = system->remote_memory;
  const int kind = reader.Choice("memory-type", true,
                                 {"NO_MEMORY_EXPANSION", "PER_NPU_MEMORY_EXPANSION",
                                  "PER_NODE_MEMORY_EXPANSION", "MEMORY_POOL"});
  if (kind > 0) memory.kind = static_cast<RemoteMemory::Kind>(kind);
  reader.NotNegative("remote-mem-latency", kind > 0, &memory.latency_ns);
  double bandwidth = 0;
  if (kind > 0) {
    reader.Positive("remote-mem-bw", true, &bandwidth);
  } else {
    reader.NotNegative("remote-mem-bw", false, &bandwidth);
  }
  memory.bytes_per_ns = bandwidth;
  const bool per_node = memory.kind == RemoteMemory::Kind::kPerNode;
  int64_t nodes_count = 0;
  reader.Whole("num-nodes", per_node, per_node ? 1 : 0, kMaxNpusCount, &nodes_count);
  int32_t npus_per_node = 1;
  reader.Whole("num-npus-per-node", per_node, per_node ? 1 : 0, kMaxNpusCount, &npus_per_node);
  reader.ReportUnread();
  if (!per_node) return;
  memory.npus_per_node = npus_per_node;
  const int64_t served = nodes_count * npus_per_node;
  if (faults->empty() && served < NpusCount(*system)) {
    reader.Fault("num-nodes",
                 absl::StrCat(nodes_count, " nodes of ", npus_per_node,
                              " NPUs are fewer than the topology's ", NpusCount(*system), " NPUs"));
  }
}

// ---- Files.

absl::Status CheckFileSize(absl::string_view what, absl::string_view text) {
  if (static_cast<int64_t>(text.size()) <= kMaxSystemFileBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, ": ", text.size(), " bytes are over the limit of ", kMaxSystemFileBytes));
}

// Calls `read` with the JSON object that `text` is.
void ReadJsonObject(const char* file, absl::string_view text, Faults* faults,
                    const std::function<void(const Json&)>& read) {
  try {
    const Json root = Json::parse(text.begin(), text.end());
    if (root.is_object()) {
      read(root);
    } else {
      faults->push_back(absl::StrCat(file, ": not a JSON object"));
    }
  } catch (const Json::parse_error& error) {
    faults->push_back(absl::StrCat(file, ": not JSON from byte ", error.byte, " on"));
  } catch (const Json::exception& error) {
    faults->push_back(absl::StrCat(file, ": not JSON: ", error.what()));
  }
}

}  // namespace

absl::StatusOr<SystemDescription> ParseAstraSystem(absl::string_view network_yaml,
                                                   absl::string_view system_json,
                                                   absl::string_view remote_memory_json) {
  RETURN_IF_ERROR(CheckFileSize("system", system_json));
  RETURN_IF_ERROR(CheckFileSize("remote memory", remote_memory_json));
  Faults faults;
  SystemDescription system;
  const absl::StatusOr<YamlNode> network = ParseYaml(network_yaml);
  if (network.ok()) {
    ReadNetwork(*network, &system, &faults);
  } else {
    faults.push_back(absl::StrCat("network: ", std::string(network.status().message())));
  }
  ReadJsonObject("system", system_json, &faults,
                 [&](const Json& root) { ReadSystem(root, &system, &faults); });
  if (!remote_memory_json.empty()) {
    ReadJsonObject("remote memory", remote_memory_json, &faults,
                   [&](const Json& root) { ReadRemoteMemory(root, &system, &faults); });
  }
  // What is left to check concerns both files, so it needs both to be sound.
  if (!faults.empty()) return absl::InvalidArgumentError(JoinFaults(faults));
  RETURN_IF_ERROR(CheckSystem(system));
  return system;
}

}  // namespace chakrad
