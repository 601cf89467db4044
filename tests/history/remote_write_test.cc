// Stored series on their way into a real Prometheus, whoever is restarted meanwhile.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/status_matchers.h"
#include "server/remote_write/http_sender.h"
#include "server/remote_write/remote_writer.h"
#include "server/remote_write/write_request.h"
#include "storage/mem_kv.h"
#include "tests/history/prometheus_history.h"

namespace chakrad {
namespace {

constexpr int64_t kHourMs = 3'600'000;
constexpr int64_t kDayMs = 24 * kHourMs;

class RemoteWriteTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = NewSeriesStore(std::shared_ptr<Kv>(NewMemKv()));
    ASSERT_THAT(store, IsOk());
    store_ = *std::move(store);
  }

  // 90 days of four jobs, a record every six hours: 1,440 records, 43,200 samples.
  HistorySamples AppendNinetyDays() {
    const std::vector<SeriesRecord> records =
        HistoryRecords({.jobs_count = 4,
                        .records_per_job = 360,
                        .newest_unix_ms = NowUnixMs() - kHourMs,
                        .step_ms = 6 * kHourMs});
    EXPECT_THAT(store_->Append(records, "reader", "1"), IsOk());
    return SamplesOf(records);
  }

  void StartWriter(const PrometheusProcess& prometheus, int64_t max_age_ms = 100 * kDayMs) {
    RemoteWriterOptions options;
    options.http.url = WriteUrl(prometheus);
    options.window.max_age_ms = max_age_ms;
    options.min_pause_ms = 10;
    options.max_pause_ms = 100;
    options.poll_ms = 10;
    options.batch_samples = 500;
    writer_ = std::make_unique<RemoteWriter>(store_.get(), RealClock(), options);
    writer_->Start();
  }

  // Until the receiver has everything up to this record.
  ::testing::AssertionResult Reached(int64_t sequence) {
    for (int i = 0; i < 6'000; ++i) {
      if (writer_->durable_cursor() >= sequence) return ::testing::AssertionSuccess();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return ::testing::AssertionFailure() << "cursor at " << writer_->durable_cursor();
  }
  ::testing::AssertionResult Drained() { return Reached(store_->last_sequence()); }

  std::unique_ptr<SeriesStore> store_;
  std::unique_ptr<RemoteWriter> writer_;
};

TEST_F(RemoteWriteTest, NinetyDaysArriveWithTheirOwnTimes) {
  const HistorySamples wanted = AppendNinetyDays();
  PrometheusProcess prometheus(ReceiverOptions());
  StartWriter(prometheus);
  ASSERT_TRUE(Drained());
  EXPECT_EQ(DifferenceOf(wanted, StoredSamples(prometheus)), "");
  const RemoteWriterStats stats = writer_->Stats();
  EXPECT_EQ(stats.sent_samples, 43'200);
  EXPECT_TRUE(stats.dropped_samples_by_reason.empty());
  EXPECT_EQ(stats.requests_by_outcome.size(), 1u);  // All taken.
  const auto heartbeat = prometheus.Query(kHeartbeatMetric);
  ASSERT_THAT(heartbeat, IsOk());
  ASSERT_EQ(heartbeat->size(), 1u);
  EXPECT_NEAR((*heartbeat)[0].value(), static_cast<double>(NowUnixMs()) / 1'000, 120);
  // What came later goes out as well.
  const std::vector<SeriesRecord> more =
      HistoryRecords({.jobs_count = 6, .records_per_job = 1, .newest_unix_ms = NowUnixMs()});
  ASSERT_THAT(store_->Append({more[0], more[1]}, "reader", "2"), IsOk());  // Jobs 5 and 4.
  ASSERT_TRUE(Drained());
  HistorySamples all = wanted;
  all.merge(SamplesOf({more[0], more[1]}));
  EXPECT_EQ(DifferenceOf(all, StoredSamples(prometheus)), "");
}

TEST_F(RemoteWriteTest, ARestartOfPrometheusLosesNothing) {
  const HistorySamples wanted = AppendNinetyDays();
  PrometheusProcess prometheus(ReceiverOptions());
  StartWriter(prometheus);
  ASSERT_TRUE(Reached(300));
  prometheus.Stop();
  prometheus.Start();
  ASSERT_TRUE(Reached(800));
  prometheus.Kill();
  prometheus.Start();
  ASSERT_TRUE(Drained());
  EXPECT_EQ(DifferenceOf(wanted, StoredSamples(prometheus)), "");
  prometheus.Kill();  // What was acknowledged survives.
  prometheus.Start();
  EXPECT_EQ(DifferenceOf(wanted, StoredSamples(prometheus)), "");
}

TEST_F(RemoteWriteTest, AWriterThatIsStartedAgainRepeatsWithoutEffect) {
  const HistorySamples wanted = AppendNinetyDays();
  PrometheusProcess prometheus(ReceiverOptions());
  for (int round = 1; round <= 8; ++round) {
    StartWriter(prometheus);
    ASSERT_TRUE(Reached(round * 150));
    writer_.reset();
  }
  // A store that was set back, or a crash before the cursor was written.
  const std::string cursor = absl::StrCat("remote_write/", WriteUrl(prometheus));
  ASSERT_OK_AND_ASSIGN(const std::string place, store_->GetCursor(cursor));
  EXPECT_NE(place, "");
  ASSERT_THAT(store_->SetCursor(cursor, "0"), IsOk());
  StartWriter(prometheus);
  ASSERT_TRUE(Drained());
  EXPECT_TRUE(writer_->Stats().dropped_samples_by_reason.empty());
  EXPECT_EQ(DifferenceOf(wanted, StoredSamples(prometheus)), "");
}

TEST_F(RemoteWriteTest, WhatIsOlderThanTheWindowIsLeftOutBeforeItIsSent) {
  HistorySamples wanted = AppendNinetyDays();
  PrometheusProcess prometheus(ReceiverOptions("30d"));
  StartWriter(prometheus, 30 * kDayMs);
  ASSERT_TRUE(Drained());
  const RemoteWriterStats stats = writer_->Stats();
  EXPECT_EQ(stats.requests_by_outcome.size(), 1u);  // No request was refused.
  const int64_t dropped = stats.dropped_samples_by_reason.at("too_old");
  EXPECT_EQ(stats.sent_samples + dropped, 43'200);
  EXPECT_NEAR(static_cast<double>(dropped), 43'200 * 60 / 90, 200);
  int64_t stored_count = 0;
  for (auto& [series, samples] : StoredSamples(prometheus)) {
    stored_count += static_cast<int64_t>(samples.size());
  }
  EXPECT_EQ(stored_count, stats.sent_samples);
}

// The receiver's window is shorter than we were told.
TEST_F(RemoteWriteTest, RecordsThatPrometheusRefusesDoNotHoldBackNewerOnes) {
  const HistorySamples all = AppendNinetyDays();
  PrometheusProcess prometheus(ReceiverOptions("30d"));
  StartWriter(prometheus, 0);
  ASSERT_TRUE(Drained());
  const RemoteWriterStats stats = writer_->Stats();
  const int64_t refused = stats.dropped_samples_by_reason.at("refused_time");
  EXPECT_EQ(stats.sent_samples + refused, 43'200);
  EXPECT_NEAR(static_cast<double>(refused), 43'200 * 60 / 90, 200);
  EXPECT_GT(stats.requests_by_outcome.at("bad_time"), 0);
  const int64_t window_begin_ms = NowUnixMs() - 30 * kDayMs + kHourMs;
  HistorySamples wanted, stored;
  const auto take_recent = [&](const HistorySamples& from, HistorySamples* to) {
    for (const auto& [series, samples] : from) {
      (*to)[series].insert(samples.lower_bound(window_begin_ms), samples.end());
    }
  };
  take_recent(all, &wanted);
  take_recent(StoredSamples(prometheus), &stored);
  EXPECT_EQ(DifferenceOf(wanted, stored), "");
}

// A daemon whose clock was a year ahead for a minute: Prometheus calls everything current too old.
TEST_F(RemoteWriteTest, APrometheusWithASampleOfNextYearCostsNothing) {
  PrometheusProcess prometheus(ReceiverOptions());
  HttpSender sender({.url = WriteUrl(prometheus)});
  const std::string ahead =
      EncodeWriteRequest("up", "daemon", "ahead", 1, NowUnixMs() + 365 * kDayMs);
  ASSERT_EQ(sender.Post(ahead, nullptr).status, 204);
  AppendNinetyDays();
  StartWriter(prometheus);
  for (int i = 0; i < 1'000 && writer_->Stats().requests_by_outcome["shut_out"] < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const RemoteWriterStats stats = writer_->Stats();
  EXPECT_GE(stats.requests_by_outcome.at("shut_out"), 3);
  EXPECT_FALSE(stats.up);
  EXPECT_TRUE(stats.dropped_samples_by_reason.empty());
  EXPECT_EQ(writer_->durable_cursor(), 0);
}

}  // namespace
}  // namespace chakrad
