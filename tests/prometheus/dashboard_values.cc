#include "tests/prometheus/dashboard_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace chakrad {
namespace {

using Json = nlohmann::json;
using Values = std::map<std::string, LineValues>;

LineValues One(double value) { return {{}, {{"", value}}}; }

double Seconds(double ps) { return ps * 1e-12; }

double Mean(const Json& list, const char* field) {
  double sum = 0;
  for (const Json& one : list) sum += one.at(field).get<double>();
  return sum / static_cast<double>(list.size());
}

void AddTimes(const Json& analysis, Values* values) {
  const Json& ranks = analysis.at("rank_times");
  const Json& shares = analysis.at("mean_shares");
  const double span = Seconds(Mean(ranks, "span_ps"));
  Values& all = *values;
  all["job / Exposed now A"] = One(shares.at("exposed_comm_ratio"));
  all["job / Exposed communication A"] = One(shares.at("exposed_comm_ratio"));
  all["job / Exposed communication B"] = One(shares.at("worst_exposed_comm_ratio"));
  all["job / Recorded time A"] = One(span);
  const char* const parts[] = {"compute_ps", "exposed_comm_ps", "exposed_memory_ps"};
  for (int i = 0; i < 3; ++i) {
    const double seconds = Seconds(Mean(ranks, parts[i]));
    const std::string letter(1, static_cast<char>('A' + i));
    all["job / Where the time goes, seconds " + letter] = One(seconds);
    all["job / Where the time goes, shares " + letter] = One(seconds / span);
  }
  LineValues idle{{"cause"}, {}}, idle_shares{{"cause"}, {}};
  for (const char* cause : {"host_bound", "kernel_wait", "sync", "other"}) {
    const std::string field = absl::StrCat("idle_", cause, "_ps");
    idle.lines[cause] = Seconds(Mean(ranks, field.c_str()));
    idle_shares.lines[cause] = idle.lines[cause] / span;
  }
  all["job / Where the time goes, seconds D"] = idle;
  all["job / Where the time goes, shares D"] = idle_shares;
  all["job / Idle by cause A"] = idle_shares;
  all["job / Idle by cause B"] = One(shares.at("idle_ratio"));
  all["job / Overlap now A"] = One(shares.at("overlap_ratio"));
  all["job / Overlap A"] = One(shares.at("overlap_ratio"));
  all["job / Overlap B"] = One(Seconds(Mean(ranks, "comm_ps")) / span);
}

void AddCollectives(const Json& analysis, Values* values) {
  Values& all = *values;
  const std::vector<std::string> by_size{"type", "size"};
  LineValues seconds{{"type"}, {}}, mean{{"type"}, {}}, bytes{{"type"}, {}};
  LineValues op_seconds{by_size, {}}, op_counts{by_size, {}}, op_bytes{by_size, {}};
  LineValues op_bandwidths{by_size, {}};
  for (const Json& one : analysis.at("collectives")) {
    const std::string type = one.at("type");
    const std::string op = absl::StrCat(type, " ", one.at("size_bucket").get<std::string>());
    const double bandwidth = one.at("bus_bandwidth_bytes_per_second");
    seconds.lines[type] += Seconds(one.at("total_ps"));
    op_seconds.lines[op] = Seconds(one.at("total_ps"));
    op_counts.lines[op] = one.at("count");
    op_bytes.lines[op] = one.at("bytes");
    if (bandwidth == 0) continue;  // No time is known: its bytes count for no mean.
    op_bandwidths.lines[op] = bandwidth;
    bytes.lines[type] += one.at("bytes").get<double>();
    mean.lines[type] += one.at("bytes").get<double>() / bandwidth;
  }
  for (auto& [type, value] : mean.lines) value = bytes.lines[type] / value;
  all["job / Time by type A"] = seconds;
  all["job / Bus bandwidth by type A"] = mean;
  all["collectives / The newest traces A"] = op_seconds;
  all["collectives / The newest traces B"] = op_counts;
  all["collectives / The newest traces C"] = op_bytes;
  all["collectives / The newest traces D"] = op_bandwidths;
}

void AddGroups(const Json& analysis, Values* values) {
  const double ranks_count = static_cast<double>(analysis.at("rank_times").size());
  LineValues comm{{"parallelism"}, {}}, exposed{{"parallelism"}, {}};
  for (const Json& group : analysis.at("groups")) {
    const std::string kind = group.at("parallelism");
    comm.lines[kind] += Seconds(group.at("comm_ps")) / ranks_count;
    exposed.lines[kind] += Seconds(group.at("exposed_ps")) / ranks_count;
  }
  (*values)["job / Communication by kind A"] = comm;
  (*values)["job / Exposed communication by kind A"] = exposed;
}

void AddRanks(const Json& analysis, Values* values) {
  Values& all = *values;
  const Json& skew = analysis.at("skew");
  const double wait = Seconds(skew.at("mean_wait_ps"));
  all["job / Stragglers A"] = One(wait);
  all["job / Stragglers B"] = One(Seconds(skew.at("mean_skew_ps")));
  all["job / Waits for stragglers A"] =
      One(wait / Seconds(Mean(analysis.at("rank_times"), "span_ps")));
  double offset_ps = 0;
  for (const Json& clock : skew.at("clocks")) {
    offset_ps = std::max(offset_ps, std::fabs(clock.at("offset_ps").get<double>()));
  }
  all["job / Clock offset A"] = One(Seconds(offset_ps));
  all["job / Ranks A"] = One(analysis.at("ranks_count"));
  all["job / Ranks B"] = One(analysis.at("world_size"));
}

void AddTrace(const Json& analysis, Values* values) {
  Values& all = *values;
  const Json& quality = analysis.at("quality");
  all["job / Quality now A"] = One(quality.at("quality_score"));
  all["job / Quality and periodicity A"] = One(quality.at("quality_score"));
  all["job / Quality and periodicity B"] = One(quality.at("periodicity"));
  const Json& steps = analysis.at("steps");
  all["job / Steps A"] = One(static_cast<double>(steps.size()));
  all["job / Step now A"] = One(Seconds(Mean(steps, "mean_span_ps")));
  all["job / Step time A"] = all["job / Step now A"];
}

}  // namespace

std::map<std::string, LineValues> ValuesOfAnalysis(const Json& analysis) {
  Values values;
  AddTimes(analysis, &values);
  AddCollectives(analysis, &values);
  AddGroups(analysis, &values);
  AddRanks(analysis, &values);
  AddTrace(analysis, &values);
  return values;
}

void ExpectSameValues(const std::string& where, const std::vector<PrometheusSeries>& shown,
                      const LineValues& wanted) {
  std::map<std::string, double> rest = wanted.lines;
  for (const PrometheusSeries& series : shown) {
    std::string line;
    for (const std::string& label : wanted.labels) {
      absl::StrAppend(&line, line.empty() ? "" : " ", series.label(label));
    }
    const auto found = rest.find(line);
    if (found == rest.end()) {
      ADD_FAILURE() << where << ": \"" << line << "\" is shown, or shown twice";
      continue;
    }
    const double tolerance = 1e-9 * std::max(std::fabs(found->second), 1e-9);
    EXPECT_NEAR(series.value(), found->second, tolerance) << where << " " << line;
    rest.erase(found);
  }
  for (const auto& [line, value] : rest) {
    ADD_FAILURE() << where << ": \"" << line << "\", " << value << ", is not shown";
  }
}

}  // namespace chakrad
