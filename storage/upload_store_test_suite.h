// What every UploadStore must do, whatever its engine. Include in one test and
// instantiate: INSTANTIATE_TEST_SUITE_P(Mem, UploadStoreTest, ...).
#ifndef CHAKRAD_STORAGE_UPLOAD_STORE_TEST_SUITE_H_
#define CHAKRAD_STORAGE_UPLOAD_STORE_TEST_SUITE_H_

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "storage/faulty_kv.h"
#include "storage/limits.h"
#include "storage/test_engine.h"
#include "storage/upload_store_kv.h"

namespace chakrad {

inline std::string ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class UploadStoreTest : public EngineTest {
 protected:
  using Committed = std::map<std::string, int64_t>;

  std::unique_ptr<UploadStore> Open() { return NewUploadStore(engine_->kv(), staging_dir_, 0); }
  void Restart() {
    store_.reset();
    engine_->Reopen();
    store_ = Open();
    ASSERT_THAT(store_->Recover(), IsOk());
  }
  void CreateUpload(const std::string& id) {
    UploadRecord record;
    record.id = id;
    ASSERT_THAT(store_->Create(record), IsOk());
  }
  static Committed BytesByFile(const UploadRecord& record) {
    Committed bytes;
    for (const auto& [name, file] : record.files) bytes[name] = file.committed_bytes;
    return bytes;
  }
  Committed CommittedOf(const std::string& id) {
    const auto record = store_->Get(id);
    EXPECT_THAT(record, IsOk());
    return record.ok() ? BytesByFile(*record) : Committed();
  }
  std::string BytesOf(const std::string& id, const std::string& file) {
    const auto path = store_->PathOf(id, file);
    EXPECT_THAT(path, IsOk());
    return path.ok() ? ReadWhole(*path) : "";
  }

  const std::string staging_dir_ = FreshFolder() + "/staging";
  std::unique_ptr<UploadStore> store_ = Open();
};

TEST_P(UploadStoreTest, ARecordComesBackWhole) {
  UploadRecord record;
  record.id = "u1";
  record.request_id = "req\xff";
  record.create_unix_ns = 123;
  record.labels = {{"a", "b"}, {"\xfe", "\xff"}};
  record.settings.rank_by_file = {{"r0.json", 0}, {"r7.json", 7}};
  record.settings.world_size = 8;
  record.settings.passes_count = 3;
  record.settings.lenient = true;
  record.settings.repair = true;
  record.keep_files = true;
  record.join = UploadJoin{4, 3'600'000'000'000};
  record.claims = {{"a\xff", {5, std::string(32, '\xff')}}, {"b", {0, std::string(32, 'b')}}};
  ASSERT_THAT(store_->Create(record), IsOk());
  Restart();
  ASSERT_OK_AND_ASSIGN(const UploadRecord got, store_->Get("u1"));
  EXPECT_EQ(got.id, "u1");
  EXPECT_EQ(got.request_id, record.request_id);
  EXPECT_EQ(got.state, UploadRecord::State::kOpen);
  EXPECT_EQ(got.create_unix_ns, 123);
  EXPECT_EQ(got.labels, record.labels);
  EXPECT_EQ(got.settings, record.settings);
  EXPECT_EQ(got.trace_id, "");
  EXPECT_TRUE(got.keep_files);
  EXPECT_EQ(got.join, record.join);
  EXPECT_EQ(got.claims, record.claims);
  EXPECT_TRUE(got.files.empty());
}

TEST_P(UploadStoreTest, ARepeatedRequestFindsItsUpload) {
  UploadRecord record;
  record.id = "u1";
  record.request_id = "req";
  ASSERT_THAT(store_->Create(record), IsOk());
  record.id = "u2";
  record.settings.world_size = 9;
  ASSERT_OK_AND_ASSIGN(const UploadRecord again, store_->Create(record));
  EXPECT_EQ(again.id, "u1");
  EXPECT_EQ(again.settings.world_size, 0);
  EXPECT_THAT(store_->Get("u2"), StatusIs(absl::StatusCode::kNotFound, "upload u2"));
  ASSERT_OK_AND_ASSIGN(const UploadRecord found, store_->FindByRequestId("req"));
  EXPECT_EQ(found.id, "u1");
  EXPECT_EQ(store_->FindByRequestId("nobody's").status().code(), absl::StatusCode::kNotFound);
  record.request_id = "other";
  record.id = "u1";
  EXPECT_THAT(store_->Create(record), StatusIs(absl::StatusCode::kAlreadyExists, "u1"));
  // Without a request id each is its own.
  CreateUpload("u3");
  CreateUpload("u4");
  ASSERT_OK_AND_ASSIGN(const auto all, store_->ListUnsealed());
  EXPECT_EQ(all.size(), 3);
  // A deleted upload's request id is free again.
  ASSERT_THAT(store_->Delete("u1"), IsOk());
  record.id = "u5";
  record.request_id = "req";
  ASSERT_OK_AND_ASSIGN(const UploadRecord anew, store_->Create(record));
  EXPECT_EQ(anew.id, "u5");
}

TEST_P(UploadStoreTest, BytesAreThereOnceCommitted) {
  CreateUpload("u");
  ASSERT_THAT(store_->Append("u", "a", 0, "hello "), IsOk());
  ASSERT_THAT(store_->Append("u", "b", 0, ""), IsOk());
  ASSERT_THAT(store_->Append("u", "a", 6, "world"), IsOk());
  EXPECT_TRUE(CommittedOf("u").empty());
  EXPECT_THAT(store_->PathOf("u", "a"), StatusIs(absl::StatusCode::kNotFound, "nothing committed"));
  ASSERT_OK_AND_ASSIGN(const UploadRecord record, store_->Commit("u"));
  EXPECT_EQ(BytesByFile(record), (Committed{{"a", 11}, {"b", 0}}));
  EXPECT_EQ(BytesOf("u", "a"), "hello world");
  EXPECT_EQ(BytesOf("u", "b"), "");
  EXPECT_THAT(store_->Commit("u"), IsOk());  // Nothing new: nothing to do.
}

TEST_P(UploadStoreTest, OnlyTheNextByteMayFollow) {
  CreateUpload("u");
  EXPECT_THAT(store_->Append("u", "a", 1, "x"),
              StatusIs(absl::StatusCode::kOutOfRange, "offset: 1 is not the appended size, 0"));
  ASSERT_THAT(store_->Append("u", "a", 0, "abc"), IsOk());
  for (int64_t offset : {int64_t{-1}, int64_t{0}, int64_t{2}, int64_t{4}, INT64_MAX}) {
    EXPECT_THAT(store_->Append("u", "a", offset, "x"),
                StatusIs(absl::StatusCode::kOutOfRange, "is not the appended size, 3"));
  }
  EXPECT_THAT(store_->Append("u", "a", 3, "d"), IsOk());
  EXPECT_THAT(store_->Append("nobody", "a", 0, "x"), StatusIs(absl::StatusCode::kNotFound, ""));
  EXPECT_THAT(store_->Append("../u", "a", 0, "x"), StatusIs(absl::StatusCode::kNotFound, ""));
}

TEST_P(UploadStoreTest, FileNamesAreNeverPaths) {
  CreateUpload("u");
  const std::vector<std::string> names = {"../../evil",         "/etc/passwd",         "a/b", ".",
                                          std::string("\0", 1), std::string(1024, 'n')};
  for (const std::string& name : names) {
    ASSERT_THAT(store_->Append("u", name, 0, name), IsOk());
  }
  ASSERT_THAT(store_->Commit("u"), IsOk());
  for (const std::string& name : names) {
    ASSERT_OK_AND_ASSIGN(const std::string path, store_->PathOf("u", name));
    EXPECT_EQ(std::filesystem::path(path).parent_path(), staging_dir_ + "/u");
    EXPECT_EQ(ReadWhole(path), name);
  }
  EXPECT_THAT(store_->Append("u", std::string(1025, 'n'), 0, "x"),
              StatusIs(absl::StatusCode::kInvalidArgument, "file: 1025 bytes"));
  EXPECT_THAT(store_->Append("u", "", 0, "x"),
              StatusIs(absl::StatusCode::kInvalidArgument, "file: must not be empty"));
}

TEST_P(UploadStoreTest, ARestartKeepsWhatWasCommittedAndCutsTheRest) {
  CreateUpload("u");
  ASSERT_THAT(store_->Append("u", "a", 0, "committed"), IsOk());
  ASSERT_THAT(store_->Commit("u"), IsOk());
  ASSERT_THAT(store_->Append("u", "a", 9, " and not"), IsOk());
  ASSERT_THAT(store_->Append("u", "new", 0, "never committed"), IsOk());
  ASSERT_OK_AND_ASSIGN(const std::string path, store_->PathOf("u", "a"));
  EXPECT_EQ(ReadWhole(path), "committed and not");
  Restart();
  EXPECT_EQ(CommittedOf("u"), (Committed{{"a", 9}}));
  EXPECT_EQ(BytesOf("u", "a"), "committed");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(staging_dir_ + "/u"), {}), 1);
  ASSERT_THAT(store_->Append("u", "new", 0, "again"), IsOk());
  ASSERT_THAT(store_->Append("u", "a", 9, "!"), IsOk());
  ASSERT_THAT(store_->Commit("u"), IsOk());
  EXPECT_EQ(BytesOf("u", "new"), "again");
  EXPECT_EQ(BytesOf("u", "a"), "committed!");
}

TEST_P(UploadStoreTest, AFileCutFromOutsideIsAskedForAgainFromThere) {
  CreateUpload("u");
  ASSERT_THAT(store_->Append("u", "a", 0, "0123456789"), IsOk());
  ASSERT_THAT(store_->Append("u", "b", 0, "0123456789"), IsOk());
  ASSERT_THAT(store_->Commit("u"), IsOk());
  ASSERT_OK_AND_ASSIGN(const std::string path_a, store_->PathOf("u", "a"));
  ASSERT_OK_AND_ASSIGN(const std::string path_b, store_->PathOf("u", "b"));
  std::filesystem::resize_file(path_a, 4);
  std::filesystem::remove(path_b);
  Restart();
  EXPECT_EQ(CommittedOf("u"), (Committed{{"a", 4}, {"b", 0}}));
  EXPECT_THAT(store_->Append("u", "a", 4, "4"), IsOk());
}

TEST_P(UploadStoreTest, RecoverRemovesFilesOfNoUpload) {
  CreateUpload("open");
  ASSERT_THAT(store_->Append("open", "a", 0, "x"), IsOk());
  ASSERT_THAT(store_->Commit("open"), IsOk());
  std::filesystem::create_directories(staging_dir_ + "/gone/deep");
  std::ofstream(staging_dir_ + "/gone/0") << "left over";
  std::ofstream(staging_dir_ + "/stray") << "left over";
  std::ofstream(staging_dir_ + "/open/17") << "left over";
  Restart();
  EXPECT_FALSE(std::filesystem::exists(staging_dir_ + "/gone"));
  EXPECT_FALSE(std::filesystem::exists(staging_dir_ + "/stray"));
  EXPECT_FALSE(std::filesystem::exists(staging_dir_ + "/open/17"));
  EXPECT_EQ(BytesOf("open", "a"), "x");
}

TEST_P(UploadStoreTest, ASealedUploadKeepsItsRecordAndNotItsBytes) {
  UploadRecord record;
  record.id = "u";
  record.request_id = "req";
  ASSERT_THAT(store_->Create(record), IsOk());
  ASSERT_THAT(store_->Append("u", "a", 0, "x"), IsOk());
  ASSERT_THAT(store_->Commit("u"), IsOk());
  ASSERT_THAT(store_->MarkSealed("u", "t-1"), IsOk());
  EXPECT_FALSE(std::filesystem::exists(staging_dir_ + "/u"));
  Restart();
  ASSERT_OK_AND_ASSIGN(const UploadRecord again, store_->Create(record));
  EXPECT_EQ(again.state, UploadRecord::State::kSealed);
  EXPECT_EQ(again.trace_id, "t-1");
  EXPECT_THAT(store_->Append("u", "a", 1, "y"),
              StatusIs(absl::StatusCode::kFailedPrecondition, "sealed as trace t-1"));
  EXPECT_THAT(store_->Commit("u"), StatusIs(absl::StatusCode::kFailedPrecondition, "sealed"));
  EXPECT_THAT(store_->PathOf("u", "a"), StatusIs(absl::StatusCode::kFailedPrecondition, "sealed"));
  EXPECT_THAT(store_->MarkSealed("u", "t-1"), IsOk());
  EXPECT_THAT(store_->MarkSealed("u", "t-2"),
              StatusIs(absl::StatusCode::kFailedPrecondition, "t-1"));
}

TEST_P(UploadStoreTest, DeleteRemovesRecordAndBytes) {
  CreateUpload("u");
  CreateUpload("u2");  // Its keys begin like those of u.
  for (const char* id : {"u", "u2"}) {
    ASSERT_THAT(store_->Append(id, "a", 0, id), IsOk());
    ASSERT_THAT(store_->Commit(id), IsOk());
  }
  ASSERT_THAT(store_->Delete("u"), IsOk());
  EXPECT_THAT(store_->Get("u"), StatusIs(absl::StatusCode::kNotFound, ""));
  EXPECT_THAT(store_->Delete("u"), StatusIs(absl::StatusCode::kNotFound, ""));
  EXPECT_FALSE(std::filesystem::exists(staging_dir_ + "/u"));
  EXPECT_EQ(BytesOf("u2", "a"), "u2");
  CreateUpload("u");  // A new one starts empty.
  EXPECT_TRUE(CommittedOf("u").empty());
}

TEST_P(UploadStoreTest, AFullDiskNamesBytesAndFileAndUploadingGoesOn) {
  CreateUpload("u");
  ASSERT_THAT(store_->Append("u", "a", 0, "abc"), IsOk());
  ASSERT_THAT(store_->Commit("u"), IsOk());
  // The next file lands on the device that is always full.
  std::filesystem::create_symlink("/dev/full", staging_dir_ + "/u/1");
  EXPECT_THAT(store_->Append("u", "big.json", 0, "0123456789"),
              StatusIs(absl::StatusCode::kResourceExhausted, "file \"big.json\": 10 bytes at 0"));
  std::filesystem::remove(staging_dir_ + "/u/1");
  ASSERT_THAT(store_->Append("u", "a", 3, "d"), IsOk());
  ASSERT_THAT(store_->Append("u", "big.json", 0, "0123456789"), IsOk());
  ASSERT_OK_AND_ASSIGN(const UploadRecord record, store_->Commit("u"));
  EXPECT_EQ(BytesByFile(record), (Committed{{"a", 4}, {"big.json", 10}}));
  EXPECT_EQ(BytesOf("u", "big.json"), "0123456789");
}

TEST_P(UploadStoreTest, AReserveThatWouldBeTouchedRefusesBytes) {
  CreateUpload("u");
  const auto store = NewUploadStore(engine_->kv(), staging_dir_, INT64_MAX / 2 + 1);
  EXPECT_THAT(
      store->Append("u", "a.json", 0, "abc"),
      StatusIs(absl::StatusCode::kResourceExhausted, "file \"a.json\": no space for 3 bytes"));
}

TEST_P(UploadStoreTest, ACommitThatFailsCommitsNothingAndMayBeRepeated) {
  const auto faulty = std::make_shared<FaultyKv>(engine_->kv());
  const auto store = NewUploadStore(faulty, staging_dir_, 0);
  faulty->FailWritesAfter(0, absl::UnavailableError("down"));
  UploadRecord record;
  record.id = "u";
  EXPECT_THAT(store->Create(record), StatusIs(absl::StatusCode::kUnavailable, "down"));
  EXPECT_THAT(store->Get("u"), StatusIs(absl::StatusCode::kNotFound, ""));
  faulty->Heal();
  ASSERT_THAT(store->Create(record), IsOk());
  ASSERT_THAT(store->Append("u", "a", 0, "abc"), IsOk());
  faulty->FailWritesAfter(0, absl::UnavailableError("down"));
  EXPECT_THAT(store->Commit("u"), StatusIs(absl::StatusCode::kUnavailable, "down"));
  EXPECT_THAT(store->MarkSealed("u", "t"), StatusIs(absl::StatusCode::kUnavailable, "down"));
  EXPECT_THAT(store->Delete("u"), StatusIs(absl::StatusCode::kUnavailable, "down"));
  ASSERT_OK_AND_ASSIGN(UploadRecord got, store->Get("u"));
  EXPECT_TRUE(got.files.empty());
  EXPECT_EQ(got.state, UploadRecord::State::kOpen);
  faulty->Heal();
  ASSERT_OK_AND_ASSIGN(got, store->Commit("u"));
  EXPECT_EQ(BytesByFile(got), (Committed{{"a", 3}}));
}

TEST_P(UploadStoreTest, ManyFilesKeepTheirBytesApart) {
  CreateUpload("u");
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 300; ++i) {
      ASSERT_THAT(store_->Append("u", absl::StrCat("f", i), 4 * round,
                                 absl::StrCat(1000 + (i + round) % 1000)),
                  IsOk());
    }
    ASSERT_THAT(store_->Commit("u"), IsOk());
    Restart();
  }
  EXPECT_EQ(CommittedOf("u").size(), 300);
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(BytesOf("u", absl::StrCat("f", i)), absl::StrCat(1000 + i, 1001 + i, 1002 + i));
  }
}

TEST_P(UploadStoreTest, ADamagedRecordStopsNoOtherUploadAndLosesNoBytes) {
  for (const char* id : {"a", "b", "c"}) {
    CreateUpload(id);
    ASSERT_THAT(store_->Append(id, "f", 0, "bytes"), IsOk());
    ASSERT_THAT(store_->Commit(id), IsOk());
  }
  KvBatch batch;
  batch.Put(Family::kUploads, "ub", "no record");
  ASSERT_THAT(engine_->kv()->Write(batch, /*sync=*/true), IsOk());
  store_ = Open();
  ASSERT_OK_AND_ASSIGN(const int64_t damaged_count, store_->Recover());
  EXPECT_EQ(damaged_count, 1);
  EXPECT_TRUE(std::filesystem::exists(staging_dir_ + "/b"));
  EXPECT_THAT(store_->Get("b"), StatusIs(absl::StatusCode::kDataLoss, "upload b"));
  ASSERT_OK_AND_ASSIGN(const auto unsealed, store_->ListUnsealed());
  ASSERT_EQ(unsealed.size(), 2u);
  EXPECT_EQ(unsealed[1].id, "c");
  EXPECT_EQ(BytesOf("c", "f"), "bytes");
}

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_UPLOAD_STORE_TEST_SUITE_H_
