// What chakra ingest --dry-run says of the recorded runs in tests/data, against
// answers that were looked at: counts of nodes, edges, bytes, ledgers, findings.
// tools/golden rewrites them.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "client/chakra.h"

namespace chakrad {
namespace {

class DryRunTest : public ::testing::TestWithParam<const char*> {};

TEST_P(DryRunTest, CountsAreAsTheyWere) {
  std::string name = GetParam();
  std::ostringstream out, err;
  ASSERT_EQ(
      client::RunChakra({"ingest", "--dry-run", "--output", "json", "tests/data/collected/" + name},
                        {.out = &out, .err = &err, .err_is_terminal = false, .sleep = {}}),
      0)
      << err.str();
  for (char& c : name) c = c == '/' ? '_' : c;
  std::ifstream file("tests/golden/dry_run/" + name + ".json");
  std::ostringstream wanted;
  wanted << file.rdbuf();
  ASSERT_FALSE(wanted.str().empty());
  EXPECT_EQ(out.str(), wanted.str()) << "if this is meant, run tools/golden";
}

INSTANTIATE_TEST_SUITE_P(Collected, DryRunTest,
                         ::testing::Values("mlp_dp/w2", "transformer_dp_tp/w4", "dlrm/w4",
                                           "transformer_pp/w2"),
                         [](const auto& test) {
                           std::string name = test.param;
                           for (char& c : name) c = c == '/' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace chakrad
