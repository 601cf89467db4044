#include "server/analysis/load_timeline.h"

#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "chakrad/v1/job.pb.h"
#include "common/status.h"
#include "server/ids.h"
#include "server/jobs/load_job_trace.h"
#include "server/limits.h"

namespace chakrad {
namespace {

absl::Status CheckSize(int64_t nodes_count, absl::string_view name) {
  if (nodes_count <= kMaxAnalysisNodes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(name, ": ", nodes_count,
                                                   " nodes are more than the ", kMaxAnalysisNodes,
                                                   " that are analysed at once; name some ranks"));
}

absl::Status CheckRanks(const std::vector<int32_t>& ranks) {
  std::set<int32_t> seen;
  for (const int32_t rank : ranks) {
    if (!seen.insert(rank).second) {
      return absl::InvalidArgumentError(absl::StrCat("ranks: ", rank, " is named twice"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<LoadedTimeline> LoadMeasured(const std::string& id,
                                            const std::vector<int32_t>& ranks, bool cold,
                                            TraceStore* traces) {
  LoadedTimeline loaded;
  loaded.trace_id = id;
  ASSIGN_OR_RETURN(loaded.lease, traces->Lease(id));
  ASSIGN_OR_RETURN(TraceInfo info, traces->GetInfo(id));
  const std::set<int32_t> wanted(ranks.begin(), ranks.end());
  int64_t nodes_count = 0;
  for (const RankSummary& rank : info.ranks) {
    if (wanted.empty() || wanted.count(rank.rank) > 0) nodes_count += rank.nodes_count;
  }
  RETURN_IF_ERROR(CheckSize(nodes_count, absl::StrCat("traces/", id)));
  TraceLoadOptions options;
  options.cold = cold;
  options.ranks = ranks;
  ASSIGN_OR_RETURN(Trace trace, traces->Load(id, options));
  loaded.stored = std::move(info);
  loaded.trace = std::make_unique<const Trace>(std::move(trace));
  ASSIGN_OR_RETURN(loaded.job, MeasuredTimeline(*loaded.trace, ranks));
  return loaded;
}

// What analyses pass over: a graph that several ranks run counts for each of them. `ranks`: as
// in LoadTimeline, each of the world.
int64_t GraphNodesOf(const Trace& trace, const std::vector<int32_t>& ranks) {
  int64_t nodes_count = 0;
  const auto add = [&](int32_t rank) {
    const RankTrace* ran = trace.FindRankOrStandIn(rank);
    if (ran != nullptr) nodes_count += static_cast<int64_t>(ran->size());
  };
  for (const int32_t rank : ranks) add(rank);
  if (!ranks.empty()) return nodes_count;
  for (int32_t rank = 0; rank < trace.world_size; ++rank) add(rank);
  return nodes_count;
}

// Nodes by the ids that a stored timeline names, of each graph that was run.
class NodeIndex {
 public:
  explicit NodeIndex(const Trace* trace) : trace_(trace) {}
  // Null when there is no such rank or node.
  const uint32_t* Find(int32_t rank, uint64_t id) {
    const RankTrace* ran = trace_->FindRankOrStandIn(rank);
    if (ran == nullptr) return nullptr;
    std::unordered_map<uint64_t, uint32_t>& index = by_graph_[ran];
    if (index.empty()) {
      index.reserve(ran->size());
      for (uint32_t node = 0; node < ran->size(); ++node) index.emplace(ran->id[node], node);
    }
    const auto it = index.find(id);
    return it == index.end() ? nullptr : &it->second;
  }

 private:
  const Trace* const trace_;
  std::map<const RankTrace*, std::unordered_map<uint64_t, uint32_t>> by_graph_;
};

absl::Status AddChunk(const std::string& bytes, const Trace& trace, const std::set<int32_t>& wanted,
                      NodeIndex* nodes, std::vector<TimelineInterval>* intervals) {
  v1::TimelineChunk chunk;
  if (!chunk.ParseFromString(bytes)) {
    return absl::DataLossError("a stored timeline chunk does not parse");
  }
  for (int i = 0; i < chunk.rank_size(); ++i) {
    const int32_t rank = chunk.rank(i);
    if (!wanted.empty() && wanted.count(rank) == 0) continue;
    const uint32_t* node = nodes->Find(rank, chunk.node_id(i));
    if (node == nullptr) {
      return absl::DataLossError(absl::StrCat("the timeline names node ", chunk.node_id(i),
                                              " of rank ", rank, ", which the trace lacks"));
    }
    intervals->push_back({.start_ps = chunk.start_ps(i),
                          .end_ps = chunk.start_ps(i) + chunk.dur_ps(i),
                          .rank = rank,
                          .node = *node,
                          .queue = trace.FindRankOrStandIn(rank)->queue[*node],
                          .kind = static_cast<IntervalKind>(chunk.kind(i))});
  }
  return CheckSize(static_cast<int64_t>(intervals->size()), "the timeline");
}

absl::StatusOr<LoadedTimeline> LoadSimulated(const std::string& id,
                                             const std::vector<int32_t>& ranks, bool cold,
                                             TraceStore* traces, JobStore* jobs) {
  ASSIGN_OR_RETURN(const JobRecord record, jobs->Get(id));
  if (record.state != JobRecord::State::kSucceeded) {
    return absl::FailedPreconditionError(
        absl::StrCat("jobs/", id, " has not succeeded: there is no timeline to analyse"));
  }
  ASSIGN_OR_RETURN(const SimulationSpec spec, DecodeSpec(record.spec));
  if (!spec.keep_timeline) {
    return absl::FailedPreconditionError(absl::StrCat(
        "jobs/", id,
        " kept no timeline: submit it again with keep_timeline (it is computed anew)"));
  }
  v1::SimulationResult result;
  if (!result.ParseFromString(record.result)) {
    return absl::DataLossError(absl::StrCat("jobs/", id, ": the stored result does not parse"));
  }
  LoadedTimeline loaded;
  loaded.trace_id = record.trace_id;
  loaded.variant = VariantOf(spec);
  ASSIGN_OR_RETURN(loaded.lease, traces->Lease(record.trace_id));
  ASSIGN_OR_RETURN(loaded.stored, traces->GetInfo(record.trace_id));
  int64_t stored_nodes_count = 0;  // A projection starts from all of them.
  for (const RankSummary& rank : loaded.stored.ranks) stored_nodes_count += rank.nodes_count;
  RETURN_IF_ERROR(CheckSize(stored_nodes_count, absl::StrCat("jobs/", id)));
  std::vector<std::string> notices;
  ASSIGN_OR_RETURN(Trace trace, LoadJobTrace(spec, cold, traces, &notices));
  for (const int32_t rank : ranks) {
    if (rank >= 0 && rank < trace.world_size) continue;
    return absl::NotFoundError(absl::StrCat("ranks: ", rank, " is not among the ", trace.world_size,
                                            " ranks of jobs/", id));
  }
  RETURN_IF_ERROR(CheckSize(GraphNodesOf(trace, ranks), absl::StrCat("jobs/", id)));
  loaded.trace = std::make_unique<const Trace>(std::move(trace));
  const std::set<int32_t> wanted(ranks.begin(), ranks.end());
  NodeIndex nodes(loaded.trace.get());
  std::vector<TimelineInterval> intervals;
  for (int64_t chunk = 0;; ++chunk) {
    const absl::StatusOr<std::string> bytes = jobs->GetTimelineChunk(id, chunk);
    if (absl::IsNotFound(bytes.status())) break;
    if (!bytes.ok()) return bytes.status();
    const absl::Status added = AddChunk(*bytes, *loaded.trace, wanted, &nodes, &intervals);
    if (!added.ok()) return Annotate(added, absl::StrCat("jobs/", id));
  }
  ASSIGN_OR_RETURN(loaded.job, SimulatedTimeline(*loaded.trace, result.end_ps(), intervals, ranks));
  loaded.job.notices.insert(loaded.job.notices.begin(), notices.begin(), notices.end());
  return loaded;
}

}  // namespace

absl::StatusOr<LoadedTimeline> LoadTimeline(absl::string_view name,
                                            const std::vector<int32_t>& ranks, bool cold,
                                            TraceStore* traces, JobStore* jobs) {
  RETURN_IF_ERROR(CheckRanks(ranks));
  if (absl::StartsWith(name, "jobs/")) {
    ASSIGN_OR_RETURN(const std::string id, IdFromName(name, "jobs", "name"));
    return LoadSimulated(id, ranks, cold, traces, jobs);
  }
  ASSIGN_OR_RETURN(const std::string id, IdFromName(name, "traces", "name"));
  return LoadMeasured(id, ranks, cold, traces);
}

}  // namespace chakrad
