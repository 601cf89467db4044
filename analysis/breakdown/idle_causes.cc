#include "analysis/breakdown/idle_causes.h"

#include <algorithm>
#include <limits>

namespace chakrad {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::min();

bool IsHostWork(const RankTrace& trace, uint32_t node) {
  return trace.is_host(node) && !IsComm(trace.type[node]);
}

}  // namespace

void IdleCauses::Prepare() {
  prepared_ = true;
  times_ = NodeTimesOf(rank_);
  const RankTrace& trace = *rank_.trace;
  host_waited_for_.assign(trace.size(), false);
  for (uint32_t node = 0; node < trace.size(); ++node) {
    if (!IsHostWork(trace, node)) continue;
    bool waited = false;
    for (uint32_t j = trace.dep_begin[node]; j < trace.dep_begin[node + 1]; ++j) {
      if (trace.dep_kind[j] != EdgeKind::kSync || IsHostWork(trace, trace.dep_node[j])) continue;
      host_waited_for_[trace.dep_node[j]] = true;
      waited = true;
    }
    if (waited && times_.end_ps[node] > times_.start_ps[node]) {
      out_of_sync_.emplace_back(trace.queue[node], times_.start_ps[node]);
    }
  }
  std::sort(out_of_sync_.begin(), out_of_sync_.end());
}

// The hot columns do not tell when in `host` the call was made: at the latest when it ended. An
// operation that then waited for what it launched (aten::item) did so in no time.
int64_t IdleCauses::LaunchedAt(uint32_t host, uint32_t next, int64_t start_ps,
                               int64_t end_ps) const {
  const int64_t begun_ps = times_.start_ps[host], done_ps = times_.end_ps[host];
  if (done_ps <= begun_ps) return start_ps;  // Before the part that is looked at, or untimed.
  const bool waited_inside = host_waited_for_[next] && done_ps >= times_.end_ps[next];
  return std::clamp(waited_inside ? begun_ps : done_ps, start_ps, end_ps);
}

int64_t IdleCauses::OutOfSyncAt(uint16_t thread, int64_t start_ps, int64_t launched_ps) const {
  const auto after = std::upper_bound(out_of_sync_.begin(), out_of_sync_.end(),
                                      std::make_pair(thread, launched_ps));
  if (after == out_of_sync_.begin()) return start_ps;
  const auto& [queue, at_ps] = *(after - 1);
  return queue == thread ? std::max(at_ps, start_ps) : start_ps;
}

GapCauses IdleCauses::Before(uint32_t next, int64_t start_ps, int64_t end_ps) {
  if (!prepared_) Prepare();
  const RankTrace& trace = *rank_.trace;
  const bool host_is_next = IsHostWork(trace, next);
  bool launched = false;
  int64_t launched_ps = start_ps;
  uint16_t thread = 0;
  int64_t queue_free_ps = kNever, synced_ps = kNever;  // Ends of the last of each.
  for (uint32_t j = trace.dep_begin[next]; j < trace.dep_begin[next + 1]; ++j) {
    const uint32_t dep = trace.dep_node[j];
    if ((trace.flags[dep] & RankTrace::kAnnotation) != 0) continue;
    const EdgeKind kind = trace.dep_kind[j];
    const bool dep_is_host = IsHostWork(trace, dep);
    if (kind == EdgeKind::kSync || (!dep_is_host && trace.queue[dep] != trace.queue[next])) {
      synced_ps = std::max(synced_ps, times_.end_ps[dep]);
    } else if (!host_is_next && dep_is_host) {
      const int64_t at_ps = LaunchedAt(dep, next, start_ps, end_ps);
      if (!launched || at_ps > launched_ps) thread = trace.queue[dep];
      launched_ps = std::max(launched_ps, at_ps);
      launched = true;
    } else {
      queue_free_ps = std::max(queue_free_ps, times_.end_ps[dep]);
    }
  }
  GapCauses causes;
  const int64_t out_of_sync_ps = launched ? OutOfSyncAt(thread, start_ps, launched_ps) : start_ps;
  causes.sync_ps = out_of_sync_ps - start_ps;
  causes.host_bound_ps = launched_ps - out_of_sync_ps;
  // Everything that it waited for on the device has ended before the gap: the last of it tells
  // whose latency this is, and what is longer than any latency has a reason that was not recorded.
  const int64_t rest_ps = end_ps - launched_ps;
  const int64_t latency_ps = std::min(rest_ps, kMaxLatencyPs);
  if (synced_ps > queue_free_ps) {
    causes.sync_ps += latency_ps;
  } else if (launched) {
    causes.kernel_wait_ps += latency_ps;
  } else {
    (host_is_next ? causes.host_bound_ps : causes.other_ps) += latency_ps;
  }
  (host_is_next ? causes.host_bound_ps : causes.other_ps) += rest_ps - latency_ps;
  return causes;
}

}  // namespace chakrad
