#include "storage/store_health.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace chakrad {
namespace {

constexpr char kProbeKey[] = "h";  // In Family::kMeta.

}  // namespace

StoreHealth StoreProbe::Check() {
  StoreHealth health;
  health.reserve_bytes = reserve_bytes_;
  if (!data_dir_.empty()) {
    std::error_code error;
    const auto space = std::filesystem::space(data_dir_, error);
    if (error) {
      health.writable = false;
      health.error = absl::StrCat("data_dir: ", data_dir_, ": ", error.message());
      return health;
    }
    health.disk_free_bytes = static_cast<int64_t>(space.available);
    if (health.disk_free_bytes < reserve_bytes_) {
      health.writable = false;
      health.error = absl::StrCat(
          "the disk has ", health.disk_free_bytes, " bytes free, below the reserve of ",
          reserve_bytes_, "; uploads are refused until traces are deleted or the disk grows");
      return health;
    }
  }
  KvBatch batch;
  batch.Put(Family::kMeta, kProbeKey, "");
  const absl::Status written = kv_->Write(batch, /*sync=*/true);
  health.writable = written.ok();
  if (!written.ok()) health.error = std::string(written.message());
  return health;
}

}  // namespace chakrad
