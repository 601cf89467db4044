// What is to go to a receiver next: pure parts of the remote writer, over the store of series.
#ifndef CHAKRAD_SERVER_REMOTE_WRITE_OUTBOX_H_
#define CHAKRAD_SERVER_REMOTE_WRITE_OUTBOX_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "server/remote_write/write_request.h"
#include "storage/series_store.h"

namespace chakrad {

struct OutboxBatch {
  std::vector<WriteItem> items;    // By time.
  int64_t last_sequence = 0;       // Once they are through, the receiver's cursor.
  int64_t unreadable_records = 0;  // Damaged.
  int64_t unreadable_samples = 0;  // Of a newer version: see DecodeSamples.
};

// The next records behind `after`, until there are `max_samples` samples or `max_bytes` stored
// bytes; at least one record. Nothing left: last_sequence is `after`. Damaged records are counted
// and passed, the last ones too.
absl::StatusOr<OutboxBatch> ReadOutbox(SeriesStore* store, int64_t after, int64_t max_samples,
                                       int64_t max_bytes);

// Which times a receiver takes.
struct TimeWindow {
  // The receiver's out-of-order window; 0: it takes any age.
  int64_t max_age_ms = 0;
  // Clocks differ; and what is further ahead would shift the receiver's window.
  int64_t max_ahead_ms = 10 * 60'000;
};

// A window's age counts from the newest sample that the receiver has, which may be max_ahead_ms
// from now, and some time passes on the way: so the last kAgeMarginMs of it are not used, or a
// quarter of a short window.
inline constexpr int64_t kAgeMarginMs = 15 * 60'000;

struct OutsideWindow {
  int64_t too_old_samples = 0;
  int64_t ahead_samples = 0;
  // Ahead, and stay: the daemon knew them at a time that is ahead as well, so that it is the
  // clock that cannot be right (a machine that woke up in 1970), and not the recorder's.
  int64_t doubtful_samples = 0;
};
// Removes what lies outside as of now, and counts it. Without `keep_doubtful`, those count as
// ahead.
OutsideWindow RemoveOutside(const TimeWindow& window, int64_t now_unix_ms, bool keep_doubtful,
                            std::vector<WriteItem>* items);

// Cuts a batch that was refused in two, by time: first half, second half; a single item by its
// samples. An item with one sample stays whole, and the second part is then empty.
void Halve(std::vector<WriteItem> items, std::vector<WriteItem>* first,
           std::vector<WriteItem>* second);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_REMOTE_WRITE_OUTBOX_H_
