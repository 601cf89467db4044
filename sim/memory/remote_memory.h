// Memory nodes (MEM_LOAD, MEM_STORE) on a described remote memory: how long an access takes,
// and who waits for whom.
#ifndef CHAKRAD_SIM_MEMORY_REMOTE_MEMORY_H_
#define CHAKRAD_SIM_MEMORY_REMOTE_MEMORY_H_

#include <cstdint>
#include <vector>

#include "sim/system/system_description.h"

namespace chakrad {

// An access takes latency + bytes / bandwidth: astra, each of the two cut to a nanosecond, as in
// ASTRA-sim; physical, the sum to the nearest picosecond. kPerNpu: accesses never wait.
// kPerNode, kPool: one access at a time of the node's NPUs (of all NPUs), in the order in which
// they are asked for, each for all of its time.
// Not thread-safe: belongs to one run. O(1) an access; 8 bytes a memory that is shared.
class RemoteMemoryQueue {
 public:
  // `memory.kind` is not kNone: such nodes take their recorded durations. `ranks_count` NPUs;
  // rank r is NPU r.
  RemoteMemoryQueue(Semantics semantics, const RemoteMemory& memory, int32_t ranks_count);

  // When an access of `rank` to `bytes` >= 0 (WorkSize::tensor_bytes), asked for at `now_ps`,
  // ends; at most kHorizonPs. Calls come in order of `now_ps`, those at one time in the order that
  // is to decide.
  int64_t Access(int64_t now_ps, int32_t rank, int64_t bytes);

  // The memory of rank `to` is as busy as that of `from`, which stood for both. Nothing to do where
  // ranks share.
  void CopyBusy(int32_t from, int32_t to);

  // What an access takes when nobody is in its way.
  int64_t AccessPs(int64_t bytes) const;
  // Whether one rank's access may make another rank wait.
  bool IsShared() const;

 private:
  Semantics semantics_;
  RemoteMemory memory_;
  std::vector<int64_t> free_at_ps_;  // By memory that is shared.
  int64_t now_ps_ = 0;
};

}  // namespace chakrad

#endif  // CHAKRAD_SIM_MEMORY_REMOTE_MEMORY_H_
