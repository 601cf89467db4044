#include "tests/validation/projection.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/exposed_comm.h"
#include "sim/simulate.h"
#include "tests/validation/last_step.h"
#include "trace/import/import.h"
#include "trace/model/rank_trace_builder.h"

namespace chakrad {
namespace {

constexpr double kPsPerUs = 1e6;
constexpr double kPsPerMs = 1e9;
constexpr int64_t kMiB = int64_t{1} << 20;
constexpr char kSleepModel[] = "sleepnet_dp";  // Its layers sleep.

struct OpName {
  const char* name;
  CollectiveType type;
};
constexpr OpName kOps[] = {{"all_reduce", CollectiveType::kAllReduce},
                           {"all_gather", CollectiveType::kAllGather},
                           {"all_to_all", CollectiveType::kAllToAll},
                           {"broadcast", CollectiveType::kBroadcast}};

// The communication node of `rank`, or none when it has no part in the operation.
absl::StatusOr<bool> CommNode(const GroundTruthRow& row, int32_t rank, NodeSpec* node,
                              CommOp* comm) {
  comm->bytes = row.bytes;
  if (row.op == "send_recv") {
    node->type = rank == 0 ? NodeType::kCommSend : NodeType::kCommRecv;
    comm->peer = 1 - rank;
    return rank < 2;
  }
  for (const OpName& op : kOps) {
    if (row.op != op.name) continue;
    node->type = NodeType::kCommColl;
    comm->collective = op.type;
    if (op.type == CollectiveType::kBroadcast) comm->root = 0;
    return true;
  }
  return absl::InvalidArgumentError(absl::StrCat("op: ", row.op, " is not known"));
}

double MedianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Untraced step time over that of the last traced step.
absl::StatusOr<double> RecorderFactor(const std::string& manifest_path) {
  using Json = nlohmann::json;
  std::ifstream file(manifest_path);
  const Json manifest = Json::parse(file, nullptr, false);
  try {
    std::vector<double> untraced, traced;
    for (const Json& steps : manifest.at("untraced_step_ms")) {
      for (const Json& step : steps) untraced.push_back(step);
    }
    for (const Json& steps : manifest.at("traced_step_ms")) traced.push_back(steps.back());
    if (untraced.empty() || traced.empty() || !(MedianOf(traced) > 0)) {
      return absl::InvalidArgumentError(absl::StrCat(manifest_path, ": no step times"));
    }
    return MedianOf(untraced) / MedianOf(traced);
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat(manifest_path, ": ", error.what()));
  }
}

struct IntervalKeeper : SimObserver {
  explicit IntervalKeeper(int32_t ranks_count) : by_rank(ranks_count) {}
  void OnInterval(const TimelineInterval& interval) override {
    by_rank[interval.rank].push_back(interval);
  }
  std::vector<std::vector<TimelineInterval>> by_rank;
};

}  // namespace

absl::StatusOr<Trace> CollectiveTrace(const GroundTruthRow& row) {
  Trace trace;
  trace.world_size = row.fabric.hosts_count;
  trace.groups.push_back({"world", "", std::vector<int32_t>(trace.world_size)});
  std::iota(trace.groups[0].ranks.begin(), trace.groups[0].ranks.end(), 0);
  for (int32_t rank = 0; rank < trace.world_size; ++rank) {
    RankTraceBuilder builder;
    builder.header().rank = rank;
    NodeSpec node;
    node.id = 1;
    CommOp comm;
    node.comm = &comm;
    ASSIGN_OR_RETURN(const bool takes_part, CommNode(row, rank, &node, &comm));
    if (rank == 0) node.gap_ns = std::llround(row.start_skew_us * 1000);
    if (takes_part) builder.AddNode(node);
    ASSIGN_OR_RETURN(RankTrace rank_trace, builder.Build(nullptr));
    trace.ranks.push_back(std::move(rank_trace));
  }
  return trace;
}

absl::StatusOr<Trace> IterationTrace(const std::string& folder, const GroundTruthRow& row) {
  const std::string path =
      absl::StrCat(folder, "/", row.model, "/w", row.fabric.hosts_count, "/rate_none");
  std::error_code error;
  std::vector<ImportFile> files;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    files.push_back({entry.path().filename().string(), entry.path().string()});
  }
  if (error) return absl::NotFoundError(absl::StrCat(path, ": ", error.message()));
  std::sort(files.begin(), files.end(),
            [](const ImportFile& a, const ImportFile& b) { return a.name < b.name; });
  ASSIGN_OR_RETURN(const ImportResult imported, ImportTrace(files, ImportOptions()));
  ASSIGN_OR_RETURN(Trace step, LastStep(imported.trace));
  if (row.model != kSleepModel) {
    ASSIGN_OR_RETURN(const double factor, RecorderFactor(path + "/manifest.json"));
    ScaleHostTime(factor, &step);
  }
  return step;
}

absl::StatusOr<Projected> Project(const Trace& trace, const SystemDescription& system,
                                  const GroundTruthRow& row) {
  IntervalKeeper intervals(trace.world_size);
  ASSIGN_OR_RETURN(const SimResult result, Simulate(trace, system, SimOptions(), &intervals));
  Projected projected;
  projected.span = static_cast<double>(result.end_ps) / (row.is_collective ? kPsPerUs : kPsPerMs);
  for (const RankEnd& rank : result.ranks) {
    ASSIGN_OR_RETURN(const RankBreakdown breakdown,
                     ComputeRankBreakdown(rank.rank, result.end_ps, intervals.by_rank[rank.rank]));
    projected.exposed =
        std::max(projected.exposed, static_cast<double>(breakdown.exposed_comm_ps) / kPsPerMs);
    const double compute = static_cast<double>(breakdown.compute_ps) / kPsPerMs;
    projected.compute = rank.rank == 0 ? compute : std::min(projected.compute, compute);
  }
  return projected;
}

double ExposedPointsOff(const GroundTruthRow& row, const Projected& projected) {
  return 100 * (projected.exposed / projected.span - row.exposed_ms / row.median);
}

Verdict Judge(const GroundTruthRow& row, const Projected& projected) {
  Verdict verdict;
  const auto around_median = [&](double share) {
    verdict.has_target = true;
    verdict.low = row.median * (1 - share);
    verdict.high = row.median * (1 + share);
  };
  if (!row.is_collective) {
    around_median(row.model == kSleepModel ? 0.05 : 0.15);
  } else if (row.op == "all_reduce" || row.op == "send_recv") {
    around_median(0.25);
    if (row.bytes >= kMiB) {
      verdict.low = row.p10 * 0.95;
      verdict.high = row.p90 * 1.05;
    }
  }
  if (!verdict.has_target) return verdict;
  verdict.within = projected.span >= verdict.low && projected.span <= verdict.high;
  if (row.model == kSleepModel && std::abs(ExposedPointsOff(row, projected)) > 5) {
    verdict.within = false;
  }
  return verdict;
}

}  // namespace chakrad
