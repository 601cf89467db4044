#include "sim/workload/channels.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/limits.h"

namespace chakrad {
namespace {

struct Half {
  uint32_t group;
  int32_t src;
  int32_t dst;
  int64_t tag;
  int64_t bytes;
  bool is_receive;
  uint64_t id;
  const RankTrace* rank;
  int32_t runs;  // The rank that runs it.
  uint32_t node;

  auto Key() const { return std::tie(group, src, dst, tag, bytes); }
  auto Order() const { return std::tie(group, src, dst, tag, bytes, is_receive, id); }
};

std::vector<Half> CollectHalves(const Trace& trace, const Cast& cast) {
  std::vector<Half> halves;
  for (int32_t runs = 0; runs < trace.world_size; ++runs) {
    const RankTrace& rank = trace.ranks[cast.trace_of[runs]];
    if (rank.comm.empty()) continue;
    for (uint32_t node = 0; node < rank.size(); ++node) {
      const NodeType type = rank.type[node];
      if (type != NodeType::kCommSend && type != NodeType::kCommRecv) continue;
      const CommOp& op = *rank.CommOf(node);
      const bool is_receive = type == NodeType::kCommRecv;
      const int32_t peer = op.peer + cast.ShiftOf(runs);
      halves.push_back({cast.GroupFor(runs, op.group), is_receive ? peer : runs,
                        is_receive ? runs : peer, op.tag, op.bytes, is_receive, rank.id[node],
                        &rank, runs, node});
    }
  }
  std::sort(halves.begin(), halves.end(),
            [](const Half& a, const Half& b) { return a.Order() < b.Order(); });
  return halves;
}

std::string Describe(const Half& half) {
  return absl::StrCat(
      "rank ", half.runs, ", ", DescribeNode(*half.rank, half.node),
      half.is_receive ? " waits for " : " sends ", half.bytes, " bytes (tag ", half.tag,
      half.group == kWorldGroup ? "" : absl::StrCat(", group ", half.group),
      half.is_receive ? ") from rank " : ") to rank ", half.is_receive ? half.src : half.dst);
}

// `unmatched`: the halves left over. Each is listed with one between the same ranks that
// is left over on the other side, if there is one.
absl::Status Unmatched(std::vector<Half> unmatched) {
  std::stable_sort(unmatched.begin(), unmatched.end(), [](const Half& a, const Half& b) {
    return std::tie(a.src, a.dst, a.is_receive, a.id) < std::tie(b.src, b.dst, b.is_receive, b.id);
  });
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < unmatched.size();) {
    size_t middle = begin, end = begin;
    const auto same_ends = [&](const Half& half) {
      return half.src == unmatched[begin].src && half.dst == unmatched[begin].dst;
    };
    while (end < unmatched.size() && same_ends(unmatched[end])) ++end;
    while (middle < end && !unmatched[middle].is_receive) ++middle;
    const size_t sends_count = middle - begin, receives_count = end - middle;
    for (size_t i = 0; i < std::max(sends_count, receives_count); ++i) {
      if (i >= sends_count) {
        lines.push_back(absl::StrCat(Describe(unmatched[middle + i]), ", which sends no such"));
      } else if (i >= receives_count) {
        lines.push_back(
            absl::StrCat(Describe(unmatched[begin + i]), ", which has no receive for it"));
      } else {
        lines.push_back(absl::StrCat(Describe(unmatched[begin + i]), ", but ",
                                     Describe(unmatched[middle + i])));
      }
    }
    begin = end;
  }
  const size_t count = lines.size();
  if (count > kWaitsListed) lines.resize(kWaitsListed);
  std::string more =
      count > lines.size() ? absl::StrCat("; and ", count - lines.size(), " more") : "";
  return absl::FailedPreconditionError(
      absl::StrCat("the run cannot finish: ", count,
                   " sends and receives do not match: ", absl::StrJoin(lines, "; "), more));
}

}  // namespace

absl::StatusOr<Channels> BuildChannels(const Trace& trace, const Cast& cast) {
  const std::vector<Half> halves = CollectHalves(trace, cast);
  Channels channels;
  if (halves.empty()) return channels;
  channels.channel_of.resize(trace.world_size);
  std::vector<Half> unmatched;
  for (size_t begin = 0; begin < halves.size();) {
    const Half& first = halves[begin];
    size_t middle = begin, end = begin;
    while (end < halves.size() && halves[end].Key() == first.Key()) ++end;
    while (middle < end && !halves[middle].is_receive) ++middle;
    const size_t matched = std::min(middle - begin, end - middle);
    for (size_t i = begin + matched; i < middle; ++i) unmatched.push_back(halves[i]);
    for (size_t i = middle + matched; i < end; ++i) unmatched.push_back(halves[i]);
    for (size_t i = begin; i < end; ++i) {
      std::vector<uint32_t>& of_rank = channels.channel_of[halves[i].runs];
      if (of_rank.empty()) of_rank.assign(halves[i].rank->comm.size(), kNone);
      of_rank[halves[i].rank->side[halves[i].node]] = static_cast<uint32_t>(channels.all.size());
    }
    channels.all.push_back({first.src, first.dst, first.tag, first.bytes, 0, {}, {}});
    channels.all.back().sends.reserve(middle - begin);
    channels.all.back().receives.reserve(end - middle);
    begin = end;
  }
  if (!unmatched.empty()) return Unmatched(std::move(unmatched));
  return channels;
}

}  // namespace chakrad
