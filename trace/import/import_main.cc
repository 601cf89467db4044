// chakra_import PATH...: converts the files of one trace (or of folders) and
// prints what came out, as JSON. For looking at a conversion without a daemon.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "trace/import/import.h"
#include "trace/import/launches.h"
#include "trace/link/reference_replay.h"
#include "trace/model/trace_summary.h"

namespace chakrad {
namespace {

nlohmann::json RankJson(const RankTrace& rank) {
  const RankSummary summary = SummarizeRank(rank);
  nlohmann::json json;
  json["rank"] = summary.rank;
  json["schema"] = summary.schema;
  json["nodes"] = summary.nodes_count;
  json["host_nodes"] = summary.host_nodes_count;
  json["device_nodes"] = summary.device_nodes_count;
  json["by_type"] = summary.nodes_count_by_type;
  json["edges"] = summary.edges_count_by_kind;
  for (const auto& [name, count] : summary.comm_by_type) {
    json["comm"][name] = {{"count", count.count}, {"bytes", count.bytes}};
  }
  std::map<std::string, std::map<std::string, int64_t>> by_group;
  for (uint32_t node = 0; node < rank.size(); ++node) {
    const CommOp* comm = rank.CommOf(node);
    if (comm == nullptr) continue;
    const std::string kind(rank.type[node] == NodeType::kCommColl
                               ? CollectiveTypeName(comm->collective)
                               : NodeTypeName(rank.type[node]));
    std::string to = "group " + std::to_string(comm->group);
    if (comm->peer != kNoRank) to += " peer " + std::to_string(comm->peer);
    if (comm->root != kNoRank) to += " root " + std::to_string(comm->root);
    ++by_group[kind][to];
  }
  json["comm_to"] = by_group;
  const LaunchCount launches = CountLaunches(rank);
  json["launches"] = {{"device_ops", launches.device_ops_count},
                      {"linked", launches.launched_count},
                      {"contained", launches.contained_count}};
  const int64_t recorded_ns = RecordedSpanNs(rank), replayed_ns = ReplayRecorded(rank).span_ns;
  json["span_ns"] = {{"recorded", recorded_ns}, {"replayed", replayed_ns}};
  if (recorded_ns > 0) {
    json["span_ns"]["error_percent"] =
        100.0 * static_cast<double>(replayed_ns - recorded_ns) / static_cast<double>(recorded_ns);
  }
  return json;
}

nlohmann::json LedgerJson(const Ledger& ledger) {
  nlohmann::json json = {{"file", ledger.file},
                         {"input_records", ledger.input_records},
                         {"kept", ledger.kept},
                         {"merged", ledger.merged},
                         {"rejected", ledger.rejected},
                         {"balanced", ledger.Balanced()},
                         {"merged_by_rule", ledger.merged_by_rule},
                         {"rejected_by_rule", ledger.rejected_by_rule},
                         {"notices", ledger.notices}};
  for (const Rejection& rejection : ledger.rejections) {
    json["rejections"].push_back({{"rule", rejection.rule},
                                  {"record", rejection.record},
                                  {"byte_offset", rejection.byte_offset},
                                  {"reason", rejection.reason}});
  }
  return json;
}

std::vector<ImportFile> FilesOf(const std::vector<std::string>& paths) {
  std::vector<ImportFile> files;
  for (const std::string& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back({std::filesystem::path(path).filename().string(), path});
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      if (!entry.is_regular_file()) continue;
      files.push_back({entry.path().filename().string(), entry.path().string()});
    }
  }
  std::sort(files.begin(), files.end(),
            [](const ImportFile& a, const ImportFile& b) { return a.name < b.name; });
  return files;
}

int Main(const std::vector<std::string>& paths) {
  if (paths.empty()) {
    std::cerr << "usage: chakra_import PATH...\n";
    return 2;
  }
  const auto begin = std::chrono::steady_clock::now();
  const absl::StatusOr<ImportResult> result = ImportTrace(FilesOf(paths), ImportOptions());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  if (!result.ok()) {
    std::cerr << result.status() << "\n";
    return 1;
  }
  nlohmann::json json = {{"world_size", result->trace.world_size},
                         {"seconds", took.count()},
                         {"notices", result->notices}};
  for (const ProcessGroup& group : result->trace.groups) {
    json["groups"].push_back(
        {{"name", group.name}, {"description", group.description}, {"ranks", group.ranks}});
  }
  for (const RankTrace& rank : result->trace.ranks) json["ranks"].push_back(RankJson(rank));
  for (const Ledger& ledger : result->ledgers) json["ledgers"].push_back(LedgerJson(ledger));
  std::cout << json.dump(1) << "\n";
  return 0;
}

}  // namespace
}  // namespace chakrad

int main(int argc, char** argv) {
  return chakrad::Main(std::vector<std::string>(argv + 1, argv + argc));
}
