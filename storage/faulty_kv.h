// An engine that fails on command, over another one: for tests.
#ifndef CHAKRAD_STORAGE_FAULTY_KV_H_
#define CHAKRAD_STORAGE_FAULTY_KV_H_

#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "common/mutex.h"
#include "storage/kv.h"

namespace chakrad {

// Thread-safe.
class FaultyKv : public Kv {
 public:
  explicit FaultyKv(std::shared_ptr<Kv> base) : base_(std::move(base)) {}

  // Lets `writes_count` more writes through; every one after that fails with
  // `error`, as on a disk that filled up or in a process that died there. Undone
  // by Heal.
  void FailWritesAfter(int64_t writes_count, absl::Status error);
  // Lets `writes_count` more writes through and fails the next one only.
  void FailOneWriteAfter(int64_t writes_count, absl::Status error);
  // Each write fails with this probability, drawn from `seed`.
  void FailWritesAtRandom(double probability, uint64_t seed);
  void Heal();
  // A block of the disk: reading the key is DATA_LOSS, and so is scanning past it. A
  // write of the key does not mend it.
  void Damage(Family family, std::string key);
  absl::StatusOr<std::string> Get(Family family, absl::string_view key) override;
  absl::Status Write(const KvBatch& batch, bool sync) override;
  absl::Status Scan(
      Family family, const KvRange& range, ScanOrder order,
      const std::function<bool(absl::string_view, absl::string_view)>& visit) override;
  absl::Status Reclaim(Family family) override;
  absl::Status Checkpoint(const std::string& folder) override { return base_->Checkpoint(folder); }
  KvStats Stats() override { return base_->Stats(); }

 private:
  bool IsDamaged(Family family, absl::string_view key);

  const std::shared_ptr<Kv> base_;
  Mutex mutex_;
  int64_t writes_left_ ABSL_GUARDED_BY(mutex_) = INT64_MAX;
  bool only_one_ ABSL_GUARDED_BY(mutex_) = false;
  double probability_ ABSL_GUARDED_BY(mutex_) = 0;
  std::mt19937_64 random_ ABSL_GUARDED_BY(mutex_);
  std::set<std::pair<Family, std::string>> damaged_ ABSL_GUARDED_BY(mutex_);
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_FAULTY_KV_H_
