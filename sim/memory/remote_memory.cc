#include "sim/memory/remote_memory.h"

#include <algorithm>

#include "common/check.h"
#include "sim/engine/semantics.h"

namespace chakrad {

RemoteMemoryQueue::RemoteMemoryQueue(Semantics semantics, const RemoteMemory& memory,
                                     int32_t ranks_count)
    : semantics_(semantics), memory_(memory) {
  CHECK(memory.kind != RemoteMemory::Kind::kNone) << "no remote memory is described";
  CHECK(memory.npus_per_node >= 1) << memory.npus_per_node;
  if (memory.kind == RemoteMemory::Kind::kPool) free_at_ps_.assign(1, 0);
  if (memory.kind == RemoteMemory::Kind::kPerNode) {
    free_at_ps_.assign(static_cast<size_t>((ranks_count - 1) / memory.npus_per_node + 1), 0);
  }
}

int64_t RemoteMemoryQueue::AccessPs(int64_t bytes) const {
  const double transfer_ns = static_cast<double>(bytes) / memory_.bytes_per_ns;
  if (semantics_ == Semantics::kPhysical) {
    return RoundDelayPs(semantics_, memory_.latency_ns + transfer_ns);
  }
  return std::min(kMaxDelayPs, RoundDelayPs(semantics_, memory_.latency_ns) +
                                   RoundDelayPs(semantics_, transfer_ns));
}

int64_t RemoteMemoryQueue::Access(int64_t now_ps, int32_t rank, int64_t bytes) {
  CHECK(now_ps >= now_ps_) << now_ps << " comes before " << now_ps_;
  now_ps_ = now_ps;
  const int64_t takes_ps = AccessPs(bytes);
  if (free_at_ps_.empty()) return std::min(kHorizonPs, now_ps + takes_ps);
  const bool pool = memory_.kind == RemoteMemory::Kind::kPool;
  int64_t& free_at_ps = free_at_ps_[pool ? 0 : static_cast<size_t>(rank / memory_.npus_per_node)];
  free_at_ps = std::min(kHorizonPs, std::max(now_ps, free_at_ps) + takes_ps);
  return free_at_ps;
}

void RemoteMemoryQueue::CopyBusy(int32_t from, int32_t to) {
  if (!free_at_ps_.empty() && !IsShared()) free_at_ps_[to] = free_at_ps_[from];
}

bool RemoteMemoryQueue::IsShared() const {
  return memory_.kind == RemoteMemory::Kind::kPool ||
         (memory_.kind == RemoteMemory::Kind::kPerNode && memory_.npus_per_node > 1);
}

}  // namespace chakrad
