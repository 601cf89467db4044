#include "storage/faulty_disk.h"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "common/check.h"
#include "common/mutex.h"

namespace chakrad {
namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

bool EndsWith(const std::string& name, const std::string& suffix) {
  return name.size() >= suffix.size() &&
         name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
}

}  // namespace

struct FaultyDisk::State {
  struct Written {
    int64_t bytes = 0;
    int64_t synced_bytes = 0;
  };

  IOStatus Append(const std::string& name, size_t bytes) {
    MutexLock lock(&mutex);
    if (appends_left <= 0) return IOStatus::NoSpace("injected: the disk is full");
    if (appends_left != INT64_MAX) --appends_left;
    written[name].bytes += static_cast<int64_t>(bytes);
    return IOStatus::OK();
  }
  IOStatus Sync(const std::string& name) {
    MutexLock lock(&mutex);
    if (appends_left <= 0) return IOStatus::NoSpace("injected: the disk is full");
    if (syncs_fail) return IOStatus::IOError("injected: sync failed");
    Written& file = written[name];
    file.synced_bytes = file.bytes;
    ++syncs_count;
    return IOStatus::OK();
  }
  IOStatus Read(const std::string& name, Slice* result, char* scratch) {
    MutexLock lock(&mutex);
    if (reads_fail && EndsWith(name, suffix)) return IOStatus::IOError("injected: read failed");
    if (!reads_corrupt || !EndsWith(name, suffix) || result->empty()) return IOStatus::OK();
    if (result->data() != scratch)
      std::copy(result->data(), result->data() + result->size(), scratch);
    scratch[result->size() / 2] = static_cast<char>(scratch[result->size() / 2] ^ 0x55);
    *result = Slice(scratch, result->size());
    return IOStatus::OK();
  }

  Mutex mutex;
  int64_t appends_left = INT64_MAX;
  bool syncs_fail = false, reads_fail = false, reads_corrupt = false;
  std::string suffix;
  int64_t syncs_count = 0;
  std::map<std::string, Written> written;
};

class FaultyDisk::File : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  File(std::unique_ptr<rocksdb::FSWritableFile> base, std::string name,
       std::shared_ptr<State> state)
      : FSWritableFileOwnerWrapper(std::move(base)),
        name_(std::move(name)),
        state_(std::move(state)) {}

  using FSWritableFileOwnerWrapper::Append;
  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    const IOStatus status = state_->Append(name_, data.size());
    return status.ok() ? target()->Append(data, options, debug) : status;
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& info, IODebugContext* debug) override {
    const IOStatus status = state_->Append(name_, data.size());
    return status.ok() ? target()->Append(data, options, info, debug) : status;
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    const IOStatus status = state_->Sync(name_);
    return status.ok() ? target()->Sync(options, debug) : status;
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    const IOStatus status = state_->Sync(name_);
    return status.ok() ? target()->Fsync(options, debug) : status;
  }

 private:
  const std::string name_;
  const std::shared_ptr<State> state_;
};

class FaultyDisk::Reader : public rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  Reader(std::unique_ptr<rocksdb::FSRandomAccessFile> base, std::string name,
         std::shared_ptr<State> state)
      : FSRandomAccessFileOwnerWrapper(std::move(base)),
        name_(std::move(name)),
        state_(std::move(state)) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* debug) const override {
    const IOStatus status = target()->Read(offset, n, options, result, scratch, debug);
    return status.ok() ? state_->Read(name_, result, scratch) : status;
  }
  IOStatus MultiRead(rocksdb::FSReadRequest* requests, size_t count, const IOOptions& options,
                     IODebugContext* debug) override {
    for (size_t i = 0; i < count; ++i) {
      rocksdb::FSReadRequest& request = requests[i];
      request.status =
          Read(request.offset, request.len, options, &request.result, request.scratch, debug);
    }
    return IOStatus::OK();
  }

 private:
  const std::string name_;
  const std::shared_ptr<State> state_;
};

class FaultyDisk::System : public rocksdb::FileSystemWrapper {
 public:
  explicit System(std::shared_ptr<State> state)
      : FileSystemWrapper(rocksdb::FileSystem::Default()), state_(std::move(state)) {}

  const char* Name() const override { return "FaultyDisk"; }
  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* result,
                           IODebugContext* debug) override {
    const IOStatus status = target()->NewWritableFile(name, options, result, debug);
    if (!status.ok()) return status;
    {
      MutexLock lock(&state_->mutex);
      state_->written[name] = {};
    }
    *result = std::make_unique<File>(std::move(*result), name, state_);
    return status;
  }
  IOStatus NewRandomAccessFile(const std::string& name, const FileOptions& options,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
                               IODebugContext* debug) override {
    const IOStatus status = target()->NewRandomAccessFile(name, options, result, debug);
    if (status.ok()) *result = std::make_unique<Reader>(std::move(*result), name, state_);
    return status;
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* debug) override {
    const IOStatus status = target()->RenameFile(from, to, options, debug);
    MutexLock lock(&state_->mutex);
    const auto it = state_->written.find(from);
    if (status.ok() && it != state_->written.end()) {
      state_->written[to] = it->second;
      state_->written.erase(from);
    }
    return status;
  }
  IOStatus DeleteFile(const std::string& name, const IOOptions& options,
                      IODebugContext* debug) override {
    {
      MutexLock lock(&state_->mutex);
      state_->written.erase(name);
    }
    return target()->DeleteFile(name, options, debug);
  }
  IOStatus GetFreeSpace(const std::string& path, const IOOptions& options, uint64_t* bytes,
                        IODebugContext* debug) override {
    MutexLock lock(&state_->mutex);
    if (state_->appends_left > 0) return target()->GetFreeSpace(path, options, bytes, debug);
    *bytes = 0;
    return IOStatus::OK();
  }

 private:
  const std::shared_ptr<State> state_;
};

FaultyDisk::FaultyDisk()
    : state_(std::make_shared<State>()),
      env_(rocksdb::NewCompositeEnv(std::make_shared<System>(state_))) {}
FaultyDisk::~FaultyDisk() = default;

rocksdb::Env* FaultyDisk::env() { return env_.get(); }

void FaultyDisk::Fill() { FillAfter(0); }
void FaultyDisk::Free() { FillAfter(INT64_MAX); }
void FaultyDisk::FillAfter(int64_t appends_count) {
  MutexLock lock(&state_->mutex);
  state_->appends_left = appends_count;
}
void FaultyDisk::FailSyncs() {
  MutexLock lock(&state_->mutex);
  state_->syncs_fail = true;
}
void FaultyDisk::SyncAgain() {
  MutexLock lock(&state_->mutex);
  state_->syncs_fail = false;
}
void FaultyDisk::FailReads(const std::string& suffix) {
  MutexLock lock(&state_->mutex);
  state_->reads_fail = true;
  state_->suffix = suffix;
}
void FaultyDisk::CorruptReads(const std::string& suffix) {
  MutexLock lock(&state_->mutex);
  state_->reads_corrupt = true;
  state_->suffix = suffix;
}
void FaultyDisk::ReadAgain() {
  MutexLock lock(&state_->mutex);
  state_->reads_fail = state_->reads_corrupt = false;
}

void FaultyDisk::LosePower() {
  MutexLock lock(&state_->mutex);
  for (auto& [name, file] : state_->written) {
    if (access(name.c_str(), F_OK) != 0) continue;
    CHECK(truncate(name.c_str(), file.synced_bytes) == 0) << name;
    file.bytes = file.synced_bytes;
  }
}

int64_t FaultyDisk::syncs_count() const {
  MutexLock lock(&state_->mutex);
  return state_->syncs_count;
}

}  // namespace chakrad
