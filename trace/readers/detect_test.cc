#include "trace/readers/detect.h"

#include <gtest/gtest.h>

#include <string>

#include "chakra/et_def.pb.h"
#include "common/status_matchers.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/testing/sources.h"

namespace chakrad {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

absl::StatusOr<FileKind> Detect(absl::string_view bytes) {
  const auto source = OpenMemorySource(bytes);
  return DetectFileKind(source.get());
}

std::string ChakraFile(size_t version_bytes) {
  ChakraProtoMsg::GlobalMetadata metadata;
  metadata.set_version(std::string(version_bytes, 'v'));
  std::string file = metadata.SerializeAsString();
  return std::string(1, static_cast<char>(file.size())) + file + std::string("\x02\x08\x01", 3);
}

TEST(DetectTest, KindsAreToldByContent) {
  const std::pair<std::string, FileKind> cases[] = {
      {R"({"schema":"1.0.1","nodes":[]})", FileKind::kPyTorchEt},
      {R"({"nodes":[{"id":1}],"schema":"1.0.1"})", FileKind::kPyTorchEt},
      {R"({"schemaVersion":1,"deviceProperties":[{}],"traceEvents":[]})", FileKind::kKineto},
      {R"([{"name":"aten::mm","ph":"X","ts":1}])", FileKind::kKineto},
      {R"({"world_size":2})", FileKind::kManifest},
      {R"({"fabric":"tbf","world":2})", FileKind::kManifest},
      {R"({"x":1,"process_groups":{}})", FileKind::kManifest},
      {"digraph taskgraph {  node0 [color=red];", FileKind::kFlexFlow},
      {"\xef\xbb\xbf/* a */ // b\n# c\n\tStrict Digraph{}", FileKind::kFlexFlow},
      {"DATA\n54\nconv1\t-1\t13003", FileKind::kAstraText},
      {"\nHYBRID_TRANSFORMER\tmodel_parallel_NPU_group: 2\n57", FileKind::kAstraText},
      {"MICRO", FileKind::kAstraText},
  };
  for (const auto& [text, kind] : cases) {
    ASSERT_OK_AND_ASSIGN(const FileKind plain, Detect(text));
    EXPECT_EQ(plain, kind) << text;
    const std::string packed = Gzip(text);
    ASSERT_OK_AND_ASSIGN(const FileKind gzip, Detect(packed));
    EXPECT_EQ(gzip, kind) << text;
  }
}

TEST(DetectTest, AMessageThatLooksLikeTheStartOfJsonIsChakra) {
  // Lengths 10, 13, 32, 34, 91 '[' and 123 '{', each a byte that JSON may start with.
  for (size_t size : {5, 10, 13, 32, 34, 91, 100, 123}) {
    ASSERT_OK_AND_ASSIGN(const FileKind kind, Detect(ChakraFile(size - 2)));
    EXPECT_EQ(kind, FileKind::kChakraEt) << size;
  }
}

TEST(DetectTest, OtherFilesAreNamedForWhatTheyAre) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "the file is empty"},
      {" \n ", "only white space"},
      {"<html><body>Sign in</body></html>", "HTML"},
      {"rank,time\n0,1\n", "not JSON"},
      {"DATABASE\n1\n", "not JSON"},
      {"data\n1\n", "not JSON"},
      {"graph g { a -- b }", "an undirected graphviz graph"},
      {"// a comment only", "not JSON"},
      {R"({"topology":"Ring","npus_count":4})", "its keys: topology, npus_count"},
      {"{}", "its keys: none"},
      {"[]", "an empty list"},
      {"[1,2,3]", "not of profiler events"},
      {std::string("\x7f"
                   "ELF\x02\x01\x01\x00\x00\x00",
                   10),
       "binary data"},
      {R"({"world_size":2,})", "extra comma"},
      {R"({"world_size":2)", "cut off"},
  };
  for (const auto& [text, part] : cases) EXPECT_THAT(Detect(text), StatusIs(kInvalid, part));
  const std::string cut = Gzip(R"({"world_size":2})").substr(0, 15);
  EXPECT_THAT(Detect(cut), StatusIs(kInvalid, "gzip: cut off"));
}

TEST(DetectTest, RanksAreFoundInFileNames) {
  const std::pair<const char*, std::optional<int32_t>> cases[] = {
      {"rank3.et.json.gz", 3},
      {"/a/rank7/rank3.kineto.json", 3},
      {"worker12_step_12.1694128201545.pt.trace.json", 12},
      {"chakra.3.et", 3},
      {"all_reduce.15.et", 15},
      {"all_reduce.15.et.gz", 15},
      {"cpu_only_gloo_rank34_of_300.json.gz", 34},
      {"RANK_5.json", 5},
      {"rank-0.json", 0},
      {"rank3.worker3.json", 3},
      {"rank3.worker4.json", std::nullopt},
      {"crank3.json", std::nullopt},
      {"trace.json", std::nullopt},
      {"rank.json", std::nullopt},
      {"rank99999999999.json", std::nullopt},
      {"resnet50.et", std::nullopt},
      {"", std::nullopt},
  };
  for (const auto& [name, rank] : cases) EXPECT_EQ(RankFromFileName(name), rank) << name;
}

}  // namespace
}  // namespace chakrad
