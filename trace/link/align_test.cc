#include "trace/link/align.h"

#include <gtest/gtest.h>

#include <random>

#include "trace/model/rank_trace.h"

namespace chakrad {
namespace {

std::vector<uint32_t> RandomNames(std::mt19937* random, size_t count, uint32_t kinds) {
  std::vector<uint32_t> names(count);
  for (uint32_t& name : names) name = (*random)() % kinds;
  return names;
}

size_t PairedCount(const std::vector<uint32_t>& partner) {
  return partner.size() - static_cast<size_t>(std::count(partner.begin(), partner.end(), kNone));
}

TEST(AlignTest, EqualSequencesPairEveryEntry) {
  std::mt19937 random(1);
  const std::vector<uint32_t> names = RandomNames(&random, 1000, 20);
  const std::vector<uint32_t> partner = AlignSequences(names, names, -1);
  for (uint32_t i = 0; i < names.size(); ++i) EXPECT_EQ(partner[i], i);
}

TEST(AlignTest, AWindowOfManyStepsIsFound) {
  std::mt19937 random(2);
  const std::vector<uint32_t> all = RandomNames(&random, 20000, 30);
  const std::vector<uint32_t> window(all.begin() + 7000, all.begin() + 7500);
  const std::vector<uint32_t> partner = AlignSequences(window, all, -1);
  for (uint32_t i = 0; i < window.size(); ++i) EXPECT_EQ(partner[i], 7000 + i);
}

// Forty equal steps: only a hint from another thread tells which.
TEST(AlignTest, AmongEqualWindowsTheHintDecides) {
  std::mt19937 random(3);
  const std::vector<uint32_t> step = RandomNames(&random, 300, 30);
  std::vector<uint32_t> all;
  for (int i = 0; i < 40; ++i) all.insert(all.end(), step.begin(), step.end());
  EXPECT_EQ(AlignSequences(step, all, -1)[0], 0u);
  EXPECT_EQ(AlignSequences(step, all, 17 * 300 + 5)[0], 17u * 300);
}

TEST(AlignTest, PartnersHaveEqualNamesAndFewAreLostToDifferences) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const std::vector<uint32_t> a = RandomNames(&random, 2000, 25);
    std::vector<uint32_t> b;
    size_t edits = 0;
    for (const uint32_t name : a) {
      const uint32_t dice = random() % 100;
      edits += dice < 2 ? 1 : 0;
      if (dice == 0) continue;                    // Missing.
      if (dice == 1) b.push_back(random() % 25);  // Extra.
      b.push_back(name);
    }
    const std::vector<uint32_t> partner = AlignSequences(a, b, -1);
    std::vector<bool> taken(b.size(), false);
    for (size_t i = 0; i < a.size(); ++i) {
      if (partner[i] == kNone) continue;
      ASSERT_LT(partner[i], b.size()) << seed;
      EXPECT_EQ(a[i], b[partner[i]]) << seed;
      EXPECT_FALSE(taken[partner[i]]) << seed;
      taken[partner[i]] = true;
    }
    // Each edit costs at most a few neighbours.
    EXPECT_GE(PairedCount(partner) + 6 * edits, a.size()) << seed;
  }
}

// A call and its caller of equal times come in either order.
TEST(AlignTest, NeighboursThatChangedPlacesStillPair) {
  std::mt19937 random(4);
  const std::vector<uint32_t> a = RandomNames(&random, 500, 40);
  std::vector<uint32_t> b = a;
  for (size_t i = 10; i + 10 < b.size(); i += 37) std::swap(b[i], b[i + 1]);
  EXPECT_EQ(PairedCount(AlignSequences(a, b, -1)), a.size());
}

TEST(AlignTest, UnlikeOrEmptySequencesPairNothing) {
  const std::vector<uint32_t> a(1000, 1), b(1000, 2);
  EXPECT_EQ(PairedCount(AlignSequences(a, b, -1)), 0u);
  EXPECT_EQ(PairedCount(AlignSequences(a, {}, -1)), 0u);
  EXPECT_TRUE(AlignSequences({}, b, -1).empty());
}

// 200,000 entries without any order in common: the work stays bounded.
TEST(AlignTest, LargeUnlikeSequencesAreGivenUpQuickly) {
  std::mt19937 random(5);
  const std::vector<uint32_t> a = RandomNames(&random, 200000, 3);
  const std::vector<uint32_t> b = RandomNames(&random, 200000, 3);
  EXPECT_EQ(AlignSequences(a, b, -1).size(), a.size());
}

}  // namespace
}  // namespace chakrad
