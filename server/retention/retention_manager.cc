#include "server/retention/retention_manager.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "analysis/representative.h"
#include "common/status.h"
#include "server/log.h"
#include "server/retention/policies_yaml.h"

namespace chakrad {
namespace {

constexpr char kPoliciesSetting[] = "retention/policies";
constexpr char kTrustedTimeSetting[] = "retention/trusted_unix_ns";
// After a start: jobs and uploads of before are taken up first.
constexpr std::chrono::milliseconds kFirstRunDelay = std::chrono::minutes(1);

absl::StatusOr<std::shared_ptr<const RetentionPolicies>> ParsePolicies(std::string yaml) {
  auto policies = std::make_shared<RetentionPolicies>();
  ASSIGN_OR_RETURN(policies->policies, ParsePoliciesYaml(yaml));
  policies->yaml = std::move(yaml);
  return std::shared_ptr<const RetentionPolicies>(std::move(policies));
}

absl::StatusOr<std::shared_ptr<const RetentionPolicies>> LoadPolicies(SettingsStore* settings) {
  absl::StatusOr<std::string> yaml = settings->Get(kPoliciesSetting);
  if (absl::IsNotFound(yaml.status())) return std::make_shared<const RetentionPolicies>();
  RETURN_IF_ERROR(yaml.status());
  auto policies = ParsePolicies(*std::move(yaml));
  if (policies.ok()) return policies;
  return absl::FailedPreconditionError(
      absl::StrCat("the stored policies cannot be read, so that nothing is deleted; set them "
                   "anew: ",
                   policies.status().message()));
}

}  // namespace

RetentionManager::RetentionManager(TraceStore* traces, SettingsStore* settings, Clock* clock,
                                   Metrics* metrics)
    : traces_(traces),
      settings_(settings),
      clock_(clock),
      metrics_(metrics),
      policies_(LoadPolicies(settings)) {}

RetentionManager::~RetentionManager() { Stop(); }

void RetentionManager::Start(std::chrono::milliseconds period) {
  const auto policies = Get();
  if (!policies.ok()) {
    Log(LogLevel::kError, "retention_off", {{"error", std::string(policies.status().message())}});
  }
  if (period.count() > 0) thread_ = std::thread([this, period] { Loop(period); });
}

void RetentionManager::Stop() {
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
    stopped_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

bool RetentionManager::IsStopping() {
  MutexLock lock(&mutex_);
  return stopping_;
}

void RetentionManager::Loop(std::chrono::milliseconds period) {
  // Steady time: the period is one of this process, whatever the wall clock does.
  auto next = std::chrono::steady_clock::now() + std::min(period, kFirstRunDelay);
  for (;;) {
    {
      MutexLock lock(&mutex_);
      while (!stopping_) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(next - std::chrono::steady_clock::now());
        if (left.count() <= 0) break;
        stopped_.WaitFor(&mutex_, left);
      }
      if (stopping_) return;
    }
    const auto policies = Get();
    if (policies.ok() && !(*policies)->policies.empty()) {
      const absl::Status status = Run(/*trust_clock=*/false, [](const auto&) { return true; });
      if (!status.ok() && !absl::IsAborted(status)) {
        Log(LogLevel::kError, "retention_failed", {{"error", std::string(status.message())}});
      }
    }
    next = std::chrono::steady_clock::now() + period;
  }
}

absl::StatusOr<std::shared_ptr<const RetentionPolicies>> RetentionManager::Get() {
  MutexLock lock(&mutex_);
  return policies_;
}

absl::StatusOr<std::shared_ptr<const RetentionPolicies>> RetentionManager::Set(
    const std::string& yaml) {
  ASSIGN_OR_RETURN(std::shared_ptr<const RetentionPolicies> policies, ParsePolicies(yaml));
  MutexLock set_lock(&set_mutex_);
  std::map<std::string, std::string> values{{kPoliciesSetting, yaml}};
  const auto before = Get();
  ASSIGN_OR_RETURN(const std::optional<int64_t> trusted, TrustedTime());
  // While there are no policies, no run says which time it is.
  if (!trusted.has_value() || (before.ok() && (*before)->policies.empty())) {
    const auto cards = traces_->Cards();
    const int64_t newest = cards->empty() ? 0 : (*cards)[0]->create_unix_ns;
    values[kTrustedTimeSetting] = absl::StrCat(std::max(newest, clock_->NowUnixNs()));
  }
  RETURN_IF_ERROR(settings_->Set(values));
  Log(LogLevel::kInfo, "retention_set", {{"policies", absl::StrCat(policies->policies.size())}});
  MutexLock lock(&mutex_);
  policies_ = policies;
  return policies;
}

absl::StatusOr<std::optional<int64_t>> RetentionManager::TrustedTime() {
  const absl::StatusOr<std::string> text = settings_->Get(kTrustedTimeSetting);
  if (absl::IsNotFound(text.status())) return std::optional<int64_t>();
  RETURN_IF_ERROR(text.status());
  int64_t unix_ns = 0;
  if (!absl::SimpleAtoi(*text, &unix_ns)) {
    return absl::DataLossError(absl::StrCat("setting ", kTrustedTimeSetting, " is damaged"));
  }
  return std::optional<int64_t>(unix_ns);
}

absl::StatusOr<RetentionPlan> RetentionManager::MakePlan(
    const std::vector<RetentionPolicy>& policies, bool trust_clock) {
  RetentionTime time;
  time.clock_unix_ns = clock_->NowUnixNs();
  if (!trust_clock) {
    ASSIGN_OR_RETURN(time.trusted_unix_ns, TrustedTime());
  }
  const std::shared_ptr<const TraceCards> cards = traces_->Cards();
  return PlanRetention(policies, *cards, time, ChooseRepresentatives);
}

absl::StatusOr<RetentionPlan> RetentionManager::Plan(const std::optional<std::string>& yaml) {
  if (yaml.has_value()) {
    ASSIGN_OR_RETURN(const std::vector<RetentionPolicy> policies, ParsePoliciesYaml(*yaml));
    return MakePlan(policies, /*trust_clock=*/false);
  }
  ASSIGN_OR_RETURN(const auto policies, Get());
  return MakePlan(policies->policies, /*trust_clock=*/false);
}

absl::Status RetentionManager::Run(bool trust_clock,
                                   const std::function<bool(const RetentionOutcome&)>& outcome) {
  {
    MutexLock lock(&mutex_);
    if (stopping_) return absl::UnavailableError("the daemon is shutting down");
    if (running_) return absl::AbortedError("retention is running already; try again later");
    running_ = true;
  }
  RetentionRunCounts counts;
  const absl::Status status = RunOnce(trust_clock, outcome, &counts);
  counts.ok = status.ok();
  metrics_->AddRetentionRun(counts);
  Log(LogLevel::kInfo, "retention_run",
      {{"deleted", absl::StrCat(counts.deleted_traces)},
       {"freed_bytes", absl::StrCat(counts.freed_bytes)},
       {"in_use", absl::StrCat(counts.in_use_traces)},
       {"damaged", absl::StrCat(counts.damaged_traces)},
       {"held", absl::StrCat(counts.held_traces)},
       {"status", status.ok() ? "ok" : std::string(status.message())}});
  MutexLock lock(&mutex_);
  running_ = false;
  return status;
}

absl::Status RetentionManager::RunOnce(bool trust_clock,
                                       const std::function<bool(const RetentionOutcome&)>& outcome,
                                       RetentionRunCounts* counts) {
  ASSIGN_OR_RETURN(const auto policies, Get());
  ASSIGN_OR_RETURN(const RetentionPlan plan, MakePlan(policies->policies, trust_clock));
  counts->held_traces = plan.held_count;
  if (!plan.held_because.empty()) {
    Log(LogLevel::kWarning, "retention_held",
        {{"traces", absl::StrCat(plan.held_count)}, {"because", plan.held_because}});
  }
  absl::Status failure;
  // Oldest first: a run that is cut short leaves what is worth most.
  for (auto it = plan.decisions.rbegin(); it != plan.decisions.rend(); ++it) {
    if (!it->goes && !it->held) continue;
    RetentionOutcome done{*it, false, it->reason};
    if (it->goes) {
      if (IsStopping()) return absl::UnavailableError("the daemon is shutting down");
      // Whoever sets other policies wants an end of what these do.
      ASSIGN_OR_RETURN(const auto now, Get());
      if (now != policies) return absl::AbortedError("the policies were changed during the run");
      const absl::Status deleted = traces_->Delete(it->card->id);
      done.deleted = deleted.ok();
      if (deleted.ok()) {
        ++counts->deleted_traces;
        counts->freed_bytes += it->card->stored_bytes;
      } else if (absl::IsNotFound(deleted)) {
        continue;  // Somebody else deleted it.
      } else if (absl::IsFailedPrecondition(deleted) || absl::IsDataLoss(deleted)) {
        ++(absl::IsDataLoss(deleted) ? counts->damaged_traces : counts->in_use_traces);
        done.reason = absl::StrCat("stays: ", deleted.message());
      } else if (absl::IsUnavailable(deleted)) {
        return Annotate(deleted, absl::StrCat("trace ", it->card->id));
      } else {  // One trace must not keep the others from going.
        done.reason = absl::StrCat("stays: ", deleted.message());
        if (failure.ok()) failure = Annotate(deleted, absl::StrCat("trace ", it->card->id));
      }
    }
    if (!outcome(done)) return absl::CancelledError("the caller went away");
  }
  RETURN_IF_ERROR(failure);
  if (!plan.held_because.empty() || policies->policies.empty()) return absl::OkStatus();
  return settings_->Set({{kTrustedTimeSetting, absl::StrCat(plan.now_unix_ns)}});
}

}  // namespace chakrad
