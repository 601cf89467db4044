#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/mutex.h"
#include "common/saturating.h"
#include "common/sha256.h"
#include "common/status.h"
#include "storage/ids.h"
#include "storage/keys.h"
#include "storage/limits.h"
#include "storage/record.h"
#include "storage/record.pb.h"
#include "storage/scan_past_damage.h"
#include "storage/series_store.h"

namespace chakrad {
namespace {

// Family::kSeries; docs/storage_format.md explains them.
constexpr char kRecordPrefix[] = "r";
constexpr char kLatestPrefix[] = "l";
constexpr char kLastKey[] = "n";
std::string RecordKey(int64_t sequence) {
  return absl::StrCat(kRecordPrefix, SortableInt64(sequence));
}
std::string SourceKey(absl::string_view source) { return absl::StrCat("s", source); }
std::string CursorKey(absl::string_view name) { return absl::StrCat("c", name); }
std::string LatestKey(absl::string_view line) { return absl::StrCat(kLatestPrefix, line); }
std::string TimePrefix(absl::string_view line) { return absl::StrCat("t", line); }
std::string TimeKeyOf(absl::string_view line, int64_t time_unix_ms) {
  return absl::StrCat(TimePrefix(line), SortableInt64(time_unix_ms));
}

// One line of a dashboard: a key and a variant, in 16 bytes whatever their length.
std::string LineOf(const SeriesKey& key, absl::string_view variant) {
  std::string text;
  for (const absl::string_view part :
       {absl::string_view(key.cluster), absl::string_view(key.job), absl::string_view(key.model),
        absl::string_view(key.rank_group), variant}) {
    absl::StrAppend(&text, SortableInt64(static_cast<int64_t>(part.size())), part);
  }
  return Sha256Of(text).substr(0, 16);
}

absl::Status CheckRecord(const SeriesRecord& record) {
  RETURN_IF_ERROR(CheckLength("source", record.source, kMaxRequestIdBytes));
  if (record.source.empty()) return absl::InvalidArgumentError("source: must not be empty");
  for (const std::string* text : {&record.key.cluster, &record.key.job, &record.key.model,
                                  &record.key.rank_group, &record.variant}) {
    RETURN_IF_ERROR(CheckLength("label", *text, kMaxSeriesLabelBytes));
  }
  RETURN_IF_ERROR(CheckLength("samples", record.samples, kMaxSeriesSamplesBytes));
  // Room to move on, and no date that a dashboard can show lies beyond.
  constexpr int64_t kFarthestMs = int64_t{1} << 61;
  if (record.time_unix_ms < -kFarthestMs || record.time_unix_ms > kFarthestMs) {
    return absl::InvalidArgumentError(
        absl::StrCat("time_unix_ms: ", record.time_unix_ms, " is no time"));
  }
  return absl::OkStatus();
}

std::string PackEntry(const SeriesRecord& record) {
  storage::SeriesEntry entry;
  entry.set_source(record.source);
  entry.set_time_unix_ms(record.time_unix_ms);
  entry.set_cluster(record.key.cluster);
  entry.set_job(record.key.job);
  entry.set_model(record.key.model);
  entry.set_rank_group(record.key.rank_group);
  entry.set_variant(record.variant);
  entry.set_samples(record.samples);
  entry.set_added_unix_ms(record.added_unix_ms);
  return PackRecord(entry);
}

absl::StatusOr<SeriesRecord> UnpackEntry(int64_t sequence, absl::string_view value) {
  storage::SeriesEntry entry;
  RETURN_IF_ERROR(Annotate(UnpackRecord(value, &entry), absl::StrCat("series record ", sequence)));
  SeriesRecord record;
  record.sequence = sequence;
  record.time_unix_ms = entry.time_unix_ms();
  record.source = entry.source();
  record.key = {entry.cluster(), entry.job(), entry.model(), entry.rank_group()};
  record.variant = entry.variant();
  record.samples = entry.samples();
  record.added_unix_ms = entry.added_unix_ms();
  return record;
}

class SeriesStoreKv : public SeriesStore {
 public:
  explicit SeriesStoreKv(std::shared_ptr<Kv> kv) : kv_(std::move(kv)) {}

  absl::Status Load() {
    MutexLock lock(&mutex_);
    return ReadLast();
  }

  absl::StatusOr<int64_t> Append(std::vector<SeriesRecord> records, absl::string_view cursor_name,
                                 absl::string_view cursor_value) override;
  absl::StatusOr<std::string> GetCursor(absl::string_view name) override {
    auto value = kv_->Get(Family::kSeries, CursorKey(name));
    if (absl::IsNotFound(value.status())) return std::string();
    return value;
  }
  absl::Status SetCursor(absl::string_view name, absl::string_view value) override {
    KvBatch batch;
    batch.Put(Family::kSeries, CursorKey(name), value);
    return kv_->Write(batch, /*sync=*/true);
  }
  absl::Status Scan(int64_t after, const std::function<bool(const SeriesRecord&)>& visit,
                    int64_t* damaged = nullptr) override;
  absl::Status ScanLatest(const std::function<bool(const SeriesRecord&)>& visit) override;
  absl::StatusOr<SeriesRecord> FindNear(const SeriesKey& key, absl::string_view variant,
                                        int64_t time_unix_ms) override;
  int64_t last_sequence() override {
    MutexLock lock(&mutex_);
    return last_;
  }
  absl::StatusOr<int64_t> Prune(int64_t time_unix_ms, int64_t sequence) override;

 private:
  // Where a line's record goes that wants a time which is taken.
  struct NextFree {
    int64_t wanted_ms = 0;
    int64_t free_ms = 0;
  };
  // What an Append has put together so far.
  struct Pending {
    KvBatch batch;
    std::set<std::string> sources;
    std::set<std::string> times;                                // Keys of kTime.
    std::map<std::string, std::pair<int64_t, int64_t>> latest;  // By line: time, sequence.
    int64_t last = 0;
  };

  struct Pruning {
    KvBatch batch;
    int64_t count = 0;
  };

  absl::Status ReadLast() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<bool> IsKnown(const SeriesRecord& record, const std::string& line);
  absl::StatusOr<int64_t> FreeTime(const std::string& line, int64_t wanted_ms,
                                   const Pending& pending) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Add(SeriesRecord record, Pending* pending) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // NOT_FOUND: no such record, or a damaged one.
  absl::StatusOr<SeriesRecord> ReadRecord(int64_t sequence);
  // The first record in this part of a line's times that is what the index says.
  absl::StatusOr<SeriesRecord> FirstOf(const KvRange& range, ScanOrder order);
  // Every line, with the sequence that the index holds for its latest record (0: rubbish).
  absl::StatusOr<std::vector<std::pair<std::string, int64_t>>> Lines();
  absl::StatusOr<SeriesRecord> LatestOf(const std::string& line);
  absl::Status PruneLine(const std::string& line, int64_t time_unix_ms, int64_t sequence,
                         Pruning* pruning);

  const std::shared_ptr<Kv> kv_;
  Mutex mutex_;  // Held from choosing numbers and times to writing them.
  int64_t last_ ABSL_GUARDED_BY(mutex_) = 0;
  bool uncertain_ ABSL_GUARDED_BY(mutex_) = false;  // A write failed: what came of it?
  std::map<std::string, NextFree> next_free_ ABSL_GUARDED_BY(mutex_);
};

absl::Status SeriesStoreKv::ReadLast() {
  int64_t last = 0;
  const auto stored = kv_->Get(Family::kSeries, kLastKey);
  if (stored.ok() && stored->size() == 8) last = ParseSortableInt64(*stored);
  if (!stored.ok() && !absl::IsNotFound(stored.status()) && !absl::IsDataLoss(stored.status())) {
    return stored.status();
  }
  // The number's own record may be damaged, and the last record pruned: not both.
  const absl::Status scanned =
      kv_->Scan(Family::kSeries, PrefixRange(kRecordPrefix), ScanOrder::kBackward,
                [&](absl::string_view key, absl::string_view) {
                  if (key.size() == 9) last = std::max(last, ParseSortableInt64(key.substr(1)));
                  return false;
                });
  if (!scanned.ok() && !absl::IsDataLoss(scanned)) return scanned;
  last_ = last;
  next_free_.clear();
  uncertain_ = false;
  return absl::OkStatus();
}

// An entry may be left of a write that failed and came back with a restart, whose number went to
// another record since: only the record itself says whether it is there.
absl::StatusOr<bool> SeriesStoreKv::IsKnown(const SeriesRecord& wanted, const std::string& line) {
  const std::string& source = wanted.source;
  const auto value = kv_->Get(Family::kSeries, SourceKey(source));
  if (absl::IsNotFound(value.status())) return false;
  if (absl::IsDataLoss(value.status())) {
    // Twice on a dashboard is better than never, and than a store that takes nothing any more;
    // where it stands at its own time, it is seen all the same.
    const auto at = kv_->Get(Family::kSeries, TimeKeyOf(line, wanted.time_unix_ms));
    if (!at.ok() || at->size() != 8) return false;
    const auto there = ReadRecord(ParseSortableInt64(*at));
    return there.ok() && there->source == source;
  }
  RETURN_IF_ERROR(value.status());
  if (value->size() != 8) return false;
  const auto record = kv_->Get(Family::kSeries, RecordKey(ParseSortableInt64(*value)));
  if (absl::IsNotFound(record.status())) return false;
  if (absl::IsDataLoss(record.status())) return true;
  RETURN_IF_ERROR(record.status());
  const auto entry = UnpackEntry(0, *record);
  return !entry.ok() || entry->source == source;
}

absl::StatusOr<int64_t> SeriesStoreKv::FreeTime(const std::string& line, int64_t wanted_ms,
                                                const Pending& pending) {
  NextFree& next = next_free_[line];
  // A million records of one time must not look at a million times each.
  int64_t time_ms = next.wanted_ms == wanted_ms ? std::max(next.free_ms, wanted_ms) : wanted_ms;
  for (;; ++time_ms) {
    const std::string key = TimeKeyOf(line, time_ms);
    if (pending.times.count(key) > 0) continue;
    const absl::Status found = kv_->Get(Family::kSeries, key).status();
    if (absl::IsNotFound(found)) break;
    if (!absl::IsDataLoss(found)) RETURN_IF_ERROR(found);
  }
  next = {wanted_ms, time_ms + 1};
  return time_ms;
}

absl::Status SeriesStoreKv::Add(SeriesRecord record, Pending* pending) {
  if (pending->sources.count(record.source) > 0) return absl::OkStatus();
  const std::string line = LineOf(record.key, record.variant);
  ASSIGN_OR_RETURN(const bool known, IsKnown(record, line));
  if (known) return absl::OkStatus();
  ASSIGN_OR_RETURN(record.time_unix_ms, FreeTime(line, record.time_unix_ms, *pending));
  record.sequence = ++pending->last;
  const std::string time_key = TimeKeyOf(line, record.time_unix_ms);
  const std::string sequence = SortableInt64(record.sequence);
  pending->batch.Put(Family::kSeries, RecordKey(record.sequence), PackEntry(record));
  pending->batch.Put(Family::kSeries, SourceKey(record.source), sequence);
  pending->batch.Put(Family::kSeries, time_key, sequence);
  auto latest = pending->latest.find(line);
  if (latest == pending->latest.end()) {
    const KvRange times = PrefixRange(TimePrefix(line));
    const auto stored = FirstOf(times, ScanOrder::kBackward);
    if (!stored.ok() && !absl::IsNotFound(stored.status())) return stored.status();
    const int64_t none = record.time_unix_ms - 1;
    latest = pending->latest.emplace(line, std::pair(stored.ok() ? stored->time_unix_ms : none, 0))
                 .first;
  }
  if (record.time_unix_ms > latest->second.first) {
    latest->second = {record.time_unix_ms, record.sequence};
    pending->batch.Put(Family::kSeries, LatestKey(line), sequence);
  }
  pending->sources.insert(std::move(record.source));
  pending->times.insert(time_key);
  return absl::OkStatus();
}

absl::StatusOr<int64_t> SeriesStoreKv::Append(std::vector<SeriesRecord> records,
                                              absl::string_view cursor_name,
                                              absl::string_view cursor_value) {
  for (const SeriesRecord& record : records) {
    RETURN_IF_ERROR(
        Annotate(CheckRecord(record), absl::StrCat("series of ", absl::CHexEscape(record.source))));
  }
  MutexLock lock(&mutex_);
  if (uncertain_) RETURN_IF_ERROR(ReadLast());
  if (next_free_.size() > kMaxSeriesLinesKept) next_free_.clear();
  Pending pending;
  pending.last = last_;
  for (SeriesRecord& record : records) RETURN_IF_ERROR(Add(std::move(record), &pending));
  const int64_t added = pending.last - last_;
  if (added > 0) pending.batch.Put(Family::kSeries, kLastKey, SortableInt64(pending.last));
  pending.batch.Put(Family::kSeries, CursorKey(cursor_name), cursor_value);
  const absl::Status written = kv_->Write(pending.batch, /*sync=*/true);
  uncertain_ = !written.ok();
  RETURN_IF_ERROR(written);
  last_ = pending.last;
  return added;
}

absl::Status SeriesStoreKv::Scan(int64_t after,
                                 const std::function<bool(const SeriesRecord&)>& visit,
                                 int64_t* damaged) {
  int64_t unreadable = 0;
  if (damaged == nullptr) damaged = &unreadable;
  KvRange range = PrefixRange(kRecordPrefix);
  int64_t from = SaturatingAdd(after, 1);
  bool go_on = true;
  const auto take = [&](int64_t sequence, absl::string_view value) {
    from = SaturatingAdd(sequence, 1);
    const absl::StatusOr<SeriesRecord> record = UnpackEntry(sequence, value);
    if (!record.ok()) ++*damaged;
    go_on = !record.ok() || visit(*record);
    return go_on;
  };
  // A damaged place ends a scan of the engine: the next one begins a record later.
  while (go_on) {
    range.begin = RecordKey(from);
    const absl::Status status =
        kv_->Scan(Family::kSeries, range, ScanOrder::kForward,
                  [&](absl::string_view key, absl::string_view value) {
                    return key.size() != 9 || take(ParseSortableInt64(key.substr(1)), value);
                  });
    if (!absl::IsDataLoss(status)) return status;
    if (from > last_sequence()) return absl::OkStatus();
    // The place may begin later, behind numbers that were pruned.
    const auto value = kv_->Get(Family::kSeries, RecordKey(from));
    if (value.ok()) {
      take(from, *value);
      continue;
    }
    if (absl::IsDataLoss(value.status())) {
      ++*damaged;
    } else if (!absl::IsNotFound(value.status())) {
      return value.status();
    }
    from = SaturatingAdd(from, 1);
  }
  return absl::OkStatus();
}

absl::StatusOr<SeriesRecord> SeriesStoreKv::ReadRecord(int64_t sequence) {
  const auto value = kv_->Get(Family::kSeries, RecordKey(sequence));
  if (absl::IsDataLoss(value.status())) return absl::NotFoundError(value.status().message());
  RETURN_IF_ERROR(value.status());
  auto record = UnpackEntry(sequence, *value);
  if (!record.ok()) return absl::NotFoundError(record.status().message());
  return record;
}

absl::StatusOr<SeriesRecord> SeriesStoreKv::FirstOf(const KvRange& range, ScanOrder order) {
  absl::StatusOr<SeriesRecord> found = absl::NotFoundError("no such record");
  absl::Status failed;
  const absl::Status scanned =
      kv_->Scan(Family::kSeries, range, order, [&](absl::string_view key, absl::string_view value) {
        if (value.size() != 8 || key.size() != 25) return true;
        auto record = ReadRecord(ParseSortableInt64(value));
        if (absl::IsNotFound(record.status())) return true;
        failed = record.status();
        if (!failed.ok()) return false;
        if (TimeKeyOf(LineOf(record->key, record->variant), record->time_unix_ms) != key) {
          return true;  // Left of a write that failed: see IsKnown.
        }
        found = *std::move(record);
        return false;
      });
  RETURN_IF_ERROR(failed);
  if (!scanned.ok() && !absl::IsDataLoss(scanned)) return scanned;
  return found;
}

absl::StatusOr<std::vector<std::pair<std::string, int64_t>>> SeriesStoreKv::Lines() {
  std::vector<std::pair<std::string, int64_t>> lines;
  RETURN_IF_ERROR(ScanPastDamage(kv_.get(), Family::kSeries, PrefixRange(kLatestPrefix),
                                 [&](absl::string_view key, absl::string_view value) {
                                   lines.emplace_back(
                                       std::string(key.substr(1)),
                                       value.size() == 8 ? ParseSortableInt64(value) : 0);
                                 })
                      .status());
  return lines;
}

absl::StatusOr<SeriesRecord> SeriesStoreKv::LatestOf(const std::string& line) {
  return FirstOf(PrefixRange(TimePrefix(line)), ScanOrder::kBackward);
}

absl::Status SeriesStoreKv::ScanLatest(const std::function<bool(const SeriesRecord&)>& visit) {
  ASSIGN_OR_RETURN(const auto lines, Lines());
  for (const auto& [line, sequence] : lines) {
    absl::StatusOr<SeriesRecord> record = ReadRecord(sequence);
    if (!record.ok() || LineOf(record->key, record->variant) != line) record = LatestOf(line);
    if (absl::IsNotFound(record.status())) continue;
    RETURN_IF_ERROR(record.status());
    if (!visit(*record)) return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::StatusOr<SeriesRecord> SeriesStoreKv::FindNear(const SeriesKey& key,
                                                     absl::string_view variant,
                                                     int64_t time_unix_ms) {
  const std::string line = LineOf(key, variant);
  const KvRange all = PrefixRange(TimePrefix(line));
  const std::string middle = TimeKeyOf(line, time_unix_ms);
  auto after = FirstOf({middle, all.end}, ScanOrder::kForward);
  if (!after.ok() && !absl::IsNotFound(after.status())) return after;
  if (after.ok() && after->time_unix_ms == time_unix_ms) return after;
  auto before = FirstOf({all.begin, middle}, ScanOrder::kBackward);
  if (before.ok() || !absl::IsNotFound(before.status())) return before;
  if (after.ok()) return after;
  return absl::NotFoundError("no series of this cluster, job, model and rank group");
}

// Of a line whose latest record cannot be found, all stay.
absl::Status SeriesStoreKv::PruneLine(const std::string& line, int64_t time_unix_ms,
                                      int64_t sequence, Pruning* pruning) {
  int64_t latest = 0;  // Not looked for yet: most lines have nothing to prune.
  absl::Status failed;
  const auto visit = [&](absl::string_view key, absl::string_view value) {
    if (value.size() != 8 || key.size() != 25) return true;
    const int64_t at = ParseSortableInt64(value);
    if (at > sequence) return true;
    if (latest == 0) {
      const auto newest = LatestOf(line);
      if (!newest.ok() && !absl::IsNotFound(newest.status())) failed = newest.status();
      if (!newest.ok()) return false;
      latest = newest->sequence;
    }
    if (at == latest) return true;
    const auto record = ReadRecord(at);
    if (absl::IsNotFound(record.status())) return true;  // Damaged ones stay.
    failed = record.status();
    if (!failed.ok()) return false;
    if (TimeKeyOf(LineOf(record->key, record->variant), record->time_unix_ms) != key) return true;
    pruning->batch.Delete(Family::kSeries, RecordKey(at));
    pruning->batch.Delete(Family::kSeries, SourceKey(record->source));
    pruning->batch.Delete(Family::kSeries, key);
    ++pruning->count;
    if (pruning->batch.ops().size() < kMaxSeriesBatchOps) return true;
    failed = kv_->Write(pruning->batch, /*sync=*/false);
    pruning->batch = KvBatch();
    pruning->batch.UseReserve();
    return failed.ok();
  };
  const KvRange range{TimePrefix(line), TimeKeyOf(line, time_unix_ms)};
  const absl::Status scanned = kv_->Scan(Family::kSeries, range, ScanOrder::kForward, visit);
  RETURN_IF_ERROR(failed);
  return absl::IsDataLoss(scanned) ? absl::OkStatus() : scanned;
}

absl::StatusOr<int64_t> SeriesStoreKv::Prune(int64_t time_unix_ms, int64_t sequence) {
  // Records that come meanwhile only make others the latest, which are kept once more. Reads what
  // is pruned, not what stays: a seek a line.
  ASSIGN_OR_RETURN(const auto lines, Lines());
  Pruning pruning;
  pruning.batch.UseReserve();
  for (const auto& [line, latest] : lines) {
    RETURN_IF_ERROR(PruneLine(line, time_unix_ms, sequence, &pruning));
  }
  RETURN_IF_ERROR(kv_->Write(pruning.batch, /*sync=*/true));
  return pruning.count;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SeriesStore>> NewSeriesStore(std::shared_ptr<Kv> kv) {
  auto store = std::make_unique<SeriesStoreKv>(std::move(kv));
  RETURN_IF_ERROR(store->Load());
  return std::unique_ptr<SeriesStore>(std::move(store));
}

}  // namespace chakrad
