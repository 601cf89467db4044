// What every SeriesStore must do, whatever its engine. Include in one test and
// instantiate: INSTANTIATE_TEST_SUITE_P(Mem, SeriesStoreTest, ...).
#ifndef CHAKRAD_STORAGE_SERIES_STORE_TEST_SUITE_H_
#define CHAKRAD_STORAGE_SERIES_STORE_TEST_SUITE_H_

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "storage/faulty_kv.h"
#include "storage/keys.h"
#include "storage/limits.h"
#include "storage/series_store.h"
#include "storage/test_engine.h"

namespace chakrad {

class SeriesStoreTest : public EngineTest {
 protected:
  static std::unique_ptr<SeriesStore> Open(std::shared_ptr<Kv> kv) {
    auto store = NewSeriesStore(std::move(kv));
    EXPECT_THAT(store, IsOk());
    return *std::move(store);
  }
  void Restart() {
    store_.reset();
    engine_->Reopen();
    store_ = Open(engine_->kv());
  }
  static SeriesRecord Of(std::string source, int64_t time_unix_ms, std::string job = "j",
                         std::string variant = "") {
    SeriesRecord record;
    record.source = std::move(source);
    record.time_unix_ms = time_unix_ms;
    record.key = {"c", std::move(job), "m", "all"};
    record.variant = std::move(variant);
    record.samples = absl::StrCat("samples of ", record.source);
    return record;
  }
  static std::vector<SeriesRecord> All(SeriesStore* store, int64_t after = 0) {
    std::vector<SeriesRecord> records;
    EXPECT_THAT(store->Scan(after,
                            [&](const SeriesRecord& record) {
                              records.push_back(record);
                              return true;
                            }),
                IsOk());
    return records;
  }
  // "sequence:source@time".
  static std::string Text(const SeriesRecord& record) {
    return absl::StrCat(record.sequence, ":", record.source, "@", record.time_unix_ms);
  }
  static std::vector<std::string> Texts(SeriesStore* store, int64_t after = 0) {
    std::vector<std::string> texts;
    for (const SeriesRecord& record : All(store, after)) texts.push_back(Text(record));
    return texts;
  }
  static std::multiset<std::string> Latest(SeriesStore* store) {
    std::multiset<std::string> texts;
    EXPECT_THAT(store->ScanLatest([&](const SeriesRecord& record) {
      texts.insert(Text(record));
      return true;
    }),
                IsOk());
    return texts;
  }
  std::string Near(int64_t time, const std::string& job = "j", const std::string& variant = "") {
    const auto record = store_->FindNear({"c", job, "m", "all"}, variant, time);
    return record.ok() ? Text(*record) : std::string(record.status().message());
  }
  using Strings = std::vector<std::string>;

  std::unique_ptr<SeriesStore> store_ = Open(engine_->kv());
};

TEST_P(SeriesStoreTest, RecordsOfAnyBytesComeBackInTheOrderOfAddingAlsoAfterARestart) {
  EXPECT_EQ(store_->last_sequence(), 0);
  EXPECT_EQ(*store_->GetCursor("traces"), "");
  SeriesRecord odd = Of("traces/a", -5);
  odd.key = {std::string("c\0\xff", 3), "", "\n\"\\", std::string(kMaxSeriesLabelBytes, 'x')};
  odd.samples = std::string("\0\xff", 2);
  odd.added_unix_ms = -3;
  ASSERT_OK_AND_ASSIGN(int64_t added, store_->Append({odd, Of("traces/b", 7)}, "traces", "17"));
  EXPECT_EQ(added, 2);
  ASSERT_OK_AND_ASSIGN(added, store_->Append({Of("jobs/a", 7, "j", "v")}, "traces", "18"));
  Restart();
  odd.sequence = 1;
  const auto records = All(store_.get());
  ASSERT_EQ(records.size(), 3);
  EXPECT_EQ(records[0], odd);
  EXPECT_EQ(Texts(store_.get(), 1), (Strings{"2:traces/b@7", "3:jobs/a@7"}));
  EXPECT_EQ(Texts(store_.get(), 3), Strings{});
  EXPECT_EQ(Texts(store_.get(), INT64_MAX), Strings{});
  EXPECT_EQ(store_->last_sequence(), 3);
  EXPECT_EQ(*store_->GetCursor("traces"), "18");
  int visited = 0;
  ASSERT_THAT(store_->Scan(0, [&](const SeriesRecord&) { return ++visited < 2; }), IsOk());
  EXPECT_EQ(visited, 2);
}

TEST_P(SeriesStoreTest, ASourceHasOneRecordHoweverOftenItIsAppended) {
  ASSERT_OK_AND_ASSIGN(int64_t added,
                       store_->Append({Of("traces/a", 1), Of("traces/a", 2)}, "t", "1"));
  EXPECT_EQ(added, 1);
  Restart();
  ASSERT_OK_AND_ASSIGN(added, store_->Append({Of("traces/a", 9), Of("traces/b", 3)}, "t", "2"));
  EXPECT_EQ(added, 1);
  EXPECT_EQ(Texts(store_.get()), (Strings{"1:traces/a@1", "2:traces/b@3"}));
  ASSERT_OK_AND_ASSIGN(added, store_->Append({}, "t", "3"));
  EXPECT_EQ(added, 0);
  EXPECT_EQ(*store_->GetCursor("t"), "3");
}

TEST_P(SeriesStoreTest, EqualTimesOfALineMoveOnByMilliseconds) {
  ASSERT_THAT(store_->Append({Of("a", 10), Of("b", 10), Of("c", 11)}, "t", ""), IsOk());
  Restart();
  ASSERT_THAT(store_->Append({Of("d", 10), Of("e", 10, "other"), Of("f", 10, "j", "sim")}, "t", ""),
              IsOk());
  EXPECT_EQ(Texts(store_.get()),
            (Strings{"1:a@10", "2:b@11", "3:c@12", "4:d@13", "5:e@10", "6:f@10"}));
}

TEST_P(SeriesStoreTest, TheLatestOfEachLineIsItsNewestByTime) {
  ASSERT_THAT(store_->Append({Of("new", 20), Of("old", 10), Of("sim", 5, "j", "v")}, "t", ""),
              IsOk());
  ASSERT_THAT(store_->Append({Of("older", 1), Of("other", 1, "other")}, "t", ""), IsOk());
  Restart();
  EXPECT_EQ(Latest(store_.get()), (std::multiset<std::string>{"1:new@20", "3:sim@5", "5:other@1"}));
}

TEST_P(SeriesStoreTest, FindsTheLastUpToATime) {
  ASSERT_THAT(
      store_->Append({Of("a", 10), Of("b", 20), Of("c", 40), Of("s", 33, "j", "v")}, "t", ""),
      IsOk());
  EXPECT_EQ(Near(INT64_MIN), "1:a@10");
  EXPECT_EQ(Near(10), "1:a@10");
  EXPECT_EQ(Near(19), "1:a@10");
  EXPECT_EQ(Near(20), "2:b@20");
  EXPECT_EQ(Near(39), "2:b@20");
  EXPECT_EQ(Near(INT64_MAX), "3:c@40");
  EXPECT_EQ(Near(0, "j", "v"), "4:s@33");
  EXPECT_EQ(Near(0, "unknown"), "no series of this cluster, job, model and rank group");
}

TEST_P(SeriesStoreTest, LabelsThatJoinToTheSameTextAreDifferentLines) {
  SeriesRecord one = Of("a", 1), two = Of("b", 1);
  one.key = {"ab", "c", "", ""};
  two.key = {"a", "bc", "", ""};
  ASSERT_THAT(store_->Append({one, two}, "t", ""), IsOk());
  EXPECT_EQ(Latest(store_.get()).size(), 2);
  EXPECT_EQ(Texts(store_.get()), (Strings{"1:a@1", "2:b@1"}));
}

TEST_P(SeriesStoreTest, PruningKeepsTheNewTheLatestAndWhatReceiversLack) {
  ASSERT_THAT(store_->Append({Of("a", 10), Of("b", 20), Of("x", 1, "idle"), Of("c", 30)}, "t", ""),
              IsOk());
  ASSERT_OK_AND_ASSIGN(int64_t pruned, store_->Prune(20, 4));
  EXPECT_EQ(pruned, 1);
  EXPECT_EQ(Texts(store_.get()), (Strings{"2:b@20", "3:x@1", "4:c@30"}));
  ASSERT_OK_AND_ASSIGN(pruned, store_->Prune(100, 1));
  EXPECT_EQ(pruned, 0);
  ASSERT_OK_AND_ASSIGN(pruned, store_->Prune(100, INT64_MAX));
  EXPECT_EQ(pruned, 1);
  EXPECT_EQ(Texts(store_.get()), (Strings{"3:x@1", "4:c@30"}));
  EXPECT_EQ(Near(0), "4:c@30");
}

TEST_P(SeriesStoreTest, NumbersOfPrunedRecordsDoNotComeBack) {
  ASSERT_THAT(store_->Append({Of("new", 20)}, "t", ""), IsOk());
  ASSERT_THAT(store_->Append({Of("old", 10)}, "t", ""), IsOk());
  ASSERT_OK_AND_ASSIGN(const int64_t pruned, store_->Prune(15, INT64_MAX));
  EXPECT_EQ(pruned, 1);
  Restart();
  EXPECT_EQ(store_->last_sequence(), 2);
  ASSERT_THAT(store_->Append({Of("next", 30)}, "t", ""), IsOk());
  EXPECT_EQ(Texts(store_.get()), (Strings{"1:new@20", "3:next@30"}));
}

TEST_P(SeriesStoreTest, ManyOfOneTimeAreAddedInLinearTime) {
  std::vector<SeriesRecord> records;
  for (int i = 0; i < 5'000; ++i) records.push_back(Of(absl::StrCat("s", i), 0));
  ASSERT_OK_AND_ASSIGN(const int64_t added, store_->Append(std::move(records), "t", ""));
  EXPECT_EQ(added, 5'000);
  EXPECT_EQ(Near(INT64_MAX), "5000:s4999@4999");
}

TEST_P(SeriesStoreTest, WhatIsBeyondTheLimitsIsRefusedAndNothingAdded) {
  const auto refused = [&](SeriesRecord bad, const std::string& why) {
    EXPECT_THAT(store_->Append({Of("good", 1), std::move(bad)}, "t", "9"),
                StatusIs(absl::StatusCode::kInvalidArgument, why));
  };
  refused(Of("", 1), "source: must not be empty");
  refused(Of(std::string(kMaxRequestIdBytes + 1, 's'), 1), "source");
  refused(Of("x", 1, std::string(kMaxSeriesLabelBytes + 1, 'j')), "label");
  refused(Of("x", 1, "j", std::string(kMaxSeriesLabelBytes + 1, 'v')), "label");
  refused(Of("x", INT64_MAX), "time_unix_ms");
  refused(Of("x", INT64_MIN), "time_unix_ms");
  SeriesRecord large = Of("x", 1);
  large.samples.assign(kMaxSeriesSamplesBytes + 1, 's');
  refused(large, "samples");
  EXPECT_EQ(Texts(store_.get()), Strings{});
  EXPECT_EQ(*store_->GetCursor("t"), "");
}

TEST_P(SeriesStoreTest, AFailedWriteLeavesNothingHalfWritten) {
  const auto kv = std::make_shared<FaultyKv>(engine_->kv());
  store_ = Open(kv);
  ASSERT_THAT(store_->Append({Of("a", 1)}, "t", "1"), IsOk());
  kv->FailWritesAfter(0, absl::ResourceExhaustedError("full"));
  EXPECT_THAT(store_->Append({Of("b", 1), Of("c", 2)}, "t", "2"),
              StatusIs(absl::StatusCode::kResourceExhausted, "full"));
  EXPECT_THAT(store_->SetCursor("r", "2"), StatusIs(absl::StatusCode::kResourceExhausted, "full"));
  EXPECT_EQ(Texts(store_.get()), Strings{"1:a@1"});
  EXPECT_EQ(*store_->GetCursor("t"), "1");
  EXPECT_EQ(store_->last_sequence(), 1);
  kv->Heal();
  ASSERT_OK_AND_ASSIGN(const int64_t added, store_->Append({Of("b", 1), Of("c", 2)}, "t", "2"));
  EXPECT_EQ(added, 2);
  EXPECT_EQ(Texts(store_.get()), (Strings{"1:a@1", "2:b@2", "3:c@3"}));
}

// Seeded faults: in the end each source has one record, numbers have no gaps.
TEST_P(SeriesStoreTest, RepeatingAfterRandomFaultsGivesEachSourceOnce) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const auto kv = std::make_shared<FaultyKv>(engine_->kv());
    store_ = Open(kv);
    const int64_t before = store_->last_sequence();
    kv->FailWritesAtRandom(0.5, seed);
    for (int i = 0; i < 20; ++i) {
      const std::string source = absl::StrCat(seed, "/", i);
      while (!store_->Append({Of(source, i)}, "t", source).ok()) {
        EXPECT_NE(*store_->GetCursor("t"), source);
      }
    }
    const auto records = All(store_.get(), before);
    ASSERT_EQ(records.size(), 20) << "seed " << seed;
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(records[i].sequence, before + i + 1);
      EXPECT_EQ(records[i].source, absl::StrCat(seed, "/", i));
    }
  }
}

TEST_P(SeriesStoreTest, AWriteThatFailedAndCameBackWithARestartIsNotTakenForARecord) {
  const auto kv = engine_->kv();
  ASSERT_THAT(store_->Append({Of("a", 1)}, "t", "1"), IsOk());
  // What would be left of it where its number went to "a" afterwards.
  KvBatch left;
  left.Put(Family::kSeries, "sghost", SortableInt64(1));
  ASSERT_THAT(kv->Write(left, true), IsOk());
  ASSERT_OK_AND_ASSIGN(const int64_t added, store_->Append({Of("ghost", 2)}, "t", "2"));
  EXPECT_EQ(added, 1);
  EXPECT_EQ(Texts(store_.get()), (Strings{"1:a@1", "2:ghost@2"}));
}

TEST_P(SeriesStoreTest, ADamagedRecordIsLeftOutAndTheOthersStay) {
  const auto kv = std::make_shared<FaultyKv>(engine_->kv());
  store_ = Open(kv);
  for (int i = 1; i <= 5; ++i) {
    ASSERT_THAT(store_->Append({Of(absl::StrCat("s", i), i)}, "t", ""), IsOk());
  }
  kv->Damage(Family::kSeries, "r" + SortableInt64(3));  // A block that cannot be read,
  KvBatch rubbish;                                      // and a value that is none.
  rubbish.Put(Family::kSeries, "r" + SortableInt64(5), "\xffrubbish");
  ASSERT_THAT(kv->Write(rubbish, true), IsOk());
  EXPECT_EQ(Texts(store_.get()), (Strings{"1:s1@1", "2:s2@2", "4:s4@4"}));
  EXPECT_EQ(Texts(store_.get(), 2), Strings{"4:s4@4"});
  const auto damaged_after = [&](int64_t after) {
    int64_t damaged = 0;
    EXPECT_THAT(store_->Scan(
                    after, [](const SeriesRecord&) { return true; }, &damaged),
                IsOk());
    return damaged;
  };
  EXPECT_EQ(damaged_after(0), 2);
  EXPECT_EQ(damaged_after(3), 1);
  EXPECT_EQ(damaged_after(5), 0);
  EXPECT_EQ(Latest(store_.get()), std::multiset<std::string>{"4:s4@4"});
  EXPECT_EQ(Near(3), "2:s2@2");
  ASSERT_OK_AND_ASSIGN(const int64_t added, store_->Append({Of("s3", 9), Of("s5", 9)}, "t", ""));
  EXPECT_EQ(added, 0) << "a damaged record still is its source's";
  EXPECT_EQ(store_->last_sequence(), 5);
}

TEST_P(SeriesStoreTest, PrunedNumbersBeforeADamagedRecordDoNotCountAsDamaged) {
  const auto kv = std::make_shared<FaultyKv>(engine_->kv());
  store_ = Open(kv);
  ASSERT_THAT(store_->Append({Of("a", 1), Of("b", 2), Of("c", 3), Of("d", 4)}, "t", ""), IsOk());
  ASSERT_OK_AND_ASSIGN(const int64_t pruned, store_->Prune(3, INT64_MAX));
  EXPECT_EQ(pruned, 2);
  kv->Damage(Family::kSeries, "r" + SortableInt64(3));
  int64_t damaged = 0;
  EXPECT_THAT(store_->Scan(
                  0, [](const SeriesRecord&) { return true; }, &damaged),
              IsOk());
  EXPECT_EQ(damaged, 1);
}

// Damage in the index of latest records: the lines before and behind it are kept and pruned as
// ever.
TEST_P(SeriesStoreTest, PruningBesideDamageKeepsTheLatestOfEveryLine) {
  const auto kv = std::make_shared<FaultyKv>(engine_->kv());
  store_ = Open(kv);
  std::vector<SeriesRecord> records;
  for (int job = 0; job < 9; ++job) {
    for (int i = 0; i < 2; ++i) {
      records.push_back(Of(absl::StrCat("s", job, i), 10 + i, absl::StrCat("j", job)));
    }
  }
  ASSERT_THAT(store_->Append(records, "t", ""), IsOk());
  std::vector<std::string> latest_keys;
  ASSERT_THAT(kv->Scan(Family::kSeries, PrefixRange("l"), ScanOrder::kForward,
                       [&](absl::string_view key, absl::string_view) {
                         latest_keys.emplace_back(key);
                         return true;
                       }),
              IsOk());
  ASSERT_EQ(latest_keys.size(), 9);
  kv->Damage(Family::kSeries, latest_keys[4]);
  EXPECT_EQ(Latest(store_.get()).size(), 8);
  ASSERT_OK_AND_ASSIGN(const int64_t pruned, store_->Prune(100, INT64_MAX));
  EXPECT_EQ(pruned, 8);
  for (int job = 0; job < 9; ++job) {
    EXPECT_EQ(Near(INT64_MAX, absl::StrCat("j", job)),
              absl::StrCat(2 * job + 2, ":s", job, "1@11"));
  }
}

TEST_P(SeriesStoreTest, ADamagedEntryOfASourceKeepsNobodyFromAppending) {
  const auto kv = std::make_shared<FaultyKv>(engine_->kv());
  store_ = Open(kv);
  ASSERT_THAT(store_->Append({Of("a", 1)}, "t", "1"), IsOk());
  kv->Damage(Family::kSeries, "sa");
  kv->Damage(Family::kSeries, "sb");
  ASSERT_OK_AND_ASSIGN(const int64_t added, store_->Append({Of("a", 1), Of("b", 1)}, "t", "2"));
  EXPECT_EQ(added, 1) << "one that stands at its own time is known by that";
  EXPECT_EQ(Texts(store_.get()), (Strings{"1:a@1", "2:b@2"}));
}

// Against a list in memory: random appends, looks and prunings.
TEST_P(SeriesStoreTest, AgreesWithAListOverRandomWork) {
  std::mt19937_64 random(7);
  std::map<int64_t, SeriesRecord> want;
  int64_t last = 0;
  for (int round = 0; round < 60; ++round) {
    std::vector<SeriesRecord> records;
    for (int i = 0; i < 5; ++i) {
      SeriesRecord record = Of(absl::StrCat(round, "-", i), static_cast<int64_t>(random() % 50),
                               absl::StrCat("j", random() % 3));
      records.push_back(record);
      const auto taken = [&] {
        for (const auto& [sequence, other] : want) {
          if (other.key == record.key && other.time_unix_ms == record.time_unix_ms) return true;
        }
        return false;
      };
      while (taken()) ++record.time_unix_ms;
      record.sequence = ++last;
      want[last] = record;
    }
    ASSERT_THAT(store_->Append(records, "t", ""), IsOk());
    if (round % 20 == 19) {
      std::map<std::string, int64_t> newest;
      for (const auto& [sequence, record] : want) {
        int64_t& time = newest.emplace(record.key.job, INT64_MIN).first->second;
        time = std::max(time, record.time_unix_ms);
      }
      const int64_t erased = static_cast<int64_t>(std::erase_if(want, [&](const auto& entry) {
        return entry.second.time_unix_ms < 25 && entry.first <= last - 20 &&
               newest[entry.second.key.job] != entry.second.time_unix_ms;
      }));
      ASSERT_OK_AND_ASSIGN(const int64_t pruned, store_->Prune(25, last - 20));
      EXPECT_EQ(pruned, erased);
      Restart();
    }
    const auto got = All(store_.get());
    ASSERT_EQ(got.size(), want.size());
    size_t i = 0;
    for (const auto& [sequence, record] : want) EXPECT_EQ(got[i++], record) << "round " << round;
  }
}

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_SERIES_STORE_TEST_SUITE_H_
