#include "trace/readers/manifest/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "common/status_matchers.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

std::string FileText(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(ManifestTest, EveryKeyIsRead) {
  ASSERT_OK_AND_ASSIGN(const Manifest manifest,
                       ParseManifest(R"({"world_size":4,"files":{"a.json.gz":2},"note":"ignored",
                        "process_groups":[{"name":"tp","ranks":[2,0],"description":"pairs"},
                                          {"name":"dp","ranks":[1]}],
                        "collective_rules":[{"op":"all_reduce","under":"Accumulate",
                                             "groups":["dp","tp"]},{"groups":["tp"]}],
                        "ranks":[{"rank":3},{"host":"x"}]})"));
  EXPECT_EQ(manifest.world_size, 4);
  EXPECT_EQ(manifest.rank_by_file.at("a.json.gz"), 2);
  ASSERT_THAT(manifest.groups, SizeIs(2));
  EXPECT_EQ(manifest.groups[0], (ProcessGroup{"tp", "pairs", {2, 0}}));
  ASSERT_THAT(manifest.collective_rules, SizeIs(2));
  EXPECT_EQ(manifest.collective_rules[0].op, "all_reduce");
  EXPECT_EQ(manifest.collective_rules[0].under, "Accumulate");
  EXPECT_THAT(manifest.collective_rules[0].groups, ElementsAre("dp", "tp"));
  EXPECT_EQ(manifest.collective_rules[1].op, "");
}

TEST(ManifestTest, WorldIsAnotherNameOfWorldSize) {
  const std::string text = R"({"fabric":"tbf","world":2})";
  EXPECT_TRUE(LooksLikeManifest(text));
  ASSERT_OK_AND_ASSIGN(const Manifest manifest, ParseManifest(text));
  EXPECT_EQ(manifest.world_size, 2);
  ASSERT_OK_AND_ASSIGN(const Manifest both, ParseManifest(R"({"world":2,"world_size":4})"));
  EXPECT_EQ(both.world_size, 4);
  EXPECT_THAT(ParseManifest(R"({"world":0})"), StatusIs(kInvalid, "world: 0"));
}

TEST(ManifestTest, BundledManifestsAreRead) {
  ASSERT_OK_AND_ASSIGN(
      const Manifest manifest,
      ParseManifest(FileText("tests/data/collected/transformer_dp_tp/w4/manifest.json")));
  EXPECT_EQ(manifest.world_size, 4);
  EXPECT_THAT(manifest.groups, SizeIs(5));
  EXPECT_THAT(manifest.collective_rules, SizeIs(4));
  ASSERT_OK_AND_ASSIGN(const Manifest mlp,
                       ParseManifest(FileText("tests/data/collected/mlp_dp/w2/manifest.json")));
  EXPECT_EQ(mlp.world_size, 2);
}

TEST(ManifestTest, TheDocumentedExampleIsRead) {
  const std::string text = FileText("docs/manifest.md");
  const size_t begin = text.find("```json") + 7;
  ASSERT_OK_AND_ASSIGN(const Manifest manifest,
                       ParseManifest(text.substr(begin, text.find("```", begin) - begin)));
  EXPECT_EQ(manifest.rank_by_file.size(), 4u);
  EXPECT_THAT(manifest.collective_rules, SizeIs(4));
}

TEST(ManifestTest, FaultsNameTheKey) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "manifest: not a JSON object"},
      {"[]", "manifest: not a JSON object"},
      {R"({"world_size":0})", "world_size: 0 is not in [1, 2^31)"},
      {R"({"world_size":-2})", "world_size: -2 is not an integer in [0, "},
      {R"({"world_size":2.5})", "world_size: 2.5 is not an integer"},
      {R"({"world_size":"4"})", "world_size: \"4\" is not an integer"},
      {R"({"world_size":4,"process_groups":{"tp0":[0,7]}})",
       "process_groups: tp0: 7 is not an integer in [0, 4)"},
      {R"({"process_groups":{"tp0":[1,1]}})", "process_groups: tp0: rank 1 is there twice"},
      {R"({"process_groups":{"tp0":[]}})", "process_groups: tp0: is not a list of ranks"},
      {R"({"process_groups":7})", "process_groups: is neither an object nor a list"},
      {R"({"process_groups":[{"name":"a"}]})", "is not {name, ranks}"},
      {R"({"process_groups":[{"name":"a","ranks":[0]},{"name":"a","ranks":[1]}]})",
       "process_groups: a is there twice"},
      {R"({"files":[]})", "files: is not an object"},
      {R"({"files":{"../x":0}})", "files: \"../x\" is not the name of a file"},
      {R"({"world_size":1,"files":{"x":1}})", "files: x: 1 is not an integer in [0, 1)"},
      {R"({"collective_rules":{}})", "collective_rules: is not a list"},
      {R"({"collective_rules":[{"op":"x"}]})", "is not {op, under, groups}"},
      {R"({"collective_rules":[{"op":1,"groups":["a"]}]})", "collective_rules: op: 1 is not"},
      {R"({"process_groups":{"a":[0]},"collective_rules":[{"groups":["b"]}]})",
       "collective_rules: group \"b\" is not in process_groups"},
      {R"({"ranks":7})", "ranks: is not a list"},
      {R"({"world_size":2,"ranks":[{"rank":2}]})", "ranks: rank: 2 is not an integer in [0, 2)"},
  };
  for (const auto& [text, part] : cases) {
    EXPECT_THAT(ParseManifest(text), StatusIs(kInvalid, part)) << text;
  }
}

TEST(ManifestTest, AManifestCutAtAnyByteIsAnError) {
  const std::string text = FileText("tests/data/collected/mlp_dp/w2/manifest.json");
  for (size_t cut = 0; cut + 1 < text.size(); ++cut) {
    if (text.find('}', cut) == std::string::npos) break;  // Only white space is cut off.
    EXPECT_THAT(ParseManifest(text.substr(0, cut)), StatusIs(kInvalid, "manifest: not a JSON"));
  }
}

TEST(ManifestTest, TracesDoNotLookLikeManifests) {
  EXPECT_TRUE(LooksLikeManifest(R"({"world_size":1})"));
  EXPECT_TRUE(LooksLikeManifest(R"({"1":[0,1,2,3],"2":[2,3]})"));
  EXPECT_FALSE(LooksLikeManifest(R"({"1":[0],"a":[1]})"));
  EXPECT_FALSE(LooksLikeManifest("{}"));
  EXPECT_TRUE(LooksLikeManifest(R"({"process_groups":{}})"));
  EXPECT_FALSE(LooksLikeManifest(R"({"world_size":1,"nodes":[]})"));
  EXPECT_FALSE(LooksLikeManifest(R"({"world_size":1,"traceEvents":[]})"));
  EXPECT_FALSE(LooksLikeManifest(R"({"ranks":[]})"));
  EXPECT_FALSE(LooksLikeManifest("[1]"));
  EXPECT_FALSE(LooksLikeManifest(std::string(100000, '[')));
}

TEST(ManifestTest, AstraSimsCommunicatorGroupsAreProcessGroups) {
  ASSERT_OK_AND_ASSIGN(const Manifest manifest, ParseManifest(R"({"1":[0,1,2,3],"2":[2,3]})"));
  ASSERT_EQ(manifest.groups.size(), 2u);
  EXPECT_EQ(manifest.groups[1].name, "2");
  EXPECT_EQ(manifest.groups[1].ranks, (std::vector<int32_t>{2, 3}));
  EXPECT_EQ(manifest.world_size, 0);
  EXPECT_THAT(ParseManifest(R"({"1":[0,"x"]})"), StatusIs(kInvalid, "process_groups"));
}

}  // namespace
}  // namespace chakrad
