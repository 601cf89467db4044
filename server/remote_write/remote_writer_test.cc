// The writer against a receiver that misbehaves as told. tests/prometheus/remote_write_test has
// the real one.
#include "server/remote_write/remote_writer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "server/remote_write/fake_receiver.h"
#include "server/series/sample_codec.h"
#include "storage/mem_kv.h"

namespace chakrad {
namespace {

constexpr int64_t kMinuteMs = 60'000;
constexpr int64_t kDayMs = 24 * 60 * kMinuteMs;

int64_t NowMs() { return RealClock()->NowUnixNs() / 1'000'000; }

class RemoteWriterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = NewSeriesStore(std::shared_ptr<Kv>(NewMemKv()));
    ASSERT_THAT(store, IsOk());
    store_ = *std::move(store);
  }

  // A record of `samples_count` samples with values that tell record and place.
  void Append(int64_t time_unix_ms, int samples_count = 2) {
    ++number_;
    SeriesRecord record;
    record.source = absl::StrCat("traces/t-", number_);
    record.time_unix_ms = time_unix_ms;
    record.added_unix_ms = NowMs();
    record.key = {"cluster", absl::StrCat("job-", number_), "model", "all"};
    std::vector<MetricSample> samples;
    for (int i = 0; i < samples_count; ++i) {
      samples.push_back({MetricId::kCollectiveBytes,
                         {"ALL_REDUCE", absl::StrCat("size-", i)},
                         number_ * 1'000.0 + i});
    }
    record.samples = EncodeSamples(samples);
    ASSERT_THAT(store_->Append({record}, "reader", absl::StrCat(number_)), IsOk());
  }

  RemoteWriterOptions Options(const FakeReceiver& receiver) {
    RemoteWriterOptions options;
    options.http.url = receiver.url();
    options.http.timeout_ms = 500;
    options.window.max_age_ms = 100 * kDayMs;
    options.min_pause_ms = 1;
    options.max_pause_ms = 20;
    options.poll_ms = 5;
    return options;
  }

  void StartWriter(RemoteWriterOptions options, Clock* clock = RealClock()) {
    writer_ = std::make_unique<RemoteWriter>(store_.get(), clock, std::move(options));
    writer_->Start();
  }

  // Until everything is through, durably.
  bool Drained() {
    return WaitFor([&] { return writer_->durable_cursor() == number_; });
  }

  bool WaitFor(const std::function<bool()>& condition) {
    for (int i = 0; i < 4'000; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }

  std::unique_ptr<SeriesStore> store_;
  std::unique_ptr<RemoteWriter> writer_;
  int number_ = 0;
};

std::string Ok(const FakeRequest&) { return HttpText(204, ""); }

TEST_F(RemoteWriterTest, EverySampleArrivesWithItsOwnTimeAfterACurrentOne) {
  const int64_t now_ms = NowMs();
  for (int i = 0; i < 25; ++i) Append(now_ms - i * kDayMs, 3);
  FakeReceiver receiver(Ok);
  RemoteWriterOptions options = Options(receiver);
  options.batch_samples = 10;
  StartWriter(options);
  ASSERT_TRUE(Drained());
  writer_->Stop();
  EXPECT_EQ(receiver.Taken().size(), 75u);
  const std::string series =
      "{__name__=\"chakrad_trace_collective_bytes\",cluster=\"cluster\",job=\"job-25\","
      "model=\"model\",rank_group=\"all\",size=\"size-2\",type=\"ALL_REDUCE\"}";
  const auto taken = receiver.Taken();
  const auto found = taken.find({series, now_ms - 24 * kDayMs});
  ASSERT_NE(found, taken.end());
  EXPECT_EQ(found->second, 25'002);
  const std::vector<FakeRequest> requests = receiver.Requests();
  ASSERT_GE(requests.size(), 8u);
  EXPECT_TRUE(requests[0].heartbeat);
  EXPECT_NEAR(static_cast<double>(requests[0].samples[0].time_unix_ms), static_cast<double>(now_ms),
              10'000);
  EXPECT_FALSE(requests[1].heartbeat);
  const auto& headers = requests[1].headers;
  EXPECT_EQ(headers.at("content-encoding"), "snappy");
  EXPECT_EQ(headers.at("content-type"), "application/x-protobuf");
  EXPECT_EQ(headers.at("x-prometheus-remote-write-version"), "0.1.0");
  const RemoteWriterStats stats = writer_->Stats();
  EXPECT_TRUE(stats.up);
  EXPECT_EQ(stats.sent_samples, 75);
  EXPECT_EQ(stats.pending_records, 0);
}

TEST_F(RemoteWriterTest, WhatIsTooOldOrAheadIsCountedAndNeverSent) {
  const int64_t now_ms = NowMs();
  Append(now_ms - 101 * kDayMs, 3);
  Append(now_ms + 11 * kMinuteMs, 2);
  Append(now_ms - 99 * kDayMs, 1);
  FakeReceiver receiver(Ok);
  StartWriter(Options(receiver));
  ASSERT_TRUE(Drained());
  const auto taken = receiver.Taken();
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken.begin()->second, 3'000);
  const auto dropped = writer_->Stats().dropped_samples_by_reason;
  EXPECT_EQ(dropped.at("too_old"), 3);
  EXPECT_EQ(dropped.at("in_future"), 2);
}

TEST_F(RemoteWriterTest, FailuresAreRepeatedUntilTheReceiverTakesAll) {
  for (int i = 0; i < 5; ++i) Append(NowMs() - i * kDayMs);
  const std::vector<std::string> failures{
      HttpText(500, "write to WAL: disk is full"),
      HttpText(429, "slow down"),
      HttpText(503, ""),
      "",                                      // Closed without an answer.
      "\x16\x03 garbage that is no HTTP\n\n",  // And garbage.
      "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\ncut off",
      HttpText(404, "no such page"),
      HttpText(401, "who are you"),
      HttpText(302, "", "Location: http://127.0.0.1:1/elsewhere\r\n"),
      "HTTP/1.1 500 X\r\nContent-Length: 4000000\r\n\r\n" + std::string(4'000'000, 'x'),
      kHang};
  std::atomic<size_t> failed{0};
  FakeReceiver receiver([&](const FakeRequest& request) {
    if (request.heartbeat || failed == failures.size()) return HttpText(200, "");
    return failures[failed++];
  });
  StartWriter(Options(receiver));
  ASSERT_TRUE(WaitFor([&] { return failed == failures.size(); }));
  const auto requests = receiver.Requests();
  // Each try after a failure begins with a current sample: the receiver may be a new one.
  for (size_t i = 0; i + 1 < requests.size(); ++i) {
    EXPECT_NE(requests[i].heartbeat, requests[i + 1].heartbeat) << i;
  }
  EXPECT_EQ(writer_->durable_cursor(), 0);
}

TEST_F(RemoteWriterTest, AfterAnOutageNothingIsMissing) {
  for (int i = 0; i < 5; ++i) Append(NowMs() - i * kDayMs);
  std::atomic<bool> broken{true};
  FakeReceiver receiver(
      [&](const FakeRequest&) { return broken ? HttpText(500, "starting") : HttpText(200, ""); });
  StartWriter(Options(receiver));
  ASSERT_TRUE(WaitFor([&] { return receiver.Requests().size() > 5; }));
  EXPECT_FALSE(writer_->Stats().up);
  EXPECT_EQ(writer_->Stats().pending_records, 5);
  broken = false;
  ASSERT_TRUE(Drained());
  EXPECT_EQ(receiver.Taken().size(), 10u);
  EXPECT_TRUE(writer_->Stats().up);
}

TEST_F(RemoteWriterTest, AReceiverThatAsksToWaitIsLeftAlone) {
  Append(NowMs());
  std::atomic<int> answered{0};
  std::atomic<int64_t> again_ms{0};
  FakeReceiver receiver([&](const FakeRequest&) {
    if (answered++ == 0) return HttpText(429, "", "Retry-After: 1\r\n");
    if (again_ms == 0) again_ms = NowMs();
    return HttpText(200, "");
  });
  const int64_t start_ms = NowMs();
  StartWriter(Options(receiver));
  ASSERT_TRUE(Drained());
  EXPECT_GE(again_ms - start_ms, 1'000);
}

TEST_F(RemoteWriterTest, OneBadSampleDoesNotHoldBackTheOthers) {
  for (int i = 0; i < 16; ++i) Append(NowMs() - i * kDayMs, 8);
  FakeReceiver receiver([](const FakeRequest& request) {
    for (const auto& sample : request.samples) {
      if (sample.value == 7'003) return HttpText(400, "duplicate sample for timestamp");
    }
    return HttpText(204, "");
  });
  StartWriter(Options(receiver));
  ASSERT_TRUE(Drained());
  EXPECT_EQ(receiver.Taken().size(), 16u * 8 - 1);
  EXPECT_EQ(writer_->Stats().dropped_samples_by_reason.at("refused"), 1);
  // The heartbeat, and two requests for each of 7 cuts of 128 samples, and the first.
  EXPECT_LE(receiver.Requests().size(), 1u + 1 + 2 * 7);
}

TEST_F(RemoteWriterTest, ARecordBehindTheReceiversWindowDoesNotHoldBackTheOthers) {
  const int64_t now_ms = NowMs();
  for (int i = 0; i < 16; ++i) Append(now_ms - i * kDayMs, 8);
  FakeReceiver receiver([&](const FakeRequest& request) {
    for (const auto& sample : request.samples) {
      if (sample.time_unix_ms < now_ms - 13 * kDayMs) return HttpText(500, "too old sample");
    }
    return HttpText(204, "");
  });
  StartWriter(Options(receiver));
  ASSERT_TRUE(Drained());
  EXPECT_EQ(receiver.Taken().size(), 14u * 8);
  EXPECT_EQ(writer_->Stats().dropped_samples_by_reason.at("refused_time"), 2 * 8);
}

TEST_F(RemoteWriterTest, WhileClocksDisagreeNothingIsSentOrGivenUp) {
  Append(NowMs() - 101 * kDayMs, 3);
  Append(NowMs());
  FakeReceiver receiver(Ok);
  for (const int64_t ahead_ms : {-365 * kDayMs, 61 * kMinuteMs}) {
    receiver.TellTime(ahead_ms);
    StartWriter(Options(receiver));
    ASSERT_TRUE(WaitFor([&] { return writer_->Stats().requests_by_outcome["wrong_clock"] >= 3; }));
    EXPECT_FALSE(writer_->Stats().up);
    writer_->Stop();
    EXPECT_TRUE(receiver.Requests().empty());
    EXPECT_TRUE(writer_->Stats().dropped_samples_by_reason.empty());
    EXPECT_EQ(writer_->durable_cursor(), 0);
  }
  StartWriter(Options(receiver));
  receiver.TellTime(59 * kMinuteMs);
  ASSERT_TRUE(Drained());
  EXPECT_EQ(receiver.Taken().size(), 2u);
  EXPECT_EQ(writer_->Stats().dropped_samples_by_reason.at("too_old"), 3);
  EXPECT_TRUE(writer_->Stats().up);
}

TEST_F(RemoteWriterTest, AClockThatLeapsIsNoticedBeforeTheNextSample) {
  FakeReceiver receiver(Ok);
  receiver.TellTime(0);
  FakeClock clock(RealClock()->NowUnixNs());
  StartWriter(Options(receiver), &clock);
  ASSERT_TRUE(WaitFor([&] { return writer_->Stats().up; }));
  clock.StepNs(365 * kDayMs * 1'000'000);
  Append(NowMs());
  ASSERT_TRUE(WaitFor([&] { return writer_->Stats().requests_by_outcome["wrong_clock"] >= 2; }));
  for (const FakeRequest& request : receiver.Requests()) EXPECT_TRUE(request.heartbeat);
  EXPECT_TRUE(writer_->Stats().dropped_samples_by_reason.empty());
  clock.StepNs(-365 * kDayMs * 1'000'000);
  ASSERT_TRUE(Drained());
  EXPECT_EQ(receiver.Taken().size(), 2u);
}

TEST_F(RemoteWriterTest, AMachineThatWakesUpIn1970WaitsForItsClockADayAtMost) {
  Append(NowMs(), 2);
  FakeReceiver receiver(Ok);  // Tells no time.
  FakeClock clock(1'000'000'000);
  StartWriter(Options(receiver), &clock);
  ASSERT_TRUE(WaitFor([&] { return writer_->Stats().requests_by_outcome["wrong_clock"] >= 3; }));
  EXPECT_TRUE(writer_->Stats().dropped_samples_by_reason.empty());
  EXPECT_FALSE(writer_->Stats().up);
  clock.StepNs(RealClock()->NowUnixNs() - clock.NowUnixNs());
  ASSERT_TRUE(Drained());
  EXPECT_EQ(receiver.Taken().size(), 2u);
  writer_->Stop();
  // And one whose clock nobody sets.
  Append(NowMs(), 5);
  FakeClock dead(1'000'000'000);
  StartWriter(Options(receiver), &dead);
  ASSERT_TRUE(WaitFor([&] { return writer_->Stats().requests_by_outcome["wrong_clock"] >= 1; }));
  dead.AdvanceNs(kDayMs * 1'000'000);
  ASSERT_TRUE(Drained());
  EXPECT_EQ(writer_->Stats().dropped_samples_by_reason.at("in_future"), 5);
}

// What Prometheus says after a daemon whose clock was a year ahead has written to it.
TEST_F(RemoteWriterTest, AReceiverWhoseNewestSampleIsFarAheadIsWaitedFor) {
  for (int i = 0; i < 4; ++i) Append(NowMs() - i * kDayMs);
  std::atomic<bool> ahead{true};
  FakeReceiver receiver([&](const FakeRequest&) {
    return ahead ? HttpText(500, "too old sample") : HttpText(204, "");
  });
  StartWriter(Options(receiver));
  ASSERT_TRUE(WaitFor([&] { return writer_->Stats().requests_by_outcome["shut_out"] >= 3; }));
  EXPECT_FALSE(writer_->Stats().up);
  EXPECT_TRUE(writer_->Stats().dropped_samples_by_reason.empty());
  EXPECT_EQ(writer_->durable_cursor(), 0);
  ahead = false;
  ASSERT_TRUE(Drained());
  EXPECT_EQ(receiver.Taken().size(), 8u);
}

TEST_F(RemoteWriterTest, AReceiverThatLeapsAheadBetweenHeartbeatsCostsNothing) {
  for (int i = 0; i < 4; ++i) Append(NowMs() - i * kDayMs);
  std::atomic<int> state{0};  // 0: the first heartbeat; 1: ahead; 2: repaired.
  FakeReceiver receiver([&](const FakeRequest&) {
    if (state == 0) {
      state = 1;
      return HttpText(204, "");
    }
    return state == 1 ? HttpText(500, "too old sample") : HttpText(204, "");
  });
  StartWriter(Options(receiver));
  ASSERT_TRUE(WaitFor([&] { return writer_->Stats().requests_by_outcome["shut_out"] >= 3; }));
  EXPECT_TRUE(writer_->Stats().dropped_samples_by_reason.empty());
  state = 2;
  ASSERT_TRUE(Drained());
  EXPECT_EQ(receiver.Taken().size(), 8u);
}

TEST_F(RemoteWriterTest, AHeartbeatThatAnotherDaemonOvertookIsNoFailure) {
  Append(NowMs());
  FakeReceiver receiver([](const FakeRequest& request) {
    return request.heartbeat ? HttpText(400, "out of order sample") : HttpText(204, "");
  });
  RemoteWriterOptions options = Options(receiver);
  options.daemon = "host:1";
  StartWriter(options);
  ASSERT_TRUE(Drained());
  EXPECT_EQ(receiver.Taken().size(), 2u);
  EXPECT_EQ(receiver.Requests()[0].samples[0].series,
            "{__name__=\"chakrad_remote_write_heartbeat_timestamp_seconds\",daemon=\"host:1\"}");
}

TEST_F(RemoteWriterTest, AHeartbeatAloneDoesNotEndAFailureOfSamples) {
  Append(NowMs());
  FakeReceiver receiver([](const FakeRequest& request) {
    return request.heartbeat ? HttpText(204, "") : HttpText(500, "disk is full");
  });
  StartWriter(Options(receiver));
  ASSERT_TRUE(WaitFor([&] { return writer_->Stats().requests_by_outcome["busy"] >= 1; }));
  for (int64_t tries = 0; tries < 10;) {
    const RemoteWriterStats stats = writer_->Stats();
    EXPECT_FALSE(stats.up);
    tries = stats.requests_by_outcome.at("busy");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST_F(RemoteWriterTest, ARequestThatIsTooLargeIsCut) {
  for (int i = 0; i < 8; ++i) Append(NowMs() - i * kDayMs, 4);
  FakeReceiver receiver([](const FakeRequest& request) {
    return request.samples.size() > 3 ? HttpText(413, "") : HttpText(200, "");
  });
  StartWriter(Options(receiver));
  ASSERT_TRUE(Drained());
  EXPECT_EQ(receiver.Taken().size(), 32u);
}

TEST_F(RemoteWriterTest, WhoeverRefusesEvenTheHeartbeatIsNoReceiverAndNothingIsGivenUp) {
  Append(NowMs());
  std::atomic<bool> refuses{true};
  FakeReceiver receiver([&](const FakeRequest&) {
    return refuses ? HttpText(400, "what is this?") : HttpText(200, "");
  });
  StartWriter(Options(receiver));
  ASSERT_TRUE(WaitFor([&] { return receiver.Requests().size() > 3; }));
  EXPECT_EQ(writer_->durable_cursor(), 0);
  EXPECT_TRUE(writer_->Stats().dropped_samples_by_reason.empty());
  refuses = false;
  ASSERT_TRUE(Drained());
  EXPECT_EQ(receiver.Taken().size(), 2u);
}

TEST_F(RemoteWriterTest, WritersThatEndAnywhereSendEverythingAtLeastOnceAndAlike) {
  constexpr int kRecords = 60;
  for (int i = 0; i < kRecords; ++i) Append(NowMs() - i * kDayMs, 3);
  int answers = 0;
  FakeReceiver receiver([&](const FakeRequest&) {
    // Some are taken although the writer learns of no answer.
    return ++answers % 3 == 0 ? "HTTP/1.1 200" : HttpText(200, "");
  });
  RemoteWriterOptions options = Options(receiver);
  options.batch_samples = 6;
  options.window.max_age_ms = 0;
  for (int round = 0; round < 100; ++round) {
    StartWriter(options);
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    writer_.reset();
  }
  StartWriter(options);
  ASSERT_TRUE(Drained());
  std::map<std::pair<std::string, int64_t>, double> sent;
  for (const FakeRequest& request : receiver.Requests()) {
    for (const auto& sample : request.samples) {
      const auto [place, fresh] = sent.insert({{sample.series, sample.time_unix_ms}, sample.value});
      if (!request.heartbeat) {
        EXPECT_EQ(place->second, sample.value);
      }
    }
  }
  EXPECT_EQ(receiver.Taken().size(), kRecords * 3u);
}

TEST_F(RemoteWriterTest, AHangingReceiverDoesNotHoldUpTheEnd) {
  Append(NowMs());
  FakeReceiver receiver([](const FakeRequest&) { return kHang; });
  RemoteWriterOptions options = Options(receiver);
  options.http.timeout_ms = 60'000;
  StartWriter(options);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const int64_t start_ms = NowMs();
  writer_->Stop();
  EXPECT_LT(NowMs() - start_ms, 3'000);
  EXPECT_EQ(writer_->durable_cursor(), 0);
}

TEST_F(RemoteWriterTest, SecretsAreReadFromTheirFileAnewForEachRequest) {
  const std::string file = ::testing::TempDir() + "/token";
  std::ofstream(file) << "first\n";
  FakeReceiver receiver(Ok);
  RemoteWriterOptions options = Options(receiver);
  options.http.bearer_token_file = file;
  StartWriter(options);
  ASSERT_TRUE(WaitFor([&] { return !receiver.Requests().empty(); }));
  EXPECT_EQ(receiver.Requests()[0].headers.at("authorization"), "Bearer first");
  std::ofstream(file) << "second";
  Append(NowMs());
  ASSERT_TRUE(Drained());
  EXPECT_EQ(receiver.Requests().back().headers.at("authorization"), "Bearer second");
  writer_->Stop();
  options.http.bearer_token_file = "";
  options.http.basic_auth_file = file;
  std::ofstream(file) << "me:secret\n";
  StartWriter(options);
  const size_t before = receiver.Requests().size();
  ASSERT_TRUE(WaitFor([&] { return receiver.Requests().size() > before; }));
  EXPECT_EQ(receiver.Requests().back().headers.at("authorization"), "Basic bWU6c2VjcmV0");
}

TEST_F(RemoteWriterTest, AMissingSecretIsWaitedFor) {
  const std::string file = ::testing::TempDir() + "/missing-token";
  Append(NowMs());
  FakeReceiver receiver(Ok);
  RemoteWriterOptions options = Options(receiver);
  options.http.bearer_token_file = file;
  StartWriter(options);
  ASSERT_TRUE(WaitFor([&] { return writer_->Stats().requests_by_outcome["busy"] > 0; }));
  EXPECT_TRUE(receiver.Requests().empty());
  std::ofstream(file) << "token\n";
  ASSERT_TRUE(Drained());
}

}  // namespace
}  // namespace chakrad
