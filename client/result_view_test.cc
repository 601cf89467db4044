#include "client/result_view.h"

#include <gtest/gtest.h>

#include "client/result_files.h"
#include "client/test_folder.h"
#include "common/status_matchers.h"

namespace chakrad::client {
namespace {

constexpr int64_t kMs = 1'000'000'000;  // Picoseconds.

void AddNetwork(v1::SimulationResult* result) {
  v1::DimensionResult* dim = result->add_dimensions();
  dim->set_links_count(2);
  dim->set_messages_count(4);
  dim->set_bytes(2048);
  dim->set_busy_ps(6 * kMs);
  dim->set_max_busy_ps(5 * kMs);
  dim->set_queue_ps(1 * kMs);
  dim->set_utilisation(0.125);
  v1::LinkResult* link = result->add_links();
  link->set_from(-1);
  link->set_to(2);
  link->set_busy_ps(1 * kMs);
  link = result->add_links();
  link->set_from(3);
  link->set_to(-1);
  link->set_busy_ps(5 * kMs);
}

v1::SimulationResult Result() {
  v1::SimulationResult result;
  result.set_semantics("physical");
  result.set_back_end("link");
  result.set_topology("6 NPUs: Switch 6");
  result.set_end_ps(10 * kMs);
  result.set_ranks_count(6);
  result.add_groups("dp");
  result.add_groups("");
  v1::RankResult* rank = result.add_ranks();
  rank->set_rank(0);
  rank->set_ranks_count(5);
  for (const int32_t end : {0, 3, 5, 5}) rank->add_rank_ranges(end);
  rank->set_end_ps(10 * kMs);
  rank->set_compute_ps(6 * kMs);
  rank->set_comm_ps(4 * kMs);
  rank->set_exposed_comm_ps(3 * kMs);
  rank->set_idle_ps(1 * kMs);
  rank->set_idle_host_ps(1 * kMs);
  rank->set_wait_ps(2 * kMs);
  rank->set_waits_most_for_rank(4);
  rank->set_waits_most_in_group(0);
  rank = result.add_ranks();
  rank->set_rank(4);
  rank->set_end_ps(4 * kMs + 1);
  for (int i = 0; i < 2; ++i) {
    v1::CollectiveResult* collective = result.add_collectives();
    collective->set_group(0);
    collective->set_number(static_cast<uint32_t>(i));
    collective->set_type("ALL_REDUCE");
    collective->set_ranks_count(6);
    collective->set_bytes(1 << 20);
    collective->set_start_ps(1 * kMs);
    collective->set_all_joined_ps(2 * kMs);
    collective->set_end_ps((i == 0 ? 3 : 5) * kMs);  // 1 ms and 3 ms.
    collective->set_bus_bandwidth(i == 0 ? 8 : 4);
  }
  AddNetwork(&result);
  result.add_names("a, \"quoted\" name");
  result.add_names("gemm");
  for (int i = 0; i < 3; ++i) {
    v1::CriticalStep* step = result.add_critical_path();
    step->set_name(i == 1 ? 0 : 1);
    step->set_node_id(static_cast<uint64_t>(100 + i));
    step->set_start_ps(i * kMs);
    step->set_end_ps((i + 1) * kMs);
  }
  v1::RankClass* of = result.add_classes();
  of->set_representative(0);
  of->set_ranks_count(5);
  of = result.add_classes();
  of->set_representative(4);
  of->set_ranks_count(1);
  result.add_notices("take care");
  return result;
}

TEST(ResultViewTest, TablesSayWhereTheTimeWent) {
  EXPECT_EQ(
      ResultText(Result(), false),
      "           rank    time  compute  communication  exposed comm.  of time  memory copies   "
      "idle  waiting  mostly for rank\n"
      "                     ms       ms             ms             ms        %             ms     "
      "ms       ms\n"
      "0-3,5 (5 ranks)  10.000    6.000          4.000          3.000     30.0          0.000  "
      "1.000    2.000  4 in dp\n"
      "              4   4.000    0.000          0.000          0.000      0.0          0.000  "
      "0.000    0.000  -\n"
      "\n"
      "collective  group  count  bytes a rank  joining  running  bus bandwidth\n"
      "                                             ms       ms           GB/s\n"
      "ALL_REDUCE  dp         2       2.0 MiB    2.000    4.000          5.000\n"
      "\n"
      "dimension  links  messages    bytes  utilised  busy, mean  busy, most  queueing\n"
      "                                            %           %           %        ms\n"
      "        0      2         4  2.0 KiB      12.5        30.0        50.0     1.000\n"
      "\n"
      "busiest link  dimension  messages  bytes  busy  queueing\n"
      "                                             %        ms\n"
      "3 -> switch           0         0    0 B  50.0     0.000\n"
      "switch -> 2           0         0    0 B  10.0     0.000\n"
      "\n"
      "on the critical path  steps   time  of path\n"
      "                                ms        %\n"
      "gemm                      2  2.000     66.7\n"
      "a, \"quoted\" name          1  1.000     33.3\n"
      "(3 steps)\n"
      "\n"
      "simulated time 10.000 ms, 0 nodes, 0 events, 0 B over the network, physical cost "
      "semantics, link back end, 6 NPUs: Switch 6\n"
      "folded: 6 ranks were simulated as 2, the most of them (5) as rank 0\n"
      "note: take care\n");
}

TEST(ResultViewTest, AMeanCountsEachRankOfAnEntry) {
  v1::SimulationResult result = Result();
  for (int i = 0; i < 15; ++i) *result.add_ranks() = result.ranks(1);
  result.mutable_ranks(0)->set_ranks_count(16);  // 16 of 10 ms, 16 of 4.
  EXPECT_NE(ResultText(result, false).find("mean   7.000"), std::string::npos)
      << ResultText(result, false);
}

TEST(ResultViewTest, JsonHasAllOfIt) {
  const Json json = ResultJson(Result());
  EXPECT_EQ(json["ranks"][0]["rank_ranges"], Json::parse("[[0, 3], [5, 5]]"));
  EXPECT_EQ(json["ranks"][0]["waits_most_in_group"], "dp");
  EXPECT_EQ(json["ranks"][0]["idle_host_ns"], 1'000'000);
  EXPECT_EQ(json["ranks"][1]["ranks_count"], 1);
  EXPECT_TRUE(json["ranks"][1]["waits_most_for_rank"].is_null());
  EXPECT_FALSE(json["ranks"][1].contains("rank_ranges"));
  EXPECT_EQ(json["collectives"][1]["all_joined_ns"], 2'000'000);
  EXPECT_EQ(json["collectives"][1]["bus_gb_per_sec"], 4.0);
  EXPECT_EQ(json["dimensions"][0]["max_busy_ns"], 5'000'000);
  EXPECT_EQ(json["links"][0]["from"], -1);
  EXPECT_EQ(json["critical_path"][1]["name"], "a, \"quoted\" name");
  EXPECT_EQ(json["critical_path"][1]["node_id"], 101);
  EXPECT_EQ(json["classes"][0]["ranks_count"], 5);
  EXPECT_EQ(json["topology"], "6 NPUs: Switch 6");
}

TEST(ResultFilesTest, CsvHasALineAnEntryWithExactTimes) {
  TestFolder folder;
  ASSERT_THAT(WriteResultCsv(Result(), folder.Path("a/b")), IsOk());
  EXPECT_EQ(folder.Read("a/b/ranks.csv"),
            "ranks,ranks_count,end_ns,compute_ns,comm_ns,exposed_comm_ns,exposed_memory_ns,idle_ns,"
            "idle_host_ns,idle_queue_ns,wait_ns,waits_most_for_rank,waits_most_in_group,"
            "network_bytes\n"
            "0-3;5,5,10000000.000,6000000.000,4000000.000,3000000.000,0.000,1000000.000,"
            "1000000.000,0.000,2000000.000,4,dp,0\n"
            "4,1,4000000.001,0.000,0.000,0.000,0.000,0.000,0.000,0.000,0.000,,,0\n");
  EXPECT_EQ(folder.Read("a/b/critical_path.csv"),
            "rank,node_id,name,start_ns,end_ns\n"
            "0,100,gemm,0.000,1000000.000\n"
            "0,101,\"a, \"\"quoted\"\" name\",1000000.000,2000000.000\n"
            "0,102,gemm,2000000.000,3000000.000\n");
  EXPECT_EQ(folder.Read("a/b/classes.csv"), "representative,ranks_count\n0,5\n4,1\n");
  EXPECT_EQ(folder.Read("a/b/links.csv"),
            "dimension,from,to,messages_count,bytes,busy_ns,queue_ns\n"
            "0,-1,2,0,0,1000000.000,0.000\n"
            "0,3,-1,0,0,5000000.000,0.000\n");
  EXPECT_NE(folder.Read("a/b/summary.csv").find("\nnotice,take care\n"), std::string::npos);
  EXPECT_NE(folder.Read("a/b/dimensions.csv").find("\n0,2,4,2048,"), std::string::npos);
  EXPECT_NE(folder.Read("a/b/collectives.csv").find("\ndp,1,ALL_REDUCE,6,1048576,1000000.000,"),
            std::string::npos);
}

TEST(ResultViewTest, MemoryPeaksAreATable) {
  v1::SimulationResult result = Result();
  v1::MemoryPeak* peak = result.add_memory();
  peak->set_rank(3);
  peak->set_device("cuda:0");
  peak->set_resident_bytes(1024);
  peak->set_peak_bytes(4096);
  peak->set_peak_at_ps(2 * kMs);
  EXPECT_NE(ResultText(result, false)
                .find("rank  device  resident     peak     at\n"
                      "                                    ms\n"
                      "   3  cuda:0   1.0 KiB  4.0 KiB  2.000\n"),
            std::string::npos)
      << ResultText(result, false);
}

}  // namespace
}  // namespace chakrad::client
