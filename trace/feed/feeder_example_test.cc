#include "trace/feed/feeder_example.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "common/status_matchers.h"
#include "trace/codec/chunk_map.h"
#include "trace/codec/rank_reader.h"

namespace chakrad {
namespace {

std::string ReadFile(const char* path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(FeederExampleTest, TheDocumentShowsExactlyThisFile) {
  const std::string document = ReadFile("docs/feeder.md");
  const std::string code = ReadFile("trace/feed/feeder_example.cc");
  ASSERT_FALSE(code.empty());
  EXPECT_NE(document.find("```cpp\n" + code + "```\n"), std::string::npos)
      << "copy trace/feed/feeder_example.cc into docs/feeder.md";
}

// host   | 0: 10 | 2: 5 |
// device          | 1: 20       |           1 waits for 0, with a gap of 3
// host                          | 3: 7 |    3 waits for 1 and 2
RankTrace FourNodes() {
  RankTrace rank;
  rank.queues = {{Queue::Kind::kHostThread, -1, 17}, {Queue::Kind::kDeviceStream, 0, 7}};
  rank.id = {5, 6, 7, 8};
  rank.type.assign(4, NodeType::kComp);
  rank.flags.assign(4, 0);
  rank.queue = {0, 1, 0, 0};
  rank.name.assign(4, 0);
  rank.start_ns.assign(4, kUnknownNs);
  rank.dur_ns.assign(4, kUnknownNs);
  rank.work_ns = {10, 20, 5, 7};
  rank.side.assign(4, kNone);
  rank.dep_begin = {0, 0, 1, 2, 4};
  rank.dep_node = {0, 0, 1, 2};
  rank.dep_kind.assign(4, EdgeKind::kData);
  rank.gap_node = {1};
  rank.gap_ns = {3};
  return rank;
}

TEST(FeederExampleTest, ItReplaysARankFromMemoryAndFromTheStore) {
  const RankTrace rank = FourNodes();
  EXPECT_EQ(*ReplayNs(NewMemorySource(&rank).get()), 10 + 3 + 20 + 7);
  ChunkMap map;
  ASSERT_OK_AND_ASSIGN(const auto reader, RankReader::Open(map.Add(rank), map.Source(), {}));
  EXPECT_EQ(*ReplayNs(NewReaderSource(reader.get()).get()), 10 + 3 + 20 + 7);
}

TEST(FeederExampleTest, ItReportsACycle) {
  RankTrace rank = FourNodes();
  rank.dep_node[0] = 3;
  EXPECT_THAT(ReplayNs(NewMemorySource(&rank).get()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "dependency cycle: node 6 () -> node 8 () -> node 6 ()"));
}

}  // namespace
}  // namespace chakrad
