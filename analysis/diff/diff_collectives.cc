#include "analysis/diff/diff_collectives.h"

#include <map>
#include <utility>

#include "analysis/collectives/size_bucket.h"
#include "trace/model/types.h"

namespace chakrad {
namespace {

// Collectives by their type, then "SEND", then "RECV".
int PlaceOfType(absl::string_view type) {
  for (int i = 0; i < kCollectiveTypesCount; ++i) {
    if (CollectiveTypeName(static_cast<CollectiveType>(i)) == type) return i;
  }
  return type == "SEND" ? kCollectiveTypesCount : kCollectiveTypesCount + 1;
}

int PlaceOfBucket(absl::string_view size_bucket) {
  int place = 0;
  while (place < kSizeBucketsCount - 1 && SizeBucketName(place) != size_bucket) ++place;
  return place;
}

using Rows = std::map<std::pair<int, int>, CollectiveChange>;

CollectiveChange& RowOf(const CollectiveStats& stats, Rows* rows) {
  CollectiveChange& row = (*rows)[{PlaceOfType(stats.type), PlaceOfBucket(stats.size_bucket)}];
  row.type = stats.type;
  row.size_bucket = stats.size_bucket;
  return row;
}

double OfRank(int64_t sum, size_t ranks_count) {
  return ranks_count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(ranks_count);
}

}  // namespace

std::vector<CollectiveChange> DiffCollectives(const std::vector<CollectiveStats>& before,
                                              size_t before_ranks_count,
                                              const std::vector<CollectiveStats>& after,
                                              size_t after_ranks_count) {
  Rows rows;
  for (const CollectiveStats& stats : before) {
    CollectiveChange& row = RowOf(stats, &rows);
    row.before_count = OfRank(stats.count, before_ranks_count);
    row.before_bytes = OfRank(stats.bytes, before_ranks_count);
    row.before_bus_bandwidth = stats.bus_bandwidth;
  }
  for (const CollectiveStats& stats : after) {
    CollectiveChange& row = RowOf(stats, &rows);
    row.after_count = OfRank(stats.count, after_ranks_count);
    row.after_bytes = OfRank(stats.bytes, after_ranks_count);
    row.after_bus_bandwidth = stats.bus_bandwidth;
  }
  std::vector<CollectiveChange> changes;
  for (const auto& [place, row] : rows) changes.push_back(row);
  return changes;
}

}  // namespace chakrad
