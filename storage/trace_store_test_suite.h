// What every TraceStore must do, whatever its engine. Include in one test and
// instantiate: INSTANTIATE_TEST_SUITE_P(Mem, TraceStoreTest, ...).
#ifndef CHAKRAD_STORAGE_TRACE_STORE_TEST_SUITE_H_
#define CHAKRAD_STORAGE_TRACE_STORE_TEST_SUITE_H_

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "storage/faulty_kv.h"
#include "storage/limits.h"
#include "storage/test_engine.h"
#include "storage/trace_store_kv.h"
#include "trace/codec/rank_generator.h"
#include "trace/codec/rank_matchers.h"

namespace chakrad {

inline TraceInfo InfoOf(std::string id, int64_t create_unix_ns = 0) {
  TraceInfo info;
  info.id = std::move(id);
  info.create_unix_ns = create_unix_ns;
  return info;
}

// One chunk a write, so that tests can cut a draft between any two.
inline std::unique_ptr<TraceStore> OpenTestStore(std::shared_ptr<Kv> kv) {
  TraceStoreOptions options;
  options.draft_batch_bytes = 1;
  auto store = OpenTraceStore(std::move(kv), options);
  EXPECT_THAT(store, IsOk());
  return *std::move(store);
}

inline std::vector<std::string> CardIds(TraceStore* store) {
  std::vector<std::string> ids;
  for (const auto& card : *store->Cards()) ids.push_back(card->id);
  return ids;
}

class TraceStoreTest : public EngineTest {
 protected:
  std::vector<std::string> ChunkHashes() {
    std::vector<std::string> hashes;
    EXPECT_THAT(engine_->kv()->Scan(Family::kChunks, {}, ScanOrder::kForward,
                                    [&](absl::string_view key, absl::string_view) {
                                      hashes.emplace_back(key);
                                      return true;
                                    }),
                IsOk());
    return hashes;
  }
  int64_t TotalBytes() {
    const auto total_bytes = store_->TotalBytes();
    EXPECT_THAT(total_bytes, IsOk());
    return total_bytes.value_or(-1);
  }
  void Reopen() {
    store_.reset();
    engine_->Reopen();
    store_ = OpenTestStore(engine_->kv());
  }

  std::unique_ptr<TraceStore> store_ = OpenTestStore(engine_->kv());
};

TEST_P(TraceStoreTest, TracesComeBackAfterReopening) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    ASSERT_THAT(store_->Put(RandomTrace(seed, static_cast<int32_t>(seed), 40 * seed),
                            InfoOf(absl::StrCat("t-", seed))),
                IsOk());
  }
  Reopen();
  for (uint64_t seed = 0; seed < 6; ++seed) {
    ASSERT_OK_AND_ASSIGN(const Trace trace,
                         store_->Load(absl::StrCat("t-", seed), {.cold = true, .ranks = {}}));
    ExpectSameTrace(trace, RandomTrace(seed, static_cast<int32_t>(seed), 40 * seed));
  }
}

TEST_P(TraceStoreTest, InfoComesBackWithWhatTheTraceSays) {
  TraceInfo info = InfoOf("t", -5);
  info.labels["model"] = std::string("\xff\x00", 2);  // Not UTF-8.
  info.notices = {"first", "second"};
  Ledger ledger;
  ledger.file = "rank0.json";
  for (int i = 0; i < 3; ++i) ledger.Keep();
  ledger.Merge("flow_event");
  ledger.Reject("kineto_no_launch", 7, 1234, "no launch");
  ledger.AddFlaw("missing_dependency", 4, 1300, "node 7 is not in the file");
  ledger.notices.push_back("note");
  Finding finding;
  finding.rule = "cycle";
  finding.severity = Severity::kError;
  finding.rank = 1;
  finding.has_node = true;
  finding.node_id = UINT64_MAX;
  finding.message = "node 3 waits for itself";
  info.check.findings.push_back(finding);
  info.check.count_by_rule = {{"cycle", 7}};
  info.check.errors_count = 7;
  info.check.parts.launches = 0.25;
  info.check.quality = 0.125;
  info.ledgers.push_back(ledger);
  const Trace trace = RandomTrace(1, 2, 100);
  ASSERT_THAT(store_->Put(trace, info), IsOk());

  ASSERT_OK_AND_ASSIGN(const TraceInfo got, store_->GetInfo("t"));
  EXPECT_EQ(got.id, "t");
  EXPECT_EQ(got.create_unix_ns, -5);
  EXPECT_EQ(got.world_size, 3);
  const std::map<std::string, std::string> labels = {{"model", std::string("\xff\x00", 2)},
                                                     {"seed", "1"}};
  EXPECT_EQ(got.labels, labels);
  EXPECT_EQ(got.notices, info.notices);
  EXPECT_TRUE(got.groups == trace.groups);
  ASSERT_EQ(got.ranks.size(), 2);
  EXPECT_EQ(got.ranks[1], SummarizeRank(trace.ranks[1]));
  EXPECT_EQ(got.stored_bytes, TotalBytes());
  ASSERT_EQ(got.ledgers.size(), 1);
  EXPECT_EQ(got.ledgers[0].file, "rank0.json");
  EXPECT_EQ(got.ledgers[0].kept, 3);
  EXPECT_EQ(got.ledgers[0].merged_by_rule, ledger.merged_by_rule);
  EXPECT_EQ(got.ledgers[0].rejected_by_rule, ledger.rejected_by_rule);
  ASSERT_EQ(got.ledgers[0].rejections.size(), 1);
  EXPECT_EQ(got.ledgers[0].rejections[0].byte_offset, 1234);
  EXPECT_EQ(got.ledgers[0].rejections[0].reason, "no launch");
  ASSERT_EQ(got.check.findings.size(), 1);
  EXPECT_EQ(got.check.findings[0].severity, Severity::kError);
  EXPECT_EQ(got.check.findings[0].node_id, UINT64_MAX);
  EXPECT_EQ(got.check.findings[0].message, "node 3 waits for itself");
  EXPECT_EQ(got.check.count_by_rule, info.check.count_by_rule);
  EXPECT_EQ(got.check.errors_count, 7);
  EXPECT_EQ(got.check.parts.launches, 0.25);
  EXPECT_EQ(got.check.quality, 0.125);
  ASSERT_EQ(got.ledgers[0].flaws.size(), 1);
  EXPECT_EQ(got.ledgers[0].flaws[0].rule, "missing_dependency");
  EXPECT_EQ(got.ledgers[0].flaws_by_rule.at("missing_dependency"), 1);
  EXPECT_EQ(got.ledgers[0].notices, ledger.notices);
  EXPECT_TRUE(got.ledgers[0].Balanced());
}

TEST_P(TraceStoreTest, OnlyTheAskedRanksAndColdBlocksAreLoaded) {
  const Trace trace = RandomTrace(2, 4, 50);
  ASSERT_THAT(store_->Put(trace, InfoOf("t")), IsOk());
  ASSERT_OK_AND_ASSIGN(const Trace two, store_->Load("t", {.cold = true, .ranks = {3, 1, 3}}));
  ASSERT_EQ(two.ranks.size(), 2);
  ExpectSameRank(two.ranks[0], trace.ranks[1]);
  ExpectSameRank(two.ranks[1], trace.ranks[3]);
  ASSERT_OK_AND_ASSIGN(const Trace hot, store_->Load("t", {}));
  ASSERT_EQ(hot.ranks.size(), 4);
  EXPECT_TRUE(hot.ranks[0].cold_begin.empty());
  EXPECT_EQ(hot.ranks[0].start_ns, trace.ranks[0].start_ns);
  EXPECT_THAT(store_->Load("t", {.cold = false, .ranks = {1, 4}}),
              StatusIs(absl::StatusCode::kNotFound, "rank: 4 is not stored"));
}

TEST_P(TraceStoreTest, UnknownTakenAndBadIdsAreRefused) {
  ASSERT_THAT(store_->Put(RandomTrace(1, 1, 10), InfoOf("t")), IsOk());
  EXPECT_THAT(store_->Put(RandomTrace(2, 1, 10), InfoOf("t")),
              StatusIs(absl::StatusCode::kAlreadyExists, "t"));
  for (const std::string& id : {std::string(), std::string("a/b"), std::string(".."),
                                std::string("a\0b", 3), std::string(kMaxIdBytes + 1, 'x')}) {
    EXPECT_THAT(store_->Put(RandomTrace(2, 1, 10), InfoOf(id)),
                StatusIs(absl::StatusCode::kInvalidArgument, "trace_id"));
    EXPECT_THAT(store_->GetInfo(id), StatusIs(absl::StatusCode::kNotFound, ""));
    EXPECT_THAT(store_->Load(id, {}), StatusIs(absl::StatusCode::kNotFound, ""));
    EXPECT_THAT(store_->Delete(id), StatusIs(absl::StatusCode::kNotFound, ""));
  }
  ASSERT_OK_AND_ASSIGN(const Trace trace, store_->Load("t", {.cold = true, .ranks = {}}));
  ExpectSameTrace(trace, RandomTrace(1, 1, 10));
}

TEST_P(TraceStoreTest, ATraceWhoseColumnsDoNotFitIsRefusedAndLeavesNothing) {
  Trace trace = RandomTrace(1, 2, 10);
  trace.ranks[1].queue[3] = 77;
  EXPECT_THAT(store_->Put(trace, InfoOf("t")),
              StatusIs(absl::StatusCode::kInvalidArgument, "trace t: rank 1: queue[3]: 77"));
  trace = RandomTrace(1, 2, 10);
  trace.ranks[1].rank = 0;
  EXPECT_THAT(store_->Put(trace, InfoOf("t")),
              StatusIs(absl::StatusCode::kInvalidArgument, "rank 0: there is such a rank already"));
  EXPECT_TRUE(ChunkHashes().empty());
  EXPECT_EQ(TotalBytes(), 0);
}

TEST_P(TraceStoreTest, EqualRanksAreStoredOnce) {
  Trace one = RandomTrace(1, 1, 500);
  ASSERT_FALSE(one.ranks[0].comm.empty());
  for (CommOp& op : one.ranks[0].comm) op.peer = 1;  // The next rank.
  ASSERT_THAT(store_->Put(one, InfoOf("one")), IsOk());
  const int64_t one_bytes = TotalBytes();
  ASSERT_GT(one_bytes, 0);
  Trace eight = one;
  eight.world_size = 8;
  for (int32_t rank = 1; rank < 8; ++rank) {
    eight.ranks.push_back(one.ranks[0]);
    eight.ranks.back().rank = rank;
    eight.ranks.back().base_unix_ns += rank;
    for (CommOp& op : eight.ranks.back().comm) op.peer = rank + 1;
  }
  ASSERT_THAT(store_->Put(eight, InfoOf("eight")), IsOk());
  ASSERT_OK_AND_ASSIGN(const TraceInfo info, store_->GetInfo("eight"));
  EXPECT_EQ(info.stored_bytes, 8 * one_bytes);
  EXPECT_EQ(TotalBytes(), one_bytes);
  ASSERT_OK_AND_ASSIGN(const Trace loaded, store_->Load("eight", {.cold = true, .ranks = {}}));
  ExpectSameTrace(loaded, eight);
}

TEST_P(TraceStoreTest, DeleteFreesTheChunksThatNoOtherTraceUses) {
  Trace a = RandomTrace(1, 2, 200), b = RandomTrace(2, 2, 200);
  b.ranks[0] = a.ranks[0];
  ASSERT_THAT(store_->Put(b, InfoOf("b")), IsOk());
  const int64_t b_bytes = TotalBytes();
  const std::vector<std::string> b_chunks = ChunkHashes();
  ASSERT_THAT(store_->Put(a, InfoOf("a")), IsOk());
  ASSERT_THAT(store_->Put(a, InfoOf("a-again")), IsOk());
  const int64_t all_bytes = TotalBytes();
  EXPECT_GT(all_bytes, b_bytes);
  ASSERT_THAT(store_->Delete("a"), IsOk());
  EXPECT_EQ(TotalBytes(), all_bytes);  // a-again has them all.
  ASSERT_THAT(store_->Delete("a-again"), IsOk());
  EXPECT_EQ(TotalBytes(), b_bytes);
  EXPECT_EQ(ChunkHashes(), b_chunks);
  ASSERT_OK_AND_ASSIGN(const Trace loaded, store_->Load("b", {.cold = true, .ranks = {}}));
  ExpectSameTrace(loaded, b);
  EXPECT_THAT(store_->GetInfo("a"), StatusIs(absl::StatusCode::kNotFound, "trace a is not known"));
  ASSERT_THAT(store_->Delete("b"), IsOk());
  EXPECT_TRUE(ChunkHashes().empty());
  EXPECT_EQ(TotalBytes(), 0);
}

TEST_P(TraceStoreTest, CardsAreNewestFirstWhateverTheClockDoes) {
  // The clock stands still, goes on, goes back.
  const std::vector<int64_t> clock = {7, 7, 100, 3, -50, 101, 200};
  const std::vector<int64_t> want = {7, 8, 100, 101, 102, 103, 200};
  for (size_t i = 0; i < clock.size(); ++i) {
    const std::string id = absl::StrCat("t-", i);
    ASSERT_THAT(store_->Put(RandomTrace(i, 1, 3), InfoOf(id, clock[i])), IsOk());
    ASSERT_OK_AND_ASSIGN(const TraceInfo info, store_->GetInfo(id));
    EXPECT_EQ(info.create_unix_ns, want[i]);
  }
  for (int round = 0; round < 2; ++round) {
    const auto cards = store_->Cards();
    ASSERT_EQ(cards->size(), clock.size());
    for (size_t i = 0; i < clock.size(); ++i) {
      EXPECT_EQ((*cards)[i]->id, absl::StrCat("t-", clock.size() - 1 - i));
      EXPECT_EQ((*cards)[i]->create_unix_ns, want[clock.size() - 1 - i]);
    }
    Reopen();
  }
  ASSERT_THAT(store_->Put(RandomTrace(1, 1, 3), InfoOf("after", 0)), IsOk());
  EXPECT_EQ(store_->Cards()->front()->create_unix_ns, 201);
}

TEST_P(TraceStoreTest, AFlippedByteIsDataLossOfThatTraceOnly) {
  const Trace good = RandomTrace(1, 2, 100), bad = RandomTrace(2, 2, 100);
  ASSERT_THAT(store_->Put(good, InfoOf("good")), IsOk());
  const std::vector<std::string> good_chunks = ChunkHashes();
  ASSERT_THAT(store_->Put(bad, InfoOf("bad")), IsOk());
  // The chunks of both ranks of "bad", one at a time.
  int spoiled = 0;
  for (const std::string& hash : ChunkHashes()) {
    if (std::count(good_chunks.begin(), good_chunks.end(), hash) > 0) continue;
    ASSERT_OK_AND_ASSIGN(const std::string stored, engine_->kv()->Get(Family::kChunks, hash));
    std::string flipped = stored;
    flipped[flipped.size() / 2] ^= 4;
    KvBatch spoil, repair;
    spoil.Put(Family::kChunks, hash, flipped);
    ASSERT_THAT(engine_->kv()->Write(spoil, true), IsOk());
    EXPECT_THAT(store_->Load("bad", {.cold = true, .ranks = {}}),
                StatusIs(absl::StatusCode::kDataLoss, "trace bad, rank "));
    ASSERT_OK_AND_ASSIGN(const Trace trace, store_->Load("good", {.cold = true, .ranks = {}}));
    ExpectSameTrace(trace, good);
    repair.Put(Family::kChunks, hash, stored);
    ASSERT_THAT(engine_->kv()->Write(repair, true), IsOk());
    ++spoiled;
  }
  EXPECT_GT(spoiled, 10);
  ASSERT_OK_AND_ASSIGN(const Trace trace, store_->Load("bad", {.cold = true, .ranks = {}}));
  ExpectSameTrace(trace, bad);
}

TEST_P(TraceStoreTest, ADamagedManifestHidesNoOtherTrace) {
  ASSERT_THAT(store_->Put(RandomTrace(1, 1, 10), InfoOf("good", 1)), IsOk());
  ASSERT_THAT(store_->Put(RandomTrace(2, 1, 10), InfoOf("bad", 2)), IsOk());
  KvBatch spoil;
  spoil.Put(Family::kMeta, "mbad", "\x07rubbish");
  ASSERT_THAT(engine_->kv()->Write(spoil, true), IsOk());
  EXPECT_THAT(store_->GetInfo("bad"),
              StatusIs(absl::StatusCode::kDataLoss, "trace bad: record: version 7"));
  const auto cards = store_->Cards();
  ASSERT_EQ(cards->size(), 2);
  EXPECT_EQ((*cards)[0]->id, "bad");
  EXPECT_TRUE((*cards)[0]->damaged);
  EXPECT_EQ((*cards)[1]->id, "good");
  EXPECT_FALSE((*cards)[1]->damaged);
  EXPECT_THAT(store_->Load("good", {}), IsOk());
}

// A process that dies after any write of a Put: the next one sees no trace, and
// the sweep leaves exactly what was there before.
TEST_P(TraceStoreTest, APutCutShortAtAnyWriteLeavesOnlyOrphansForTheSweep) {
  Trace before = RandomTrace(1, 2, 60), trace = RandomTrace(2, 3, 60);
  trace.ranks[0] = before.ranks[0];  // Some chunks are shared.
  ASSERT_THAT(store_->Put(before, InfoOf("before")), IsOk());
  const int64_t before_bytes = TotalBytes();
  const std::vector<std::string> before_chunks = ChunkHashes();
  ASSERT_THAT(store_->Put(trace, InfoOf("t")), IsOk());
  const auto chunks_count = static_cast<int64_t>(ChunkHashes().size() - before_chunks.size());
  ASSERT_THAT(store_->Delete("t"), IsOk());
  int64_t cut = 0;
  for (;; ++cut) {
    SCOPED_TRACE(cut);
    auto faulty = std::make_shared<FaultyKv>(engine_->kv());
    faulty->FailWritesAfter(cut, absl::UnavailableError("the process died"));
    const absl::Status status = OpenTestStore(faulty)->Put(trace, InfoOf("t"));
    faulty.reset();
    if (status.ok()) break;
    ASSERT_THAT(status, StatusIs(absl::StatusCode::kUnavailable, "the process died"));
    Reopen();
    if (cut == chunks_count + 1) {  // Between the write of the trace and its sync: it is whole.
      ASSERT_OK_AND_ASSIGN(const Trace whole, store_->Load("t", {.cold = true, .ranks = {}}));
      ExpectSameTrace(whole, trace);
      ASSERT_THAT(store_->Delete("t"), IsOk());
      continue;
    }
    EXPECT_THAT(store_->GetInfo("t"), StatusIs(absl::StatusCode::kNotFound, ""));
    EXPECT_EQ(CardIds(store_.get()), std::vector<std::string>{"before"});
    ASSERT_OK_AND_ASSIGN(const int64_t swept, store_->SweepOrphans());
    EXPECT_EQ(swept, std::min(cut, chunks_count));  // One chunk a write.
    EXPECT_EQ(TotalBytes(), before_bytes);
    EXPECT_EQ(ChunkHashes(), before_chunks);
  }
  EXPECT_GT(cut, 15);
  Reopen();
  ASSERT_OK_AND_ASSIGN(const int64_t swept, store_->SweepOrphans());
  EXPECT_EQ(swept, 0);
  ASSERT_OK_AND_ASSIGN(const Trace loaded, store_->Load("t", {.cold = true, .ranks = {}}));
  ExpectSameTrace(loaded, trace);
}

TEST_P(TraceStoreTest, APutThatFailsCleansUpAtOnceWhenItCan) {
  const auto faulty = std::make_shared<FaultyKv>(engine_->kv());
  const auto store = OpenTestStore(faulty);
  ASSERT_THAT(store->Put(RandomTrace(1, 1, 60), InfoOf("before")), IsOk());
  const int64_t before_bytes = TotalBytes();
  int failed = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    faulty->FailWritesAtRandom(0.03, seed);
    const absl::Status status = store->Put(RandomTrace(seed, 2, 60), InfoOf("t"));
    faulty->Heal();
    if (status.ok()) {
      ASSERT_OK_AND_ASSIGN(const Trace loaded, store->Load("t", {.cold = true, .ranks = {}}));
      ExpectSameTrace(loaded, RandomTrace(seed, 2, 60));
      ASSERT_THAT(store->Delete("t"), IsOk());
    } else {
      ++failed;
      EXPECT_THAT(store->GetInfo("t"), StatusIs(absl::StatusCode::kNotFound, ""));
    }
    ASSERT_THAT(store->SweepOrphans(), IsOk());
    EXPECT_EQ(TotalBytes(), before_bytes);
  }
  EXPECT_GT(failed, 5);
  EXPECT_LT(failed, 55);
}

// Fails one write and lets the next through: the manifest's, whose undoing and
// clean-up then succeed, and each chunk's.
TEST_P(TraceStoreTest, AfterOneFailedWriteNothingIsLeftToSweep) {
  int64_t total = 0;
  const Trace trace = RandomTrace(99, 1, 60);
  for (int64_t failing = 0;; ++failing) {
    SCOPED_TRACE(failing);
    const auto faulty = std::make_shared<FaultyKv>(engine_->kv());
    faulty->FailOneWriteAfter(failing, absl::ResourceExhaustedError("disk is full"));
    const auto store = OpenTestStore(faulty);
    const absl::Status status = store->Put(trace, InfoOf("t"));
    if (status.ok()) break;
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted, "full"));
    EXPECT_THAT(store->GetInfo("t"), StatusIs(absl::StatusCode::kNotFound, ""));
    EXPECT_TRUE(ChunkHashes().empty());
    EXPECT_EQ(TotalBytes(), 0);
    ++total;
  }
  EXPECT_GT(total, 5);
}

TEST_P(TraceStoreTest, ADeleteThatFailsLeavesTheTraceWhole) {
  const Trace trace = RandomTrace(1, 2, 60);
  const auto faulty = std::make_shared<FaultyKv>(engine_->kv());
  const auto store = OpenTestStore(faulty);
  ASSERT_THAT(store->Put(trace, InfoOf("t")), IsOk());
  faulty->FailWritesAfter(0, absl::ResourceExhaustedError("disk is full"));
  EXPECT_THAT(store->Delete("t"), StatusIs(absl::StatusCode::kResourceExhausted, "full"));
  ASSERT_OK_AND_ASSIGN(const Trace loaded, store->Load("t", {.cold = true, .ranks = {}}));
  ExpectSameTrace(loaded, trace);
  faulty->Heal();
  EXPECT_THAT(store->Delete("t"), IsOk());
  EXPECT_EQ(TotalBytes(), 0);
}

// Threads put and delete traces that share all, half or none of their chunks.
TEST_P(TraceStoreTest, ConcurrentPutsAndDeletesNeverTakeASharedChunkAway) {
  const Trace shared = RandomTrace(1, 2, 40);
  ASSERT_THAT(store_->Put(shared, InfoOf("lasting")), IsOk());
  const int64_t lasting_bytes = TotalBytes();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < 25; ++round) {
        Trace trace = RandomTrace(2 + round % 3, 2, 40);
        if (round % 2 == 0) trace.ranks[0] = shared.ranks[0];
        const std::string id = absl::StrCat("t-", thread, "-", round);
        ASSERT_THAT(store_->Put(trace, InfoOf(id)), IsOk());
        ASSERT_OK_AND_ASSIGN(const Trace loaded, store_->Load(id, {.cold = true, .ranks = {}}));
        ExpectSameTrace(loaded, trace);
        ASSERT_THAT(store_->Load("lasting", {.cold = true, .ranks = {}}), IsOk());
        // Deleted under another thread's eyes: whole or gone.
        const std::string other = absl::StrCat("t-", (thread + 1) % 4, "-", round);
        const auto seen = store_->Load(other, {.cold = true, .ranks = {}});
        if (!seen.ok()) {
          EXPECT_THAT(seen, StatusIs(absl::StatusCode::kNotFound, ""));
        }
        ASSERT_THAT(store_->Delete(id), IsOk());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(TotalBytes(), lasting_bytes);
}

TEST_P(TraceStoreTest, OfTwoPutsOfOneIdOneWins) {
  std::vector<std::thread> threads;
  std::vector<absl::Status> results(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] { results[i] = store_->Put(RandomTrace(i, 1, 100), InfoOf("t")); });
  }
  for (std::thread& thread : threads) thread.join();
  int winner = -1;
  for (int i = 0; i < 4; ++i) {
    if (!results[i].ok()) {
      EXPECT_THAT(results[i], StatusIs(absl::StatusCode::kAlreadyExists, "t"));
      continue;
    }
    EXPECT_EQ(winner, -1);
    winner = i;
  }
  ASSERT_NE(winner, -1);
  ASSERT_OK_AND_ASSIGN(const Trace loaded, store_->Load("t", {.cold = true, .ranks = {}}));
  ExpectSameTrace(loaded, RandomTrace(winner, 1, 100));
  ASSERT_OK_AND_ASSIGN(const TraceInfo info, store_->GetInfo("t"));
  EXPECT_EQ(TotalBytes(), info.stored_bytes);
}

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_TRACE_STORE_TEST_SUITE_H_
