// The page size of the List methods.
#ifndef CHAKRAD_SERVER_RPC_PAGE_SIZE_H_
#define CHAKRAD_SERVER_RPC_PAGE_SIZE_H_

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "server/limits.h"

namespace chakrad {

// 0 means the default; larger than the maximum means the maximum, as AIP-158 has it.
inline absl::StatusOr<int> CheckPageSize(int page_size) {
  if (page_size < 0) {
    return absl::InvalidArgumentError(absl::StrCat("page_size: ", page_size, " is below 0"));
  }
  if (page_size == 0) return kDefaultPageSize;
  return page_size < kMaxPageSize ? page_size : kMaxPageSize;
}

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_RPC_PAGE_SIZE_H_
