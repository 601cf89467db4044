// Small traces and systems for tests.
#ifndef CHAKRAD_SIM_TEST_TRACES_H_
#define CHAKRAD_SIM_TEST_TRACES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "sim/simulate.h"
#include "sim/system/system_description.h"
#include "trace/model/rank_trace_builder.h"
#include "trace/model/trace.h"

namespace chakrad {

// Builds a trace node by node. All durations in ns; ids are unique in a rank; `deps` are
// ids. Group 0 is the world.
class TraceMaker {
 public:
  explicit TraceMaker(int32_t world_size);

  uint32_t AddGroup(const std::string& name, std::vector<int32_t> ranks);
  void Comp(int32_t rank, uint64_t id, int64_t work_ns, std::vector<uint64_t> deps = {});
  void HostComp(int32_t rank, uint64_t id, int64_t work_ns, std::vector<uint64_t> deps = {});
  void Collective(int32_t rank, uint64_t id, CollectiveType type, int64_t bytes,
                  uint32_t group = kWorldGroup, std::vector<uint64_t> deps = {});
  void Send(int32_t rank, uint64_t id, int32_t to, int64_t bytes, int64_t tag = 0,
            std::vector<uint64_t> deps = {});
  void Receive(int32_t rank, uint64_t id, int32_t from, int64_t bytes, int64_t tag = 0,
               std::vector<uint64_t> deps = {});
  // Anything else; its communication attributes or work size by pointer.
  void Add(int32_t rank, const NodeSpec& spec, std::vector<uint64_t> deps = {});
  // The same collective on every rank, with the same id.
  void OnAll(uint64_t id, CollectiveType type, int64_t bytes, std::vector<uint64_t> deps = {});

  // The trace; `without`: ranks that are left out of it. Call once.
  Trace Make(const std::vector<int32_t>& without = {});

 private:
  Trace trace_;
  std::vector<RankTraceBuilder> builders_;
};

// `dims`: bandwidths in ASTRA-sim's GB/s (2^30 bytes). Ring everywhere, 1 chunk
// at a time, 1 split, endpoint delay 10 ns, local memory so fast that reductions are free.
SystemDescription TestSystem(std::vector<NetworkDim> dims);
// The same algorithm for every collective on every dimension.
void SetAlgorithm(SystemDescription* system, AlgorithmChoice choice);

// Keeps what it sees.
struct RecordingObserver : SimObserver {
  void OnInterval(const TimelineInterval& interval) override { intervals.push_back(interval); }
  void OnProgress(const SimProgress& seen) override { progress.push_back(seen); }
  bool Cancelled() override { return cancel; }
  std::vector<TimelineInterval> intervals;
  std::vector<SimProgress> progress;
  bool cancel = false;
};

// End of each rank in ns; a failed run fails the test and gives {}.
std::vector<int64_t> EndsNs(const Trace& trace, const SystemDescription& system);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_TEST_TRACES_H_
