#include "client/chrome_trace_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <sstream>
#include <tuple>

#include "client/json.h"
#include "common/status_matchers.h"

namespace chakrad::client {
namespace {

void AddInterval(int32_t rank, uint32_t queue, int64_t start_ps, int64_t dur_ps,
                 v1::TimelineChunk* chunk) {
  chunk->add_rank(rank);
  chunk->add_node_id(std::numeric_limits<uint64_t>::max());
  chunk->add_start_ps(start_ps);
  chunk->add_dur_ps(dur_ps);
  chunk->add_name(0);
  chunk->add_kind(v1::TimelineChunk::COMM);
  chunk->add_queue(queue);
}

v1::TimelineChunk ChunkWithNames() {
  v1::TimelineChunk chunk;
  chunk.add_names("a \"kernel\"\n");
  chunk.add_queues("stream 7");
  chunk.add_queues("thread 1");
  return chunk;
}

struct Written {
  std::string text;
  std::vector<Json> events;                                    // ph == "X", in order.
  std::map<std::pair<int, int>, std::string> names_of_thread;  // (pid, tid)
  std::map<int, std::string> names_of_process;
};

Written WriteChunks(const std::vector<v1::TimelineChunk>& chunks) {
  std::ostringstream out;
  ChromeTraceWriter writer(&out);
  for (const auto& chunk : chunks) EXPECT_THAT(writer.Add(chunk), IsOk());
  EXPECT_THAT(writer.Finish(), IsOk());
  Written written;
  written.text = out.str();
  const Json document = Json::parse(written.text);
  for (const Json& event : document["traceEvents"]) {
    if (event["ph"] == "X") written.events.push_back(event);
    if (event["name"] == "thread_name") {
      written.names_of_thread[{event["pid"], event["tid"]}] = event["args"]["name"];
    }
    if (event["name"] == "process_name") {
      written.names_of_process[event["pid"]] = event["args"]["name"];
    }
  }
  return written;
}

TEST(ChromeTraceWriterTest, TimesAreExactDecimalsOfMicroseconds) {
  v1::TimelineChunk chunk = ChunkWithNames();
  AddInterval(3, 0, 9'007'199'254'740'993, 1, &chunk);
  AddInterval(3, 0, -1'500'001, 2'000'000, &chunk);
  const Written written = WriteChunks({chunk});
  EXPECT_NE(written.text.find("\"ts\":9007199254.740993,\"dur\":0.000001,"), std::string::npos);
  EXPECT_NE(written.text.find("\"ts\":-1.500001,\"dur\":2.000000,"), std::string::npos);
  EXPECT_EQ(written.events[0]["cat"], "comm");
  EXPECT_EQ(written.events[0]["name"], "a \"kernel\"\n");
  EXPECT_EQ(written.events[0]["args"]["node_id"], "18446744073709551615");
  EXPECT_EQ(written.names_of_process.at(3), "rank 3");
}

// stream 7:  [0 ........ 10)
//                 [4 ..... 12)
//                         [10 .. 20)
TEST(ChromeTraceWriterTest, CrossingIntervalsGetLanesAndTouchingOnesShareOne) {
  v1::TimelineChunk chunk = ChunkWithNames();
  AddInterval(0, 0, 0, 10, &chunk);
  AddInterval(0, 0, 4, 8, &chunk);
  AddInterval(0, 0, 10, 10, &chunk);
  AddInterval(0, 1, 4, 8, &chunk);  // Another queue: a thread of its own.
  AddInterval(1, 0, 4, 8, &chunk);  // Another rank: a process of its own.
  const Written written = WriteChunks({chunk});
  ASSERT_EQ(written.events.size(), 5u);
  EXPECT_EQ(written.events[0]["tid"], written.events[2]["tid"]);
  EXPECT_NE(written.events[0]["tid"], written.events[1]["tid"]);
  const auto name_of = [&](const Json& event) {
    return written.names_of_thread.at({event["pid"], event["tid"]});
  };
  EXPECT_EQ(name_of(written.events[0]), "stream 7");
  EXPECT_EQ(name_of(written.events[1]), "stream 7 (2)");
  EXPECT_EQ(name_of(written.events[3]), "thread 1");
  EXPECT_EQ(name_of(written.events[4]), "stream 7");
  EXPECT_EQ(written.names_of_thread.size(), 4u);
}

// Seeded random intervals: no two of one thread overlap, and where they come in
// order of their ends, lanes are as many as intervals overlap at most.
TEST(ChromeTraceWriterTest, NoThreadHoldsAnOverlapAndLanesAreFewest) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::pair<int64_t, int64_t>> intervals;  // (end, start)
    for (int i = 0; i < 200; ++i) {
      const int64_t start_ps = random() % 1000;
      intervals.push_back({start_ps + 1 + random() % 60, start_ps});
    }
    const bool in_order = seed % 2 == 0;
    if (in_order) std::sort(intervals.begin(), intervals.end());
    v1::TimelineChunk chunk = ChunkWithNames();
    for (const auto& [end_ps, start_ps] : intervals) {
      AddInterval(0, 0, start_ps, end_ps - start_ps, &chunk);
    }
    const Written written = WriteChunks({chunk});
    ASSERT_EQ(written.events.size(), intervals.size());
    std::map<int, std::vector<std::pair<int64_t, int64_t>>> by_tid;
    std::vector<int> depth(1100, 0);
    for (size_t i = 0; i < intervals.size(); ++i) {
      const auto [end_ps, start_ps] = intervals[i];
      by_tid[written.events[i]["tid"]].push_back({start_ps, end_ps});
      for (int64_t at = start_ps; at < end_ps; ++at) ++depth[at];
    }
    for (auto& [tid, lane] : by_tid) {
      std::sort(lane.begin(), lane.end());
      for (size_t i = 1; i < lane.size(); ++i) {
        ASSERT_LE(lane[i - 1].second, lane[i].first) << "seed " << seed << ", thread " << tid;
      }
    }
    const size_t deepest = *std::max_element(depth.begin(), depth.end());
    if (!in_order) continue;
    EXPECT_EQ(by_tid.size(), deepest) << "seed " << seed;
  }
}

TEST(ChromeTraceWriterTest, NamesAndLanesLastOverChunks) {
  v1::TimelineChunk first = ChunkWithNames();
  AddInterval(0, 0, 0, 10, &first);
  v1::TimelineChunk second;
  second.add_names("later");
  AddInterval(0, 0, 5, 10, &second);
  second.set_name(0, 1);
  const Written written = WriteChunks({first, second});
  EXPECT_EQ(written.events[1]["name"], "later");
  EXPECT_NE(written.events[0]["tid"], written.events[1]["tid"]);
}

TEST(ChromeTraceWriterTest, AnEmptyTimelineIsValidJson) {
  EXPECT_TRUE(WriteChunks({}).events.empty());
}

TEST(ChromeTraceWriterTest, BrokenChunksAreRefusedWhole) {
  std::ostringstream out;
  ChromeTraceWriter writer(&out);
  const auto refused = [&](v1::TimelineChunk chunk, const char* part) {
    EXPECT_THAT(writer.Add(chunk), StatusIs(absl::StatusCode::kInternal, part));
  };
  v1::TimelineChunk chunk = ChunkWithNames();
  AddInterval(0, 0, 0, 10, &chunk);
  chunk.add_start_ps(1);
  refused(chunk, "2 entries in a column, not 1");
  chunk = ChunkWithNames();
  AddInterval(0, 2, 0, 10, &chunk);
  refused(chunk, "queue: 2 is not in [0, 2)");
  chunk.set_queue(0, 0);
  chunk.set_name(0, 1);
  refused(chunk, "name: 1 is not in [0, 1)");
  chunk.set_name(0, 0);
  chunk.set_dur_ps(0, -3);
  refused(chunk, "dur_ps: -3 is negative");
  chunk.set_dur_ps(0, std::numeric_limits<int64_t>::max());
  chunk.set_start_ps(0, 1);
  refused(chunk, "end after 2^63");
  EXPECT_EQ(writer.intervals_count(), 0);
  EXPECT_THAT(writer.Finish(), IsOk());
  EXPECT_TRUE(Json::parse(out.str())["traceEvents"].empty());
}

TEST(ChromeTraceWriterTest, AFailedStreamIsTold) {
  std::ostringstream out;
  ChromeTraceWriter writer(&out);
  out.setstate(std::ios::badbit);
  EXPECT_THAT(writer.Finish(), StatusIs(absl::StatusCode::kInternal, "could not be written"));
}

}  // namespace
}  // namespace chakrad::client
