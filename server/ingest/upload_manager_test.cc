// Uploads of one client: repeated, claimed, bounded, expired.
#include "server/ingest/upload_manager.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "server/ingest/test_uploads.h"

namespace chakrad {
namespace {

using State = UploadRecord::State;

TEST_F(UploadManagerTest, TheSameFilesUnderAnotherRequestIdAreTheSameTrace) {
  ASSERT_OK_AND_ASSIGN(const TraceInfo first, Push(Request("a"), TwoRanks()));
  ASSERT_OK_AND_ASSIGN(const TraceInfo second, Push(Request("b"), TwoRanks()));
  EXPECT_EQ(first.id, second.id);
  EXPECT_EQ(traces_.commits_count(), 1);
  // Other labels, settings or bytes are another trace.
  UploadRequest labelled = Request("c");
  labelled.labels["job"] = "llama";
  ASSERT_OK_AND_ASSIGN(const TraceInfo third, Push(labelled, TwoRanks()));
  UploadRequest lenient = Request("d");
  lenient.settings.lenient = true;
  ASSERT_OK_AND_ASSIGN(const TraceInfo fourth, Push(lenient, TwoRanks()));
  Files other = TwoRanks();
  other["rank1.json"] = KinetoOf(1, 2, "aten::add");
  ASSERT_OK_AND_ASSIGN(const TraceInfo fifth, Push(Request("e"), other));
  EXPECT_EQ((std::set<std::string>{first.id, third.id, fourth.id, fifth.id}).size(), 4u);
}

TEST_F(UploadManagerTest, EightThreadsThatPushTheSameStoreItOnce) {
  limits_.concurrent_seals = 8;
  Restart();
  std::vector<std::thread> threads;
  std::vector<std::string> ids(8);
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const auto pushed = Push(Request(absl::StrCat("r", i)), TwoRanks());
      ASSERT_THAT(pushed, IsOk());
      ids[i] = pushed->id;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 1u);
  EXPECT_EQ(traces_.commits_count(), 1);
}

TEST_F(UploadManagerTest, ClaimsOfAStoredTraceNeedNoBytes) {
  ASSERT_OK_AND_ASSIGN(const TraceInfo stored, Push(Request("a"), TwoRanks()));
  UploadRequest request = Request("b");
  request.claims = ClaimsOf(TwoRanks());
  ASSERT_OK_AND_ASSIGN(const UploadRecord upload, manager_->Create(request));
  EXPECT_EQ(upload.state, State::kSealed);
  EXPECT_EQ(upload.trace_id, stored.id);
  ASSERT_OK_AND_ASSIGN(const TraceInfo sealed, manager_->Seal(upload.id));
  EXPECT_EQ(sealed.id, stored.id);
  Restart();
  ASSERT_OK_AND_ASSIGN(const UploadRecord again, manager_->Create(request));
  EXPECT_EQ(again.id, upload.id);
  // A trace that is gone is no answer.
  ASSERT_THAT(traces_.Delete(stored.id), IsOk());
  ASSERT_OK_AND_ASSIGN(const UploadRecord anew, manager_->Create(request));
  EXPECT_EQ(anew.state, State::kOpen);
  EXPECT_NE(anew.id, upload.id);
}

TEST_F(UploadManagerTest, AFileThatIsNotAsClaimedIsRefusedWithBothHashes) {
  UploadRequest request = Request("a");
  request.claims = ClaimsOf({{"rank0.json", "{}"}});
  const std::string id = Create(request);
  const std::string text = KinetoOf(0, 1);
  ASSERT_THAT(Write(id, {{"rank0.json", text}}), IsOk());
  const auto sealed = manager_->Seal(id);
  const auto hex = [](const std::string& bytes) { return absl::BytesToHexString(Sha256Of(bytes)); };
  EXPECT_THAT(sealed, StatusIs(absl::StatusCode::kInvalidArgument, "rank0.json: was claimed"));
  EXPECT_THAT(sealed, StatusIs(absl::StatusCode::kInvalidArgument, hex("{}")));
  EXPECT_THAT(sealed, StatusIs(absl::StatusCode::kInvalidArgument, hex(text)));
  EXPECT_THAT(manager_->Query(id), StatusIs(absl::StatusCode::kNotFound, ""));
  const std::string missing = Create(request);
  EXPECT_THAT(manager_->Seal(missing),
              StatusIs(absl::StatusCode::kInvalidArgument, "rank0.json: was claimed with 2 bytes"));
  const std::string more = Create(request);
  ASSERT_THAT(Write(more, {{"rank0.json", "{}"}, {"x.json", ""}}), IsOk());
  EXPECT_THAT(manager_->Seal(more),
              StatusIs(absl::StatusCode::kInvalidArgument, "x.json: is not among the 1 files"));
}

TEST_F(UploadManagerTest, ARepeatedRequestThatDiffersNamesTheFirstDifference) {
  UploadRequest first = Request("a");
  first.labels = {{"job", "llama"}};
  first.settings.rank_by_file = {{"f", 1}};
  first.settings.world_size = 4;
  first.claims = ClaimsOf({{"f", "abc"}});
  const std::string id = Create(first);
  const auto differs = [&](const auto& change, const std::string& what) {
    UploadRequest request = first;
    change(&request);
    EXPECT_THAT(manager_->Create(request), StatusIs(absl::StatusCode::kAlreadyExists, what));
    EXPECT_THAT(manager_->Create(request), StatusIs(absl::StatusCode::kAlreadyExists, id));
  };
  differs([](UploadRequest* r) { r->labels["job"] = "gpt"; },
          "labels: job was \"llama\", and is \"gpt\" now");
  differs([](UploadRequest* r) { r->labels.clear(); }, "labels: job was \"llama\", and is absent");
  differs([](UploadRequest* r) { r->labels["a"] = "b"; }, "labels: a was absent");
  differs([](UploadRequest* r) { r->settings.rank_by_file["f"] = 2; },
          "rank_by_file: \"f\" was 1, and is 2 now");
  differs([](UploadRequest* r) { r->settings.rank_by_file["g"] = 2; }, "\"g\" was absent");
  differs([](UploadRequest* r) { r->settings.world_size = 8; }, "world_size was 4, and is 8");
  differs([](UploadRequest* r) { r->settings.passes_count = 2; }, "passes_count was 1");
  differs([](UploadRequest* r) { r->settings.lenient = true; }, "lenient was false");
  differs([](UploadRequest* r) { r->settings.repair = true; }, "repair was false");
  differs([](UploadRequest* r) { r->keep_files = true; }, "keep_files was false");
  differs(
      [](UploadRequest* r) {
        r->claims = ClaimsOf({{"f", "abd"}});
      },
      "files: \"f\" was 3 bytes");
  differs(
      [](UploadRequest* r) {
        r->claims = ClaimsOf({{"f", "abc"}, {"g", ""}});
      },
      "files: \"g\" was absent");
  differs(
      [](UploadRequest* r) {
        r->claims.clear();
        r->join = UploadJoin{};
      },
      "join was absent, and is present");
  UploadRequest without_claims = first;
  without_claims.claims.clear();
  EXPECT_EQ(Create(without_claims), id);
  EXPECT_EQ(Create(first), id);
}

TEST_F(UploadManagerTest, ClaimsThatContradictAFinishedUploadAreADifference) {
  ASSERT_OK_AND_ASSIGN(const TraceInfo stored, Push(Request("a"), TwoRanks()));
  UploadRequest request = Request("a");
  request.claims = ClaimsOf(TwoRanks());
  ASSERT_OK_AND_ASSIGN(const UploadRecord same, manager_->Create(request));
  EXPECT_EQ(same.trace_id, stored.id);
  request.claims = ClaimsOf({{"rank0.json", "{}"}, {"rank1.json", "{}"}});
  EXPECT_THAT(manager_->Create(request),
              StatusIs(absl::StatusCode::kAlreadyExists, "files: \"rank0.json\" was"));
}

TEST_F(UploadManagerTest, BytesThatDifferFromThoseThatAreThereAreRefused) {
  const std::string id = Create(Request("a"));
  ASSERT_THAT(Write(id, {{"f", "0123456789"}}, /*last=*/false), IsOk());
  ASSERT_OK_AND_ASSIGN(const auto writer, manager_->BeginWrite(id));
  EXPECT_THAT(writer->Append("f", 2, "2345"), IsOk());
  EXPECT_THAT(writer->Append("f", 8, "8_ab"),
              StatusIs(absl::StatusCode::kFailedPrecondition, "f: the bytes [8, 10) differ"));
  EXPECT_THAT(writer->Append("f", 0, "0123", true),
              StatusIs(absl::StatusCode::kFailedPrecondition, "f: ends at 4"));
  EXPECT_THAT(writer->Append("f", 8, "89ab", true), IsOk());
  EXPECT_THAT(writer->Append("f", 12, "c"),
              StatusIs(absl::StatusCode::kFailedPrecondition, "f: is complete with 12 bytes"));
  EXPECT_THAT(writer->Append("f", 12, "", true), IsOk());
  ASSERT_OK_AND_ASSIGN(const auto committed, writer->Commit());
  ASSERT_EQ(committed.size(), 1u);
  EXPECT_EQ(committed[0].committed_bytes, 12);
}

TEST_F(UploadManagerTest, ATenantsBoundNamesItsNumbersAndOthersGoOn) {
  limits_.tenant_bytes = 500;
  traces_.SetStoredBytes(300);
  Restart();
  UploadRequest request = Request("a");
  request.labels["tenant"] = "red";
  ASSERT_OK_AND_ASSIGN(const TraceInfo stored, Push(request, TwoRanks()));
  request.request_id = "b";
  request.labels["step"] = "2";
  const std::string id = Create(request);
  ASSERT_THAT(Write(id, {{"f", std::string(150, 'x')}}), IsOk());
  EXPECT_THAT(Write(id, {{"g", std::string(60, 'x')}}),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "tenant \"red\" has 300 bytes stored and 150 staged; 60 more would exceed "
                       "500 (--max_tenant_bytes)"));
  request.request_id = "c";
  request.claims = ClaimsOf({{"f", std::string(51, 'x')}});
  EXPECT_THAT(manager_->Create(request),
              StatusIs(absl::StatusCode::kResourceExhausted, "51 more would exceed 500"));
  // Bounds come back after a restart, and bytes that go make room.
  Restart();
  const auto use = manager_->UseByTenant();
  EXPECT_EQ(use.at("red").staged_bytes, 150);
  EXPECT_EQ(use.at("red").stored_bytes, 300);
  EXPECT_EQ(use.at("red").traces_count, 1);
  EXPECT_THAT(Push(Request("d"), TwoRanks()), IsOk());  // Of no tenant.
  ASSERT_THAT(manager_->Delete(id), IsOk());
  EXPECT_THAT(manager_->Create(request), IsOk());
  ASSERT_THAT(traces_.Delete(stored.id), IsOk());
  EXPECT_EQ(manager_->UseByTenant().count("red"), 0u);
}

TEST_F(UploadManagerTest, TheBoundOfAllIsCheckedAtSealToo) {
  limits_.store_bytes = 1000;
  traces_.SetStoredBytes(100);
  Restart();
  const std::string id = Create(Request("a"));
  ASSERT_THAT(Write(id, TwoRanks()), IsOk());
  traces_.SetStoredBytes(900);  // Meanwhile somebody else stored a lot.
  TraceInfo other;
  other.id = "t-other";
  ASSERT_THAT(traces_.NewDraft()->Commit(other), IsOk());
  EXPECT_THAT(manager_->Seal(id),
              StatusIs(absl::StatusCode::kResourceExhausted, "the store has 900 bytes stored"));
  EXPECT_THAT(manager_->Seal(id),
              StatusIs(absl::StatusCode::kResourceExhausted, "--max_store_bytes"));
  EXPECT_EQ(StateOf(id), State::kOpen);
  ASSERT_THAT(traces_.Delete("t-other"), IsOk());
  EXPECT_THAT(manager_->Seal(id), IsOk());
}

TEST_F(UploadManagerTest, AbandonedUploadsExpireByThemselves) {
  const std::string old = Create(Request("old"));
  ASSERT_THAT(Write(old, {{"f", "x"}}, /*last=*/false), IsOk());
  clock_.AdvanceNs((kAbandonedUploadSeconds - 10) * kSecondNs);
  const std::string young = Create(Request("young"));
  manager_->Housekeep();
  EXPECT_EQ(StateOf(old), State::kOpen);
  clock_.AdvanceNs(20 * kSecondNs);
  {
    ASSERT_OK_AND_ASSIGN(const auto writer, manager_->BeginWrite(old));
    manager_->Housekeep();
    EXPECT_EQ(StateOf(old), State::kOpen);  // Somebody writes to it.
  }
  manager_->Housekeep();
  EXPECT_THAT(manager_->Query(old), StatusIs(absl::StatusCode::kNotFound, ""));
  EXPECT_EQ(StateOf(young), State::kOpen);
  EXPECT_NE(Create(Request("old")), old);
  EXPECT_EQ(manager_->UseByTenant().size(), 0u);
}

TEST_F(UploadManagerTest, AClockThatIsSetExpiresNothing) {
  const std::string before = Create(Request("a"));
  clock_.StepNs(30 * 24 * 3600 * kSecondNs);
  manager_->Housekeep();
  EXPECT_EQ(StateOf(before), State::kOpen);
  // A trace from the future, and the clock is put right.
  ASSERT_THAT(Push(Request("future"), TwoRanks()), IsOk());
  clock_.StepNs(-60 * int64_t{24} * 3600 * kSecondNs);
  const std::string after = Create(Request("b"));
  manager_->Housekeep();
  EXPECT_EQ(StateOf(before), State::kOpen);
  EXPECT_EQ(StateOf(after), State::kOpen);
  clock_.AdvanceNs(8 * int64_t{24} * 3600 * kSecondNs);
  manager_->Housekeep();
  ASSERT_OK_AND_ASSIGN(const auto unsealed, store_->ListUnsealed());
  EXPECT_TRUE(unsealed.empty());
}

TEST_F(UploadManagerTest, RecordsOfTracesThatAreGoneGoToo) {
  ASSERT_OK_AND_ASSIGN(const TraceInfo kept, Push(Request("kept"), TwoRanks()));
  UploadRequest labelled = Request("gone");
  labelled.labels["job"] = "llama";
  ASSERT_OK_AND_ASSIGN(const TraceInfo gone, Push(labelled, TwoRanks()));
  ASSERT_THAT(traces_.Delete(gone.id), IsOk());
  clock_.AdvanceNs((kRecordSweepSeconds + 1) * kSecondNs);
  manager_->Housekeep();
  int records = 0;
  ASSERT_THAT(store_->Visit([&](const UploadRecord& record) {
    ++records;
    EXPECT_EQ(record.trace_id, kept.id);
  }),
              IsOk());
  EXPECT_EQ(records, 1);
}

TEST_F(UploadManagerTest, ListsHaveTheUnsealedOldestFirstInPages) {
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) {
    ids.push_back(Create(Request(absl::StrCat("r", i))));
    clock_.AdvanceNs(1);
  }
  ASSERT_THAT(Push(Request("sealed"), TwoRanks()), IsOk());
  std::vector<std::string> seen;
  std::string token;
  do {
    ASSERT_OK_AND_ASSIGN(const UploadPage page, manager_->List(2, token));
    EXPECT_LE(page.uploads.size(), 2u);
    for (const UploadRecord& upload : page.uploads) seen.push_back(upload.id);
    token = page.next_page_token;
    if (seen.size() == 2) {
      ASSERT_THAT(manager_->Delete(ids[1]), IsOk());
    }
  } while (!token.empty());
  EXPECT_EQ(seen, ids);
  EXPECT_THAT(manager_->List(2, "nonsense"),
              StatusIs(absl::StatusCode::kInvalidArgument, "page_token"));
}

TEST_F(UploadManagerTest, OnlyWhatNobodyNeedsIsDeleted) {
  const std::string id = Create(Request("a"));
  {
    ASSERT_OK_AND_ASSIGN(const auto writer, manager_->BeginWrite(id));
    EXPECT_THAT(manager_->Delete(id), StatusIs(absl::StatusCode::kAborted, "being written"));
  }
  EXPECT_THAT(manager_->Delete(id), IsOk());
  EXPECT_THAT(manager_->Delete(id), StatusIs(absl::StatusCode::kNotFound, ""));
  const std::string sealed = Create(Request("a"));
  ASSERT_THAT(Write(sealed, TwoRanks()), IsOk());
  ASSERT_THAT(manager_->Seal(sealed), IsOk());
  EXPECT_THAT(manager_->Delete(sealed), StatusIs(absl::StatusCode::kFailedPrecondition, "sealed"));
}

TEST_F(UploadManagerTest, FilesAreKeptWhenTheUploadOrTheDaemonSaysSo) {
  ASSERT_OK_AND_ASSIGN(const TraceInfo plain, Push(Request("a"), TwoRanks()));
  EXPECT_TRUE(plain.raw_files.empty());
  UploadRequest keep = Request("b");
  keep.keep_files = true;
  ASSERT_OK_AND_ASSIGN(const TraceInfo kept, Push(keep, TwoRanks()));
  EXPECT_NE(kept.id, plain.id);  // A trace without its files is no answer.
  ASSERT_EQ(kept.raw_files.size(), 2u);
  EXPECT_EQ(kept.raw_files[1].file, "rank1.json");
  resources_.keep_files = true;
  Restart();
  UploadRequest labelled = Request("c");
  labelled.labels["job"] = "llama";
  ASSERT_OK_AND_ASSIGN(const TraceInfo always, Push(labelled, TwoRanks()));
  EXPECT_EQ(always.raw_files.size(), 2u);
}

TEST_F(UploadManagerTest, ACommitThatFailsGivesItsBytesBackAndCanBeRepeated) {
  const std::string id = Create(Request("a"));
  {
    ASSERT_OK_AND_ASSIGN(const auto writer, manager_->BeginWrite(id));
    ASSERT_THAT(writer->Append("rank0.json", 0, KinetoOf(0, 1), true), IsOk());
    kv_->FailWritesAfter(0, absl::ResourceExhaustedError("full"));
    EXPECT_THAT(writer->Commit(), StatusIs(absl::StatusCode::kResourceExhausted, "full"));
  }
  kv_->Heal();
  ASSERT_THAT(Write(id, {{"rank0.json", KinetoOf(0, 1)}}), IsOk());
  EXPECT_THAT(manager_->Seal(id), IsOk());
}

}  // namespace
}  // namespace chakrad
