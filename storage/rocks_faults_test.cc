// The trace store on RocksDB over a disk that fails on command.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "storage/faulty_disk.h"
#include "storage/rocks_kv.h"
#include "storage/trace_store_test_suite.h"

namespace chakrad {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TraceStoreTest);

namespace {

const TraceLoadOptions kAll = {.cold = true, .ranks = {}};

class RocksFaultsTest : public testing::Test {
 protected:
  void Open() {
    store_.reset();
    kv_.reset();
    auto kv = OpenRocksKv(folder_, /*reserve_bytes=*/0, disk_.env());
    ASSERT_THAT(kv, IsOk());
    kv_ = *std::move(kv);
    auto store = OpenTraceStore(kv_);
    ASSERT_THAT(store, IsOk());
    store_ = *std::move(store);
  }
  // Out of memory tables, into files.
  void FlushToFiles() {
    for (int i = 0; i < kFamiliesCount; ++i) {
      ASSERT_THAT(kv_->Reclaim(static_cast<Family>(i)), IsOk());
    }
  }
  void ExpectStored(const std::string& id, uint64_t seed, uint32_t nodes_count) {
    ASSERT_OK_AND_ASSIGN(const Trace trace, store_->Load(id, kAll));
    ExpectSameTrace(trace, RandomTrace(seed, 2, nodes_count));
  }

  const std::string folder_ = FreshFolder() + "/db";
  FaultyDisk disk_;
  std::shared_ptr<Kv> kv_;
  std::unique_ptr<TraceStore> store_;
};

TEST_F(RocksFaultsTest, AFullDiskRefusesTracesServesReadsAndHealsByItself) {
  Open();
  ASSERT_THAT(store_->Put(RandomTrace(1, 2, 3000), InfoOf("before")), IsOk());
  disk_.FillAfter(3);
  absl::Status status;
  for (int i = 0; i < 50 && status.ok(); ++i) {
    status = store_->Put(RandomTrace(100 + i, 2, 3000), InfoOf(absl::StrCat("full-", i)));
  }
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted, "trace full-"));
  EXPECT_THAT(store_->Put(RandomTrace(3, 2, 3000), InfoOf("again")),
              StatusIs(absl::StatusCode::kResourceExhausted, "again"));
  EXPECT_THAT(store_->GetInfo("again"), StatusIs(absl::StatusCode::kNotFound, ""));
  ExpectStored("before", 1, 3000);
  disk_.Free();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    status = store_->Put(RandomTrace(3, 2, 3000), InfoOf("again"));
  } while (!status.ok() && std::chrono::steady_clock::now() < deadline);
  ASSERT_THAT(status, IsOk());
  ExpectStored("again", 3, 3000);
  const auto cards = store_->Cards()->size();
  Open();
  EXPECT_EQ(store_->Cards()->size(), cards);
  ExpectStored("before", 1, 3000);
  ExpectStored("again", 3, 3000);
  ASSERT_THAT(store_->SweepOrphans(), IsOk());
  for (const std::string& id : CardIds(store_.get())) ASSERT_THAT(store_->Delete(id), IsOk());
  EXPECT_EQ(store_->TotalBytes().value_or(-1), 0);
}

TEST_F(RocksFaultsTest, WhatWasAcknowledgedSurvivesALossOfPower) {
  Open();
  int64_t syncs = disk_.syncs_count();
  for (int i = 0; i < 5; ++i) {
    ASSERT_THAT(store_->Put(RandomTrace(i, 2, 500), InfoOf(absl::StrCat("t-", i))), IsOk());
    EXPECT_GT(disk_.syncs_count(), syncs);
    syncs = disk_.syncs_count();
  }
  ASSERT_THAT(store_->SetPinned("t-1", true), IsOk());
  ASSERT_THAT(store_->Delete("t-0"), IsOk());
  {
    // Written and not committed: nobody was told that it is there.
    const auto draft = store_->NewDraft();
    ASSERT_THAT(draft->AddRank(RandomRank(77, 500, true, 0)), IsOk());
    disk_.FailSyncs();
  }
  store_.reset();
  kv_.reset();
  disk_.SyncAgain();
  disk_.LosePower();
  Open();
  ASSERT_THAT(store_->SweepOrphans(), IsOk());
  EXPECT_EQ(CardIds(store_.get()), (std::vector<std::string>{"t-4", "t-3", "t-2", "t-1"}));
  for (int i = 1; i < 5; ++i) ExpectStored(absl::StrCat("t-", i), i, 500);
  EXPECT_THAT(store_->Delete("t-1"), StatusIs(absl::StatusCode::kFailedPrecondition, "pinned"));
}

TEST_F(RocksFaultsTest, ATraceWhoseSyncFailedIsNotThere) {
  Open();
  ASSERT_THAT(store_->Put(RandomTrace(1, 2, 500), InfoOf("before")), IsOk());
  disk_.FailSyncs();
  EXPECT_FALSE(store_->Put(RandomTrace(2, 2, 500), InfoOf("t")).ok());
  EXPECT_THAT(store_->GetInfo("t"), StatusIs(absl::StatusCode::kNotFound, ""));
  EXPECT_EQ(CardIds(store_.get()), std::vector<std::string>{"before"});
  ExpectStored("before", 1, 500);
  disk_.SyncAgain();
  Open();
  ExpectStored("before", 1, 500);
}

TEST_F(RocksFaultsTest, ReadErrorsEndWithTheirCause) {
  Open();
  ASSERT_THAT(store_->Put(RandomTrace(1, 2, 3000), InfoOf("t")), IsOk());
  FlushToFiles();
  Open();
  disk_.FailReads(".blob");
  EXPECT_THAT(store_->Load("t", kAll), StatusIs(absl::StatusCode::kUnavailable, "trace t, rank 0"));
  EXPECT_THAT(store_->GetInfo("t"), IsOk());
  disk_.ReadAgain();
  ExpectStored("t", 1, 3000);
}

TEST_F(RocksFaultsTest, BytesThatComeBackWrongAreDataLossOfThatTraceOnly) {
  Open();
  ASSERT_THAT(store_->Put(RandomTrace(1, 2, 3000), InfoOf("bad")), IsOk());
  ASSERT_THAT(store_->Put(RandomTrace(2, 2, 5), InfoOf("good")), IsOk());  // No blobs.
  FlushToFiles();
  Open();
  disk_.CorruptReads(".blob");
  EXPECT_THAT(store_->Load("bad", kAll), StatusIs(absl::StatusCode::kDataLoss, "trace bad, rank"));
  ExpectStored("good", 2, 5);
  ASSERT_OK_AND_ASSIGN(const VerifyResult result, store_->Verify("bad"));
  ASSERT_FALSE(result.errors.empty());
  EXPECT_NE(result.errors[0].find("rank 0: chunk "), std::string::npos) << result.errors[0];
  ASSERT_OK_AND_ASSIGN(const VerifyResult fine, store_->Verify("good"));
  EXPECT_TRUE(fine.errors.empty());
  // Deleting, giving space back, and storing go on.
  ASSERT_THAT(store_->Delete("bad"), IsOk());
  kv_->Reclaim(Family::kChunks).IgnoreError();
  EXPECT_THAT(store_->Put(RandomTrace(3, 2, 3000), InfoOf("next")), IsOk());
}

// Blocks of the tree itself, where manifests and cards are.
TEST_F(RocksFaultsTest, DamagedTableFilesStopNeitherTheStartNorOtherTraces) {
  Open();
  for (int i = 0; i < 300; ++i) {
    ASSERT_THAT(store_->Put(RandomTrace(i, 1, 3), InfoOf(absl::StrCat("t-", 1000 + i))), IsOk());
  }
  FlushToFiles();
  store_.reset();
  kv_.reset();
  // The middle of each table file: a data block of some family.
  int damaged = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    if (entry.path().extension() != ".sst") continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(entry.file_size() / 2));
    file.write("damage", 6);
    ++damaged;
  }
  ASSERT_GT(damaged, 1);
  Open();
  EXPECT_EQ(store_->Cards()->size(), 300);
  int whole = 0, lost = 0;
  for (const std::string& id : CardIds(store_.get())) {
    const absl::Status status = store_->Load(id, kAll).status();
    ASSERT_TRUE(status.ok() || absl::IsDataLoss(status)) << status;
    ++(status.ok() ? whole : lost);
    if (status.ok()) continue;
    EXPECT_NE(status.message().find(id), absl::string_view::npos) << status;
  }
  EXPECT_GT(whole, 200) << lost << " are lost";
  EXPECT_THAT(store_->Put(RandomTrace(1000, 2, 30), InfoOf("new")), IsOk());
  ExpectStored("new", 1000, 30);
  // Nor does a compaction that meets the damage stop writes.
  for (int i = 0; i < kFamiliesCount; ++i) kv_->Reclaim(static_cast<Family>(i)).IgnoreError();
  EXPECT_THAT(store_->Put(RandomTrace(1001, 2, 30), InfoOf("newer")), IsOk());
  ExpectStored("newer", 1001, 30);
}

TEST_F(RocksFaultsTest, DamageThatGivingSpaceBackMeetsDoesNotStopWrites) {
  Open();
  ASSERT_THAT(store_->Put(RandomTrace(1, 2, 3000), InfoOf("kept")), IsOk());
  for (int i = 0; i < 4; ++i) {
    ASSERT_THAT(store_->Put(RandomTrace(10 + i, 2, 3000), InfoOf(absl::StrCat("t-", i))), IsOk());
  }
  FlushToFiles();
  for (int i = 0; i < 4; ++i) ASSERT_THAT(store_->Delete(absl::StrCat("t-", i)), IsOk());
  disk_.CorruptReads(".blob");
  // Most of the file is dead: what lives is copied, and cannot be read.
  EXPECT_FALSE(kv_->Reclaim(Family::kChunks).ok());
  disk_.ReadAgain();
  EXPECT_THAT(store_->Put(RandomTrace(20, 2, 3000), InfoOf("new")), IsOk());
  ExpectStored("kept", 1, 3000);
  ExpectStored("new", 20, 3000);
}

}  // namespace
}  // namespace chakrad
