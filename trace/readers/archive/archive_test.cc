#include "trace/readers/archive/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "trace/readers/testing/sources.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

struct Member {
  std::string name;
  std::string bytes;
  unsigned type = AE_IFREG;
};

// "tar", "tar.gz", "tar.zst", "tar.xz", "zip", or "zst": the first member's bytes alone.
std::string Pack(const std::string& kind, const std::vector<Member>& members) {
  std::string packed(64 << 20, '\0');
  size_t used = 0;
  archive* a = archive_write_new();
  archive_write_set_bytes_in_last_block(a, 1);
  if (kind == "zip") {
    archive_write_set_format_zip(a);
  } else if (kind == "zst") {
    archive_write_set_format_raw(a);
  } else {
    archive_write_set_format_pax_restricted(a);
  }
  if (absl::EndsWith(kind, "gz")) archive_write_add_filter_gzip(a);
  if (absl::EndsWith(kind, "zst")) archive_write_add_filter_zstd(a);
  if (absl::EndsWith(kind, "xz")) archive_write_add_filter_xz(a);
  archive_write_open_memory(a, packed.data(), packed.size(), &used);
  for (const Member& member : members) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, member.name.c_str());
    archive_entry_set_filetype(entry, member.type);
    archive_entry_set_perm(entry, 0644);
    if (member.type == AE_IFLNK) archive_entry_set_symlink(entry, "/etc/passwd");
    archive_entry_set_size(entry, static_cast<int64_t>(member.bytes.size()));
    EXPECT_GE(archive_write_header(a, entry), ARCHIVE_WARN) << archive_error_string(a);
    archive_write_data(a, member.bytes.data(), member.bytes.size());
    archive_entry_free(entry);
  }
  archive_write_close(a);
  archive_write_free(a);
  packed.resize(used);
  return packed;
}

class ArchiveTest : public testing::Test {
 protected:
  ArchiveTest() : base_(absl::StrCat(testing::TempDir(), "archive_test")) {
    std::filesystem::remove_all(base_);
    std::filesystem::create_directories(base_);
  }
  std::string Save(const std::string& bytes) {
    const std::string path = absl::StrCat(base_, "/archive");
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  absl::StatusOr<ExtractedArchive> Extract(const std::string& bytes,
                                           const ArchiveLimits& limits = {}) {
    folder_ = absl::StrCat(base_, "/", extractions_++);
    mkdir(folder_.c_str(), 0700);
    return ExtractArchive(Save(bytes), folder_, limits);
  }
  bool Is(const std::string& bytes) {
    const absl::StatusOr<bool> is = IsArchive(Save(bytes));
    EXPECT_THAT(is, IsOk());
    return is.ok() && *is;
  }
  static std::string Contents(const ExtractedFile& file) {
    std::stringstream text;
    text << std::ifstream(file.path, std::ios::binary).rdbuf();
    return text.str();
  }

  const std::string base_;
  std::string folder_;
  int extractions_ = 0;
};

const char* const kKinds[] = {"tar", "tar.gz", "tar.zst", "tar.xz", "zip"};

std::string Noise(size_t size) {
  std::mt19937 random(3);
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

TEST_F(ArchiveTest, RegularFilesOfEveryKindComeOut) {
  const std::string large = Noise(700000);
  for (const char* kind : kKinds) {
    const std::string packed = Pack(kind, {{"job/", "", AE_IFDIR},
                                           {"job/rank0.json", "{\"a\":1}"},
                                           {"job/link", "", AE_IFLNK},
                                           {"job/._rank0.json", "mac"},
                                           {"job/empty", ""},
                                           {"job/rank1.json.gz", large}});
    EXPECT_TRUE(Is(packed)) << kind;
    ASSERT_OK_AND_ASSIGN(const ExtractedArchive archive, Extract(packed));
    ASSERT_EQ(archive.files.size(), 3u) << kind;
    EXPECT_EQ(archive.files[0].name, "job/rank0.json");
    EXPECT_EQ(Contents(archive.files[0]), "{\"a\":1}");
    EXPECT_EQ(archive.files[1].bytes, 0);
    EXPECT_EQ(Contents(archive.files[2]), large);
    EXPECT_EQ(archive.files[2].bytes, 700000);
    EXPECT_EQ(archive.folders_count, 1);
    EXPECT_EQ(archive.ignored_count, 2);
  }
}

TEST_F(ArchiveTest, NamesCannotLeaveTheFolder) {
  for (const char* kind : {"tar", "zip"}) {
    ASSERT_OK_AND_ASSIGN(const ExtractedArchive archive,
                         Extract(Pack(kind, {{"../../etc/passwd", "a"},
                                             {"/root/x", "b"},
                                             {"./a/./../b\\c", "c"},
                                             {"..", "d"},
                                             {"new\nline\x7f", "e"},
                                             {"\xc3\xa9\xff", "f"}})));
    std::vector<std::string> names;
    for (const ExtractedFile& file : archive.files) {
      names.push_back(file.name);
      EXPECT_TRUE(absl::StartsWith(file.path, absl::StrCat(folder_, "/0")));
    }
    EXPECT_THAT(names,
                ElementsAre("etc/passwd", "root/x", "a/b/c", "member-4", "new?line?", "\xc3\xa9?"))
        << kind;
  }
}

TEST_F(ArchiveTest, CompressedJsonIsNoArchive) {
  const std::string json = absl::StrCat("{\"traceEvents\":[", std::string(5000, ' '), "]}");
  EXPECT_FALSE(Is(json));
  EXPECT_FALSE(Is(Gzip(json)));
  EXPECT_FALSE(Is(Pack("zst", {{"x", json}})));
  EXPECT_FALSE(Is(""));
  EXPECT_FALSE(Is("PK"));
  EXPECT_FALSE(Is(std::string(1024, '\0')));
  EXPECT_FALSE(Is(Gzip(json).substr(0, 30)));
  EXPECT_FALSE(Is("\x28\xb5\x2f\xfd and then nothing"));
  EXPECT_TRUE(Is(Gzip(Pack("tar", {{"x", json}}))));
  EXPECT_THAT(IsArchive("/nowhere/at/all"), StatusIs(absl::StatusCode::kNotFound, "nowhere"));
}

TEST_F(ArchiveTest, EveryCutIsAnErrorThatNamesAMember) {
  const std::vector<Member> members = {{"first.json", "{}"}, {"second.json", Noise(900)}};
  for (const char* kind : kKinds) {
    const std::string packed = Pack(kind, members);
    const size_t step = packed.size() / 200 + 1;  // Files are dear.
    for (size_t cut = 1; cut < packed.size(); cut += step) {
      const absl::StatusOr<ExtractedArchive> archive = Extract(packed.substr(0, cut));
      if (archive.ok()) {
        // All that is gone is padding behind the end mark.
        EXPECT_EQ(std::string(kind).substr(0, 3), "tar");
        ASSERT_EQ(archive->files.size(), 2u) << kind << " cut at " << cut;
        EXPECT_EQ(Contents(archive->files[1]), members[1].bytes);
        EXPECT_GE(cut, 512u + 512 + 512 + 1024 + 512) << kind;
        continue;
      }
      ASSERT_THAT(archive, StatusIs(kInvalid, "archive")) << kind << " cut at " << cut;
    }
  }
  const std::string tar = Pack("tar", members);
  EXPECT_THAT(Extract(tar.substr(0, 1024)),
              StatusIs(kInvalid, "behind member first.json: cut off"));
  EXPECT_THAT(Extract(tar.substr(0, 1600)), StatusIs(kInvalid, "member second.json: cut off"));
  EXPECT_THAT(Extract(Pack("zip", members).substr(0, 500)),
              StatusIs(kInvalid, "a zip without its list of members"));
}

TEST_F(ArchiveTest, DamageIsFoundWhereTheKindHasChecksums) {
  std::mt19937 random(5);
  for (const char* kind : kKinds) {
    const std::string packed = Pack(kind, {{"a.json", std::string(3000, 'x')}, {"b", "y"}});
    for (int round = 0; round < 60; ++round) {
      std::string damaged = packed;
      damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
      const absl::StatusOr<ExtractedArchive> archive = Extract(damaged);
      const std::string contents = archive.ok() ? Contents(archive->files[0]) : "";
      std::filesystem::remove_all(folder_);
      ASSERT_TRUE(archive.ok() || archive.status().code() == kInvalid) << archive.status();
      if (!archive.ok() || std::string(kind) == "tar" || std::string(kind) == "tar.zst") continue;
      // These kinds have checksums over contents.
      EXPECT_EQ(contents, std::string(3000, 'x')) << kind << " round " << round;
    }
  }
  std::string gz = Gzip(Pack("tar", {{"a.json", Noise(1000000)}}));
  gz[900000] ^= 1;
  EXPECT_THAT(Extract(gz), StatusIs(kInvalid, "archive: member a.json: gzip: "));
  std::string zip = Pack("zip", {{"a.json", Noise(100000)}});
  zip[50000] ^= 1;
  EXPECT_THAT(Extract(zip), StatusIs(kInvalid, "archive: member a.json: cut off or damaged: "));
}

TEST_F(ArchiveTest, LimitsAreNamed) {
  const std::string zeros(3 << 20, '\0');
  for (const char* kind : kKinds) {
    const std::string packed = Pack(kind, {{"a", zeros}, {"b", "x"}});
    EXPECT_THAT(Extract(packed, {.max_members = 1}), StatusIs(kInvalid, "more than 1 members"));
    EXPECT_THAT(Extract(packed, {.max_bytes = 3 << 20}),
                StatusIs(kInvalid, "member b: unpacks to more than 3145728 bytes"));
    if (std::string(kind) == "tar") continue;
    EXPECT_THAT(Extract(packed, {.max_ratio = 100, .free_bytes = 1 << 20}),
                StatusIs(kInvalid, "member a: the archive unpacks to more than 100 times"))
        << kind;
    EXPECT_THAT(Extract(packed), IsOk()) << kind;
  }
}

TEST_F(ArchiveTest, ArchivesThatSayNothingUsableAreErrors) {
  EXPECT_THAT(Extract(Pack("tar", {{"d/", "", AE_IFDIR}})),
              StatusIs(kInvalid, "none of its 1 members is a regular file"));
  EXPECT_THAT(Extract(Pack("zip", {{"a", "1"}, {"./a", "2"}})),
              StatusIs(kInvalid, "member a: is there twice"));
  EXPECT_THAT(Extract("{}"), StatusIs(kInvalid, "archive"));
  EXPECT_THAT(ExtractArchive("/nowhere/at/all", base_),
              StatusIs(absl::StatusCode::kNotFound, "nowhere"));
  EXPECT_THAT(ExtractArchive(Save(Pack("tar", {{"a", "1"}})), "/nowhere/at/all"),
              StatusIs(absl::StatusCode::kNotFound, "cannot create"));
}

}  // namespace
}  // namespace chakrad
