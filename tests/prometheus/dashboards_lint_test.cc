// What dashboards owe their readers, without running them: dashboards_test does that.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <regex>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analysis/metrics/metric_families.h"
#include "tests/prometheus/dashboards.h"
#include "tests/prometheus/prometheus_process.h"

namespace chakrad {
namespace {

using Json = nlohmann::json;

// A histogram is asked for by its parts.
std::string FamilyOfSeries(const std::string& name, const std::set<std::string>& known) {
  for (const char* part : {"_bucket", "_count", "_sum"}) {
    if (known.count(name) == 0 && absl::EndsWith(name, part)) {
      return name.substr(0, name.size() - std::string(part).size());
    }
  }
  return name;
}

// Documented families, and what recording rules make of them.
std::set<std::string> KnownSeries() {
  std::set<std::string> known{"ALERTS", "up"};
  for (const auto& [name, labels] : DocumentedFamilies()) known.insert(name);
  for (const auto& group : YAML::LoadFile("deploy/prometheus/rules/recording.yml")["groups"]) {
    for (const auto& rule : group["rules"]) known.insert(rule["record"].as<std::string>());
  }
  return known;
}

TEST(DashboardsLintTest, ThereAreFiveWithTheirOwnNames) {
  std::set<std::string> uids, names;
  for (const Dashboard& dashboard : LoadDashboards()) {
    names.insert(dashboard.name);
    uids.insert(dashboard.json.at("uid").get<std::string>());
    EXPECT_EQ(dashboard.json.at("uid"), absl::StrCat("chakrad-", dashboard.name));
    EXPECT_GE(dashboard.json.at("schemaVersion").get<int>(), 36) << "older than Grafana 9";
    EXPECT_FALSE(dashboard.json.at("title").get<std::string>().empty());
    EXPECT_FALSE(dashboard.json.at("description").get<std::string>().empty());
    EXPECT_FALSE(dashboard.json.contains("id")) << "an id of one Grafana's database";
  }
  EXPECT_EQ(names, (std::set<std::string>{"collectives", "daemon", "fleet", "job", "simulation"}));
  EXPECT_EQ(uids.size(), names.size());
}

TEST(DashboardsLintTest, EveryPanelIsNamedDescribedAndHasAUnit) {
  for (const Dashboard& dashboard : LoadDashboards()) {
    std::set<int> ids;
    std::set<std::string> titles;
    for (const Json& panel : dashboard.json.at("panels")) {
      const std::string where =
          absl::StrCat(dashboard.name, " / ", panel.at("title").get<std::string>());
      EXPECT_TRUE(ids.insert(panel.at("id").get<int>()).second) << where;
      EXPECT_FALSE(panel.at("title").get<std::string>().empty()) << where;
      EXPECT_TRUE(titles.insert(panel.at("title").get<std::string>()).second) << where << " twice";
      if (panel.at("type") == "row") continue;
      EXPECT_GE(panel.at("description").get<std::string>().size(), 10u) << where;
      const std::string unit = panel.at("fieldConfig").at("defaults").at("unit");
      EXPECT_FALSE(unit.empty()) << where;
      EXPECT_FALSE(panel.at("targets").empty()) << where;
      EXPECT_TRUE(panel.at("fieldConfig").at("defaults").contains("thresholds")) << where;
    }
  }
}

// The last word of a series' name is its unit; a panel of one plain series shows that.
TEST(DashboardsLintTest, UnitsFitTheSeries) {
  static const std::regex plain(R"((last_over_time\()?chakrad_\w+\{[^}]*\}(\[[^\]]*\]\))?)");
  for (const Dashboard& dashboard : LoadDashboards()) {
    for (const Json& panel : dashboard.json.at("panels")) {
      if (panel.at("type") == "row" || panel.at("type") == "table") continue;
      const std::string unit = panel.at("fieldConfig").at("defaults").at("unit");
      for (const Json& target : panel.at("targets")) {
        const std::string expr = target.at("expr");
        if (!std::regex_match(expr, plain)) continue;
        const std::string name = SeriesNamesIn(expr).at(0);
        const char* const wanted = absl::EndsWith(name, "_bytes_per_second") ? "Bps"
                                   : absl::EndsWith(name, "_seconds")        ? "s"
                                   : absl::EndsWith(name, "_bytes")          ? "bytes"
                                   : absl::EndsWith(name, "_ratio")          ? "percentunit"
                                                                             : nullptr;
        if (wanted == nullptr) continue;
        EXPECT_EQ(unit, wanted) << dashboard.name << " / " << panel.at("title") << ": " << expr;
      }
    }
  }
}

TEST(DashboardsLintTest, PanelsDoNotOverlap) {
  for (const Dashboard& dashboard : LoadDashboards()) {
    std::set<std::pair<int, int>> taken;
    for (const Json& panel : dashboard.json.at("panels")) {
      const Json& place = panel.at("gridPos");
      const int x = place.at("x"), y = place.at("y"), w = place.at("w"), h = place.at("h");
      EXPECT_LE(x + w, 24) << dashboard.name << " / " << panel.at("title");
      for (int i = x; i < x + w; ++i) {
        for (int j = y; j < y + h; ++j) {
          EXPECT_TRUE(taken.emplace(i, j).second) << dashboard.name << " / " << panel.at("title");
        }
      }
    }
  }
}

TEST(DashboardsLintTest, TheDataSourceIsAlwaysTheChosenOne) {
  const Json chosen = {{"type", "prometheus"}, {"uid", "${datasource}"}};
  for (const Dashboard& dashboard : LoadDashboards()) {
    bool has_variable = false;
    for (const Json& variable : dashboard.json.at("templating").at("list")) {
      has_variable |= variable.at("name") == "datasource" && variable.at("type") == "datasource";
      if (variable.at("type") != "query") continue;
      EXPECT_EQ(variable.at("datasource"), chosen) << variable.at("name");
    }
    EXPECT_TRUE(has_variable) << dashboard.name;
    for (const Json& panel : dashboard.json.at("panels")) {
      if (panel.at("type") == "row") continue;
      EXPECT_EQ(panel.at("datasource"), chosen) << panel.at("title");
      for (const Json& target : panel.at("targets")) EXPECT_EQ(target.at("datasource"), chosen);
    }
    for (const Json& annotation : dashboard.json.at("annotations").at("list")) {
      EXPECT_EQ(annotation.at("datasource"), chosen);
    }
  }
}

// A fixed range is too short for a coarse step, which then misses samples. And series of traces
// are sparse: a selector of them without a range is empty nearly always.
TEST(DashboardsLintTest, RangesFollowTheDashboard) {
  static const std::regex fixed(R"(\b(rate|irate|increase)\([^)]*\[(?!\$__rate_interval\]))");
  static const std::regex bare(R"(\bchakrad_(trace|simulation)_\w+(\{[^}]*\})?(?!\[|\w|\{|:))");
  for (const Dashboard& dashboard : LoadDashboards()) {
    for (const DashboardQuery& query : QueriesOf(dashboard)) {
      EXPECT_FALSE(std::regex_search(query.expr, fixed)) << query.where << ": " << query.expr;
      std::string expr = query.expr;
      // Recorded ones are dense: a rule writes them every minute.
      expr = std::regex_replace(expr, std::regex(R"(\w+:chakrad_\w+(:\w+)?)"), "recorded");
      EXPECT_FALSE(std::regex_search(expr, bare)) << query.where << ": " << query.expr;
    }
  }
}

TEST(DashboardsLintTest, EverySeriesIsKnown) {
  const std::set<std::string> known = KnownSeries();
  std::set<std::string> shown;
  const auto check = [&](const std::string& where, const std::string& expr) {
    for (const std::string& name : SeriesNamesIn(expr)) {
      const std::string family = FamilyOfSeries(name, known);
      EXPECT_EQ(known.count(family), 1u) << where << ": " << name;
      shown.insert(family);
    }
  };
  for (const Dashboard& dashboard : LoadDashboards()) {
    for (const DashboardQuery& query : QueriesOf(dashboard)) check(query.where, query.expr);
    for (const VariableQuery& query : VariablesOf(dashboard)) check(query.where, query.selector);
  }
  for (const char* rules : {"recording", "alerts"}) {
    const std::string path = absl::StrCat("deploy/prometheus/rules/", rules, ".yml");
    for (const auto& group : YAML::LoadFile(path)["groups"]) {
      for (const auto& rule : group["rules"]) check(path, rule["expr"].as<std::string>());
    }
  }
  // And the other way round: nothing is measured that nobody can see.
  for (const std::string& name : known) EXPECT_EQ(shown.count(name), 1u) << name << " is nowhere";
}

TEST(DashboardsLintTest, LinksLeadToDashboardsThatExistAndToThePageOfATrace) {
  static const std::regex to_dashboard(R"(^/d/([\w-]+)\?)");
  std::set<std::string> uids;
  for (const Dashboard& dashboard : LoadDashboards()) uids.insert(dashboard.json.at("uid"));
  int to_traces = 0;
  for (const Dashboard& dashboard : LoadDashboards()) {
    EXPECT_FALSE(dashboard.json.at("links").empty()) << dashboard.name;
    for (const Json& panel : dashboard.json.at("panels")) {
      if (panel.at("type") == "row") continue;
      std::vector<Json> links =
          panel.at("fieldConfig").at("defaults").value("links", Json::array());
      for (const Json& one : panel.at("fieldConfig").at("overrides")) {
        for (const Json& property : one.at("properties")) {
          if (property.at("id") == "links") links.push_back(property.at("value").at(0));
        }
      }
      for (const Json& link : links) {
        const std::string url = link.at("url");
        std::smatch match;
        if (std::regex_search(url, match, to_dashboard)) {
          EXPECT_EQ(uids.count(match[1]), 1u) << url;
          continue;
        }
        EXPECT_TRUE(absl::StartsWith(url, "${chakrad}/trace?cluster=")) << url;
        for (const absl::string_view label : kJobLabels) {
          EXPECT_TRUE(absl::StrContains(url, absl::StrCat(label, "=${__field.labels."))) << url;
        }
        EXPECT_TRUE(absl::StrContains(url, "&time=${__value.time}")) << url;
        ++to_traces;
      }
    }
  }
  EXPECT_GT(to_traces, 20);
}

TEST(DashboardsLintTest, TheManualHasEveryFamilyWithItsLabels) {
  const std::map<std::string, std::string> documented = DocumentedFamilies();
  for (const MetricFamily& family : MetricFamilies()) {
    const auto found = documented.find(std::string(family.name));
    ASSERT_NE(found, documented.end()) << family.name;
    EXPECT_EQ(found->second, absl::StrJoin(family.labels, ", ")) << family.name;
  }
  for (const auto& [name, labels] : documented) {
    if (!absl::StartsWith(name, "chakrad_trace_") && !absl::StartsWith(name, "chakrad_simulation_"))
      continue;
    bool exists = false;
    for (const MetricFamily& family : MetricFamilies()) exists |= family.name == name;
    EXPECT_TRUE(exists) << name;
  }
}

TEST(DashboardsLintTest, FilesAreWhatTheGeneratorWrites) {
  const ProgramRun run = RunProgram({"/usr/bin/python3", "tools/dashboards", "--check"});
  EXPECT_EQ(run.exit_code, 0) << run.output << "run tools/dashboards";
}

}  // namespace
}  // namespace chakrad
