#include "trace/check/quality.h"

#include "trace/check/check_rank.h"

namespace chakrad {
namespace {

struct Share {
  int64_t part = 0;
  int64_t all = 0;

  void Count(bool counts) {
    ++all;
    if (counts) ++part;
  }
  double Value() const {
    return all == 0 ? 1 : static_cast<double>(part) / static_cast<double>(all);
  }
};

bool IsFullyKnown(const RankTrace& rank, uint32_t node, const GroupTable& groups) {
  const CommOp* comm = rank.CommOf(node);
  if (comm == nullptr || !groups.Holds(comm->group, rank.rank)) return false;
  if (rank.type[node] != NodeType::kCommColl) {
    return comm->bytes > 0 && groups.Holds(comm->group, comm->peer);
  }
  return comm->bytes > 0 || comm->collective == CollectiveType::kBarrier ||
         groups.MembersOf(comm->group).size() == 1;
}

}  // namespace

QualityParts ComputeQualityParts(const GroupTable& groups, const std::vector<Ledger>& ledgers) {
  Share records, durations, launches, communication;
  for (const Ledger& ledger : ledgers) {
    records.all += ledger.input_records;
    records.part += ledger.kept + ledger.merged;
    // A file that could not be read has lost one record at least.
    const auto unreadable = ledger.flaws_by_rule.find("unreadable_file");
    if (unreadable != ledger.flaws_by_rule.end()) records.all += unreadable->second;
  }
  const Trace& trace = groups.trace();
  for (const RankTrace& rank : trace.ranks) {
    const bool records_launches = RecordsLaunches(rank);
    for (uint32_t node = 0; node < rank.size(); ++node) {
      if (!IsWork(rank, node)) continue;
      if (IsComm(rank.type[node])) {
        communication.Count(IsFullyKnown(rank, node, groups));
      } else {
        durations.Count(rank.work_ns[node] != kUnknownNs || rank.WorkSizeOf(node) != nullptr);
      }
      if (records_launches && IsDeviceOp(rank, node) && rank.start_ns[node] != kUnknownNs) {
        launches.Count(HasHostDependency(rank, node));
      }
    }
  }
  const Share ranks{static_cast<int64_t>(trace.ranks.size()), trace.world_size};
  return {records.Value(), durations.Value(), launches.Value(), communication.Value(),
          trace.ranks.empty() ? 0 : ranks.Value()};
}

double QualityOf(const QualityParts& parts, const Trace& trace, const FindingList& findings) {
  if (trace.ranks.empty()) return 0;
  double quality =
      (parts.records + parts.durations + parts.launches + parts.communication + parts.ranks) / 5;
  if (findings.errors_count() > 0) quality /= 2;
  if (findings.CountOf("no_work") > 0) quality /= 2;
  return quality;
}

}  // namespace chakrad
