// Guesses about recorded runs whose parallelism is known, with names of groups and without.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "analysis/groups/group_stats.h"
#include "analysis/testing/collected.h"
#include "common/status_matchers.h"

namespace chakrad {
namespace {

using ::testing::ElementsAreArray;

// "tp0: tensor", ...
std::vector<std::string> GuessesOf(const Trace& trace) {
  std::vector<std::string> guesses;
  const absl::StatusOr<JobTimeline> job = MeasuredTimeline(trace, {});
  if (!job.ok()) return {job.status().ToString()};
  for (const GroupStats& group : ComputeGroupStats(*job)) {
    EXPECT_FALSE(group.reason.empty());
    guesses.push_back(
        absl::StrCat("group ", group.group, ": ", ParallelismName(group.parallelism)));
  }
  return guesses;
}

class CollectedGroupsTest : public ::testing::Test {
 protected:
  // With the names that the manifest gives, and with none.
  void ExpectGuesses(const std::string& name, const std::vector<std::string>& wanted) {
    ASSERT_OK_AND_ASSIGN(Trace trace, CollectedTrace(name));
    EXPECT_THAT(GuessesOf(trace), ElementsAreArray(wanted)) << name;
    for (ProcessGroup& group : trace.groups) group.name = group.description = "";
    EXPECT_THAT(GuessesOf(trace), ElementsAreArray(wanted)) << name;
  }
};

TEST_F(CollectedGroupsTest, AnMlpInReplicasIsDataParallel) {
  ExpectGuesses("mlp_dp/w2", {"group 0: data"});
}

TEST_F(CollectedGroupsTest, DlrmIsDataParallelBesidesItsTables) {
  ExpectGuesses("dlrm/w4", {"group 0: data"});
}

TEST_F(CollectedGroupsTest, APipelineIsOne) {
  ExpectGuesses("transformer_pp/w2", {"group 0: pipeline"});
}

TEST_F(CollectedGroupsTest, TensorAndDataParallelGroupsAreToldApart) {
  ExpectGuesses("transformer_dp_tp/w4",
                {"group 1: data", "group 2: tensor", "group 3: data", "group 4: tensor"});
}

}  // namespace
}  // namespace chakrad
