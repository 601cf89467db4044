#include "storage/open.h"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <rocksdb/db.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "common/status_matchers.h"
#include "storage/limits.h"
#include "storage/rocks_kv.h"
#include "storage/store_version.h"
#include "storage/test_engine.h"
#include "trace/codec/rank_generator.h"
#include "trace/codec/rank_matchers.h"

namespace chakrad {
namespace {

constexpr TraceLoadOptions kAll = {.cold = true, .ranks = {}};

TraceInfo InfoOf(std::string id) {
  TraceInfo info;
  info.id = std::move(id);
  return info;
}

TEST(OpenTest, AFolderIsCreatedWithItsParentsAndReopened) {
  const std::string data_dir = FreshFolder() + "/deep/er";
  {
    ASSERT_OK_AND_ASSIGN(const Stores stores, OpenRocksStores({.data_dir = data_dir}));
    ASSERT_THAT(stores.traces->Put(RandomTrace(1, 2, 100), InfoOf("t")), IsOk());
  }
  ASSERT_OK_AND_ASSIGN(const Stores stores, OpenRocksStores({.data_dir = data_dir}));
  ASSERT_OK_AND_ASSIGN(const Trace trace, stores.traces->Load("t", kAll));
  ExpectSameTrace(trace, RandomTrace(1, 2, 100));
}

TEST(OpenTest, MemStoresNeedNoOtherFolder) {
  const std::string staging_dir = FreshFolder() + "/staging";
  ASSERT_OK_AND_ASSIGN(const Stores stores, OpenMemStores(staging_dir));
  ASSERT_THAT(stores.traces->Put(RandomTrace(1, 1, 10), InfoOf("t")), IsOk());
  EXPECT_TRUE(std::filesystem::is_empty(staging_dir));
  EXPECT_THAT(stores.traces->Load("t", kAll), IsOk());
}

TEST(OpenTest, ASecondOpenerIsToldThatTheFolderIsInUse) {
  const std::string data_dir = FreshFolder();
  auto stores = OpenRocksStores({.data_dir = data_dir});
  ASSERT_THAT(stores, IsOk());
  const absl::Status second = OpenRocksStores({.data_dir = data_dir}).status();
  EXPECT_EQ(second, absl::FailedPreconditionError("data_dir: " + data_dir +
                                                  " is in use by another process"));
  // One store alone keeps the folder.
  const std::unique_ptr<JobStore> jobs = std::move(stores->jobs);
  stores->traces.reset();
  stores->uploads.reset();
  EXPECT_THAT(OpenRocksStores({.data_dir = data_dir}),
              StatusIs(absl::StatusCode::kFailedPrecondition, "in use"));
}

TEST(OpenTest, TheFolderIsFreeAgainWhenTheLastStoreIsGone) {
  const std::string data_dir = FreshFolder();
  for (int i = 0; i < 3; ++i) ASSERT_THAT(OpenRocksStores({.data_dir = data_dir}), IsOk());
}

// Root may write anywhere, so the thread gives up that right for a while.
class NoOverride {
 public:
  NoOverride() { Set(kWriteAnywhere, 0); }
  ~NoOverride() { Set(0, kWriteAnywhere); }

 private:
  static constexpr uint32_t kWriteAnywhere = 1u << CAP_DAC_OVERRIDE;
  static void Set(uint32_t clear, uint32_t set) {
    __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[2] = {};
    ASSERT_EQ(syscall(SYS_capget, &header, data), 0);
    data[0].effective = ((data[0].effective & ~clear) | set) & data[0].permitted;
    ASSERT_EQ(syscall(SYS_capset, &header, data), 0);
  }
};

TEST(OpenTest, AnUnwritableFolderIsPermissionDenied) {
  const std::string parent = FreshFolder();
  ASSERT_EQ(chmod(parent.c_str(), 0555), 0);
  const NoOverride no_override;
  EXPECT_THAT(OpenRocksStores({.data_dir = parent}),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       "data_dir: " + parent + "/lock: Permission denied"));
  EXPECT_THAT(OpenRocksStores({.data_dir = parent + "/data"}),
              StatusIs(absl::StatusCode::kPermissionDenied, "data_dir: " + parent + "/data"));
}

TEST(OpenTest, AFileInTheWayIsNamed) {
  const std::string path = FreshFolder() + "/file";
  std::ofstream(path) << "x";
  EXPECT_THAT(OpenRocksStores({.data_dir = path}),
              StatusIs(absl::StatusCode::kFailedPrecondition, "data_dir: " + path));
  EXPECT_THAT(OpenRocksStores({.data_dir = path + "/data"}),
              StatusIs(absl::StatusCode::kFailedPrecondition, "data_dir: " + path));
  EXPECT_THAT(OpenRocksStores({}),
              StatusIs(absl::StatusCode::kInvalidArgument, "data_dir: must not be empty"));
}

TEST(OpenTest, AStoreOfANewerVersionIsRefused) {
  const std::string data_dir = FreshFolder();
  ASSERT_THAT(OpenRocksStores({.data_dir = data_dir}), IsOk());
  const auto set_version = [&](const std::string& version) {
    ASSERT_OK_AND_ASSIGN(const auto kv, OpenRocksKv(data_dir + "/db", 0));
    KvBatch batch;
    batch.Put(Family::kMeta, kStoreVersionKey, version);
    ASSERT_THAT(kv->Write(batch, true), IsOk());
  };
  set_version("\x03");
  EXPECT_THAT(OpenRocksStores({.data_dir = data_dir}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "a newer version of chakrad wrote it: store version 3 is above 2"));
  set_version("");
  EXPECT_THAT(OpenRocksStores({.data_dir = data_dir}),
              StatusIs(absl::StatusCode::kDataLoss, "version is damaged"));
  set_version("\x02");
  EXPECT_THAT(OpenRocksStores({.data_dir = data_dir}), IsOk());
}

TEST(OpenTest, AStoreWithoutItsVersionIsDataLoss) {
  const std::string data_dir = FreshFolder();
  ASSERT_OK_AND_ASSIGN(auto kv, OpenRocksKv(data_dir + "/db", 0));
  KvBatch batch;
  batch.Put(Family::kJobs, "x", "y");
  ASSERT_THAT(kv->Write(batch, true), IsOk());
  kv.reset();
  EXPECT_THAT(OpenRocksStores({.data_dir = data_dir}),
              StatusIs(absl::StatusCode::kDataLoss, "version is missing"));
}

TEST(OpenTest, AnUnknownFamilyIsANewerVersion) {
  const std::string data_dir = FreshFolder();
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::DB* raw = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open(options, data_dir + "/db", &raw).ok());
  std::unique_ptr<rocksdb::DB> db(raw);
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  ASSERT_TRUE(db->CreateColumnFamily({}, "from_the_future", &handle).ok());
  ASSERT_TRUE(db->DestroyColumnFamilyHandle(handle).ok());
  db.reset();
  EXPECT_THAT(OpenRocksStores({.data_dir = data_dir}),
              StatusIs(absl::StatusCode::kFailedPrecondition, "family \"from_the_future\""));
}

TEST(OpenTest, ADamagedDatabaseIsDataLoss) {
  const std::string data_dir = FreshFolder();
  ASSERT_THAT(OpenRocksStores({.data_dir = data_dir}), IsOk());
  std::ofstream(data_dir + "/db/CURRENT") << "MANIFEST-999999\n";
  const absl::Status status = OpenRocksStores({.data_dir = data_dir}).status();
  EXPECT_FALSE(status.ok());
  EXPECT_NE(std::string(status.message()).find("data_dir: "), std::string::npos) << status;
}

TEST(OpenTest, AFolderThatLostCurrentIsDamagedAndNotNew) {
  const std::string data_dir = FreshFolder();
  {
    ASSERT_OK_AND_ASSIGN(const Stores stores, OpenRocksStores({.data_dir = data_dir}));
    ASSERT_THAT(stores.traces->Put(RandomTrace(1, 1, 100), InfoOf("t")), IsOk());
  }
  std::filesystem::rename(data_dir + "/db/CURRENT", data_dir + "/aside");
  EXPECT_THAT(OpenRocksStores({.data_dir = data_dir}),
              StatusIs(absl::StatusCode::kDataLoss, "CURRENT is gone"));
  std::filesystem::rename(data_dir + "/aside", data_dir + "/db/CURRENT");
  ASSERT_OK_AND_ASSIGN(const Stores stores, OpenRocksStores({.data_dir = data_dir}));
  EXPECT_THAT(stores.traces->Load("t", kAll), IsOk());
}

TEST(OpenTest, AReserveRefusesTracesAndLeavesReadsRecordsAndDeletes) {
  const std::string data_dir = FreshFolder();
  {
    ASSERT_OK_AND_ASSIGN(const Stores stores, OpenRocksStores({data_dir, /*reserve_bytes=*/0}));
    ASSERT_THAT(stores.traces->Put(RandomTrace(1, 2, 5000), InfoOf("t")), IsOk());
  }
  ASSERT_OK_AND_ASSIGN(const Stores stores, OpenRocksStores({data_dir, INT64_MAX / 2 + 1}));
  EXPECT_THAT(stores.traces->Put(RandomTrace(2, 2, 5000), InfoOf("t2")),
              StatusIs(absl::StatusCode::kResourceExhausted, "trace t2: store: no space"));
  EXPECT_THAT(stores.traces->GetInfo("t2"), StatusIs(absl::StatusCode::kNotFound, ""));
  EXPECT_THAT(stores.traces->Load("t", kAll), IsOk());
  JobRecord job;
  job.id = "j";
  EXPECT_THAT(stores.jobs->Create(job), IsOk());
  EXPECT_THAT(stores.traces->Delete("t"), IsOk());
  ASSERT_OK_AND_ASSIGN(const int64_t total_bytes, stores.traces->TotalBytes());
  EXPECT_EQ(total_bytes, 0);
}

TEST(OpenTest, ARefusedCommitOfKnownChunksDoesNotKeepTracesFromBeingDeleted) {
  const std::string data_dir = FreshFolder();
  // So many chunks that their counts alone are more than a record.
  const Trace trace = RandomTrace(1, 250, 60);
  {
    ASSERT_OK_AND_ASSIGN(const Stores stores, OpenRocksStores({data_dir, /*reserve_bytes=*/0}));
    ASSERT_THAT(stores.traces->Put(trace, InfoOf("first")), IsOk());
    ASSERT_THAT(stores.traces->Put(trace, InfoOf("second")), IsOk());
  }
  ASSERT_OK_AND_ASSIGN(const Stores stores, OpenRocksStores({data_dir, INT64_MAX / 2 + 1}));
  EXPECT_THAT(stores.traces->Put(trace, InfoOf("third")),
              StatusIs(absl::StatusCode::kResourceExhausted, "no space"));
  EXPECT_THAT(stores.traces->Delete("first"), IsOk());  // All of its chunks stay, shared.
  ASSERT_OK_AND_ASSIGN(const VerifyResult second, stores.traces->Verify("second"));
  EXPECT_TRUE(second.errors.empty()) << second.errors[0];
  EXPECT_GT(second.chunks_count, 1'700);  // Both kinds of batch are above kRecordBatchBytes.
  EXPECT_THAT(stores.traces->Delete("second"), IsOk());
  ASSERT_OK_AND_ASSIGN(const int64_t total_bytes, stores.traces->TotalBytes());
  EXPECT_EQ(total_bytes, 0);
}

int64_t FolderBytes(const std::string& folder) {
  int64_t total_bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) total_bytes += static_cast<int64_t>(entry.file_size());
  }
  return total_bytes;
}

TEST(OpenTest, DeletedChunksGiveTheirSpaceBack) {
  const std::string folder = FreshFolder() + "/db";
  ASSERT_OK_AND_ASSIGN(const auto kv, OpenRocksKv(folder, 0));
  std::mt19937_64 random(1);
  std::vector<std::string> keys;
  for (int i = 0; i < 100; ++i) {
    std::string value(1 << 20, '\0');
    for (char& byte : value) byte = static_cast<char>(random());
    keys.push_back(std::to_string(random()));
    KvBatch batch;
    batch.Put(Family::kChunks, keys.back(), value);
    ASSERT_THAT(kv->Write(batch, false), IsOk());
  }
  EXPECT_GT(FolderBytes(folder), 100 << 20);
  // All but every eighth, so that no blob file is dead as a whole.
  KvBatch batch;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (i % 8 != 0) batch.Delete(Family::kChunks, keys[i]);
  }
  ASSERT_THAT(kv->Write(batch, true), IsOk());
  ASSERT_THAT(kv->Reclaim(Family::kChunks), IsOk());
  // 13 MiB live; the rest is logs within their limit.
  EXPECT_LT(FolderBytes(folder), (30 << 20) + static_cast<int64_t>(kMaxWalBytes));
  for (size_t i = 0; i < keys.size(); i += 8) {
    EXPECT_THAT(kv->Get(Family::kChunks, keys[i]), IsOk());
  }
}

TEST(OpenTest, ADeletedTraceGivesItsDiskBack) {
  const std::string data_dir = FreshFolder();
  ASSERT_OK_AND_ASSIGN(const Stores stores,
                       OpenRocksStores({.data_dir = data_dir, .reserve_bytes = 0}));
  constexpr int64_t kFileBytes = 96 << 20;
  const std::string path = FreshFolder() + "/noise";
  {
    std::mt19937_64 random(1);
    std::ofstream file(path, std::ios::binary);
    for (int64_t i = 0; i < kFileBytes / 8; ++i) {
      const uint64_t word = random();
      file.write(reinterpret_cast<const char*>(&word), sizeof(word));
    }
  }
  const Trace trace = RandomTrace(1, 1, 10);
  const auto draft = stores.traces->NewDraft();
  ASSERT_THAT(draft->AddRank(trace.ranks[0]), IsOk());
  ASSERT_THAT(draft->AddRawFile("noise", path), IsOk());
  TraceInfo info = InfoOf("t");
  info.groups = trace.groups;
  ASSERT_THAT(draft->Commit(info), IsOk());
  EXPECT_GT(FolderBytes(data_dir), kFileBytes);
  ASSERT_THAT(stores.traces->Delete("t"), IsOk());
  // What is left is the log, within its limit.
  EXPECT_LT(FolderBytes(data_dir), (2 << 20) + static_cast<int64_t>(kMaxWalBytes));
}

TEST(OpenTest, ABlobFileDamagedOnDiskIsDataLossOfItsTrace) {
  const std::string data_dir = FreshFolder();
  {
    ASSERT_OK_AND_ASSIGN(const auto kv, OpenRocksKv(data_dir + "/db", 0));
    ASSERT_THAT(InitStoreVersion(kv.get()), IsOk());
  }
  {
    ASSERT_OK_AND_ASSIGN(const Stores stores, OpenRocksStores({data_dir, 0}));
    ASSERT_THAT(stores.traces->Put(RandomTrace(1, 1, 5000), InfoOf("bad")), IsOk());
    // Four bytes a node: below the size of a blob.
    ASSERT_THAT(stores.traces->Put(RandomTrace(2, 1, 5), InfoOf("good")), IsOk());
  }
  {
    ASSERT_OK_AND_ASSIGN(const auto kv, OpenRocksKv(data_dir + "/db", 0));
    ASSERT_THAT(kv->Reclaim(Family::kChunks), IsOk());  // Out of the log, into files.
  }
  int damaged = 0;
  for (const auto& entry : std::filesystem::directory_iterator(data_dir + "/db")) {
    if (entry.path().extension() != ".blob") continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(entry.file_size() / 2));
    file.write("damage", 6);
    ++damaged;
  }
  ASSERT_GT(damaged, 0);
  ASSERT_OK_AND_ASSIGN(const Stores stores, OpenRocksStores({data_dir, 0}));
  EXPECT_THAT(stores.traces->Load("bad", kAll),
              StatusIs(absl::StatusCode::kDataLoss, "trace bad, rank 0"));
  ASSERT_OK_AND_ASSIGN(const Trace good, stores.traces->Load("good", kAll));
  ExpectSameTrace(good, RandomTrace(2, 1, 5));
}

// kill -9 while it writes, at several moments: what was acknowledged is there.
TEST(OpenTest, WhatWasAcknowledgedSurvivesAKill) {
  for (int round = 0; round < 4; ++round) {
    SCOPED_TRACE(round);
    const std::string data_dir = FreshFolder();
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    std::string program = "storage/kill_child", argument = data_dir;
    char* const arguments[] = {program.data(), argument.data(), nullptr};
    pid_t child = 0;
    ASSERT_EQ(posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    std::string said;
    char byte;
    while (read(ends[0], &byte, 1) == 1 && byte != '\n') said.push_back(byte);
    close(ends[0]);
    usleep(3000 * round);
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(said, "stored");
    ASSERT_TRUE(WIFSIGNALED(status));

    ASSERT_OK_AND_ASSIGN(const Stores stores, OpenRocksStores({data_dir, 0}));
    ASSERT_THAT(stores.traces->SweepOrphans(), IsOk());
    ASSERT_THAT(stores.uploads->Recover(), IsOk());
    std::vector<std::string> ids;
    for (const auto& card : *stores.traces->Cards()) ids.push_back(card->id);
    ASSERT_FALSE(ids.empty());
    // Later ones may be there too: if so, whole.
    for (const std::string& id : ids) {
      const uint64_t seed = id == "t" ? 1 : std::stoull(id.substr(2));
      ASSERT_OK_AND_ASSIGN(const Trace trace, stores.traces->Load(id, kAll));
      ExpectSameTrace(trace, RandomTrace(seed, 3, 500));
    }
    EXPECT_THAT(stores.traces->GetInfo("t"), IsOk());
    ASSERT_OK_AND_ASSIGN(const UploadRecord upload, stores.uploads->Get("u"));
    EXPECT_EQ(upload.files.at("a.json").committed_bytes, 9);
    ASSERT_OK_AND_ASSIGN(const std::string path, stores.uploads->PathOf("u", "a.json"));
    EXPECT_EQ(std::filesystem::file_size(path), 9);
    ASSERT_OK_AND_ASSIGN(const JobRecord job, stores.jobs->Get("j"));
    EXPECT_EQ(job.spec, "spec");
    // Nothing is left of the one that was being written.
    for (const std::string& id : ids) ASSERT_THAT(stores.traces->Delete(id), IsOk());
    ASSERT_OK_AND_ASSIGN(const int64_t total_bytes, stores.traces->TotalBytes());
    EXPECT_EQ(total_bytes, 0);
  }
}

}  // namespace
}  // namespace chakrad
