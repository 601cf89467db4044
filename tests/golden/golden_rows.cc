#include "tests/golden/golden_rows.h"

#include <zlib.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "sim/simulate.h"
#include "sim/system/astra_system_reader.h"
#include "trace/model/rank_trace_builder.h"

namespace chakrad {
namespace {

using Json = nlohmann::json;

// Group ids of the file by entry of Trace::groups.
using GroupIndex = std::map<std::string, uint32_t>;

CollectiveType CollectiveOf(const std::string& name) {
  for (int i = 0; i < kCollectiveTypesCount; ++i) {
    if (CollectiveTypeName(static_cast<CollectiveType>(i)) == name) {
      return static_cast<CollectiveType>(i);
    }
  }
  return CollectiveType::kBarrier;
}

CommOp CommOf(const Json& node, const std::string& type, const GroupIndex& groups) {
  CommOp op;
  op.bytes = node.at("bytes");
  if (type == "COLL") op.collective = CollectiveOf(node.at("coll"));
  if (type == "SEND") op.peer = node.at("dst");
  if (type == "RECV") op.peer = node.at("src");
  op.tag = node.value("tag", 0);
  if (node.contains("pg")) {
    const Json& pg = node["pg"];
    op.group = groups.at(pg.is_string() ? pg.get<std::string>() : pg.dump());
  }
  if (node.contains("dims")) {
    op.involved_dims = 0;
    for (size_t dim = 0; dim < node["dims"].size(); ++dim) {
      if (node["dims"][dim].get<bool>()) op.involved_dims |= 1u << dim;
    }
  }
  return op;
}

absl::StatusOr<RankTrace> BuildRank(const Json& nodes, int32_t rank, const GroupIndex& groups) {
  const std::map<std::string, NodeType> comm_types = {
      {"COLL", NodeType::kCommColl}, {"SEND", NodeType::kCommSend}, {"RECV", NodeType::kCommRecv}};
  RankTraceBuilder builder;
  builder.header().rank = rank;
  for (const Json& node : nodes) {
    const std::string type = node.at("type");
    NodeSpec spec;
    spec.id = node.at("id");
    CommOp op;
    WorkSize size;
    if (type == "COMP") {
      spec.type = NodeType::kComp;
      spec.work_ns = node.value("micros", int64_t{0}) * 1000;
      if (node.contains("ops")) {
        size = {node["ops"], node["tensor"]};
        spec.work_size = &size;
      }
    } else {
      const auto it = comm_types.find(type);
      if (it == comm_types.end()) {
        return absl::InvalidArgumentError(absl::StrCat("node ", spec.id, ": unknown type ", type));
      }
      spec.type = it->second;
      op = CommOf(node, type, groups);
      spec.comm = &op;
    }
    const uint32_t index = builder.AddNode(spec);
    for (const Json& dep : node.value("deps", Json::array())) {
      builder.AddEdgeById(index, dep, EdgeKind::kData);
    }
  }
  return builder.Build(nullptr);
}

absl::Status BuildTrace(const Json& row, Trace* trace) {
  const Json& workload = row.at("workload");
  trace->world_size = workload.at("npus");
  trace->groups.push_back({"0", "", std::vector<int32_t>(trace->world_size)});
  std::iota(trace->groups[0].ranks.begin(), trace->groups[0].ranks.end(), 0);
  GroupIndex groups{{"0", 0}};
  if (row.at("comm_groups").is_object()) {
    for (const auto& [name, ranks] : row["comm_groups"].items()) {
      groups[name] = static_cast<uint32_t>(trace->groups.size());
      trace->groups.push_back({name, "", ranks.get<std::vector<int32_t>>()});
    }
  }
  for (int32_t rank = 0; rank < trace->world_size; ++rank) {
    const Json& nodes =
        workload.contains("all_ranks") ? workload["all_ranks"] : workload.at("ranks").at(rank);
    ASSIGN_OR_RETURN(RankTrace rank_trace, BuildRank(nodes, rank, groups));
    trace->ranks.push_back(std::move(rank_trace));
  }
  return absl::OkStatus();
}

absl::StatusOr<SystemDescription> BuildSystem(const Json& row) {
  const Json& network = row.at("network");
  // JSON lists are YAML lists.
  const std::string yaml = absl::StrCat("topology: ", network.at("topology").dump(),
                                        "\nnpus_count: ", network.at("npus_per_dim").dump(),
                                        "\nbandwidth: ", network.at("bandwidth_GiBps").dump(),
                                        "\nlatency: ", network.at("latency_ns").dump(), "\n");
  const bool remote = row.contains("remote_memory") && !row["remote_memory"].is_null();
  ASSIGN_OR_RETURN(SystemDescription system,
                   ParseAstraSystem(yaml, row.at("system").dump(),
                                    remote ? row["remote_memory"].dump() : std::string()));
  system.num_queues_per_dim = row.value("num_queues_per_dim", 1);
  const std::string backend = row.at("backend");
  if (backend == "congestion_aware") {
    system.back_end = NetworkBackEnd::kLink;
  } else if (backend != "congestion_unaware") {
    return absl::InvalidArgumentError(absl::StrCat("backend: ", backend, " is not known"));
  }
  return system;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ReadLines(const std::string& path) {
  gzFile file = gzopen(path.c_str(), "rb");  // Reads plain files too.
  if (file == nullptr) return absl::NotFoundError(absl::StrCat(path, ": cannot be opened"));
  std::string text;
  char buffer[1 << 16];
  int count = 0;
  while ((count = gzread(file, buffer, sizeof(buffer))) > 0) text.append(buffer, count);
  gzclose(file);
  if (count < 0) return absl::DataLossError(absl::StrCat(path, ": damaged gzip"));
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text.find('\n', begin);
    if (end == std::string::npos) end = text.size();
    if (end > begin) lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

absl::StatusOr<GoldenRow> ParseGoldenRow(const std::string& line) {
  GoldenRow row;
  try {
    const Json json = Json::parse(line);
    row.id = json.at("id");
    row.group = json.at("group");
    row.backend = json.at("backend");
    row.ok = json.at("result").at("ok");
    if (!row.ok) return row;
    row.fault = BuildTrace(json, &row.trace);
    if (!row.fault.ok()) return row;
    absl::StatusOr<SystemDescription> system = BuildSystem(json);
    row.fault = system.status();
    if (!row.fault.ok()) return row;
    row.system = *std::move(system);
    const Json& cycles = json["result"].at("cycles");
    if (cycles.is_array()) {
      row.end_ns = cycles.get<std::vector<int64_t>>();
    } else {
      row.end_ns.assign(row.trace.world_size, cycles.get<int64_t>());
    }
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("row ", row.id, ": ", error.what()));
  }
  return row;
}

GoldenVerdict JudgeGoldenRow(const GoldenRow& row) {
  if (!row.fault.ok()) return {false, false, row.fault.ToString()};
  const absl::StatusOr<SimResult> result = Simulate(row.trace, row.system, SimOptions(), nullptr);
  if (!result.ok()) return {false, false, result.status().ToString()};
  if (result->ranks.size() != row.end_ns.size()) {
    return {false, false, absl::StrCat(result->ranks.size(), " ranks, golden ", row.end_ns.size())};
  }
  bool exact = true;
  for (const RankEnd& rank : result->ranks) {
    const int64_t want_ns = row.end_ns[rank.rank];
    const int64_t got_ns = rank.end_ps / kPsPerNs;
    exact = exact && got_ns == want_ns;
    if (std::llabs(got_ns - want_ns) > 1 + want_ns / 1000) {
      return {false, false,
              absl::StrCat("rank ", rank.rank, ": ", got_ns, " ns, golden ", want_ns)};
    }
  }
  return {true, exact, ""};
}

}  // namespace chakrad
