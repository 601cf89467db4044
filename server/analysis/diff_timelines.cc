#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/breakdown/time_breakdown.h"
#include "analysis/collectives/collective_stats.h"
#include "analysis/collectives/match_comm.h"
#include "analysis/diff/diff_collectives.h"
#include "analysis/diff/diff_operators.h"
#include "chakrad/v1/analysis.pb.h"
#include "common/status.h"
#include "common/utf8.h"
#include "server/analysis/analyze_timeline.h"
#include "server/analysis/load_timeline.h"
#include "server/analysis/select_step.h"
#include "server/analysis/shares_to_proto.h"
#include "server/limits.h"

namespace chakrad {
namespace {

constexpr const char* kKindNames[kIntervalKindsCount] = {"compute", "comm", "memory", "host"};

struct Side {
  LoadedTimeline loaded;
  JobTimeline part;  // When a step was named.
  bool has_step = false;

  const JobTimeline& job() const { return has_step ? part : loaded.job; }
};

absl::StatusOr<Side> LoadSide(const v1::TimelineSelection& selection, TraceStore* traces,
                              JobStore* jobs) {
  const std::vector<int32_t> ranks(selection.ranks().begin(), selection.ranks().end());
  Side side;
  ASSIGN_OR_RETURN(side.loaded, LoadTimeline(selection.name(), ranks, false, traces, jobs));
  side.has_step = selection.has_step();
  if (side.has_step) {
    // A step is a window of each rank's own time: clocks that disagree change nothing in it.
    ASSIGN_OR_RETURN(side.part, SelectStep(side.loaded.job, selection.step()));
  }
  return side;
}

absl::StatusOr<Side> LoadNamedSide(absl::string_view name, const v1::TimelineSelection& selection,
                                   TraceStore* traces, JobStore* jobs) {
  absl::StatusOr<Side> side = LoadSide(selection, traces, jobs);
  if (!side.ok()) return Annotate(side.status(), name);
  return side;
}

TimeShares SharesOf(const JobTimeline& job) {
  std::vector<TimeBreakdown> ranks;
  for (const RankTimeline& rank : job.ranks) ranks.push_back(BreakDownWithoutCauses(rank));
  return MeanShares(ranks);
}

std::vector<CollectiveStats> CollectivesOf(const Side& side) {
  return ComputeCollectiveStats(side.job(), MatchComm(side.loaded.job));
}

void FillCollectives(const Side& before, const Side& after, v1::TimelineDiff* answer) {
  const std::vector<CollectiveChange> changes =
      DiffCollectives(CollectivesOf(before), before.job().ranks.size(), CollectivesOf(after),
                      after.job().ranks.size());
  for (const CollectiveChange& change : changes) {
    v1::CollectiveChange* row = answer->add_collectives();
    row->set_type(std::string(change.type));
    row->set_size_bucket(std::string(change.size_bucket));
    row->set_before_count(change.before_count);
    row->set_after_count(change.after_count);
    row->set_before_bytes(change.before_bytes);
    row->set_after_bytes(change.after_bytes);
    row->set_before_bus_bandwidth_bytes_per_second(change.before_bus_bandwidth);
    row->set_after_bus_bandwidth_bytes_per_second(change.after_bus_bandwidth);
  }
}

void AddNotices(absl::string_view name, const Side& side, v1::TimelineDiff* answer) {
  for (const std::string& notice : side.job().notices) {
    answer->add_notices(ValidUtf8(absl::StrCat(name, ": ", notice), kMaxNoticeBytes));
  }
}

// Lists the first `top`, as far as they fit.
void FillChanges(const std::vector<OperatorChange>& changes, size_t top, absl::string_view what,
                 v1::TimelineDiff* answer,
                 google::protobuf::RepeatedPtrField<v1::OperatorChange>* listed) {
  size_t bytes = 0;
  const size_t wanted = std::min(top, changes.size());
  for (size_t i = 0; i < wanted; ++i) {
    const OperatorChange& change = changes[i];
    v1::OperatorChange entry;
    entry.set_name(ValidUtf8(change.name, kMaxNodeNameBytes));
    entry.set_kind(kKindNames[static_cast<int>(change.kind)]);
    entry.set_before_count(change.before_count);
    entry.set_after_count(change.after_count);
    entry.set_before_total_ps(change.before_total_ps);
    entry.set_after_total_ps(change.after_total_ps);
    bytes += entry.ByteSizeLong() + 4;
    if (bytes > kMaxDiffListBytes) {
      answer->add_notices(absl::StrCat("the first ", i, " of ", wanted, " operators that were ",
                                       what, " are listed: more do not fit an answer"));
      return;
    }
    *listed->Add() = std::move(entry);
  }
}

}  // namespace

absl::Status DiffTimelines(const v1::DiffTimelinesRequest& request, TraceStore* traces,
                           JobStore* jobs, v1::TimelineDiff* answer) {
  if (request.top() < 0 || request.top() > kMaxAnalysisTop) {
    return absl::InvalidArgumentError(
        absl::StrCat("top: ", request.top(), " is not in [0, ", kMaxAnalysisTop, "]"));
  }
  const size_t top = static_cast<size_t>(request.top() == 0 ? kDefaultAnalysisTop : request.top());
  const double asked = request.min_relative_change();
  if (!std::isfinite(asked) || asked < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("min_relative_change: ", asked, " is not a finite number >= 0"));
  }
  ASSIGN_OR_RETURN(const Side before, LoadNamedSide("before", request.before(), traces, jobs));
  ASSIGN_OR_RETURN(const Side after, LoadNamedSide("after", request.after(), traces, jobs));
  answer->set_before(request.before().name());
  answer->set_after(request.after().name());
  AddNotices("before", before, answer);
  AddNotices("after", after, answer);
  if (before.job().simulated != after.job().simulated) {
    answer->add_notices(
        "one side is a simulation: a recorded host operation's time includes those that it calls, "
        "a "
        "simulated one's is its own work alone, so that their totals differ without any change");
  }
  const OperatorDiff diff =
      DiffOperators(before.job(), after.job(), asked == 0 ? kDefaultRelativeChange : asked);
  ToProto(SharesOf(before.job()), answer->mutable_before_shares());
  ToProto(SharesOf(after.job()), answer->mutable_after_shares());
  answer->set_before_span_ps(MeanSpanPs(before.job()));
  answer->set_after_span_ps(MeanSpanPs(after.job()));
  answer->set_added_count(static_cast<int64_t>(diff.added.size()));
  answer->set_removed_count(static_cast<int64_t>(diff.removed.size()));
  answer->set_changed_count(static_cast<int64_t>(diff.changed.size()));
  answer->set_unchanged_count(diff.unchanged_count);
  FillChanges(diff.added, top, "added", answer, answer->mutable_added());
  FillChanges(diff.removed, top, "removed", answer, answer->mutable_removed());
  FillChanges(diff.changed, top, "changed", answer, answer->mutable_changed());
  FillCollectives(before, after, answer);
  return absl::OkStatus();
}

}  // namespace chakrad
