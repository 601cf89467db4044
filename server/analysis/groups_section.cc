#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/collectives/match_comm.h"
#include "analysis/groups/group_stats.h"
#include "chakrad/v1/analysis.pb.h"
#include "common/utf8.h"
#include "server/analysis/list_budget.h"
#include "server/analysis/notices.h"
#include "server/analysis/sections.h"

namespace chakrad {
namespace {

// Bytes of a description in an answer, and of a group's ranks how many.
constexpr size_t kShownBytes = 128;
constexpr size_t kShownRanks = 64;

void ToProto(const GroupStats& stats, const Trace& trace, v1::GroupStats* row) {
  row->set_group(GroupLabel(trace, stats.group));
  if (stats.group < trace.groups.size()) {
    const ProcessGroup& group = trace.groups[stats.group];
    row->set_description(ValidUtf8(group.description, kShownBytes));
    row->set_ranks_count(static_cast<int32_t>(group.ranks.size()));
    const size_t shown = std::min(group.ranks.size(), kShownRanks);
    row->mutable_ranks()->Add(group.ranks.begin(), group.ranks.begin() + shown);
  }
  row->set_parallelism(std::string(ParallelismName(stats.parallelism)));
  row->set_reason(stats.reason);
  row->set_count(stats.count);
  row->set_bytes(stats.bytes);
  row->set_total_ps(stats.total_ps);
  row->set_comm_ps(stats.comm_ps);
  row->set_exposed_ps(stats.exposed_ps);
  row->set_shape(ShapeText(stats.shape));
}

}  // namespace

void FillGroups(const SectionInput& input, v1::TimelineAnalysis* answer) {
  std::vector<GroupStats> groups = ComputeGroupStats(*input.job);
  for (const ParallelismStats& sum : SumByParallelism(groups)) {
    v1::ParallelismTime* row = answer->add_parallelism();
    row->set_parallelism(std::string(ParallelismName(sum.parallelism)));
    row->set_groups_count(sum.groups_count);
    row->set_count(sum.count);
    row->set_bytes(sum.bytes);
    row->set_total_ps(sum.total_ps);
    row->set_comm_ps(sum.comm_ps);
    row->set_exposed_ps(sum.exposed_ps);
  }
  answer->set_groups_count(static_cast<int64_t>(groups.size()));
  std::stable_sort(groups.begin(), groups.end(), [](const GroupStats& a, const GroupStats& b) {
    return std::tie(b.exposed_ps, b.comm_ps) < std::tie(a.exposed_ps, a.comm_ps);
  });
  groups.resize(std::min(groups.size(), input.top));
  ListBudget budget;
  for (const GroupStats& group : groups) {
    ToProto(group, *input.job->trace, answer->add_groups());
    if (!budget.KeepLast(answer->mutable_groups())) break;
  }
  if (answer->groups_size() < answer->groups_count()) {
    AddNotices({absl::StrCat("groups: ", answer->groups_size(), " of ", answer->groups_count(),
                             " are listed")},
               answer);
  }
}

}  // namespace chakrad
