#include "server/rpc/analysis_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "common/status_matchers.h"

namespace chakrad {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

const auto kHere = [] { return false; };

class AnalysisGateTest : public testing::Test {
 protected:
  // An analysis that runs until `end_`.
  std::thread Start(AnalysisGate* gate, std::atomic<int>* running) {
    return std::thread([this, gate, running] {
      EXPECT_THAT(gate->Run("M", kHere,
                            [&] {
                              ++*running;
                              while (!end_) std::this_thread::sleep_for(milliseconds(1));
                              return absl::OkStatus();
                            }),
                  IsOk());
    });
  }
  static void WaitFor(const std::function<bool()>& condition) {
    for (int i = 0; i < 10'000 && !condition(); ++i) {
      std::this_thread::sleep_for(milliseconds(1));
    }
    ASSERT_TRUE(condition());
  }
  bool Says(const std::string& line) { return metrics_.Text().find(line) != std::string::npos; }

  Metrics metrics_;
  std::atomic<bool> end_{false};
};

TEST_F(AnalysisGateTest, SoManyRunSoManyWaitAndTheNextIsRefused) {
  AnalysisGate gate(2, 1, std::chrono::minutes(1), &metrics_);
  std::atomic<int> running{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.push_back(Start(&gate, &running));
  WaitFor([&] { return running == 2 && Says("chakrad_analyses_waiting 1\n"); });
  EXPECT_TRUE(Says("chakrad_analyses_running 2\n"));
  EXPECT_THAT(gate.Run("M", kHere, [] { return absl::OkStatus(); }),
              StatusIs(absl::StatusCode::kResourceExhausted, "2 analyses run and 1 wait"));
  end_ = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(running, 3);
  EXPECT_TRUE(Says("chakrad_analyses_running 0\n"));
  EXPECT_TRUE(Says("chakrad_analyses_waiting 0\n"));
  EXPECT_TRUE(Says("chakrad_analysis_duration_seconds_count{method=\"M\"} 3\n"));
}

TEST_F(AnalysisGateTest, WhoCameFirstIsNext) {
  AnalysisGate gate(1, 20, std::chrono::minutes(1), &metrics_);
  std::atomic<int> running{0};
  std::vector<std::thread> threads;
  threads.push_back(Start(&gate, &running));
  WaitFor([&] { return running == 1; });
  std::vector<int> order;  // One runs at a time.
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      EXPECT_THAT(gate.Run("M", kHere,
                           [&] {
                             order.push_back(i);
                             return absl::OkStatus();
                           }),
                  IsOk());
    });
    WaitFor([&] { return Says("chakrad_analyses_waiting " + std::to_string(i + 1) + "\n"); });
  }
  end_ = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(AnalysisGateTest, PatienceAndCallersEnd) {
  AnalysisGate gate(1, 5, milliseconds(10), &metrics_);
  std::atomic<int> running{0};
  std::thread thread = Start(&gate, &running);
  WaitFor([&] { return running == 1; });
  EXPECT_THAT(gate.Run("M", kHere, [] { return absl::OkStatus(); }),
              StatusIs(absl::StatusCode::kResourceExhausted, "ran for 10 ms"));
  EXPECT_THAT(gate.Run(
                  "M", [] { return true; }, [] { return absl::OkStatus(); }),
              StatusIs(absl::StatusCode::kCancelled, ""));
  EXPECT_TRUE(Says("chakrad_analyses_waiting 0\n"));
  end_ = true;
  thread.join();
}

TEST_F(AnalysisGateTest, WhatAnAnalysisSaysIsPassedOnAndItsPlaceIsFree) {
  AnalysisGate gate(1, 0, milliseconds(10), &metrics_);
  EXPECT_THAT(gate.Run("M", kHere, [] { return absl::NotFoundError("x"); }),
              StatusIs(absl::StatusCode::kNotFound, "x"));
  EXPECT_THROW(
      gate.Run("M", kHere, []() -> absl::Status { throw std::runtime_error("out of memory"); })
          .IgnoreError(),
      std::runtime_error);
  EXPECT_THAT(gate.Run("M", kHere, [] { return absl::OkStatus(); }), IsOk());
}

}  // namespace
}  // namespace chakrad
