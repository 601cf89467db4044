// Which runtime call launched which device operation.
#ifndef CHAKRAD_TRACE_LINK_MATCH_DEVICE_H_
#define CHAKRAD_TRACE_LINK_MATCH_DEVICE_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakrad {

struct KinetoTrace;
struct KinetoEvent;
enum class KinetoKind : uint8_t;
struct Nesting;

struct DeviceMatch {
  // Of each Kineto event that is a device operation.
  std::vector<uint32_t> launch;   // The runtime call's event; kNone.
  std::vector<uint32_t> host_op;  // The host operation's event where no call is known; kNone.
  int64_t device_ops_count = 0;
  int64_t by_correlation_count = 0;
  int64_t by_external_id_count = 0;
  int64_t by_order_count = 0;
  int64_t unlinked_count = 0;
  // Linked by correlation, while the external id names another operation than
  // the one around the launch (an id that names none, as old recorders write,
  // says nothing).
  int64_t external_id_disagreements_count = 0;
};

bool IsDeviceOp(KinetoKind kind);
bool IsDeviceOp(const KinetoEvent& event);
// Whether a runtime call starts work on a device, in any vendor's spelling.
bool IsLaunchName(absl::string_view name);

// By correlation; without one, by external id (a launch call with the same id,
// in order, else the host operation of that id); without either, by order, when
// as many launch calls as device operations are left and each comes first.
// O(events log events).
DeviceMatch MatchDevice(const KinetoTrace& kineto, const Nesting& nesting);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_LINK_MATCH_DEVICE_H_
