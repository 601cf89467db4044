#include "server/series/latest_series.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/saturating.h"
#include "server/limits.h"
#include "server/metrics_text.h"

namespace chakrad {
namespace {

constexpr size_t kTextPieceBytes = 64 << 10;

std::vector<std::pair<std::string, std::string>> LabelsOf(const SeriesKey& key) {
  const std::string* const values[] = {&key.cluster, &key.job, &key.model, &key.rank_group};
  std::vector<std::pair<std::string, std::string>> labels;
  for (size_t i = 0; i < 4; ++i) labels.emplace_back(std::string(kJobLabels[i]), *values[i]);
  return labels;
}

}  // namespace

// `name` + labels + tail is a line: the labels of the key are the same in all of them.
struct LatestSeries::Line {
  int64_t time_unix_ms = 0;
  int64_t added_unix_ms = 0;
  std::string labels;                               // `{cluster="c",...,rank_group="all"`
  std::string tails;                                // `,type="x"} 1.5\n`, one after the other.
  std::vector<std::pair<MetricId, uint32_t>> ends;  // Whose tail, and where it ends.
};

bool LatestSeries::IsExpired(const Line& line, int64_t now_ms) const {
  return SaturatingSubtract(now_ms, line.added_unix_ms) >= expiry_ms_;
}

void LatestSeries::DropExpired(int64_t now_ms) {
  std::erase_if(by_key_, [&](const auto& entry) { return IsExpired(*entry.second, now_ms); });
}

bool LatestSeries::HasPlace(const SeriesKey& key, int64_t time_unix_ms) {
  size_t variants_count = 0;
  auto oldest = by_key_.end();
  for (auto it = by_key_.upper_bound({key, ""}); it != by_key_.end() && it->first.first == key;
       ++it) {
    ++variants_count;
    if (oldest == by_key_.end() || it->second->time_unix_ms < oldest->second->time_unix_ms) {
      oldest = it;
    }
  }
  if (variants_count < kMaxVariantsShown) return true;
  if (time_unix_ms < oldest->second->time_unix_ms) return false;
  by_key_.erase(oldest);
  return true;
}

bool LatestSeries::Put(const SeriesRecord& record, std::vector<MetricSample> samples,
                       int64_t now_ms) {
  auto line = std::make_shared<Line>();
  line->time_unix_ms = record.time_unix_ms;
  line->added_unix_ms = record.added_unix_ms;
  if (IsExpired(*line, now_ms)) return true;
  std::stable_sort(samples.begin(), samples.end(),
                   [](const MetricSample& a, const MetricSample& b) { return a.id < b.id; });
  // The key's own labels first, so that every line begins with them.
  std::vector<GaugeSample> gauges{{LabelsOf(record.key), 0}};
  for (const MetricSample& sample : samples) {
    GaugeSample gauge{gauges[0].labels, sample.value};
    const auto& names = FamilyOf(sample.id).labels;
    for (size_t i = 0; i < names.size(); ++i) {
      gauge.labels.emplace_back(std::string(names[i]), sample.label_values[i]);
    }
    gauges.push_back(std::move(gauge));
  }
  const std::vector<std::string> texts = GaugeLines(gauges);
  line->labels = texts[0].substr(0, texts[0].rfind('}'));
  for (size_t i = 0; i < samples.size(); ++i) {
    line->tails += texts[i + 1].substr(line->labels.size());
    line->ends.emplace_back(samples[i].id, static_cast<uint32_t>(line->tails.size()));
  }
  line->tails.shrink_to_fit();
  line->ends.shrink_to_fit();
  MutexLock lock(&mutex_);
  const LineKey key(record.key, record.variant);
  const auto it = by_key_.find(key);
  if (it != by_key_.end()) {
    if (line->time_unix_ms >= it->second->time_unix_ms || IsExpired(*it->second, now_ms)) {
      it->second = std::move(line);
    }
    return true;
  }
  if (!record.variant.empty() && !HasPlace(record.key, line->time_unix_ms)) return true;
  if (by_key_.size() >= lines_) DropExpired(now_ms);
  if (by_key_.size() >= lines_) return false;
  by_key_.emplace(key, std::move(line));
  return true;
}

void LatestSeries::WriteText(int64_t now_ms, const std::function<bool(absl::string_view)>& write) {
  std::vector<std::shared_ptr<const Line>> lines;
  {
    MutexLock lock(&mutex_);
    DropExpired(now_ms);
    lines.reserve(by_key_.size());
    for (const auto& [key, line] : by_key_) lines.push_back(line);
  }
  // Tails are by family as well: each line's next one is where the last family stopped.
  std::vector<uint32_t> next(lines.size(), 0);
  std::string piece;
  for (const MetricFamily& family : MetricFamilies()) {
    bool has_header = false;
    for (size_t i = 0; i < lines.size(); ++i) {
      const Line& line = *lines[i];
      for (; next[i] < line.ends.size() && line.ends[next[i]].first == family.id; ++next[i]) {
        if (!has_header) piece += GaugeHeader(family.name, family.help);
        has_header = true;
        const uint32_t begin = next[i] == 0 ? 0 : line.ends[next[i] - 1].second;
        const uint32_t end = line.ends[next[i]].second;
        absl::StrAppend(&piece, family.name, line.labels,
                        absl::string_view(line.tails).substr(begin, end - begin));
        if (piece.size() < kTextPieceBytes) continue;
        if (!write(piece)) return;
        piece.clear();
      }
    }
  }
  if (!piece.empty()) write(piece);
}

size_t LatestSeries::size(int64_t now_ms) {
  MutexLock lock(&mutex_);
  DropExpired(now_ms);
  return by_key_.size();
}

}  // namespace chakrad
