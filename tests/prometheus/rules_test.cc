// Rules and configurations of deploy/prometheus, by promtool; and that no alert goes untested or
// unexplained.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "tests/prometheus/prometheus_process.h"

namespace chakrad {
namespace {

constexpr char kFolder[] = "deploy/prometheus";

std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(absl::StrCat(kFolder, "/", folder))) {
    names.push_back(absl::StrCat(folder, "/", entry.path().filename().string()));
  }
  EXPECT_FALSE(names.empty()) << folder;
  return names;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<YAML::Node> Alerts() {
  std::vector<YAML::Node> alerts;
  for (const auto& group : YAML::LoadFile(absl::StrCat(kFolder, "/rules/alerts.yml"))["groups"]) {
    for (const auto& rule : group["rules"]) alerts.push_back(rule);
  }
  EXPECT_GT(alerts.size(), 10u);
  return alerts;
}

TEST(RulesTest, PromtoolTakesRulesAndConfigurations) {
  for (const std::string& rules : FilesIn("rules")) {
    const ProgramRun run = RunPromtool({"check", "rules", "--lint-fatal", rules}, kFolder);
    EXPECT_EQ(run.exit_code, 0) << run.output;
  }
  for (const char* config : {"prometheus.yml", "prometheus.history.yml"}) {
    const ProgramRun run = RunPromtool({"check", "config", "--lint-fatal", config}, kFolder);
    EXPECT_EQ(run.exit_code, 0) << run.output;
  }
}

TEST(RulesTest, UnitTestsOfRulesPass) {
  for (const std::string& tests : FilesIn("tests")) {
    const ProgramRun run = RunPromtool({"test", "rules", tests}, kFolder);
    EXPECT_EQ(run.exit_code, 0) << run.output;
  }
}

TEST(RulesTest, EveryAlertIsSeenToFireAndToStayStill) {
  std::map<std::string, std::pair<int, int>> seen;  // By name: fired, stayed still.
  for (const std::string& path : FilesIn("tests")) {
    for (const auto& test : YAML::LoadFile(absl::StrCat(kFolder, "/", path))["tests"]) {
      for (const auto& one : test["alert_rule_test"]) {
        auto& [fired, still] = seen[one["alertname"].as<std::string>()];
        (one["exp_alerts"].size() > 0 ? fired : still) += 1;
      }
    }
  }
  for (const YAML::Node& alert : Alerts()) {
    const std::string name = alert["alert"].as<std::string>();
    EXPECT_GT(seen[name].first, 0) << name << " is not seen to fire";
    EXPECT_GT(seen[name].second, 0) << name << " is not seen to stay still";
  }
}

TEST(RulesTest, EveryAlertSaysWhatIsWrongAndWhatToDo) {
  const std::string docs = ReadFile("docs/dashboards.md");
  for (const YAML::Node& alert : Alerts()) {
    const std::string name = alert["alert"].as<std::string>();
    const YAML::Node& told = alert["annotations"];
    EXPECT_TRUE(told["summary"] && !told["summary"].as<std::string>().empty()) << name;
    EXPECT_TRUE(told["description"] && !told["description"].as<std::string>().empty()) << name;
    ASSERT_TRUE(told["runbook_url"]) << name;
    EXPECT_EQ(told["runbook_url"].as<std::string>(),
              absl::StrCat("docs/dashboards.md#", absl::AsciiStrToLower(name)));
    EXPECT_NE(docs.find(absl::StrCat("\n### ", name, "\n")), std::string::npos)
        << name << " has no chapter";
    const std::string severity = alert["labels"]["severity"].as<std::string>("");
    EXPECT_TRUE(severity == "page" || severity == "warn") << name << ": " << severity;
  }
}

}  // namespace
}  // namespace chakrad
