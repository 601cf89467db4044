// One port or link, which sends one message at a time in the order in which they come to it,
// and the token buckets that may slow it down.
//
// The bucket of a port holds at most `burst_bytes` tokens, is full at first, and gains
// `bytes_per_ns` tokens a nanosecond. A byte that leaves takes one token; bytes leave as fast as
// the link lets them while there are tokens, then as fast as tokens come. So a message of m bytes
// whose first byte leaves at x, with T(x) tokens there, has left at
//     x + max(m / link rate, (m - T(x)) / bucket rate).
// In whole picoseconds: the state of a bucket is `full_ps`, when it will be full again; a message
// costs c = round(m / bucket rate), a burst is worth b = round(burst_bytes / bucket rate), and
//     full_ps := max(x, full_ps) + c      left at := max(x + round(m / link rate), full_ps - b).
// (b is at most kMaxDelayPs: a burst of more than 26 days of its bucket's rate is cut to that.)
#ifndef CHAKRAD_SIM_NETWORK_SENDER_H_
#define CHAKRAD_SIM_NETWORK_SENDER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/engine/semantics.h"
#include "sim/limits.h"
#include "sim/network/links.h"
#include "sim/network/network.h"
#include "sim/system/system_description.h"

namespace chakrad {

struct Sender {
  int64_t free_ps = 0;  // When what it has taken on has left.
  int64_t messages_count = 0;
  int64_t busy_ps = 0;
  int64_t queue_ps = 0;
  double bytes = 0;

  // When a message that comes at `at_ps` begins.
  int64_t BeginPs(int64_t at_ps) const { return std::max(at_ps, free_ps); }
  // That message, of `size` bytes, will have left at `left_ps`, within the horizon.
  void Take(int64_t at_ps, int64_t begin_ps, int64_t left_ps, double size) {
    ++messages_count;
    bytes += size;
    queue_ps += begin_ps - at_ps;
    busy_ps += left_ps - begin_ps;
    free_ps = left_ps;
  }
};

// Of those that carried anything, by (dim, src, dst). `senders`: by number of link.
std::vector<LinkUse> UsesOf(const Links& links, const std::vector<Sender>& senders);

// `delay_ps` after `at_ps`, but not past the horizon; each is at most kHorizonPs.
inline int64_t LaterPs(int64_t at_ps, int64_t delay_ps) {
  return std::min(kHorizonPs, at_ps + delay_ps);
}

// The buckets of all ports of a system. Nothing is kept where no dimension has one.
class TokenBuckets {
 public:
  // `ports_count`: ports are numbered from 0 on.
  TokenBuckets(const SystemDescription& system, size_t ports_count) {
    for (const NetworkDim& dim : system.dims) {
      Rule rule;
      if (dim.bucket.bytes_per_ns > 0) {
        any_ = true;
        rule.bytes_per_ns = dim.bucket.bytes_per_ns;
        rule.burst_ps =
            RoundDelayPs(Semantics::kPhysical, dim.bucket.burst_bytes / dim.bucket.bytes_per_ns);
      }
      rules_.push_back(rule);
    }
    if (any_) full_ps_.assign(ports_count, 0);
  }

  // A message's first byte leaves `port`, of dimension `dim`, at `first_ps`: when tokens let its
  // last one go; at most the horizon. Takes the tokens.
  int64_t LastPs(int dim, size_t port, int64_t first_ps, double bytes) {
    if (!any_ || rules_[dim].bytes_per_ns == 0) return 0;
    const int64_t cost_ps = RoundDelayPs(Semantics::kPhysical, bytes / rules_[dim].bytes_per_ns);
    // A burst past the horizon, so that what leaves is not early where only that is cut.
    const int64_t burst_ps = rules_[dim].burst_ps;
    int64_t& full_ps = full_ps_[port];
    full_ps = std::min(std::max(first_ps, full_ps) + cost_ps, kHorizonPs + burst_ps);
    return full_ps - burst_ps;
  }

 private:
  struct Rule {
    double bytes_per_ns = 0;  // 0: none.
    int64_t burst_ps = 0;
  };
  bool any_ = false;
  std::vector<Rule> rules_;  // By dimension.
  std::vector<int64_t> full_ps_;
};

}  // namespace chakrad

#endif  // CHAKRAD_SIM_NETWORK_SENDER_H_
