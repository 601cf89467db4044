// Workload::DescribeWaits: what a run that has come to a halt was waiting for.
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/limits.h"
#include "sim/workload/workload.h"

namespace chakrad {
namespace {

constexpr size_t kMissingListed = 10;

}  // namespace

std::string Workload::DescribeWaits() const {
  std::vector<std::string> lines;
  for (const CollectiveWait& wait : rendezvous_.Waits()) {
    std::vector<std::string> missing;
    for (const int32_t rank : wait.missing) {
      if (missing.size() == kMissingListed) break;
      missing.push_back(absl::StrCat(rank, cohorts_[cohort_of_[rank]].done() ? " (finished)" : ""));
    }
    if (missing.size() < wait.missing.size()) {
      missing.push_back(absl::StrCat(wait.missing.size() - missing.size(), " more"));
    }
    for (const auto& [rank, node] : wait.waiting) {
      if (!IsRunning(rank, node)) continue;  // It had nothing to do and went on.
      lines.push_back(absl::StrCat(
          Describe(rank, node), " is collective ", wait.number, " of group \"",
          trace_->groups[wait.group].name, "\" and waits for ",
          missing.empty() ? "the others' chunks, which wait in another order"
                          : absl::StrCat("rank ", absl::StrJoin(missing, ", "), " to join")));
    }
  }
  for (const Channel& channel : channels_.all) {
    for (size_t i = static_cast<size_t>(channel.arrived_count); i < channel.receives.size(); ++i) {
      lines.push_back(absl::StrCat(Describe(channel.dst, channel.receives[i].node), " waits for ",
                                   channel.bytes, " bytes (tag ", channel.tag, ") from rank ",
                                   channel.src, ", which has not sent them"));
    }
  }
  int64_t held_count = 0, ranks_count = 0;
  for (const Cohort& cohort : cohorts_) {
    if (cohort.done()) continue;
    ranks_count += static_cast<int64_t>(cohort.ranks.size());
    for (const Slot& slot : cohort.slots) {
      if (slot.node == kNone || !IsComm(cohort.trace->type[slot.node])) continue;
      for (const uint32_t place : slot.ready) {
        ++held_count;
        if (lines.size() > kWaitsListed) continue;
        lines.push_back(absl::StrCat(
            Describe(cohort.ranks[0], cohort.graph->ByOrder(place)), " is ready and waits for ",
            DescribeNode(*cohort.trace, slot.node), " of the same rank to end"));
        --held_count;
      }
    }
  }
  const int64_t count = static_cast<int64_t>(lines.size()) + held_count;
  if (lines.size() > kWaitsListed) lines.resize(kWaitsListed);
  return absl::StrCat(ranks_count, " of ", trace_->world_size, " ranks wait, with ",
                      nodes_count_ - counts_.nodes_done,
                      " nodes not run: ", absl::StrJoin(lines, "; "),
                      count > static_cast<int64_t>(lines.size())
                          ? absl::StrCat("; and ", count - lines.size(), " more")
                          : "");
}

bool Workload::IsRunning(int32_t rank, uint32_t node) const {
  const Cohort& cohort = cohorts_[cohort_of_[rank]];
  const uint16_t slot = cohort.plan->slot[node];
  return slot != NodePlan::kNoSlot && cohort.slots[slot].node == node;
}

}  // namespace chakrad
