#include "analysis/diff/diff_operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/critical_path/test_job.h"
#include "trace/codec/rank_generator.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "gemm 2x 40ns -> 3x 60ns".
std::vector<std::string> Texts(const std::vector<OperatorChange>& changes) {
  std::vector<std::string> texts;
  for (const OperatorChange& change : changes) {
    texts.push_back(absl::StrCat(std::string(change.name), " ", change.before_count, "x ",
                                 change.before_total_ps / 1000, "ns -> ", change.after_count, "x ",
                                 change.after_total_ps / 1000, "ns"));
  }
  return texts;
}

TEST(DiffOperatorsTest, TellsWhatCameWentAndChanged) {
  RecordedJob before(1), after(1);
  before.Kernel(0, "gemm", 0, 40);
  before.Kernel(0, "gemm", 40, 80);
  before.Kernel(0, "relu", 80, 90);
  before.Kernel(0, "dropout", 90, 95);
  before.Kernel(0, "norm", 100, 200);
  after.Kernel(0, "gemm", 0, 50);
  after.Kernel(0, "gemm", 50, 110);
  after.Kernel(0, "relu", 110, 120);
  after.Kernel(0, "gelu", 120, 127);
  after.Kernel(0, "norm", 200, 304);
  const OperatorDiff diff = DiffOperators(before.Make(), after.Make(), 0.05);
  EXPECT_THAT(Texts(diff.added), ElementsAre("gelu 0x 0ns -> 1x 7ns"));
  EXPECT_THAT(Texts(diff.removed), ElementsAre("dropout 1x 5ns -> 0x 0ns"));
  EXPECT_THAT(Texts(diff.changed), ElementsAre("gemm 2x 80ns -> 2x 110ns"));
  EXPECT_EQ(diff.unchanged_count, 2);  // relu; norm, which is 4 % slower.
  EXPECT_EQ(MeanSpanPs(before.job()), 200'000);
}

TEST(DiffOperatorsTest, MoreCallsInAsMuchTimeAreAChange) {
  RecordedJob before(1), after(1);
  before.Kernel(0, "gemm", 0, 40);
  after.Kernel(0, "gemm", 0, 20);
  after.Kernel(0, "gemm", 20, 40);
  EXPECT_THAT(Texts(DiffOperators(before.Make(), after.Make(), 0.05).changed),
              ElementsAre("gemm 1x 40ns -> 2x 40ns"));
}

TEST(DiffOperatorsTest, JobsOfOtherSizesCompareByRank) {
  RecordedJob one(1), four(4);
  one.Kernel(0, "gemm", 0, 40);
  for (int32_t rank = 0; rank < 4; ++rank) four.Kernel(rank, "gemm", 0, 40);
  const OperatorDiff diff = DiffOperators(one.Make(), four.Make(), 0);
  EXPECT_THAT(diff.changed, IsEmpty());
  EXPECT_EQ(diff.unchanged_count, 1);
}

TEST(DiffOperatorsTest, ANameOfAnotherKindIsAnotherOperator) {
  RecordedJob before(1), after(1);
  before.Host(0, "copy", 0, 10);
  before.Kernel(0, "k", 0, 1);
  after.Copy(0, "copy", 0, 10);
  after.Kernel(0, "k", 20, 21);
  const OperatorDiff diff = DiffOperators(before.Make(), after.Make(), 0);
  ASSERT_EQ(diff.added.size(), 1);
  EXPECT_EQ(diff.added[0].kind, IntervalKind::kMemory);
  ASSERT_EQ(diff.removed.size(), 1);
  EXPECT_EQ(diff.removed[0].kind, IntervalKind::kHost);
}

TEST(DiffOperatorsTest, TheLargestChangeComesFirstWhicheverItsSign) {
  RecordedJob before(1), after(1);
  before.Kernel(0, "a", 0, 10);
  before.Kernel(0, "b", 10, 60);
  before.Kernel(0, "c", 60, 70);
  after.Kernel(0, "a", 0, 20);
  after.Kernel(0, "b", 20, 30);
  after.Kernel(0, "c", 30, 50);
  EXPECT_THAT(Texts(DiffOperators(before.Make(), after.Make(), 0.05).changed),
              ElementsAre("b 1x 50ns -> 1x 10ns", "a 1x 10ns -> 1x 20ns", "c 1x 10ns -> 1x 20ns"));
}

TEST(DiffOperatorsTest, NothingDiffersFromItselfAndTheOtherWayRoundSwapsTheSides) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const Trace a = RandomTrace(seed, 2, 60), b = RandomTrace(seed + 100, 3, 60);
    const absl::StatusOr<JobTimeline> before = MeasuredTimeline(a, {});
    const absl::StatusOr<JobTimeline> after = MeasuredTimeline(b, {});
    if (!before.ok() || !after.ok()) continue;
    const OperatorDiff same = DiffOperators(*before, *before, 0);
    EXPECT_EQ(same.added.size() + same.removed.size() + same.changed.size(), 0);
    const OperatorDiff there = DiffOperators(*before, *after, 0);
    const OperatorDiff back = DiffOperators(*after, *before, 0);
    EXPECT_EQ(there.added.size(), back.removed.size());
    EXPECT_EQ(there.removed.size(), back.added.size());
    EXPECT_EQ(there.changed.size(), back.changed.size());
    EXPECT_EQ(there.unchanged_count, back.unchanged_count);
    EXPECT_GT(there.added.size(), 0);
  }
}

}  // namespace
}  // namespace chakrad
