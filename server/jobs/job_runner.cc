#include "server/jobs/job_runner.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "server/jobs/result_codec.h"
#include "server/jobs/timeline_codec.h"
#include "server/limits.h"

namespace chakrad {
namespace {

// Stores the intervals of a run in chunks, when a timeline is wanted.
class RunObserver : public SimObserver {
 public:
  RunObserver(const std::string& job_id, const Trace* trace, bool keep_timeline, JobStore* jobs,
              const JobHooks* hooks)
      : job_id_(job_id),
        keep_timeline_(keep_timeline),
        jobs_(jobs),
        hooks_(hooks),
        encoder_(trace) {}

  void OnInterval(const TimelineInterval& interval) override {
    if (++intervals_count_ > kMaxJobIntervals) {
      status_.Update(absl::ResourceExhaustedError(
          absl::StrCat("the simulation has more than ", kMaxJobIntervals, " intervals")));
      return;
    }
    pending_.push_back(interval);
    if (pending_.size() >= kTimelineChunkIntervals) Flush();
  }
  bool WantsIntervals() const override { return keep_timeline_; }
  void OnProgress(const SimProgress& progress) override { hooks_->progress(progress); }
  bool Cancelled() override { return !status_.ok() || hooks_->stop(); }

  // Stores what is left; the first error of any store call.
  absl::Status Finish() {
    if (!pending_.empty()) Flush();
    return status_;
  }
  const absl::Status& status() const { return status_; }

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
  std::vector<TimelineInterval> pending_;
  int64_t intervals_count_ = 0;
  int64_t chunks_count_ = 0;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<std::string> RunSimulation(const std::string& job_id, const SimulationSpec& spec,
                                          TraceStore* traces, JobStore* jobs,
                                          const JobHooks& hooks) {
  ASSIGN_OR_RETURN(const SystemDescription system, SystemOf(spec));
  // Tensor shapes are in the cold blocks.
  const bool cold = system.compute.basis == ComputeBasis::kOperatorShapes;
  ASSIGN_OR_RETURN(const Trace trace, traces->Load(spec.trace_id, TraceLoadOptions{.cold = cold}));
  RETURN_IF_ERROR(jobs->DropTimeline(job_id));
  RunObserver observer(job_id, &trace, spec.keep_timeline, jobs, &hooks);
  absl::StatusOr<SimResult> result = Simulate(trace, system, OptionsOf(spec), &observer);
  if (!observer.status().ok()) return observer.status();  // Why it was cancelled.
  if (!result.ok()) return result.status();
  RETURN_IF_ERROR(observer.Finish());
  return EncodeResult(*result, trace, system);
}

}  // namespace chakrad
