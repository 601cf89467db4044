// A sample over all families of the golden simulations; all of it must match. The whole
// set is run by hand: see astra_golden.cc.
#include <gtest/gtest.h>

#include <map>

#include "common/status_matchers.h"
#include "tests/golden/golden_rows.h"

namespace chakrad {
namespace {

constexpr char kSample[] = "tests/golden/data/astra_sample.jsonl.gz";

TEST(GoldenTest, EveryRowOfTheSampleMatches) {
  ASSERT_OK_AND_ASSIGN(const std::vector<std::string> lines, ReadLines(kSample));
  std::map<std::string, int> rows_of_group;
  for (const std::string& line : lines) {
    ASSERT_OK_AND_ASSIGN(const GoldenRow row, ParseGoldenRow(line));
    ASSERT_TRUE(row.ok) << row.id;
    ++rows_of_group[row.group];
    const GoldenVerdict verdict = JudgeGoldenRow(row);
    EXPECT_TRUE(verdict.matches && verdict.exact)
        << "row " << row.id << " (" << row.group << "): " << verdict.difference;
  }
  EXPECT_EQ(lines.size(), 82u);
  EXPECT_EQ(rows_of_group.size(), 16u);
}

TEST(GoldenTest, AJudgeThatSeesOtherTimesSaysSo) {
  ASSERT_OK_AND_ASSIGN(const std::vector<std::string> lines, ReadLines(kSample));
  ASSERT_OK_AND_ASSIGN(GoldenRow row, ParseGoldenRow(lines[0]));
  row.end_ns.back() += 2 + row.end_ns.back() / 500;
  const GoldenVerdict verdict = JudgeGoldenRow(row);
  EXPECT_FALSE(verdict.matches);
  EXPECT_FALSE(verdict.difference.empty());
}

TEST(GoldenTest, BadRowsAreErrors) {
  for (const char* line : {"", "{}", "[1]", "{\"id\":1,\"group\":\"A1\"}"}) {
    EXPECT_THAT(ParseGoldenRow(line), StatusIs(absl::StatusCode::kInvalidArgument, "row "));
  }
  EXPECT_THAT(ReadLines("tests/golden/data/none"), StatusIs(absl::StatusCode::kNotFound, "none"));
}

}  // namespace
}  // namespace chakrad
