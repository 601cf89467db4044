// Which operations of which ranks are one collective, or one message.
//
// The k-th collective that a rank starts in a process group is the k-th of that group, as the
// simulator has it; two ranks' are one as long as both had the same types (and sizes, where
// these must agree) so far. Sends and receives are matched by group, ends, tag and
// size, the k-th with the k-th. docs/analysis.md#matching.
#ifndef CHAKRAD_ANALYSIS_COLLECTIVES_MATCH_COMM_H_
#define CHAKRAD_ANALYSIS_COLLECTIVES_MATCH_COMM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "analysis/timeline/timeline.h"
#include "trace/model/rank_trace.h"
#include "trace/model/trace.h"

namespace chakrad {

// A communication node of one rank.
struct CommEvent {
  int64_t start_ps = 0;
  int64_t end_ps = 0;       // == start_ps == 0: without a time, or none at all.
  int64_t bytes = 0;        // CommOp::bytes, not below 0.
  int64_t tag = 0;          // Of sends and receives.
  uint32_t rank_index = 0;  // Index into JobTimeline::ranks.
  uint32_t node = 0;
  uint32_t group = kWorldGroup;  // Index into Trace::groups; kNone: not known of a stand-in.
  uint32_t match = kNone;        // Index into `collectives` or `messages`; kNone: with nothing.
  int32_t peer = kNoRank;        // Of sends and receives; kNoRank: not known.
  NodeType type = NodeType::kCommColl;
  CollectiveType collective = CollectiveType::kAllReduce;

  bool timed() const { return end_ps > start_ps; }
  int64_t dur_ps() const { return end_ps - start_ps; }
};

// The `number`-th collective of a group: events members[begin, begin + count), by rank.
struct CollectiveMatch {
  uint32_t group = kWorldGroup;
  uint32_t number = 0;
  uint32_t begin = 0;
  uint32_t count = 0;
  int32_t group_size = 0;  // Members of the group; `count` where they are not known.
  bool all_timed = false;  // All members of the group are here, and each has a time.
  CollectiveType type = CollectiveType::kAllReduce;
  int64_t bytes = 0;  // The most of any member.
};

struct MessageMatch {
  uint32_t send = 0;     // Index into `events`,
  uint32_t receive = 0;  // as this.
};

struct MatchedComm {
  // By (rank, node); those of rank_index i are [events_begin[i], events_begin[i + 1]).
  std::vector<CommEvent> events;
  std::vector<uint32_t> events_begin;
  std::vector<int32_t> ranks;                // By rank_index, ascending.
  std::vector<CollectiveMatch> collectives;  // By (group, number). Each with one event or more.
  std::vector<uint32_t> members;             // Indices of events.
  std::vector<MessageMatch> messages;
  // Ranks that run something else than the others, groups with members that were not traced.
  std::vector<std::string> notices;

  absl::Span<const uint32_t> MembersOf(const CollectiveMatch& match) const {
    return absl::Span<const uint32_t>(members).subspan(match.begin, match.count);
  }
  // The event of a node, or null when it is no communication or its rank was not matched.
  // O(log).
  const CommEvent* Find(int32_t rank, uint32_t node) const;
};

// Whether no member can end such a collective before the last one has joined it. Not so of
// those with a root: it may send and leave.
bool IsSynchronising(CollectiveType type);

// The group that `rank` used for one of its operations: an index into Trace::groups (the world
// where the operation names none); kNone: a rank that another one stood in for, not known.
uint32_t GroupOf(const RankTimeline& rank, const CommOp& op, const Trace& job);

// "world", "tp0", "group 7": a group in messages, its name as UTF-8 and cut to a readable length.
std::string GroupLabel(const Trace& trace, uint32_t group);

// Of the whole timeline: a part of one (CutTimeline) would count from its own first collective.
// Operations without a time count: they keep their place by the order of nodes. O(nodes + k log
// k) for k communication nodes.
MatchedComm MatchComm(const JobTimeline& whole);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_COLLECTIVES_MATCH_COMM_H_
