// The job families of /metrics: the newest trace of each key, and the newest simulation of each
// key and variant.
//
// A record is rendered once, when it arrives; a scrape joins the pieces family by family. At most
// `lines` keys (a key's simulations count one a variant) are shown: of more, those that came
// first stay, and the others are counted. Of a key's variants the kMaxVariantsShown newest are
// shown, so that a sweep of simulations leaves room for jobs. A key whose record arrived
// `expiry_ms` ago is no longer shown; the store of series keeps it.
#ifndef CHAKRAD_SERVER_SERIES_LATEST_SERIES_H_
#define CHAKRAD_SERVER_SERIES_LATEST_SERIES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "analysis/metrics/metric_families.h"
#include "common/mutex.h"
#include "storage/series_store.h"

namespace chakrad {

// Thread-safe. Memory: 1 KB a key with 35 samples.
class LatestSeries {
 public:
  LatestSeries(size_t lines, int64_t expiry_ms) : lines_(lines), expiry_ms_(expiry_ms) {}

  // Shows the record in place of an older one of its key and variant. `samples` are those of
  // record.samples. False: --metric_keys are shown, and there is no place for its key.
  bool Put(const SeriesRecord& record, std::vector<MetricSample> samples, int64_t now_ms);

  // Hands the text over in pieces of about 64 KiB until `write` returns false. Others go on
  // meanwhile, however slow it is.
  void WriteText(int64_t now_ms, const std::function<bool(absl::string_view)>& write);

  // Keys that are shown.
  size_t size(int64_t now_ms);

 private:
  struct Line;
  using LineKey = std::pair<SeriesKey, std::string>;

  bool IsExpired(const Line& line, int64_t now_ms) const;
  // Makes place among the variants of a key for one of that time. False: there is none.
  bool HasPlace(const SeriesKey& key, int64_t time_unix_ms) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DropExpired(int64_t now_ms) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t lines_;
  const int64_t expiry_ms_;
  Mutex mutex_;
  std::map<LineKey, std::shared_ptr<const Line>> by_key_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_SERIES_LATEST_SERIES_H_
