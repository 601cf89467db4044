#include "analysis/critical_path/critical_path.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "common/saturating.h"

namespace chakrad {
namespace {

constexpr absl::string_view kKindNames[kIntervalKindsCount] = {"compute", "comm", "memory", "host"};

class Walker {
 public:
  Walker(const CausalGraph& graph, const CausalReplay& replay)
      : graph_(graph), replay_(replay), at_(replay.last()), until_ps_(replay.end_ps()) {}

  std::vector<PathStep> Walk() {
    if (at_.rank == kNone) {
      // Nothing ran: one gap, of nobody, unless there is no time either.
      return {};
    }
    AddGap(replay_.last_end_ps());
    while (true) {
      const bool crossed = StepBackOver();
      if (crossed) StepToLastJoin();
      if (!StepToCause()) break;
    }
    std::reverse(steps_.begin(), steps_.end());
    return std::move(steps_);
  }

 private:
  const RankCauses& causes() const { return graph_.ranks[at_.rank]; }

  void Add(bool is_gap, int64_t start_ps) {
    if (until_ps_ <= start_ps) return;
    steps_.push_back({.rank = causes().timeline->rank,
                      .node = at_.node,
                      .is_gap = is_gap,
                      .kind = causes().kind[at_.node],
                      .start_ps = start_ps,
                      .end_ps = until_ps_});
    until_ps_ = start_ps;
  }
  void AddGap(int64_t start_ps) { Add(true, start_ps); }

  // Adds the part of the node up to until_ps_. Whether it waited for another rank's: then only
  // what came after.
  bool StepBackOver() {
    unnamed_ = steps_.size();
    const int64_t start_ps = replay_.StartPs(at_.rank, at_.node);
    const int64_t anchor_ps = replay_.AnchorPs(at_.rank, at_.node);
    const bool waited = anchor_ps > start_ps && until_ps_ > anchor_ps;
    Add(false, waited ? anchor_ps : start_ps);
    return waited;
  }

  // From a node that waited to the one that it waited for.
  void StepToLastJoin() {
    const MeetingLink& link = *causes().LinkOf(at_.node);
    const RankMeeting& meeting = graph_.meetings[link.waits];
    NameEdges(meeting.is_message ? PathEdge::kMessage : PathEdge::kCollective);
    for (const NodeRef& join : meeting.joins) {
      if (replay_.StartPs(join.rank, join.node) != replay_.MetPs(link.waits)) continue;
      at_ = join;
      return;
    }
  }

  // False when the node had no cause: the path is complete.
  bool StepToCause() {
    const uint32_t node = at_.node;
    uint32_t cause = causes().cause[node];
    if (cause == kNone) {
      AddGap(graph_.start_ps);
      return false;
    }
    // What held it back as recorded goes before what did as much.
    int64_t arrival_ps = replay_.ArrivalPs(at_.rank, cause, node);
    PathEdge edge = PathEdge::kNone;
    causes().ForEachCause(node, [&](uint32_t other, PathEdge other_edge) {
      const int64_t other_ps = replay_.ArrivalPs(at_.rank, other, node);
      const bool same = other == cause && edge == PathEdge::kNone;
      if (other_ps <= arrival_ps && !same) return;
      arrival_ps = other_ps;
      cause = other;
      edge = other_edge;
    });
    AddGap(arrival_ps);
    NameEdges(edge);
    at_.node = cause;
    return true;
  }

  // Of the steps since the last call.
  void NameEdges(PathEdge edge) {
    for (; unnamed_ < steps_.size(); ++unnamed_) steps_[unnamed_].edge = edge;
  }

  const CausalGraph& graph_;
  const CausalReplay& replay_;
  NodeRef at_;
  int64_t until_ps_;
  size_t unnamed_ = 0;
  std::vector<PathStep> steps_;
};

std::vector<PathShare> Sorted(std::vector<PathShare> shares) {
  std::sort(shares.begin(), shares.end(), [](const PathShare& a, const PathShare& b) {
    return a.total_ps != b.total_ps ? a.total_ps > b.total_ps : a.key < b.key;
  });
  return shares;
}

using Totals = absl::flat_hash_map<absl::string_view, PathShare>;

// Scaled times may reach the end of their type.
void AddTo(PathShare* share, const PathStep& step) {
  share->total_ps = SaturatingAdd(share->total_ps, SaturatingSubtract(step.end_ps, step.start_ps));
  ++share->count;
}

std::vector<PathShare> Listed(const Totals& totals) {
  std::vector<PathShare> shares;
  shares.reserve(totals.size());
  for (const auto& [key, share] : totals) {
    shares.push_back({std::string(key), share.total_ps, share.count});
  }
  return Sorted(std::move(shares));
}

}  // namespace

absl::string_view PathClassName(const PathStep& step) {
  return step.is_gap ? absl::string_view("gap") : kKindNames[static_cast<int>(step.kind)];
}

std::vector<PathStep> FindCriticalPath(const CausalGraph& graph, const CausalReplay& replay) {
  return Walker(graph, replay).Walk();
}

PathShares SharesOf(const CausalGraph& graph, const std::vector<PathStep>& steps) {
  std::map<int32_t, const RankTrace*> traces;
  for (const RankCauses& rank : graph.ranks) {
    traces[rank.timeline->rank] = rank.timeline->trace;
  }
  Totals by_class, by_edge, by_name;
  std::map<int32_t, PathShare> by_rank;
  for (const PathStep& step : steps) {
    AddTo(&by_class[PathClassName(step)], step);
    AddTo(&by_edge[PathEdgeName(step.edge)], step);
    AddTo(&by_name[step.is_gap ? absl::string_view("(gap)") : traces[step.rank]->NameOf(step.node)],
          step);
    AddTo(&by_rank[step.rank], step);
  }
  PathShares shares{Listed(by_class), Listed(by_edge), Listed(by_name), {}};
  for (const auto& [rank, share] : by_rank) {
    shares.by_rank.push_back({absl::StrCat(rank), share.total_ps, share.count});
  }
  shares.by_rank = Sorted(std::move(shares.by_rank));
  return shares;
}

}  // namespace chakrad
