// What searches, lists and retention know of every stored trace: one small record
// each, all of them in memory. A hundred thousand take about 100 MB at most.
#ifndef CHAKRAD_STORAGE_TRACE_CARD_H_
#define CHAKRAD_STORAGE_TRACE_CARD_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trace/model/trace_breakdown.h"

namespace chakrad {

// The label that says whom a trace belongs to; limits are by its value. Absent: "".
inline constexpr char kTenantLabel[] = "tenant";

struct TraceCard {
  std::string id;
  std::map<std::string, std::string> labels;
  // Strictly ascending in the order in which traces were stored, whatever the
  // clock did meanwhile.
  int64_t create_unix_ns = 0;
  // Of the recording: earliest start and latest end of any rank. 0: no epoch.
  int64_t start_unix_ns = 0;
  int64_t end_unix_ns = 0;
  int64_t span_ns = 0;  // Of the longest rank; 0 without times.
  int32_t world_size = 0;
  int64_t ranks_count = 0;  // Traced ones.
  int64_t nodes_count = 0;
  int64_t stored_bytes = 0;  // Compressed, before sharing.
  double quality = 0;        // CheckReport's, in [0, 1].
  int64_t errors_count = 0;  // Findings of the conformance suite.
  int64_t warnings_count = 0;
  bool pinned = false;
  bool damaged = false;  // Its manifest cannot be read; most fields are empty then.
  std::optional<TraceBreakdown> breakdown;  // None where there are no times.
  std::string content_hash;  // 32 raw bytes, or empty: see TraceStore::FindByContent.
};

// Newest first (create_unix_ns, then id, descending).
using TraceCards = std::vector<std::shared_ptr<const TraceCard>>;

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_TRACE_CARD_H_
