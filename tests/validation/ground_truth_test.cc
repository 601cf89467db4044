// A sample of the ground truth: see tests/data/ground_truth. All of it:
// bazel run //tests/validation:ground_truth -- FOLDER
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "tests/golden/golden_rows.h"
#include "tests/validation/fabric.h"
#include "tests/validation/projection.h"

namespace chakrad {
namespace {

constexpr char kFolder[] = "tests/data/ground_truth";
constexpr char kTraces[] = "tests/data/ground_truth/traces";

// `rate_factor`: of the links of the machine that is simulated.
absl::StatusOr<Projected> ProjectRow(const GroundTruthRow& row, double rate_factor = 1) {
  ASSIGN_OR_RETURN(const double message_cost_us, MessageCostUs(row.fabric.hosts_count));
  Fabric fabric = row.fabric;
  fabric.rate_mbit *= rate_factor;
  ASSIGN_OR_RETURN(const SystemDescription system, FabricSystem(fabric, message_cost_us));
  ASSIGN_OR_RETURN(const Trace trace,
                   row.is_collective ? CollectiveTrace(row) : IterationTrace(kTraces, row));
  return Project(trace, system, row);
}

std::string NameOf(const GroundTruthRow& row) {
  return absl::StrCat(row.op, row.model, " of ", row.bytes, " bytes on ", row.fabric.hosts_count,
                      " hosts at ", row.fabric.rate_mbit, " Mbit/s");
}

TEST(GroundTruthTest, ASampleIsProjectedWithinItsTargets) {
  ASSERT_OK_AND_ASSIGN(const std::vector<GroundTruthRow> rows, ReadGroundTruth(kFolder));
  EXPECT_EQ(rows.size(), 28u);
  for (const GroundTruthRow& row : rows) {
    ASSERT_OK_AND_ASSIGN(const Projected projected, ProjectRow(row));
    const Verdict verdict = Judge(row, projected);
    EXPECT_TRUE(verdict.has_target);
    EXPECT_TRUE(verdict.within) << NameOf(row) << ": " << projected.span << " is not in ["
                                << verdict.low << ", " << verdict.high << "], or exposed "
                                << projected.exposed << " is not near " << row.exposed_ms;
  }
}

// Were the links twice as slow as they were, every large row would miss: targets are no formality.
TEST(GroundTruthTest, AMachineAtHalfTheRateIsNotTheOneMeasured) {
  ASSERT_OK_AND_ASSIGN(const std::vector<GroundTruthRow> rows, ReadGroundTruth(kFolder));
  for (const GroundTruthRow& row : rows) {
    if (row.is_collective && row.bytes < 65536) continue;
    ASSERT_OK_AND_ASSIGN(const Projected projected, ProjectRow(row, 0.5));
    EXPECT_FALSE(Judge(row, projected).within) << NameOf(row);
  }
}

// 6 layers of 10 ms forward and 20 ms backward, which nothing hides and nobody waits for.
TEST(GroundTruthTest, LayersThatSleepAreCompute) {
  ASSERT_OK_AND_ASSIGN(const std::vector<GroundTruthRow> rows, ReadGroundTruth(kFolder));
  for (const GroundTruthRow& row : rows) {
    if (row.model != "sleepnet_dp") continue;
    ASSERT_OK_AND_ASSIGN(const Projected projected, ProjectRow(row));
    EXPECT_GT(projected.compute, 6 * (10 + 20)) << NameOf(row);
    EXPECT_LT(projected.compute, 200) << NameOf(row);
  }
}

TEST(GroundTruthTest, OnlyLimitedTokenBucketRowsAreReadAndEachCaseOnce) {
  ASSERT_OK_AND_ASSIGN(const std::vector<std::string> lines,
                       ReadLines(absl::StrCat(kFolder, "/ground_truth.jsonl.gz")));
  EXPECT_EQ(lines.size(), 42u);
  ASSERT_OK_AND_ASSIGN(const std::vector<GroundTruthRow> rows, ReadGroundTruth(kFolder));
  std::set<std::string> seen;
  for (const GroundTruthRow& row : rows) {
    EXPECT_EQ(row.fabric_kind, "tbf");
    EXPECT_GT(row.fabric.rate_mbit, 0);
    EXPECT_TRUE(seen.insert(NameOf(row)).second) << NameOf(row);
    // 1 MiB on 2 hosts at 500 Mbit/s was measured twice: 17297 .. 24705 and 17052 .. 17189 us.
    if (NameOf(row) == "all_reduce of 1048576 bytes on 2 hosts at 500 Mbit/s") {
      EXPECT_EQ(row.p90, 17189.1);
    }
  }
}

TEST(GroundTruthTest, ABrokenRowIsRefusedWithItsFault) {
  EXPECT_THAT(ParseGroundTruthRow("{").status(), StatusIs(absl::StatusCode::kInvalidArgument, ""));
  EXPECT_THAT(ParseGroundTruthRow(R"({"kind": "collective"})").status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "fabric"));
  EXPECT_THAT(ReadGroundTruth("no/such/folder").status(),
              StatusIs(absl::StatusCode::kNotFound, ""));
}

GroundTruthRow Row(const std::string& op, int64_t bytes) {
  GroundTruthRow row;
  row.is_collective = true;
  row.op = op;
  row.bytes = bytes;
  row.p10 = 90, row.median = 100, row.p90 = 110;
  return row;
}

TEST(JudgeTest, LargeOperationsGoByTheirSpreadAndSmallOnesByTheirMedian) {
  const GroundTruthRow large = Row("all_reduce", 1 << 20);
  EXPECT_TRUE(Judge(large, {90 * 0.95 + 1e-9}).within);
  EXPECT_FALSE(Judge(large, {90 * 0.95 - 1e-9}).within);
  EXPECT_TRUE(Judge(large, {110 * 1.05 - 1e-9}).within);
  EXPECT_FALSE(Judge(large, {110 * 1.05 + 1e-9}).within);
  const GroundTruthRow small = Row("send_recv", (1 << 20) - 1);
  EXPECT_TRUE(Judge(small, {75}).within);
  EXPECT_FALSE(Judge(small, {74.9}).within);
  EXPECT_TRUE(Judge(small, {125}).within);
  EXPECT_FALSE(Judge(small, {125.1}).within);
  EXPECT_FALSE(Judge(Row("broadcast", 4096), {1}).has_target);
}

TEST(JudgeTest, IterationsGoByTheirSpanAndSleepingOnesByTheirExposureToo) {
  GroundTruthRow row;
  row.model = "mlp_dp";
  row.median = 100;
  row.exposed_ms = 50;
  EXPECT_TRUE(Judge(row, {114.9, 0}).within);
  EXPECT_FALSE(Judge(row, {115.1, 0}).within);
  row.model = "sleepnet_dp";
  EXPECT_TRUE(Judge(row, {104.9, 0.5 * 104.9}).within);
  EXPECT_FALSE(Judge(row, {105.1, 0.5 * 105.1}).within);
  EXPECT_TRUE(Judge(row, {100, 45.1}).within);
  EXPECT_FALSE(Judge(row, {100, 44.9}).within);
}

TEST(FabricTest, RateAndBurstAreInPayloadOfFullFramesBothWays) {
  ASSERT_OK_AND_ASSIGN(const SystemDescription slow, FabricSystem({2, 100, 1500}, 10));
  ASSERT_EQ(slow.dims.size(), 1u);
  EXPECT_EQ(slow.semantics, Semantics::kPhysical);
  const NetworkDim& dim = slow.dims[0];
  EXPECT_EQ(dim.npus_count, 2);
  EXPECT_EQ(dim.message_ns, 10'000);
  // 12.5 bytes a us on the wire, of which 1448 in 1547 are payload.
  EXPECT_NEAR(dim.bucket.bytes_per_ns, 0.0125 * 1448 / 1547, 1e-9);
  EXPECT_NEAR(dim.bucket.burst_bytes, 2500.0 * 1448 / 1547, 1e-3);
  EXPECT_EQ(slow.endpoint_delay_ns, 25'920);  // 324 bytes.
  ASSERT_OK_AND_ASSIGN(const SystemDescription fast, FabricSystem({4, 1000, 9000}, 10));
  EXPECT_NEAR(fast.dims[0].bucket.burst_bytes, 60000.0 * 8948 / 9047, 1e-3);
}

TEST(FabricTest, OtherNumbersOfHostsWereNotCalibrated) {
  EXPECT_THAT(MessageCostUs(2), IsOk());
  EXPECT_THAT(MessageCostUs(4), IsOk());
  EXPECT_THAT(MessageCostUs(3).status(), StatusIs(absl::StatusCode::kInvalidArgument, ""));
}

}  // namespace
}  // namespace chakrad
