#include "analysis/diff/diff_operators.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace chakrad {
namespace {

struct Totals {
  double count = 0;
  double total_ps = 0;
};
using ByOperator = absl::flat_hash_map<std::pair<absl::string_view, IntervalKind>, Totals>;

// Names are looked up once a rank, not once an interval.
void AddRank(const RankTimeline& rank, double share, ByOperator* operators) {
  const StringTable& strings = rank.trace->strings;
  std::vector<Totals> dense(size_t{strings.size()} * kIntervalKindsCount);
  for (const TimelineInterval& interval : rank.intervals) {
    Totals& totals = dense[size_t{rank.trace->name[interval.node]} * kIntervalKindsCount +
                           static_cast<size_t>(interval.kind)];
    totals.count += 1;
    totals.total_ps += static_cast<double>(interval.end_ps - interval.start_ps);
  }
  for (size_t i = 0; i < dense.size(); ++i) {
    if (dense[i].count == 0) continue;
    const uint32_t name = static_cast<uint32_t>(i / kIntervalKindsCount);
    const IntervalKind kind = static_cast<IntervalKind>(i % kIntervalKindsCount);
    Totals& totals = (*operators)[{strings.Get(name), kind}];
    totals.count += dense[i].count * share;
    totals.total_ps += dense[i].total_ps * share;
  }
}

ByOperator OperatorsOf(const JobTimeline& job) {
  ByOperator operators;
  const double share = job.ranks.empty() ? 0 : 1 / static_cast<double>(job.ranks.size());
  for (const RankTimeline& rank : job.ranks) AddRank(rank, share, &operators);
  return operators;
}

bool Differs(double before, double after, double min_relative_change) {
  return std::abs(after - before) > min_relative_change * before;
}

void SortByChange(std::vector<OperatorChange>* changes) {
  std::sort(changes->begin(), changes->end(), [](const OperatorChange& a, const OperatorChange& b) {
    const double change_a = -std::abs(a.delta_ps()), change_b = -std::abs(b.delta_ps());
    return std::tie(change_a, a.name, a.kind) < std::tie(change_b, b.name, b.kind);
  });
}

}  // namespace

OperatorDiff DiffOperators(const JobTimeline& before, const JobTimeline& after,
                           double min_relative_change) {
  const ByOperator was = OperatorsOf(before), is = OperatorsOf(after);
  OperatorDiff diff;
  for (const auto& [key, totals] : was) {
    OperatorChange change{key.first, key.second, totals.count, 0, totals.total_ps, 0};
    const auto it = is.find(key);
    if (it == is.end()) {
      diff.removed.push_back(change);
      continue;
    }
    change.after_count = it->second.count;
    change.after_total_ps = it->second.total_ps;
    if (Differs(change.before_total_ps, change.after_total_ps, min_relative_change) ||
        Differs(change.before_count, change.after_count, min_relative_change)) {
      diff.changed.push_back(change);
    } else {
      ++diff.unchanged_count;
    }
  }
  for (const auto& [key, totals] : is) {
    if (was.find(key) != was.end()) continue;
    diff.added.push_back({key.first, key.second, 0, totals.count, 0, totals.total_ps});
  }
  SortByChange(&diff.added);
  SortByChange(&diff.removed);
  SortByChange(&diff.changed);
  return diff;
}

double MeanSpanPs(const JobTimeline& job) {
  double sum_ps = 0;
  for (const RankTimeline& rank : job.ranks) sum_ps += static_cast<double>(rank.span_ps());
  return job.ranks.empty() ? 0 : sum_ps / static_cast<double>(job.ranks.size());
}

}  // namespace chakrad
