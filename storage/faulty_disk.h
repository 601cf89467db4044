// A disk under RocksDB that fails on command: for tests.
#ifndef CHAKRAD_STORAGE_FAULTY_DISK_H_
#define CHAKRAD_STORAGE_FAULTY_DISK_H_

#include <cstdint>
#include <memory>
#include <string>

namespace rocksdb {
class Env;
}

namespace chakrad {

// Over the real file system. Thread-safe. Outlives every database on it.
class FaultyDisk {
 public:
  FaultyDisk();
  ~FaultyDisk();

  rocksdb::Env* env();

  // Appends and syncs fail for want of space, and none is free, until Free.
  void Fill();
  void Free();
  // Lets this many more appends through before the disk is full.
  void FillAfter(int64_t appends_count);
  // Syncs fail with an I/O error until SyncAgain.
  void FailSyncs();
  void SyncAgain();
  // Reads of files whose name ends with `suffix` ("" all) fail, or return flipped
  // bytes, until ReadAgain.
  void FailReads(const std::string& suffix);
  void CorruptReads(const std::string& suffix);
  void ReadAgain();

  // Cuts each file that was written back to what was synced. No database may be open.
  void LosePower();
  int64_t syncs_count() const;

 private:
  struct State;
  class File;
  class Reader;
  class System;
  const std::shared_ptr<State> state_;
  const std::unique_ptr<rocksdb::Env> env_;
};

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_FAULTY_DISK_H_
