#include "analysis/kernels/kernel_stats.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/string_view.h"
#include "common/saturating.h"

namespace chakrad {
namespace {

constexpr size_t kKinds = 3;  // Compute, comm, memory: kHost is the last one.

// Welford: exact enough where times differ by little, whatever their size.
struct Moments {
  int64_t count = 0;
  int64_t total_ps = 0;
  int64_t min_ps = 0;
  int64_t max_ps = 0;
  double mean_ps = 0;
  double squares = 0;  // Sum of squared distances from the mean.

  void Add(int64_t ps) {
    min_ps = count == 0 ? ps : std::min(min_ps, ps);
    max_ps = std::max(max_ps, ps);
    total_ps = SaturatingAdd(total_ps, ps);
    ++count;
    const double before = static_cast<double>(ps) - mean_ps;
    mean_ps += before / static_cast<double>(count);
    squares += before * (static_cast<double>(ps) - mean_ps);
  }

  void Merge(const Moments& other) {
    if (other.count == 0) return;
    if (count == 0) {
      *this = other;
      return;
    }
    const double mine = static_cast<double>(count), theirs = static_cast<double>(other.count);
    const double apart = other.mean_ps - mean_ps;
    squares += other.squares + apart * apart * mine * theirs / (mine + theirs);
    mean_ps += apart * theirs / (mine + theirs);
    count += other.count;
    total_ps = SaturatingAdd(total_ps, other.total_ps);
    min_ps = std::min(min_ps, other.min_ps);
    max_ps = std::max(max_ps, other.max_ps);
  }
};

// Of one rank: moments of the names and kinds that occur.
class RankMoments {
 public:
  explicit RankMoments(const RankTimeline& rank) : slot_of_(kKinds * rank.trace->strings.size()) {
    for (const TimelineInterval& interval : rank.intervals) {
      if (interval.kind == IntervalKind::kHost) continue;
      const size_t at =
          kKinds * rank.trace->name[interval.node] + static_cast<size_t>(interval.kind);
      if (slot_of_[at] == 0) {
        moments_.emplace_back();
        slot_of_[at] = static_cast<uint32_t>(moments_.size());
      }
      moments_[slot_of_[at] - 1].Add(interval.end_ps - interval.start_ps);
    }
  }

  // `use(name's index, kind, moments)`.
  template <typename Use>
  void ForEach(const Use& use) const {
    for (size_t at = 0; at < slot_of_.size(); ++at) {
      if (slot_of_[at] == 0) continue;
      use(static_cast<uint32_t>(at / kKinds), static_cast<IntervalKind>(at % kKinds),
          moments_[slot_of_[at] - 1]);
    }
  }

 private:
  std::vector<uint32_t> slot_of_;  // By name and kind: 1 + index into moments_, or 0.
  std::vector<Moments> moments_;
};

}  // namespace

int64_t KernelBreakdown::total_ps() const {
  return SaturatingAdd(SaturatingAdd(compute_ps, comm_ps), memory_ps);
}

KernelBreakdown BreakDownKernels(const JobTimeline& job) {
  std::map<std::pair<absl::string_view, IntervalKind>, Moments> all;
  for (const RankTimeline& rank : job.ranks) {
    RankMoments(rank).ForEach([&](uint32_t name, IntervalKind kind, const Moments& moments) {
      all[{rank.trace->strings.Get(name), kind}].Merge(moments);
    });
  }
  KernelBreakdown breakdown;
  breakdown.kernels.reserve(all.size());
  int64_t* const sums[kKinds] = {&breakdown.compute_ps, &breakdown.comm_ps, &breakdown.memory_ps};
  for (const auto& [key, moments] : all) {
    KernelStats& kernel = breakdown.kernels.emplace_back();
    kernel.name = std::string(key.first);
    kernel.kind = key.second;
    kernel.count = moments.count;
    kernel.total_ps = moments.total_ps;
    kernel.min_ps = moments.min_ps;
    kernel.max_ps = moments.max_ps;
    kernel.mean_ps = moments.mean_ps;
    kernel.stddev_ps = std::sqrt(moments.squares / static_cast<double>(moments.count));
    breakdown.count += moments.count;
    int64_t* const sum = sums[static_cast<size_t>(key.second)];
    *sum = SaturatingAdd(*sum, moments.total_ps);
  }
  // Stable: the map was in order of name and kind.
  std::stable_sort(
      breakdown.kernels.begin(), breakdown.kernels.end(),
      [](const KernelStats& a, const KernelStats& b) { return a.total_ps > b.total_ps; });
  return breakdown;
}

}  // namespace chakrad
