// The document and the registry say the same.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "trace/check/rules.h"

namespace chakrad {
namespace {

// Rows of tables whose first cell is a rule: by rule, the row's cells.
std::map<std::string, std::vector<std::string>> RowsOfRules() {
  std::ifstream file("docs/conformance.md");
  EXPECT_TRUE(file.good());
  std::map<std::string, std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    if (!absl::StartsWith(line, "| `")) continue;
    std::vector<std::string> cells = absl::StrSplit(line, " | ");
    const std::string rule = cells[0].substr(3, cells[0].size() - 4);
    EXPECT_TRUE(rows.emplace(rule, cells).second) << "twice: " << rule;
  }
  return rows;
}

TEST(ConformanceDocTest, EveryRuleHasItsRowAndEveryRowARule) {
  const auto rows = RowsOfRules();
  for (const Rule& rule : AllRules()) {
    const auto row = rows.find(std::string(rule.id));
    ASSERT_NE(row, rows.end()) << "no row: " << rule.id;
    ASSERT_EQ(row->second.size(), 5u) << rule.id;
    EXPECT_EQ(row->second[1], SeverityName(rule.severity)) << rule.id;
    EXPECT_EQ(row->second[2], rule.meaning) << rule.id;
    EXPECT_FALSE(row->second[3].empty()) << rule.id;
    EXPECT_EQ(row->second[4], absl::StrCat(rule.fix, " |")) << rule.id;
  }
  for (const auto& [id, cells] : rows) {
    EXPECT_NE(FindRule(id), nullptr) << "no rule: " << id;
  }
  EXPECT_EQ(rows.size(), AllRules().size());
}

}  // namespace
}  // namespace chakrad
