#include "server/history/history_pruner.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "storage/mem_kv.h"

namespace chakrad {
namespace {

constexpr int64_t kDayMs = 86'400'000;
constexpr int64_t kNowMs = 20'000 * kDayMs;

class HistoryPrunerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = NewSeriesStore(std::shared_ptr<Kv>(NewMemKv()));
    ASSERT_THAT(store, IsOk());
    store_ = *std::move(store);
  }
  void Append(const std::string& job, int64_t time_unix_ms) {
    SeriesRecord record;
    record.source = absl::StrCat("traces/t-", ++number_);
    record.time_unix_ms = time_unix_ms;
    record.key.job = job;
    ASSERT_THAT(store_->Append({record}, "reader", absl::StrCat(number_)), IsOk());
  }
  std::vector<int64_t> Sequences() {
    std::vector<int64_t> sequences;
    EXPECT_THAT(store_->Scan(0,
                             [&](const SeriesRecord& record) {
                               sequences.push_back(record.sequence);
                               return true;
                             }),
                IsOk());
    return sequences;
  }
  int64_t Prune(int64_t now_unix_ms, int64_t through_sequence) {
    const auto pruned = PruneHistory(store_.get(), now_unix_ms, 10 * kDayMs, through_sequence);
    EXPECT_THAT(pruned, IsOk());
    return pruned.value_or(-1);
  }
  std::unique_ptr<SeriesStore> store_;
  int number_ = 0;
};

TEST_F(HistoryPrunerTest, WhatIsOldAndThroughGoes) {
  Append("a", kNowMs - 12 * kDayMs);  // 1
  Append("a", kNowMs - 11 * kDayMs);  // 2
  Append("b", kNowMs - 11 * kDayMs);  // 3: the latest of its key.
  Append("a", kNowMs - 9 * kDayMs);   // 4
  Append("a", kNowMs);                // 5
  EXPECT_EQ(Prune(kNowMs, 0), 0);     // A receiver has nothing yet.
  EXPECT_EQ(Prune(kNowMs, 1), 1);
  EXPECT_EQ(Sequences(), (std::vector<int64_t>{2, 3, 4, 5}));
  EXPECT_EQ(Prune(kNowMs, 5), 1);
  EXPECT_EQ(Sequences(), (std::vector<int64_t>{3, 4, 5}));
}

TEST_F(HistoryPrunerTest, AClockThatIsAheadRemovesNothing) {
  for (int day = 0; day < 8; ++day) Append("a", kNowMs - day * kDayMs);
  EXPECT_EQ(Prune(kNowMs + 4'000 * kDayMs, 8), 0);
  EXPECT_EQ(Sequences().size(), 8u);
}

TEST_F(HistoryPrunerTest, ARecordFromTheFutureMakesOthersNoOlder) {
  Append("a", kNowMs - 9 * kDayMs);
  Append("a", kNowMs);
  Append("b", kNowMs + 300 * kDayMs);
  EXPECT_EQ(Prune(kNowMs, 3), 0);
}

TEST_F(HistoryPrunerTest, AnEmptyStoreIsLeftAlone) { EXPECT_EQ(Prune(kNowMs, 0), 0); }

TEST_F(HistoryPrunerTest, TheThreadPrunesAndStops) {
  Append("a", kNowMs - 12 * kDayMs);
  Append("a", kNowMs);
  FakeClock clock(kNowMs * 1'000'000);
  HistoryPruner pruner(store_.get(), &clock, 10 * kDayMs,
                       [this] { return store_->last_sequence(); });
  pruner.Start(std::chrono::milliseconds(1));
  for (int i = 0; i < 2'000 && Sequences().size() == 2; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(Sequences(), std::vector<int64_t>{2});
  pruner.Stop();
}

}  // namespace
}  // namespace chakrad
