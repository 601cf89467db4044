// What each trace and each finished simulation says to dashboards, kept for as long as
// dashboards look back, which is longer than traces are. One record a source, numbered in the
// order in which they were added: the records behind a receiver's mark are its outbox.
// docs/storage_format.md lists keys and values (family `series`).
#ifndef CHAKRAD_STORAGE_SERIES_STORE_H_
#define CHAKRAD_STORAGE_SERIES_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "storage/kv.h"

namespace chakrad {

// Whose series: values of kJobLabels (analysis/metrics/metric_families.h).
struct SeriesKey {
  std::string cluster;
  std::string job;
  std::string model;
  std::string rank_group;
  friend bool operator==(const SeriesKey&, const SeriesKey&) = default;
  friend auto operator<=>(const SeriesKey&, const SeriesKey&) = default;
};

struct SeriesRecord {
  int64_t sequence = 0;      // From 1, ascending without gaps when added. Set by Append.
  int64_t time_unix_ms = 0;  // Of every sample: the source's own time. No two records of a key
                             // and kind share it: Append moves a later one on by milliseconds.
  std::string source;        // "traces/{id}" or "jobs/{id}"; one record each.
  SeriesKey key;
  std::string variant;        // Of a simulation, else empty.
  int64_t added_unix_ms = 0;  // When the daemon got to know it; its owner's word.
  std::string samples;        // Serialised by the owner; the store does not look inside.
  friend bool operator==(const SeriesRecord&, const SeriesRecord&) = default;
};

// Thread-safe; one caller appends. DATA_LOSS: a stored record is damaged; scans skip it and go on.
class SeriesStore {
 public:
  virtual ~SeriesStore() = default;

  // Adds the records that have a source the store does not have yet, and sets the named cursor:
  // all of it or nothing, durably. Returns how many were new.
  virtual absl::StatusOr<int64_t> Append(std::vector<SeriesRecord> records,
                                         absl::string_view cursor_name,
                                         absl::string_view cursor_value) = 0;
  // How far somebody has come: "" when never set. For the reader of traces, a creation time; for
  // a receiver, the sequence of the last record that it has.
  virtual absl::StatusOr<std::string> GetCursor(absl::string_view name) = 0;
  virtual absl::Status SetCursor(absl::string_view name, absl::string_view value) = 0;

  // Records with sequence > `after`, ascending, until `visit` returns false. Adds to `damaged`,
  // if there is one, how many were passed over because they cannot be read.
  virtual absl::Status Scan(int64_t after, const std::function<bool(const SeriesRecord&)>& visit,
                            int64_t* damaged = nullptr) = 0;
  // The newest record (by time) of every key and variant, as of traces and of simulations: what a
  // restarted daemon shows.
  virtual absl::Status ScanLatest(const std::function<bool(const SeriesRecord&)>& visit) = 0;
  // The newest record of this key and variant that is no later than a time (a point on a dashboard
  // stands at the end of its step), else the first one; traces' when `variant` is empty.
  // NOT_FOUND: there is none.
  virtual absl::StatusOr<SeriesRecord> FindNear(const SeriesKey& key, absl::string_view variant,
                                                int64_t time_unix_ms) = 0;

  virtual int64_t last_sequence() = 0;
  // Removes records older than `time_unix_ms` whose sequence is at most `sequence`, but for the
  // latest of each key. Returns how many.
  virtual absl::StatusOr<int64_t> Prune(int64_t time_unix_ms, int64_t sequence) = 0;
};

// Reads how far the numbers have come. Records with names, times or samples beyond the store's
// limits are INVALID_ARGUMENT in Append, which adds nothing then.
absl::StatusOr<std::unique_ptr<SeriesStore>> NewSeriesStore(std::shared_ptr<Kv> kv);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_SERIES_STORE_H_
