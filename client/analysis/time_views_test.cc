#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/analysis/views.h"

namespace chakrad::client {
namespace {

using ::testing::HasSubstr;

v1::TimelineAnalysis TemporalAnswer() {
  v1::TimelineAnalysis answer;
  v1::RankTime* rank = answer.add_rank_times();
  rank->set_rank(3);
  rank->set_span_ps(2'000'000'000);
  rank->set_compute_ps(1'000'000'000);
  rank->set_comm_ps(800'000'000);
  rank->set_exposed_comm_ps(200'000'000);
  rank->set_exposed_memory_ps(100'000'000);
  rank->set_idle_ps(700'000'000);
  rank->set_idle_host_bound_ps(400'000'000);
  rank->set_idle_kernel_wait_ps(150'000'000);
  rank->set_idle_sync_ps(100'000'000);
  rank->set_idle_other_ps(50'000'000);
  v1::TimeShares* mean = answer.mutable_mean_shares();
  mean->set_compute_ratio(0.5);
  mean->set_comm_ratio(0.4);
  mean->set_exposed_comm_ratio(0.1);
  mean->set_idle_ratio(0.35);
  mean->set_worst_exposed_comm_ratio(0.1);
  mean->set_worst_rank(3);
  return answer;
}

TEST(TemporalTextTest, EachRankIsALineOfSharesAndTheMeanFollows) {
  EXPECT_EQ(TemporalText(TemporalAnswer()),
            "Where the time went (host, queue, sync, other: causes of idle; memory*: not hidden)\n"
            "rank     span  compute  comm  exposed  memory*  idle  host  queue  sync  other    "
            "overlap\n"
            "                     %     %        %        %     %     %      %     %      %  % of "
            "comm\n"
            "   3  2.00 ms     50.0  40.0     10.0      5.0  35.0  20.0    7.5   5.0    2.5       "
            "75.0\n"
            "mean: compute 50.0 %, exposed communication 10.0 % of 40.0 %, idle 35.0 %; worst "
            "exposed communication: rank 3 with 10.0 %\n");
}

TEST(TemporalTextTest, OverlapsOnAQueueAreSaidAndNothingIsEmpty) {
  v1::TimelineAnalysis answer = TemporalAnswer();
  answer.mutable_rank_times(0)->set_overlapped_intervals_count(1234);
  EXPECT_THAT(TemporalText(answer), HasSubstr("1,234 intervals overlap on one device queue"));
  EXPECT_EQ(TemporalText({}), "");
}

}  // namespace
}  // namespace chakrad::client
