#include "trace/link/chunked_vector.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

namespace chakrad {
namespace {

constexpr size_t kMany = 100'000;  // Several chunks.

TEST(ChunkedVectorTest, ElementsStayWhereTheyAreWhileItGrows) {
  ChunkedVector<int64_t> vector;
  vector.push_back(0);
  const int64_t* const first = &vector[0];
  for (size_t i = 1; i < kMany; ++i) vector.push_back(static_cast<int64_t>(i));
  EXPECT_EQ(&vector[0], first);
  EXPECT_EQ(vector.size(), kMany);
  int64_t next = 0;
  for (const int64_t value : vector) ASSERT_EQ(value, next++);
  for (auto it = vector.rbegin(); it != vector.rend(); ++it) ASSERT_EQ(*it, --next);
}

TEST(ChunkedVectorTest, WhatIsBehindStaysWhenTheFrontIsFreed) {
  ChunkedVector<int64_t> vector;
  for (size_t i = 0; i < kMany; ++i) vector.push_back(static_cast<int64_t>(i));
  for (size_t i = 0; i < kMany; i += 1000) {
    vector.FreeBefore(i);
    ASSERT_EQ(vector[i], static_cast<int64_t>(i));
    ASSERT_EQ(vector.back(), static_cast<int64_t>(kMany - 1));
  }
}

TEST(ChunkedVectorTest, ItIsCutGrownMovedAndEmptied) {
  ChunkedVector<int64_t> vector;
  vector.resize(kMany);
  EXPECT_EQ(vector[kMany - 1], 0);
  vector.resize(2);
  vector[1] = 5;
  vector.resize(3);
  ChunkedVector<int64_t> moved = std::move(vector);
  ASSERT_EQ(moved.size(), 3);
  EXPECT_EQ(moved[1], 5);
  EXPECT_EQ(moved[2], 0);
  moved.clear();
  EXPECT_TRUE(moved.empty());
  moved.push_back(9);
  EXPECT_EQ(moved[0], 9);
}

}  // namespace
}  // namespace chakrad
