#include "sim/workload/collective_log.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace chakrad {
namespace {

bool Before(const CollectiveResult& a, const CollectiveResult& b) {
  return std::tie(a.end_ps, a.group, a.number) < std::tie(b.end_ps, b.group, b.number);
}

}  // namespace

void CollectiveLog::Add(const CollectiveResult& result) {
  ++added_count_;
  kept_.push_back(result);
  const int64_t size = static_cast<int64_t>(kept_.size());
  if (size >= 2 * max_count_ && size >= 1024) Cut();
}

void CollectiveLog::Cut() {
  if (static_cast<int64_t>(kept_.size()) <= max_count_) return;
  std::nth_element(kept_.begin(), kept_.begin() + max_count_, kept_.end(), Before);
  kept_.resize(max_count_);
}

std::vector<CollectiveResult> CollectiveLog::Take(int64_t* dropped_count) {
  Cut();
  *dropped_count = added_count_ - static_cast<int64_t>(kept_.size());
  std::sort(kept_.begin(), kept_.end(), Before);
  return std::move(kept_);
}

}  // namespace chakrad
