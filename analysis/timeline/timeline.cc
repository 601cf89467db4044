#include "analysis/timeline/timeline.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analysis/timeline/stand_in_groups.h"
#include "common/check.h"
#include "common/saturating.h"

namespace chakrad {
namespace {

constexpr int64_t kNsPerDay = int64_t{86'400} * 1'000'000'000;
// Ranks of one job are recorded within hours. 64 bits hold 106 days of picoseconds: what is
// further from the other ranks than half of that says nothing about when it ran.
constexpr int64_t kMaxBaseDistanceNs = 50 * kNsPerDay;

bool IsWork(const RankTrace& rank, uint32_t node) {
  if ((rank.flags[node] & RankTrace::kAnnotation) != 0) return false;
  const NodeType type = rank.type[node];
  return type == NodeType::kComp || IsComm(type) || IsMemory(type);
}

IntervalKind KindOf(const RankTrace& rank, uint32_t node, bool has_device_compute) {
  if (IsComm(rank.type[node])) return IntervalKind::kComm;
  if (IsMemory(rank.type[node])) return IntervalKind::kMemory;
  return rank.is_host(node) && has_device_compute ? IntervalKind::kHost : IntervalKind::kCompute;
}

int64_t ToPs(int64_t ns) { return SaturatingMultiply(ns, kPsPerNs); }

bool Earlier(const TimelineInterval& a, const TimelineInterval& b) {
  return std::tie(a.start_ps, a.end_ps, a.node) < std::tie(b.start_ps, b.end_ps, b.node);
}

// Recorders write in order of time, more or less: looking first is cheap.
void Sort(std::vector<TimelineInterval>* intervals) {
  if (!std::is_sorted(intervals->begin(), intervals->end(), Earlier)) {
    std::sort(intervals->begin(), intervals->end(), Earlier);
  }
}

int64_t FirstStartNs(const RankTrace& rank) {
  int64_t first_ns = std::numeric_limits<int64_t>::max();
  for (const int64_t start_ns : rank.start_ns) {
    if (start_ns != kUnknownNs) first_ns = std::min(first_ns, start_ns);
  }
  return first_ns;
}

// `shift_ns`: what is added to the rank's own times; none of them is then below 0. Nodes of
// which the recorder told a start, and no time at all, still count for the span.
RankTimeline MeasuredRank(const RankTrace& rank, int64_t shift_ns, bool with_host) {
  RankTimeline timeline{.rank = rank.rank, .trace = &rank};
  timeline.start_ps = std::numeric_limits<int64_t>::max();
  const bool has_device_compute = rank.HasDeviceCompute();
  if (with_host) timeline.intervals.reserve(rank.size());
  for (uint32_t node = 0; node < rank.size(); ++node) {
    if (rank.start_ns[node] == kUnknownNs) continue;
    TimelineInterval interval{.rank = rank.rank, .node = node, .queue = rank.queue[node]};
    // Where the shift itself had to stop at 64 bits, the sum may be just below 0.
    interval.start_ps = std::max<int64_t>(0, ToPs(SaturatingAdd(rank.start_ns[node], shift_ns)));
    const int64_t dur_ns = std::max<int64_t>(rank.dur_ns[node], 0);
    interval.end_ps = SaturatingAdd(interval.start_ps, ToPs(dur_ns));
    timeline.start_ps = std::min(timeline.start_ps, interval.start_ps);
    timeline.end_ps = std::max(timeline.end_ps, interval.end_ps);
    if (!IsWork(rank, node)) continue;
    interval.kind = KindOf(rank, node, has_device_compute);
    if (interval.kind == IntervalKind::kHost && !with_host) continue;
    // A host operation's interval contains its waiting for the communication that
    // it calls, which would hide that communication from itself.
    const bool host_computes = interval.kind == IntervalKind::kCompute && !has_device_compute;
    if (host_computes && rank.work_ns[node] >= 0) {
      interval.end_ps = SaturatingAdd(interval.start_ps, ToPs(rank.work_ns[node]));
    }
    if (interval.end_ps > interval.start_ps) timeline.intervals.push_back(interval);
  }
  if (timeline.start_ps > timeline.end_ps) timeline.start_ps = timeline.end_ps;
  // Work may be said to last beyond all recorded intervals; the span is what was recorded.
  std::erase_if(timeline.intervals, [end_ps = timeline.end_ps](TimelineInterval& interval) {
    interval.end_ps = std::min(interval.end_ps, end_ps);
    return interval.end_ps <= interval.start_ps;
  });
  Sort(&timeline.intervals);
  return timeline;
}

// Of the ranks' bases the one that all others are near to, else kept out of the choice: a
// host whose clock says 1970 must not move everybody else beyond what picoseconds hold.
// 0: no rank has one.
int64_t CommonBaseNs(const std::vector<const RankTrace*>& ranks) {
  std::vector<int64_t> bases_ns;
  for (const RankTrace* rank : ranks) {
    if (rank->base_unix_ns != 0) bases_ns.push_back(rank->base_unix_ns);
  }
  if (bases_ns.empty()) return 0;
  std::sort(bases_ns.begin(), bases_ns.end());
  const int64_t middle_ns = bases_ns[bases_ns.size() / 2];
  for (const int64_t base_ns : bases_ns) {
    if (SaturatingSubtract(middle_ns, base_ns) <= kMaxBaseDistanceNs) return base_ns;
  }
  return middle_ns;
}

// What to add to each rank's times so that they count from job->base_unix_ns, which it sets.
std::vector<int64_t> ChooseBase(const std::vector<const RankTrace*>& ranks, JobTimeline* job) {
  job->base_unix_ns = CommonBaseNs(ranks);
  std::vector<int64_t> shifts_ns(ranks.size(), 0);
  int64_t without_base_count = 0, far_count = 0;
  int64_t first_ns = std::numeric_limits<int64_t>::max();
  for (size_t i = 0; i < ranks.size(); ++i) {
    const int64_t base_ns = ranks[i]->base_unix_ns;
    const int64_t distance_ns = SaturatingSubtract(base_ns, job->base_unix_ns);
    if (base_ns == 0) {
      ++without_base_count;
    } else if (distance_ns < 0 || distance_ns > 2 * kMaxBaseDistanceNs) {
      ++far_count;
    } else {
      shifts_ns[i] = distance_ns;
    }
    const int64_t rank_first_ns = FirstStartNs(*ranks[i]);
    if (rank_first_ns == std::numeric_limits<int64_t>::max()) continue;
    first_ns = std::min(first_ns, SaturatingAdd(rank_first_ns, shifts_ns[i]));
  }
  if (job->base_unix_ns != 0 && without_base_count > 0) {
    job->notices.push_back(absl::StrCat(without_base_count, " of ", ranks.size(),
                                        " ranks tell no epoch: their times are taken to count "
                                        "from the earliest base of the others"));
  }
  if (far_count > 0) {
    job->notices.push_back(absl::StrCat(
        far_count, " of ", ranks.size(), " ranks tell an epoch more than ",
        kMaxBaseDistanceNs / kNsPerDay,
        " days from the others': their times are taken to count from the earliest base of those"));
  }
  // Readers count from a rank's first node. What does not, counts from the first one here.
  if (first_ns != std::numeric_limits<int64_t>::max() &&
      (first_ns < 0 || first_ns > kMaxBaseDistanceNs)) {
    for (int64_t& shift_ns : shifts_ns) shift_ns = SaturatingSubtract(shift_ns, first_ns);
    if (job->base_unix_ns != 0) job->base_unix_ns = SaturatingAdd(job->base_unix_ns, first_ns);
  }
  return shifts_ns;
}

}  // namespace

uint32_t RankTimeline::GroupFor(const CommOp& op, const Trace& job) const {
  if (copy != nullptr) return copy->GroupInstead(op.group);
  if (groups_instead.empty() || op.group >= job.groups.size()) return op.group;
  const auto it = std::lower_bound(groups_instead.begin(), groups_instead.end(),
                                   std::pair<uint32_t, uint32_t>(op.group, 0));
  return it != groups_instead.end() && it->first == op.group ? it->second : op.group;
}

int64_t JobTimeline::start_ps() const {
  int64_t first = ranks.empty() ? 0 : ranks.front().start_ps;
  for (const RankTimeline& rank : ranks) first = std::min(first, rank.start_ps);
  return first;
}

int64_t JobTimeline::end_ps() const {
  int64_t last = ranks.empty() ? 0 : ranks.front().end_ps;
  for (const RankTimeline& rank : ranks) last = std::max(last, rank.end_ps);
  return last;
}

std::optional<RankTimeline> MeasuredBusyTimeline(const RankTrace& rank) {
  const int64_t first_ns = FirstStartNs(rank);
  if (first_ns == std::numeric_limits<int64_t>::max()) return std::nullopt;
  RankTimeline timeline = MeasuredRank(rank, SaturatingSubtract(0, first_ns), false);
  if (timeline.end_ps <= timeline.start_ps) return std::nullopt;
  return timeline;
}

absl::StatusOr<JobTimeline> MeasuredTimeline(const Trace& trace,
                                             const std::vector<int32_t>& ranks) {
  JobTimeline job{.trace = &trace};
  std::vector<const RankTrace*> chosen;
  for (const int32_t rank : ranks) {
    chosen.push_back(trace.FindRank(rank));
    CHECK(chosen.back() != nullptr) << rank;
  }
  if (ranks.empty()) {
    for (const RankTrace& rank : trace.ranks) chosen.push_back(&rank);
  }
  std::sort(chosen.begin(), chosen.end(),
            [](const RankTrace* a, const RankTrace* b) { return a->rank < b->rank; });
  const std::vector<int64_t> shifts_ns = ChooseBase(chosen, &job);
  for (size_t i = 0; i < chosen.size(); ++i) {
    RankTimeline timeline = MeasuredRank(*chosen[i], shifts_ns[i], true);
    if (timeline.end_ps > timeline.start_ps) job.ranks.push_back(std::move(timeline));
  }
  if (job.ranks.empty()) {
    return absl::FailedPreconditionError(
        "no rank of the trace has start times and durations: there is no timeline to analyse; "
        "simulate it and analyse the job");
  }
  if (job.ranks.size() < chosen.size()) {
    job.notices.push_back(absl::StrCat(chosen.size() - job.ranks.size(), " of ", chosen.size(),
                                       " ranks have no times and are left out"));
  }
  return job;
}

absl::StatusOr<JobTimeline> SimulatedTimeline(const Trace& trace, int64_t end_ps,
                                              const std::vector<TimelineInterval>& intervals,
                                              const std::vector<int32_t>& ranks) {
  JobTimeline job{.trace = &trace, .simulated = true};
  std::vector<int32_t> wanted = ranks;
  std::sort(wanted.begin(), wanted.end());
  StandInGroups stand_in_groups(trace);
  std::vector<RankTimeline*> of_rank(static_cast<size_t>(std::max(trace.world_size, 0)), nullptr);
  job.ranks.reserve(wanted.empty() ? of_rank.size() : wanted.size());
  for (int32_t rank = 0; rank < trace.world_size; ++rank) {
    if (!wanted.empty() && !std::binary_search(wanted.begin(), wanted.end(), rank)) continue;
    const RankTrace* ran = trace.FindRankOrStandIn(rank);
    if (ran == nullptr) return absl::InvalidArgumentError("the trace has no ranks");
    job.ranks.push_back({.rank = rank,
                         .trace = ran,
                         .copy = trace.FindCopy(rank),
                         .start_ps = 0,
                         .end_ps = end_ps});
    RankTimeline& added = job.ranks.back();
    if (added.copy == nullptr && ran->rank != rank) {
      added.groups_instead = stand_in_groups.Of(rank, *ran);
    }
    of_rank[static_cast<size_t>(rank)] = &added;
  }
  for (const TimelineInterval& interval : intervals) {
    if (interval.rank < 0 || interval.rank >= trace.world_size) {
      return absl::InvalidArgumentError(absl::StrCat(
          "interval of rank ", interval.rank, ": the world has ", trace.world_size, " ranks"));
    }
    RankTimeline* timeline = of_rank[static_cast<size_t>(interval.rank)];
    if (timeline == nullptr) continue;
    if (interval.node >= timeline->trace->size() || interval.start_ps < 0 ||
        interval.end_ps < interval.start_ps || interval.end_ps > end_ps) {
      return absl::InvalidArgumentError(absl::StrCat(
          "rank ", interval.rank, ": interval [", interval.start_ps, ", ", interval.end_ps,
          ") ps of node ", interval.node, " does not fit: the rank has ", timeline->trace->size(),
          " nodes and ends at ", end_ps));
    }
    if (interval.end_ps == interval.start_ps) continue;
    if ((timeline->trace->flags[interval.node] & RankTrace::kAnnotation) != 0) continue;
    timeline->intervals.push_back(interval);
  }
  for (RankTimeline& rank : job.ranks) Sort(&rank.intervals);
  return job;
}

JobTimeline CutTimeline(const JobTimeline& job, const std::vector<int64_t>& start_ps,
                        const std::vector<int64_t>& end_ps) {
  CHECK(start_ps.size() == job.ranks.size() && end_ps.size() == job.ranks.size());
  JobTimeline cut{.trace = job.trace,
                  .simulated = job.simulated,
                  .base_unix_ns = job.base_unix_ns,
                  .ranks = {},
                  .notices = job.notices};
  for (size_t i = 0; i < job.ranks.size(); ++i) {
    if (end_ps[i] <= start_ps[i]) continue;
    RankTimeline rank{.rank = job.ranks[i].rank,
                      .trace = job.ranks[i].trace,
                      .copy = job.ranks[i].copy,
                      .start_ps = start_ps[i],
                      .end_ps = end_ps[i],
                      .groups_instead = job.ranks[i].groups_instead};
    for (TimelineInterval interval : job.ranks[i].intervals) {
      if (interval.start_ps >= end_ps[i]) break;
      interval.start_ps = std::max(interval.start_ps, start_ps[i]);
      interval.end_ps = std::min(interval.end_ps, end_ps[i]);
      if (interval.end_ps > interval.start_ps) rank.intervals.push_back(interval);
    }
    Sort(&rank.intervals);
    cut.ranks.push_back(std::move(rank));
  }
  return cut;
}

NodeTimes NodeTimesOf(const RankTimeline& rank) {
  NodeTimes times;
  times.start_ps.assign(rank.trace->size(), -1);
  times.end_ps.assign(rank.trace->size(), -1);
  for (const TimelineInterval& interval : rank.intervals) {
    times.start_ps[interval.node] = interval.start_ps;
    times.end_ps[interval.node] = interval.end_ps;
  }
  return times;
}

}  // namespace chakrad
