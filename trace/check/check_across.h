// The rules that ranks keep or break together: see docs/conformance.md#across-ranks.
#ifndef CHAKRAD_TRACE_CHECK_CHECK_ACROSS_H_
#define CHAKRAD_TRACE_CHECK_CHECK_ACROSS_H_

#include <cstdint>
#include <vector>

#include "trace/check/check_graph.h"
#include "trace/check/finding_list.h"
#include "trace/check/group_table.h"
#include "trace/model/trace.h"

namespace chakrad {

// What the checks of one rank know, kept for those of all. `rank` must outlive it.
struct RankView {
  const RankTrace* rank = nullptr;
  CheckGraph graph;
  std::vector<uint32_t> comm;  // CommInIssueOrder.
};

// A node of any rank.
struct CommPlace {
  uint32_t view = 0;  // Index into the views, which are in the order of Trace::ranks.
  uint32_t node = 0;
};

// The k-th collective of a group, on every traced member that has one.
struct CollectiveInstance {
  uint32_t group = kWorldGroup;
  uint32_t sequence = 0;           // k.
  std::vector<CommPlace> members;  // By ascending rank.
};

struct MatchedMessage {
  CommPlace send;
  CommPlace receive;
};

// Who communicates with whom.
struct CommMatches {
  std::vector<CollectiveInstance> collectives;
  // Whether all traced members of the group run the same collectives: by index of the group.
  std::vector<bool> group_agrees;
  std::vector<MatchedMessage> messages;
};

// collective_*_mismatch: in each group with known members the traced ones must run the same
// sequence of collectives. The sequence that most of them run is taken for right, of several
// the one of the lowest rank; each rank that runs another one is a finding, which names the
// first difference. Sizes are compared where both ranks state one (0 is none), but not of
// all-to-all, gather, scatter (ranks may differ) and barriers; roots where both ranks state one.
// Fills `collectives` and `group_agrees`. O(k log k) for k collectives.
void CheckCollectives(const std::vector<RankView>& views, const GroupTable& groups,
                      CommMatches* matches, FindingList* findings);

// unmatched_*, message_*_mismatch: sends and receives between traced ranks match by group,
// ends, tag and bytes, in order; what is left over is paired by ends and tag, then by ends.
// Fills `messages`. O(k log k) for k sends and receives.
void CheckMessages(const std::vector<RankView>& views, const GroupTable& groups,
                   CommMatches* matches, FindingList* findings);

// cross_rank_deadlock: collectives of groups that agree end together, matched receives wait for
// their sends (a send waits for nobody), everything waits for its dependencies. Nothing is said
// when a rank alone has a cycle. O(nodes + edges) of all ranks; no recursion.
void CheckDeadlock(const std::vector<RankView>& views, const CommMatches& matches,
                   FindingList* findings);

// clock_skew: collectives in which every member waits for every other cannot end on one rank
// before they start on another. Only where groups agree and all ranks have an epoch.
void CheckClocks(const std::vector<RankView>& views, const CommMatches& matches,
                 FindingList* findings);

// collective_dtype_mismatch, split_mismatch, gather_size_mismatch: from what PyTorch notes on
// record_param_comms since schema 1.1.0. Says nothing where that, or the cold block, is missing.
void CheckCommDetails(const std::vector<RankView>& views, const GroupTable& groups,
                      const CommMatches& matches, FindingList* findings);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_CHECK_CHECK_ACROSS_H_
