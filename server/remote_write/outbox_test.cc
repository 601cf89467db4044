#include "server/remote_write/outbox.h"

#include <gtest/gtest.h>

#include "common/status_matchers.h"
#include "server/series/sample_codec.h"
#include "storage/keys.h"
#include "storage/mem_kv.h"

namespace chakrad {
namespace {

constexpr int64_t kMinuteMs = 60'000;
constexpr int64_t kDayMs = 24 * 60 * kMinuteMs;

SeriesRecord Record(int number, int64_t time_unix_ms, int samples_count) {
  SeriesRecord record;
  record.source = "traces/t-" + std::to_string(number);
  record.time_unix_ms = time_unix_ms;
  record.key.job = "job";
  std::vector<MetricSample> samples(
      static_cast<size_t>(samples_count),
      {.id = MetricId::kSpanSeconds, .label_values = {}, .value = static_cast<double>(number)});
  record.samples = EncodeSamples(samples);
  return record;
}

std::unique_ptr<SeriesStore> StoreWith(std::vector<SeriesRecord> records) {
  auto store = NewSeriesStore(std::shared_ptr<Kv>(NewMemKv()));
  EXPECT_THAT(store, IsOk());
  EXPECT_THAT((*store)->Append(std::move(records), "reader", "1"), IsOk());
  return *std::move(store);
}

TEST(OutboxTest, ABatchHasRecordsBehindTheCursorUntilItIsFullInOrderOfTime) {
  const auto store =
      StoreWith({Record(1, 400, 1), Record(2, 300, 2), Record(3, 200, 2), Record(4, 100, 1)});
  ASSERT_OK_AND_ASSIGN(const OutboxBatch batch, ReadOutbox(store.get(), 1, 3, 1 << 20));
  EXPECT_EQ(batch.last_sequence, 3);
  ASSERT_EQ(batch.items.size(), 2u);
  EXPECT_EQ(batch.items[0].time_unix_ms, 200);
  EXPECT_EQ(batch.items[1].time_unix_ms, 300);
  ASSERT_OK_AND_ASSIGN(const OutboxBatch last, ReadOutbox(store.get(), 3, 3, 1 << 20));
  EXPECT_EQ(last.last_sequence, 4);
  ASSERT_OK_AND_ASSIGN(const OutboxBatch none, ReadOutbox(store.get(), 4, 3, 1 << 20));
  EXPECT_EQ(none.last_sequence, 4);
  EXPECT_TRUE(none.items.empty());
}

TEST(OutboxTest, ARecordLargerThanABatchIsABatch) {
  const auto store = StoreWith({Record(1, 100, 50), Record(2, 200, 1)});
  ASSERT_OK_AND_ASSIGN(const OutboxBatch batch, ReadOutbox(store.get(), 0, 3, 4));
  EXPECT_EQ(batch.last_sequence, 1);
  EXPECT_EQ(CountSamples(batch.items), 50);
}

TEST(OutboxTest, RecordsThatCannotBeReadArePassedAndCounted) {
  SeriesRecord damaged = Record(1, 100, 1);
  damaged.samples = "rubbish";
  const auto store = StoreWith({damaged, Record(2, 200, 1)});
  ASSERT_OK_AND_ASSIGN(const OutboxBatch batch, ReadOutbox(store.get(), 0, 100, 1 << 20));
  EXPECT_EQ(batch.last_sequence, 2);
  EXPECT_EQ(batch.unreadable_records, 1);
  EXPECT_EQ(batch.items.size(), 1u);
}

WriteItem At(int64_t time_unix_ms, size_t samples_count = 1) {
  WriteItem item;
  item.time_unix_ms = time_unix_ms;
  item.samples.resize(samples_count);
  for (size_t i = 0; i < samples_count; ++i) item.samples[i].value = static_cast<double>(i);
  return item;
}

TEST(OutboxTest, OnlyWhatTheReceiverTakesStays) {
  const int64_t now_ms = 1'700'000'000'000;
  // Of 100 days, the last 15 minutes are not used.
  const int64_t oldest_ms = now_ms - 100 * kDayMs + 15 * kMinuteMs;
  std::vector<WriteItem> items{At(oldest_ms - 1, 3), At(oldest_ms), At(now_ms),
                               At(now_ms + 10 * kMinuteMs), At(now_ms + 10 * kMinuteMs + 1, 2)};
  const OutsideWindow outside = RemoveOutside({.max_age_ms = 100 * kDayMs}, now_ms, true, &items);
  EXPECT_EQ(outside.too_old_samples, 3);
  EXPECT_EQ(outside.ahead_samples, 2);
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[0].time_unix_ms, oldest_ms);
}

TEST(OutboxTest, AShortWindowLosesAQuarterAndNoWindowTakesAnyAge) {
  const int64_t now_ms = 1'700'000'000'000;
  std::vector<WriteItem> items{At(now_ms - 31 * kMinuteMs), At(now_ms - 30 * kMinuteMs)};
  EXPECT_EQ(RemoveOutside({.max_age_ms = 40 * kMinuteMs}, now_ms, true, &items).too_old_samples, 1);
  EXPECT_EQ(items.size(), 1u);
  items = {At(0)};
  EXPECT_EQ(RemoveOutside({.max_age_ms = 0}, now_ms, true, &items).too_old_samples, 0);
}

TEST(OutboxTest, WhatWasKnownBeforeTheClockSaysSoIsTheClocksFault) {
  const int64_t now_ms = 1'700'000'000'000;
  // Of a recorder a day ahead; of a daemon that knew it a day from now.
  std::vector<WriteItem> items{At(now_ms + kDayMs, 2), At(now_ms + kDayMs, 3)};
  items[0].added_unix_ms = now_ms - 1;
  items[1].added_unix_ms = now_ms + kDayMs;
  OutsideWindow outside = RemoveOutside({}, now_ms, true, &items);
  EXPECT_EQ(outside.ahead_samples, 2);
  EXPECT_EQ(outside.doubtful_samples, 3);
  ASSERT_EQ(CountSamples(items), 3);
  outside = RemoveOutside({}, now_ms, false, &items);
  EXPECT_EQ(outside.ahead_samples, 3);
  EXPECT_EQ(outside.doubtful_samples, 0);
  EXPECT_TRUE(items.empty());
}

TEST(OutboxTest, DamageAtTheEndIsPassedAndCounted) {
  const std::shared_ptr<Kv> kv(NewMemKv());
  auto store = NewSeriesStore(kv);
  ASSERT_THAT(store, IsOk());
  ASSERT_THAT((*store)->Append({Record(1, 100, 1), Record(2, 200, 1)}, "reader", "1"), IsOk());
  KvBatch rubbish;
  rubbish.Put(Family::kSeries, "r" + SortableInt64(2), "rubbish");
  ASSERT_THAT(kv->Write(rubbish, /*sync=*/true), IsOk());
  ASSERT_OK_AND_ASSIGN(const OutboxBatch batch, ReadOutbox(store->get(), 0, 100, 1 << 20));
  EXPECT_EQ(batch.last_sequence, 2);
  EXPECT_EQ(batch.unreadable_records, 1);
  EXPECT_EQ(CountSamples(batch.items), 1);
  ASSERT_OK_AND_ASSIGN(const OutboxBatch last, ReadOutbox(store->get(), 1, 100, 1 << 20));
  EXPECT_EQ(last.last_sequence, 2);
  EXPECT_EQ(last.unreadable_records, 1);
}

TEST(OutboxTest, HalvesKeepEverySampleDownToOne) {
  std::vector<WriteItem> first, second;
  Halve({At(1), At(2), At(3)}, &first, &second);
  ASSERT_EQ(first.size(), 2u);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].time_unix_ms, 3);
  Halve({At(7, 3)}, &first, &second);
  ASSERT_EQ(first.size(), 1u);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(first[0].samples.size(), 2u);
  ASSERT_EQ(second[0].samples.size(), 1u);
  EXPECT_EQ(second[0].samples[0].value, 2);
  EXPECT_EQ(second[0].time_unix_ms, 7);
  Halve({At(7)}, &first, &second);
  EXPECT_EQ(CountSamples(first), 1);
  EXPECT_TRUE(second.empty());
}

}  // namespace
}  // namespace chakrad
