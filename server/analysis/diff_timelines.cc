#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/diff/diff_operators.h"
#include "chakrad/v1/analysis.pb.h"
#include "common/status.h"
#include "common/utf8.h"
#include "server/analysis/analyze_timeline.h"
#include "server/analysis/load_timeline.h"
#include "server/limits.h"

namespace chakrad {
namespace {

constexpr const char* kKindNames[kIntervalKindsCount] = {"compute", "comm", "memory", "host"};

absl::StatusOr<LoadedTimeline> LoadSide(const v1::TimelineSelection& selection,
                                        absl::string_view side, TraceStore* traces,
                                        JobStore* jobs) {
  if (selection.has_step()) return absl::UnimplementedError("step: not yet");
  const std::vector<int32_t> ranks(selection.ranks().begin(), selection.ranks().end());
  absl::StatusOr<LoadedTimeline> loaded =
      LoadTimeline(selection.name(), ranks, false, traces, jobs);
  if (!loaded.ok()) return Annotate(loaded.status(), side);
  return loaded;
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
  ASSIGN_OR_RETURN(const LoadedTimeline before, LoadSide(request.before(), "before", traces, jobs));
  ASSIGN_OR_RETURN(const LoadedTimeline after, LoadSide(request.after(), "after", traces, jobs));
  answer->set_before(request.before().name());
  answer->set_after(request.after().name());
  for (const std::string& notice : before.job.notices) {
    answer->add_notices(ValidUtf8(absl::StrCat("before: ", notice), kMaxNoticeBytes));
  }
  for (const std::string& notice : after.job.notices) {
    answer->add_notices(ValidUtf8(absl::StrCat("after: ", notice), kMaxNoticeBytes));
  }
  const OperatorDiff diff =
      DiffOperators(before.job, after.job, asked == 0 ? kDefaultRelativeChange : asked);
  answer->set_before_span_ps(MeanSpanPs(before.job));
  answer->set_after_span_ps(MeanSpanPs(after.job));
  answer->set_added_count(static_cast<int64_t>(diff.added.size()));
  answer->set_removed_count(static_cast<int64_t>(diff.removed.size()));
  answer->set_changed_count(static_cast<int64_t>(diff.changed.size()));
  answer->set_unchanged_count(diff.unchanged_count);
  FillChanges(diff.added, top, "added", answer, answer->mutable_added());
  FillChanges(diff.removed, top, "removed", answer, answer->mutable_removed());
  FillChanges(diff.changed, top, "changed", answer, answer->mutable_changed());
  return absl::OkStatus();
}

}  // namespace chakrad
