#include "client/input_files.h"

#include <gtest/gtest.h>

#include "client/test_folder.h"
#include "common/sha256.h"
#include "common/status_matchers.h"

namespace chakrad::client {
namespace {

std::vector<std::string> NamesOf(const InputFiles& input) {
  std::vector<std::string> names;
  for (const UploadFile& file : input.files) names.push_back(file.file);
  return names;
}

TEST(InputFilesTest, AFolderGivesItsTraceFilesAndThoseOneLevelBelow) {
  TestFolder folder;
  folder.Write("run/rank1.et.json.gz", "1");
  folder.Write("run/rank0.json", "0");
  folder.Write("run/manifest.json", "{}");
  folder.Write("run/notes.txt", "left out");
  folder.Write("run/.hidden.json", "never");
  folder.Write("run/node3/rank7.et", "777");
  folder.Write("run/node3/deep/rank8.et", "too deep");
  ASSERT_OK_AND_ASSIGN(const InputFiles input, CollectInputFiles({folder.Path("run")}, ""));
  EXPECT_EQ(NamesOf(input), (std::vector<std::string>{"manifest.json", "node3/rank7.et",
                                                      "rank0.json", "rank1.et.json.gz"}));
  EXPECT_EQ(input.files[1].bytes, 3);
  EXPECT_EQ(input.left_out, (std::vector<std::string>{folder.Path("run/node3/deep"),
                                                      folder.Path("run/notes.txt")}));
}

TEST(InputFilesTest, ANamedFileIsTakenWhateverItsNameAndOnce) {
  TestFolder folder;
  const std::string path = folder.Write("trace.bin", "x");
  ASSERT_OK_AND_ASSIGN(const InputFiles input, CollectInputFiles({path, path}, ""));
  EXPECT_EQ(NamesOf(input), (std::vector<std::string>{"trace.bin"}));
}

TEST(InputFilesTest, TwoFilesOfOneNameAreRefused) {
  TestFolder folder;
  const std::string a = folder.Write("a/rank0.json", "x");
  const std::string b = folder.Write("b/rank0.json", "x");
  EXPECT_THAT(CollectInputFiles({a, b}, ""),
              StatusIs(absl::StatusCode::kInvalidArgument, "both be named rank0.json"));
}

TEST(InputFilesTest, MissingPathsAndFoldersWithoutTracesAreRefused) {
  TestFolder folder;
  folder.Write("empty/readme.txt", "x");
  EXPECT_THAT(CollectInputFiles({folder.Path("nowhere")}, ""),
              StatusIs(absl::StatusCode::kInvalidArgument, "nowhere: no such file"));
  EXPECT_THAT(CollectInputFiles({folder.Path("empty")}, ""),
              StatusIs(absl::StatusCode::kInvalidArgument, "no trace files"));
  EXPECT_THAT(CollectInputFiles({folder.Path("empty/readme.txt")}, folder.Path("nowhere")),
              StatusIs(absl::StatusCode::kInvalidArgument, "--manifest"));
}

TEST(InputFilesTest, TheManifestOptionStandsInForTheFoldersOwn) {
  TestFolder folder;
  folder.Write("run/manifest.json", "own");
  const std::string other = folder.Write("other.json", "other");
  ASSERT_OK_AND_ASSIGN(const InputFiles input, CollectInputFiles({folder.Path("run")}, other));
  ASSERT_EQ(NamesOf(input), (std::vector<std::string>{"manifest.json"}));
  EXPECT_EQ(input.files[0].path, other);
}

std::string IdOf(UploadPlan plan) {
  const absl::StatusOr<std::string> id = ContentRequestId(&plan);
  EXPECT_THAT(id, IsOk());
  return id.value_or("");
}

TEST(RequestIdTest, EqualUploadsHaveEqualIdsWhereverTheyLie) {
  TestFolder folder;
  UploadPlan here;
  here.files = {{"r", folder.Write("here/r", "same"), 4}};
  UploadPlan there;
  there.files = {{"r", folder.Write("there/r", "same"), 4}};
  there.request_id = "not part of it";
  EXPECT_EQ(IdOf(here), IdOf(there));
  EXPECT_EQ(IdOf(here).size(), 7u + 64u);
  EXPECT_EQ(IdOf(here).substr(0, 7), "sha256-");
}

TEST(RequestIdTest, EachPartOfAnUploadChangesTheId) {
  TestFolder folder;
  UploadPlan plan;
  plan.files = {{"r", folder.Write("r", "same"), 4}};
  const std::string id = IdOf(plan);
  UploadPlan other = plan;
  other.files[0].file = "q";
  EXPECT_NE(IdOf(other), id);
  other = plan;
  other.files[0].path = folder.Write("r2", "sama");
  EXPECT_NE(IdOf(other), id);
  other = plan;
  other.labels["a"] = "b";
  EXPECT_NE(IdOf(other), id);
  other = plan;
  other.settings.rank_by_file["r"] = 0;
  EXPECT_NE(IdOf(other), id);
  other = plan;
  other.settings.world_size = 1;
  EXPECT_NE(IdOf(other), id);
}

TEST(RequestIdTest, FilesAreHashedOnTheWay) {
  TestFolder folder;
  UploadPlan plan;
  plan.files = {{"r", folder.Write("r", "same"), 4}, {"empty", folder.Write("empty", ""), 0}};
  ASSERT_THAT(ContentRequestId(&plan), IsOk());
  EXPECT_EQ(plan.files[0].sha256, Sha256Of("same"));
  EXPECT_EQ(plan.files[1].sha256, Sha256Of(""));
}

TEST(RequestIdTest, PartsThatRunTogetherStayApart) {
  TestFolder folder;
  UploadPlan a;
  a.labels = {{"ab", "c"}};
  UploadPlan b;
  b.labels = {{"a", "bc"}};
  EXPECT_NE(IdOf(a), IdOf(b));
}

TEST(RequestIdTest, AFileThatShrankIsNamed) {
  TestFolder folder;
  UploadPlan plan;
  plan.files = {{"r", folder.Write("r", "12"), 3}};
  EXPECT_THAT(ContentRequestId(&plan),
              StatusIs(absl::StatusCode::kInvalidArgument, "2 of 3 bytes"));
}

}  // namespace
}  // namespace chakrad::client
