// Uploads whose files come from several hosts.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "server/ingest/test_uploads.h"
#include "server/ingest/upload_manager.h"

namespace chakrad {
namespace {

using State = UploadRecord::State;

constexpr int64_t kHourNs = 3600 * int64_t{1'000'000'000};

TEST_F(UploadManagerTest, HostsThatWriteAtTheSameTimeMakeOneTraceByCount) {
  constexpr int kHosts = 8;
  std::vector<std::thread> hosts;
  std::vector<std::string> ids(kHosts);
  for (int host = 0; host < kHosts; ++host) {
    hosts.emplace_back([&, host] {
      UploadRequest request = Request("job-7", UploadJoin{kHosts, 0});
      const std::string file = absl::StrCat("host", host, ".json");
      request.settings.rank_by_file[file] = host;
      ids[host] = Create(request);
      ASSERT_THAT(Write(ids[host], {{file, KinetoOf(host, kHosts)}}), IsOk());
    });
  }
  for (std::thread& host : hosts) host.join();
  for (const std::string& id : ids) EXPECT_EQ(id, ids[0]);
  ASSERT_TRUE(Reaches(ids[0], State::kSealed));
  ASSERT_OK_AND_ASSIGN(const TraceInfo trace, manager_->Seal(ids[0]));
  EXPECT_EQ(trace.ranks.size(), kHosts);
  EXPECT_EQ(traces_.commits_count(), 1);
  for (const std::string& notice : trace.notices) {
    EXPECT_EQ(notice.find("joint upload"), std::string::npos) << notice;  // Nothing is amiss.
  }
}

TEST_F(UploadManagerTest, AFileHasOneWriterAtATime) {
  const std::string id = Create(Request("a", UploadJoin{}));
  ASSERT_OK_AND_ASSIGN(const auto first, manager_->BeginWrite(id));
  ASSERT_OK_AND_ASSIGN(auto second, manager_->BeginWrite(id));
  ASSERT_THAT(first->Append("f", 0, "abc"), IsOk());
  EXPECT_THAT(second->Append("f", 3, "d"),
              StatusIs(absl::StatusCode::kAborted, "f is being written"));
  EXPECT_THAT(second->Append("g", 0, "g"), IsOk());
  ASSERT_THAT(first->Commit(), IsOk());
  EXPECT_THAT(second->Commit(), IsOk());
  second = nullptr;
  EXPECT_THAT(first->Append("g", 1, "h"), IsOk());
}

TEST_F(UploadManagerTest, ATimeOutSealsWhatIsCompleteAndNamesTheRest) {
  UploadRequest request = Request("a", UploadJoin{4, kHourNs});
  request.settings.rank_by_file = {{"rank0.json", 0}, {"rank3.json", 3}};
  const std::string id = Create(request);
  ASSERT_THAT(Write(id, {{"rank0.json", KinetoOf(0, 4)}, {"rank1.json", KinetoOf(1, 4)}}), IsOk());
  ASSERT_THAT(Write(id, {{"rank2.json", "{\"traceEv"}}, /*last=*/false), IsOk());
  clock_.AdvanceNs(kHourNs - kSecondNs);
  manager_->Housekeep();
  EXPECT_EQ(StateOf(id), State::kOpen);
  clock_.AdvanceNs(kSecondNs);
  manager_->Housekeep();
  ASSERT_TRUE(Reaches(id, State::kSealed));
  ASSERT_OK_AND_ASSIGN(const TraceInfo trace, manager_->Seal(id));
  EXPECT_EQ(trace.ranks.size(), 2u);
  ASSERT_FALSE(trace.notices.empty());
  EXPECT_EQ(trace.notices[0],
            "joint upload: sealed by time-out after 3600 s, 2 files complete of 4 expected; left "
            "out, since not complete: rank2.json (9 bytes); never came: rank3.json (rank 3)");
}

TEST_F(UploadManagerTest, ATimeOutWithoutACompleteFileEndsTheUpload) {
  const std::string id = Create(Request("a", UploadJoin{2, kHourNs}));
  ASSERT_THAT(Write(id, {{"rank0.json", "{"}}, /*last=*/false), IsOk());
  clock_.AdvanceNs(kHourNs);
  manager_->Housekeep();
  EXPECT_THAT(manager_->Query(id), StatusIs(absl::StatusCode::kNotFound, ""));
}

TEST_F(UploadManagerTest, TimersAndCompleteFilesSurviveARestart) {
  const std::string id = Create(Request("a", UploadJoin{3, kHourNs}));
  ASSERT_THAT(Write(id, {{"rank0.json", KinetoOf(0, 2)}}), IsOk());
  clock_.AdvanceNs(kHourNs / 2);
  Restart();
  EXPECT_EQ(StateOf(id), State::kOpen);
  ASSERT_THAT(Write(id, {{"rank1.json", KinetoOf(1, 2)}}), IsOk());
  clock_.AdvanceNs(kHourNs / 2);
  Restart();
  manager_->Housekeep();
  ASSERT_TRUE(Reaches(id, State::kSealed));
  ASSERT_OK_AND_ASSIGN(const TraceInfo trace, manager_->Seal(id));
  EXPECT_EQ(trace.ranks.size(), 2u);
}

TEST_F(UploadManagerTest, AnUploadThatWasBeingSealedIsTakenUpAgain) {
  // The daemon dies between the decision to seal and the trace.
  traces_.SetBeforeCommit([] { return absl::UnavailableError("the daemon dies here"); });
  const std::string id = Create(Request("a", UploadJoin{1, 0}));
  ASSERT_THAT(Write(id, {{"rank0.json", KinetoOf(0, 1)}}), IsOk());
  ASSERT_TRUE(Reaches(id, State::kSealing));
  EXPECT_THAT(manager_->BeginWrite(id).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition, "being sealed"));
  manager_ = nullptr;
  traces_.SetBeforeCommit(nullptr);
  Restart();
  EXPECT_TRUE(Reaches(id, State::kSealed));
  EXPECT_EQ(traces_.commits_count(), 1);
}

TEST_F(UploadManagerTest, ASealThatFailsForAWhileIsTriedAgainAndSaysWhy) {
  std::atomic<bool> full = true;
  traces_.SetBeforeCommit(
      [&] { return full ? absl::ResourceExhaustedError("the disk is full") : absl::OkStatus(); });
  const std::string id = Create(Request("a", UploadJoin{}));
  ASSERT_THAT(Write(id, {{"rank0.json", KinetoOf(0, 1)}}), IsOk());
  EXPECT_THAT(manager_->Seal(id),
              StatusIs(absl::StatusCode::kResourceExhausted, "the disk is full"));
  ASSERT_OK_AND_ASSIGN(const UploadRecord failed, manager_->Query(id));
  EXPECT_EQ(failed.state, State::kSealing);
  EXPECT_EQ(failed.error, "the disk is full");
  full = false;
  manager_->Housekeep();
  EXPECT_EQ(StateOf(id), State::kSealing);  // Not yet.
  clock_.AdvanceNs(kSealRetrySeconds * kSecondNs);
  manager_->Housekeep();
  ASSERT_TRUE(Reaches(id, State::kSealed));
  ASSERT_OK_AND_ASSIGN(const UploadRecord sealed, manager_->Query(id));
  EXPECT_EQ(sealed.error, "");
}

TEST_F(UploadManagerTest, ACallSealsAJointUploadAtOnce) {
  const std::string id = Create(Request("a", UploadJoin{5, 0}));
  EXPECT_THAT(manager_->Seal(id),
              StatusIs(absl::StatusCode::kFailedPrecondition, "no file is complete"));
  ASSERT_THAT(Write(id, {{"rank0.json", KinetoOf(0, 1)}}), IsOk());
  ASSERT_OK_AND_ASSIGN(const TraceInfo trace, manager_->Seal(id));
  EXPECT_EQ(trace.notices[0],
            "joint upload: sealed by a call of Seal, 1 files complete of 5 expected");
  ASSERT_OK_AND_ASSIGN(const TraceInfo again, manager_->Seal(id));
  EXPECT_EQ(again.id, trace.id);
  EXPECT_THAT(manager_->BeginWrite(id).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition, trace.id));
}

TEST_F(UploadManagerTest, AWriterThatComesTooLateIsTold) {
  const std::string id = Create(Request("a", UploadJoin{1, 0}));
  ASSERT_OK_AND_ASSIGN(const auto late, manager_->BeginWrite(id));
  ASSERT_THAT(late->Append("late.json", 0, "{"), IsOk());
  ASSERT_THAT(late->Commit(), IsOk());
  ASSERT_THAT(Write(id, {{"rank0.json", KinetoOf(0, 1)}}), IsOk());
  EXPECT_THAT(late->Append("late.json", 1, "}", true),
              StatusIs(absl::StatusCode::kFailedPrecondition, "sealed"));
  ASSERT_OK_AND_ASSIGN(const TraceInfo trace, manager_->Seal(id));
  EXPECT_EQ(trace.notices[0],
            "joint upload: sealed with all that it expected, 1 files complete of 1 expected; left "
            "out, since not complete: late.json (1 bytes)");
}

TEST_F(UploadManagerTest, ARefusedOneKeepsItsErrorUntilItExpiresOrIsDeleted) {
  const UploadRequest request = Request("a", UploadJoin{1, 0});
  const std::string id = Create(request);
  ASSERT_THAT(Write(id, {{"rank0.json", "this is no trace"}}), IsOk());
  ASSERT_TRUE(Reaches(id, State::kRefused));
  Restart();
  ASSERT_OK_AND_ASSIGN(const UploadRecord refused, manager_->Create(request));
  EXPECT_EQ(refused.id, id);
  EXPECT_EQ(refused.state, State::kRefused);
  EXPECT_NE(refused.error.find("rank0.json"), std::string::npos) << refused.error;
  EXPECT_THAT(manager_->Seal(id), StatusIs(absl::StatusCode::kInvalidArgument, refused.error));
  EXPECT_THAT(manager_->BeginWrite(id).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition, "was refused"));
  EXPECT_EQ(manager_->UseByTenant().size(), 0u);  // Its bytes are gone.
  ASSERT_THAT(manager_->Delete(id), IsOk());
  const std::string second = Create(request);
  EXPECT_NE(second, id);
  ASSERT_THAT(Write(second, {{"rank0.json", "neither is this"}}), IsOk());
  ASSERT_TRUE(Reaches(second, State::kRefused));
  clock_.AdvanceNs(kAbandonedUploadSeconds * kSecondNs);
  // The thread that refused it may still hold it for a moment.
  for (int i = 0; i < 1000 && manager_->Query(second).ok(); ++i) {
    manager_->Housekeep();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_THAT(manager_->Query(second), StatusIs(absl::StatusCode::kNotFound, ""));
}

TEST_F(UploadManagerTest, RanksOfTheHostsAddUpUnlessTheyContradict) {
  UploadRequest request = Request("a", UploadJoin{2, 0});
  request.settings.rank_by_file = {{"x.json", 0}};
  const std::string id = Create(request);
  request.settings.rank_by_file = {{"y.json", 1}};
  EXPECT_EQ(Create(request), id);
  ASSERT_OK_AND_ASSIGN(const UploadRecord upload, manager_->Query(id));
  EXPECT_EQ(upload.settings.rank_by_file,
            (std::map<std::string, int32_t>{{"x.json", 0}, {"y.json", 1}}));
  request.settings.rank_by_file = {{"x.json", 3}};
  EXPECT_THAT(manager_->Create(request),
              StatusIs(absl::StatusCode::kAlreadyExists, "\"x.json\" was 0, and is 3 now"));
  request.settings.rank_by_file.clear();
  request.join->expected_files = 3;
  EXPECT_THAT(manager_->Create(request),
              StatusIs(absl::StatusCode::kAlreadyExists, "join.expected_files was 2, and is 3"));
  request.join = UploadJoin{2, kHourNs / 2};
  EXPECT_THAT(manager_->Create(request),
              StatusIs(absl::StatusCode::kAlreadyExists, "join.seal_after_seconds was 3600"));
}

TEST_F(UploadManagerTest, ABrokenStreamGoesOnFileByFile) {
  const std::string id = Create(Request("a", UploadJoin{2, 0}));
  const std::string text = KinetoOf(0, 2);
  {
    ASSERT_OK_AND_ASSIGN(const auto writer, manager_->BeginWrite(id));
    ASSERT_THAT(writer->Append("rank0.json", 0, text.substr(0, 20)), IsOk());
    ASSERT_THAT(writer->Commit(), IsOk());
    ASSERT_THAT(writer->Append("rank0.json", 20, text.substr(20, 5)), IsOk());
  }  // Breaks.
  ASSERT_THAT(Write(id, {{"rank1.json", KinetoOf(1, 2)}}), IsOk());
  Restart();
  ASSERT_OK_AND_ASSIGN(const UploadRecord upload, manager_->Query(id));
  EXPECT_EQ(upload.files.at("rank0.json").committed_bytes, 20);
  EXPECT_TRUE(upload.files.at("rank1.json").complete);
  ASSERT_OK_AND_ASSIGN(const auto writer, manager_->BeginWrite(id));
  ASSERT_THAT(writer->Append("rank0.json", 20, text.substr(20), true), IsOk());
  ASSERT_THAT(writer->Commit(), IsOk());
  EXPECT_TRUE(Reaches(id, State::kSealed));
}

TEST_F(UploadManagerTest, TheSameFilesFromHostsAreTheTraceThatOneClientPushed) {
  ASSERT_OK_AND_ASSIGN(const TraceInfo stored, Push(Request("alone"), TwoRanks()));
  const std::string id = Create(Request("joint", UploadJoin{2, 0}));
  for (const auto& [file, text] : TwoRanks()) ASSERT_THAT(Write(id, {{file, text}}), IsOk());
  ASSERT_TRUE(Reaches(id, State::kSealed));
  ASSERT_OK_AND_ASSIGN(const UploadRecord upload, manager_->Query(id));
  EXPECT_EQ(upload.trace_id, stored.id);
  EXPECT_EQ(traces_.commits_count(), 1);
}

TEST_F(UploadManagerTest, WhatAJointUploadAsksForIsChecked) {
  EXPECT_THAT(manager_->Create(Request("a", UploadJoin{-1, 0})),
              StatusIs(absl::StatusCode::kInvalidArgument, "join.expected_files: -1"));
  EXPECT_THAT(manager_->Create(Request("a", UploadJoin{0, -1})),
              StatusIs(absl::StatusCode::kInvalidArgument, "join.seal_after_seconds"));
  EXPECT_THAT(
      manager_->Create(Request("a", UploadJoin{0, (kAbandonedUploadSeconds + 1) * kSecondNs})),
      StatusIs(absl::StatusCode::kInvalidArgument, "604801 is not in [0, 604800]"));
  UploadRequest request = Request("a", UploadJoin{});
  request.claims = ClaimsOf(TwoRanks());
  EXPECT_THAT(manager_->Create(request),
              StatusIs(absl::StatusCode::kInvalidArgument, "a joint upload takes none"));
}

}  // namespace
}  // namespace chakrad
