// Both engines do the same to the same batches.
#include "storage/kv.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "common/status_matchers.h"
#include "storage/keys.h"
#include "storage/mem_kv.h"
#include "storage/rocks_kv.h"
#include "storage/test_engine.h"

namespace chakrad {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs ScanAll(Kv* kv, Family family, const KvRange& range, ScanOrder order, size_t limit) {
  Pairs pairs;
  if (limit == 0) return pairs;
  EXPECT_THAT(kv->Scan(family, range, order,
                       [&](absl::string_view key, absl::string_view value) {
                         pairs.emplace_back(key, value);
                         return pairs.size() < limit;
                       }),
              IsOk());
  return pairs;
}

std::string RandomKey(std::mt19937_64& random) {
  std::string key;
  const char alphabet[] = {'\0', 'a', 'b', '\x7f', '\xff'};
  for (uint64_t i = 1 + random() % 3; i > 0; --i) key.push_back(alphabet[random() % 5]);
  return key;
}

TEST(KvTest, RocksAndMemoryAgreeOnRandomBatches) {
  const std::unique_ptr<Kv> mem = NewMemKv();
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Kv> rocks, OpenRocksKv(FreshFolder() + "/db", 0));
  std::mt19937_64 random(5);
  for (int round = 0; round < 400; ++round) {
    KvBatch batch;
    for (uint64_t i = random() % 6; i > 0; --i) {
      const auto family = static_cast<Family>(random() % kFamiliesCount);
      const std::string key = RandomKey(random);
      std::string other = RandomKey(random);
      if (random() % 10 == 0 && key <= other) {
        batch.DeleteRange(family, key, other);
      } else if (random() % 3 == 0) {
        batch.Delete(family, key);
      } else {
        // Some large enough for blob files.
        batch.Put(family, key, std::string(random() % 4 == 0 ? 10'000 : 10, other[0]));
      }
    }
    ASSERT_THAT(mem->Write(batch, round % 7 == 0), IsOk());
    ASSERT_THAT(rocks->Write(batch, round % 7 == 0), IsOk());
    if (round % 50 == 49) {
      ASSERT_THAT(rocks->Reclaim(static_cast<Family>(round / 50 % 5)), IsOk());
    }
    const auto family = static_cast<Family>(random() % kFamiliesCount);
    KvRange range{RandomKey(random), random() % 2 == 0 ? "" : RandomKey(random)};
    if (!range.end.empty() && range.end < range.begin) std::swap(range.begin, range.end);
    const auto order = static_cast<ScanOrder>(random() % 2);
    const size_t limit = random() % 4 == 0 ? 3 : 1000;
    EXPECT_EQ(ScanAll(rocks.get(), family, range, order, limit),
              ScanAll(mem.get(), family, range, order, limit));
    const std::string key = RandomKey(random);
    const auto got = rocks->Get(family, key), want = mem->Get(family, key);
    EXPECT_EQ(got.status().code(), want.status().code());
    if (want.ok() && got.ok()) {
      EXPECT_EQ(*got, *want);
    }
  }
}

TEST(KvTest, PrefixRangesHoldTheirKeysOnly) {
  EXPECT_EQ(PrefixRange("ab").end, "ac");
  EXPECT_EQ(PrefixRange("a\xff").end, "b");
  EXPECT_EQ(PrefixRange(std::string("a\0", 2)).end, std::string("a\1", 2));
}

TEST(KeysTest, NumbersSortAsKeysDo) {
  const int64_t numbers[] = {INT64_MIN, -256, -1, 0, 1, 255, 256, INT64_MAX};
  for (size_t i = 0; i < std::size(numbers); ++i) {
    EXPECT_EQ(ParseSortableInt64(SortableInt64(numbers[i])), numbers[i]);
    if (i > 0) {
      EXPECT_LT(SortableInt64(numbers[i - 1]), SortableInt64(numbers[i]));
    }
  }
  EXPECT_LT(SortableInt32(-1), SortableInt32(0));
  EXPECT_LT(SortableInt32(255), SortableInt32(256));
}

}  // namespace
}  // namespace chakrad
