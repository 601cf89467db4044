#include <gtest/gtest.h>

#include "client/analysis/views.h"

namespace chakrad::client {
namespace {

constexpr int64_t kUs = 1'000'000;  // Picoseconds.

TEST(CollectivesTextTest, EachTypeAndSizeIsALine) {
  v1::TimelineAnalysis answer;
  EXPECT_EQ(CollectivesText(answer), "");
  v1::CollectiveStats* row = answer.add_collectives();
  row->set_type("ALL_REDUCE");
  row->set_size_bucket("le_64KiB");
  row->set_count(1600);
  row->set_instances_count(200);
  row->set_bytes(64 << 20);
  row->set_total_ps(32'000 * kUs);
  row->set_exposed_ps(8'000 * kUs);
  row->set_min_ps(10 * kUs);
  row->set_median_ps(20 * kUs);
  row->set_max_ps(300 * kUs);
  row->set_algorithm_bandwidth_bytes_per_second(100e9);
  row->set_bus_bandwidth_bytes_per_second(175e9);
  row = answer.add_collectives();
  row->set_type("BARRIER");
  row->set_size_bucket("of another version");
  row->set_count(1);
  EXPECT_EQ(
      CollectivesText(answer),
      "communication  size                count  instances     bytes    total  exposed      min   "
      "median     max  algorithm      bus\n"
      "                                                                              %           "
      "                      GB/s     GB/s\n"
      "ALL_REDUCE     <= 64 KiB           1,600        200  64.0 MiB  32.0 ms     25.0  10.0 us  "
      "20.0 us  300 us    100.000  175.000\n"
      "BARRIER        of another version      1          0       0 B     0 ps        -     0 ps  "
      "   0 ps    0 ps          -        -\n");
}

TEST(GroupsTextTest, GuessesHaveTheirReasonsAndTheListSaysThatItWasCut) {
  v1::TimelineAnalysis answer;
  EXPECT_EQ(GroupsText(answer), "");
  v1::GroupStats* row = answer.add_groups();
  row->set_group("tp0");
  row->set_shape("2 ranks with stride 1");
  row->set_count(32);
  row->set_bytes(2048);
  row->set_comm_ps(20 * kUs);
  row->set_exposed_ps(15 * kUs);
  row->set_parallelism("tensor");
  row->set_reason("its name is \"tp0\"");
  answer.set_groups_count(1234);
  v1::ParallelismTime* sum = answer.add_parallelism();
  sum->set_parallelism("tensor");
  sum->set_groups_count(1234);
  sum->set_count(32);
  sum->set_bytes(2048);
  sum->set_comm_ps(20 * kUs);
  sum->set_exposed_ps(15 * kUs);
  EXPECT_EQ(
      GroupsText(answer),
      "group  shape                  operations    bytes  communication  exposed  guess   "
      "because\n"
      "tp0    2 ranks with stride 1          32  2.0 KiB        20.0 us  15.0 us  tensor  its "
      "name is \"tp0\"\n"
      "... of 1,234 groups\n"
      "\n"
      "parallelism  groups  operations    bytes  communication  exposed\n"
      "(guessed)\n"
      "tensor        1,234          32  2.0 KiB        20.0 us  15.0 us\n");
}

TEST(SkewTextTest, RanksTheWorstCollectivesAndClocksAreTables) {
  v1::TimelineAnalysis answer;
  EXPECT_EQ(SkewText(answer), "");
  v1::SkewStats* skew = answer.mutable_skew();
  EXPECT_EQ(SkewText(answer), "");
  skew->set_instances_count(2);
  skew->set_wait_ps(100 * kUs);
  skew->set_mean_wait_ps(33.4 * kUs);
  skew->set_max_skew_ps(40 * kUs);
  skew->set_mean_skew_ps(30.0 * kUs);
  v1::RankSkew* rank = skew->add_ranks();
  rank->set_rank(1);
  rank->set_last_count(1);
  rank->set_caused_wait_ps(60 * kUs);
  rank->set_wait_ps(20 * kUs);
  v1::CollectiveSkew* worst = skew->add_worst();
  worst->set_group("world");
  worst->set_number(17);
  worst->set_type("ALL_REDUCE");
  worst->set_name("gloo:all_reduce");
  worst->set_bytes(8);
  worst->set_last_rank(1);
  worst->set_first_rank(0);
  worst->set_skew_ps(40 * kUs);
  v1::ClockOffset* clock = skew->add_clocks();
  clock->set_rank(1);
  clock->set_offset_ps(-2177 * kUs);
  clock->set_spread_ps(12 * kUs);
  clock->set_matched_count(6);
  skew->set_clocks_aligned(true);
  EXPECT_EQ(SkewText(answer),
            "2 collectives of two ranks or more: waiting for the last 100 us (33.4 us a rank), "
            "from first to last 30.0 us (at most 40.0 us)\n"
            "\n"
            "rank   last  others waited for it   waited\n"
            "      times\n"
            "   1      1               60.0 us  20.0 us\n"
            "\n"
            "   skew  last rank  first rank  group  number  collective  bytes  name\n"
            "40.0 us          1           0  world      17  ALL_REDUCE    8 B  gloo:all_reduce\n"
            "\n"
            "rank     clock   spread  matched\n"
            "         added\n"
            "   1  -2.18 ms  12.0 us        6\n");
}

TEST(SkewTextTest, ClocksThatMessagesToldStandAlone) {
  v1::TimelineAnalysis answer;
  answer.mutable_skew()->add_clocks()->set_rank(1);
  EXPECT_EQ(SkewText(answer),
            "rank      clock  spread  matched\n"
            "      not added\n"
            "   1       0 ps    0 ps        0\n");
}

}  // namespace
}  // namespace chakrad::client
