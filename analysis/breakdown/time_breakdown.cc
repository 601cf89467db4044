#include "analysis/breakdown/time_breakdown.h"

#include <algorithm>
#include <limits>

#include "analysis/breakdown/busy_sweep.h"
#include "analysis/breakdown/idle_causes.h"

namespace chakrad {
namespace {

// Counts intervals that overlap where operations should run one after another.
class QueueOverlaps {
 public:
  explicit QueueOverlaps(const RankTrace& trace) : trace_(trace), last_(trace.queues.size()) {}

  void Add(const TimelineInterval& interval) {
    if (interval.queue >= last_.size() ||
        trace_.queues[interval.queue].kind != Queue::Kind::kDeviceStream) {
      return;
    }
    Last& last = last_[interval.queue];
    const NodeType type = trace_.type[interval.node];
    const bool message = type == NodeType::kCommSend || type == NodeType::kCommRecv;
    if (interval.start_ps < last.end_ps && !(message && last.message)) ++count_;
    if (interval.end_ps < last.end_ps) return;
    last = {interval.end_ps, message};
  }
  int64_t count() const { return count_; }

 private:
  struct Last {
    int64_t end_ps = std::numeric_limits<int64_t>::min();
    bool message = false;
  };
  const RankTrace& trace_;
  std::vector<Last> last_;  // By queue: what reaches furthest.
  int64_t count_ = 0;
};

void AddGap(const GapCauses& causes, TimeBreakdown* breakdown) {
  breakdown->idle_host_bound_ps += causes.host_bound_ps;
  breakdown->idle_kernel_wait_ps += causes.kernel_wait_ps;
  breakdown->idle_sync_ps += causes.sync_ps;
  breakdown->idle_other_ps += causes.other_ps;
}

// `causes`: null where nobody asks.
TimeBreakdown BreakDown(const RankTimeline& rank, IdleCauses* causes) {
  TimeBreakdown breakdown{.rank = rank.rank, .start_ps = rank.start_ps, .span_ps = rank.span_ps()};
  BusySweep sweep(rank.start_ps);
  QueueOverlaps overlaps(*rank.trace);
  for (const TimelineInterval& interval : rank.intervals) {
    sweep.Advance(interval.start_ps);
    if (causes != nullptr && interval.kind != IntervalKind::kHost && sweep.gap_ps() > 0) {
      AddGap(causes->Before(interval.node, sweep.gap_start_ps(), interval.start_ps), &breakdown);
      sweep.CloseGap();
    }
    sweep.Start(interval.kind, interval.end_ps);
    overlaps.Add(interval);
  }
  sweep.Advance(rank.end_ps);
  SetTimes(sweep, &breakdown);
  if (causes == nullptr) {
    breakdown.idle_other_ps = breakdown.idle_ps;
  } else {
    // Nothing follows: the host was still at work, or nobody was.
    breakdown.idle_host_bound_ps += sweep.host_in_gap_ps();
    breakdown.idle_other_ps += sweep.gap_ps() - sweep.host_in_gap_ps();
  }
  breakdown.overlapped_intervals_count = overlaps.count();
  return breakdown;
}

}  // namespace

double TimeBreakdown::overlap_ratio() const {
  if (comm_ps == 0) return 0;
  return static_cast<double>(comm_ps - exposed_comm_ps) / static_cast<double>(comm_ps);
}

void SetTimes(const BusySweep& sweep, TimeBreakdown* breakdown) {
  const uint32_t compute = KindBit(IntervalKind::kCompute);
  const uint32_t comm = KindBit(IntervalKind::kComm);
  const uint32_t memory = KindBit(IntervalKind::kMemory);
  breakdown->compute_ps = sweep.LengthOf(compute);
  breakdown->comm_ps = sweep.LengthOf(comm);
  breakdown->exposed_comm_ps = sweep.LengthOf(comm, compute);
  breakdown->memory_ps = sweep.LengthOf(memory);
  breakdown->exposed_memory_ps = sweep.LengthOf(memory, compute | comm);
  breakdown->idle_ps = sweep.IdlePs();
}

TimeBreakdown BreakDownTime(const RankTimeline& rank) {
  IdleCauses causes(rank);
  return BreakDown(rank, &causes);
}

TimeBreakdown BreakDownWithoutCauses(const RankTimeline& rank) { return BreakDown(rank, nullptr); }

std::vector<TimeBreakdown> BreakDownTime(const JobTimeline& job) {
  std::vector<TimeBreakdown> ranks;
  ranks.reserve(job.ranks.size());
  for (const RankTimeline& rank : job.ranks) ranks.push_back(BreakDownTime(rank));
  return ranks;
}

void TimeSharesSum::Add(const TimeBreakdown& rank) {
  if (rank.span_ps <= 0) return;
  const auto share = [&rank](int64_t part_ps) {
    return static_cast<double>(part_ps) / static_cast<double>(rank.span_ps);
  };
  const double exposed_comm_ratio = share(rank.exposed_comm_ps);
  if (ranks_count_ == 0 || exposed_comm_ratio > sum_.worst_exposed_comm_ratio) {
    sum_.worst_exposed_comm_ratio = exposed_comm_ratio;
    sum_.worst_rank = rank.rank;
  }
  ++ranks_count_;
  sum_.compute_ratio += share(rank.compute_ps);
  sum_.comm_ratio += share(rank.comm_ps);
  sum_.exposed_comm_ratio += exposed_comm_ratio;
  sum_.exposed_memory_ratio += share(rank.exposed_memory_ps);
  sum_.idle_ratio += share(rank.idle_ps);
  sum_.overlap_ratio += rank.overlap_ratio();
  if (rank.comm_ps > 0) ++communicating_count_;
}

TimeShares TimeSharesSum::Mean() const {
  TimeShares mean = sum_;
  if (ranks_count_ == 0) return mean;
  for (double* ratio : {&mean.compute_ratio, &mean.comm_ratio, &mean.exposed_comm_ratio,
                        &mean.exposed_memory_ratio, &mean.idle_ratio}) {
    *ratio /= ranks_count_;
  }
  if (communicating_count_ > 0) mean.overlap_ratio /= communicating_count_;
  return mean;
}

TimeShares MeanShares(const std::vector<TimeBreakdown>& ranks) {
  TimeSharesSum sum;
  for (const TimeBreakdown& rank : ranks) sum.Add(rank);
  return sum.Mean();
}

}  // namespace chakrad
