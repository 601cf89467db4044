// What damaged records do, and what becomes of a store of an older layout, on every
// engine. Include and instantiate TraceDamageTest and MigrationTest.
#ifndef CHAKRAD_STORAGE_TRACE_DAMAGE_TEST_SUITE_H_
#define CHAKRAD_STORAGE_TRACE_DAMAGE_TEST_SUITE_H_

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "storage/keys.h"
#include "storage/layout1_store.h"
#include "storage/store_version.h"
#include "storage/trace_keys.h"
#include "storage/trace_store_test_suite.h"

namespace chakrad {

class TraceDamageTest : public TraceStoreTest {
 protected:
  static constexpr int kTracesCount = 9;
  // "t-0" to "t-8", of which "t-4" is pinned; they share one rank.
  void PutTraces() {
    for (int i = 0; i < kTracesCount; ++i) {
      TraceInfo info = InfoOf(absl::StrCat("t-", i), 100 + i);
      info.labels["number"] = absl::StrCat(i);
      ASSERT_THAT(store_->Put(TraceOf(i), info), IsOk());
    }
    ASSERT_THAT(store_->SetPinned("t-4", true), IsOk());
    store_.reset();
    faulty_ = std::make_shared<FaultyKv>(engine_->kv());
  }
  static Trace TraceOf(int i) {
    Trace trace = RandomTrace(i, 2, 30);
    trace.ranks[0] = RandomTrace(99, 2, 30).ranks[0];
    return trace;
  }
  void Open() {
    store_ = nullptr;
    notices_.clear();
    TraceStoreOptions options;
    options.notice = [this](const std::string& line) { notices_.push_back(line); };
    auto store = OpenTraceStore(faulty_, options);
    ASSERT_THAT(store, IsOk());
    store_ = *std::move(store);
  }
  void ExpectWhole(int i) {
    const std::string id = absl::StrCat("t-", i);
    ASSERT_OK_AND_ASSIGN(Trace loaded, store_->Load(id, {.cold = true, .ranks = {}}));
    loaded.labels.erase("number");
    ExpectSameTrace(loaded, TraceOf(i));
  }
  const TraceCard* CardOf(int i) {
    for (const auto& card : *store_->Cards()) {
      if (card->id == absl::StrCat("t-", i)) return card.get();
    }
    return nullptr;
  }
  // All cards, newest first, and all traces but those of `lost` whole.
  void ExpectAllBut(const std::set<int>& lost) {
    ASSERT_EQ(store_->Cards()->size(), kTracesCount);
    for (int i = 0; i < kTracesCount; ++i) {
      SCOPED_TRACE(i);
      const TraceCard* card = CardOf(i);
      ASSERT_NE(card, nullptr);
      if (lost.count(i) > 0) continue;
      EXPECT_FALSE(card->damaged);
      EXPECT_EQ(card->create_unix_ns, 100 + i);
      EXPECT_EQ(card->labels.at("number"), absl::StrCat(i));
      EXPECT_EQ(card->pinned, i == 4);
      ExpectWhole(i);
    }
  }

  std::shared_ptr<FaultyKv> faulty_;
  std::vector<std::string> notices_;
};

TEST_P(TraceDamageTest, DamagedCardsAreMadeAgainFromTheirManifests) {
  PutTraces();
  // A stretch in the middle: a scan sees what is before and behind it.
  for (int i : {3, 4, 6}) faulty_->Damage(Family::kIndex, CardKey(absl::StrCat("t-", i)));
  Open();
  EXPECT_FALSE(notices_.empty());
  ExpectAllBut({});
  ASSERT_THAT(store_->Put(TraceOf(50), InfoOf("new")), IsOk());
  EXPECT_EQ(store_->Cards()->front()->id, "new");
}

TEST_P(TraceDamageTest, ARecordThatDoesNotParseIsAsGoodAsDamaged) {
  PutTraces();
  KvBatch spoil;
  spoil.Put(Family::kIndex, CardKey("t-0"), "\x07rubbish");
  spoil.Put(Family::kIndex, CardKey("t-5"), "");
  spoil.Delete(Family::kIndex, CardKey("t-7"));
  ASSERT_THAT(engine_->kv()->Write(spoil, true), IsOk());
  Open();
  ExpectAllBut({});
}

TEST_P(TraceDamageTest, WhatIsKnownByNameOnlyIsListedAsDamagedAndCanBeDeleted) {
  PutTraces();
  for (int i : {2, 5}) {
    faulty_->Damage(Family::kIndex, CardKey(absl::StrCat("t-", i)));
    faulty_->Damage(Family::kMeta, ManifestKey(absl::StrCat("t-", i)));
  }
  Open();
  ExpectAllBut({2, 5});
  for (int i : {2, 5}) {
    const std::string id = absl::StrCat("t-", i);
    EXPECT_TRUE(CardOf(i)->damaged);
    EXPECT_THAT(store_->GetInfo(id), StatusIs(absl::StatusCode::kDataLoss, id));
    EXPECT_THAT(store_->Load(id, {}), StatusIs(absl::StatusCode::kDataLoss, id));
    ASSERT_OK_AND_ASSIGN(const VerifyResult result, store_->Verify(id));
    ASSERT_EQ(result.errors.size(), 1);
    EXPECT_EQ(result.errors[0].substr(0, 10), "manifest: ");
    EXPECT_THAT(store_->Put(TraceOf(i), InfoOf(id)),
                StatusIs(absl::StatusCode::kAlreadyExists, ""));
    ASSERT_THAT(store_->Delete(id), IsOk());
    EXPECT_THAT(store_->GetInfo(id), StatusIs(absl::StatusCode::kNotFound, ""));
  }
  EXPECT_EQ(store_->Cards()->size(), kTracesCount - 2);
  for (int i : {0, 1, 3, 4, 6}) ExpectWhole(i);
}

TEST_P(TraceDamageTest, ADamagedManifestIsFoundOutWhenItIsRead) {
  PutTraces();
  faulty_->Damage(Family::kMeta, ManifestKey("t-3"));
  Open();
  ExpectAllBut({3});
  EXPECT_FALSE(CardOf(3)->damaged);
  EXPECT_THAT(store_->GetInfo("t-3"), StatusIs(absl::StatusCode::kDataLoss, "trace t-3"));
  EXPECT_TRUE(CardOf(3)->damaged);
  EXPECT_EQ(CardOf(3)->labels.at("number"), "3");
}

TEST_P(TraceDamageTest, DamagedTotalsAndPinsAreMadeGood) {
  PutTraces();
  faulty_->Damage(Family::kMeta, kTotalsKey);
  Open();
  const int64_t total_bytes = TotalBytes();
  ExpectAllBut({});
  store_ = nullptr;
  faulty_ = std::make_shared<FaultyKv>(engine_->kv());
  Open();
  EXPECT_EQ(TotalBytes(), total_bytes);
  store_ = nullptr;
  faulty_->Damage(Family::kMeta, PinnedKey("t-4"));
  Open();
  EXPECT_TRUE(CardOf(4)->pinned);
  EXPECT_FALSE(CardOf(5)->pinned);
}

TEST_P(TraceDamageTest, VerifyNamesEachRankAndChunk) {
  PutTraces();
  Open();
  ASSERT_OK_AND_ASSIGN(const RankIndex index, store_->GetRankIndex("t-1", 1));
  ASSERT_OK_AND_ASSIGN(const VerifyResult fine, store_->Verify("t-1"));
  EXPECT_EQ(fine.errors, std::vector<std::string>{});
  EXPECT_GT(fine.chunks_count, 10);
  EXPECT_GT(fine.bytes, 0);
  // One chunk of another content, one gone, one whose use count cannot be read.
  KvBatch spoil;
  spoil.Put(Family::kChunks, index.hot[0].hash, "other");
  spoil.Delete(Family::kChunks, index.cold[0].hash);
  ASSERT_THAT(engine_->kv()->Write(spoil, true), IsOk());
  faulty_->Damage(Family::kMeta, ChunkUseKey(index.hot[1].hash));
  ASSERT_OK_AND_ASSIGN(const VerifyResult result, store_->Verify("t-1"));
  ASSERT_EQ(result.errors.size(), 3);
  EXPECT_NE(result.errors[0].find("rank 1: chunk "), std::string::npos) << result.errors[0];
  EXPECT_NE(result.errors[0].find("does not match its hash"), std::string::npos);
  EXPECT_NE(result.errors[1].find("its use count"), std::string::npos) << result.errors[1];
  EXPECT_NE(result.errors[2].find("is missing"), std::string::npos) << result.errors[2];
  faulty_->Damage(Family::kMeta, RankKey("t-2", 1));
  ASSERT_OK_AND_ASSIGN(const VerifyResult index_lost, store_->Verify("t-2"));
  ASSERT_EQ(index_lost.errors.size(), 2);
  EXPECT_EQ(index_lost.errors[1], "rank 1: its index is missing");
  EXPECT_THAT(store_->Load("t-2", {}), StatusIs(absl::StatusCode::kDataLoss, "trace t-2, rank 1"));
  EXPECT_THAT(store_->Load("t-2", {.cold = true, .ranks = {0}}), IsOk());
  EXPECT_THAT(store_->Verify("t-99"), StatusIs(absl::StatusCode::kNotFound, ""));
}

// Who knows how many traces use it? None must lose it.
TEST_P(TraceDamageTest, AChunkWhoseUseCountIsDamagedIsNeverDeleted) {
  PutTraces();
  Open();
  ASSERT_OK_AND_ASSIGN(const RankIndex shared, store_->GetRankIndex("t-0", 0));
  for (const ChunkRef& ref : shared.hot) faulty_->Damage(Family::kMeta, ChunkUseKey(ref.hash));
  for (int i : {0, 1, 2, 3, 5, 6, 7}) {
    ASSERT_THAT(store_->Delete(absl::StrCat("t-", i)), IsOk());
    ExpectWhole(8);
  }
  ASSERT_THAT(store_->Put(TraceOf(20), InfoOf("new")), IsOk());
  EXPECT_THAT(store_->Load("new", {.cold = true, .ranks = {}}), IsOk());
}

TEST_P(TraceDamageTest, ADamagedVersionIsReadFromItsCopy) {
  ASSERT_THAT(InitStoreVersion(engine_->kv().get()), IsOk());
  FaultyKv one(engine_->kv());
  one.Damage(Family::kMeta, kStoreVersionKey);
  EXPECT_THAT(InitStoreVersion(&one), IsOk());
  one.Damage(Family::kIndex, kStoreVersionKey);
  EXPECT_THAT(InitStoreVersion(&one), StatusIs(absl::StatusCode::kDataLoss, ""));
}

class MigrationTest : public TraceStoreTest {
 protected:
  static constexpr int kTracesCount = 5;

  void WriteLayout1() {
    for (int i = 0; i < kTracesCount; ++i) {
      ASSERT_THAT(store_->Put(RandomTrace(i, 2, 30), InfoOf(absl::StrCat("t-", i), 10 + i)),
                  IsOk());
    }
    total_bytes_ = TotalBytes();
    chunks_ = ChunkHashes();
    store_.reset();
    // Two of the same time: layout 1 had that.
    ASSERT_THAT(MakeLayout1(engine_->kv().get(), {{"t-3", 12}}), IsOk());
  }
  void ExpectMigrated() {
    Reopen();
    EXPECT_EQ(CardIds(store_.get()), (std::vector<std::string>{"t-4", "t-3", "t-2", "t-1", "t-0"}));
    EXPECT_EQ(TotalBytes(), total_bytes_);
    EXPECT_EQ(ChunkHashes(), chunks_);
    for (int i = 0; i < kTracesCount; ++i) {
      const std::string id = absl::StrCat("t-", i);
      ASSERT_OK_AND_ASSIGN(const Trace trace, store_->Load(id, {.cold = true, .ranks = {}}));
      ExpectSameTrace(trace, RandomTrace(i, 2, 30));
    }
    EXPECT_THAT(engine_->kv()->Get(Family::kMeta, absl::StrCat("t", PackTimeKey(10, "t-0"))),
                StatusIs(absl::StatusCode::kNotFound, ""));
    ASSERT_OK_AND_ASSIGN(const std::string version,
                         engine_->kv()->Get(Family::kMeta, kStoreVersionKey));
    EXPECT_EQ(version, std::string(1, kStoreVersion));
  }

  int64_t total_bytes_ = 0;
  std::vector<std::string> chunks_;
};

TEST_P(MigrationTest, AStoreOfLayout1HasEverythingAfterwards) {
  WriteLayout1();
  std::vector<std::string> lines;
  ASSERT_THAT(InitStoreVersion(engine_->kv().get(),
                               [&lines](const std::string& line) { lines.push_back(line); }),
              IsOk());
  ASSERT_EQ(lines.size(), 2);
  EXPECT_EQ(lines[0], "migrating the store from layout 1 to 2");
  EXPECT_EQ(lines[1], "migrated 5 traces");
  ExpectMigrated();
  ASSERT_THAT(store_->Put(RandomTrace(9, 1, 9), InfoOf("new")), IsOk());
  for (const std::string& id : CardIds(store_.get())) ASSERT_THAT(store_->Delete(id), IsOk());
  EXPECT_EQ(TotalBytes(), 0);
  EXPECT_TRUE(ChunkHashes().empty());
}

TEST_P(MigrationTest, AMigrationCutShortAtAnyWriteBeginsAgain) {
  WriteLayout1();
  int64_t cut = 0;
  for (;; ++cut) {
    FaultyKv faulty(engine_->kv());
    faulty.FailWritesAfter(cut, absl::UnavailableError("the process died"));
    if (InitStoreVersion(&faulty).ok()) break;
  }
  EXPECT_GE(cut, 3);
  ExpectMigrated();
}

TEST_P(MigrationTest, ADamagedManifestOfLayout1IsListedWithItsTime) {
  WriteLayout1();
  KvBatch spoil;
  spoil.Put(Family::kMeta, ManifestKey("t-2"), "\x07rubbish");
  ASSERT_THAT(engine_->kv()->Write(spoil, true), IsOk());
  ASSERT_THAT(InitStoreVersion(engine_->kv().get()), IsOk());
  Reopen();
  const auto cards = store_->Cards();
  ASSERT_EQ(cards->size(), kTracesCount);
  EXPECT_EQ((*cards)[2]->id, "t-2");
  EXPECT_EQ((*cards)[2]->create_unix_ns, 12);
  EXPECT_TRUE((*cards)[2]->damaged);
  EXPECT_FALSE((*cards)[1]->damaged);
}

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_TRACE_DAMAGE_TEST_SUITE_H_
