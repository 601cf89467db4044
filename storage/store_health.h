// Whether the store can take anything now.
#ifndef CHAKRAD_STORAGE_STORE_HEALTH_H_
#define CHAKRAD_STORAGE_STORE_HEALTH_H_

#include <cstdint>
#include <memory>
#include <string>

#include "storage/kv.h"

namespace chakrad {

struct StoreHealth {
  bool writable = true;         // Uploads and traces are taken.
  std::string error;            // Why not, and what to do.
  int64_t disk_free_bytes = 0;  // Of the disk with the data folder; 0 in memory.
  int64_t reserve_bytes = 0;    // Below it uploads are refused.
};

// Thread-safe.
class StoreProbe {
 public:
  // `data_dir` empty: in memory, there is no disk to look at.
  StoreProbe(std::shared_ptr<Kv> kv, std::string data_dir, int64_t reserve_bytes)
      : kv_(std::move(kv)), data_dir_(std::move(data_dir)), reserve_bytes_(reserve_bytes) {}

  // Looks at the disk and writes one small record durably, as only that tells whether
  // the engine takes writes. Costs a sync of the disk.
  StoreHealth Check();

  KvStats Engine() { return kv_->Stats(); }

 private:
  const std::shared_ptr<Kv> kv_;
  const std::string data_dir_;
  const int64_t reserve_bytes_;
};

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_STORE_HEALTH_H_
