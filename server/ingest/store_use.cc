#include "server/ingest/store_use.h"

#include "absl/strings/str_cat.h"
#include "common/status.h"

namespace chakrad {
namespace {

absl::Status Exceeded(const std::string& who, int64_t stored_bytes, int64_t staged_bytes,
                      int64_t more_bytes, int64_t max_bytes, const char* flag) {
  return absl::ResourceExhaustedError(absl::StrCat(
      who, " has ", stored_bytes, " bytes stored and ", staged_bytes, " staged; ", more_bytes,
      " more would exceed ", max_bytes, " (", flag,
      "): delete traces (chakra traces rm, retention) or uploads (chakra uploads rm)"));
}

}  // namespace

std::string TenantOf(const std::map<std::string, std::string>& labels) {
  const auto it = labels.find(kTenantLabel);
  return it == labels.end() ? std::string() : it->second;
}

void StoreUse::CountTraces() {
  std::shared_ptr<const TraceCards> cards = traces_->Cards();
  if (cards == counted_) return;
  for (auto it = by_tenant_.begin(); it != by_tenant_.end();) {
    it->second.traces_count = it->second.stored_bytes = 0;
    it = it->second.staged_bytes == 0 ? by_tenant_.erase(it) : std::next(it);
  }
  stored_bytes_ = 0;
  for (const auto& card : *cards) {
    TenantUse& use = by_tenant_[TenantOf(card->labels)];
    ++use.traces_count;
    use.stored_bytes += card->stored_bytes;
    stored_bytes_ += card->stored_bytes;
  }
  counted_ = std::move(cards);
}

absl::Status StoreUse::CheckLocked(const std::string& tenant, int64_t bytes) {
  if (max_tenant_bytes_ == 0 && max_store_bytes_ == 0) return absl::OkStatus();
  CountTraces();
  const auto found = by_tenant_.find(tenant);
  const TenantUse use = found == by_tenant_.end() ? TenantUse() : found->second;
  // Compared without sums that a hostile size could overflow.
  if (max_tenant_bytes_ > 0 && bytes > max_tenant_bytes_ - use.stored_bytes - use.staged_bytes) {
    const std::string who = tenant.empty() ? "tenant \"\" (no label `tenant`)"
                                           : absl::StrCat("tenant \"", tenant, "\"");
    return Exceeded(who, use.stored_bytes, use.staged_bytes, bytes, max_tenant_bytes_,
                    "--max_tenant_bytes");
  }
  if (max_store_bytes_ > 0 && bytes > max_store_bytes_ - stored_bytes_ - staged_bytes_) {
    return Exceeded("the store", stored_bytes_, staged_bytes_, bytes, max_store_bytes_,
                    "--max_store_bytes");
  }
  return absl::OkStatus();
}

absl::Status StoreUse::Check(const std::string& tenant, int64_t bytes) {
  MutexLock lock(&mutex_);
  return CheckLocked(tenant, bytes);
}

absl::Status StoreUse::Stage(const std::string& tenant, int64_t bytes) {
  MutexLock lock(&mutex_);
  RETURN_IF_ERROR(CheckLocked(tenant, bytes));
  by_tenant_[tenant].staged_bytes += bytes;
  staged_bytes_ += bytes;
  return absl::OkStatus();
}

void StoreUse::AddStaged(const std::string& tenant, int64_t bytes) {
  if (bytes == 0) return;
  MutexLock lock(&mutex_);
  staged_bytes_ += bytes;
  TenantUse& use = by_tenant_[tenant];
  use.staged_bytes += bytes;
  if (use.staged_bytes == 0 && use.traces_count == 0) by_tenant_.erase(tenant);
}

std::map<std::string, TenantUse> StoreUse::ByTenant() {
  MutexLock lock(&mutex_);
  CountTraces();
  return by_tenant_;
}

int64_t StoreUse::StagedBytes() {
  MutexLock lock(&mutex_);
  return staged_bytes_;
}

}  // namespace chakrad
