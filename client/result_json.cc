#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/result_view.h"

namespace chakrad::client {
namespace {

Json RankJson(const v1::SimulationResult& result, const v1::RankResult& rank) {
  Json json = {{"rank", rank.rank()},
               {"end_ns", PsAsNs(rank.end_ps())},
               {"compute_ns", PsAsNs(rank.compute_ps())},
               {"comm_ns", PsAsNs(rank.comm_ps())},
               {"exposed_comm_ns", PsAsNs(rank.exposed_comm_ps())},
               {"exposed_memory_ns", PsAsNs(rank.exposed_memory_ps())},
               {"idle_ns", PsAsNs(rank.idle_ps())},
               {"idle_host_ns", PsAsNs(rank.idle_host_ps())},
               {"idle_queue_ns", PsAsNs(rank.idle_queue_ps())},
               {"wait_ns", PsAsNs(rank.wait_ps())},
               {"waits_most_for_rank", nullptr},
               {"waits_most_in_group", nullptr},
               {"network_bytes", rank.network_bytes()},
               {"ranks_count", rank.ranks_count() > 1 ? rank.ranks_count() : 1}};
  if (rank.has_waits_most_for_rank()) json["waits_most_for_rank"] = rank.waits_most_for_rank();
  if (rank.has_waits_most_in_group()) {
    json["waits_most_in_group"] = GroupName(result, rank.waits_most_in_group());
  }
  if (rank.ranks_count() > 1) {
    Json ranges = Json::array();
    for (int i = 0; i + 1 < rank.rank_ranges_size(); i += 2) {
      ranges.push_back({rank.rank_ranges(i), rank.rank_ranges(i + 1)});
    }
    json["rank_ranges"] = std::move(ranges);
  }
  return json;
}

Json CollectivesJson(const v1::SimulationResult& result) {
  Json list = Json::array();
  for (const v1::CollectiveResult& collective : result.collectives()) {
    list.push_back({{"group", GroupName(result, collective.group())},
                    {"number", collective.number()},
                    {"type", collective.type()},
                    {"ranks_count", collective.ranks_count()},
                    {"bytes", collective.bytes()},
                    {"start_ns", PsAsNs(collective.start_ps())},
                    {"all_joined_ns", PsAsNs(collective.all_joined_ps())},
                    {"end_ns", PsAsNs(collective.end_ps())},
                    {"last_rank", collective.last_rank()},
                    {"flat", collective.flat()},
                    {"algorithm_gb_per_sec", collective.algorithm_bandwidth()},
                    {"bus_gb_per_sec", collective.bus_bandwidth()}});
  }
  return list;
}

Json DimensionsJson(const v1::SimulationResult& result) {
  Json list = Json::array();
  for (const v1::DimensionResult& dim : result.dimensions()) {
    list.push_back({{"dimension", dim.dimension()},
                    {"links_count", dim.links_count()},
                    {"messages_count", dim.messages_count()},
                    {"bytes", dim.bytes()},
                    {"busy_ns", PsAsNs(dim.busy_ps())},
                    {"max_busy_ns", PsAsNs(dim.max_busy_ps())},
                    {"queue_ns", PsAsNs(dim.queue_ps())},
                    {"utilisation", dim.utilisation()}});
  }
  return list;
}

Json MemoryJson(const v1::SimulationResult& result) {
  Json list = Json::array();
  for (const v1::MemoryPeak& peak : result.memory()) {
    list.push_back({{"rank", peak.rank()},
                    {"device", peak.device()},
                    {"resident_bytes", peak.resident_bytes()},
                    {"peak_bytes", peak.peak_bytes()},
                    {"peak_at_ns", PsAsNs(peak.peak_at_ps())}});
  }
  return list;
}

Json LinksJson(const v1::SimulationResult& result) {
  Json list = Json::array();
  for (const v1::LinkResult& link : result.links()) {
    list.push_back({{"dimension", link.dimension()},
                    {"from", link.from()},
                    {"to", link.to()},
                    {"messages_count", link.messages_count()},
                    {"bytes", link.bytes()},
                    {"busy_ns", PsAsNs(link.busy_ps())},
                    {"queue_ns", PsAsNs(link.queue_ps())}});
  }
  return list;
}

Json CriticalPathJson(const v1::SimulationResult& result) {
  Json list = Json::array();
  for (const v1::CriticalStep& step : result.critical_path()) {
    const int name = static_cast<int>(step.name());
    list.push_back({{"rank", step.rank()},
                    {"node_id", step.node_id()},
                    {"name", name < result.names_size() ? result.names(name) : ""},
                    {"start_ns", PsAsNs(step.start_ps())},
                    {"end_ns", PsAsNs(step.end_ps())}});
  }
  return list;
}

}  // namespace

std::string GroupName(const v1::SimulationResult& result, uint32_t group) {
  const int index = static_cast<int>(group);
  if (index < 0 || index >= result.groups_size() || result.groups(index).empty()) {
    return absl::StrCat("group ", group);
  }
  return result.groups(index);
}

Json ResultJson(const v1::SimulationResult& result) {
  Json ranks = Json::array();
  for (const v1::RankResult& rank : result.ranks()) ranks.push_back(RankJson(result, rank));
  Json stand_ins = Json::array();
  const std::map<int32_t, int32_t> stand_in_by_rank(result.stand_in_by_rank().begin(),
                                                    result.stand_in_by_rank().end());
  for (const auto& [rank, copy_of] : stand_in_by_rank) {
    stand_ins.push_back({{"rank", rank}, {"copy_of_rank", copy_of}});
  }
  Json notices = Json::array();
  for (const std::string& notice : result.notices()) notices.push_back(notice);
  Json classes = Json::array();
  for (const v1::RankClass& of : result.classes()) {
    classes.push_back({{"representative", of.representative()}, {"ranks_count", of.ranks_count()}});
  }
  return {{"semantics", result.semantics()},
          {"engine_version", result.engine_version()},
          {"back_end", result.back_end()},
          {"topology", result.topology()},
          {"end_ns", PsAsNs(result.end_ps())},
          {"nodes_count", result.nodes_count()},
          {"events_count", result.events_count()},
          {"network_bytes", result.network_bytes()},
          {"stand_ins", std::move(stand_ins)},
          {"notices", std::move(notices)},
          {"ranks_count", result.ranks_count()},
          {"ranks", std::move(ranks)},
          {"collectives_count", result.collectives_count()},
          {"collectives", CollectivesJson(result)},
          {"dimensions", DimensionsJson(result)},
          {"links_count", result.links_count()},
          {"links", LinksJson(result)},
          {"memory", MemoryJson(result)},
          {"critical_path", CriticalPathJson(result)},
          {"classes", std::move(classes)}};
}

}  // namespace chakrad::client
