#include "sim/system/astra_system_reader.h"

#include <yaml-cpp/yaml.h>

#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "sim/limits.h"

namespace chakrad {
namespace {

using Json = nlohmann::json;
using Faults = std::vector<std::string>;

// ---- The network file.

// The plain text of a scalar; quoted ones are text, not numbers.
bool PlainNumber(const YAML::Node& node, double* value) {
  return node.IsScalar() && node.Tag() != "!" && absl::SimpleAtod(node.Scalar(), value);
}

// Calls `use(i, entry)` for each entry of the list `key`; returns its length.
size_t ForEachEntry(const YAML::Node& root, const char* key, Faults* faults,
                    const std::function<void(size_t, const YAML::Node&)>& use) {
  const YAML::Node list = root[key];
  if (!list) {
    faults->push_back(absl::StrCat("network: ", key, " is missing"));
    return 0;
  }
  if (!list.IsSequence() || list.size() == 0 || list.size() > size_t{kMaxDims}) {
    faults->push_back(absl::StrCat("network: ", key, ": must be a list of 1 to ", kMaxDims,
                                   " entries, one a dimension"));
    return 0;
  }
  for (size_t i = 0; i < list.size(); ++i) use(i, list[i]);
  return list.size();
}

void ReadTopology(const YAML::Node& entry, size_t i, NetworkDim* dim, Faults* faults) {
  for (const TopologyKind kind :
       {TopologyKind::kRing, TopologyKind::kFullyConnected, TopologyKind::kSwitch}) {
    if (entry.IsScalar() && entry.Scalar() == TopologyKindName(kind)) {
      dim->topology = kind;
      return;
    }
  }
  faults->push_back(absl::StrCat("network: topology[", i,
                                 "]: ", entry.IsScalar() ? entry.Scalar() : "(not text)",
                                 " is not one of Ring, FullyConnected, Switch"));
}

void ReadNumber(const YAML::Node& entry, const char* key, size_t i, bool zero_allowed,
                double* value, Faults* faults) {
  if (PlainNumber(entry, value) && std::isfinite(*value) && *value >= 0 &&
      (zero_allowed || *value > 0)) {
    return;
  }
  faults->push_back(absl::StrCat("network: ", key, "[", i,
                                 "]: ", entry.IsScalar() ? entry.Scalar() : "(not a scalar)",
                                 " is not a finite number ", zero_allowed ? ">= 0" : "> 0"));
}

void ReadCount(const YAML::Node& entry, size_t i, NetworkDim* dim, Faults* faults) {
  double value = 0;
  if (PlainNumber(entry, &value) && value == std::floor(value) && value >= 1 &&
      value <= static_cast<double>(kMaxNpusCount)) {
    dim->npus_count = static_cast<int32_t>(value);
    return;
  }
  faults->push_back(absl::StrCat("network: npus_count[", i,
                                 "]: ", entry.IsScalar() ? entry.Scalar() : "(not a scalar)",
                                 " is not a whole number in [1, ", kMaxNpusCount, "]"));
}

void ReadNetwork(const YAML::Node& root, SystemDescription* system, Faults* faults) {
  if (!root.IsMap()) {
    faults->push_back("network: not a YAML map of topology, npus_count, bandwidth, latency");
    return;
  }
  for (const auto& item : root) {
    const std::string key = item.first.IsScalar() ? item.first.Scalar() : "(not text)";
    if (key != "topology" && key != "npus_count" && key != "bandwidth" && key != "latency") {
      faults->push_back(absl::StrCat("network: ", key, " is not a known key"));
    }
  }
  std::vector<NetworkDim> dims(kMaxDims);
  const size_t counts[] = {
      ForEachEntry(root, "topology", faults,
                   [&](size_t i, const YAML::Node& e) { ReadTopology(e, i, &dims[i], faults); }),
      ForEachEntry(root, "npus_count", faults,
                   [&](size_t i, const YAML::Node& e) { ReadCount(e, i, &dims[i], faults); }),
      ForEachEntry(root, "bandwidth", faults,
                   [&](size_t i, const YAML::Node& e) {
                     double gib_per_sec = 0;
                     ReadNumber(e, "bandwidth", i, false, &gib_per_sec, faults);
                     dims[i].bytes_per_ns = BytesPerNsOfGibPerSec(gib_per_sec);
                   }),
      ForEachEntry(root, "latency", faults, [&](size_t i, const YAML::Node& e) {
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
  JsonReader(const Json& root, Faults* faults) : root_(root), faults_(faults) {
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
    faults_->push_back(absl::StrCat("system: ", key, " ", what));
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
  // A key of which only one value is modelled.
  void OnlyValue(const char* key, double modelled) {
    double number = modelled;
    Number(key, false, &number);
    if (number != modelled) {
      Fault(key, absl::StrCat(number, " is not modelled; only ", modelled, " is"));
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
      faults_->push_back(absl::StrCat("system: ", key, " is not a known key"));
    }
  }

 private:
  const Json& root_;
  Faults* faults_;
  std::map<std::string, bool> unread_;
};

// "ring", "direct", "direct3", "halvingDoubling", "doubleBinaryTree".
bool ParseAlgorithm(absl::string_view text, AlgorithmChoice* choice) {
  for (const AlgorithmKind kind :
       {AlgorithmKind::kRing, AlgorithmKind::kHalvingDoubling, AlgorithmKind::kDoubleBinaryTree}) {
    if (text != AlgorithmKindName(kind)) continue;
    choice->kind = kind;
    return true;
  }
  if (!absl::ConsumePrefix(&text, "direct")) return false;
  choice->kind = AlgorithmKind::kDirect;
  if (text.empty()) return true;
  return absl::SimpleAtoi(text, &choice->window) && choice->window >= 1;
}

bool ParseFlatAlgorithm(absl::string_view text, AlgorithmChoice* choice) {
  if (text == "oneRing")
    choice->kind = AlgorithmKind::kRing;
  else if (text == "oneDirect")
    choice->kind = AlgorithmKind::kDirect;
  else if (text == "oneHalvingDoubling")
    choice->kind = AlgorithmKind::kHalvingDoubling;
  else
    return false;
  return true;
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

void ReadSystem(const Json& root, SystemDescription* system, Faults* faults) {
  JsonReader reader(root, faults);
  ReadImplementation(&reader, "all-reduce-implementation", &system->all_reduce);
  ReadImplementation(&reader, "all-gather-implementation", &system->all_gather);
  ReadImplementation(&reader, "reduce-scatter-implementation", &system->reduce_scatter);
  ReadImplementation(&reader, "all-to-all-implementation", &system->all_to_all);
  system->local_bw_aware =
      reader.Choice("collective-optimization", true, {"baseline", "localBWAware"}) != 0;
  reader.Whole("preferred-dataset-splits", true, 1, kMaxSplits, &system->splits);
  reader.Whole("active-chunks-per-dimension", true, 1, kMaxSplits, &system->active_chunks_per_dim);
  reader.Whole("endpoint-delay", true, 0, int64_t{1'000'000'000'000}, &system->endpoint_delay_ns);
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

  // No effect on the result: one collective of a rank runs at a time.
  reader.Choice("scheduling-policy", false, {"LIFO", "FIFO", "EXPLICIT"});
  reader.Choice("intra-dimension-scheduling", false, {"FIFO"});
  reader.Choice("inter-dimension-scheduling", false, {"baseline"});
  double unused = 0;
  for (const char* key : {"L", "o", "g", "G", "trace-enabled"}) reader.Number(key, false, &unused);
  // The modelled values only.
  for (const char* key : {"model-shared-bus", "boost-mode", "track-local-mem"}) {
    reader.OnlyValue(key, 0);
  }
  for (const char* key : {"injection-scale", "comm-scale", "compute-scale"}) {
    reader.OnlyValue(key, 1);
  }
  reader.ReportUnread();
}

absl::Status CheckFileSize(absl::string_view what, absl::string_view text) {
  if (static_cast<int64_t>(text.size()) <= kMaxSystemFileBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, ": ", text.size(), " bytes are over the limit of ", kMaxSystemFileBytes));
}

}  // namespace

absl::StatusOr<SystemDescription> ParseAstraSystem(absl::string_view network_yaml,
                                                   absl::string_view system_json) {
  RETURN_IF_ERROR(CheckFileSize("network", network_yaml));
  RETURN_IF_ERROR(CheckFileSize("system", system_json));
  Faults faults;
  SystemDescription system;
  try {
    ReadNetwork(YAML::Load(std::string(network_yaml)), &system, &faults);
  } catch (const YAML::Exception& error) {
    faults.push_back(absl::StrCat("network: not YAML: ", error.what()));
  }
  try {
    const Json root = Json::parse(system_json.begin(), system_json.end());
    if (root.is_object()) {
      ReadSystem(root, &system, &faults);
    } else {
      faults.push_back("system: not a JSON object");
    }
  } catch (const Json::parse_error& error) {
    faults.push_back(absl::StrCat("system: not JSON from byte ", error.byte, " on"));
  } catch (const Json::exception& error) {
    faults.push_back(absl::StrCat("system: not JSON: ", error.what()));
  }
  // What is left to check concerns both files, so it needs both to be sound.
  if (!faults.empty()) return absl::InvalidArgumentError(absl::StrJoin(faults, "; "));
  RETURN_IF_ERROR(CheckSystem(system));
  return system;
}

}  // namespace chakrad
