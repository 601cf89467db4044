#include "analysis/collectives/size_bucket.h"

#include "common/check.h"

namespace chakrad {
namespace {

constexpr absl::string_view kNames[kSizeBucketsCount] = {
    "le_1KiB", "le_4KiB",  "le_16KiB", "le_64KiB",  "le_256KiB", "le_1MiB",
    "le_4MiB", "le_16MiB", "le_64MiB", "le_256MiB", "le_1GiB",   "gt_1GiB",
};

}  // namespace

int SizeBucketIndexOf(int64_t bytes) {
  int64_t bound_bytes = 1024;
  int index = 0;
  while (index + 1 < kSizeBucketsCount && bytes > bound_bytes) {
    bound_bytes *= 4;
    ++index;
  }
  return index;
}

absl::string_view SizeBucketName(int index) {
  CHECK(index >= 0 && index < kSizeBucketsCount) << index;
  return kNames[index];
}

}  // namespace chakrad
