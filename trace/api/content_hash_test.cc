#include "trace/api/content_hash.h"

#include <gtest/gtest.h>

#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace chakrad {
namespace {

using Labels = std::map<std::string, std::string>;

TEST(ContentHashTest, TheCanonicalTextIsAsDocumented) {
  ImportSettings settings;
  settings.rank_by_file = {{"a", 3}};
  settings.world_size = 8;
  settings.lenient = true;
  const std::string sha(32, 'x');
  const std::string text =
      absl::StrCat("17:chakrad content 1", "5:files", "1:1", "3:job", "5:llama",  // Labels.
                   "1:1", "1:a", "1:3", "1:8", "1:1", "1:1", "1:0",               // Settings.
                   "1:0", "1:2", "1:a", "1:5", "32:", sha, "1:b", "2:10", "32:", sha);
  EXPECT_EQ(
      FilesContentHash({{"job", "llama"}}, settings, false, {{"b", {10, sha}}, {"a", {5, sha}}}),
      Sha256Of(text));
}

TEST(ContentHashTest, EachPartMakesADifference) {
  const std::string sha(32, 'x');
  const std::map<std::string, FileDigest> files = {{"a", {5, sha}}};
  ImportSettings settings;
  std::set<std::string> hashes;
  const auto add = [&](const Labels& labels, bool keep,
                       const std::map<std::string, FileDigest>& of) {
    hashes.insert(FilesContentHash(labels, settings, keep, of));
  };
  add({}, false, files);
  add({}, true, files);
  add({{"a", "bc"}}, false, files);
  add({{"ab", "c"}}, false, files);
  add({}, false, {{"b", {5, sha}}});
  add({}, false, {{"a", {6, sha}}});
  add({}, false, {{"a", {5, std::string(32, 'y')}}});
  add({}, false, {});
  settings.world_size = 2;
  add({}, false, files);
  settings.passes_count = 2;
  add({}, false, files);
  settings.repair = true;
  add({}, false, files);
  settings.rank_by_file = {{"a", 0}};
  add({}, false, files);
  EXPECT_EQ(hashes.size(), 12u);
}

}  // namespace
}  // namespace chakrad
