#include "client/upload.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "client/connection.h"
#include "client/fake_chakrad.h"
#include "client/test_folder.h"
#include "common/sha256.h"
#include "common/status.h"
#include "common/status_matchers.h"

namespace chakrad::client {
namespace {

// `bytes` that differ at every place of a piece.
std::string Content(size_t bytes, char first) {
  std::string content(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) content[i] = static_cast<char>(first + i * 7 + i / 251);
  return content;
}

class UploadTest : public testing::Test {
 protected:
  UploadTest() {
    options_.sleep = [this](std::chrono::milliseconds delay) { sleeps_.push_back(delay); };
    options_.progress = [this](const UploadProgress& progress) { progress_ = progress; };
    fake_.trace.set_name("traces/t-1");
    plan_.request_id = "r-1";
  }

  void AddFile(const std::string& name, const std::string& content) {
    plan_.files.push_back(
        {name, folder_.Write(name, content), static_cast<int64_t>(content.size())});
    contents_[name] = content;
  }
  absl::StatusOr<v1::Trace> Upload() {
    ASSIGN_OR_RETURN(const Uploaded uploaded,
                     UploadTrace(OpenChannel(fake_.address()), plan_, options_));
    return *uploaded.trace;
  }

  TestFolder folder_;
  FakeChakrad fake_;
  UploadPlan plan_;
  UploadOptions options_;
  UploadProgress progress_;
  std::vector<std::chrono::milliseconds> sleeps_;
  std::map<std::string, std::string> contents_;
};

TEST_F(UploadTest, FilesArriveInPiecesOfAtMostOneMebibyte) {
  AddFile("big", Content((2 << 20) + 5, 'a'));
  AddFile("empty", "");
  AddFile("one piece", Content(1 << 20, 'b'));
  plan_.labels["job"] = "llama";
  plan_.settings.rank_by_file["big"] = 3;
  plan_.settings.world_size = 4;
  ASSERT_OK_AND_ASSIGN(const v1::Trace trace, Upload());
  EXPECT_EQ(trace.name(), "traces/t-1");
  EXPECT_EQ(fake_.content_by_file, contents_);
  EXPECT_EQ(fake_.piece_bytes, (std::vector<int64_t>{1 << 20, 1 << 20, 5, 0, 1 << 20}));
  const v1::CreateUploadRequest& created = fake_.created_upload;
  EXPECT_EQ(created.labels().at("job"), plan_.labels.at("job"));
  EXPECT_EQ(created.rank_by_file().size(), plan_.settings.rank_by_file.size());
  EXPECT_EQ(created.world_size(), 4);
  EXPECT_EQ(created.request_id(), "r-1");
  EXPECT_EQ(created.files_size(), 0);  // They were not hashed.
  EXPECT_EQ(fake_.last_end_by_file,
            (std::map<std::string, int64_t>{
                {"big", (2 << 20) + 5}, {"empty", 0}, {"one piece", 1 << 20}}));
  EXPECT_EQ(progress_.committed_bytes, (3 << 20) + 5);
  EXPECT_TRUE(progress_.sealing);
  EXPECT_TRUE(sleeps_.empty());
}

TEST_F(UploadTest, ABrokenStreamGoesOnAtTheCommittedOffset) {
  AddFile("a", Content(3 << 20, 'a'));
  AddFile("b", Content((2 << 20) + 1, 'b'));
  fake_.break_write_after_pieces = {2, 1, 4};
  ASSERT_THAT(Upload(), IsOk());
  EXPECT_EQ(fake_.content_by_file, contents_);
  EXPECT_EQ(fake_.write_streams, 4);
  EXPECT_EQ(fake_.query_calls, 3);
  EXPECT_EQ(fake_.seal_calls, 1);
  // Each byte was taken once: nothing committed is sent again.
  int64_t sum_bytes = 0;
  for (const int64_t bytes : fake_.piece_bytes) sum_bytes += bytes;
  EXPECT_EQ(sum_bytes, (5 << 20) + 1);
}

TEST_F(UploadTest, AnotherRunGoesOnWhereTheFirstStopped) {
  AddFile("a", Content(2 << 20, 'a'));
  fake_.content_by_file["a"] = contents_["a"].substr(0, 1'500'000);
  ASSERT_THAT(Upload(), IsOk());
  EXPECT_EQ(fake_.content_by_file, contents_);
  EXPECT_EQ(fake_.piece_bytes, (std::vector<int64_t>{(2 << 20) - 1'500'000}));
}

TEST_F(UploadTest, ASealedUploadSendsNothingAndAnswersItsTrace) {
  AddFile("a", "content");
  ASSERT_THAT(Upload(), IsOk());
  ASSERT_OK_AND_ASSIGN(const v1::Trace again, Upload());
  EXPECT_EQ(again.name(), "traces/t-1");
  EXPECT_EQ(fake_.write_streams, 1);
}

TEST_F(UploadTest, WhatTheServerKnowsByItsHashesIsNotSent) {
  AddFile("a", "content");
  plan_.files[0].sha256 = Sha256Of("content");
  fake_.known_content = true;
  ASSERT_OK_AND_ASSIGN(const Uploaded uploaded,
                       UploadTrace(OpenChannel(fake_.address()), plan_, options_));
  EXPECT_TRUE(uploaded.already_stored);
  EXPECT_EQ(uploaded.trace->name(), "traces/t-1");
  EXPECT_EQ(fake_.write_streams, 0);
  ASSERT_EQ(fake_.created_upload.files_size(), 1);
  const v1::FileClaim& claim = fake_.created_upload.files(0);
  EXPECT_EQ(claim.file(), "a");
  EXPECT_EQ(claim.size_bytes(), 7);
  EXPECT_EQ(claim.sha256(), Sha256Of("content"));
}

TEST_F(UploadTest, WithoutProgressItGivesUpAndDelaysGrow) {
  AddFile("a", "content");
  fake_.break_write_after_pieces = std::vector<int>(100, 1);
  EXPECT_THAT(Upload(), StatusIs(absl::StatusCode::kUnavailable, ""));
  EXPECT_EQ(fake_.write_streams, kResumePolicy.attempts_max);
  ASSERT_EQ(sleeps_.size(), 9u);
  // Half of each delay is random: [100, 200], [200, 400], ... at most 5 s.
  EXPECT_LE(sleeps_[0].count(), 200);
  EXPECT_GE(sleeps_[2].count(), 400);
  EXPECT_GE(sleeps_[8].count(), 2500);
  EXPECT_LE(sleeps_[8].count(), 5000);
  EXPECT_EQ(fake_.seal_calls, 0);
}

TEST_F(UploadTest, AMomentWithoutServerAtTheStartIsBridged) {
  AddFile("a", "content");
  fake_.broken_creates = 2;
  EXPECT_THAT(Upload(), IsOk());
  EXPECT_EQ(sleeps_.size(), 2u);
}

TEST_F(UploadTest, AFileThatChangesMeanwhileIsNamed) {
  AddFile("a", "content");
  plan_.files[0].bytes = 100;
  EXPECT_THAT(Upload(), StatusIs(absl::StatusCode::kFailedPrecondition, "changed while"));
  EXPECT_EQ(fake_.seal_calls, 0);
}

}  // namespace
}  // namespace chakrad::client
