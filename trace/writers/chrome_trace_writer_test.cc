#include "trace/writers/chrome_trace_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "trace/model/rank_trace_builder.h"

namespace chakrad {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

struct Written {
  std::string text;
  std::vector<Json> events;  // Complete ones.
  std::vector<Json> others;  // Instants and arrows.
  Json other_data;
  std::map<std::pair<int, int>, std::string> thread_name;
};

Written Write(const Trace& trace, const ChromeTraceOptions& options = {}) {
  Written written;
  EXPECT_THAT(WriteChromeTrace(trace, options,
                               [&](absl::string_view piece) {
                                 written.text.append(piece.data(), piece.size());
                                 return absl::OkStatus();
                               }),
              IsOk());
  const Json json = Json::parse(written.text);
  for (const Json& event : json["traceEvents"]) {
    if (event["ph"] == "X") written.events.push_back(event);
    if (event["ph"] == "i" || event["ph"] == "s" || event["ph"] == "f") {
      written.others.push_back(event);
    }
    if (event["name"] == "thread_name") {
      written.thread_name[{event["pid"], event["tid"]}] = event["args"]["name"];
    }
  }
  written.other_data = json["otherData"];
  return written;
}

NodeSpec Spec(const RankTraceBuilder& builder, int64_t start_ns, int64_t dur_ns) {
  NodeSpec spec;
  spec.id = builder.size();
  spec.type = NodeType::kComp;
  spec.name = "op";
  spec.queue = {Queue::Kind::kDeviceStream, 0, 7};
  spec.start_ns = start_ns;
  spec.dur_ns = dur_ns;
  return spec;
}

Trace TraceOf(RankTraceBuilder* builder) {
  Trace trace;
  trace.world_size = 1;
  trace.ranks.push_back(*builder->Build(nullptr));
  return trace;
}

TEST(ChromeTraceTest, TimesAreExactDecimalsAndIdsStrings) {
  RankTraceBuilder builder;
  builder.header().base_unix_ns = 1'700'000'000'000'000'001;
  NodeSpec spec = Spec(builder, 9'007'199'254'740'993, 1);
  spec.id = std::numeric_limits<uint64_t>::max();
  spec.name = "a \"kernel\"\n";
  builder.AddNode(spec);
  builder.AddNode(Spec(builder, 0, 1'000'000'000'000));
  const Written written = Write(TraceOf(&builder));
  EXPECT_THAT(written.text, HasSubstr("\"ts\":9007199254740.993,\"dur\":0.001,"));
  EXPECT_THAT(written.text, HasSubstr("\"ts\":0.000,\"dur\":1000000000.000,"));
  EXPECT_THAT(written.text, HasSubstr("\"node_id\":\"18446744073709551615\""));
  EXPECT_EQ(written.events[1]["name"], "a \"kernel\"\n");
  EXPECT_EQ(written.other_data["base_unix_ns"], "1700000000000000001");
}

// gemm_a [100 ... 150), gemm_b [140 ... 190), gemm_c [190, 200): b crosses a.
TEST(ChromeTraceTest, CrossingEventsGetLanesAndNestedOnesStay) {
  RankTraceBuilder builder;
  builder.AddNode(Spec(builder, 100, 50));
  builder.AddNode(Spec(builder, 140, 50));
  builder.AddNode(Spec(builder, 190, 10));
  builder.AddNode(Spec(builder, 110, 20));  // Inside gemm_a.
  builder.AddNode(Spec(builder, 100, 50));  // The same time again: inside it.
  const Written written = Write(TraceOf(&builder));
  ASSERT_EQ(written.events.size(), 5u);
  std::map<std::string, int> tid;
  for (const Json& event : written.events) tid[event["args"]["node_id"]] = event["tid"];
  EXPECT_EQ(tid["0"], tid["3"]);
  EXPECT_EQ(tid["0"], tid["4"]);
  EXPECT_NE(tid["0"], tid["1"]);
  EXPECT_EQ(tid["0"], tid["2"]);
  EXPECT_EQ(written.thread_name.at({0, tid["0"]}), "device 0 stream 7");
  EXPECT_EQ(written.thread_name.at({0, tid["1"]}), "device 0 stream 7 (2)");
}

// Seeded random intervals: on no thread do two cross, and each is there once.
TEST(ChromeTraceTest, NoThreadHoldsEventsThatCross) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    RankTraceBuilder builder;
    const int64_t longest = seed % 3 == 0 ? 1000 : 60;  // Many lanes, or few.
    for (int i = 0; i < 300; ++i) {
      builder.AddNode(Spec(builder, random() % 1000, random() % longest));
    }
    const Written written = Write(TraceOf(&builder));
    ASSERT_EQ(written.events.size(), 300u);
    std::map<int, std::vector<std::pair<int64_t, int64_t>>> by_tid;
    for (const Json& event : written.events) {
      const auto start_ns = static_cast<int64_t>(event["ts"].get<double>() * 1000 + 0.5);
      const auto dur_ns = static_cast<int64_t>(event["dur"].get<double>() * 1000 + 0.5);
      for (const auto& [other_start, other_end] : by_tid[event["tid"]]) {
        const int64_t end = start_ns + dur_ns;
        const bool apart = end <= other_start || other_end <= start_ns;
        const bool inside = (other_start <= start_ns && end <= other_end) ||
                            (start_ns <= other_start && other_end <= end);
        ASSERT_TRUE(apart || inside) << "seed " << seed;
      }
      by_tid[event["tid"]].push_back({start_ns, start_ns + dur_ns});
    }
  }
}

TEST(ChromeTraceTest, WhatHasNoTimeIsCounted) {
  RankTraceBuilder builder;
  builder.AddNode(Spec(builder, 5, 5));
  builder.AddNode(Spec(builder, 7, kUnknownNs));
  builder.AddNode(Spec(builder, kUnknownNs, 5));
  builder.AddNode(Spec(builder, kUnknownNs, kUnknownNs));
  const Written written = Write(TraceOf(&builder));
  EXPECT_EQ(written.events.size(), 1u);
  ASSERT_EQ(written.others.size(), 1u);
  EXPECT_EQ(written.others[0]["ph"], "i");
  EXPECT_EQ(written.other_data["nodes_shown"], "2");
  EXPECT_EQ(written.other_data["nodes_without_start"], "2");
  EXPECT_EQ(written.other_data["nodes_without_duration"], "1");
}

TEST(ChromeTraceTest, CommunicationAndLaunchesAreTold) {
  RankTraceBuilder builder;
  builder.header().rank = 2;
  NodeSpec spec = Spec(builder, 10, 10);
  spec.queue = {};
  spec.flags = RankTrace::kHostOp;
  builder.AddNode(spec);
  const CommOp comm{.collective = CollectiveType::kAllGather, .bytes = 4096, .group = 1};
  spec = Spec(builder, 30, 10);
  spec.type = NodeType::kCommColl;
  spec.comm = &comm;
  builder.AddNode(spec);
  builder.AddEdge(1, 0, EdgeKind::kLaunch);
  builder.AddEdge(1, 0, EdgeKind::kData);
  Trace trace = TraceOf(&builder);
  trace.groups = {{"world", "", {0, 1, 2}}, {"tp", "", {1, 2}}};
  const Written written = Write(trace);
  const Json& args = written.events[1]["args"];
  EXPECT_EQ(args["collective"], "ALL_GATHER");
  EXPECT_EQ(args["bytes"], "4096");
  EXPECT_EQ(args["group"], "tp");
  EXPECT_EQ(args["group_size"], 2);
  EXPECT_EQ(written.events[0]["cat"], "host");
  EXPECT_EQ(written.events[1]["cat"], "comm");
  EXPECT_EQ(written.events[1]["pid"], 2);
  ASSERT_EQ(written.others.size(), 2u);
  EXPECT_EQ(written.others[0]["ph"], "s");
  EXPECT_EQ(written.others[0]["ts"], 0.01);
  EXPECT_EQ(written.others[1]["ts"], 0.03);
  EXPECT_EQ(written.others[0]["id"], written.others[1]["id"]);
  EXPECT_TRUE(Write(trace, {.arrows = false}).others.empty());
}

TEST(ChromeTraceTest, RanksAreAlignedByTheirBaseTimes) {
  Trace trace;
  for (int64_t base_ns : {int64_t{1'700'000'000'000'002'000}, int64_t{1'700'000'000'000'000'000}}) {
    RankTraceBuilder builder;
    builder.header().rank = static_cast<int32_t>(trace.ranks.size());
    builder.header().base_unix_ns = base_ns;
    builder.AddNode(Spec(builder, 500, 1));
    trace.ranks.push_back(*builder.Build(nullptr));
  }
  Written written = Write(trace);
  EXPECT_EQ(written.events[0]["ts"], 2.5);
  EXPECT_EQ(written.events[1]["ts"], 0.5);
  EXPECT_EQ(written.other_data["ranks_aligned"], "yes");
  trace.ranks[1].base_unix_ns = 0;
  written = Write(trace);
  EXPECT_EQ(written.events[0]["ts"], 0.5);
  EXPECT_EQ(written.other_data["ranks_aligned"], "no");
  written = Write(trace, {.ranks = {0}});
  EXPECT_EQ(written.events.size(), 1u);
  EXPECT_EQ(written.other_data["base_unix_ns"], "1700000000000002000");
}

TEST(ChromeTraceTest, TracesWithoutTimesAndRanksThatAreNotThereAreErrors) {
  RankTraceBuilder builder;
  builder.AddNode(Spec(builder, kUnknownNs, 5));
  const Trace trace = TraceOf(&builder);
  const auto ignore = [](absl::string_view) { return absl::OkStatus(); };
  EXPECT_THAT(WriteChromeTrace(trace, {}, ignore),
              StatusIs(absl::StatusCode::kFailedPrecondition, "no node has a start"));
  EXPECT_THAT(WriteChromeTrace(trace, {.ranks = {4}}, ignore),
              StatusIs(absl::StatusCode::kNotFound, "rank 4"));
  RankTraceBuilder timed;
  timed.AddNode(Spec(timed, 1, 1));
  EXPECT_THAT(
      WriteChromeTrace(TraceOf(&timed), {},
                       [](absl::string_view) { return absl::ResourceExhaustedError("full"); }),
      StatusIs(absl::StatusCode::kResourceExhausted, "full"));
}

}  // namespace
}  // namespace chakrad
