// Bounds of the simulator, each with its unit and reason.
#ifndef CHAKRAD_SIM_LIMITS_H_
#define CHAKRAD_SIM_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace chakrad {

// Network dimensions of a system; real ones have at most 5.
inline constexpr int kMaxDims = 8;
// NPUs of a system: a few tables hold an entry a NPU.
inline constexpr int64_t kMaxNpusCount = int64_t{1} << 20;
// preferred-dataset-splits, active-chunks-per-dimension, queues: counts of small objects.
inline constexpr int64_t kMaxSplits = 4096;
// Bytes of one operation: 4 TiB. Keeps bytes * kMaxNpusCount inside int64.
inline constexpr int64_t kMaxCommBytes = int64_t{1} << 42;
// Nodes over all simulated ranks (4 bytes each, more while they wait).
inline constexpr int64_t kMaxNodes = int64_t{1} << 29;
// Chunks that one collective may have in flight over its ranks and phases (40 bytes each):
// 32,768 ranks with 64 chunks and 5 phases fit.
inline constexpr int64_t kMaxFlowsPerCollective = int64_t{1} << 24;
// The same of all collectives in flight together (1.3 GB).
inline constexpr int64_t kMaxFlows = int64_t{1} << 25;
// Words of 64 early arrivals that direct collectives in flight may need (256 MiB).
inline constexpr int64_t kMaxEarlyWords = int64_t{1} << 25;
// Steps of scripted collectives in flight, over their ranks and chunks (128 MiB).
inline constexpr int64_t kMaxScriptSteps = int64_t{1} << 25;
// Simulated time ends here (about 26 days), so that sums of a few delays stay in int64.
inline constexpr int64_t kHorizonPs = int64_t{1} << 61;
// One delay: a longer one is cut to it, and so ends the run at the horizon.
inline constexpr int64_t kMaxDelayPs = kHorizonPs;
// Events between two looks at the observer: a few hundred microseconds.
inline constexpr int64_t kEventsPerLook = 4096;
// Bytes of one system description: they are hand-written, small files.
inline constexpr int64_t kMaxSystemFileBytes = int64_t{1} << 20;
// Steps of a critical path that a result lists: a page to scroll through, and 24 bytes each.
inline constexpr size_t kMaxCriticalSteps = 100'000;
// Answers of collectives that are kept for the next equal one, in members (16 bytes each).
inline constexpr int64_t kMaxKeptAnswers = int64_t{1} << 22;
// Of a YAML file, aliases expanded: values (90 bytes each and their text), nesting, keys of one
// map. Our format has five levels; a file may list as many links as fit into its bytes.
inline constexpr int64_t kMaxYamlNodes = int64_t{1} << 18;
inline constexpr int64_t kMaxYamlDepth = 16;
inline constexpr int64_t kMaxYamlKeys = 256;
// Links and ranges of NPUs that differ from the rest; each is looked at once a path.
inline constexpr int64_t kMaxOverrides = int64_t{1} << 16;
// Faults of a system description that one message lists; it counts the others.
inline constexpr int64_t kMaxFaultsListed = 64;
// Directed links of a system on the link back end (about 50 bytes each: 1.6 GB). A torus of 2^20
// NPUs has 6 million; fully connected ones have one a pair, 4,096 NPUs 17 million.
inline constexpr int64_t kMaxLinks = int64_t{1} << 25;
// Places times steps of a ring whose ports and starts all differ, which is walked place by place:
// about half a minute.
inline constexpr int64_t kMaxRingWork = int64_t{1} << 36;
// Lines of detail in a message about a run that cannot finish.
inline constexpr int kWaitsListed = 10;

}  // namespace chakrad

#endif  // CHAKRAD_SIM_LIMITS_H_
