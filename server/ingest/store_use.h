// How much of the store each tenant takes, and whether there is room for more.
// A tenant is the value of the label `tenant`; "" is that of all who have none.
#ifndef CHAKRAD_SERVER_INGEST_STORE_USE_H_
#define CHAKRAD_SERVER_INGEST_STORE_USE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "common/mutex.h"
#include "storage/trace_store.h"

namespace chakrad {

// The value of the label `tenant`.
std::string TenantOf(const std::map<std::string, std::string>& labels);

struct TenantUse {
  int64_t traces_count = 0;
  int64_t stored_bytes = 0;  // Compressed, before sharing with other traces.
  int64_t staged_bytes = 0;  // Of uploads that are not sealed yet.
};

// Thread-safe. A bound of 0 is none, and costs nothing; otherwise a call after a
// trace came or went counts all traces once.
class StoreUse {
 public:
  StoreUse(TraceStore* traces, int64_t max_tenant_bytes, int64_t max_store_bytes)
      : traces_(traces), max_tenant_bytes_(max_tenant_bytes), max_store_bytes_(max_store_bytes) {}

  // RESOURCE_EXHAUSTED, with the numbers and the flag, unless `bytes` more fit.
  absl::Status Check(const std::string& tenant, int64_t bytes);
  // Check, and from now on they count as staged.
  absl::Status Stage(const std::string& tenant, int64_t bytes);
  // The same without a bound: bytes that are there already.
  void AddStaged(const std::string& tenant, int64_t bytes);
  void Unstage(const std::string& tenant, int64_t bytes) { AddStaged(tenant, -bytes); }

  // Of each tenant that has something.
  std::map<std::string, TenantUse> ByTenant();
  int64_t StagedBytes();

 private:
  void CountTraces() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckLocked(const std::string& tenant, int64_t bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  TraceStore* const traces_;
  const int64_t max_tenant_bytes_;
  const int64_t max_store_bytes_;
  Mutex mutex_;
  std::shared_ptr<const TraceCards> counted_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, TenantUse> by_tenant_ ABSL_GUARDED_BY(mutex_);
  int64_t stored_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t staged_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_INGEST_STORE_USE_H_
