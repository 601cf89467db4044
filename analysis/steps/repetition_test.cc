#include "analysis/steps/repetition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "absl/strings/string_view.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;

std::vector<uint32_t> Tokens(absl::string_view letters) {
  std::vector<uint32_t> tokens;
  for (const char letter : letters) tokens.push_back(static_cast<uint32_t>(letter - 'A'));
  return tokens;
}

TEST(RepetitionTest, WhatRepeatsIsFoundBetweenAPrologueAndAnEnd) {
  const auto got = FindRepetition(Tokens("XYXABCDABCDABCDABZ"));
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->period, 4u);
  EXPECT_THAT(got->begins, ElementsAre(3, 7, 11));
  EXPECT_EQ(got->end, 15u);
}

// Ten equal layers within a step, and one other token: a step has eleven, not one.
TEST(RepetitionTest, LayersWithinAStepAreNoSteps) {
  std::string letters;
  for (int step = 0; step < 5; ++step) letters += "AAAAAAAAAAB";
  const auto got = FindRepetition(Tokens(letters));
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->period, 11u);
  EXPECT_THAT(got->begins, ElementsAre(0, 11, 22, 33, 44));
}

// Each token occurs twice in a step.
TEST(RepetitionTest, AStepMayHaveNoTokenOfItsOwn) {
  const auto got = FindRepetition(Tokens("AABBAABBAABB"));
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->period, 4u);
  EXPECT_THAT(got->begins, ElementsAre(0, 4, 8));
}

TEST(RepetitionTest, OneTokenAloneRepeatsEachTime) {
  const auto got = FindRepetition(Tokens("AAAA"));
  ASSERT_TRUE(got.has_value());
  EXPECT_THAT(got->begins, ElementsAre(0, 1, 2, 3));
}

// In the 11th of 20 steps an evaluation comes between.
TEST(RepetitionTest, ATokenTooManyDoesNotMoveTheStepsAfterIt) {
  std::string letters;
  std::vector<uint32_t> want;
  for (int step = 0; step < 20; ++step) {
    want.push_back(static_cast<uint32_t>(letters.size()));
    letters += step == 10 ? "ABCEDE" : "ABCDE";
  }
  const auto got = FindRepetition(Tokens(letters));
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->period, 5u);
  EXPECT_EQ(got->begins, want);
}

TEST(RepetitionTest, FewTokensAndRandomOnesRepeatNothing) {
  for (const char* letters : {"", "A", "AA", "AB", "ABAB", "ABCDEFG", "ABCABD"}) {
    EXPECT_EQ(FindRepetition(Tokens(letters)).has_value(), false) << letters;
  }
  std::mt19937_64 random(5);
  std::vector<uint32_t> tokens;
  for (int i = 0; i < 3000; ++i) tokens.push_back(static_cast<uint32_t>(random() % 50));
  EXPECT_FALSE(FindRepetition(tokens).has_value());
}

TEST(RepetitionTest, TwoHalvesAreEnoughWhenTheyAreLong) {
  const auto got = FindRepetition(Tokens("ABCDEFGHABCDEFGH"));
  ASSERT_TRUE(got.has_value());
  EXPECT_THAT(got->begins, ElementsAre(0, 8));
}

// Random steps, repeated 3 to 20 times between random prologues and epilogues: the period is
// found, or one that divides it (a step may repeat itself).
TEST(RepetitionTest, RandomStepsAreFound) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    std::vector<uint32_t> step, tokens;
    const size_t period = 1 + random() % 30, count = 3 + random() % 18;
    for (size_t i = 0; i < period; ++i) step.push_back(static_cast<uint32_t>(random() % 6));
    const size_t around = random() % (period * count / 4 + 1);
    for (size_t i = 0; i < around; ++i) tokens.push_back(static_cast<uint32_t>(6 + random() % 9));
    for (size_t i = 0; i < count; ++i) tokens.insert(tokens.end(), step.begin(), step.end());
    for (size_t i = 0; i < around; ++i) tokens.push_back(static_cast<uint32_t>(6 + random() % 9));
    const auto got = FindRepetition(tokens);
    ASSERT_TRUE(got.has_value());
    EXPECT_EQ(period % got->period, 0u) << period << " " << got->period;
    EXPECT_EQ(got->begins.size(), count * (period / got->period));
    EXPECT_TRUE(std::is_sorted(got->begins.begin(), got->begins.end()));
    EXPECT_LE(got->end, tokens.size());
    EXPECT_GT(got->end, got->begins.back());
  }
}

}  // namespace
}  // namespace chakrad
