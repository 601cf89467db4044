#include "storage/backup.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "storage/open.h"
#include "storage/test_engine.h"
#include "trace/codec/rank_generator.h"
#include "trace/codec/rank_matchers.h"

namespace chakrad {
namespace {

constexpr int64_t kNowNs = 1'796'022'900'000'000'000;  // 2026-11-30T07:15:00Z
constexpr TraceLoadOptions kAll = {.cold = true, .ranks = {}};

TraceInfo InfoOf(std::string id) {
  TraceInfo info;
  info.id = std::move(id);
  return info;
}

class BackupTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = FreshFolder();
    options_ = {.data_dir = folder_ + "/data", .reserve_bytes = 0, .backup_dir = folder_ + "/b"};
    absl::StatusOr<Stores> stores = OpenRocksStores(options_);
    ASSERT_THAT(stores, IsOk());
    stores_ = *std::move(stores);
  }
  absl::StatusOr<Stores> Restored(const std::string& backup) {
    const std::string data_dir = folder_ + "/restored";
    const absl::Status status = RestoreBackup(backup, data_dir, nullptr).status();
    if (!status.ok()) return status;
    return OpenRocksStores({.data_dir = data_dir, .reserve_bytes = 0});
  }

  std::string folder_;
  StoreOptions options_;
  Stores stores_;
};

TEST_F(BackupTest, ABackupHoldsWhatWasThereThenAndNothingLater) {
  ASSERT_THAT(stores_.traces->Put(RandomTrace(1, 2, 300), InfoOf("before")), IsOk());
  ASSERT_OK_AND_ASSIGN(const BackupInfo backup, stores_.backups->Create("first", kNowNs));
  ASSERT_THAT(stores_.traces->Put(RandomTrace(2, 1, 100), InfoOf("after")), IsOk());
  ASSERT_THAT(stores_.traces->Delete("before"), IsOk());
  EXPECT_EQ(backup.traces_count, 1);
  EXPECT_GT(backup.size_bytes, 0);
  EXPECT_EQ(backup.path, options_.backup_dir + "/first");
  ASSERT_OK_AND_ASSIGN(const Stores restored, Restored(backup.path));
  ASSERT_OK_AND_ASSIGN(const Trace trace, restored.traces->Load("before", kAll));
  ExpectSameTrace(trace, RandomTrace(1, 2, 300));
  EXPECT_THAT(restored.traces->GetInfo("after"), StatusIs(absl::StatusCode::kNotFound, "after"));
}

TEST_F(BackupTest, JobsComeBackAndUploadsInProgressBeginAnew) {
  JobRecord job;
  job.id = "j-1";
  job.trace_id = "t";
  ASSERT_THAT(stores_.jobs->Create(job), IsOk());
  UploadRecord upload;
  upload.id = "u-1";
  upload.request_id = "r";
  ASSERT_THAT(stores_.uploads->Create(upload), IsOk());
  ASSERT_THAT(stores_.uploads->Append("u-1", "f", 0, "bytes"), IsOk());
  ASSERT_THAT(stores_.uploads->Commit("u-1"), IsOk());
  ASSERT_OK_AND_ASSIGN(const BackupInfo backup, stores_.backups->Create("b", kNowNs));
  ASSERT_OK_AND_ASSIGN(const Stores restored, Restored(backup.path));
  EXPECT_THAT(restored.jobs->Get("j-1"), IsOk());
  ASSERT_THAT(restored.uploads->Recover(), IsOk());
  ASSERT_OK_AND_ASSIGN(const UploadRecord begun, restored.uploads->Get("u-1"));
  EXPECT_EQ(begun.files.at("f").committed_bytes, 0);
}

TEST_F(BackupTest, ABackupUnderLoadIsWholeAndOpens) {
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) {
      EXPECT_THAT(stores_.traces->Put(RandomTrace(i, 1, 200), InfoOf(absl::StrCat("t", i))),
                  IsOk());
    }
  });
  for (int i = 0; i < 5; ++i) {
    ASSERT_OK_AND_ASSIGN(const BackupInfo backup,
                         stores_.backups->Create(absl::StrCat("b", i), kNowNs));
    std::filesystem::remove_all(folder_ + "/restored");
    ASSERT_OK_AND_ASSIGN(const Stores restored, Restored(backup.path));
    EXPECT_EQ(static_cast<int64_t>(restored.traces->Cards()->size()), backup.traces_count);
    for (const auto& card : *restored.traces->Cards()) {
      ASSERT_OK_AND_ASSIGN(const VerifyResult result, restored.traces->Verify(card->id));
      EXPECT_TRUE(result.errors.empty()) << card->id << ": " << result.errors[0];
    }
  }
  stop = true;
  writer.join();
}

TEST_F(BackupTest, ANameIsTakenOnceAndWithoutOneTheTimeIsTheName) {
  ASSERT_OK_AND_ASSIGN(const BackupInfo backup, stores_.backups->Create("", kNowNs));
  EXPECT_EQ(backup.name, "20261130T071500Z");
  EXPECT_THAT(stores_.backups->Create(backup.name, kNowNs),
              StatusIs(absl::StatusCode::kAlreadyExists, backup.name));
  EXPECT_THAT(stores_.backups->Create("../x", kNowNs),
              StatusIs(absl::StatusCode::kInvalidArgument, "name"));
}

TEST_F(BackupTest, ListsAreInOrderOfTimeAndLeaveOutWhatIsNoBackup) {
  ASSERT_THAT(stores_.backups->Create("b", kNowNs + 1), IsOk());
  ASSERT_THAT(stores_.backups->Create("a", kNowNs + 2), IsOk());
  std::filesystem::create_directories(options_.backup_dir + "/stranger");
  std::filesystem::create_directories(options_.backup_dir + "/.partial-c/db");
  ASSERT_OK_AND_ASSIGN(const std::vector<BackupInfo> backups, stores_.backups->List());
  ASSERT_EQ(backups.size(), 2u);
  EXPECT_EQ(backups[0].name, "b");
  EXPECT_EQ(backups[1].name, "a");
  // What a crash left of an attempt does not stop the next one.
  EXPECT_THAT(stores_.backups->Create("c", kNowNs), IsOk());
}

TEST_F(BackupTest, RestoringOverAStoreOrFromNoBackupIsRefusedAndChangesNothing) {
  ASSERT_THAT(stores_.traces->Put(RandomTrace(1, 1, 10), InfoOf("t")), IsOk());
  ASSERT_OK_AND_ASSIGN(const BackupInfo backup, stores_.backups->Create("b", kNowNs));
  EXPECT_THAT(RestoreBackup(backup.path, options_.data_dir, nullptr),
              StatusIs(absl::StatusCode::kFailedPrecondition, "in use"));
  stores_ = {};
  EXPECT_THAT(RestoreBackup(backup.path, options_.data_dir, nullptr),
              StatusIs(absl::StatusCode::kFailedPrecondition, "holds a store"));
  EXPECT_THAT(RestoreBackup(folder_, folder_ + "/new", nullptr),
              StatusIs(absl::StatusCode::kInvalidArgument, "is no backup"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/new"));
}

TEST_F(BackupTest, ABackupWithADamagedFileIsRefusedOrFoundByVerify) {
  ASSERT_THAT(stores_.traces->Put(RandomTrace(1, 2, 5'000), InfoOf("t")), IsOk());
  ASSERT_OK_AND_ASSIGN(const BackupInfo backup, stores_.backups->Create("b", kNowNs));
  for (const auto& entry : std::filesystem::directory_iterator(backup.path + "/db")) {
    if (entry.path().filename().string().rfind("MANIFEST", 0) == 0) {
      std::ofstream(entry.path(), std::ios::trunc) << "damaged";
    }
  }
  EXPECT_FALSE(RestoreBackup(backup.path, folder_ + "/new", nullptr).ok());
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/new"));
}

TEST_F(BackupTest, AnInterruptedRestoreIsRepeated) {
  ASSERT_THAT(stores_.traces->Put(RandomTrace(1, 1, 50), InfoOf("t")), IsOk());
  ASSERT_OK_AND_ASSIGN(const BackupInfo backup, stores_.backups->Create("b", kNowNs));
  std::filesystem::create_directories(folder_ + "/restored/db.partial-");
  std::ofstream(folder_ + "/restored/db.partial-/CURRENT") << "half";
  ASSERT_OK_AND_ASSIGN(const Stores restored, Restored(backup.path));
  EXPECT_THAT(restored.traces->GetInfo("t"), IsOk());
}

TEST_F(BackupTest, WithoutABackupFolderTheFlagIsNamed) {
  ASSERT_OK_AND_ASSIGN(const Stores stores,
                       OpenRocksStores({.data_dir = folder_ + "/other", .reserve_bytes = 0}));
  EXPECT_THAT(stores.backups->Create("b", kNowNs),
              StatusIs(absl::StatusCode::kFailedPrecondition, "--backup_dir"));
}

TEST_F(BackupTest, TheProbeTellsAReserveThatTheDiskDoesNotHave) {
  EXPECT_TRUE(stores_.probe->Check().writable);
  ASSERT_OK_AND_ASSIGN(const Stores full, OpenRocksStores({.data_dir = folder_ + "/full",
                                                           .reserve_bytes = int64_t{1} << 60}));
  const StoreHealth health = full.probe->Check();
  EXPECT_FALSE(health.writable);
  EXPECT_NE(health.error.find("below the reserve"), std::string::npos) << health.error;
}

}  // namespace
}  // namespace chakrad
