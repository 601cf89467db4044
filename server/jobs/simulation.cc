#include "server/jobs/simulation.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "chakrad/v1/job.pb.h"
#include "common/status.h"
#include "server/ids.h"
#include "server/limits.h"
#include "sim/limits.h"
#include "sim/system/system_reader.h"

namespace chakrad {
namespace {

v1::SimulationSpec::BackEnd ToProto(const std::optional<NetworkBackEnd>& back_end) {
  if (!back_end.has_value()) return v1::SimulationSpec::BACK_END_UNSPECIFIED;
  return *back_end == NetworkBackEnd::kLink ? v1::SimulationSpec::LINK
                                            : v1::SimulationSpec::ANALYTICAL;
}

absl::Status CheckLimit(absl::string_view field, int64_t value, int64_t high) {
  if (value >= 0 && value <= high) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", value, " is not in [0, ", high, "]"));
}

absl::StatusOr<std::optional<NetworkBackEnd>> BackEndFromProto(int back_end) {
  switch (back_end) {
    case v1::SimulationSpec::BACK_END_UNSPECIFIED:
      return std::optional<NetworkBackEnd>();
    case v1::SimulationSpec::ANALYTICAL:
      return std::optional<NetworkBackEnd>(NetworkBackEnd::kAnalytical);
    case v1::SimulationSpec::LINK:
      return std::optional<NetworkBackEnd>(NetworkBackEnd::kLink);
    default:
      return absl::InvalidArgumentError(absl::StrCat(
          "spec.back_end: ", back_end, " is not one of BACK_END_UNSPECIFIED, ANALYTICAL, LINK"));
  }
}

absl::StatusOr<CustomAlgorithm> AlgorithmFromProto(const v1::CustomAlgorithm& message) {
  CustomAlgorithm algorithm;
  ASSIGN_OR_RETURN(algorithm.trace_id,
                   IdFromName(message.trace(), "traces", "spec.custom_algorithms.trace"));
  algorithm.node_ids.assign(message.node_ids().begin(), message.node_ids().end());
  algorithm.total_bytes = message.total_bytes();
  if (message.type().empty()) return algorithm;
  for (int i = 0; i < kCollectiveTypesCount; ++i) {
    const auto type = static_cast<CollectiveType>(i);
    if (message.type() == CollectiveTypeName(type)) algorithm.type = type;
  }
  if (!algorithm.type.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("spec.custom_algorithms.type: ", message.type().substr(0, 60),
                     " is no type of collective, such as ALL_REDUCE"));
  }
  return algorithm;
}

absl::Status CheckProjection(const ProjectionSpec& projection) {
  int given = 0;
  for (const int32_t size : {projection.new_size, projection.multiply_by, projection.divide_by}) {
    RETURN_IF_ERROR(CheckLimit("projection", size, kMaxNpusCount));
    given += size > 0;
  }
  if (given == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "projection: one of new_size, multiply_by and divide_by must be given, not ", given));
}

absl::Status CheckAlgorithms(const std::vector<CustomAlgorithm>& algorithms) {
  const auto fault = [](auto... what) {
    return absl::InvalidArgumentError(absl::StrCat("custom_algorithms: ", what...));
  };
  if (algorithms.size() > kMaxCustomAlgorithms) {
    return fault(algorithms.size(), " are over the limit of ", kMaxCustomAlgorithms);
  }
  std::set<CollectiveType> types;
  std::set<uint64_t> node_ids;
  for (const CustomAlgorithm& algorithm : algorithms) {
    if (algorithm.type.has_value() == !algorithm.node_ids.empty()) {
      return fault("traces/", algorithm.trace_id, " needs either a type or node_ids");
    }
    if (algorithm.type.has_value() && !types.insert(*algorithm.type).second) {
      return fault(std::string(CollectiveTypeName(*algorithm.type)), " stands twice");
    }
    for (const uint64_t node_id : algorithm.node_ids) {
      if (!node_ids.insert(node_id).second) return fault("node ", node_id, " stands twice");
    }
    RETURN_IF_ERROR(
        CheckLimit("custom_algorithms.total_bytes", algorithm.total_bytes, kMaxCommBytes));
  }
  return absl::OkStatus();
}

}  // namespace

std::string VariantOf(const SimulationSpec& spec) {
  if (!spec.variant.empty()) return spec.variant;
  return spec.projection.has_value() ? "projected" : "unnamed";
}

std::string EncodeSpec(const SimulationSpec& spec) {
  v1::SimulationSpec message;
  message.set_trace(absl::StrCat("traces/", spec.trace_id));
  message.set_network_yaml(spec.network_yaml);
  message.set_system_json(spec.system_json);
  message.set_remote_memory_json(spec.remote_memory_json);
  message.set_system_yaml(spec.system_yaml);
  message.set_back_end(ToProto(spec.back_end));
  message.set_replicate_missing_ranks(spec.replicate_missing_ranks);
  message.set_keep_timeline(spec.keep_timeline);
  message.set_unfolded(spec.unfolded);
  message.set_critical_path(spec.critical_path);
  message.set_link_traffic(spec.link_traffic);
  message.set_memory_use(spec.memory_use);
  message.set_variant(spec.variant);
  message.set_max_simulated_ps(spec.max_simulated_ps);
  message.set_max_events(spec.max_events);
  if (spec.projection.has_value()) {
    v1::Projection* projection = message.mutable_projection();
    projection->set_group(spec.projection->group);
    projection->set_new_size(spec.projection->new_size);
    projection->set_multiply_by(spec.projection->multiply_by);
    projection->set_divide_by(spec.projection->divide_by);
  }
  for (const CustomAlgorithm& from : spec.custom_algorithms) {
    v1::CustomAlgorithm* to = message.add_custom_algorithms();
    to->set_trace(absl::StrCat("traces/", from.trace_id));
    if (from.type.has_value()) {
      const absl::string_view type = CollectiveTypeName(*from.type);
      to->set_type(type.data(), type.size());
    }
    for (const uint64_t node_id : from.node_ids) to->add_node_ids(node_id);
    to->set_total_bytes(from.total_bytes);
  }
  return message.SerializeAsString();
}

absl::StatusOr<SimulationSpec> DecodeSpec(absl::string_view bytes) {
  v1::SimulationSpec message;
  if (message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    absl::StatusOr<SimulationSpec> spec = SpecFromProto(message);
    if (spec.ok()) return spec;
  }
  return absl::DataLossError("the stored job's specification does not parse");
}

absl::StatusOr<SimulationSpec> SpecFromProto(const v1::SimulationSpec& message) {
  SimulationSpec spec;
  ASSIGN_OR_RETURN(spec.trace_id, IdFromName(message.trace(), "traces", "spec.trace"));
  spec.system_yaml = message.system_yaml();
  spec.network_yaml = message.network_yaml();
  spec.system_json = message.system_json();
  spec.remote_memory_json = message.remote_memory_json();
  ASSIGN_OR_RETURN(spec.back_end, BackEndFromProto(message.back_end()));
  spec.replicate_missing_ranks = message.replicate_missing_ranks();
  spec.keep_timeline = message.keep_timeline();
  spec.unfolded = message.unfolded();
  spec.critical_path = message.critical_path();
  spec.link_traffic = message.link_traffic();
  spec.memory_use = message.memory_use();
  spec.max_simulated_ps = message.max_simulated_ps();
  spec.max_events = message.max_events();
  spec.variant = message.variant();
  if (message.has_projection()) {
    const v1::Projection& projection = message.projection();
    spec.projection = ProjectionSpec{projection.group(), std::nullopt, projection.new_size(),
                                     projection.multiply_by(), projection.divide_by()};
    if (projection.group().empty()) spec.projection->group_index = kWorldGroup;
  }
  for (const v1::CustomAlgorithm& from : message.custom_algorithms()) {
    ASSIGN_OR_RETURN(CustomAlgorithm algorithm, AlgorithmFromProto(from));
    spec.custom_algorithms.push_back(std::move(algorithm));
  }
  return spec;
}

absl::StatusOr<SystemDescription> SystemOf(const SimulationSpec& spec) {
  RETURN_IF_ERROR(CheckLimit("max_simulated_ps", spec.max_simulated_ps, kHorizonPs));
  RETURN_IF_ERROR(CheckLimit("max_events", spec.max_events, INT64_MAX));
  if (spec.variant.size() > kMaxVariantBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "variant: ", spec.variant.size(), " bytes are over the limit of ", kMaxVariantBytes));
  }
  if (spec.projection.has_value()) RETURN_IF_ERROR(CheckProjection(*spec.projection));
  RETURN_IF_ERROR(CheckAlgorithms(spec.custom_algorithms));
  for (const auto& [field, text] :
       {std::pair("system_yaml", &spec.system_yaml), std::pair("network_yaml", &spec.network_yaml),
        std::pair("system_json", &spec.system_json),
        std::pair("remote_memory_json", &spec.remote_memory_json)}) {
    if (text->size() <= kMaxSystemBytes) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(field, ": ", text->size(), " bytes are over the limit of ", kMaxSystemBytes));
  }
  ASSIGN_OR_RETURN(SystemDescription system,
                   ParseSystem({spec.system_yaml, spec.network_yaml, spec.system_json,
                                spec.remote_memory_json}));
  if (spec.back_end.has_value()) system.back_end = *spec.back_end;
  return system;
}

SimOptions OptionsOf(const SimulationSpec& spec) {
  SimOptions options;
  options.replicate_missing_ranks = spec.replicate_missing_ranks;
  options.fold = !spec.unfolded;
  options.critical_path = spec.critical_path;
  options.link_traffic = spec.link_traffic;
  options.memory_use = spec.memory_use;
  if (spec.max_simulated_ps > 0) options.max_simulated_ps = spec.max_simulated_ps;
  if (spec.max_events > 0) options.max_events = spec.max_events;
  return options;
}

}  // namespace chakrad
