#include "storage/mem_kv.h"

#include <array>
#include <map>
#include <optional>
#include <utility>

#include "common/mutex.h"

namespace chakrad {
namespace {

class MemKv : public Kv {
 public:
  absl::StatusOr<std::string> Get(Family family, absl::string_view key) override {
    MutexLock lock(&mutex_);
    const Pairs& pairs = families_[static_cast<size_t>(family)];
    const auto it = pairs.find(std::string(key));
    if (it == pairs.end()) return absl::NotFoundError("no such key");
    return it->second;
  }

  absl::Status Write(const KvBatch& batch, bool /*sync*/) override {
    MutexLock lock(&mutex_);
    for (const KvBatch::Op& op : batch.ops()) {
      Pairs& pairs = families_[static_cast<size_t>(op.family)];
      switch (op.kind) {
        case KvBatch::Kind::kPut:
          pairs[op.key] = op.value;
          break;
        case KvBatch::Kind::kDelete:
          pairs.erase(op.key);
          break;
        case KvBatch::Kind::kDeleteRange:
          pairs.erase(pairs.lower_bound(op.key), pairs.lower_bound(op.value));
          break;
      }
    }
    return absl::OkStatus();
  }

  absl::Status Scan(
      Family family, const KvRange& range, ScanOrder order,
      const std::function<bool(absl::string_view, absl::string_view)>& visit) override {
    // One step at a time, so that no lock is held during a visit.
    std::string at = order == ScanOrder::kForward ? range.begin : range.end;
    bool first = true;
    while (true) {
      std::optional<std::pair<std::string, std::string>> pair =
          order == ScanOrder::kForward ? AtOrAfter(family, at, /*itself=*/first)
                                       : Before(family, at, /*unbounded=*/first && at.empty());
      if (!pair.has_value()) return absl::OkStatus();
      const bool inside = order == ScanOrder::kForward
                              ? range.end.empty() || pair->first < range.end
                              : pair->first >= range.begin;
      if (!inside || !visit(pair->first, pair->second)) return absl::OkStatus();
      at = std::move(pair->first);
      first = false;
    }
  }

  absl::Status Reclaim(Family /*family*/) override { return absl::OkStatus(); }
  absl::Status Checkpoint(const std::string& /*folder*/) override {
    return absl::UnimplementedError("a store in memory has no files to copy");
  }
  KvStats Stats() override { return {}; }

 private:
  using Pairs = std::map<std::string, std::string>;

  std::optional<std::pair<std::string, std::string>> AtOrAfter(Family family,
                                                               const std::string& key,
                                                               bool itself) {
    MutexLock lock(&mutex_);
    const Pairs& pairs = families_[static_cast<size_t>(family)];
    const auto it = itself ? pairs.lower_bound(key) : pairs.upper_bound(key);
    if (it == pairs.end()) return std::nullopt;
    return *it;
  }

  std::optional<std::pair<std::string, std::string>> Before(Family family, const std::string& key,
                                                            bool unbounded) {
    MutexLock lock(&mutex_);
    const Pairs& pairs = families_[static_cast<size_t>(family)];
    auto it = unbounded ? pairs.end() : pairs.lower_bound(key);
    if (it == pairs.begin()) return std::nullopt;
    return *--it;
  }

  Mutex mutex_;
  std::array<Pairs, kFamiliesCount> families_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<Kv> NewMemKv() { return std::make_unique<MemKv>(); }

}  // namespace chakrad
