// The result of a simulation as JSON and as tables. client/README.md documents the JSON.
#ifndef CHAKRAD_CLIENT_RESULT_VIEW_H_
#define CHAKRAD_CLIENT_RESULT_VIEW_H_

#include <string>

#include "chakrad/v1/job.pb.h"
#include "client/json.h"

namespace chakrad::client {

// Results of more ranks than these are shown as fastest, mean and slowest; of other lists so
// many lines are shown.
inline constexpr int kShownRanksMax = 16;

Json ResultJson(const v1::SimulationResult& result);

// Tables of ranks, collectives, dimensions and links, critical path and classes, of those that
// the result has, then totals and notes. `all_ranks`: a line for each entry of ranks.
std::string ResultText(const v1::SimulationResult& result, bool all_ranks);

// The ranks of an entry: "7", or "0-3,6-7" for one that stands for several. At most
// `ranges_max` ranges, then "...".
std::string RanksOf(const v1::RankResult& rank, int ranges_max);

// The name of a group of the result: its index where it has none.
std::string GroupName(const v1::SimulationResult& result, uint32_t group);

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_RESULT_VIEW_H_
