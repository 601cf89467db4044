// The suites of all stores on the engine in memory.
#include <memory>
#include <utility>

#include "storage/job_store_test_suite.h"
#include "storage/mem_kv.h"
#include "storage/series_store_test_suite.h"
#include "storage/trace_damage_test_suite.h"
#include "storage/trace_draft_test_suite.h"
#include "storage/trace_store_test_suite.h"
#include "storage/upload_joint_test_suite.h"
#include "storage/upload_store_test_suite.h"

namespace chakrad {
namespace {

class MemEngine : public TestEngine {
 public:
  std::shared_ptr<Kv> kv() override { return kv_; }
  void Reopen() override {}  // The pairs are the disk.

 private:
  const std::shared_ptr<Kv> kv_ = NewMemKv();
};

const auto kEngines =
    testing::Values(EngineParam{"Mem", [] { return std::make_unique<MemEngine>(); }});
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
