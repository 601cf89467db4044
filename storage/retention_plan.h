// Which traces stay and which go: a pure function of policies, cards and time.
// docs/retention.md explains the rules to users, with examples.
#ifndef CHAKRAD_STORAGE_RETENTION_PLAN_H_
#define CHAKRAD_STORAGE_RETENTION_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/trace_card.h"
#include "storage/trace_filter.h"

namespace chakrad {

// Traces for which `filter` holds, in groups by the values of the labels `group_by` (one
// without the label is in the group of ""). In each group a trace is kept that any of the
// keep rules keeps; the others go. max_bytes then bounds what the rules kept: the oldest go
// until the stored bytes (before sharing) are at most that.
//
// A policy with max_bytes and no keep rule is a quota. It keeps nothing that another policy
// lets go, and bounds what all the others leave.
struct RetentionPolicy {
  std::string name;
  TraceFilter filter;
  std::vector<std::string> group_by;
  int64_t keep_newest = 0;          // So many.
  int64_t keep_for_ns = 0;          // Those younger than this.
  bool keep_one_a_day = false;      // The newest of each day (UTC) of storing.
  int64_t keep_representative = 0;  // So many, by breakdown; those without one are not kept by it.
  int64_t max_bytes = 0;            // 0: no bound.

  bool has_keep_rule() const {
    return keep_newest > 0 || keep_for_ns > 0 || keep_one_a_day || keep_representative > 0;
  }
};

// Age is the time since a trace was stored, up to the later of the clock and the newest
// trace: a clock that went back makes nothing younger. One that is far ahead (or the trace
// that was stored while it was) would make everything old at once; so where that time is more
// than kMaxRetentionStepNs later than the last time that is trusted, traces that nothing but
// their age lets go are *held*: they stay, and the plan says so. Every run whose time was
// trusted makes it the last such time, as does setting the first policies; a person can also
// say that the clock is right.
inline constexpr int64_t kMaxRetentionStepNs = int64_t{7} * 24 * 3600 * 1'000'000'000;

struct RetentionTime {
  int64_t clock_unix_ns = 0;
  std::optional<int64_t> trusted_unix_ns;  // None: whatever the clock says is right.
};

struct RetentionDecision {
  std::shared_ptr<const TraceCard> card;
  bool goes = false;
  bool held = false;   // Stays only because time is not trusted.
  std::string reason;  // "policy weekly: not among the newest 7 of job=llama"
};

struct RetentionPlan {
  // One a card, in the order of the cards (newest first).
  std::vector<RetentionDecision> decisions;
  int64_t now_unix_ns = 0;  // That ages were measured by.
  int64_t held_count = 0;
  std::string held_because;  // What is wrong with the time; empty when it is trusted.
};

// Indices of `k` points that represent all best; analysis/representative.h.
using ChooseRepresentativesFn =
    std::function<std::vector<size_t>(const std::vector<TraceBreakdown>& points, size_t k)>;

// Decides every card once. A trace goes when at least one policy's filter holds for it, no
// policy with keep rules keeps it, or a quota drops it; never when it is pinned or damaged.
// Pinned traces count in their groups (as one of the newest, in bytes) and damaged ones do not:
// what is known of them may be wrong. Leases are not looked at: TraceStore::Delete refuses.
//
// Deterministic. O(policies x cards x log cards), and what `choose` takes. Thread-safe.
RetentionPlan PlanRetention(const std::vector<RetentionPolicy>& policies, const TraceCards& cards,
                            const RetentionTime& time, const ChooseRepresentativesFn& choose);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_RETENTION_PLAN_H_
