#include "storage/settings_store.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/status.h"
#include "storage/limits.h"

namespace chakrad {
namespace {

constexpr char kValueVersion = 1;

std::string KeyOf(absl::string_view name) { return absl::StrCat("s", name); }

class KvSettingsStore : public SettingsStore {
 public:
  explicit KvSettingsStore(std::shared_ptr<Kv> kv) : kv_(std::move(kv)) {}

  absl::StatusOr<std::string> Get(absl::string_view name) override {
    const absl::StatusOr<std::string> stored = kv_->Get(Family::kMeta, KeyOf(name));
    RETURN_IF_ERROR(stored.status());
    absl::string_view value = *stored;
    if (!absl::ConsumePrefix(&value, absl::string_view(&kValueVersion, 1))) {
      return absl::DataLossError(
          absl::StrCat("setting ", name, " is damaged, or a newer version wrote it"));
    }
    return std::string(value);
  }

  absl::Status Set(const std::map<std::string, std::string>& values) override {
    KvBatch batch;
    for (const auto& [name, value] : values) {
      if (value.size() > kMaxSettingBytes) {
        return absl::InvalidArgumentError(absl::StrCat("setting ", name, ": ", value.size(),
                                                       " bytes are more than ", kMaxSettingBytes));
      }
      batch.Put(Family::kMeta, KeyOf(name), absl::StrCat(std::string(1, kValueVersion), value));
    }
    return kv_->Write(batch, /*sync=*/true);
  }

 private:
  const std::shared_ptr<Kv> kv_;
};

}  // namespace

std::unique_ptr<SettingsStore> NewSettingsStore(std::shared_ptr<Kv> kv) {
  return std::make_unique<KvSettingsStore>(std::move(kv));
}

}  // namespace chakrad
