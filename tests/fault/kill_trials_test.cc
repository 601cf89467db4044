// The short form of tools/kill-trials.
#include "tests/fault/kill_trials.h"

#include <gtest/gtest.h>

#include <iostream>

namespace chakrad {
namespace {

TEST(KillTrialsTest, NothingAcknowledgedIsLostUnderEightUploaders) {
  KillTrialsOptions options;
  options.seed = 20'261'130;
  options.trials = 12;
  options.startup_ms_max = 10'000;  // Tests run side by side; tools/kill-trials is strict.
  const KillTrialsSummary summary = RunKillTrials(options);
  std::cout << SummaryText(options, summary);
  EXPECT_TRUE(summary.failures.empty());
  EXPECT_EQ(summary.trials, options.trials);
  EXPECT_GT(summary.acknowledged, 0);
}

}  // namespace
}  // namespace chakrad
