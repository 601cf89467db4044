#include "storage/chunk_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "common/sha256.h"
#include "common/status_matchers.h"
#include "storage/mem_kv.h"

namespace chakrad {
namespace {

class ChunkTableTest : public testing::Test {
 protected:
  // Adds the chunk and returns its hash.
  std::string Add(const std::string& stored, ChunkTable::Pins* pins) {
    const std::string hash = Sha256Of(stored);
    EXPECT_THAT(table_.Add(hash, stored, pins), IsOk());
    return hash;
  }
  // As the manifest's batch of a trace.
  void Commit(const ChunkTable::Pins& pins) {
    KvBatch batch, undo;
    ASSERT_THAT(table_.Use(pins, &batch, &undo), IsOk());
    ASSERT_THAT(kv_->Write(batch, true), IsOk());
  }
  int64_t Release(const std::set<std::string>& hashes) {
    KvBatch batch;
    const auto freed_bytes = table_.Release(hashes, &batch);
    EXPECT_THAT(freed_bytes, IsOk());
    EXPECT_THAT(kv_->Write(batch, true), IsOk());
    return freed_bytes.value_or(-1);
  }
  int64_t Unpin(const ChunkTable::Pins& pins) {
    KvBatch batch;
    const auto freed_bytes = table_.Unpin(pins, &batch);
    EXPECT_THAT(freed_bytes, IsOk());
    EXPECT_THAT(kv_->Write(batch, true), IsOk());
    return freed_bytes.value_or(-1);
  }
  int64_t Sweep() { return table_.Sweep().value_or(-1); }
  int64_t TotalBytes() { return table_.TotalBytes().value_or(-1); }

  std::unique_ptr<Kv> kv_ = NewMemKv();
  ChunkTable table_{kv_.get()};
};

TEST_F(ChunkTableTest, AChunkOfAnUnfinishedTraceOutlivesItsLastUser) {
  ChunkTable::Pins old_trace, new_trace;
  const std::string hash = Add("shared", &old_trace);
  Commit(old_trace);
  EXPECT_EQ(Unpin(old_trace), 0);
  Add("shared", &new_trace);
  EXPECT_EQ(Release({hash}), 0);  // The old trace is deleted meanwhile.
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
  EXPECT_EQ(TotalBytes(), 4 + 4);
  EXPECT_EQ(Unpin(second), 4);  // "both".
  EXPECT_EQ(TotalBytes(), 4);
}

TEST_F(ChunkTableTest, UndoTakesBackExactlyWhatUseAdds) {
  ChunkTable::Pins pins;
  const std::string hash = Add("chunk", &pins);
  Commit(pins);
  KvBatch batch, undo;
  ASSERT_THAT(table_.Use(pins, &batch, &undo), IsOk());
  ASSERT_THAT(kv_->Write(batch, true), IsOk());
  ASSERT_THAT(kv_->Write(undo, true), IsOk());
  EXPECT_EQ(Unpin(pins), 0);
  EXPECT_EQ(Release({hash}), 5);  // One use was left.
}

TEST_F(ChunkTableTest, TheSweepTakesWhatNothingUsesOrPins) {
  ChunkTable::Pins used, pinned, orphan;
  Add("used", &used);
  Commit(used);
  Add("pinned", &pinned);
  for (int i = 0; i < 2500; ++i) Add(std::to_string(i), &orphan);
  ChunkTable after_restart(kv_.get());  // Remembers no pins.
  ChunkTable::Pins again;
  ASSERT_THAT(after_restart.Add(Sha256Of("pinned"), "pinned", &again), IsOk());
  EXPECT_EQ(after_restart.Sweep().value_or(-1), 2500);
  EXPECT_EQ(TotalBytes(), 4 + 6);
}

}  // namespace
}  // namespace chakrad
