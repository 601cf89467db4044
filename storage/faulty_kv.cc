#include "storage/faulty_kv.h"

#include <utility>

#include "common/status.h"

namespace chakrad {

void FaultyKv::FailWritesAfter(int64_t writes_count, absl::Status error) {
  MutexLock lock(&mutex_);
  writes_left_ = writes_count;
  only_one_ = false;
  error_ = std::move(error);
}

void FaultyKv::FailOneWriteAfter(int64_t writes_count, absl::Status error) {
  MutexLock lock(&mutex_);
  writes_left_ = writes_count;
  only_one_ = true;
  error_ = std::move(error);
}

void FaultyKv::FailWritesAtRandom(double probability, uint64_t seed) {
  MutexLock lock(&mutex_);
  probability_ = probability;
  random_.seed(seed);
  error_ = absl::UnavailableError("injected failure");
}

void FaultyKv::Heal() {
  MutexLock lock(&mutex_);
  writes_left_ = INT64_MAX;
  probability_ = 0;
}

void FaultyKv::Damage(Family family, std::string key) {
  MutexLock lock(&mutex_);
  damaged_.emplace(family, std::move(key));
}

bool FaultyKv::IsDamaged(Family family, absl::string_view key) {
  MutexLock lock(&mutex_);
  return damaged_.count({family, std::string(key)}) > 0;
}

absl::StatusOr<std::string> FaultyKv::Get(Family family, absl::string_view key) {
  if (IsDamaged(family, key)) return absl::DataLossError("injected damage");
  return base_->Get(family, key);
}

absl::Status FaultyKv::Write(const KvBatch& batch, bool sync) {
  {
    MutexLock lock(&mutex_);
    if (writes_left_ <= 0) {
      if (only_one_) writes_left_ = INT64_MAX;
      return error_;
    }
    if (writes_left_ != INT64_MAX) --writes_left_;
    if (std::uniform_real_distribution<double>(0, 1)(random_) < probability_) return error_;
  }
  return base_->Write(batch, sync);
}

absl::Status FaultyKv::Scan(
    Family family, const KvRange& range, ScanOrder order,
    const std::function<bool(absl::string_view, absl::string_view)>& visit) {
  absl::Status damage;
  RETURN_IF_ERROR(
      base_->Scan(family, range, order, [&](absl::string_view key, absl::string_view value) {
        if (IsDamaged(family, key)) {
          damage = absl::DataLossError("injected damage");
          return false;
        }
        return visit(key, value);
      }));
  return damage;
}

absl::Status FaultyKv::Reclaim(Family family) { return base_->Reclaim(family); }

}  // namespace chakrad
