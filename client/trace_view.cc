#include "client/trace_view.h"

#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/check_view.h"
#include "client/quantity.h"
#include "client/table.h"

namespace chakrad::client {
namespace {

using google::protobuf::util::TimeUtil;
using Align = Table::Align;

// Of ranks, files and notices each: a screen, whatever the trace's size.
constexpr int kShownLinesMax = 16;

// What follows a list that was cut.
std::string CutText(int count, const char* what) {
  if (count <= kShownLinesMax) return "";
  return absl::StrCat("(", count - kShownLinesMax, " more ", what,
                      "; traces show --output json has all)\n");
}

// Protobuf maps have no order; output has.
template <typename Value>
std::map<std::string, Value> Sorted(const google::protobuf::Map<std::string, Value>& map) {
  return {map.begin(), map.end()};
}

template <typename Value>
Json MapJson(const google::protobuf::Map<std::string, Value>& map) {
  Json json = Json::object();
  for (const auto& [key, value] : Sorted(map)) json[key] = value;
  return json;
}

template <typename Values>
Json ArrayJson(const Values& values) {
  Json json = Json::array();
  for (const auto& value : values) json.push_back(value);
  return json;
}

Json RankJson(const v1::RankSummary& rank) {
  Json comm = Json::object();
  for (const auto& [type, count] : Sorted(rank.comm_by_type())) {
    comm[type] = {{"count", count.count()}, {"bytes", count.bytes()}};
  }
  return {{"rank", rank.rank()},
          {"schema", rank.schema()},
          {"nodes_count", rank.nodes_count()},
          {"host_nodes_count", rank.host_nodes_count()},
          {"device_nodes_count", rank.device_nodes_count()},
          {"span_ns", rank.span_ns()},
          {"nodes_count_by_type", MapJson(rank.nodes_count_by_type())},
          {"edges_count_by_kind", MapJson(rank.edges_count_by_kind())},
          {"comm_by_type", std::move(comm)}};
}

Json EntriesJson(const google::protobuf::RepeatedPtrField<v1::Rejection>& entries) {
  Json json = Json::array();
  for (const v1::Rejection& entry : entries) {
    json.push_back({{"rule", entry.rule()},
                    {"record", entry.record()},
                    {"byte_offset", entry.byte_offset()},
                    {"reason", entry.reason()}});
  }
  return json;
}

Json LedgerJson(const v1::FileLedger& file) {
  return {{"file", file.file()},
          {"records_count", file.records_count()},
          {"kept_count", file.kept_count()},
          {"merged_count", file.merged_count()},
          {"rejected_count", file.rejected_count()},
          {"merged_by_rule", MapJson(file.merged_by_rule())},
          {"rejected_by_rule", MapJson(file.rejected_by_rule())},
          {"rejections", EntriesJson(file.rejections())},
          {"flaws_by_rule", MapJson(file.flaws_by_rule())},
          {"flaws", EntriesJson(file.flaws())},
          {"notices", ArrayJson(file.notices())}};
}

Json GroupJson(const v1::ProcessGroup& group) {
  return {{"group", group.group()},
          {"description", group.description()},
          {"ranks", ArrayJson(group.ranks())}};
}

std::string LabelsText(const v1::Trace& trace) {
  return absl::StrJoin(Sorted(trace.labels()), ", ", absl::PairFormatter("="));
}

// "8", or "4 of 8" where ranks are missing.
std::string RanksCountText(const v1::Trace& trace) {
  if (trace.ranks_count() == trace.world_size()) return absl::StrCat(trace.world_size());
  return absl::StrCat(trace.ranks_count(), " of ", trace.world_size());
}

// Exposed communication in percent of the recorded time.
std::string ExposedText(const v1::Trace& trace) {
  if (!trace.has_breakdown()) return "-";
  return absl::StrFormat("%.1f", 100 * trace.breakdown().exposed_comm_ratio());
}

std::string StateText(const v1::Trace& trace) {
  if (trace.damaged()) return "damaged";
  return trace.pinned() ? "pinned" : "";
}

Json BreakdownJson(const v1::Breakdown& breakdown) {
  return {{"compute_ratio", breakdown.compute_ratio()},
          {"comm_ratio", breakdown.comm_ratio()},
          {"exposed_comm_ratio", breakdown.exposed_comm_ratio()},
          {"exposed_memory_ratio", breakdown.exposed_memory_ratio()},
          {"idle_ratio", breakdown.idle_ratio()},
          {"worst_exposed_comm_ratio", breakdown.worst_exposed_comm_ratio()}};
}

// Where the recorded time went, a line for people.
std::string BreakdownText(const v1::Breakdown& breakdown) {
  return absl::StrFormat(
      "time     %.1f %% compute, %.1f %% communication (%.1f %% exposed, %.1f %% on the worst "
      "rank), %.1f %% exposed memory, %.1f %% idle\n",
      100 * breakdown.compute_ratio(), 100 * breakdown.comm_ratio(),
      100 * breakdown.exposed_comm_ratio(), 100 * breakdown.worst_exposed_comm_ratio(),
      100 * breakdown.exposed_memory_ratio(), 100 * breakdown.idle_ratio());
}

std::string RanksText(const v1::Trace& trace) {
  Table table({{"rank", "", Align::kRight},
               {"nodes", "", Align::kRight},
               {"host", "", Align::kRight},
               {"device", "", Align::kRight},
               {"span", "ms", Align::kRight},
               {"communication", "", Align::kLeft},
               {"schema", "", Align::kLeft}});
  for (int i = 0; i < std::min(trace.ranks_size(), kShownLinesMax); ++i) {
    const v1::RankSummary& rank = trace.ranks(i);
    std::vector<std::string> comm;
    for (const auto& [type, count] : Sorted(rank.comm_by_type())) {
      comm.push_back(
          absl::StrCat(CountText(count.count()), " ", type, " (", CountText(count.bytes()), " B)"));
    }
    table.AddRow({absl::StrCat(rank.rank()), CountText(rank.nodes_count()),
                  CountText(rank.host_nodes_count()), CountText(rank.device_nodes_count()),
                  RoundedDecimal(rank.span_ns(), 6, 3), absl::StrJoin(comm, ", "), rank.schema()});
  }
  return table.Text() + CutText(static_cast<int>(trace.ranks_count()), "ranks");
}

std::string GroupsText(const v1::Trace& trace) {
  Table table({{"group", "", Align::kLeft},
               {"ranks", "", Align::kLeft},
               {"description", "", Align::kLeft}});
  constexpr int kShownRanksMax = 16;
  for (int i = 0; i < std::min(trace.process_groups_size(), kShownLinesMax); ++i) {
    const v1::ProcessGroup& group = trace.process_groups(i);
    const int count = group.ranks_size();
    const int shown = std::min(count, kShownRanksMax);
    std::string ranks = absl::StrJoin(group.ranks().begin(), group.ranks().begin() + shown, " ");
    if (shown < count) absl::StrAppend(&ranks, " ... (", count, " ranks)");
    const bool is_nameless_world = i == 0 && group.group().empty();
    table.AddRow({is_nameless_world ? "(world)" : group.group(), count == 0 ? "unknown" : ranks,
                  group.description()});
  }
  return table.Text() + CutText(trace.process_groups_size(), "groups");
}

std::string FilesText(const v1::Trace& trace) {
  Table table({{"file", "", Align::kLeft},
               {"records", "", Align::kRight},
               {"kept", "", Align::kRight},
               {"merged", "", Align::kRight},
               {"rejected", "", Align::kRight},
               {"rejected by rule", "", Align::kLeft}});
  for (int i = 0; i < std::min(trace.files_size(), kShownLinesMax); ++i) {
    const v1::FileLedger& file = trace.files(i);
    table.AddRow({file.file(), CountText(file.records_count()), CountText(file.kept_count()),
                  CountText(file.merged_count()), CountText(file.rejected_count()),
                  absl::StrJoin(Sorted(file.rejected_by_rule()), ", ", absl::PairFormatter(" "))});
  }
  return table.Text() + CutText(trace.files_size(), "files");
}

}  // namespace

std::vector<std::string> AllNotices(const v1::Trace& trace) {
  std::vector<std::string> notices(trace.notices().begin(), trace.notices().end());
  for (const v1::FileLedger& file : trace.files()) {
    for (const std::string& notice : file.notices()) {
      notices.push_back(absl::StrCat(file.file(), ": ", notice));
    }
  }
  return notices;
}

std::string NoticesText(const v1::Trace& trace) {
  const std::vector<std::string> notices = AllNotices(trace);
  std::string text;
  for (size_t i = 0; i < notices.size() && i < kShownLinesMax; ++i) {
    absl::StrAppend(&text, "note: ", notices[i], "\n");
  }
  return text + CutText(static_cast<int>(notices.size()), "notes");
}

Json TraceJson(const v1::Trace& trace) {
  Json json = {{"name", trace.name()},
               {"labels", MapJson(trace.labels())},
               {"create_time", TimeUtil::ToString(trace.create_time())},
               {"world_size", trace.world_size()},
               {"ranks_count", trace.ranks_count()},
               {"nodes_count", trace.nodes_count()},
               {"stored_bytes", trace.stored_bytes()},
               {"span_ns", trace.span_ns()},
               {"pinned", trace.pinned()},
               {"damaged", trace.damaged()},
               {"start_time", nullptr},
               {"end_time", nullptr},
               {"breakdown", nullptr},
               {"ranks", Json::array()},
               {"process_groups", Json::array()},
               {"files", Json::array()},
               {"notices", ArrayJson(trace.notices())},
               {"check", CheckJson(trace.check())}};
  if (trace.has_start_time()) json["start_time"] = TimeUtil::ToString(trace.start_time());
  if (trace.has_end_time()) json["end_time"] = TimeUtil::ToString(trace.end_time());
  if (trace.has_breakdown()) json["breakdown"] = BreakdownJson(trace.breakdown());
  for (const v1::RankSummary& rank : trace.ranks()) json["ranks"].push_back(RankJson(rank));
  for (const v1::ProcessGroup& group : trace.process_groups()) {
    json["process_groups"].push_back(GroupJson(group));
  }
  for (const v1::FileLedger& file : trace.files()) json["files"].push_back(LedgerJson(file));
  return json;
}

std::string TraceText(const v1::Trace& trace) {
  std::string text;
  if (!trace.name().empty()) {  // Else nothing is stored: a dry run.
    absl::StrAppend(&text, "trace    ", trace.name(), "\ncreated  ",
                    TimeUtil::ToString(trace.create_time()), "\nstored   ",
                    BytesText(trace.stored_bytes()), trace.pinned() ? ", pinned" : "", "\n");
  }
  absl::StrAppend(&text, "labels   ", trace.labels().empty() ? "none" : LabelsText(trace),
                  "\nranks    ", trace.ranks_count(), " traced of a world of ", trace.world_size(),
                  "\n", trace.has_breakdown() ? BreakdownText(trace.breakdown()) : "", "\n",
                  RanksText(trace));
  if (trace.process_groups_size() > 0) absl::StrAppend(&text, "\n", GroupsText(trace));
  if (trace.files_size() > 0) absl::StrAppend(&text, "\n", FilesText(trace));
  absl::StrAppend(&text, "\n", CheckLine(trace.check()), "\n");
  return text + NoticesText(trace);
}

std::string TraceListText(const std::vector<v1::Trace>& traces) {
  Table table({{"trace", "", Align::kLeft},
               {"created", "", Align::kLeft},
               {"ranks", "", Align::kRight},
               {"nodes", "", Align::kRight},
               {"size", "", Align::kRight},
               {"quality", "", Align::kRight},
               {"errors", "", Align::kRight},
               {"exposed", "%", Align::kRight},
               {"state", "", Align::kLeft},
               {"labels", "", Align::kLeft}});
  for (const v1::Trace& trace : traces) {
    const v1::CheckReport& check = trace.check();
    table.AddRow({trace.name(), TimeUtil::ToString(trace.create_time()), RanksCountText(trace),
                  CountText(trace.nodes_count()), BytesText(trace.stored_bytes()),
                  absl::StrFormat("%.3f", check.quality_score()), CountText(check.errors_count()),
                  ExposedText(trace), StateText(trace), LabelsText(trace)});
  }
  return table.Text();
}

}  // namespace chakrad::client
