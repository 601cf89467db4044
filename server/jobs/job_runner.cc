#include "server/jobs/job_runner.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/exposed_comm.h"
#include "common/status.h"
#include "server/jobs/result_codec.h"
#include "server/jobs/timeline_codec.h"
#include "server/limits.h"

namespace chakrad {
namespace {

// Whether SimResult::times comes filled. While it does not, each rank's intervals are gathered
// and broken down here.
constexpr bool kTimesComeFilled = false;

// Stores the intervals of a run in chunks; gathers them by rank where times need it.
class RunObserver : public SimObserver {
 public:
  RunObserver(const std::string& job_id, const Trace* trace, bool keep_timeline, JobStore* jobs,
              const JobHooks* hooks)
      : job_id_(job_id),
        keep_timeline_(keep_timeline),
        jobs_(jobs),
        hooks_(hooks),
        encoder_(trace) {
    if (!kTimesComeFilled) by_rank_.resize(static_cast<size_t>(trace->world_size));
  }

  void OnInterval(const TimelineInterval& interval) override {
    if (kTimesComeFilled && !keep_timeline_) return;
    if (++intervals_count_ > kMaxJobIntervals) {
      status_.Update(absl::ResourceExhaustedError(
          absl::StrCat("the simulation has more than ", kMaxJobIntervals, " intervals")));
      return;
    }
    if (!kTimesComeFilled) by_rank_[static_cast<size_t>(interval.rank)].push_back(interval);
    if (!keep_timeline_) return;
    pending_.push_back(interval);
    if (pending_.size() >= kTimelineChunkIntervals) Flush();
  }
  void OnProgress(const SimProgress& progress) override { hooks_->progress(progress); }
  bool Cancelled() override { return !status_.ok() || hooks_->stop(); }

  // Stores what is left; the first error of any store call.
  absl::Status Finish() {
    if (!pending_.empty()) Flush();
    return status_;
  }
  const absl::Status& status() const { return status_; }
  const std::vector<TimelineInterval>& IntervalsOf(int32_t rank) const {
    return by_rank_[static_cast<size_t>(rank)];
  }

 private:
  void Flush() {
    const std::string bytes = encoder_.Encode(pending_);
    pending_.clear();
    if (!status_.ok()) return;
    status_ = jobs_->PutTimelineChunk(job_id_, chunks_count_, bytes);
    if (status_.ok()) hooks_->timeline(++chunks_count_);
  }

  const std::string job_id_;
  const bool keep_timeline_;
  JobStore* const jobs_;
  const JobHooks* const hooks_;
  TimelineEncoder encoder_;
  std::vector<std::vector<TimelineInterval>> by_rank_;
  std::vector<TimelineInterval> pending_;
  int64_t intervals_count_ = 0;
  int64_t chunks_count_ = 0;
  absl::Status status_;
};

// Times from intervals: what nothing explains is idle in the queue.
absl::Status FillTimes(const RunObserver& observer, SimResult* result) {
  for (const RankEnd& rank : result->ranks) {
    ASSIGN_OR_RETURN(const RankBreakdown breakdown,
                     ComputeRankBreakdown(rank.rank, rank.end_ps, observer.IntervalsOf(rank.rank)));
    RankTime time;
    time.compute_ps = breakdown.compute_ps;
    time.comm_ps = breakdown.comm_ps;
    time.exposed_comm_ps = breakdown.exposed_comm_ps;
    time.exposed_memory_ps = breakdown.exposed_memory_ps;
    time.idle_ps[static_cast<int>(IdleCause::kQueue)] = breakdown.idle_ps;
    time.idle_ps[static_cast<int>(IdleCause::kFinished)] = result->end_ps - rank.end_ps;
    result->times.push_back(time);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> RunSimulation(const std::string& job_id, const SimulationSpec& spec,
                                          TraceStore* traces, JobStore* jobs,
                                          const JobHooks& hooks) {
  ASSIGN_OR_RETURN(const SystemDescription system, SystemOf(spec));
  ASSIGN_OR_RETURN(const Trace trace, traces->Load(spec.trace_id, TraceLoadOptions{}));
  RETURN_IF_ERROR(jobs->DropTimeline(job_id));
  RunObserver observer(job_id, &trace, spec.keep_timeline, jobs, &hooks);
  absl::StatusOr<SimResult> result = Simulate(trace, system, OptionsOf(spec), &observer);
  if (!observer.status().ok()) return observer.status();  // Why it was cancelled.
  if (!result.ok()) return result.status();
  RETURN_IF_ERROR(observer.Finish());
  if (result->times.empty()) RETURN_IF_ERROR(FillTimes(observer, &*result));
  return EncodeResult(*result, trace, system);
}

}  // namespace chakrad
