// Many kill -9 of the real daemon at random moments under load, and what must hold
// after each: nothing acknowledged is lost, nothing is half visible.
#ifndef CHAKRAD_TESTS_FAULT_KILL_TRIALS_H_
#define CHAKRAD_TESTS_FAULT_KILL_TRIALS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace chakrad {

struct KillTrialsOptions {
  uint64_t seed = 1;
  int trials = 10;
  int uploaders = 8;
  int load_ms_max = 600;       // The kill comes so long after the daemon is ready, at most.
  int startup_ms_max = 2'000;  // Slower starts are failures.
  int traces_max = 24;         // Left in the store between trials; older ones are deleted.
  bool progress = false;       // A line on stderr now and then.
};

struct KillTrialsSummary {
  int trials = 0;
  int64_t acknowledged = 0;  // Traces: uploads of files, pushes.
  int64_t unanswered = 0;    // Requests in flight when the daemon was killed.
  int64_t appeared = 0;      // Of those, traces that were there afterwards.
  int64_t deleted = 0;
  int64_t exports = 0;  // Traces compared with their reference.
  int64_t startup_ms_max = 0;
  int64_t orphans_swept = 0;          // Chunks, over all starts.
  std::vector<std::string> failures;  // Empty: all held.
};

// The daemon's binary is server/chakrad, the traces tests/data, both from the working
// folder; data lies in $TEST_TMPDIR.
KillTrialsSummary RunKillTrials(const KillTrialsOptions& options);

// One line of numbers, then the failures.
std::string SummaryText(const KillTrialsOptions& options, const KillTrialsSummary& summary);

}  // namespace chakrad

#endif  // CHAKRAD_TESTS_FAULT_KILL_TRIALS_H_
