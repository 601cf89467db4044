#include "server/jobs/job_runner.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "server/jobs/load_job_trace.h"
#include "server/jobs/result_codec.h"
#include "server/jobs/timeline_codec.h"
#include "server/limits.h"
#include "sim/collective/custom_algorithm.h"

namespace chakrad {
namespace {

// Stores the intervals of a run in chunks, when its timeline is kept.
class RunObserver : public SimObserver {
 public:
  RunObserver(const std::string& job_id, const Trace* trace, bool keep_timeline, JobStore* jobs,
              const JobHooks* hooks)
      : job_id_(job_id),
        keep_timeline_(keep_timeline),
        jobs_(jobs),
        hooks_(hooks),
        encoder_(trace) {}

  bool WantsIntervals() const override { return keep_timeline_; }
  void OnInterval(const TimelineInterval& interval) override {
    if (!keep_timeline_) return;
    if (++intervals_count_ > kMaxJobIntervals) {
      status_.Update(absl::ResourceExhaustedError(
          absl::StrCat("the simulation has more than ", kMaxJobIntervals, " intervals")));
      return;
    }
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

absl::Status LoadAlgorithms(const SimulationSpec& spec, TraceStore* traces,
                            SystemDescription* system) {
  for (const CustomAlgorithm& algorithm : spec.custom_algorithms) {
    const std::string name = absl::StrCat("traces/", algorithm.trace_id);
    ASSIGN_OR_RETURN(const Trace trace, traces->Load(algorithm.trace_id, TraceLoadOptions{}));
    absl::StatusOr<CollectiveScript> script =
        ScriptFromTraces(name, trace.ranks, algorithm.total_bytes);
    if (!script.ok()) return Annotate(script.status(), absl::StrCat("custom algorithm ", name));
    const int32_t index = static_cast<int32_t>(system->scripts.size());
    system->scripts.push_back(*std::move(script));
    if (algorithm.type.has_value()) system->script_by_type[*algorithm.type] = index;
    for (const uint64_t id : algorithm.node_ids) system->script_by_node_id[id] = index;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> RunSimulation(const std::string& job_id, const SimulationSpec& spec,
                                          TraceStore* traces, JobStore* jobs,
                                          const JobHooks& hooks) {
  ASSIGN_OR_RETURN(SystemDescription system, SystemOf(spec));
  RETURN_IF_ERROR(LoadAlgorithms(spec, traces, &system));
  std::vector<std::string> notices;
  const bool cold = system.compute.basis == ComputeBasis::kOperatorShapes || spec.memory_use;
  ASSIGN_OR_RETURN(const Trace trace, LoadJobTrace(spec, cold, traces, &notices));
  RETURN_IF_ERROR(jobs->DropTimeline(job_id));
  RunObserver observer(job_id, &trace, spec.keep_timeline, jobs, &hooks);
  absl::StatusOr<SimResult> result = Simulate(trace, system, OptionsOf(spec), &observer);
  if (!observer.status().ok()) return observer.status();  // Why it was cancelled.
  if (!result.ok()) return result.status();
  RETURN_IF_ERROR(observer.Finish());
  result->notices.insert(result->notices.begin(), notices.begin(), notices.end());
  return EncodeResult(*result, trace, system);
}

}  // namespace chakrad
