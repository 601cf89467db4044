// Settings that the daemon itself keeps, as named values: few and small.
#ifndef CHAKRAD_STORAGE_SETTINGS_STORE_H_
#define CHAKRAD_STORAGE_SETTINGS_STORE_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "storage/kv.h"

namespace chakrad {

// Thread-safe.
class SettingsStore {
 public:
  virtual ~SettingsStore() = default;

  // NOT_FOUND: never set. DATA_LOSS: damaged, or written by a newer version.
  virtual absl::StatusOr<std::string> Get(absl::string_view name) = 0;
  // All of them or none, durably. Names: letters, digits, '_', '/'. INVALID_ARGUMENT: a value
  // above kMaxSettingBytes.
  virtual absl::Status Set(const std::map<std::string, std::string>& values) = 0;
};

// Over family meta: "s" + name, a version byte and the value.
std::unique_ptr<SettingsStore> NewSettingsStore(std::shared_ptr<Kv> kv);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_SETTINGS_STORE_H_
