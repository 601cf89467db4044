// The rest of the suite of UploadStore: several writers of one upload, complete files,
// and states beyond open and sealed. Include beside upload_store_test_suite.h.
#ifndef CHAKRAD_STORAGE_UPLOAD_JOINT_TEST_SUITE_H_
#define CHAKRAD_STORAGE_UPLOAD_JOINT_TEST_SUITE_H_

#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/mutex.h"
#include "common/sha256.h"
#include "common/status_matchers.h"
#include "storage/faulty_kv.h"
#include "storage/upload_store_test_suite.h"

namespace chakrad {

TEST_P(UploadStoreTest, ACompleteFileKeepsItsMarkAndItsHash) {
  CreateUpload("u");
  EXPECT_THAT(store_->Finish("u", "a"), StatusIs(absl::StatusCode::kNotFound, "no bytes yet"));
  ASSERT_THAT(store_->Append("u", "a", 0, "abc"), IsOk());
  ASSERT_THAT(store_->Append("u", "b", 0, "b"), IsOk());
  ASSERT_THAT(store_->Append("u", "empty", 0, ""), IsOk());
  ASSERT_THAT(store_->Finish("u", "a"), IsOk());
  ASSERT_THAT(store_->Finish("u", "empty"), IsOk());
  ASSERT_OK_AND_ASSIGN(const auto committed, store_->CommitFiles("u", {"a", "empty", "none"}));
  const std::map<std::string, UploadedFile> want = {{"a", {3, true, Sha256Of("abc")}},
                                                    {"empty", {0, true, Sha256Of("")}}};
  EXPECT_EQ(committed, want);
  EXPECT_THAT(store_->Append("u", "a", 3, "d"),
              StatusIs(absl::StatusCode::kFailedPrecondition, "complete with 3 bytes"));
  Restart();
  ASSERT_OK_AND_ASSIGN(const UploadRecord got, store_->Get("u"));
  EXPECT_EQ(got.files, want);  // b was not committed.
  EXPECT_THAT(store_->Append("u", "a", 3, "d"),
              StatusIs(absl::StatusCode::kFailedPrecondition, "complete with 3 bytes"));
  EXPECT_THAT(store_->Finish("u", "a"), IsOk());
}

TEST_P(UploadStoreTest, AMarkThatWasNotCommittedIsForgotten) {
  CreateUpload("u");
  ASSERT_THAT(store_->Append("u", "a", 0, "abc"), IsOk());
  ASSERT_THAT(store_->Commit("u"), IsOk());
  ASSERT_THAT(store_->Finish("u", "a"), IsOk());
  Restart();
  EXPECT_THAT(store_->Append("u", "a", 3, "d"), IsOk());
}

TEST_P(UploadStoreTest, BytesThatAreThereCanBeCompared) {
  CreateUpload("u");
  ASSERT_THAT(store_->Append("u", "a", 0, "0123456789"), IsOk());
  const auto matches = [&](int64_t offset, absl::string_view data) {
    const auto same = store_->Matches("u", "a", offset, data);
    EXPECT_THAT(same, IsOk());
    return same.ok() && *same;
  };
  EXPECT_TRUE(matches(0, "0123456789"));
  EXPECT_TRUE(matches(9, "9"));
  EXPECT_TRUE(matches(10, ""));
  EXPECT_FALSE(matches(0, "0123456788"));
  EXPECT_FALSE(matches(9, "9a"));
  EXPECT_FALSE(matches(-1, "0"));
}

// Eight threads, each with files of its own in one upload; one commits now and then for all.
TEST_P(UploadStoreTest, WritersOfOneUploadDoNotMixTheirFiles) {
  CreateUpload("u");
  constexpr int kWriters = 8;
  constexpr int kPieces = 30;
  std::vector<std::thread> threads;
  for (int writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([&, writer] {
      const std::string file = absl::StrCat("f", writer);
      for (int piece = 0; piece < kPieces; ++piece) {
        ASSERT_THAT(
            store_->Append("u", file, 8 * piece, absl::StrCat(10000000 + writer * 100 + piece)),
            IsOk());
        if (piece % 3 == writer % 3) {
          ASSERT_THAT(store_->CommitFiles("u", {file}), IsOk());
        }
        if (piece % 10 == writer) {
          ASSERT_THAT(store_->Commit("u"), IsOk());
        }
      }
      ASSERT_THAT(store_->Finish("u", file), IsOk());
      ASSERT_OK_AND_ASSIGN(const auto committed, store_->CommitFiles("u", {file}));
      EXPECT_EQ(committed.at(file).committed_bytes, 8 * kPieces);
      EXPECT_TRUE(committed.at(file).complete);
    });
  }
  for (std::thread& thread : threads) thread.join();
  Restart();
  ASSERT_OK_AND_ASSIGN(const UploadRecord got, store_->Get("u"));
  EXPECT_EQ(got.files.size(), kWriters);
  for (int writer = 0; writer < kWriters; ++writer) {
    std::string want;
    for (int piece = 0; piece < kPieces; ++piece) {
      absl::StrAppend(&want, 10000000 + writer * 100 + piece);
    }
    const std::string file = absl::StrCat("f", writer);
    EXPECT_EQ(BytesOf("u", file), want);
    EXPECT_EQ(got.files.at(file).sha256, Sha256Of(want));
  }
}

// An engine whose writes wait until they are let through, as on a slow disk.
class HeldKv : public FaultyKv {
 public:
  using FaultyKv::FaultyKv;
  void Hold(bool held) {
    MutexLock lock(&mutex_);
    held_ = held;
    changed_.NotifyAll();
  }
  void WaitForAWrite() {
    MutexLock lock(&mutex_);
    while (waiting_ == 0) changed_.Wait(&mutex_);
  }
  absl::Status Write(const KvBatch& batch, bool sync) override {
    {
      MutexLock lock(&mutex_);
      ++waiting_;
      changed_.NotifyAll();
      while (held_) changed_.Wait(&mutex_);
      --waiting_;
    }
    return FaultyKv::Write(batch, sync);
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool held_ ABSL_GUARDED_BY(mutex_) = false;
  int waiting_ ABSL_GUARDED_BY(mutex_) = 0;
};

TEST_P(UploadStoreTest, AppendsGoOnWhileACommitWaitsForTheDisk) {
  const auto held = std::make_shared<HeldKv>(engine_->kv());
  const auto store = NewUploadStore(held, staging_dir_, 0);
  CreateUpload("u");
  CreateUpload("other");
  ASSERT_THAT(store->Append("u", "a", 0, "abc"), IsOk());
  held->Hold(true);
  std::thread committer([&] {
    ASSERT_OK_AND_ASSIGN(const auto committed, store->CommitFiles("u", {"a"}));
    EXPECT_EQ(committed.at("a").committed_bytes, 3);
  });
  held->WaitForAWrite();
  // The same file, another one, another upload: none waits.
  EXPECT_THAT(store->Append("u", "a", 3, "def"), IsOk());
  EXPECT_THAT(store->Append("u", "b", 0, "b"), IsOk());
  EXPECT_THAT(store->Append("other", "c", 0, "c"), IsOk());
  held->Hold(false);
  committer.join();
  // What came meanwhile is the next commit's.
  EXPECT_EQ(CommittedOf("u"), (Committed{{"a", 3}}));
  ASSERT_THAT(store->Commit("u"), IsOk());
  EXPECT_EQ(CommittedOf("u"), (Committed{{"a", 6}, {"b", 1}}));
}

TEST_P(UploadStoreTest, ASecondFileMayBeCommittedBeforeTheFirst) {
  CreateUpload("u");
  ASSERT_THAT(store_->Append("u", "first", 0, "1"), IsOk());
  ASSERT_THAT(store_->Append("u", "second", 0, "22"), IsOk());
  ASSERT_THAT(store_->CommitFiles("u", {"second"}), IsOk());
  Restart();
  EXPECT_EQ(CommittedOf("u"), (Committed{{"second", 2}}));
  ASSERT_THAT(store_->Append("u", "third", 0, "333"), IsOk());
  ASSERT_THAT(store_->Append("u", "first", 0, "1"), IsOk());
  ASSERT_THAT(store_->Commit("u"), IsOk());
  Restart();
  EXPECT_EQ(CommittedOf("u"), (Committed{{"first", 1}, {"second", 2}, {"third", 3}}));
  EXPECT_EQ(BytesOf("u", "second"), "22");
  EXPECT_EQ(BytesOf("u", "third"), "333");
}

TEST_P(UploadStoreTest, SealingTakesNoMoreBytesAndSurvivesARestart) {
  CreateUpload("u");
  ASSERT_THAT(store_->Append("u", "a", 0, "abc"), IsOk());
  ASSERT_THAT(store_->Finish("u", "a"), IsOk());
  ASSERT_OK_AND_ASSIGN(UploadRecord record, store_->Commit("u"));
  record.state = UploadRecord::State::kSealing;
  record.seal_notice = "by call";
  ASSERT_THAT(store_->Update(record), IsOk());
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(store_->Append("u", "b", 0, "x"),
                StatusIs(absl::StatusCode::kFailedPrecondition, "being sealed"));
    EXPECT_EQ(BytesOf("u", "a"), "abc");
    ASSERT_OK_AND_ASSIGN(const auto unsealed, store_->ListUnsealed());
    ASSERT_EQ(unsealed.size(), 1u);
    EXPECT_EQ(unsealed[0].state, UploadRecord::State::kSealing);
    EXPECT_EQ(unsealed[0].seal_notice, "by call");
    EXPECT_TRUE(unsealed[0].files.at("a").complete);
    Restart();
  }
  // Somebody cut the file meanwhile: it must be sent again before the upload is sealed.
  ASSERT_OK_AND_ASSIGN(const std::string path, store_->PathOf("u", "a"));
  std::filesystem::resize_file(path, 1);
  Restart();
  ASSERT_OK_AND_ASSIGN(record, store_->Get("u"));
  EXPECT_EQ(record.state, UploadRecord::State::kOpen);
  EXPECT_EQ(record.files.at("a"), (UploadedFile{1, false, ""}));
  EXPECT_THAT(store_->Append("u", "a", 1, "bc"), IsOk());
}

TEST_P(UploadStoreTest, ARefusedUploadKeepsItsErrorAndNotItsBytes) {
  UploadRecord record;
  record.id = "u";
  record.request_id = "req";
  record.join = UploadJoin{};
  ASSERT_THAT(store_->Create(record), IsOk());
  ASSERT_THAT(store_->Append("u", "a", 0, "abc"), IsOk());
  ASSERT_OK_AND_ASSIGN(record, store_->Commit("u"));
  record.state = UploadRecord::State::kRefused;
  record.error = "a: no trace\xff";
  record.end_unix_ns = 17;
  ASSERT_THAT(store_->Update(record), IsOk());
  EXPECT_FALSE(std::filesystem::exists(staging_dir_ + "/u"));
  Restart();
  ASSERT_OK_AND_ASSIGN(const UploadRecord got, store_->FindByRequestId("req"));
  EXPECT_EQ(got.state, UploadRecord::State::kRefused);
  EXPECT_EQ(got.error, record.error);
  EXPECT_EQ(got.end_unix_ns, 17);
  EXPECT_THAT(store_->Append("u", "a", 3, "x"),
              StatusIs(absl::StatusCode::kFailedPrecondition, "was refused: a: no trace"));
  ASSERT_THAT(store_->Delete("u"), IsOk());
  EXPECT_THAT(store_->FindByRequestId("req"), StatusIs(absl::StatusCode::kNotFound, ""));
}

TEST_P(UploadStoreTest, AnUploadCanBeBornSealed) {
  UploadRecord record;
  record.id = "u";
  record.request_id = "req";
  record.state = UploadRecord::State::kSealed;
  EXPECT_THAT(store_->Create(record), StatusIs(absl::StatusCode::kInvalidArgument, "trace_id"));
  record.trace_id = "t-1";
  record.claims = {{"a", {1, std::string(32, 'a')}}};
  ASSERT_THAT(store_->Create(record), IsOk());
  Restart();
  ASSERT_OK_AND_ASSIGN(const UploadRecord got, store_->FindByRequestId("req"));
  EXPECT_EQ(got.trace_id, "t-1");
  EXPECT_EQ(got.claims, record.claims);
  ASSERT_OK_AND_ASSIGN(const auto unsealed, store_->ListUnsealed());
  EXPECT_TRUE(unsealed.empty());
  int visited = 0;
  ASSERT_THAT(store_->Visit([&](const UploadRecord&) { ++visited; }), IsOk());
  EXPECT_EQ(visited, 1);
  record.state = UploadRecord::State::kRefused;
  record.id = "v";
  EXPECT_THAT(store_->Create(record),
              StatusIs(absl::StatusCode::kInvalidArgument, "open or sealed"));
}

TEST_P(UploadStoreTest, AnUpdateDuringAnUploadLosesNoBytes) {
  CreateUpload("u");
  ASSERT_THAT(store_->Append("u", "a", 0, "abc"), IsOk());
  ASSERT_OK_AND_ASSIGN(UploadRecord record, store_->Get("u"));
  record.settings.rank_by_file["a"] = 3;
  ASSERT_THAT(store_->Update(record), IsOk());
  ASSERT_THAT(store_->Append("u", "a", 3, "d"), IsOk());
  ASSERT_OK_AND_ASSIGN(record, store_->Commit("u"));
  EXPECT_EQ(BytesByFile(record), (Committed{{"a", 4}}));
  EXPECT_EQ(record.settings.rank_by_file.at("a"), 3);
}

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_UPLOAD_JOINT_TEST_SUITE_H_
