#include "server/retention/policies_yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "server/limits.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;

TEST(PoliciesYamlTest, EveryFieldIsRead) {
  ASSERT_OK_AND_ASSIGN(const std::vector<RetentionPolicy> policies, ParsePoliciesYaml(R"(
# What we keep.
policies:
  - name: weekly
    filter: labels.job:* AND quality > 0.5
    group_by: [job, cluster]
    keep_newest: 7
    keep_for: 30d
    keep_one_a_day: true
    keep_representative: 5
    max_bytes: 500GiB
  - name: all_2
    group_by: job
    max_bytes: "4096"
)"));
  ASSERT_EQ(policies.size(), 2u);
  const RetentionPolicy& weekly = policies[0];
  EXPECT_EQ(weekly.name, "weekly");
  EXPECT_EQ(weekly.filter.ToString(), "labels.job:* AND quality > 0.5");
  EXPECT_THAT(weekly.group_by, ElementsAre("job", "cluster"));
  EXPECT_EQ(weekly.keep_newest, 7);
  EXPECT_EQ(weekly.keep_for_ns, int64_t{30} * 86400 * 1'000'000'000);
  EXPECT_TRUE(weekly.keep_one_a_day);
  EXPECT_EQ(weekly.keep_representative, 5);
  EXPECT_EQ(weekly.max_bytes, int64_t{500} << 30);
  EXPECT_TRUE(policies[1].filter.matches_all());
  EXPECT_FALSE(policies[1].has_keep_rule());
  EXPECT_THAT(policies[1].group_by, ElementsAre("job"));
}

TEST(PoliciesYamlTest, NoTextAndAnEmptyListAreNoPolicies) {
  for (const char* text : {"", "\n", "# nothing\n", "policies:", "policies: []"}) {
    const auto policies = ParsePoliciesYaml(text);
    ASSERT_THAT(policies, IsOk()) << text;
    EXPECT_TRUE(policies->empty());
  }
}

TEST(PoliciesYamlTest, AnErrorNamesThePolicyAndTheField) {
  const std::string p = "policies:\n - name: p\n   ";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {p + "keep_newset: 7", "policy p: \"keep_newset\" (line 3): not known"},
      {p + "keep_newest: 0", "policy p: keep_newest (line 3): \"0\" is not a whole number in [1,"},
      {p + "keep_newest: -1", "keep_newest"},
      {p + "keep_newest: [1]", "a list is not a whole number"},
      {p + "keep_newest:", "nothing is not a whole number"},
      {p + "keep_for: 30", "policy p: keep_for (line 3): \"30\" is not a duration"},
      {p + "keep_for: -3d", "keep_for"},
      {p + "keep_for: 0", "keep_for"},
      {p + "keep_one_a_day: yes", "\"yes\" is not true or false"},
      {p + "keep_representative: 101", "in [1, 100]"},
      {p + "max_bytes: 5 apples", "max_bytes"},
      {p + "max_bytes: 0", "max_bytes"},
      {p + "filter: 'labels.job ='\n   keep_newest: 1", "policy p: filter: position 12"},
      {p + "filter: {a: b}", "a map is not text"},
      {p + "group_by: []\n   keep_newest: 1", "group_by"},
      {p + "group_by: [a, a]\n   keep_newest: 1", "listed once"},
      {p + "filter: a", "policy p: has no rule"},
      {p + "keep_one_a_day: false", "policy p: has no rule"},
      {p + "keep_newest: 1\n   keep_newest: 2", "stands twice"},
      {p + "keep_newest: 1\n - name: p\n   keep_newest: 2", "policy p: name (line 4): another"},
      {"policies:\n - keep_newest: 1", "a policy without name"},
      {"policies:\n - name: a b\n   keep_newest: 1", "name (line 2)"},
      {"policies:\n - name: ''\n   keep_newest: 1", "name (line 2)"},
      {"policies:\n - p", "\"p\" is not a map"},
      {"policies: 7", "is not a list"},
      {"policy: []", "the one key at the top"},
      {"[]", "the one key at the top"},
      {"policies: [", "yaml: "},
      {"a: *b", "yaml: "},
      {std::string(70'000, ' '), "bytes are more than"},
      {std::string(60'000, '['), "yaml: "},
  };
  for (const auto& [text, part] : cases) {
    EXPECT_THAT(ParsePoliciesYaml(text), StatusIs(absl::StatusCode::kInvalidArgument, part))
        << text.substr(0, 200);
  }
  std::string many = "policies:\n";
  for (size_t i = 0; i <= kMaxPolicies; ++i) {
    absl::StrAppend(&many, " - {name: p", i, ", keep_newest: 1}\n");
  }
  EXPECT_THAT(ParsePoliciesYaml(many),
              StatusIs(absl::StatusCode::kInvalidArgument, "101 are more than 100"));
}

TEST(PoliciesYamlTest, TextThatIsCutOrChangedAnywhereNeverCrashes) {
  const std::string whole =
      "policies:\n - &a {name: p, filter: 'quality > 0.5', group_by: [job], keep_for: 30d}\n"
      " - name: q\n   max_bytes: 5GiB\n   keep_newest: 3\n";
  ASSERT_THAT(ParsePoliciesYaml(whole), IsOk());
  std::mt19937_64 random(3);
  for (size_t length = 0; length <= whole.size(); ++length) {
    static_cast<void>(ParsePoliciesYaml(whole.substr(0, length)));
  }
  for (int round = 0; round < 3000; ++round) {
    std::string text = whole;
    for (int i = 0; i < 3; ++i) text[random() % text.size()] = static_cast<char>(random());
    static_cast<void>(ParsePoliciesYaml(text));
  }
}

}  // namespace
}  // namespace chakrad
