#include "storage/scan_past_damage.h"

#include <string>

namespace chakrad {

absl::StatusOr<bool> ScanPastDamage(
    Kv* kv, Family family, const KvRange& range,
    const std::function<void(absl::string_view, absl::string_view)>& visit) {
  std::string last;
  bool any = false;
  const absl::Status forward = kv->Scan(family, range, ScanOrder::kForward,
                                        [&](absl::string_view key, absl::string_view value) {
                                          any = true;
                                          last.assign(key.data(), key.size());
                                          visit(key, value);
                                          return true;
                                        });
  if (forward.ok()) return false;
  if (!absl::IsDataLoss(forward)) return forward;
  const absl::Status backward = kv->Scan(family, range, ScanOrder::kBackward,
                                         [&](absl::string_view key, absl::string_view value) {
                                           if (any && key <= absl::string_view(last)) return false;
                                           visit(key, value);
                                           return true;
                                         });
  if (!backward.ok() && !absl::IsDataLoss(backward)) return backward;
  return true;
}

}  // namespace chakrad
