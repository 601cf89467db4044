#include "trace/link/match_device.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "trace/link/nesting.h"
#include "trace/readers/kineto/kineto.h"

namespace chakrad {
namespace {

class Matcher {
 public:
  Matcher(const KinetoTrace& kineto, const Nesting& nesting) : kineto_(kineto), nesting_(nesting) {
    match_.launch.assign(kineto.events.size(), kNone);
    match_.host_op.assign(kineto.events.size(), kNone);
    used_.assign(kineto.events.size(), false);
    for (uint32_t index = 0; index < kineto.events.size(); ++index) {
      const KinetoKind kind = kineto.events.kind(index);
      if (kind == KinetoKind::kRuntime) {
        const int64_t correlation = kineto.events.correlation(index);
        if (correlation >= 0) call_of_correlation_.emplace(correlation, index);
      } else if (kind == KinetoKind::kHostOp) {
        const int64_t external_id = kineto.events.external_id(index);
        if (external_id >= 0) op_of_external_id_.emplace(external_id, index);
      }
    }
  }

  DeviceMatch Run() {
    std::vector<uint32_t> left;
    for (uint32_t index = 0; index < kineto_.events.size(); ++index) {
      if (!IsDeviceOp(kineto_.events.kind(index))) continue;
      ++match_.device_ops_count;
      if (!ByCorrelation(index)) left.push_back(index);
    }
    left = ByExternalId(left);
    left = ByOrder(left);
    match_.unlinked_count = static_cast<int64_t>(left.size());
    return std::move(match_);
  }

 private:
  bool ByCorrelation(uint32_t index) {
    const KinetoEvent& event = kineto_.events[index];
    if (event.correlation < 0) return false;
    const auto it = call_of_correlation_.find(event.correlation);
    if (it == call_of_correlation_.end()) return false;
    Link(index, it->second);
    ++match_.by_correlation_count;
    CheckExternalId(event, it->second);
    return true;
  }

  void CheckExternalId(const KinetoEvent& event, uint32_t call) {
    const auto it = op_of_external_id_.find(event.external_id);
    if (event.external_id < 0 || it == op_of_external_id_.end()) return;
    // A number that is also the correlation comes from a recorder that has no external ids.
    if (event.external_id == event.correlation) return;
    if (nesting_.enclosing[call] != it->second) ++match_.external_id_disagreements_count;
  }

  void Link(uint32_t device, uint32_t call) {
    match_.launch[device] = call;
    used_[call] = true;
  }

  // Launch calls that no device operation has claimed, in start order.
  std::vector<uint32_t> UnusedLaunches() const {
    std::vector<uint32_t> calls;
    for (uint32_t index = 0; index < kineto_.events.size(); ++index) {
      if (kineto_.events.kind(index) == KinetoKind::kRuntime && !used_[index] &&
          IsLaunchName(kineto_.strings.Get(kineto_.events.name(index)))) {
        calls.push_back(index);
      }
    }
    return calls;
  }

  std::vector<uint32_t> ByExternalId(const std::vector<uint32_t>& devices) {
    if (devices.empty()) return devices;
    struct Calls {
      std::vector<uint32_t> list;
      size_t next = 0;
    };
    absl::flat_hash_map<int64_t, Calls> calls_of_id;
    for (const uint32_t call : UnusedLaunches()) {
      const int64_t id = kineto_.events[call].external_id;
      if (id >= 0) calls_of_id[id].list.push_back(call);
    }
    std::vector<uint32_t> left;
    for (const uint32_t device : devices) {
      const KinetoEvent& event = kineto_.events[device];
      const auto calls = calls_of_id.find(event.external_id);
      const auto op = op_of_external_id_.find(event.external_id);
      if (event.external_id < 0) {
        left.push_back(device);
      } else if (calls != calls_of_id.end() && calls->second.next < calls->second.list.size()) {
        Link(device, calls->second.list[calls->second.next++]);
        ++match_.by_external_id_count;
      } else if (op != op_of_external_id_.end()) {
        match_.host_op[device] = op->second;
        ++match_.by_external_id_count;
      } else {
        left.push_back(device);
      }
    }
    return left;
  }

  std::vector<uint32_t> ByOrder(const std::vector<uint32_t>& devices) {
    if (devices.empty()) return devices;
    for (const uint32_t device : devices) {
      if (kineto_.events[device].correlation >= 0) return devices;  // Its launch was not recorded.
    }
    const std::vector<uint32_t> calls = UnusedLaunches();
    if (calls.size() != devices.size()) return devices;
    for (size_t i = 0; i < calls.size(); ++i) {
      if (kineto_.events.start_ns(calls[i]) > kineto_.events.start_ns(devices[i])) return devices;
    }
    for (size_t i = 0; i < calls.size(); ++i) Link(devices[i], calls[i]);
    match_.by_order_count = static_cast<int64_t>(calls.size());
    return {};
  }

  const KinetoTrace& kineto_;
  const Nesting& nesting_;
  DeviceMatch match_;
  std::vector<bool> used_;
  absl::flat_hash_map<int64_t, uint32_t> call_of_correlation_;
  absl::flat_hash_map<int64_t, uint32_t> op_of_external_id_;
};

}  // namespace

bool IsDeviceOp(KinetoKind kind) {
  return kind == KinetoKind::kKernel || kind == KinetoKind::kMemcpy || kind == KinetoKind::kMemset;
}
bool IsDeviceOp(const KinetoEvent& event) { return IsDeviceOp(event.kind); }

bool IsLaunchName(absl::string_view name) {
  for (const absl::string_view part : {"LaunchKernel", "LaunchCooperative", "GraphLaunch", "Memcpy",
                                       "Memset", "LaunchHost", "ModuleLaunch", "launch"}) {
    if (absl::StrContains(name, part)) return true;
  }
  return false;
}

DeviceMatch MatchDevice(const KinetoTrace& kineto, const Nesting& nesting) {
  return Matcher(kineto, nesting).Run();
}

}  // namespace chakrad
