#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/quantity.h"
#include "client/result_view.h"
#include "client/table.h"

namespace chakrad::client {
namespace {

using Align = Table::Align;

// Microseconds are shown, and nanoseconds where a whole run is below 1 ms.
int DecimalsFor(const v1::SimulationResult& result) {
  return result.end_ps() >= 1'000'000'000 ? 3 : 6;
}

int64_t RanksCount(const v1::RankResult& rank) { return std::max(1, rank.ranks_count()); }

// ---- Ranks.

class RankTable {
 public:
  explicit RankTable(const v1::SimulationResult& result)
      : result_(result),
        decimals_(DecimalsFor(result)),
        waits_(std::any_of(result.ranks().begin(), result.ranks().end(),
                           [](const v1::RankResult& rank) { return rank.wait_ps() > 0; })),
        table_(Columns()) {}

  void Add(const std::string& label, const v1::RankResult& rank) {
    std::vector<std::string> cells = {label,
                                      PsAsMs(rank.end_ps(), decimals_),
                                      PsAsMs(rank.compute_ps(), decimals_),
                                      PsAsMs(rank.comm_ps(), decimals_),
                                      PsAsMs(rank.exposed_comm_ps(), decimals_),
                                      PercentText(rank.exposed_comm_ps(), rank.end_ps()),
                                      PsAsMs(rank.exposed_memory_ps(), decimals_),
                                      PsAsMs(rank.idle_ps(), decimals_)};
    if (waits_) {
      cells.push_back(PsAsMs(rank.wait_ps(), decimals_));
      std::string whom = "-";
      if (rank.has_waits_most_for_rank()) {
        whom = absl::StrCat(rank.waits_most_for_rank());
        if (rank.has_waits_most_in_group()) {
          absl::StrAppend(&whom, " in ", GroupName(result_, rank.waits_most_in_group()));
        }
      }
      cells.push_back(whom);
    }
    table_.AddRow(std::move(cells));
  }
  std::string Text() const { return table_.Text(); }

 private:
  std::vector<Table::Column> Columns() const {
    std::vector<Table::Column> columns = {{"rank", "", Align::kRight},
                                          {"time", "ms", Align::kRight},
                                          {"compute", "ms", Align::kRight},
                                          {"communication", "ms", Align::kRight},
                                          {"exposed comm.", "ms", Align::kRight},
                                          {"of time", "%", Align::kRight},
                                          {"memory copies", "ms", Align::kRight},
                                          {"idle", "ms", Align::kRight}};
    if (waits_) {
      columns.push_back({"waiting", "ms", Align::kRight});
      columns.push_back({"mostly for rank", "", Align::kLeft});
    }
    return columns;
  }

  const v1::SimulationResult& result_;
  const int decimals_;
  const bool waits_;
  Table table_;
};

std::string LabelOf(const v1::RankResult& rank) {
  if (rank.ranks_count() <= 1) return absl::StrCat(rank.rank());
  return absl::StrCat(RanksOf(rank, 3), " (", CountText(rank.ranks_count()), " ranks)");
}

v1::RankResult MeanOf(const v1::SimulationResult& result) {
  int64_t ranks_count = 0;
  for (const v1::RankResult& rank : result.ranks()) ranks_count += RanksCount(rank);
  const auto mean = [&](int64_t (v1::RankResult::*value)() const) {
    absl::int128 sum = 0;
    for (const v1::RankResult& rank : result.ranks()) {
      sum += absl::int128((rank.*value)()) * RanksCount(rank);
    }
    return static_cast<int64_t>(sum / ranks_count);
  };
  v1::RankResult rank;
  rank.set_end_ps(mean(&v1::RankResult::end_ps));
  rank.set_compute_ps(mean(&v1::RankResult::compute_ps));
  rank.set_comm_ps(mean(&v1::RankResult::comm_ps));
  rank.set_exposed_comm_ps(mean(&v1::RankResult::exposed_comm_ps));
  rank.set_exposed_memory_ps(mean(&v1::RankResult::exposed_memory_ps));
  rank.set_idle_ps(mean(&v1::RankResult::idle_ps));
  rank.set_wait_ps(mean(&v1::RankResult::wait_ps));
  return rank;
}

std::string RanksText(const v1::SimulationResult& result, bool all_ranks) {
  RankTable table(result);
  const auto& ranks = result.ranks();
  if (ranks.size() <= kShownRanksMax || all_ranks) {
    for (const v1::RankResult& rank : ranks) table.Add(LabelOf(rank), rank);
    return table.Text();
  }
  const auto [fastest, slowest] = std::minmax_element(
      ranks.begin(), ranks.end(),
      [](const v1::RankResult& a, const v1::RankResult& b) { return a.end_ps() < b.end_ps(); });
  const auto most_exposed = std::max_element(ranks.begin(), ranks.end(),
                                             [](const v1::RankResult& a, const v1::RankResult& b) {
                                               return a.exposed_comm_ps() < b.exposed_comm_ps();
                                             });
  table.Add(absl::StrCat("first to end: ", fastest->rank()), *fastest);
  table.Add("mean", MeanOf(result));
  table.Add(absl::StrCat("last to end: ", slowest->rank()), *slowest);
  table.Add(absl::StrCat("most exposed: ", most_exposed->rank()), *most_exposed);
  const int64_t count = result.ranks_count() > 0 ? result.ranks_count() : ranks.size();
  return absl::StrCat(table.Text(), "(", count, " ranks; --all-ranks shows each)\n");
}

// ---- Collectives.

struct CollectiveSum {
  int64_t count = 0;
  int64_t bytes = 0;
  absl::int128 joining_ps = 0;  // From the first to the last to join.
  absl::int128 running_ps = 0;  // From then to the end.
  double bus_bandwidth_ps = 0;  // Bus bandwidth times the time it was held.
  bool flat = false;
};

int64_t ToInt64(absl::int128 value) {
  return value > INT64_MAX ? INT64_MAX : static_cast<int64_t>(value);
}

// A line for each type and group, the longest first.
std::string CollectivesText(const v1::SimulationResult& result) {
  if (result.collectives().empty()) return "";
  std::map<std::pair<std::string, std::string>, CollectiveSum> sums;
  for (const v1::CollectiveResult& collective : result.collectives()) {
    CollectiveSum& sum = sums[{collective.type(), GroupName(result, collective.group())}];
    const int64_t running_ps = collective.end_ps() - collective.all_joined_ps();
    ++sum.count;
    sum.bytes += collective.bytes();
    sum.joining_ps += collective.all_joined_ps() - collective.start_ps();
    sum.running_ps += running_ps;
    sum.bus_bandwidth_ps += collective.bus_bandwidth() * static_cast<double>(running_ps);
    sum.flat = sum.flat || collective.flat();
  }
  std::vector<const std::pair<const std::pair<std::string, std::string>, CollectiveSum>*> lines;
  for (const auto& line : sums) lines.push_back(&line);
  std::stable_sort(lines.begin(), lines.end(), [](const auto* a, const auto* b) {
    return a->second.running_ps > b->second.running_ps;
  });
  Table table({{"collective", "", Align::kLeft},
               {"group", "", Align::kLeft},
               {"count", "", Align::kRight},
               {"bytes a rank", "", Align::kRight},
               {"joining", "ms", Align::kRight},
               {"running", "ms", Align::kRight},
               {"bus bandwidth", "GB/s", Align::kRight},
               {"", "", Align::kLeft}});
  const int decimals = DecimalsFor(result);
  for (size_t i = 0; i < lines.size() && i < kShownRanksMax; ++i) {
    const CollectiveSum& sum = lines[i]->second;
    const double running_ps = static_cast<double>(sum.running_ps);
    table.AddRow({lines[i]->first.first, lines[i]->first.second, CountText(sum.count),
                  BytesText(sum.bytes), PsAsMs(ToInt64(sum.joining_ps), decimals),
                  PsAsMs(ToInt64(sum.running_ps), decimals),
                  running_ps > 0 ? absl::StrFormat("%.3f", sum.bus_bandwidth_ps / running_ps) : "-",
                  sum.flat ? "flat: the group fits no dimensions" : ""});
  }
  std::string text = absl::StrCat("\n", table.Text());
  if (lines.size() > kShownRanksMax) {
    absl::StrAppend(&text, "(", lines.size() - kShownRanksMax,
                    " more types and groups; --csv writes all)\n");
  }
  return text;
}

// ---- The network.

std::string NpuText(int32_t npu) { return npu < 0 ? "switch" : absl::StrCat(npu); }

std::string NetworkText(const v1::SimulationResult& result) {
  if (result.dimensions().empty()) return "";
  const int decimals = DecimalsFor(result);
  Table dims({{"dimension", "", Align::kRight},
              {"links", "", Align::kRight},
              {"messages", "", Align::kRight},
              {"bytes", "", Align::kRight},
              {"utilised", "%", Align::kRight},
              {"busy, mean", "%", Align::kRight},
              {"busy, most", "%", Align::kRight},
              {"queueing", "ms", Align::kRight}});
  for (const v1::DimensionResult& dim : result.dimensions()) {
    dims.AddRow(
        {absl::StrCat(dim.dimension()), CountText(dim.links_count()),
         CountText(dim.messages_count()), BytesText(dim.bytes()),
         absl::StrFormat("%.1f", 100 * dim.utilisation()),
         PercentText(dim.busy_ps() / std::max<int64_t>(1, dim.links_count()), result.end_ps()),
         PercentText(dim.max_busy_ps(), result.end_ps()), PsAsMs(dim.queue_ps(), decimals)});
  }
  if (result.links().empty()) return absl::StrCat("\n", dims.Text());
  constexpr size_t kShownLinks = 8;
  std::vector<const v1::LinkResult*> busiest;
  for (const v1::LinkResult& link : result.links()) busiest.push_back(&link);
  std::stable_sort(busiest.begin(), busiest.end(),
                   [](const auto* a, const auto* b) { return a->busy_ps() > b->busy_ps(); });
  Table links({{"busiest link", "", Align::kLeft},
               {"dimension", "", Align::kRight},
               {"messages", "", Align::kRight},
               {"bytes", "", Align::kRight},
               {"busy", "%", Align::kRight},
               {"queueing", "ms", Align::kRight}});
  for (size_t i = 0; i < busiest.size() && i < kShownLinks; ++i) {
    const v1::LinkResult& link = *busiest[i];
    links.AddRow({absl::StrCat(NpuText(link.from()), " -> ", NpuText(link.to())),
                  absl::StrCat(link.dimension()), CountText(link.messages_count()),
                  BytesText(link.bytes()), PercentText(link.busy_ps(), result.end_ps()),
                  PsAsMs(link.queue_ps(), decimals)});
  }
  return absl::StrCat("\n", dims.Text(), "\n", links.Text());
}

// ---- Memory.

std::string MemoryText(const v1::SimulationResult& result) {
  if (result.memory().empty()) return "";
  constexpr int kShownPeaks = 16;
  const int decimals = DecimalsFor(result);
  Table table({{"rank", "", Align::kRight},
               {"device", "", Align::kLeft},
               {"resident", "", Align::kRight},
               {"peak", "", Align::kRight},
               {"at", "ms", Align::kRight}});
  for (int i = 0; i < result.memory_size() && i < kShownPeaks; ++i) {
    const v1::MemoryPeak& peak = result.memory(i);
    table.AddRow({absl::StrCat(peak.rank()), peak.device(), BytesText(peak.resident_bytes()),
                  BytesText(peak.peak_bytes()), PsAsMs(peak.peak_at_ps(), decimals)});
  }
  const int more = std::max(0, result.memory_size() - kShownPeaks);
  return absl::StrCat("\n", table.Text(),
                      more > 0 ? absl::StrCat("(and ", CountText(more), " more)\n") : "");
}

// ---- The critical path.

// A line for each name, the longest first.
std::string CriticalPathText(const v1::SimulationResult& result) {
  if (result.critical_path().empty()) return "";
  std::map<uint32_t, std::pair<int64_t, int64_t>> by_name;  // Count and time.
  int64_t steps_ps = 0;
  for (const v1::CriticalStep& step : result.critical_path()) {
    auto& [count, time_ps] = by_name[step.name()];
    ++count;
    time_ps += step.end_ps() - step.start_ps();
    steps_ps += step.end_ps() - step.start_ps();
  }
  std::vector<std::pair<uint32_t, std::pair<int64_t, int64_t>>> lines(by_name.begin(),
                                                                      by_name.end());
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& a, const auto& b) { return a.second.second > b.second.second; });
  Table table({{"on the critical path", "", Align::kLeft},
               {"steps", "", Align::kRight},
               {"time", "ms", Align::kRight},
               {"of path", "%", Align::kRight}});
  constexpr size_t kNameShown = 60;
  for (size_t i = 0; i < lines.size() && i < kShownRanksMax; ++i) {
    const int name = static_cast<int>(lines[i].first);
    table.AddRow(
        {name < result.names_size() ? result.names(name).substr(0, kNameShown) : "(no name)",
         CountText(lines[i].second.first), PsAsMs(lines[i].second.second, DecimalsFor(result)),
         PercentText(lines[i].second.second, steps_ps)});
  }
  return absl::StrCat("\n", table.Text(), "(", CountText(result.critical_path_size()), " steps)\n");
}

// ---- The rest.

std::string ClassesText(const v1::SimulationResult& result) {
  if (result.classes().empty()) return "";
  int64_t ranks_count = 0;
  int largest = 0;
  for (int i = 0; i < result.classes_size(); ++i) {
    ranks_count += result.classes(i).ranks_count();
    if (result.classes(i).ranks_count() > result.classes(largest).ranks_count()) largest = i;
  }
  if (ranks_count == result.classes_size()) return "";  // Nobody was folded.
  return absl::StrCat("folded: ", CountText(ranks_count), " ranks were simulated as ",
                      CountText(result.classes_size()), ", the most of them (",
                      CountText(result.classes(largest).ranks_count()), ") as rank ",
                      result.classes(largest).representative(), "\n");
}

std::string StandInsText(const v1::SimulationResult& result) {
  const std::map<int32_t, int32_t> stand_in_by_rank(result.stand_in_by_rank().begin(),
                                                    result.stand_in_by_rank().end());
  if (stand_in_by_rank.empty()) return "";
  std::vector<std::string> parts;
  for (const auto& [rank, copy_of] : stand_in_by_rank) {
    if (parts.size() == kShownRanksMax) {
      parts.push_back(absl::StrCat("... (", stand_in_by_rank.size(), " in all)"));
      break;
    }
    parts.push_back(absl::StrCat("rank ", rank, " is a copy of rank ", copy_of));
  }
  return absl::StrCat("note: not traced: ", absl::StrJoin(parts, ", "), "\n");
}

}  // namespace

std::string RanksOf(const v1::RankResult& rank, int ranges_max) {
  if (rank.rank_ranges_size() < 2) return absl::StrCat(rank.rank());
  std::vector<std::string> ranges;
  for (int i = 0; i + 1 < rank.rank_ranges_size(); i += 2) {
    if (i / 2 == ranges_max) {
      ranges.push_back("...");
      break;
    }
    const int32_t first = rank.rank_ranges(i);
    const int32_t last = rank.rank_ranges(i + 1);
    ranges.push_back(first == last ? absl::StrCat(first) : absl::StrCat(first, "-", last));
  }
  return absl::StrJoin(ranges, ",");
}

std::string ResultText(const v1::SimulationResult& result, bool all_ranks) {
  std::string text = RanksText(result, all_ranks);
  absl::StrAppend(&text, CollectivesText(result), NetworkText(result), MemoryText(result),
                  CriticalPathText(result));
  if (text.find("\n\n") != std::string::npos) text += "\n";  // Several tables.
  absl::StrAppend(&text, "simulated time ", PsAsMs(result.end_ps(), DecimalsFor(result)), " ms, ",
                  CountText(result.nodes_count()), " nodes, ", CountText(result.events_count()),
                  " events, ", BytesText(result.network_bytes()), " over the network, ",
                  result.semantics(), " cost semantics");
  if (!result.topology().empty()) {
    absl::StrAppend(&text, ", ", result.back_end(), " back end, ", result.topology());
  }
  absl::StrAppend(&text, "\n", ClassesText(result), StandInsText(result));
  for (const std::string& notice : result.notices()) absl::StrAppend(&text, "note: ", notice, "\n");
  return text;
}

}  // namespace chakrad::client
