// What the suites of stores run on: an engine that can be closed and opened again.
#ifndef CHAKRAD_STORAGE_TEST_ENGINE_H_
#define CHAKRAD_STORAGE_TEST_ENGINE_H_

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "storage/kv.h"

namespace chakrad {

class TestEngine {
 public:
  virtual ~TestEngine() = default;
  virtual std::shared_ptr<Kv> kv() = 0;
  // As a restart of the process: whoever still holds kv() must let go first.
  virtual void Reopen() = 0;
};

struct EngineParam {
  std::string name;
  std::function<std::unique_ptr<TestEngine>()> make;
};

// An empty folder of this test's own.
inline std::string FreshFolder() {
  std::string path = testing::TempDir() + "/storage_XXXXXX";
  EXPECT_NE(mkdtemp(path.data()), nullptr) << path;
  return path;
}

// A suite's fixture: TEST_P(..) on the engine that the including test names.
class EngineTest : public testing::TestWithParam<EngineParam> {
 protected:
  std::unique_ptr<TestEngine> engine_ = GetParam().make();
};

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_TEST_ENGINE_H_
