// Where traces live. A trace becomes visible at once and whole, or not at all:
// its columns are written first as content-hashed chunks, which nobody sees;
// one small, synced manifest record then makes it exist. Equal chunks are
// stored once. docs/storage_format.md lists every key and value.
#ifndef CHAKRAD_STORAGE_TRACE_STORE_H_
#define CHAKRAD_STORAGE_TRACE_STORE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/check/report.h"
#include "trace/model/ledger.h"
#include "trace/model/trace.h"
#include "trace/model/trace_summary.h"

namespace chakrad {

// What is known of a stored trace without reading its columns.
struct TraceInfo {
  std::string id;
  std::map<std::string, std::string> labels;
  int64_t create_unix_ns = 0;
  int32_t world_size = 0;
  std::vector<RankSummary> ranks;
  std::vector<ProcessGroup> groups;
  std::vector<Ledger> ledgers;
  std::vector<std::string> notices;
  CheckReport check;         // What the conformance suite found when it was stored.
  int64_t stored_bytes = 0;  // Of its chunks, compressed, before sharing. Set by Put.
};

struct TracePage {
  std::vector<TraceInfo> traces;
  std::string next_page_token;  // Empty on the last page.
};

struct TraceListOptions {
  int page_size = 50;      // At least 1.
  std::string page_token;  // From the page before; opaque. INVALID_ARGUMENT when it is not ours.
  // Null: all. Called without any lock held.
  std::function<bool(const TraceInfo&)> matches;
};

struct TraceLoadOptions {
  bool cold = false;           // Also the cold blocks (attributes, argument texts).
  std::vector<int32_t> ranks;  // Empty: all. NOT_FOUND names a rank that is not there.
};

// Thread-safe. NOT_FOUND: unknown id. DATA_LOSS: stored bytes fail their hash
// or do not decode; other traces are not affected. RESOURCE_EXHAUSTED: the disk
// is full. Every other failure of the engine is UNAVAILABLE or INTERNAL.
class TraceStore {
 public:
  virtual ~TraceStore() = default;

  // Stores `trace` under info.id, durably (survives kill -9 and power loss) when
  // it returns OK. ALREADY_EXISTS when the id is taken. `info.ranks`, `groups`
  // and `stored_bytes` are filled in here from the trace.
  virtual absl::Status Put(const Trace& trace, TraceInfo info) = 0;
  virtual absl::StatusOr<TraceInfo> GetInfo(absl::string_view id) = 0;
  // Newest first (create_unix_ns, then id). The token names a position, so pages
  // neither repeat nor skip a trace while others come and go.
  virtual absl::StatusOr<TracePage> List(const TraceListOptions& options) = 0;
  // The trace with labels, groups and the asked ranks.
  virtual absl::StatusOr<Trace> Load(absl::string_view id, const TraceLoadOptions& options) = 0;
  // Removes the manifest, and every chunk that no other trace uses.
  virtual absl::Status Delete(absl::string_view id) = 0;
  // Removes chunks that no manifest uses, as an interrupted Put leaves them.
  // Returns how many. Run at start-up, before the first Put.
  virtual absl::StatusOr<int64_t> SweepOrphans() = 0;
  // Bytes of all chunks, shared ones once.
  virtual absl::StatusOr<int64_t> TotalBytes() = 0;
};

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_TRACE_STORE_H_
