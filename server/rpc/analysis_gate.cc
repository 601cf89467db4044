#include "server/rpc/analysis_gate.h"

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "common/status.h"

namespace chakrad {
namespace {

constexpr std::chrono::milliseconds kPoll{100};

}  // namespace

absl::Status AnalysisGate::Enter(const std::function<bool()>& gone) {
  const auto deadline = std::chrono::steady_clock::now() + patience_;
  MutexLock lock(&mutex_);
  if ((running_ >= running_max_ || !waiting_.empty()) && waiting_count() >= waiting_max_) {
    return absl::ResourceExhaustedError(absl::StrCat(running_, " analyses run and ",
                                                     waiting_.size(),
                                                     " wait, the most allowed; try again later"));
  }
  const int64_t ticket = next_ticket_++;
  waiting_.insert(ticket);
  const auto is_its_turn = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return running_ < running_max_ && *waiting_.begin() == ticket;
  };
  absl::Status status;
  while (!is_its_turn() && status.ok()) {
    metrics_->SetAnalyses(running_, waiting_count());
    left_.WaitFor(&mutex_, kPoll);
    if (is_its_turn()) break;
    if (gone()) {
      status = absl::CancelledError("the caller went away");
    } else if (std::chrono::steady_clock::now() >= deadline) {
      status = absl::ResourceExhaustedError(
          absl::StrCat("other analyses ran for ", patience_.count(), " ms; try again later"));
    }
  }
  waiting_.erase(ticket);
  if (status.ok()) ++running_;
  metrics_->SetAnalyses(running_, waiting_count());
  left_.NotifyAll();  // Another one may be the next now.
  return status;
}

void AnalysisGate::Leave() {
  MutexLock lock(&mutex_);
  --running_;
  metrics_->SetAnalyses(running_, waiting_count());
  left_.NotifyAll();
}

absl::Status AnalysisGate::Run(absl::string_view method, const std::function<bool()>& gone,
                               const std::function<absl::Status()>& analysis) {
  RETURN_IF_ERROR(Enter(gone));
  const auto begun = std::chrono::steady_clock::now();
  const absl::Cleanup leave = [&] {
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begun;
    metrics_->ObserveAnalysis(method, seconds.count());
    Leave();
  };
  return analysis();
}

}  // namespace chakrad
