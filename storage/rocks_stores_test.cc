// The suites of all stores on RocksDB.
#include <memory>
#include <utility>

#include "storage/job_store_test_suite.h"
#include "storage/rocks_kv.h"
#include "storage/series_store_test_suite.h"
#include "storage/trace_damage_test_suite.h"
#include "storage/trace_draft_test_suite.h"
#include "storage/trace_store_test_suite.h"
#include "storage/upload_joint_test_suite.h"
#include "storage/upload_store_test_suite.h"

namespace chakrad {
namespace {

class RocksEngine : public TestEngine {
 public:
  RocksEngine() { Reopen(); }
  std::shared_ptr<Kv> kv() override { return kv_; }
  void Reopen() override {
    EXPECT_LE(kv_.use_count(), 1) << "somebody still holds the engine";
    kv_.reset();
    auto opened = OpenRocksKv(folder_, /*reserve_bytes=*/0);
    ASSERT_THAT(opened, IsOk());
    kv_ = *std::move(opened);
  }

 private:
  const std::string folder_ = FreshFolder() + "/db";
  std::shared_ptr<Kv> kv_;
};

const auto kEngines =
    testing::Values(EngineParam{"Rocks", [] { return std::make_unique<RocksEngine>(); }});
const auto kName = [](const auto& param_info) { return param_info.param.name; };

INSTANTIATE_TEST_SUITE_P(Stores, TraceStoreTest, kEngines, kName);
INSTANTIATE_TEST_SUITE_P(Stores, TraceDraftTest, kEngines, kName);
INSTANTIATE_TEST_SUITE_P(Stores, TraceDamageTest, kEngines, kName);
INSTANTIATE_TEST_SUITE_P(Stores, MigrationTest, kEngines, kName);
INSTANTIATE_TEST_SUITE_P(Stores, UploadStoreTest, kEngines, kName);
INSTANTIATE_TEST_SUITE_P(Stores, JobStoreTest, kEngines, kName);
INSTANTIATE_TEST_SUITE_P(Stores, SeriesStoreTest, kEngines, kName);

}  // namespace
}  // namespace chakrad
