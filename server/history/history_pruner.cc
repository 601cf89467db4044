#include "server/history/history_pruner.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "server/log.h"

namespace chakrad {
namespace {

constexpr std::chrono::milliseconds kFirstRunDelay = std::chrono::minutes(1);

}  // namespace

absl::StatusOr<int64_t> PruneHistory(SeriesStore* store, int64_t now_unix_ms, int64_t max_age_ms,
                                     int64_t through_sequence) {
  bool any = false;
  int64_t newest_ms = 0;
  const absl::Status scanned = store->ScanLatest([&](const SeriesRecord& record) {
    if (record.time_unix_ms > now_unix_ms) return true;
    newest_ms = any ? std::max(newest_ms, record.time_unix_ms) : record.time_unix_ms;
    any = true;
    return true;
  });
  if (!scanned.ok() && !absl::IsDataLoss(scanned)) return scanned;
  if (!any || through_sequence <= 0) return int64_t{0};
  return store->Prune(newest_ms - max_age_ms, through_sequence);
}

HistoryPruner::HistoryPruner(SeriesStore* store, Clock* clock, int64_t max_age_ms,
                             std::function<int64_t()> through_sequence)
    : store_(store),
      clock_(clock),
      max_age_ms_(max_age_ms),
      through_sequence_(std::move(through_sequence)) {}

HistoryPruner::~HistoryPruner() { Stop(); }

void HistoryPruner::Start(std::chrono::milliseconds period) {
  thread_ = std::thread([this, period] { Loop(period); });
}

void HistoryPruner::Stop() {
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
    stopped_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void HistoryPruner::Loop(std::chrono::milliseconds period) {
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
    const absl::StatusOr<int64_t> pruned =
        PruneHistory(store_, clock_->NowUnixNs() / 1'000'000, max_age_ms_, through_sequence_());
    if (!pruned.ok()) {
      Log(LogLevel::kError, "history_prune_failed",
          {{"error", std::string(pruned.status().message())}});
    } else if (*pruned > 0) {
      Log(LogLevel::kInfo, "history_pruned", {{"records", absl::StrCat(*pruned)}});
    }
    next = std::chrono::steady_clock::now() + period;
  }
}

}  // namespace chakrad
