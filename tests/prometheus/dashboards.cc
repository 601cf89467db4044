#include "tests/prometheus/dashboards.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/check.h"

namespace chakrad {
namespace {

using Json = nlohmann::json;

constexpr char kFolder[] = "deploy/grafana/dashboards";

}  // namespace

std::string ReadFileOfTest(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  CHECK(file.good()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<Dashboard> LoadDashboards() {
  std::vector<Dashboard> all;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    Json json = Json::parse(ReadFileOfTest(entry.path()), nullptr, /*allow_exceptions=*/false);
    CHECK(json.is_object()) << entry.path();
    all.push_back({entry.path().stem(), std::move(json)});
  }
  std::sort(all.begin(), all.end(),
            [](const Dashboard& a, const Dashboard& b) { return a.name < b.name; });
  return all;
}

std::vector<DashboardQuery> QueriesOf(const Dashboard& dashboard) {
  std::vector<DashboardQuery> queries;
  for (const Json& panel : dashboard.json.at("panels")) {
    if (panel.at("type") == "row") continue;
    for (const Json& target : panel.at("targets")) {
      queries.push_back({absl::StrCat(dashboard.name, " / ", panel.at("title").get<std::string>(),
                                      " ", target.at("refId").get<std::string>()),
                         target.at("expr"), target.at("range")});
    }
  }
  for (const Json& annotation : dashboard.json.at("annotations").at("list")) {
    queries.push_back(
        {absl::StrCat(dashboard.name, " / annotation ", annotation.at("name").get<std::string>()),
         annotation.at("expr"), true});
  }
  return queries;
}

std::vector<VariableQuery> VariablesOf(const Dashboard& dashboard) {
  static const std::regex form(R"(label_values\((.*), (\w+)\))");
  std::vector<VariableQuery> queries;
  for (const Json& variable : dashboard.json.at("templating").at("list")) {
    if (variable.at("type") != "query") continue;
    const std::string where =
        absl::StrCat(dashboard.name, " / variable ", variable.at("name").get<std::string>());
    const std::string query = variable.at("query").at("query");
    std::smatch match;
    CHECK(std::regex_match(query, match, form)) << where << ": " << query;
    queries.push_back({where, match[1], match[2]});
  }
  return queries;
}

std::string Interpolated(absl::string_view text, const std::map<std::string, std::string>& values) {
  static const std::regex variable(R"(\$(\w+)|\$\{(\w+)(:\w+)?\})");
  const std::string whole(text);
  std::string result;
  size_t done = 0;
  for (std::sregex_iterator it(whole.begin(), whole.end(), variable), end; it != end; ++it) {
    const std::string name = (*it)[1].matched ? (*it)[1] : (*it)[2];
    const auto found = values.find(name);
    CHECK(found != values.end()) << "$" << name << " in " << whole;
    const size_t at = static_cast<size_t>(it->position());
    absl::StrAppend(&result, whole.substr(done, at - done), found->second);
    done = at + static_cast<size_t>(it->length());
  }
  return absl::StrCat(result, whole.substr(done));
}

std::vector<std::string> SeriesNamesIn(const std::string& expr) {
  // Labels' values are no names.
  static const std::regex quoted(R"("[^"]*")");
  static const std::regex name(R"((\w+:)?chakrad_\w+(:\w+)?|\bALERTS\b|\bup\b)");
  const std::string bare = std::regex_replace(expr, quoted, "\"\"");
  std::vector<std::string> names;
  for (std::sregex_iterator it(bare.begin(), bare.end(), name), end; it != end; ++it) {
    names.push_back(it->str());
  }
  return names;
}

std::map<std::string, std::string> DocumentedFamilies() {
  std::map<std::string, std::string> families;
  for (absl::string_view line : absl::StrSplit(ReadFileOfTest("docs/metrics.md"), '\n')) {
    const std::vector<std::string> cells = absl::StrSplit(line, '|');
    if (cells.size() != 6) continue;
    const std::string name(absl::StripAsciiWhitespace(cells[1]));
    if (name.rfind("`chakrad_", 0) != 0) continue;
    // Tables of traces: series, labels, section, meaning; of the daemon: series, type, labels, ...
    const std::string second(absl::StripAsciiWhitespace(cells[2]));
    const bool daemon = second == "gauge" || second == "counter" || second == "histogram";
    const bool fresh = families
                           .emplace(name.substr(1, name.size() - 2),
                                    std::string(absl::StripAsciiWhitespace(cells[daemon ? 3 : 2])))
                           .second;
    CHECK(fresh) << name << " is there twice";
  }
  return families;
}

}  // namespace chakrad
