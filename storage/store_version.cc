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

absl::Status WriteVersion(Kv* kv) {
  KvBatch batch;
  batch.Put(Family::kMeta, kStoreVersionKey, std::string(1, kStoreVersion));
  batch.Put(Family::kIndex, kStoreVersionKey, std::string(1, kStoreVersion));
  return kv->Write(batch, /*sync=*/true);
}

// 0: there is none.
absl::StatusOr<int> ReadVersion(Kv* kv) {
  auto version = kv->Get(Family::kMeta, kStoreVersionKey);
  if (absl::IsDataLoss(version.status())) {
    const auto copy = kv->Get(Family::kIndex, kStoreVersionKey);
    if (copy.ok()) version = copy;
  }
  if (absl::IsNotFound(version.status())) return 0;
  RETURN_IF_ERROR(version.status());
  const int number = version->size() == 1 ? static_cast<unsigned char>((*version)[0]) : 0;
  if (number == 0) return absl::DataLossError("the store's version is damaged");
  return number;
}

}  // namespace

absl::Status InitStoreVersion(Kv* kv, const StoreNotice& notice) {
  ASSIGN_OR_RETURN(const int version, ReadVersion(kv));
  if (version == kStoreVersion) return absl::OkStatus();
  if (version == 0) {
    ASSIGN_OR_RETURN(const bool empty, IsEmpty(kv));
    if (!empty) return absl::DataLossError("the store's version is missing");
    return WriteVersion(kv);
  }
  if (version > kStoreVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("a newer version of chakrad wrote it: store version ", version, " is above ",
                     static_cast<int>(kStoreVersion)));
  }
  RETURN_IF_ERROR(MigrateFrom1(kv, notice));
  return WriteVersion(kv);
}

}  // namespace chakrad
