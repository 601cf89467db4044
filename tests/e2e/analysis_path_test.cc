// chakra critical-path and chakra diff against a real daemon.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/status_matchers.h"
#include "tests/e2e/run_chakra.h"
#include "tests/e2e/test_server.h"

namespace chakrad {
namespace {

using ::testing::HasSubstr;

int64_t Sum(const client::Json& shares) {
  int64_t total_ps = 0;
  for (const client::Json& share : shares) total_ps += share["total_ps"].get<int64_t>();
  return total_ps;
}

void ExpectCovered(const client::Json& path) {
  const int64_t span_ps = path["end_ps"].get<int64_t>() - path["start_ps"].get<int64_t>();
  EXPECT_GT(span_ps, 0);
  EXPECT_EQ(path["replayed_ps"].get<int64_t>(), span_ps);
  for (const char* list : {"by_class", "by_edge", "by_name", "by_rank"}) {
    EXPECT_EQ(Sum(path[list]), span_ps) << list;
  }
}

TEST(AnalysisPathTest, CriticalPathOfARecordingAndOfItsSimulation) {
  TestServer server;
  ASSERT_OK_AND_ASSIGN(const v1::Trace trace,
                       server.Upload(ReadFolder("tests/data/collected/mlp_dp/w2")));
  const Ran recorded = Chakra(server, {"critical-path", trace.name(), "--all", "--output", "json"});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  const client::Json path = recorded.json();
  ExpectCovered(path);
  int64_t at_ps = path["start_ps"].get<int64_t>();
  for (const client::Json& step : path["steps"]) {
    EXPECT_EQ(step["start_ps"].get<int64_t>(), at_ps);
    at_ps = step["end_ps"].get<int64_t>();
  }
  EXPECT_EQ(at_ps, path["end_ps"].get<int64_t>());
  EXPECT_EQ(path["steps"].size(), path["steps_count"].get<size_t>());

  v1::SimulationSpec spec = SpecOf(trace, "Ring");
  spec.set_keep_timeline(true);
  spec.set_critical_path(true);
  ASSERT_OK_AND_ASSIGN(const v1::Job job, server.Run(spec));
  ASSERT_EQ(job.state(), v1::Job::SUCCEEDED) << job.error();
  const Ran simulated = Chakra(server, {"critical-path", job.name(), "--output", "json", "--scale",
                                        "comm=0", "--scale", "name:.=1"});
  ASSERT_EQ(simulated.exit_code, 0) << simulated.err;
  ExpectCovered(simulated.json());
  EXPECT_EQ(simulated.json()["end_ps"].get<int64_t>(), job.result().end_ps());
  EXPECT_LT(simulated.json()["what_if_ps"].get<int64_t>(), job.result().end_ps());
}

TEST(AnalysisPathTest, PathsAndDiffsAreShownAndRefused) {
  TestServer server;
  ASSERT_OK_AND_ASSIGN(const v1::Trace trace,
                       server.Upload(ReadFolder("tests/data/collected/mlp_dp/w2")));
  const Ran text = Chakra(server, {"critical-path", trace.name(), "--scale", "compute=0.5"});
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("bound by"));
  EXPECT_THAT(text.out, HasSubstr("what if: "));
  EXPECT_THAT(text.out, HasSubstr("gap"));
  const Ran wrong = Chakra(server, {"critical-path", trace.name(), "--scale", "gpu=0.5"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("known are compute, comm"));
  EXPECT_EQ(Chakra(server, {"critical-path", trace.name(), "--scale", "gpu"}).exit_code, 2);

  const Ran same = Chakra(server, {"diff", trace.name(), trace.name(), "--output", "json"});
  ASSERT_EQ(same.exit_code, 0) << same.err;
  EXPECT_EQ(same.json()["changed_count"].get<int64_t>(), 0);
  EXPECT_GT(same.json()["unchanged_count"].get<int64_t>(), 10);
  const Ran ranks = Chakra(server, {"diff", trace.name(), trace.name(), "--min-change", "0.1%"});
  ASSERT_EQ(ranks.exit_code, 0) << ranks.err;
  EXPECT_THAT(ranks.out, HasSubstr("operators: 0 changed, 0 added, 0 removed"));
  EXPECT_EQ(Chakra(server, {"diff", trace.name(), trace.name(), "--min-change", "x"}).exit_code, 2);
}

}  // namespace
}  // namespace chakrad
