#include "analysis/critical_path/critical_path.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/clocks/clock_offsets.h"
#include "analysis/critical_path/scaling.h"
#include "chakrad/v1/analysis.pb.h"
#include "common/saturating.h"
#include "common/status.h"
#include "common/utf8.h"
#include "server/analysis/analyze_timeline.h"
#include "server/analysis/load_timeline.h"
#include "server/analysis/select_step.h"
#include "server/limits.h"

namespace chakrad {
namespace {

using Shares = google::protobuf::RepeatedPtrField<v1::PathShare>;

void FillShares(const std::vector<PathShare>& shares, absl::string_view what,
                std::vector<std::string>* notices, Shares* listed) {
  const size_t count = std::min(shares.size(), kMaxPathSharesListed);
  for (size_t i = 0; i < count; ++i) {
    v1::PathShare* share = listed->Add();
    share->set_key(ValidUtf8(shares[i].key, kMaxPathNameBytes));
    share->set_total_ps(shares[i].total_ps);
    share->set_count(shares[i].count);
  }
  if (shares.size() > count) {
    notices->push_back(absl::StrCat(shares.size() - count, " of ", shares.size(), " ", what,
                                    " on the path are not listed: those with the least time"));
  }
}

// Indices of the steps to list: `top` longest, the longest first (of equals the earliest); all
// in order of time where top is 0.
std::vector<size_t> Chosen(const std::vector<PathStep>& steps, size_t top) {
  std::vector<size_t> chosen(steps.size());
  std::iota(chosen.begin(), chosen.end(), 0);
  if (top == 0) return chosen;
  const size_t count = std::min(top, chosen.size());
  const auto longer = [&](size_t a, size_t b) {
    const int64_t length_a = steps[a].end_ps - steps[a].start_ps;
    const int64_t length_b = steps[b].end_ps - steps[b].start_ps;
    return length_a != length_b ? length_a > length_b : a < b;
  };
  std::partial_sort(chosen.begin(), chosen.begin() + static_cast<ptrdiff_t>(count), chosen.end(),
                    longer);
  chosen.resize(count);
  return chosen;
}

void FillSteps(const CausalGraph& graph, const std::vector<PathStep>& steps, size_t top,
               std::vector<std::string>* notices, v1::CriticalPath* answer) {
  std::map<int32_t, const RankTrace*> traces;
  for (const RankCauses& rank : graph.ranks) traces[rank.timeline->rank] = rank.timeline->trace;
  answer->set_steps_count(static_cast<int64_t>(steps.size()));
  const std::vector<size_t> chosen = Chosen(steps, top);
  size_t bytes = 0;
  for (const size_t i : chosen) {
    const PathStep& step = steps[i];
    v1::PathStep listed;
    listed.set_rank(step.rank);
    listed.set_node_id(traces[step.rank]->id[step.node]);
    listed.set_name(ValidUtf8(traces[step.rank]->NameOf(step.node), kMaxPathNameBytes));
    listed.set_node_class(std::string(PathClassName(step)));
    listed.set_start_ps(step.start_ps);
    listed.set_end_ps(step.end_ps);
    listed.set_edge(std::string(PathEdgeName(step.edge)));
    bytes += listed.ByteSizeLong() + 4;
    if (bytes > kMaxPathStepsBytes) break;
    *answer->add_steps() = std::move(listed);
  }
  if (static_cast<size_t>(answer->steps_size()) < chosen.size()) {
    notices->push_back(absl::StrCat("the first ", answer->steps_size(), " of ", chosen.size(),
                                    " steps are listed: more do not fit an answer; ask for fewer, "
                                    "the longest, with top"));
  }
}

// With what is scaled, if anything is.
absl::Status FillWhatIf(const CausalGraph& graph, const v1::FindCriticalPathRequest& request,
                        std::vector<std::string>* notices, v1::CriticalPath* answer) {
  if (request.what_if().empty()) return absl::OkStatus();
  std::vector<Scaling> scalings;
  for (const v1::Scaling& scaling : request.what_if()) {
    scalings.push_back({scaling.node_class(), scaling.factor()});
  }
  ASSIGN_OR_RETURN(const TimeFactors factors, FactorsOf(graph, scalings, notices));
  const CausalReplay replay(graph, factors);
  answer->set_what_if_ps(SaturatingSubtract(replay.end_ps(), graph.start_ps));
  FillShares(SharesOf(graph, FindCriticalPath(graph, replay)).by_class, "classes", notices,
             answer->mutable_what_if_by_class());
  return absl::OkStatus();
}

}  // namespace

absl::Status FindCriticalPath(const v1::FindCriticalPathRequest& request, TraceStore* traces,
                              JobStore* jobs, v1::CriticalPath* answer) {
  if (request.top() < 0 || request.top() > kMaxAnalysisTop) {
    return absl::InvalidArgumentError(
        absl::StrCat("top: ", request.top(), " is not in [0, ", kMaxAnalysisTop, "]"));
  }
  const v1::TimelineSelection& selection = request.timeline();
  const std::vector<int32_t> ranks(selection.ranks().begin(), selection.ranks().end());
  ASSIGN_OR_RETURN(LoadedTimeline loaded,
                   LoadTimeline(selection.name(), ranks, false, traces, jobs));
  EstimateAndAlign(!request.keep_clocks(), &loaded.job);
  JobTimeline part;
  if (selection.has_step()) {
    ASSIGN_OR_RETURN(part, SelectStep(loaded.job, selection.step()));
  }
  const JobTimeline& job = selection.has_step() ? part : loaded.job;
  const CausalGraph graph = BuildCausalGraph(job, loaded.job);
  std::vector<std::string> notices = job.notices;
  for (const std::string& notice : graph.notices) {
    if (std::find(notices.begin(), notices.end(), notice) == notices.end()) {
      notices.push_back(notice);
    }
  }
  const TimeFactors unchanged;
  const CausalReplay replay(graph, unchanged);
  const std::vector<PathStep> steps = FindCriticalPath(graph, replay);
  answer->set_name(selection.name());
  answer->set_start_ps(graph.start_ps);
  answer->set_end_ps(graph.end_ps);
  answer->set_replayed_ps(replay.end_ps() - graph.start_ps);
  FillSteps(graph, steps, static_cast<size_t>(request.top()), &notices, answer);
  const PathShares shares = SharesOf(graph, steps);
  FillShares(shares.by_class, "classes", &notices, answer->mutable_by_class());
  FillShares(shares.by_edge, "edges", &notices, answer->mutable_by_edge());
  FillShares(shares.by_name, "names", &notices, answer->mutable_by_name());
  FillShares(shares.by_rank, "ranks", &notices, answer->mutable_by_rank());
  RETURN_IF_ERROR(FillWhatIf(graph, request, &notices, answer));
  for (const std::string& notice : notices) {
    answer->add_notices(ValidUtf8(notice, kMaxNoticeBytes));
  }
  return absl::OkStatus();
}

}  // namespace chakrad
