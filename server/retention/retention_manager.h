// Keeps few traces of many: stores the policies, and does what they say, now and then or
// when asked. What goes is decided by storage/retention_plan.h.
#ifndef CHAKRAD_SERVER_RETENTION_RETENTION_MANAGER_H_
#define CHAKRAD_SERVER_RETENTION_RETENTION_MANAGER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "server/metrics.h"
#include "storage/retention_plan.h"
#include "storage/settings_store.h"
#include "storage/trace_store.h"

namespace chakrad {

struct RetentionPolicies {
  std::vector<RetentionPolicy> policies;
  std::string yaml;  // As it was given.
};

// What became of a trace in a run.
struct RetentionOutcome {
  RetentionDecision decision;  // goes or held.
  bool deleted = false;
  std::string reason;  // Why it went; or why it did not, though it was to go.
};

// Thread-safe. What it is given must outlive it.
class RetentionManager {
 public:
  RetentionManager(TraceStore* traces, SettingsStore* settings, Clock* clock, Metrics* metrics);
  ~RetentionManager();  // Stops.

  // Reads the stored policies, and runs them every `period` from now on (zero: only when
  // asked); the first time after a minute, or after `period` if that is shorter. Policies that
  // cannot be read, as of a newer version, are an error of every call below but Set, and delete
  // nothing.
  void Start(std::chrono::milliseconds period);
  // No run goes on after it returns; one that is under way ends after the trace at hand.
  void Stop();

  // NOT_FOUND never: no policies are an empty list.
  absl::StatusOr<std::shared_ptr<const RetentionPolicies>> Get();
  // Replaces all policies, durably. INVALID_ARGUMENT as ParsePoliciesYaml.
  absl::StatusOr<std::shared_ptr<const RetentionPolicies>> Set(const std::string& yaml);
  // What a run would do now, with the stored policies or those of `yaml`. Deletes nothing.
  absl::StatusOr<RetentionPlan> Plan(const std::optional<std::string>& yaml);
  // Deletes what is to go, oldest first, and calls `outcome` for each such trace, and for
  // each that is held, until it returns false: then the run ends early. Traces that are read or
  // were pinned meanwhile are skipped, and so are damaged ones; any other failure of the
  // store ends the run. With `trust_clock` nothing is held. ABORTED: another run is under way.
  absl::Status Run(bool trust_clock, const std::function<bool(const RetentionOutcome&)>& outcome);

 private:
  // Of all stored traces, by these policies.
  absl::StatusOr<RetentionPlan> MakePlan(const std::vector<RetentionPolicy>& policies,
                                         bool trust_clock);
  absl::Status RunOnce(bool trust_clock,
                       const std::function<bool(const RetentionOutcome&)>& outcome,
                       RetentionRunCounts* counts);
  absl::StatusOr<std::optional<int64_t>> TrustedTime();
  bool IsStopping();
  void Loop(std::chrono::milliseconds period);

  TraceStore* const traces_;
  SettingsStore* const settings_;
  Clock* const clock_;
  Metrics* const metrics_;

  Mutex mutex_;
  CondVar stopped_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool running_ ABSL_GUARDED_BY(mutex_) = false;
  absl::StatusOr<std::shared_ptr<const RetentionPolicies>> policies_ ABSL_GUARDED_BY(mutex_);
  Mutex set_mutex_;  // One Set at a time: what is stored is what is in memory.
  std::thread thread_;
};

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_RETENTION_RETENTION_MANAGER_H_
