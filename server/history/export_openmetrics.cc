#include "server/history/export_openmetrics.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "server/history/openmetrics_text.h"
#include "server/series/sample_codec.h"

namespace chakrad {
namespace {

struct Point {
  int64_t unix_ms = 0;
  double value = 0;
};

// FNV-1a: the same in every process, unlike absl's.
uint64_t HashOf(absl::string_view text) {
  uint64_t hash = 14'695'981'039'346'656'037u;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1'099'511'628'211u;
  }
  return hash;
}

absl::Status Cancelled() { return absl::CancelledError("the caller went away"); }

// The store as one query sees it.
class Records {
 public:
  Records(SeriesStore* store, const ExportQuery& query, const std::function<bool()>& go_on)
      : store_(store), query_(query), go_on_(go_on), last_sequence_(store->last_sequence()) {}

  // Each sample that the query wants.
  template <typename Visit>
  absl::Status ForEachSample(const Visit& visit) {
    damaged_records_ = 0;
    bool stopped = false;
    const absl::Status status = store_->Scan(0, [&](const SeriesRecord& record) {
      stopped = record.sequence % 1'024 == 0 && !go_on_();
      if (stopped || record.sequence > last_sequence_) return false;
      if (!Wants(record)) return true;
      const auto samples = DecodeSamples(record.samples);
      if (!samples.ok()) {
        ++damaged_records_;
        return true;
      }
      for (const MetricSample& sample : *samples) visit(record, sample);
      return true;
    });
    if (stopped) return Cancelled();
    if (!absl::IsDataLoss(status)) return status;
    ++damaged_records_;
    return absl::OkStatus();
  }

  int64_t damaged_records() const { return damaged_records_; }

 private:
  bool Wants(const SeriesRecord& record) const {
    return record.time_unix_ms >= query_.from_unix_ms && record.time_unix_ms < query_.to_unix_ms &&
           (query_.cluster.empty() || record.key.cluster == query_.cluster) &&
           (query_.job.empty() || record.key.job == query_.job);
  }

  SeriesStore* const store_;
  const ExportQuery& query_;
  const std::function<bool()>& go_on_;
  const int64_t last_sequence_;
  int64_t damaged_records_ = 0;
};

// Gathers lines into pieces.
class PieceWriter {
 public:
  PieceWriter(size_t piece_bytes, const std::function<bool(absl::string_view, int64_t)>& write)
      : piece_bytes_(piece_bytes), write_(write) {}

  absl::Status Add(absl::string_view line) {
    if (!piece_.empty() && piece_.size() + line.size() > piece_bytes_) RETURN_IF_ERROR(Flush());
    piece_.append(line.data(), line.size());
    return absl::OkStatus();
  }
  absl::Status AddSample(absl::string_view line) {
    RETURN_IF_ERROR(Add(line));
    ++samples_count_;
    return absl::OkStatus();
  }
  absl::Status Flush() {
    if (!write_(piece_, samples_count_)) return Cancelled();
    piece_.clear();
    return absl::OkStatus();
  }
  int64_t samples_count() const { return samples_count_; }

 private:
  const size_t piece_bytes_;
  const std::function<bool(absl::string_view, int64_t)>& write_;
  std::string piece_;
  int64_t samples_count_ = 0;
};

// Series of one family by their text.
using FamilySeries = absl::flat_hash_map<std::string, std::vector<Point>>;

absl::StatusOr<std::vector<FamilySeries>> Gather(const ExportPart& part, Records* records) {
  std::vector<FamilySeries> families(static_cast<size_t>(part.end_family - part.first_family));
  RETURN_IF_ERROR(
      records->ForEachSample([&](const SeriesRecord& record, const MetricSample& sample) {
        const int family = static_cast<int>(sample.id);
        if (family < part.first_family || family >= part.end_family) return;
        std::string text = SeriesText(record.key, sample);
        if (part.shares_count > 1 && HashOf(text) % part.shares_count != part.share) return;
        families[static_cast<size_t>(family - part.first_family)][std::move(text)].push_back(
            {record.time_unix_ms, sample.value});
      }));
  return families;
}

absl::Status WriteFamily(FamilySeries family, PieceWriter* writer) {
  std::vector<std::pair<absl::string_view, std::vector<Point>*>> order;
  order.reserve(family.size());
  for (auto& [text, points] : family) order.emplace_back(text, &points);
  std::sort(order.begin(), order.end());
  for (const auto& [text, points] : order) {
    std::stable_sort(points->begin(), points->end(),
                     [](const Point& a, const Point& b) { return a.unix_ms < b.unix_ms; });
    for (size_t i = 0; i < points->size(); ++i) {
      const Point& point = (*points)[i];
      // Two of one time cannot be; were it so, Prometheus would refuse the file.
      if (i + 1 < points->size() && (*points)[i + 1].unix_ms == point.unix_ms) continue;
      RETURN_IF_ERROR(writer->AddSample(absl::StrCat(text, " ", NumberText(point.value), " ",
                                                     TimestampText(point.unix_ms), "\n")));
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<ExportPart> PlanExport(const std::vector<int64_t>& samples_by_family,
                                   int64_t samples_at_once) {
  std::vector<ExportPart> parts;
  int64_t in_part = 0;
  for (int family = 0; family < static_cast<int>(samples_by_family.size()); ++family) {
    const int64_t count = samples_by_family[static_cast<size_t>(family)];
    if (count == 0) continue;
    if (count > samples_at_once) {
      const auto shares = static_cast<uint64_t>((count + samples_at_once - 1) / samples_at_once);
      for (uint64_t i = 0; i < shares; ++i) parts.push_back({family, family + 1, i, shares});
      in_part = samples_at_once;  // Nothing joins it.
    } else if (parts.empty() || in_part + count > samples_at_once) {
      parts.push_back({family, family + 1, 0, 1});
      in_part = count;
    } else {
      parts.back().end_family = family + 1;
      in_part += count;
    }
  }
  return parts;
}

absl::StatusOr<ExportCounts> ExportOpenMetrics(
    SeriesStore* store, const ExportQuery& query, const ExportOptions& options,
    const std::function<bool()>& go_on,
    const std::function<bool(absl::string_view piece, int64_t samples_so_far)>& write) {
  Records records(store, query, go_on);
  std::vector<int64_t> samples_by_family(kMetricFamiliesCount, 0);
  RETURN_IF_ERROR(records.ForEachSample([&](const SeriesRecord&, const MetricSample& sample) {
    ++samples_by_family[static_cast<size_t>(sample.id)];
  }));
  ExportCounts counts;
  counts.damaged_records = records.damaged_records();
  PieceWriter writer(options.piece_bytes, write);
  int headed = -1;  // The last family whose header is written.
  for (const ExportPart& part : PlanExport(samples_by_family, options.samples_at_once)) {
    ASSIGN_OR_RETURN(std::vector<FamilySeries> families, Gather(part, &records));
    for (size_t i = 0; i < families.size(); ++i) {
      if (families[i].empty()) continue;
      const int family = part.first_family + static_cast<int>(i);
      if (family != headed) {
        RETURN_IF_ERROR(writer.Add(FamilyHeaderText(FamilyOf(static_cast<MetricId>(family)))));
        headed = family;
      }
      RETURN_IF_ERROR(WriteFamily(std::move(families[i]), &writer));
    }
  }
  RETURN_IF_ERROR(writer.Add(kOpenMetricsEnd));
  RETURN_IF_ERROR(writer.Flush());
  counts.samples = writer.samples_count();
  return counts;
}

}  // namespace chakrad
