#include "analysis/collectives/collective_stats.h"

#include <algorithm>

#include "analysis/collectives/size_bucket.h"
#include "analysis/covered_time.h"
#include "common/saturating.h"
#include "trace/model/comm_bytes.h"

namespace chakrad {
namespace {

constexpr double kPsPerSecond = 1e12;

// Collectives by their type, then sends and receives.
constexpr size_t kSend = kCollectiveTypesCount;
constexpr size_t kReceive = kSend + 1;
constexpr size_t kTypesCount = kReceive + 1;

size_t TypeIndexOf(const CommEvent& event) {
  if (event.type == NodeType::kCommSend) return kSend;
  if (event.type == NodeType::kCommRecv) return kReceive;
  return static_cast<size_t>(event.collective);
}

absl::string_view TypeName(size_t index) {
  if (index == kSend) return "SEND";
  if (index == kReceive) return "RECV";
  return CollectiveTypeName(static_cast<CollectiveType>(index));
}

// What is divided by what. A group of one rank has no bus: its time would only dilute that of
// the others.
struct Rate {
  double algorithm_bytes = 0;
  double algorithm_ps = 0;
  double bus_bytes = 0;
  double bus_ps = 0;

  void Add(double algorithm, double bus, int64_t time_ps, int64_t ranks_count) {
    if (time_ps <= 0 || algorithm <= 0) return;
    algorithm_bytes += algorithm;
    algorithm_ps += static_cast<double>(time_ps);
    if (ranks_count < 2) return;
    bus_bytes += bus;
    bus_ps += static_cast<double>(time_ps);
  }
};

struct Cell {
  CollectiveStats stats;
  Rate rate;
  std::vector<int64_t> times_ps;
};

class Statistics {
 public:
  Statistics(const JobTimeline& job, const MatchedComm& matches)
      : job_(job),
        matches_(matches),
        collective_seen_(matches.collectives.size(), false),
        cells_(kTypesCount * kSizeBucketsCount) {}

  std::vector<CollectiveStats> Run() {
    for (const RankTimeline& rank : job_.ranks) AddRank(rank);
    std::vector<CollectiveStats> all;
    for (size_t i = 0; i < cells_.size(); ++i) {
      if (cells_[i].stats.count > 0) all.push_back(Finish(i));
    }
    return all;
  }

 private:
  void AddRank(const RankTimeline& rank) {
    const CoveredTime compute(rank.intervals, IntervalKind::kCompute);
    for (const TimelineInterval& interval : rank.intervals) {
      if (interval.kind != IntervalKind::kComm) continue;
      const CommEvent* event = matches_.Find(rank.rank, interval.node);
      if (event == nullptr) continue;
      Cell& cell = cells_[TypeIndexOf(*event) * kSizeBucketsCount +
                          static_cast<size_t>(SizeBucketIndexOf(event->bytes))];
      const int64_t dur_ps = interval.end_ps - interval.start_ps;
      ++cell.stats.count;
      cell.stats.bytes = SaturatingAdd(cell.stats.bytes, event->bytes);
      cell.stats.total_ps = SaturatingAdd(cell.stats.total_ps, dur_ps);
      cell.stats.exposed_ps = SaturatingAdd(
          cell.stats.exposed_ps, compute.UncoveredPs(interval.start_ps, interval.end_ps));
      cell.times_ps.push_back(dur_ps);
      if (event->type == NodeType::kCommColl) {
        AddCollective(*event, &cell);
      } else {
        AddMessage(*event, &cell);
      }
    }
  }

  void AddCollective(const CommEvent& event, Cell* cell) {
    if (event.match == kNone) {
      ++cell->stats.instances_count;
      AddRate(event.collective, event.bytes, GroupSizeOf(event), event.dur_ps(), &cell->rate);
      return;
    }
    const CollectiveMatch& match = matches_.collectives[event.match];
    const bool first = !collective_seen_[event.match];
    collective_seen_[event.match] = true;
    cell->stats.instances_count += first ? 1 : 0;
    const int64_t time_ps = match.all_timed ? TransferPs(match) : 0;
    // Alone in a group whose members nobody tells: it may be of any size.
    const int64_t size = match.group_size > 1 ? match.group_size : GroupSizeOf(event);
    if (time_ps <= 0) {
      AddRate(event.collective, event.bytes, size, event.dur_ps(), &cell->rate);
    } else if (first) {
      AddRate(match.type, match.bytes, size, time_ps, &cell->rate);
    }
  }

  // From the last join to the end; 0 or less where clocks say that it ended before.
  int64_t TransferPs(const CollectiveMatch& match) const {
    int64_t last_join_ps = INT64_MIN, end_ps = INT64_MIN;
    for (const uint32_t index : matches_.MembersOf(match)) {
      last_join_ps = std::max(last_join_ps, matches_.events[index].start_ps);
      end_ps = std::max(end_ps, matches_.events[index].end_ps);
    }
    return SaturatingSubtract(end_ps, last_join_ps);
  }

  // 0: not known.
  int64_t GroupSizeOf(const CommEvent& event) const {
    const std::vector<ProcessGroup>& groups = job_.trace->groups;
    return event.group < groups.size() ? static_cast<int64_t>(groups[event.group].ranks.size()) : 0;
  }

  static void AddRate(CollectiveType type, int64_t bytes, int64_t ranks_count, int64_t time_ps,
                      Rate* rate) {
    if (ranks_count == 0) return;
    rate->Add(AlgorithmBytes(type, bytes, ranks_count), BusBytes(type, bytes, ranks_count), time_ps,
              ranks_count);
  }

  // Of a message both ends are the members; each end's row has its bytes and its time.
  void AddMessage(const CommEvent& event, Cell* cell) {
    ++cell->stats.instances_count;
    const double bytes = static_cast<double>(event.bytes);
    int64_t time_ps = event.dur_ps();
    if (event.match != kNone) {
      const MessageMatch& match = matches_.messages[event.match];
      const CommEvent& send = matches_.events[match.send];
      const CommEvent& receive = matches_.events[match.receive];
      const int64_t joined_ps = SaturatingSubtract(std::max(send.end_ps, receive.end_ps),
                                                   std::max(send.start_ps, receive.start_ps));
      if (send.timed() && receive.timed() && joined_ps > 0) time_ps = joined_ps;
    }
    cell->rate.Add(bytes, bytes, time_ps, 2);
  }

  CollectiveStats Finish(size_t i) {
    Cell& cell = cells_[i];
    CollectiveStats stats = cell.stats;
    stats.type = TypeName(i / kSizeBucketsCount);
    stats.size_bucket = SizeBucketName(static_cast<int>(i % kSizeBucketsCount));
    std::vector<int64_t>& times_ps = cell.times_ps;
    const auto middle = times_ps.begin() + static_cast<ptrdiff_t>((times_ps.size() - 1) / 2);
    std::nth_element(times_ps.begin(), middle, times_ps.end());
    stats.median_ps = *middle;
    stats.min_ps = *std::min_element(times_ps.begin(), times_ps.end());
    stats.max_ps = *std::max_element(times_ps.begin(), times_ps.end());
    const Rate& rate = cell.rate;
    if (rate.algorithm_ps > 0) {
      stats.algorithm_bandwidth = rate.algorithm_bytes / rate.algorithm_ps * kPsPerSecond;
    }
    if (rate.bus_ps > 0) stats.bus_bandwidth = rate.bus_bytes / rate.bus_ps * kPsPerSecond;
    return stats;
  }

  const JobTimeline& job_;
  const MatchedComm& matches_;
  std::vector<bool> collective_seen_;
  std::vector<Cell> cells_;  // By type, then size.
};

}  // namespace

std::vector<CollectiveStats> ComputeCollectiveStats(const JobTimeline& job,
                                                    const MatchedComm& matches) {
  return Statistics(job, matches).Run();
}

}  // namespace chakrad
