#include "server/jobs/simulation.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "chakrad/v1/job.pb.h"
#include "common/status.h"
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

}  // namespace

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
  message.set_max_simulated_ps(spec.max_simulated_ps);
  message.set_max_events(spec.max_events);
  return message.SerializeAsString();
}

absl::StatusOr<SimulationSpec> DecodeSpec(absl::string_view bytes) {
  v1::SimulationSpec message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::DataLossError("the stored job's specification does not parse");
  }
  SimulationSpec spec;
  spec.trace_id = std::string(absl::StripPrefix(message.trace(), "traces/"));
  spec.network_yaml = message.network_yaml();
  spec.system_json = message.system_json();
  spec.remote_memory_json = message.remote_memory_json();
  spec.system_yaml = message.system_yaml();
  if (message.back_end() == v1::SimulationSpec::LINK) spec.back_end = NetworkBackEnd::kLink;
  if (message.back_end() == v1::SimulationSpec::ANALYTICAL) {
    spec.back_end = NetworkBackEnd::kAnalytical;
  }
  spec.replicate_missing_ranks = message.replicate_missing_ranks();
  spec.keep_timeline = message.keep_timeline();
  spec.unfolded = message.unfolded();
  spec.critical_path = message.critical_path();
  spec.max_simulated_ps = message.max_simulated_ps();
  spec.max_events = message.max_events();
  return spec;
}

absl::StatusOr<SystemDescription> SystemOf(const SimulationSpec& spec) {
  RETURN_IF_ERROR(CheckLimit("max_simulated_ps", spec.max_simulated_ps, kHorizonPs));
  RETURN_IF_ERROR(CheckLimit("max_events", spec.max_events, INT64_MAX));
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
  if (spec.max_simulated_ps > 0) options.max_simulated_ps = spec.max_simulated_ps;
  if (spec.max_events > 0) options.max_events = spec.max_events;
  return options;
}

}  // namespace chakrad
