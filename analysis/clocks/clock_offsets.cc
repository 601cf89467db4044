#include "analysis/clocks/clock_offsets.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "analysis/clocks/half_sample_mode.h"
#include "common/check.h"
#include "common/saturating.h"

namespace chakrad {
namespace {

// What one pair of ranks says: `b`'s clock is ahead of `a`'s by `ahead_ps`.
struct Tie {
  uint32_t a = 0;
  uint32_t b = 0;
  int64_t ahead_ps = 0;
  int64_t spread_ps = 0;
  int64_t count = 0;
  double uncertainty = 0;  // Of ahead_ps.
  bool repairs = false;    // By the recorded times some of it is impossible.
  auto Key() const { return std::tie(uncertainty, a, b); }
};

struct Difference {
  uint32_t a;
  uint32_t b;
  int64_t ps;
  bool impossible;  // One of the two was through before the other joined.
  auto Key() const { return std::tie(a, b, ps); }
};

// Of each group of equal (a, b) in `differences`, sorted.
template <typename Fn>
void ForEachPair(const std::vector<Difference>& differences, const Fn& fn) {
  for (size_t begin = 0; begin < differences.size();) {
    size_t end = begin;
    while (end < differences.size() && differences[end].a == differences[begin].a &&
           differences[end].b == differences[begin].b) {
      ++end;
    }
    fn(absl::MakeSpan(differences).subspan(begin, end - begin));
    begin = end;
  }
}

void Sort(std::vector<Difference>* differences) {
  std::sort(differences->begin(), differences->end(),
            [](const Difference& x, const Difference& y) { return x.Key() < y.Key(); });
}

// Where ranks exchange unequal amounts, one may always end later than another.
bool IsUneven(const MatchedComm& matches, const CollectiveMatch& match) {
  return match.type == CollectiveType::kAllToAll &&
         absl::c_any_of(matches.MembersOf(match),
                        [&](uint32_t index) { return matches.events[index].bytes != match.bytes; });
}

// Each member's end against that of the lowest rank that has a time.
void AddCollectiveTies(const MatchedComm& matches, std::vector<Tie>* ties) {
  std::vector<Difference> differences;
  for (const CollectiveMatch& match : matches.collectives) {
    if (!IsSynchronising(match.type) || IsUneven(matches, match)) continue;
    const CommEvent* lead = nullptr;
    for (const uint32_t index : matches.MembersOf(match)) {
      const CommEvent& event = matches.events[index];
      if (!event.timed()) continue;
      if (lead == nullptr) {
        lead = &event;
        continue;
      }
      const int64_t gap_ps = std::max(SaturatingSubtract(event.start_ps, lead->end_ps),
                                      SaturatingSubtract(lead->start_ps, event.end_ps));
      differences.push_back({lead->rank_index, event.rank_index,
                             SaturatingSubtract(event.end_ps, lead->end_ps),
                             gap_ps > kCausalityTolerancePs});
    }
  }
  Sort(&differences);
  std::vector<int64_t> values;
  ForEachPair(differences, [&](absl::Span<const Difference> pair) {
    values.clear();
    for (const Difference& one : pair) values.push_back(one.ps);
    Tie tie{.a = pair.front().a, .b = pair.front().b};
    tie.ahead_ps = HalfSampleMode(values);
    tie.spread_ps = MedianDeviation(values, tie.ahead_ps);
    tie.count = static_cast<int64_t>(values.size());
    tie.repairs = absl::c_any_of(pair, [](const Difference& one) { return one.impossible; });
    tie.uncertainty =
        (static_cast<double>(tie.spread_ps) + 1) / std::sqrt(static_cast<double>(tie.count));
    ties->push_back(tie);
  });
}

// A message from a to b cannot be received before it is sent: end_b - start_a is at least what
// b is ahead. So one direction bounds it from above, the other from below.
void AddMessageTies(const MatchedComm& matches, std::vector<Tie>* ties) {
  std::vector<Difference> at_most;
  for (const MessageMatch& match : matches.messages) {
    const CommEvent& send = matches.events[match.send];
    const CommEvent& receive = matches.events[match.receive];
    if (!send.timed() || !receive.timed() || send.rank_index == receive.rank_index) continue;
    const int64_t ahead_ps = SaturatingSubtract(receive.end_ps, send.start_ps);
    at_most.push_back({send.rank_index, receive.rank_index, ahead_ps,
                       SaturatingSubtract(0, ahead_ps) > kCausalityTolerancePs});
  }
  Sort(&at_most);
  std::vector<Tie> bounds;  // b is ahead of a by at most ahead_ps; by (a, b).
  ForEachPair(at_most, [&](absl::Span<const Difference> pair) {
    bounds.push_back({.a = pair.front().a,
                      .b = pair.front().b,
                      .ahead_ps = pair.front().ps,
                      .count = static_cast<int64_t>(pair.size()),
                      .repairs = pair.front().impossible});
  });
  for (const Tie& above : bounds) {
    if (above.a > above.b) continue;
    const auto below =
        std::lower_bound(bounds.begin(), bounds.end(), std::pair(above.b, above.a),
                         [](const Tie& tie, const std::pair<uint32_t, uint32_t>& wanted) {
                           return std::pair(tie.a, tie.b) < wanted;
                         });
    if (below == bounds.end() || below->a != above.b || below->b != above.a) continue;
    const int64_t high_ps = above.ahead_ps;
    const int64_t low_ps = SaturatingSubtract(0, below->ahead_ps);
    Tie tie{.a = above.a, .b = above.b};
    tie.ahead_ps = std::min(std::max<int64_t>(0, low_ps), std::max(low_ps, high_ps));
    if (high_ps < 0) tie.ahead_ps = high_ps;
    tie.spread_ps = std::abs(SaturatingSubtract(high_ps, low_ps) / 2);
    tie.count = SaturatingAdd(above.count, below->count);
    tie.uncertainty = static_cast<double>(tie.spread_ps);
    tie.repairs = above.repairs || below->repairs;
    ties->push_back(tie);
  }
}

// Whether so few or so uneven differences tell an offset.
bool IsClear(int64_t offset_ps, int64_t spread_ps, int64_t count) {
  const int64_t size_ps = offset_ps == INT64_MIN ? INT64_MAX : std::abs(offset_ps);
  return count >= kMinClockMatches && size_ps > SaturatingMultiply(kClockOffsetSpreads, spread_ps);
}

bool IsLarge(int64_t offset_ps) {
  return offset_ps > kMinClockOffsetPs || offset_ps < -kMinClockOffsetPs;
}

// Offsets of all ranks along the most certain ties. Without `all_ties`, of those that tell no
// offset the small ones say that two clocks agree; a large one says nothing, unless the two ranks'
// times are impossible without it.
class Tree {
 public:
  Tree(size_t ranks_count, bool all_ties)
      : all_ties_(all_ties), parent_(ranks_count), neighbours_(ranks_count) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }

  void Build(std::vector<Tie> ties) {
    for (Tie& tie : ties) {
      if (!all_ties_ && IsUsed(tie) && !tie.repairs &&
          !IsClear(tie.ahead_ps, tie.spread_ps, tie.count)) {
        tie.ahead_ps = 0;
      }
    }
    std::sort(ties.begin(), ties.end(),
              [](const Tie& x, const Tie& y) { return x.Key() < y.Key(); });
    for (const Tie& tie : ties) {
      if (!IsUsed(tie) || !Join(tie)) continue;
      neighbours_[tie.a].push_back(tie);
      neighbours_[tie.b].push_back(tie);
    }
    CountUncertain(ties);
  }

  // The reference of each set of ranks that ties connect is the one whose clock is in the
  // middle, so that one wrong clock does not move all others.
  void Fill(std::vector<ClockOffset>* offsets) {
    std::vector<bool> reached(neighbours_.size(), false);
    for (uint32_t first = 0; first < neighbours_.size(); ++first) {
      if (reached[first]) continue;
      std::vector<uint32_t> set = FillFrom(first, offsets);
      for (const uint32_t rank : set) reached[rank] = true;
      if (set.size() < 2) continue;
      const auto key = [&](uint32_t rank) { return std::pair((*offsets)[rank].offset_ps, rank); };
      std::sort(set.begin(), set.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
      // Of two in the middle the lower rank.
      FillFrom(std::min(set[(set.size() - 1) / 2], set[set.size() / 2]), offsets);
    }
  }

  // Sets of ranks that do nothing together.
  size_t sets_count() const { return sets_count_; }
  // Ranks whose ties to most of those that they do something with tell no offset.
  size_t uncertain_count() const { return uncertain_count_; }

 private:
  bool IsUsed(const Tie& tie) const {
    return all_ties_ || tie.repairs || !IsLarge(tie.ahead_ps) ||
           IsClear(tie.ahead_ps, tie.spread_ps, tie.count);
  }

  // False when they were joined before.
  bool Join(const Tie& tie) {
    const uint32_t a = RootOf(tie.a), b = RootOf(tie.b);
    if (a == b) return false;
    parent_[std::max(a, b)] = std::min(a, b);
    return true;
  }

  // Joins what unused ties would: each set so made has one largest part, and the rest.
  void CountUncertain(const std::vector<Tie>& ties) {
    std::vector<size_t> part_size(parent_.size(), 0);
    for (uint32_t rank = 0; rank < parent_.size(); ++rank) ++part_size[RootOf(rank)];
    for (const Tie& tie : ties) Join(tie);
    std::vector<size_t> largest(parent_.size(), 0);
    for (uint32_t rank = 0; rank < parent_.size(); ++rank) {
      size_t& of_set = largest[RootOf(rank)];
      of_set = std::max(of_set, part_size[rank]);
    }
    uncertain_count_ = parent_.size();
    for (uint32_t rank = 0; rank < parent_.size(); ++rank) {
      if (RootOf(rank) != rank) continue;
      ++sets_count_;
      uncertain_count_ -= largest[rank];
    }
  }

  // Sets the offsets against `reference` of all that ties connect with it; returns these.
  std::vector<uint32_t> FillFrom(uint32_t reference, std::vector<ClockOffset>* offsets) {
    std::vector<std::pair<uint32_t, uint32_t>> open{{reference, kNone}};  // And from where.
    std::vector<uint32_t> set;
    (*offsets)[reference] = {.rank = (*offsets)[reference].rank};
    while (!open.empty()) {
      const auto [at, before] = open.back();
      open.pop_back();
      set.push_back(at);
      for (const Tie& tie : neighbours_[at]) {
        const uint32_t next = tie.a == at ? tie.b : tie.a;
        if (next == before) continue;
        const ClockOffset& from = (*offsets)[at];
        ClockOffset& to = (*offsets)[next];
        to.offset_ps = tie.a == at ? SaturatingSubtract(from.offset_ps, tie.ahead_ps)
                                   : SaturatingAdd(from.offset_ps, tie.ahead_ps);
        to.spread_ps = SaturatingAdd(from.spread_ps, tie.spread_ps);
        to.matched_count = tie.count;
        open.emplace_back(next, at);
      }
      if (at != reference) continue;
      for (const Tie& tie : neighbours_[at]) {
        (*offsets)[at].matched_count = std::max((*offsets)[at].matched_count, tie.count);
      }
    }
    return set;
  }

  uint32_t RootOf(uint32_t rank) {
    while (parent_[rank] != rank) rank = parent_[rank] = parent_[parent_[rank]];
    return rank;
  }

  const bool all_ties_;
  std::vector<uint32_t> parent_;
  std::vector<std::vector<Tie>> neighbours_;
  size_t sets_count_ = 0;
  size_t uncertain_count_ = 0;
};

// How many collectives and messages cannot be as the times say, and by how much in all.
struct Impossible {
  int64_t count = 0;
  int64_t ps = 0;

  void Add(int64_t by_ps) {
    if (by_ps <= kCausalityTolerancePs) return;
    ++count;
    ps = SaturatingAdd(ps, by_ps);
  }
};

Impossible ImpossibleOf(const MatchedComm& matches, const std::vector<ClockOffset>* offsets) {
  const auto shift = [&](const CommEvent& event) {
    return offsets == nullptr ? 0 : (*offsets)[event.rank_index].offset_ps;
  };
  Impossible impossible;
  for (const CollectiveMatch& match : matches.collectives) {
    if (match.count < 2 || !IsSynchronising(match.type)) continue;
    int64_t last_join_ps = INT64_MIN, first_end_ps = INT64_MAX;
    for (const uint32_t index : matches.MembersOf(match)) {
      const CommEvent& event = matches.events[index];
      if (!event.timed()) continue;
      last_join_ps = std::max(last_join_ps, SaturatingAdd(event.start_ps, shift(event)));
      first_end_ps = std::min(first_end_ps, SaturatingAdd(event.end_ps, shift(event)));
    }
    impossible.Add(SaturatingSubtract(last_join_ps, first_end_ps));
  }
  for (const MessageMatch& match : matches.messages) {
    const CommEvent& send = matches.events[match.send];
    const CommEvent& receive = matches.events[match.receive];
    if (!send.timed() || !receive.timed()) continue;
    impossible.Add(SaturatingSubtract(SaturatingAdd(send.start_ps, shift(send)),
                                      SaturatingAdd(receive.end_ps, shift(receive))));
  }
  return impossible;
}

bool IsClearOffset(const ClockOffset& offset) {
  return IsLarge(offset.offset_ps) &&
         IsClear(offset.offset_ps, offset.spread_ps, offset.matched_count);
}

std::string Us(int64_t ps) { return absl::StrFormat("%.1f us", static_cast<double>(ps) / 1e6); }

void Describe(const Tree& tree, ClockEstimate* estimate) {
  if (estimate->should_align) {
    const ClockOffset* largest = &estimate->offsets.front();
    for (const ClockOffset& one : estimate->offsets) {
      if (std::abs(static_cast<double>(one.offset_ps)) >
          std::abs(static_cast<double>(largest->offset_ps))) {
        largest = &one;
      }
    }
    std::string text = absl::StrCat(
        "clocks of ranks disagree and were aligned on what they did together: at most by ",
        Us(largest->offset_ps), " (rank ", largest->rank, ", spread ", Us(largest->spread_ps), ")");
    if (estimate->impossible_count > 0) {
      absl::StrAppend(&text, "; by the recorded times ", estimate->impossible_count,
                      " collectives or messages would have ended before they began, now ",
                      estimate->impossible_aligned_count);
    }
    estimate->notices.push_back(std::move(text));
  } else if (estimate->impossible_count > 0) {
    estimate->notices.push_back(
        absl::StrCat(estimate->impossible_count,
                     " collectives or messages end on one rank before another joins them, and no "
                     "offsets of clocks explain it: times across ranks are as recorded"));
  }
  if (!estimate->should_align) return;
  if (tree.uncertain_count() > 0) {
    estimate->notices.push_back(absl::StrCat(
        "clocks of ", tree.uncertain_count(),
        " ranks were not aligned with the others': what they did together is too little, or ends "
        "too unevenly, to tell an offset"));
  }
  if (tree.sets_count() > 1) {
    estimate->notices.push_back(absl::StrCat(
        "ranks fall into ", tree.sets_count(),
        " sets that do nothing together: clocks were aligned within each of them only"));
  }
}

ClockEstimate UnknownClocks(const JobTimeline& job) {
  ClockEstimate estimate;
  for (const RankTimeline& rank : job.ranks) estimate.offsets.push_back({.rank = rank.rank});
  return estimate;
}

}  // namespace

ClockEstimate EstimateClocks(const JobTimeline& job, const MatchedComm& matches) {
  CHECK(matches.ranks.size() == job.ranks.size());
  ClockEstimate estimate = UnknownClocks(job);
  if (job.simulated || job.ranks.size() < 2) return estimate;
  std::vector<Tie> ties;
  AddCollectiveTies(matches, &ties);
  AddMessageTies(matches, &ties);
  const Impossible recorded = ImpossibleOf(matches, nullptr);
  const auto repairs = [&recorded](const Impossible& left) {
    return recorded.count > 0 && left.ps <= recorded.ps / 2;
  };
  std::vector<ClockOffset> by_all = estimate.offsets, by_certain = estimate.offsets;
  Tree tree_of_all(job.ranks.size(), /*all_ties=*/true);
  tree_of_all.Build(ties);
  tree_of_all.Fill(&by_all);
  Tree tree_of_certain(job.ranks.size(), /*all_ties=*/false);
  tree_of_certain.Build(std::move(ties));
  tree_of_certain.Fill(&by_certain);
  const Impossible left_by_all = ImpossibleOf(matches, &by_all);
  const Impossible left_by_certain = ImpossibleOf(matches, &by_certain);
  // That much less is impossible speaks for all of them.
  const bool use_all =
      (repairs(left_by_all) && !repairs(left_by_certain)) ||
      (left_by_certain.count > 0 && 2 * left_by_all.count <= left_by_certain.count);
  const std::vector<ClockOffset>& offsets = use_all ? by_all : by_certain;
  const Impossible& aligned = use_all ? left_by_all : left_by_certain;
  const bool some_clear = std::any_of(offsets.begin(), offsets.end(), IsClearOffset);
  const int64_t matched_count =
      static_cast<int64_t>(matches.collectives.size() + matches.messages.size());
  const bool harms = aligned.ps > recorded.ps && aligned.count > matched_count / 100;
  estimate.should_align = repairs(aligned) || (some_clear && !harms);
  // What is not used is told with all that is known of it.
  const bool tell_all = use_all || !estimate.should_align;
  estimate.impossible_count = recorded.count;
  estimate.impossible_aligned_count = tell_all ? left_by_all.count : aligned.count;
  estimate.offsets = tell_all ? std::move(by_all) : std::move(by_certain);
  Describe(tell_all ? tree_of_all : tree_of_certain, &estimate);
  return estimate;
}

JobTimeline AlignClocks(JobTimeline job, const ClockEstimate& estimate) {
  CHECK(estimate.offsets.size() == job.ranks.size());
  int64_t first_ps = 0;
  bool changed = false;
  for (size_t i = 0; i < job.ranks.size(); ++i) {
    const int64_t offset_ps = estimate.offsets[i].offset_ps;
    changed = changed || offset_ps != 0;
    first_ps = std::min(first_ps, SaturatingAdd(job.ranks[i].start_ps, offset_ps));
  }
  if (!changed) return job;
  // Whole nanoseconds, as the base is.
  const int64_t back_ns = (SaturatingSubtract(0, first_ps) / kPsPerNs) + (first_ps < 0 ? 1 : 0);
  if (job.base_unix_ns != 0) job.base_unix_ns = SaturatingSubtract(job.base_unix_ns, back_ns);
  const int64_t back_ps = SaturatingMultiply(back_ns, kPsPerNs);
  for (size_t i = 0; i < job.ranks.size(); ++i) {
    RankTimeline& rank = job.ranks[i];
    const int64_t shift_ps = SaturatingAdd(estimate.offsets[i].offset_ps, back_ps);
    if (shift_ps == 0) continue;
    rank.start_ps = SaturatingAdd(rank.start_ps, shift_ps);
    rank.end_ps = SaturatingAdd(rank.end_ps, shift_ps);
    for (TimelineInterval& interval : rank.intervals) {
      interval.start_ps = SaturatingAdd(interval.start_ps, shift_ps);
      interval.end_ps = SaturatingAdd(interval.end_ps, shift_ps);
    }
    // At the end of time some may have become empty.
    if (rank.end_ps == INT64_MAX) {
      rank.intervals.erase(std::remove_if(rank.intervals.begin(), rank.intervals.end(),
                                          [](const TimelineInterval& interval) {
                                            return interval.end_ps <= interval.start_ps;
                                          }),
                           rank.intervals.end());
    }
  }
  return job;
}

ClockEstimate EstimateAndAlign(bool align, JobTimeline* job) {
  if (job->simulated || job->ranks.size() < 2) return UnknownClocks(*job);
  ClockEstimate estimate = EstimateClocks(*job, MatchComm(*job));
  if (estimate.should_align && !align) {
    job->notices.push_back("clocks of ranks disagree and were kept as recorded, as was asked for");
    return estimate;
  }
  if (estimate.should_align) *job = AlignClocks(std::move(*job), estimate);
  job->notices.insert(job->notices.end(), estimate.notices.begin(), estimate.notices.end());
  return estimate;
}

}  // namespace chakrad
