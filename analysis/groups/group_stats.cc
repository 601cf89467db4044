#include "analysis/groups/group_stats.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/collectives/match_comm.h"
#include "analysis/covered_time.h"
#include "common/saturating.h"
#include "trace/model/comm_bytes.h"

namespace chakrad {
namespace {

bool IsReduction(CollectiveType type) {
  switch (type) {
    case CollectiveType::kAllReduce:
    case CollectiveType::kAllGather:
    case CollectiveType::kReduce:
    case CollectiveType::kReduceScatter:
    case CollectiveType::kReduceScatterBlock:
      return true;
    default:
      return false;
  }
}

struct Account {
  GroupStats stats;
  GroupEvidence evidence;
  int64_t group_size = 1;       // 1 where it is not known: only shares of bytes matter.
  int32_t last_rank = kNoRank;  // That used it.
  std::vector<std::pair<CollectiveType, int64_t>> reductions;  // Type and size of each.
};

// A communication interval and whose it is.
struct Owned {
  int64_t start_ps;
  int64_t end_ps;
  uint32_t group;
};

class Accounts {
 public:
  explicit Accounts(const JobTimeline& job) : job_(job) {}

  std::vector<GroupStats> Run() {
    for (const RankTimeline& rank : job_.ranks) AddRank(rank);
    std::vector<GroupEvidence> evidence;
    for (auto& [group, account] : accounts_) evidence.push_back(EvidenceOf(group, &account));
    std::vector<ParallelismGuess> guesses = GuessParallelism(evidence);
    std::vector<GroupStats> all;
    for (auto& [group, account] : accounts_) {
      ParallelismGuess& guess = guesses[all.size()];
      account.stats.group = group;
      account.stats.shape = account.evidence.shape;
      account.stats.parallelism = guess.parallelism;
      account.stats.reason = std::move(guess.reason);
      all.push_back(std::move(account.stats));
    }
    return all;
  }

 private:
  void AddRank(const RankTimeline& rank) {
    std::vector<Owned> owned;
    for (const TimelineInterval& interval : rank.intervals) {
      if (interval.kind != IntervalKind::kComm) continue;
      const CommOp* op = rank.trace->CommOf(interval.node);
      const uint32_t group = op == nullptr ? kNone : GroupOf(rank, *op, *job_.trace);
      owned.push_back({interval.start_ps, interval.end_ps, group});
      Account& account = accounts_[group];
      if (account.stats.count == 0 && group < job_.trace->groups.size()) {
        const size_t size = job_.trace->groups[group].ranks.size();
        account.group_size = std::max<int64_t>(static_cast<int64_t>(size), 1);
      }
      AddOperation(rank, interval, op, &account);
    }
    // By start already; equal ones by group.
    std::stable_sort(owned.begin(), owned.end(), [](const Owned& a, const Owned& b) {
      return std::tie(a.start_ps, a.group) < std::tie(b.start_ps, b.group);
    });
    const CoveredTime compute(rank.intervals, IntervalKind::kCompute);
    int64_t charged_ps = INT64_MIN;  // All before it is some group's already.
    for (const Owned& one : owned) {
      const int64_t start_ps = std::max(one.start_ps, charged_ps);
      if (one.end_ps <= start_ps) continue;
      charged_ps = one.end_ps;
      GroupStats& stats = accounts_[one.group].stats;
      stats.comm_ps = SaturatingAdd(stats.comm_ps, one.end_ps - start_ps);
      stats.exposed_ps = SaturatingAdd(stats.exposed_ps, compute.UncoveredPs(start_ps, one.end_ps));
    }
  }

  void AddOperation(const RankTimeline& rank, const TimelineInterval& interval, const CommOp* op,
                    Account* account) {
    GroupStats& stats = account->stats;
    GroupEvidence& evidence = account->evidence;
    const int64_t bytes = op == nullptr ? 0 : std::max<int64_t>(op->bytes, 0);
    ++stats.count;
    stats.bytes = SaturatingAdd(stats.bytes, bytes);
    stats.total_ps = SaturatingAdd(stats.total_ps, interval.end_ps - interval.start_ps);
    if (op == nullptr) return;
    if (std::exchange(account->last_rank, rank.rank) != rank.rank) ++evidence.users_count;
    if (rank.trace->type[interval.node] != NodeType::kCommColl) {
      ++evidence.messages_count;
      evidence.messages_bytes += static_cast<double>(bytes);
      return;
    }
    const double data = AlgorithmBytes(op->collective, bytes, account->group_size);
    if (op->collective == CollectiveType::kAllToAll) {
      ++evidence.all_to_alls_count;
      evidence.all_to_alls_bytes += data;
    } else if (IsReduction(op->collective)) {
      ++evidence.reductions_count;
      evidence.reductions_bytes += data;
      account->reductions.emplace_back(op->collective, bytes);
    }
  }

  GroupEvidence EvidenceOf(uint32_t group_index, Account* account) const {
    GroupEvidence& evidence = account->evidence;
    if (group_index < job_.trace->groups.size()) {
      const ProcessGroup& group = job_.trace->groups[group_index];
      evidence.name = group.name;
      evidence.description = group.description;
      evidence.shape = ShapeOfGroup(group.ranks, job_.trace->world_size);
    }
    std::vector<std::pair<CollectiveType, int64_t>>& sizes = account->reductions;
    std::sort(sizes.begin(), sizes.end());
    for (size_t begin = 0; begin < sizes.size();) {
      size_t end = begin;
      while (end < sizes.size() && sizes[end] == sizes[begin]) ++end;
      evidence.most_frequent_count =
          std::max(evidence.most_frequent_count, static_cast<int64_t>(end - begin));
      begin = end;
    }
    return evidence;
  }

  const JobTimeline& job_;
  std::map<uint32_t, Account> accounts_;
};

}  // namespace

std::vector<GroupStats> ComputeGroupStats(const JobTimeline& job) { return Accounts(job).Run(); }

std::vector<ParallelismStats> SumByParallelism(const std::vector<GroupStats>& groups) {
  std::array<ParallelismStats, kParallelismsCount> sums;
  for (const GroupStats& group : groups) {
    ParallelismStats& sum = sums[static_cast<size_t>(group.parallelism)];
    sum.parallelism = group.parallelism;
    ++sum.groups_count;
    sum.count = SaturatingAdd(sum.count, group.count);
    sum.bytes = SaturatingAdd(sum.bytes, group.bytes);
    sum.total_ps = SaturatingAdd(sum.total_ps, group.total_ps);
    sum.comm_ps = SaturatingAdd(sum.comm_ps, group.comm_ps);
    sum.exposed_ps = SaturatingAdd(sum.exposed_ps, group.exposed_ps);
  }
  std::vector<ParallelismStats> all;
  for (const ParallelismStats& sum : sums) {
    if (sum.groups_count > 0) all.push_back(sum);
  }
  return all;
}

}  // namespace chakrad
