#include "analysis/periodicity/periodicity.h"

#include <gtest/gtest.h>

namespace chakrad {
namespace {

TEST(PeriodicityTest, IsOneLessTheMedianDeviation) {
  // Median 100; deviations 0, 0, 0.02, 0.1, 4: their median is 0.02.
  EXPECT_DOUBLE_EQ(PeriodicityOf({100, 98, 500, 100, 110}), 0.98);
  // Median 15, deviations 1/3 each.
  EXPECT_DOUBLE_EQ(PeriodicityOf({10, 20}), 1 - 5.0 / 15);
  EXPECT_DOUBLE_EQ(PeriodicityOf({7, 7, 7}), 1);
}

TEST(PeriodicityTest, NeedsTwoStepsThatTakeTime) {
  EXPECT_EQ(PeriodicityOf({}), 0);
  EXPECT_EQ(PeriodicityOf({5}), 0);
  EXPECT_EQ(PeriodicityOf({0, 0, 9}), 0);
}

TEST(PeriodicityTest, StandsOutliers) {
  // Median 2; deviations 0.5, 0.5, 0, 499, 499. Median 3; deviations 2/3, 2/3, 1/3, 1/3, 332, 332.
  EXPECT_DOUBLE_EQ(PeriodicityOf({1, 1, 2, 1000, 1000}), 0.5);
  EXPECT_DOUBLE_EQ(PeriodicityOf({1, 1, 2, 4, 1000, 1000}), 1 - 2.0 / 3);
  // Median (1 + 1000) / 2 = 500.5, deviations just below 1 each.
  EXPECT_NEAR(PeriodicityOf({1, 1, 1000, 1000}), 0.002, 1e-3);
}

}  // namespace
}  // namespace chakrad
