// Sends and receives that match: by group, sender, receiver, tag and size; within
// equal ones, the k-th send issued meets the k-th receive issued.
#ifndef CHAKRAD_SIM_WORKLOAD_CHANNELS_H_
#define CHAKRAD_SIM_WORKLOAD_CHANNELS_H_

#include <cstdint>
#include <vector>

#include "common/status.h"
#include "sim/workload/cast.h"
#include "trace/model/trace.h"

namespace chakrad {

// A send or receive that has been issued.
struct PostedHalf {
  uint32_t node = 0;
  int64_t start_ps = 0;
};

struct Channel {
  int32_t src = 0;
  int32_t dst = 0;
  int64_t tag = 0;
  int64_t bytes = 0;
  int64_t arrived_count = 0;         // Messages that have arrived.
  std::vector<PostedHalf> sends;     // In order of issue,
  std::vector<PostedHalf> receives;  // as these.
};

struct Channels {
  std::vector<Channel> all;  // By (group, src, dst, tag, bytes).
  // [rank][RankTrace::side of a send or receive]: its channel. Empty for other entries'
  // ranks: those without sends and receives.
  std::vector<std::vector<uint32_t>> channel_of;
};

// FAILED_PRECONDITION when some
// channel has not as many sends as receives: the message pairs up what looks meant for
// each other (same ends, other size or tag) and names both nodes.
// O(k log k) for k sends and receives.
absl::StatusOr<Channels> BuildChannels(const Trace& trace, const Cast& cast);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_WORKLOAD_CHANNELS_H_
