#include "storage/faulty_kv.h"

#include <utility>

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

absl::StatusOr<std::string> FaultyKv::Get(Family family, absl::string_view key) {
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
  return base_->Scan(family, range, order, visit);
}

absl::Status FaultyKv::Reclaim(Family family) { return base_->Reclaim(family); }

}  // namespace chakrad
