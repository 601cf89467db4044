#include "analysis/diff/diff_collectives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

CollectiveStats Stats(absl::string_view type, absl::string_view size_bucket, int64_t count,
                      int64_t bytes, double bus_bandwidth) {
  CollectiveStats stats;
  stats.type = type;
  stats.size_bucket = size_bucket;
  stats.count = count;
  stats.bytes = bytes;
  stats.bus_bandwidth = bus_bandwidth;
  return stats;
}

std::vector<std::string> Texts(const std::vector<CollectiveChange>& changes) {
  std::vector<std::string> texts;
  for (const CollectiveChange& change : changes) {
    texts.push_back(absl::StrCat(std::string(change.type), " ", std::string(change.size_bucket),
                                 " ", change.before_count, "->", change.after_count, " ",
                                 change.before_bytes, "->", change.after_bytes, " ",
                                 change.before_bus_bandwidth, "->", change.after_bus_bandwidth));
  }
  return texts;
}

TEST(DiffCollectivesTest, RowsOfBothSidesMeetByTypeAndSize) {
  // Two ranks before, four after: an all-reduce of 100 bytes on each, and twice as often after.
  const std::vector<CollectiveStats> before = {Stats("ALL_REDUCE", "le_1KiB", 2, 200, 5),
                                               Stats("BROADCAST", "le_4KiB", 2, 4000, 1)};
  const std::vector<CollectiveStats> after = {Stats("ALL_REDUCE", "le_1KiB", 8, 800, 6),
                                              Stats("ALL_REDUCE", "le_16KiB", 4, 40'000, 9),
                                              Stats("RECV", "le_1KiB", 4, 8, 0)};
  EXPECT_THAT(
      Texts(DiffCollectives(before, 2, after, 4)),
      ElementsAre("ALL_REDUCE le_1KiB 1->2 100->200 5->6", "ALL_REDUCE le_16KiB 0->1 0->10000 0->9",
                  "BROADCAST le_4KiB 1->0 2000->0 1->0", "RECV le_1KiB 0->1 0->2 0->0"));
}

TEST(DiffCollectivesTest, SidesWithoutCommunicationOrRanksHaveNothing) {
  EXPECT_THAT(DiffCollectives({}, 1, {}, 0), IsEmpty());
}

}  // namespace
}  // namespace chakrad
