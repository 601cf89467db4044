#include "server/remote_write/outbox.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/status.h"
#include "server/series/sample_codec.h"

namespace chakrad {

absl::StatusOr<OutboxBatch> ReadOutbox(SeriesStore* store, int64_t after, int64_t max_samples,
                                       int64_t max_bytes) {
  OutboxBatch batch;
  batch.last_sequence = after;
  const int64_t newest = store->last_sequence();
  int64_t samples_count = 0;
  int64_t bytes = 0;
  bool full = false;
  const auto take = [&](const SeriesRecord& record) {
    batch.last_sequence = record.sequence;
    bytes += static_cast<int64_t>(record.samples.size());
    auto samples = DecodeSamples(record.samples, &batch.unreadable_samples);
    if (!samples.ok()) {
      ++batch.unreadable_records;
    } else if (!samples->empty()) {
      samples_count += static_cast<int64_t>(samples->size());
      batch.items.push_back(
          {record.time_unix_ms, record.key, *std::move(samples), record.added_unix_ms});
    }
    full = samples_count >= max_samples || bytes >= max_bytes;
    return !full;
  };
  RETURN_IF_ERROR(store->Scan(after, take, &batch.unreadable_records));
  // Else damage at the very end would be met again and again.
  if (!full) batch.last_sequence = std::max(batch.last_sequence, newest);
  std::stable_sort(
      batch.items.begin(), batch.items.end(),
      [](const WriteItem& a, const WriteItem& b) { return a.time_unix_ms < b.time_unix_ms; });
  return batch;
}

OutsideWindow RemoveOutside(const TimeWindow& window, int64_t now_unix_ms, bool keep_doubtful,
                            std::vector<WriteItem>* items) {
  const int64_t margin_ms = std::min(kAgeMarginMs, window.max_age_ms / 4);
  const int64_t oldest_ms = now_unix_ms - (window.max_age_ms - margin_ms);
  const int64_t newest_ms = now_unix_ms + window.max_ahead_ms;
  OutsideWindow outside;
  std::erase_if(*items, [&](const WriteItem& item) {
    const auto count = static_cast<int64_t>(item.samples.size());
    if (window.max_age_ms > 0 && item.time_unix_ms < oldest_ms) {
      outside.too_old_samples += count;
      return true;
    }
    if (item.time_unix_ms > newest_ms && item.added_unix_ms > newest_ms && keep_doubtful) {
      outside.doubtful_samples += count;
      return false;
    }
    if (item.time_unix_ms > newest_ms) {
      outside.ahead_samples += count;
      return true;
    }
    return false;
  });
  return outside;
}

void Halve(std::vector<WriteItem> items, std::vector<WriteItem>* first,
           std::vector<WriteItem>* second) {
  first->clear();
  second->clear();
  if (items.size() == 1) {
    WriteItem& item = items[0];
    const auto half = static_cast<std::ptrdiff_t>((item.samples.size() + 1) / 2);
    WriteItem rest{item.time_unix_ms, item.key, {}, item.added_unix_ms};
    rest.samples.assign(std::make_move_iterator(item.samples.begin() + half),
                        std::make_move_iterator(item.samples.end()));
    item.samples.resize(static_cast<size_t>(half));
    if (!rest.samples.empty()) second->push_back(std::move(rest));
    *first = std::move(items);
    return;
  }
  const auto half = static_cast<std::ptrdiff_t>((items.size() + 1) / 2);
  second->assign(std::make_move_iterator(items.begin() + half),
                 std::make_move_iterator(items.end()));
  items.resize(static_cast<size_t>(half));
  *first = std::move(items);
}

}  // namespace chakrad
