#include "storage/settings_store.h"

#include <gtest/gtest.h>

#include "common/status_matchers.h"
#include "storage/faulty_kv.h"
#include "storage/limits.h"
#include "storage/mem_kv.h"
#include "storage/rocks_kv.h"

namespace chakrad {
namespace {

TEST(SettingsStoreTest, ValuesOfAnyBytesSurviveAReopening) {
  const std::string folder = testing::TempDir() + "/settings_db";
  const std::string odd("\0\xff yaml: \n", 10);
  {
    ASSERT_OK_AND_ASSIGN(std::shared_ptr<Kv> kv, OpenRocksKv(folder, 0));
    const auto settings = NewSettingsStore(kv);
    EXPECT_THAT(settings->Get("a/b"), StatusIs(absl::StatusCode::kNotFound, ""));
    ASSERT_THAT(settings->Set({{"a/b", "old"}, {"other", ""}}), IsOk());
    ASSERT_THAT(settings->Set({{"a/b", odd}}), IsOk());
  }
  ASSERT_OK_AND_ASSIGN(std::shared_ptr<Kv> kv, OpenRocksKv(folder, 0));
  const auto settings = NewSettingsStore(kv);
  ASSERT_OK_AND_ASSIGN(const std::string got, settings->Get("a/b"));
  EXPECT_EQ(got, odd);
  ASSERT_OK_AND_ASSIGN(const std::string other, settings->Get("other"));
  EXPECT_EQ(other, "");
}

TEST(SettingsStoreTest, SeveralAreSetTogetherOrNotAtAll) {
  const auto kv = std::make_shared<FaultyKv>(std::shared_ptr<Kv>(NewMemKv()));
  const auto settings = NewSettingsStore(kv);
  ASSERT_THAT(settings->Set({{"a", "1"}, {"b", "1"}}), IsOk());
  kv->FailWritesAfter(0, absl::ResourceExhaustedError("full"));
  EXPECT_THAT(settings->Set({{"a", "2"}, {"b", "2"}}),
              StatusIs(absl::StatusCode::kResourceExhausted, "full"));
  kv->Heal();
  EXPECT_THAT(settings->Set({{"a", "3"}, {"b", std::string(kMaxSettingBytes + 1, 'x')}}),
              StatusIs(absl::StatusCode::kInvalidArgument, "setting b"));
  EXPECT_EQ(*settings->Get("a"), "1");
  EXPECT_EQ(*settings->Get("b"), "1");
}

TEST(SettingsStoreTest, AValueOfANewerVersionIsDataLoss) {
  const std::shared_ptr<Kv> kv = NewMemKv();
  KvBatch batch;
  batch.Put(Family::kMeta, "sa", std::string(1, '\x02') + "x");
  batch.Put(Family::kMeta, "sb", "");
  ASSERT_THAT(kv->Write(batch, true), IsOk());
  const auto settings = NewSettingsStore(kv);
  EXPECT_THAT(settings->Get("a"), StatusIs(absl::StatusCode::kDataLoss, "setting a"));
  EXPECT_THAT(settings->Get("b"), StatusIs(absl::StatusCode::kDataLoss, "setting b"));
}

}  // namespace
}  // namespace chakrad
