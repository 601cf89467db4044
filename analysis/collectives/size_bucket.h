// Sizes of operations, in few classes: what statistics, metrics and diffs group by.
#ifndef CHAKRAD_ANALYSIS_COLLECTIVES_SIZE_BUCKET_H_
#define CHAKRAD_ANALYSIS_COLLECTIVES_SIZE_BUCKET_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace chakrad {

// Powers of 4 from 1 KiB to 1 GiB, and what is larger: few enough to be a label of metrics.
inline constexpr int kSizeBucketsCount = 12;

// The first bucket whose bound is not below `bytes`; 0 for what has no size (a barrier, an
// operation whose size was not recorded).
int SizeBucketIndexOf(int64_t bytes);
// "le_1KiB", "le_4KiB", ..., "le_1GiB", "gt_1GiB". CHECKs the index.
absl::string_view SizeBucketName(int index);
// 65536 is in "le_64KiB", 65537 in "le_256KiB".
inline absl::string_view SizeBucketOf(int64_t bytes) {
  return SizeBucketName(SizeBucketIndexOf(bytes));
}

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_COLLECTIVES_SIZE_BUCKET_H_
