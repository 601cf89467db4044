// kill_trials [--trials N] [--seed N] [--uploaders N]: see kill_trials.h. tools/kill-trials
// builds and runs it.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "tests/fault/kill_trials.h"

int main(int argc, char** argv) {
  chakrad::KillTrialsOptions options;
  options.trials = 1'000;
  options.progress = true;
  CLI::App app("Kills the daemon at random moments under load, and checks what is left.");
  app.add_option("--trials", options.trials, "How many kills")->capture_default_str();
  app.add_option("--seed", options.seed, "Of moments and loads")->capture_default_str();
  app.add_option("--uploaders", options.uploaders, "At once")->capture_default_str();
  app.add_option("--load_ms", options.load_ms_max, "Longest life under load")
      ->capture_default_str();
  app.add_option("--startup_ms", options.startup_ms_max, "A slower start is a failure")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  std::printf("seed %llu\n", static_cast<unsigned long long>(options.seed));
  std::fflush(stdout);
  const chakrad::KillTrialsSummary summary = chakrad::RunKillTrials(options);
  std::printf("%s", chakrad::SummaryText(options, summary).c_str());
  return summary.failures.empty() ? 0 : 1;
}
