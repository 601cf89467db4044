#include "trace/check/check_trace.h"

#include "absl/strings/str_cat.h"
#include "trace/check/check_across.h"
#include "trace/check/check_rank.h"
#include "trace/check/finding_list.h"
#include "trace/check/group_table.h"
#include "trace/check/quality.h"

namespace chakrad {
namespace {

void CheckRanksOfWorld(const Trace& trace, FindingList* findings) {
  for (const RankTrace& rank : trace.ranks) {
    if (rank.rank >= 0 && rank.rank < trace.world_size) continue;
    findings->AddOfRank("rank_out_of_world", rank, [&] {
      return absl::StrCat("rank ", rank.rank, " is not in [0, ", trace.world_size, ")");
    });
  }
  const std::vector<int32_t> missing = trace.MissingRanks();
  if (missing.empty()) return;
  findings->AddOfTrace("missing_ranks", [&] {
    return absl::StrCat(missing.size() == 1 ? "rank " : "ranks ", RangesText(missing), " of ",
                        trace.world_size, missing.size() == 1 ? " is" : " are", " missing");
  });
}

bool HasWork(const RankTrace& rank) {
  for (uint32_t node = 0; node < rank.size(); ++node) {
    const CommOp* comm = rank.CommOf(node);
    if (comm != nullptr && comm->bytes > 0) return true;
    const WorkSize* size = rank.WorkSizeOf(node);
    if (size != nullptr && (size->num_ops > 0 || size->tensor_bytes > 0)) return true;
    if (IsWork(rank, node) && rank.work_ns[node] > 0) return true;
  }
  return false;
}

void CheckAnyWork(const Trace& trace, FindingList* findings) {
  bool any_node = false;
  for (const RankTrace& rank : trace.ranks) {
    if (HasWork(rank)) return;
    any_node |= rank.size() > 0;
  }
  if (!any_node) return;
  findings->AddOfTrace("no_work", [] {
    return std::string("no node has a duration above 0, operations, or bytes to move");
  });
}

}  // namespace

CheckReport CheckTrace(const Trace& trace, const std::vector<Ledger>& ledgers) {
  FindingList findings;
  for (const Ledger& ledger : ledgers) findings.AddLedger(ledger);
  const GroupTable groups(&trace);
  CheckGroups(groups, &findings);
  CheckRanksOfWorld(trace, &findings);
  CheckAnyWork(trace, &findings);
  std::vector<RankView> views;
  views.reserve(trace.ranks.size());
  for (const RankTrace& rank : trace.ranks) {
    views.push_back({&rank, BuildCheckGraph(rank), {}});
    views.back().comm = CommInIssueOrder(rank, views.back().graph);
    CheckRank(rank, views.back().graph, groups, &findings);
  }
  CommMatches matches;
  CheckCollectives(views, groups, &matches, &findings);
  CheckMessages(views, groups, &matches, &findings);
  CheckDeadlock(views, matches, &findings);
  CheckClocks(views, matches, &findings);
  CheckCommDetails(views, groups, matches, &findings);
  const QualityParts parts = ComputeQualityParts(groups, ledgers);
  const double quality = QualityOf(parts, trace, findings);
  CheckReport report = findings.Take();
  report.parts = parts;
  report.quality = quality;
  return report;
}

}  // namespace chakrad
