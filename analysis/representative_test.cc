#include "analysis/representative.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace chakrad {
namespace {

using ::testing::ElementsAre;

// All on a line: the distance of two is that of their numbers.
TraceBreakdown At(double exposed_comm_ratio) {
  return TraceBreakdown{.exposed_comm_ratio = exposed_comm_ratio};
}

std::vector<TraceBreakdown> RandomPoints(uint64_t seed, size_t count) {
  std::mt19937_64 random(seed);
  const auto ratio = [&random] { return static_cast<double>(random() % 1000) / 1000; };
  std::vector<TraceBreakdown> points(count);
  for (TraceBreakdown& point : points)
    point = {ratio(), ratio(), ratio(), ratio(), ratio(), ratio()};
  return points;
}

// The lowest cost of any k points.
double BruteForce(const std::vector<TraceBreakdown>& points, size_t k) {
  std::vector<bool> chosen(points.size(), false);
  std::fill(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(k), true);
  double best = std::numeric_limits<double>::max();
  do {
    std::vector<size_t> medoids;
    for (size_t i = 0; i < points.size(); ++i) {
      if (chosen[i]) medoids.push_back(i);
    }
    best = std::min(best, RepresentationCost(points, medoids));
  } while (std::prev_permutation(chosen.begin(), chosen.end()));
  return best;
}

TEST(RepresentativeTest, DistanceIsEuclidsOverTheRatios) {
  EXPECT_DOUBLE_EQ(BreakdownDistance({.compute_ratio = 0.3}, {.idle_ratio = 0.4}), 0.5);
  EXPECT_DOUBLE_EQ(BreakdownDistance(At(0.2), At(0.2)), 0);
}

// Three heaps; the middle of each stands for it.
TEST(RepresentativeTest, EachHeapIsStoodForByItsMiddle) {
  EXPECT_THAT(ChooseRepresentatives({At(0.0), At(0.01), At(0.02), At(0.5), At(0.51), At(0.52),
                                     At(0.9), At(0.91), At(0.92)},
                                    3),
              ElementsAre(1, 4, 7));
}

// 0 .1 .2 .3 | 1: greedily the first is .2, then 1; for the pair {.2, 1} cost .2+.1+.1 = .4,
// and {.1, 1} costs the same: nothing is exchanged.
TEST(RepresentativeTest, TheOutlierIsKeptWhenThereIsRoomForIt) {
  EXPECT_THAT(ChooseRepresentatives({At(0), At(0.1), At(0.2), At(0.3), At(1)}, 1), ElementsAre(2));
  EXPECT_THAT(ChooseRepresentatives({At(0), At(0.1), At(0.2), At(0.3), At(1)}, 2),
              ElementsAre(2, 4));
}

TEST(RepresentativeTest, OfEqualChoicesTheEarlierWins) {
  EXPECT_THAT(ChooseRepresentatives({At(0.5), At(0.5), At(0.5)}, 1), ElementsAre(0));
  EXPECT_THAT(ChooseRepresentatives({At(0.5), At(0.5), At(0.5)}, 2), ElementsAre(0, 1));
  EXPECT_THAT(ChooseRepresentatives({At(0.4), At(0.6)}, 1), ElementsAre(0));
}

TEST(RepresentativeTest, FewPointsAreAllKeptAndNoneOfNone) {
  EXPECT_THAT(ChooseRepresentatives({At(0.4), At(0.6)}, 2), ElementsAre(0, 1));
  EXPECT_THAT(ChooseRepresentatives({At(0.4), At(0.6)}, 9), ElementsAre(0, 1));
  EXPECT_THAT(ChooseRepresentatives({At(0.4)}, 0), ElementsAre());
  EXPECT_THAT(ChooseRepresentatives({}, 3), ElementsAre());
}

TEST(RepresentativeTest, NoSingleExchangeImprovesItAndTheBestIsSeldomMissed) {
  int best_found = 0, rounds = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const size_t count = 6 + seed % 6, k = 1 + seed % 4;
    const std::vector<TraceBreakdown> points = RandomPoints(seed, count);
    const std::vector<size_t> chosen = ChooseRepresentatives(points, k);
    ASSERT_EQ(chosen.size(), k);
    EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
    EXPECT_EQ(std::adjacent_find(chosen.begin(), chosen.end()), chosen.end());
    const double cost = RepresentationCost(points, chosen);
    for (size_t m = 0; m < k; ++m) {
      for (size_t candidate = 0; candidate < count; ++candidate) {
        std::vector<size_t> other = chosen;
        other[m] = candidate;
        EXPECT_GE(RepresentationCost(points, other), cost - 1e-8);
      }
    }
    const double best = BruteForce(points, k);
    EXPECT_GE(cost, best - 1e-9);
    EXPECT_LE(cost, 1.25 * best + 1e-9);
    ++rounds;
    if (cost <= best + 1e-9) ++best_found;
  }
  EXPECT_GE(best_found, rounds * 9 / 10);
}

// 5,000 points in four heaps far from each other: samples are enough to find all four.
TEST(RepresentativeTest, OfManyPointsASampleFindsEveryHeapAndAlwaysTheSameWay) {
  std::mt19937_64 random(1);
  std::vector<TraceBreakdown> points;
  for (size_t i = 0; i < 5000; ++i) {
    points.push_back(
        At(0.25 * static_cast<double>(i % 4) + static_cast<double>(random() % 1000) / 100'000));
  }
  const std::vector<size_t> chosen = ChooseRepresentatives(points, 4);
  ASSERT_EQ(chosen.size(), 4u);
  std::vector<size_t> heaps;
  for (const size_t index : chosen) heaps.push_back(index % 4);
  EXPECT_THAT(heaps, testing::UnorderedElementsAre(0, 1, 2, 3));
  // The middle of a heap is 0.0025 away from its points on average.
  EXPECT_LT(RepresentationCost(points, chosen), 5000 * 0.0027);
  EXPECT_EQ(ChooseRepresentatives(points, 4), chosen);
}

}  // namespace
}  // namespace chakrad
