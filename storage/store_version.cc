#include "storage/store_version.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "common/status.h"

namespace chakrad {
namespace {

absl::StatusOr<bool> IsEmpty(Kv* kv) {
  bool empty = true;
  for (int i = 0; i < kFamiliesCount && empty; ++i) {
    RETURN_IF_ERROR(kv->Scan(static_cast<Family>(i), {}, ScanOrder::kForward,
                             [&](absl::string_view, absl::string_view) { return empty = false; }));
  }
  return empty;
}

}  // namespace

absl::Status InitStoreVersion(Kv* kv) {
  const auto version = kv->Get(Family::kMeta, kStoreVersionKey);
  if (absl::IsNotFound(version.status())) {
    ASSIGN_OR_RETURN(const bool empty, IsEmpty(kv));
    if (!empty) return absl::DataLossError("the store's version is missing");
    KvBatch batch;
    batch.Put(Family::kMeta, kStoreVersionKey, std::string(1, kStoreVersion));
    return kv->Write(batch, /*sync=*/true);
  }
  RETURN_IF_ERROR(version.status());
  const int number = version->size() == 1 ? static_cast<unsigned char>((*version)[0]) : 0;
  if (number == 0) return absl::DataLossError("the store's version is damaged");
  // Version 1 is the first: there is nothing older to migrate from.
  if (number == kStoreVersion) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("a newer version of chakrad wrote it: store version ", number, " is above ",
                   static_cast<int>(kStoreVersion)));
}

}  // namespace chakrad
