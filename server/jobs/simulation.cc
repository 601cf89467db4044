#include "server/jobs/simulation.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "chakrad/v1/job.pb.h"
#include "common/utf8.h"

namespace chakrad {

std::string EncodeSpec(const SimulationSpec& spec) {
  v1::SimulationSpec message;
  message.set_trace(absl::StrCat("traces/", spec.trace_id));
  message.set_network_yaml(spec.network_yaml);
  message.set_system_json(spec.system_json);
  message.set_replicate_missing_ranks(spec.replicate_missing_ranks);
  message.set_keep_timeline(spec.keep_timeline);
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
  spec.replicate_missing_ranks = message.replicate_missing_ranks();
  spec.keep_timeline = message.keep_timeline();
  return spec;
}

std::string EncodeOutcome(const SimulationOutcome& outcome) {
  v1::SimulationResult message;
  message.set_semantics(outcome.result.semantics);
  message.set_engine_version(outcome.result.engine_version);
  message.set_end_ps(outcome.result.end_ps);
  message.set_nodes_count(outcome.result.nodes_count);
  message.set_events_count(outcome.result.events_count);
  message.set_network_bytes(outcome.result.network_bytes);
  for (size_t i = 0; i < outcome.ranks.size(); ++i) {
    const RankBreakdown& breakdown = outcome.ranks[i];
    v1::RankResult* rank = message.add_ranks();
    rank->set_rank(breakdown.rank);
    rank->set_end_ps(breakdown.end_ps);
    rank->set_compute_ps(breakdown.compute_ps);
    rank->set_comm_ps(breakdown.comm_ps);
    rank->set_exposed_comm_ps(breakdown.exposed_comm_ps);
    rank->set_exposed_memory_ps(breakdown.exposed_memory_ps);
    rank->set_idle_ps(breakdown.idle_ps);
    rank->set_network_bytes(outcome.result.ranks[i].network_bytes);
  }
  for (const auto& [rank, stand_in] : outcome.result.stand_in_by_rank) {
    (*message.mutable_stand_in_by_rank())[rank] = stand_in;
  }
  for (const std::string& notice : outcome.result.notices) message.add_notices(ValidUtf8(notice));
  return message.SerializeAsString();
}

}  // namespace chakrad
