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
  const auto is_done = [&](int32_t rank) {
    return ranks_[rank].nodes_done == ranks_[rank].trace->size();
  };
  for (const CollectiveWait& wait : collectives_.Waits()) {
    std::vector<std::string> missing;
    for (const int32_t rank : wait.missing) {
      if (missing.size() == kMissingListed) break;
      missing.push_back(absl::StrCat(rank, is_done(rank) ? " (finished)" : ""));
    }
    if (missing.size() < wait.missing.size()) {
      missing.push_back(absl::StrCat(wait.missing.size() - missing.size(), " more"));
    }
    for (const auto& [rank, node] : wait.waiting) {
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
  for (int32_t rank = 0; rank < trace_->world_size; ++rank) {
    const RankState& state = ranks_[rank];
    if (is_done(rank)) continue;
    ++ranks_count;
    const int comm = static_cast<int>(Resource::kComm);
    for (const uint32_t place : state.ready[comm]) {
      ++held_count;
      if (lines.size() > kWaitsListed) continue;
      lines.push_back(absl::StrCat(
          Describe(rank, state.graph->by_order[place]), " is ready and waits for ",
          DescribeNode(*state.trace, state.running[comm]), " of the same rank to end"));
      --held_count;
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

}  // namespace chakrad
