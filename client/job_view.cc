#include "client/job_view.h"

#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/quantity.h"
#include "client/table.h"

namespace chakrad::client {
namespace {

using google::protobuf::util::TimeUtil;
using Align = Table::Align;

Json TimeJson(bool has, const google::protobuf::Timestamp& time) {
  return has ? Json(TimeUtil::ToString(time)) : Json(nullptr);
}

Json ResultJson(const v1::SimulationResult& result) {
  Json ranks = Json::array();
  for (const v1::RankResult& rank : result.ranks()) {
    ranks.push_back({{"rank", rank.rank()},
                     {"end_ns", PsAsNs(rank.end_ps())},
                     {"compute_ns", PsAsNs(rank.compute_ps())},
                     {"comm_ns", PsAsNs(rank.comm_ps())},
                     {"exposed_comm_ns", PsAsNs(rank.exposed_comm_ps())},
                     {"exposed_memory_ns", PsAsNs(rank.exposed_memory_ps())},
                     {"idle_ns", PsAsNs(rank.idle_ps())},
                     {"network_bytes", rank.network_bytes()}});
  }
  Json stand_ins = Json::array();
  const std::map<int32_t, int32_t> stand_in_by_rank(result.stand_in_by_rank().begin(),
                                                    result.stand_in_by_rank().end());
  for (const auto& [rank, copy_of] : stand_in_by_rank) {
    stand_ins.push_back({{"rank", rank}, {"copy_of_rank", copy_of}});
  }
  Json notices = Json::array();
  for (const std::string& notice : result.notices()) notices.push_back(notice);
  return {{"semantics", result.semantics()},
          {"engine_version", result.engine_version()},
          {"end_ns", PsAsNs(result.end_ps())},
          {"nodes_count", result.nodes_count()},
          {"events_count", result.events_count()},
          {"network_bytes", result.network_bytes()},
          {"stand_ins", std::move(stand_ins)},
          {"notices", std::move(notices)},
          {"ranks", std::move(ranks)}};
}

// Microseconds are shown, and nanoseconds where a whole run is below 1 ms.
int DecimalsFor(const v1::SimulationResult& result) {
  return result.end_ps() >= 1'000'000'000 ? 3 : 6;
}

std::vector<std::string> RankCells(const std::string& label, const v1::RankResult& rank,
                                   int decimals) {
  return {label,
          PsAsMs(rank.end_ps(), decimals),
          PsAsMs(rank.compute_ps(), decimals),
          PsAsMs(rank.comm_ps(), decimals),
          PsAsMs(rank.exposed_comm_ps(), decimals),
          PercentText(rank.exposed_comm_ps(), rank.end_ps()),
          PsAsMs(rank.exposed_memory_ps(), decimals),
          PsAsMs(rank.idle_ps(), decimals)};
}

v1::RankResult MeanOf(const v1::SimulationResult& result) {
  const auto mean = [&result](int64_t (v1::RankResult::*value)() const) {
    absl::int128 sum = 0;
    for (const v1::RankResult& rank : result.ranks()) sum += (rank.*value)();
    return static_cast<int64_t>(sum / result.ranks_size());
  };
  v1::RankResult rank;
  rank.set_end_ps(mean(&v1::RankResult::end_ps));
  rank.set_compute_ps(mean(&v1::RankResult::compute_ps));
  rank.set_comm_ps(mean(&v1::RankResult::comm_ps));
  rank.set_exposed_comm_ps(mean(&v1::RankResult::exposed_comm_ps));
  rank.set_exposed_memory_ps(mean(&v1::RankResult::exposed_memory_ps));
  rank.set_idle_ps(mean(&v1::RankResult::idle_ps));
  return rank;
}

void AddSummaryRows(const v1::SimulationResult& result, int decimals, Table* table) {
  const auto by_end = [](const v1::RankResult& a, const v1::RankResult& b) {
    return a.end_ps() < b.end_ps();
  };
  const auto by_exposed = [](const v1::RankResult& a, const v1::RankResult& b) {
    return a.exposed_comm_ps() < b.exposed_comm_ps();
  };
  const auto& ranks = result.ranks();
  const auto [fastest, slowest] = std::minmax_element(ranks.begin(), ranks.end(), by_end);
  const auto most_exposed = std::max_element(ranks.begin(), ranks.end(), by_exposed);
  table->AddRow(RankCells(absl::StrCat("first to end: ", fastest->rank()), *fastest, decimals));
  table->AddRow(RankCells("mean", MeanOf(result), decimals));
  table->AddRow(RankCells(absl::StrCat("last to end: ", slowest->rank()), *slowest, decimals));
  table->AddRow(
      RankCells(absl::StrCat("most exposed: ", most_exposed->rank()), *most_exposed, decimals));
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

std::string ResultText(const v1::SimulationResult& result, bool all_ranks) {
  Table table({{"rank", "", Align::kRight},
               {"time", "ms", Align::kRight},
               {"compute", "ms", Align::kRight},
               {"communication", "ms", Align::kRight},
               {"exposed comm.", "ms", Align::kRight},
               {"of time", "%", Align::kRight},
               {"memory copies", "ms", Align::kRight},
               {"idle", "ms", Align::kRight}});
  const int decimals = DecimalsFor(result);
  const bool summary = result.ranks_size() > kShownRanksMax && !all_ranks;
  if (summary) {
    AddSummaryRows(result, decimals, &table);
  } else {
    for (const v1::RankResult& rank : result.ranks()) {
      table.AddRow(RankCells(absl::StrCat(rank.rank()), rank, decimals));
    }
  }
  std::string text = table.Text();
  if (summary) {
    absl::StrAppend(&text, "(", result.ranks_size(), " ranks; --all-ranks shows each)\n");
  }
  absl::StrAppend(&text, "simulated time ", PsAsMs(result.end_ps(), decimals), " ms, ",
                  CountText(result.nodes_count()), " nodes, ", CountText(result.events_count()),
                  " events, ", BytesText(result.network_bytes()), " over the network, ",
                  result.semantics(), " cost semantics\n", StandInsText(result));
  for (const std::string& notice : result.notices()) absl::StrAppend(&text, "note: ", notice, "\n");
  return text;
}

}  // namespace

bool IsFinished(const v1::Job& job) {
  return job.state() == v1::Job::SUCCEEDED || job.state() == v1::Job::FAILED ||
         job.state() == v1::Job::CANCELLED;
}

Json JobJson(const v1::Job& job) {
  Json json = {{"name", job.name()},
               {"state", v1::Job::State_Name(job.state())},
               {"trace", job.spec().trace()},
               {"create_time", TimeJson(job.has_create_time(), job.create_time())},
               {"start_time", TimeJson(job.has_start_time(), job.start_time())},
               {"end_time", TimeJson(job.has_end_time(), job.end_time())},
               {"progress",
                {{"nodes_done", job.progress().nodes_done()},
                 {"nodes_count", job.progress().nodes_count()},
                 {"simulated_ns", PsAsNs(job.progress().simulated_ps())},
                 {"events_count", job.progress().events_count()}}},
               {"error", job.error()}};
  if (!job.spec().network_yaml().empty()) {  // Lists have no specification.
    json["replicate_missing_ranks"] = job.spec().replicate_missing_ranks();
    json["keep_timeline"] = job.spec().keep_timeline();
  }
  json["result"] = job.has_result() ? ResultJson(job.result()) : Json(nullptr);
  return json;
}

std::string JobText(const v1::Job& job, bool all_ranks) {
  std::string text = absl::StrCat(job.name(), " ", v1::Job::State_Name(job.state()), ", trace ",
                                  job.spec().trace(), "\n");
  if (!job.error().empty()) absl::StrAppend(&text, "error: ", job.error(), "\n");
  if (job.state() == v1::Job::RUNNING) {
    absl::StrAppend(&text, CountText(job.progress().nodes_done()), " of ",
                    CountText(job.progress().nodes_count()), " nodes, ",
                    PsAsMs(job.progress().simulated_ps(), 3), " ms simulated\n");
  }
  if (job.has_result()) absl::StrAppend(&text, ResultText(job.result(), all_ranks));
  return text;
}

std::string JobListText(const std::vector<v1::Job>& jobs) {
  Table table({{"job", "", Align::kLeft},
               {"state", "", Align::kLeft},
               {"done", "%", Align::kRight},
               {"trace", "", Align::kLeft},
               {"created", "", Align::kLeft}});
  for (const v1::Job& job : jobs) {
    table.AddRow({job.name(), v1::Job::State_Name(job.state()),
                  PercentText(job.progress().nodes_done(), job.progress().nodes_count()),
                  job.spec().trace(), TimeUtil::ToString(job.create_time())});
  }
  return table.Text();
}

}  // namespace chakrad::client
