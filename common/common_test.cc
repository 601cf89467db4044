#include <gtest/gtest.h>

#include <limits>

#include "absl/strings/escaping.h"
#include "common/check.h"
#include "common/clock.h"
#include "common/saturating.h"
#include "common/sha256.h"
#include "common/status.h"
#include "common/status_matchers.h"
#include "common/utf8.h"

namespace chakrad {
namespace {

absl::StatusOr<int> Half(int value) {
  if (value % 2 != 0) return absl::InvalidArgumentError("value: odd");
  return value / 2;
}

absl::StatusOr<int> Quarter(int value) {
  ASSIGN_OR_RETURN(const int half, Half(value));
  ASSIGN_OR_RETURN(const int quarter, Half(half));
  return quarter;
}

TEST(StatusTest, AssignOrReturnPassesValuesAndErrors) {
  ASSERT_OK_AND_ASSIGN(const int quarter, Quarter(8));
  EXPECT_EQ(quarter, 2);
  EXPECT_THAT(Quarter(6), StatusIs(absl::StatusCode::kInvalidArgument, "value: odd"));
}

TEST(StatusTest, AnnotateKeepsTheCodeAndPutsContextFirst) {
  EXPECT_THAT(Annotate(absl::NotFoundError("gone"), "trace t-1"),
              StatusIs(absl::StatusCode::kNotFound, "trace t-1: gone"));
  EXPECT_THAT(Annotate(absl::OkStatus(), "trace t-1"), IsOk());
}

TEST(CheckDeathTest, NamesTheConditionAndTheValues) {
  const int count = 3;
  EXPECT_DEATH(CHECK(count == 4) << "count " << count, "count == 4.*count 3");
}

TEST(FakeClockTest, MovesOnlyWhenTold) {
  FakeClock clock(100);
  EXPECT_EQ(clock.NowUnixNs(), 100);
  clock.AdvanceNs(23);
  EXPECT_EQ(clock.NowUnixNs(), 123);
}

TEST(SaturatingTest, SumsStopAtTheEnds) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(SaturatingAdd(2, -5), -3);
  EXPECT_EQ(SaturatingAdd(kMax, 1), kMax);
  EXPECT_EQ(SaturatingAdd(kMin, -1), kMin);
  EXPECT_EQ(SaturatingSubtract(2, 5), -3);
  EXPECT_EQ(SaturatingSubtract(kMax, -1), kMax);
  EXPECT_EQ(SaturatingSubtract(kMin, 1), kMin);
}

TEST(Utf8Test, BrokenBytesBecomeQuestionMarks) {
  EXPECT_EQ(ValidUtf8("aten::mm \xE6\xBC\xA2 \xF0\x9F\x98\x80"),
            "aten::mm \xE6\xBC\xA2 \xF0\x9F\x98\x80");
  EXPECT_EQ(ValidUtf8("a\xE6\xBC"), "a??");          // Cut off.
  EXPECT_EQ(ValidUtf8("\xC0\xAF\xFF"), "???");       // Overlong; never valid.
  EXPECT_EQ(ValidUtf8("\xED\xA0\x80"), "???");       // A surrogate.
  EXPECT_EQ(ValidUtf8("\xF4\x90\x80\x80"), "????");  // Above U+10FFFF.
}

TEST(Utf8Test, CutsFallBetweenCharacters) {
  EXPECT_EQ(ValidUtf8("a\xE6\xBC\xA2z", 5), "a\xE6\xBC\xA2z");
  EXPECT_EQ(ValidUtf8("a\xE6\xBC\xA2z", 3), "a");
}

TEST(Sha256Test, KnownDigestInOnePieceAndInTwo) {
  const char* kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  EXPECT_EQ(absl::BytesToHexString(Sha256Of("abc")), kAbc);
  Sha256 hash;
  hash.Update("a");
  hash.Update("bc");
  EXPECT_EQ(absl::BytesToHexString(hash.Digest()), kAbc);
}

}  // namespace
}  // namespace chakrad
