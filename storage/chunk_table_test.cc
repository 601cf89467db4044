#include "storage/chunk_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "common/sha256.h"
#include "common/status_matchers.h"
#include "storage/mem_kv.h"
#include "storage/trace_keys.h"

namespace chakrad {
namespace {

class ChunkTableTest : public testing::Test {
 protected:
  // As a draft does: pins the chunk, writes it if need be; returns its hash.
  std::string Add(const std::string& stored, ChunkTable::Pins* pins) {
    return AddTo(&table_, stored, pins);
  }
  std::string AddTo(ChunkTable* table, const std::string& stored, ChunkTable::Pins* pins) {
    const std::string hash = Sha256Of(stored);
    const auto there = table->Pin(hash, static_cast<int64_t>(stored.size()), pins);
    EXPECT_THAT(there, IsOk());
    if (there.value_or(true)) return hash;
    KvBatch batch;
    batch.Put(Family::kChunks, hash, stored);
    batch.Put(Family::kMeta, PendingKey("draft---", pending_records_++), hash);
    EXPECT_THAT(kv_->Write(batch, false), IsOk());
    table->Written(hash);
    return hash;
  }
  // As the manifest's batch of a trace.
  void Commit(const ChunkTable::Pins& pins) {
    KvBatch batch;
    ASSERT_THAT(table_.Use(pins, &batch, &totals_), IsOk());
    ASSERT_THAT(kv_->Write(batch, true), IsOk());
  }
  // Returns the bytes that this frees.
  int64_t Release(const std::set<std::string>& hashes) {
    KvBatch batch;
    ChunkTotals freed;
    EXPECT_THAT(table_.Release(hashes, &batch, &freed), IsOk());
    EXPECT_THAT(kv_->Write(batch, true), IsOk());
    totals_.bytes += freed.bytes;
    totals_.chunks_count += freed.chunks_count;
    return -freed.bytes;
  }
  int64_t Unpin(const ChunkTable::Pins& pins) {
    KvBatch batch;
    const auto freed_bytes = table_.Unpin(pins, &batch);
    EXPECT_THAT(freed_bytes, IsOk());
    EXPECT_THAT(kv_->Write(batch, true), IsOk());
    return freed_bytes.value_or(-1);
  }
  int64_t Sweep() { return table_.Sweep({}).value_or(-1); }
  int64_t ChunksCount() {
    int64_t count = 0;
    EXPECT_THAT(kv_->Scan(Family::kChunks, {}, ScanOrder::kForward,
                          [&count](absl::string_view, absl::string_view) { return ++count > 0; }),
                IsOk());
    return count;
  }

  std::unique_ptr<Kv> kv_ = NewMemKv();
  ChunkTable table_{kv_.get()};
  ChunkTotals totals_;
  uint32_t pending_records_ = 0;
};

TEST_F(ChunkTableTest, AChunkOfAnUnfinishedTraceOutlivesItsLastUser) {
  ChunkTable::Pins old_trace, new_trace;
  const std::string hash = Add("shared", &old_trace);
  Commit(old_trace);
  EXPECT_EQ(Unpin(old_trace), 0);
  Add("shared", &new_trace);
  EXPECT_EQ(Release({hash}), 6);  // The old trace is deleted meanwhile.
  EXPECT_EQ(Sweep(), 0);
  EXPECT_THAT(table_.Read(hash), IsOk());
  Commit(new_trace);
  EXPECT_EQ(Unpin(new_trace), 0);
  ASSERT_OK_AND_ASSIGN(const std::string stored, table_.Read(hash));
  EXPECT_EQ(stored, "shared");
  EXPECT_EQ(Release({hash}), 6);
  EXPECT_THAT(table_.Read(hash), StatusIs(absl::StatusCode::kDataLoss, "is missing"));
}

TEST_F(ChunkTableTest, AnUnfinishedTraceThatGivesUpTakesOnlyItsOwnChunks) {
  ChunkTable::Pins kept, first, second;
  Add("kept", &kept);
  Commit(kept);
  EXPECT_EQ(Unpin(kept), 0);
  Add("kept", &first);
  Add("both", &first);
  Add("alone", &first);
  Add("both", &second);
  Add("both", &second);        // A second rank of it.
  EXPECT_EQ(Unpin(first), 5);  // "alone".
  EXPECT_EQ(ChunksCount(), 2);
  EXPECT_EQ(Unpin(second), 4);  // "both".
  EXPECT_EQ(ChunksCount(), 1);
  EXPECT_EQ(totals_.bytes, 4);
}

TEST_F(ChunkTableTest, RestateWritesWhatIs) {
  ChunkTable::Pins pins;
  const std::string used = Add("used", &pins);
  Commit(pins);
  const std::string unused = Add("unused", &pins);
  KvBatch batch;
  ASSERT_THAT(table_.Restate(pins, &batch), IsOk());
  ASSERT_EQ(batch.ops().size(), 2);
  ASSERT_THAT(kv_->Write(batch, true), IsOk());
  EXPECT_THAT(table_.CheckUsed(used), IsOk());
  EXPECT_THAT(table_.CheckUsed(unused), StatusIs(absl::StatusCode::kDataLoss, "missing"));
}

TEST_F(ChunkTableTest, TheSweepTakesWhatNothingUsesOrPins) {
  ChunkTable::Pins used, pinned, orphan;
  Add("used", &used);
  Commit(used);
  Add("pinned", &pinned);
  for (int i = 0; i < 2500; ++i) Add(std::to_string(i), &orphan);
  ChunkTable after_restart(kv_.get());  // Remembers no pins.
  ChunkTable::Pins again;
  AddTo(&after_restart, "pinned", &again);
  EXPECT_EQ(after_restart.Sweep({}).value_or(-1), 2500);
  EXPECT_EQ(ChunksCount(), 2);
  EXPECT_EQ(after_restart.Count()->chunks_count, 1);
  EXPECT_EQ(after_restart.Count()->bytes, 4);
}

// A draft that wrote a chunk gives up while another, which found it there, goes on; then
// the process dies.
TEST_F(ChunkTableTest, AChunkThatAnotherDraftWroteIsSweptAfterACrash) {
  ChunkTable::Pins writer, finder;
  Add("chunk", &writer);
  Add("chunk", &finder);
  EXPECT_EQ(Unpin(writer), 0);
  KvBatch batch;
  batch.Delete(Family::kMeta, PendingKey("draft---", 0));  // As the writer's end does.
  ASSERT_THAT(kv_->Write(batch, true), IsOk());
  ChunkTable after_restart(kv_.get());
  EXPECT_EQ(after_restart.Sweep({}).value_or(-1), 1);
  EXPECT_EQ(ChunksCount(), 0);
}

}  // namespace
}  // namespace chakrad
