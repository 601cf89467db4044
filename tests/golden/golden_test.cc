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
  std::map<std::string, int> rows_of_backend;
  for (const std::string& line : lines) {
    ASSERT_OK_AND_ASSIGN(const GoldenRow row, ParseGoldenRow(line));
    ASSERT_TRUE(row.ok) << row.id;
    ++rows_of_group[row.group];
    ++rows_of_backend[row.backend];
    const GoldenVerdict verdict = JudgeGoldenRow(row);
    EXPECT_TRUE(verdict.matches && verdict.exact)
        << "row " << row.id << " (" << row.group << "): " << verdict.difference;
  }
  EXPECT_EQ(rows_of_backend["congestion_unaware"], 82);
  EXPECT_EQ(rows_of_backend["congestion_aware"], 50);
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

// What a row asks for and we lack is its own fault; the others of its file still run.
TEST(GoldenTest, ARowWithWhatWeDoNotKnowDoesNotMatch) {
  ASSERT_OK_AND_ASSIGN(const std::vector<std::string> lines, ReadLines(kSample));
  const std::string& line = lines[0];
  const auto with = [&](const std::string& from, const std::string& to) {
    const size_t at = line.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return line.substr(0, at) + to + line.substr(at + from.size());
  };
  for (const auto& [changed, message] : std::map<std::string, std::string>{
           {with("\"COLL\"", "\"MEM\""), "unknown type MEM"},
           {with("congestion_unaware", "garnet"), "backend: garnet"},
           {with("{", "{\"remote_memory\": {\"memory-type\": \"TAPE\"}, "), "memory-type"},
           {with("\"endpoint-delay\"", "\"endpoint-delays\""), "endpoint-delays"}}) {
    ASSERT_OK_AND_ASSIGN(const GoldenRow row, ParseGoldenRow(changed));
    const GoldenVerdict verdict = JudgeGoldenRow(row);
    EXPECT_FALSE(verdict.matches);
    EXPECT_THAT(row.fault, StatusIs(absl::StatusCode::kInvalidArgument, message));
  }
}

TEST(GoldenTest, RemoteMemoryIsPartOfTheSystem) {
  ASSERT_OK_AND_ASSIGN(const std::vector<std::string> lines, ReadLines(kSample));
  ASSERT_OK_AND_ASSIGN(
      const GoldenRow row,
      ParseGoldenRow("{\"remote_memory\": {\"memory-type\": \"PER_NPU_MEMORY_EXPANSION\", "
                     "\"remote-mem-latency\": 500, \"remote-mem-bw\": 256}, " +
                     lines[0].substr(1)));
  ASSERT_TRUE(row.fault.ok()) << row.fault.ToString();
  EXPECT_EQ(row.system.remote_memory.kind, RemoteMemory::Kind::kPerNpu);
  EXPECT_EQ(row.system.remote_memory.latency_ns, 500);
  EXPECT_EQ(row.system.remote_memory.bytes_per_ns, 256);
}

TEST(GoldenTest, BadRowsAreErrors) {
  for (const char* line : {"", "{}", "[1]", "{\"id\":1,\"group\":\"A1\"}"}) {
    EXPECT_THAT(ParseGoldenRow(line), StatusIs(absl::StatusCode::kInvalidArgument, "row "));
  }
  EXPECT_THAT(ReadLines("tests/golden/data/none"), StatusIs(absl::StatusCode::kNotFound, "none"));
}

}  // namespace
}  // namespace chakrad
