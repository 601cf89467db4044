// What tests of uploads have in common: an UploadManager over stores in memory, with
// a clock that stands still, and files that convert.
#ifndef CHAKRAD_SERVER_INGEST_TEST_UPLOADS_H_
#define CHAKRAD_SERVER_INGEST_TEST_UPLOADS_H_

#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/sha256.h"
#include "common/status_matchers.h"
#include "server/ingest/fake_trace_store.h"
#include "server/ingest/upload_manager.h"
#include "storage/faulty_kv.h"
#include "storage/mem_kv.h"
#include "storage/upload_store_kv.h"

namespace chakrad {

// A small Kineto profile of one rank; `name` is that of its only operation.
inline std::string KinetoOf(int rank, int world_size, absl::string_view name = "aten::mm") {
  return absl::StrCat(R"({"schemaVersion":1,"distributedInfo":{"rank":)", rank, R"(,"world_size":)",
                      world_size, R"(},"traceEvents":[{"ph":"X","cat":"cpu_op","name":")", name,
                      R"(","pid":1,"tid":1,"ts":100,"dur":10,"args":{"External id":1}}]})");
}

class UploadManagerTest : public testing::Test {
 protected:
  using Files = std::map<std::string, std::string>;
  static constexpr int64_t kSecondNs = 1'000'000'000;

  UploadManagerTest() { Restart(); }

  // As a restart of the daemon: what is not durable is gone.
  void Restart() {
    manager_ = nullptr;
    store_ = NewUploadStore(kv_, staging_dir_, 0);
    ASSERT_THAT(store_->Recover(), IsOk());
    manager_ = std::make_unique<UploadManager>(store_.get(), &traces_, &clock_, &metrics_, limits_,
                                               resources_);
    ASSERT_THAT(manager_->Start(), IsOk());
  }

  static UploadRequest Request(const std::string& request_id,
                               std::optional<UploadJoin> join = std::nullopt) {
    UploadRequest request;
    request.request_id = request_id;
    request.join = join;
    return request;
  }
  static std::map<std::string, FileDigest> ClaimsOf(const Files& files) {
    std::map<std::string, FileDigest> claims;
    for (const auto& [file, text] : files) {
      claims[file] = {static_cast<int64_t>(text.size()), Sha256Of(text)};
    }
    return claims;
  }
  static Files TwoRanks() {
    return {{"rank0.json", KinetoOf(0, 2)}, {"rank1.json", KinetoOf(1, 2)}};
  }

  // The id of a new upload.
  std::string Create(const UploadRequest& request) {
    const auto created = manager_->Create(request);
    EXPECT_THAT(created, IsOk());
    return created.ok() ? created->id : "";
  }
  // One stream with all files; `last` marks each as complete.
  absl::Status Write(const std::string& id, const Files& files, bool last = true) {
    ASSIGN_OR_RETURN(const auto writer, manager_->BeginWrite(id));
    for (const auto& [file, text] : files) {
      RETURN_IF_ERROR(writer->Append(file, 0, text, last));
    }
    return writer->Commit().status();
  }
  absl::StatusOr<TraceInfo> Push(const UploadRequest& request, const Files& files) {
    ASSIGN_OR_RETURN(const UploadRecord upload, manager_->Create(request));
    if (upload.state != UploadRecord::State::kSealed) {
      RETURN_IF_ERROR(Write(upload.id, files));
    }
    return manager_->Seal(upload.id);
  }
  UploadRecord::State StateOf(const std::string& id) {
    const auto record = manager_->Query(id);
    EXPECT_THAT(record, IsOk());
    return record.ok() ? record->state : UploadRecord::State::kOpen;
  }
  // Waits, ten seconds at most, until the daemon's own threads have brought it there.
  bool Reaches(const std::string& id, UploadRecord::State state) {
    for (int i = 0; i < 1000; ++i) {
      if (StateOf(id) == state) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  static std::string FreshStaging() {
    std::string path = testing::TempDir() + "/uploads_XXXXXX";
    EXPECT_NE(mkdtemp(path.data()), nullptr) << path;
    return path + "/staging";
  }

  const std::string staging_dir_ = FreshStaging();
  const std::shared_ptr<FaultyKv> kv_ = std::make_shared<FaultyKv>(NewMemKv());
  FakeTraceStore traces_;
  FakeClock clock_;
  Metrics metrics_;
  ServerLimits limits_;
  ImportResources resources_;
  std::unique_ptr<UploadStore> store_;
  std::unique_ptr<UploadManager> manager_;  // Uses the others.
};

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_INGEST_TEST_UPLOADS_H_
