#include "sim/notices.h"

#include "absl/strings/str_cat.h"
#include "sim/system/system_description.h"

namespace chakrad {

std::vector<std::string> WriteNotices(const WorkloadCounts& counts, const SimResult& result) {
  std::vector<std::string> notices;
  const auto add = [&](int64_t count, absl::string_view what) {
    if (count > 0) notices.push_back(absl::StrCat(count, " ", what));
  };
  if (!counts.charged_any_time && result.network_bytes == 0) {
    notices.push_back(
        "no work was simulated: no node has a duration and no bytes were sent; the times say "
        "nothing about the job");
  }
  add(static_cast<int64_t>(result.stand_in_by_rank.size()),
      "ranks are missing from the trace; copies of other ranks stand in for them");
  add(counts.unknown_durations, "compute nodes have no recorded duration and were charged 0");
  add(counts.without_size,
      "compute nodes have no work size for the compute model asked for; their recorded durations "
      "were used");
  add(counts.rooflines, "compute nodes were charged by the roofline");
  add(counts.shapes, "compute nodes were charged from their operators' shapes");
  add(counts.roofline_skipped, "compute nodes have tensor_size 0 and were skipped by the roofline");
  for (int type = 0; type < kCollectiveTypesCount; ++type) {
    add(counts.unmodelled[type],
        absl::StrCat(CollectiveTypeName(static_cast<CollectiveType>(type)),
                     " nodes have no cost model: each took its recorded duration, and no rank "
                     "waited for another"));
  }
  add(counts.uneven_all_to_alls,
      "ALL_TO_ALL, GATHER or SCATTER nodes state fewer bytes than another member; the largest size "
      "was used");
  const absl::string_view latencies = "each was charged latencies and nothing else";
  const bool astra = result.semantics == SemanticsName(Semantics::kAstra);
  add(counts.zero_bytes,
      absl::StrCat("collectives state 0 bytes: ",
                   astra ? "each was charged as the smallest message there is" : latencies));
  add(counts.zero_sends, absl::StrCat("sends state 0 bytes: ", latencies));
  add(counts.without_work,
      "collectives had nothing to move (one rank, or no dimension to use) and took no time");
  add(counts.tree_substitutes,
      "collectives that are no all-reduce are configured as doubleBinaryTree, which runs an "
      "all-reduce's tree, as in ASTRA-sim");
  return notices;
}

}  // namespace chakrad
