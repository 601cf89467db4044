// What drafts, leases, pins and raw files must do on every engine. Include after
// trace_store_test_suite.h and instantiate TraceDraftTest.
#ifndef CHAKRAD_STORAGE_TRACE_DRAFT_TEST_SUITE_H_
#define CHAKRAD_STORAGE_TRACE_DRAFT_TEST_SUITE_H_

#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/sha256.h"
#include "storage/trace_store_test_suite.h"
#include "trace/codec/rank_codec.h"

namespace chakrad {

// A rank as a client sends it.
struct EncodedRank {
  RankIndex index;
  std::map<std::string, std::string> chunks;  // By hash.
};

inline EncodedRank Encode(const RankTrace& rank) {
  EncodedRank encoded;
  encoded.index.header = HeaderOf(rank);
  encoded.index.has_spans = true;
  EXPECT_THAT(
      EncodeRank(
          rank,
          [&encoded](const ChunkSpan& span, absl::string_view stored) {
            const std::string hash = Sha256Of(stored);
            encoded.chunks[hash] = std::string(stored);
            (IsCold(span.kind) ? encoded.index.cold : encoded.index.hot).push_back({hash, span});
            return absl::OkStatus();
          }),
      IsOk());
  return encoded;
}

inline std::vector<std::string> HashesOf(const EncodedRank& rank) {
  std::vector<std::string> hashes;
  for (const auto& [hash, stored] : rank.chunks) hashes.push_back(hash);
  return hashes;
}

class TraceDraftTest : public TraceStoreTest {
 protected:
  int64_t KeysCount(Family family) {
    int64_t count = 0;
    EXPECT_THAT(
        engine_->kv()->Scan(family, {}, ScanOrder::kForward,
                            [&count](absl::string_view, absl::string_view) { return ++count > 0; }),
        IsOk());
    return count;
  }
  std::string WriteFile(const std::string& bytes) {
    std::string path = FreshFolder() + "/file";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  absl::StatusOr<std::string> ReadRaw(const std::string& id, const std::string& file) {
    std::string bytes;
    const absl::Status status = store_->ReadRawFile(id, file, [&bytes](absl::string_view piece) {
      EXPECT_LE(piece.size(), size_t{1} << 20);
      bytes.append(piece.data(), piece.size());
      return absl::OkStatus();
    });
    if (!status.ok()) return status;
    return bytes;
  }
};

TEST_P(TraceDraftTest, RanksThatAClientEncodedAreStoredAndTheirChunksSentOnce) {
  const Trace trace = RandomTrace(1, 2, 200);
  const auto draft = store_->NewDraft();
  for (const RankTrace& rank : {trace.ranks[1], trace.ranks[0]}) {  // In any order.
    const EncodedRank encoded = Encode(rank);
    ASSERT_OK_AND_ASSIGN(const auto missing, draft->Missing(HashesOf(encoded)));
    for (const std::string& hash : missing) {
      ASSERT_THAT(draft->AddChunk(hash, encoded.chunks.at(hash)), IsOk());
    }
    ASSERT_OK_AND_ASSIGN(const RankTrace decoded,
                         draft->AddEncodedRank(encoded.index, trace.groups.size(), true));
    ExpectSameRank(decoded, rank);
  }
  TraceInfo info = InfoOf("t");
  info.groups = trace.groups;
  info.world_size = trace.world_size;
  info.labels = trace.labels;
  ASSERT_OK_AND_ASSIGN(info, draft->Commit(info));
  ASSERT_EQ(info.ranks.size(), 2);
  EXPECT_EQ(info.ranks[0], SummarizeRank(trace.ranks[0]));
  ASSERT_OK_AND_ASSIGN(const Trace loaded, store_->Load("t", {.cold = true, .ranks = {}}));
  ExpectSameTrace(loaded, trace);
  // The same trace, encoded here: the same chunks, and the same figures.
  ASSERT_THAT(store_->Put(trace, InfoOf("again")), IsOk());
  ASSERT_OK_AND_ASSIGN(const TraceInfo again, store_->GetInfo("again"));
  EXPECT_EQ(again.stored_bytes, info.stored_bytes);
  EXPECT_EQ(TotalBytes(), info.stored_bytes);
  const auto second = store_->NewDraft();
  EXPECT_THAT(second->Missing(HashesOf(Encode(trace.ranks[0])))->size(), 0);
}

// Otherwise an acknowledged upload would depend on bytes that are gone.
TEST_P(TraceDraftTest, AChunkThatRottedIsWrittenAnewByWhoeverBringsItsBytes) {
  const Trace trace = RandomTrace(1, 2, 200);
  for (const bool encoded_by_client : {false, true}) {
    SCOPED_TRACE(encoded_by_client);
    const std::string old_id = absl::StrCat("old", encoded_by_client);
    ASSERT_THAT(store_->Put(trace, InfoOf(old_id)), IsOk());
    const int64_t total_bytes = TotalBytes();
    const EncodedRank rank = Encode(trace.ranks[0]);
    KvBatch spoil;
    spoil.Put(Family::kChunks, rank.index.hot[0].hash, "rotten");
    spoil.Delete(Family::kChunks, rank.index.cold[0].hash);
    ASSERT_THAT(engine_->kv()->Write(spoil, true), IsOk());
    EXPECT_THAT(store_->Load(old_id, {.cold = true, .ranks = {}}),
                StatusIs(absl::StatusCode::kDataLoss, old_id));
    if (encoded_by_client) {
      const auto draft = store_->NewDraft();
      ASSERT_OK_AND_ASSIGN(const auto missing, draft->Missing(HashesOf(rank)));
      EXPECT_EQ(std::set<std::string>(missing.begin(), missing.end()),
                (std::set<std::string>{rank.index.hot[0].hash, rank.index.cold[0].hash}));
      EXPECT_THAT(draft->AddEncodedRank(rank.index, trace.groups.size(), true),
                  StatusIs(absl::StatusCode::kInvalidArgument, "is not there"));
      for (const std::string& hash : missing) {
        ASSERT_THAT(draft->AddChunk(hash, rank.chunks.at(hash)), IsOk());
      }
      ASSERT_THAT(draft->Flush(), IsOk());
      ASSERT_THAT(draft->AddEncodedRank(rank.index, trace.groups.size(), true), IsOk());
      TraceInfo info = InfoOf("pushed");
      info.groups = trace.groups;
      info.world_size = trace.world_size;
      ASSERT_THAT(draft->Commit(info), IsOk());
    } else {
      ASSERT_THAT(store_->Put(trace, InfoOf("new")), IsOk());
    }
    ASSERT_OK_AND_ASSIGN(const Trace healed, store_->Load(old_id, {.cold = true, .ranks = {}}));
    ExpectSameTrace(healed, trace);
    EXPECT_EQ(TotalBytes(), total_bytes);
  }
}

TEST_P(TraceDraftTest, ATraceThatCannotBeReadIsNotTheAnswerToEqualContent) {
  const Trace trace = RandomTrace(1, 1, 200);
  TraceInfo info = InfoOf("old");
  info.content_hash = std::string(32, 'h');
  ASSERT_THAT(store_->Put(trace, info), IsOk());
  const EncodedRank rank = Encode(trace.ranks[0]);
  KvBatch spoil;
  spoil.Put(Family::kChunks, rank.index.hot[0].hash, "rotten");
  ASSERT_THAT(engine_->kv()->Write(spoil, true), IsOk());
  ASSERT_OK_AND_ASSIGN(const VerifyResult verified, store_->Verify("old"));
  ASSERT_EQ(verified.errors.size(), 1);
  EXPECT_THAT(store_->FindByContent(info.content_hash), StatusIs(absl::StatusCode::kNotFound, ""));
  info.id = "new";
  ASSERT_THAT(store_->Put(trace, info), IsOk());
  ASSERT_OK_AND_ASSIGN(const std::string new_id, store_->FindByContent(info.content_hash));
  EXPECT_EQ(new_id, "new");
  ASSERT_THAT(store_->Delete("new"), IsOk());
  // The new one's bytes are the old one's too: it is whole again, once somebody looks.
  ASSERT_THAT(store_->Load("old", {.cold = true, .ranks = {}}), IsOk());
  ASSERT_OK_AND_ASSIGN(const VerifyResult again, store_->Verify("old"));
  EXPECT_EQ(again.errors, std::vector<std::string>{});
  ASSERT_OK_AND_ASSIGN(const std::string old_id, store_->FindByContent(info.content_hash));
  EXPECT_EQ(old_id, "old");
}

TEST_P(TraceDraftTest, WhatAClientClaimsWronglyIsRefusedAndLeavesNothing) {
  const RankTrace rank = RandomTrace(1, 1, 200).ranks[0];
  const EncodedRank good = Encode(rank);
  const auto& [hash, stored] = *good.chunks.begin();
  const auto kInvalid = absl::StatusCode::kInvalidArgument;
  {
    const auto draft = store_->NewDraft();
    EXPECT_THAT(draft->AddChunk(hash, absl::StrCat(stored, "x")), StatusIs(kInvalid, "its hash"));
    EXPECT_THAT(draft->AddChunk(Sha256Of("rubbish"), "rubbish"),
                StatusIs(kInvalid, "does not begin with a known version"));
    EXPECT_THAT(draft->AddChunk(Sha256Of(""), ""),
                StatusIs(kInvalid, "does not begin with a known version"));
    EXPECT_THAT(draft->Missing({"short"}), StatusIs(kInvalid, "has 5 bytes"));
    EXPECT_THAT(draft->AddEncodedRank(good.index, 3, true), StatusIs(kInvalid, "is not there"));
    for (const auto& [h, bytes] : good.chunks) ASSERT_THAT(draft->AddChunk(h, bytes), IsOk());
    RankIndex wrong = good.index;
    ++wrong.header.nodes_count;
    EXPECT_FALSE(draft->AddEncodedRank(wrong, 3, true).ok());
    wrong = good.index;
    wrong.hot[0].span.kind = ChunkKind::kGaps;
    EXPECT_THAT(draft->AddEncodedRank(wrong, 3, true), StatusIs(kInvalid, "another kind"));
    wrong = good.index;
    std::swap(wrong.hot, wrong.cold);
    EXPECT_THAT(draft->AddEncodedRank(wrong, 3, true), StatusIs(kInvalid, "mixed"));
    wrong = good.index;
    wrong.hot.pop_back();
    EXPECT_FALSE(draft->AddEncodedRank(wrong, 3, true).ok());
    wrong = good.index;
    wrong.has_spans = false;
    EXPECT_THAT(draft->AddEncodedRank(wrong, 3, true), StatusIs(kInvalid, "no spans"));
    ASSERT_THAT(draft->AddEncodedRank(good.index, 3, true), IsOk());
    EXPECT_THAT(draft->AddEncodedRank(good.index, 3, true), StatusIs(kInvalid, "such a rank"));
    EXPECT_THAT(draft->AddRank(rank), StatusIs(kInvalid, "such a rank"));
    TraceInfo info = InfoOf("t");  // Without the groups that its operations are on.
    EXPECT_THAT(draft->Commit(info), StatusIs(kInvalid, "rank 0: comm.group"));
  }
  EXPECT_TRUE(ChunkHashes().empty());
  EXPECT_EQ(TotalBytes(), 0);
  EXPECT_TRUE(store_->Cards()->empty());
}

TEST_P(TraceDraftTest, ADraftThatGivesUpTakesItsOwnAndLeavesWhatOthersNeed) {
  const Trace shared = RandomTrace(1, 1, 100);
  auto first = store_->NewDraft();
  const auto second = store_->NewDraft();
  ASSERT_THAT(first->AddRank(shared.ranks[0]), IsOk());
  ASSERT_THAT(second->AddRank(shared.ranks[0]), IsOk());
  ASSERT_THAT(first->AddRank(RandomTrace(2, 2, 100).ranks[1]), IsOk());
  first.reset();
  TraceInfo info = InfoOf("t");
  info.groups = shared.groups;
  info.world_size = shared.world_size;
  info.labels = shared.labels;
  ASSERT_THAT(second->Commit(info), IsOk());
  ASSERT_OK_AND_ASSIGN(const Trace loaded, store_->Load("t", {.cold = true, .ranks = {}}));
  ExpectSameTrace(loaded, shared);
  EXPECT_EQ(TotalBytes(), store_->GetInfo("t")->stored_bytes);
  ASSERT_OK_AND_ASSIGN(const int64_t swept, store_->SweepOrphans());
  EXPECT_EQ(swept, 0);
  ASSERT_THAT(store_->Delete("t"), IsOk());
  EXPECT_TRUE(ChunkHashes().empty());
  EXPECT_EQ(KeysCount(Family::kIndex), 0);
  EXPECT_EQ(KeysCount(Family::kMeta), 1);  // The totals.
}

TEST_P(TraceDraftTest, RawFilesComeBackAndGoWithTheirTrace) {
  std::mt19937 random(5);
  std::string noise(5 << 19, '\0');  // 2.5 MiB: three pieces.
  for (char& byte : noise) byte = static_cast<char>(random());
  const std::string text(3 << 20, 'x'), name("\xff/\0name", 7);
  const Trace trace = RandomTrace(1, 1, 20);
  {
    const auto draft = store_->NewDraft();
    ASSERT_THAT(draft->AddRank(trace.ranks[0]), IsOk());
    ASSERT_THAT(draft->AddRawFile("noise.gz", WriteFile(noise)), IsOk());
    ASSERT_THAT(draft->AddRawFile(name, WriteFile(text)), IsOk());
    ASSERT_THAT(draft->AddRawFile("empty", WriteFile("")), IsOk());
    EXPECT_THAT(draft->AddRawFile("empty", WriteFile("")),
                StatusIs(absl::StatusCode::kInvalidArgument, "is kept already"));
    EXPECT_THAT(draft->AddRawFile("x", "/no/such/file"), StatusIs(absl::StatusCode::kNotFound, ""));
    TraceInfo info = InfoOf("t");
    info.groups = trace.groups;
    ASSERT_OK_AND_ASSIGN(info, draft->Commit(info));
    const std::vector<RawFileInfo> want = {
        {"noise.gz", static_cast<int64_t>(noise.size()), Sha256Of(noise)},
        {name, static_cast<int64_t>(text.size()), Sha256Of(text)},
        {"empty", 0, Sha256Of("")}};
    EXPECT_EQ(info.raw_files, want);
    EXPECT_GT(info.stored_bytes, static_cast<int64_t>(noise.size()));
    EXPECT_LT(info.stored_bytes, static_cast<int64_t>(noise.size()) + (100 << 10));
    EXPECT_EQ(TotalBytes(), info.stored_bytes);
  }
  Reopen();
  ASSERT_THAT(store_->SweepOrphans(), IsOk());
  EXPECT_EQ(ReadRaw("t", "noise.gz").value_or(""), noise);
  EXPECT_EQ(ReadRaw("t", name).value_or(""), text);
  EXPECT_EQ(ReadRaw("t", "empty").value_or("?"), "");
  EXPECT_THAT(ReadRaw("t", "x"), StatusIs(absl::StatusCode::kNotFound, "file x was not kept"));
  EXPECT_THAT(ReadRaw("u", "x"), StatusIs(absl::StatusCode::kNotFound, "trace u"));
  EXPECT_EQ(store_->GetInfo("t")->raw_files.size(), 3);
  // A reader that fails ends it; a damaged piece is DATA_LOSS of that file.
  EXPECT_THAT(store_->ReadRawFile("t", name,
                                  [](absl::string_view) { return absl::CancelledError("gone"); }),
              StatusIs(absl::StatusCode::kCancelled, "gone"));
  std::string piece_key;
  EXPECT_THAT(engine_->kv()->Scan(Family::kRaw, {}, ScanOrder::kForward,
                                  [&piece_key](absl::string_view key, absl::string_view) {
                                    piece_key = std::string(key);
                                    return false;
                                  }),
              IsOk());
  KvBatch spoil;
  spoil.Delete(Family::kRaw, piece_key);
  ASSERT_THAT(engine_->kv()->Write(spoil, true), IsOk());
  EXPECT_THAT(ReadRaw("t", "noise.gz"),
              StatusIs(absl::StatusCode::kDataLoss, "trace t, file noise.gz: piece 0 is missing"));
  EXPECT_THAT(ReadRaw("t", name), IsOk());
  ASSERT_OK_AND_ASSIGN(const VerifyResult result, store_->Verify("t"));
  EXPECT_EQ(result.errors, std::vector<std::string>{"file noise.gz: piece 0 is missing"});
  ASSERT_THAT(store_->Delete("t"), IsOk());
  EXPECT_EQ(KeysCount(Family::kRaw), 0);
  EXPECT_EQ(TotalBytes(), 0);
}

// A process that dies after any write of a draft with raw files leaves none of them.
TEST_P(TraceDraftTest, RawFilesOfADraftThatWasCutShortAreSwept) {
  const std::string path = WriteFile(std::string(5 << 19, 'y'));
  const Trace trace = RandomTrace(1, 1, 20);
  for (int64_t cut = 0; cut < 100; ++cut) {
    SCOPED_TRACE(cut);
    auto faulty = std::make_shared<FaultyKv>(engine_->kv());
    absl::Status status;
    {
      const auto store = OpenTestStore(faulty);
      faulty->FailWritesAfter(cut, absl::ResourceExhaustedError("disk is full"));
      const auto draft = store->NewDraft();
      status = draft->AddRank(trace.ranks[0]);
      if (status.ok()) status = draft->AddRawFile("a", path);
      TraceInfo info = InfoOf("t");
      info.groups = trace.groups;
      if (status.ok()) status = draft->Commit(info).status();
    }
    faulty.reset();
    Reopen();
    ASSERT_THAT(store_->SweepOrphans(), IsOk());
    if (status.ok()) break;
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted, "disk is full"));
    if (store_->Delete("t").ok()) continue;  // Written, and cut before its sync.
    EXPECT_EQ(KeysCount(Family::kRaw), 0);
    EXPECT_EQ(KeysCount(Family::kChunks), 0);
    EXPECT_EQ(KeysCount(Family::kIndex), 0);
  }
  EXPECT_EQ(ReadRaw("t", "a").value_or(""), std::string(5 << 19, 'y'));
}

TEST_P(TraceDraftTest, ALeasedOrPinnedTraceIsNotDeleted) {
  ASSERT_THAT(store_->Put(RandomTrace(1, 1, 20), InfoOf("t")), IsOk());
  const auto kRefused = absl::StatusCode::kFailedPrecondition;
  {
    ASSERT_OK_AND_ASSIGN(const auto one, store_->Lease("t"));
    ASSERT_OK_AND_ASSIGN(auto two, store_->Lease("t"));
    EXPECT_THAT(store_->Delete("t"), StatusIs(kRefused, "by 2 unfinished jobs or exports"));
    two.reset();
    EXPECT_THAT(store_->Delete("t"), StatusIs(kRefused, "by 1"));
  }
  ASSERT_THAT(store_->SetPinned("t", true), IsOk());
  EXPECT_THAT(store_->Delete("t"), StatusIs(kRefused, "pinned"));
  EXPECT_TRUE(store_->Cards()->front()->pinned);
  EXPECT_TRUE(store_->GetInfo("t")->pinned);
  Reopen();
  EXPECT_TRUE(store_->Cards()->front()->pinned);
  EXPECT_THAT(store_->Delete("t"), StatusIs(kRefused, "pinned"));
  EXPECT_THAT(store_->Load("t", {}), IsOk());
  ASSERT_THAT(store_->SetPinned("t", false), IsOk());
  ASSERT_THAT(store_->SetPinned("t", false), IsOk());
  Reopen();
  EXPECT_FALSE(store_->Cards()->front()->pinned);
  ASSERT_THAT(store_->Delete("t"), IsOk());
  for (const absl::Status& status : {store_->Lease("t").status(), store_->SetPinned("t", true),
                                     store_->Delete("t"), store_->Verify("t").status()}) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound, "trace t is not known"));
  }
}

TEST_P(TraceDraftTest, APinThatCannotBeWrittenIsNone) {
  const auto faulty = std::make_shared<FaultyKv>(engine_->kv());
  const auto store = OpenTestStore(faulty);
  ASSERT_THAT(store->Put(RandomTrace(1, 1, 20), InfoOf("t")), IsOk());
  faulty->FailWritesAfter(0, absl::ResourceExhaustedError("disk is full"));
  EXPECT_THAT(store->SetPinned("t", true), StatusIs(absl::StatusCode::kResourceExhausted, "full"));
  EXPECT_FALSE(store->Cards()->front()->pinned);
  faulty->Heal();
  ASSERT_THAT(store->SetPinned("t", true), IsOk());
  faulty->FailWritesAfter(0, absl::ResourceExhaustedError("disk is full"));
  EXPECT_THAT(store->SetPinned("t", false), StatusIs(absl::StatusCode::kResourceExhausted, "full"));
  EXPECT_TRUE(store->Cards()->front()->pinned);
}

TEST_P(TraceDraftTest, EqualContentIsFoundByItsHash) {
  const std::string hash(32, 'h');
  EXPECT_THAT(store_->FindByContent(hash), StatusIs(absl::StatusCode::kNotFound, ""));
  for (const char* id : {"old", "new", "other"}) {
    TraceInfo info = InfoOf(id);
    if (info.id != "other") info.content_hash = hash;
    ASSERT_THAT(store_->Put(RandomTrace(1, 1, 5), info), IsOk());
  }
  EXPECT_EQ(store_->FindByContent(hash).value_or(""), "new");
  EXPECT_THAT(store_->FindByContent(""), StatusIs(absl::StatusCode::kNotFound, ""));
  ASSERT_THAT(store_->SetPinned("old", true), IsOk());
  Reopen();
  EXPECT_EQ(store_->FindByContent(hash).value_or(""), "new");
  ASSERT_THAT(store_->Delete("new"), IsOk());
  EXPECT_EQ(store_->FindByContent(hash).value_or(""), "old");
}

TEST_P(TraceDraftTest, CardsSayWhatTheInfoSays) {
  TraceInfo info = InfoOf("t", 77);
  info.labels["job"] = "llama";
  info.check.quality = 0.25;
  info.check.errors_count = 3;
  info.check.warnings_count = 4;
  info.breakdown = TraceBreakdown{0.5, 0.25, 0.125, 0.0625, 0.25, 0.5};
  info.content_hash = std::string(32, 'c');
  Trace trace = RandomTrace(1, 2, 50);
  for (RankTrace& rank : trace.ranks) rank.base_unix_ns = 1'000'000 * (1 + rank.rank);
  ASSERT_THAT(store_->Put(trace, info), IsOk());
  for (int round = 0; round < 2; ++round) {
    const TraceCard card = *store_->Cards()->front();
    ASSERT_OK_AND_ASSIGN(const TraceInfo got, store_->GetInfo("t"));
    EXPECT_EQ(card.id, "t");
    EXPECT_EQ(card.create_unix_ns, 77);
    EXPECT_EQ(card.labels, got.labels);
    EXPECT_EQ(card.labels.at("job"), "llama");
    EXPECT_EQ(card.world_size, 3);
    EXPECT_EQ(card.ranks_count, 2);
    EXPECT_EQ(card.nodes_count, 100);
    EXPECT_EQ(card.stored_bytes, TotalBytes());
    EXPECT_EQ(card.quality, 0.25);
    EXPECT_EQ(card.errors_count, 3);
    EXPECT_EQ(card.warnings_count, 4);
    EXPECT_EQ(card.breakdown, info.breakdown);
    EXPECT_EQ(got.breakdown, info.breakdown);
    EXPECT_EQ(card.content_hash, info.content_hash);
    EXPECT_EQ(card.span_ns, std::max(got.ranks[0].span_ns, got.ranks[1].span_ns));
    EXPECT_EQ(card.start_unix_ns, got.start_unix_ns);
    EXPECT_EQ(card.end_unix_ns, got.end_unix_ns);
    EXPECT_LE(card.end_unix_ns - card.start_unix_ns, card.span_ns + (int64_t{1} << 42));
    EXPECT_LT(card.start_unix_ns, card.end_unix_ns);
    Reopen();
  }
}

TEST_P(TraceDraftTest, ASnapshotOfCardsDoesNotChange) {
  ASSERT_THAT(store_->Put(RandomTrace(1, 1, 5), InfoOf("a")), IsOk());
  const auto before = store_->Cards();
  EXPECT_EQ(before, store_->Cards());
  ASSERT_THAT(store_->Put(RandomTrace(2, 1, 5), InfoOf("b")), IsOk());
  ASSERT_THAT(store_->SetPinned("a", true), IsOk());
  ASSERT_EQ(before->size(), 1);
  EXPECT_FALSE(before->front()->pinned);
  ASSERT_THAT(store_->SetPinned("a", false), IsOk());
  ASSERT_THAT(store_->Delete("a"), IsOk());
  EXPECT_EQ(before->front()->id, "a");
  EXPECT_EQ(CardIds(store_.get()), std::vector<std::string>{"b"});
}

// While one thread commits, another reads: what it sees is whole, newest first, and never
// goes away.
TEST_P(TraceDraftTest, SeveralDraftsCommitAtOnceInOneOrder) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([this, thread] {
      for (int i = 0; i < 20; ++i) {
        const std::string id = absl::StrCat("t-", thread, "-", i);
        ASSERT_THAT(store_->Put(RandomTrace(i % 5, 2, 40), InfoOf(id)), IsOk());
      }
    });
  }
  int64_t newest_ns = INT64_MIN;
  size_t seen = 0;
  while (seen < 80) {
    const auto cards = store_->Cards();
    ASSERT_GE(cards->size(), seen);
    for (size_t i = 0; i < cards->size(); ++i) {
      const TraceCard& card = *(*cards)[i];
      if (i > 0) {
        ASSERT_LT(card.create_unix_ns, (*cards)[i - 1]->create_unix_ns);
      }
      // What is new is newer than all that was seen before.
      if (i < cards->size() - seen) {
        ASSERT_GT(card.create_unix_ns, newest_ns);
      }
    }
    if (!cards->empty()) newest_ns = cards->front()->create_unix_ns;
    if (cards->size() > seen) {
      ASSERT_THAT(store_->Load(cards->front()->id, {}), IsOk());
    }
    seen = cards->size();
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_TRACE_DRAFT_TEST_SUITE_H_
