#include "analysis/critical_path/meetings.h"

#include <utility>

namespace chakrad {

std::vector<RankMeeting> MeetingsOf(const MatchedComm& matches) {
  std::vector<RankMeeting> meetings;
  for (const CollectiveMatch& match : matches.collectives) {
    RankMeeting meeting{.is_message = false, .may_leave = !IsSynchronising(match.type)};
    for (const uint32_t index : matches.MembersOf(match)) {
      const CommEvent& event = matches.events[index];
      if (event.timed()) meeting.joins.push_back({event.rank_index, event.node});
    }
    if (meeting.joins.size() < 2) continue;
    meeting.waits = meeting.joins;
    meetings.push_back(std::move(meeting));
  }
  for (const MessageMatch& match : matches.messages) {
    const CommEvent& send = matches.events[match.send];
    const CommEvent& receive = matches.events[match.receive];
    if (!send.timed() || !receive.timed()) continue;
    meetings.push_back({.is_message = true,
                        .may_leave = false,
                        .joins = {{send.rank_index, send.node}},
                        .waits = {{receive.rank_index, receive.node}}});
  }
  return meetings;
}

}  // namespace chakrad
