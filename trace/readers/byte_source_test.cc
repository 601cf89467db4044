#include "trace/readers/byte_source.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "common/status_matchers.h"
#include "trace/readers/testing/sources.h"

namespace chakrad {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

std::string Numbers(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::to_string(i * 7919 % 10007) + ",";
  return text;
}

TEST(ByteSourceTest, PlainAndGzipBytesReadTheSame) {
  const std::string text = Numbers(20000), packed = Gzip(text);
  ASSERT_LT(packed.size(), text.size());
  for (const std::string* bytes : {&text, &packed}) {
    const auto source = OpenMemorySource(*bytes);
    ASSERT_OK_AND_ASSIGN(const std::string read, ReadAll(source.get(), 4093));
    EXPECT_EQ(read, text);
    EXPECT_EQ(source->offset(), static_cast<int64_t>(text.size()));
  }
}

TEST(ByteSourceTest, GzipMembersInARowAreOneText) {
  const std::string packed = Gzip("first ") + Gzip("") + Gzip("second");
  const auto source = OpenMemorySource(packed);
  ASSERT_OK_AND_ASSIGN(const std::string read, ReadAll(source.get()));
  EXPECT_EQ(read, "first second");
}

TEST(ByteSourceTest, GzipCutAtAnyByteIsAnErrorWithTheOffset) {
  const std::string packed = Gzip(Numbers(50));
  for (size_t cut = 2; cut < packed.size(); ++cut) {
    const std::string bytes = packed.substr(0, cut);
    const auto source = OpenMemorySource(bytes);
    EXPECT_THAT(
        ReadAll(source.get()),
        StatusIs(kInvalid, "gzip: cut off at compressed byte offset " + std::to_string(cut)))
        << cut;
  }
}

TEST(ByteSourceTest, DamagedGzipIsAnError) {
  std::string packed = Gzip(Numbers(50));
  packed[packed.size() - 6] ^= 1;  // In the checksum.
  const auto damaged = OpenMemorySource(packed);
  EXPECT_THAT(ReadAll(damaged.get()), StatusIs(kInvalid, "gzip: incorrect data check"));
  const std::string tail = Gzip("abc") + "garbage";
  const auto behind = OpenMemorySource(tail);
  EXPECT_THAT(ReadAll(behind.get()), StatusIs(kInvalid, "gzip: incorrect header check"));
}

TEST(ByteSourceTest, ShortFilesAreRead) {
  for (const std::string text : {"", "x", "\x1f"}) {
    const auto source = OpenMemorySource(text);
    ASSERT_OK_AND_ASSIGN(const std::string read, ReadAll(source.get()));
    EXPECT_EQ(read, text);
  }
}

TEST(ByteSourceTest, FilesAreOpenedOrTheReasonSaid) {
  const std::string path = testing::TempDir() + "/byte_source_test.gz";
  std::ofstream(path, std::ios::binary) << Gzip("from a file");
  ASSERT_OK_AND_ASSIGN(const auto source, OpenFileSource(path));
  ASSERT_OK_AND_ASSIGN(const std::string read, ReadAll(source.get()));
  EXPECT_EQ(read, "from a file");
  EXPECT_THAT(OpenFileSource(path + ".missing"),
              StatusIs(absl::StatusCode::kNotFound, "byte_source_test.gz.missing"));
  EXPECT_THAT(OpenFileSource(testing::TempDir()), StatusIs(kInvalid, "is a directory"));
}

}  // namespace
}  // namespace chakrad
