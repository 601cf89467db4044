#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

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

TEST(StepsTextTest, StepsCountFromTheStartOfWhatIsShown) {
  v1::TimelineAnalysis answer;
  answer.set_start_ps(1'000'000);
  answer.set_steps_source("repetition");
  v1::Step* step = answer.add_steps();
  step->set_name("step 0");
  step->set_start_ps(2'001'000'000);
  step->set_ranks_count(8);
  step->set_mean_span_ps(1'500'000'000.4);
  step->mutable_mean_shares()->set_compute_ratio(0.5);
  const std::string text = StepsText(answer);
  EXPECT_THAT(text, HasSubstr("Steps (found by what repeats)"));
  EXPECT_THAT(text, HasSubstr("   0  step 0  2.000      8    1.50 ms     50.0      0.0   0.0"));
  EXPECT_THAT(text, HasSubstr("  -\n"));  // No communication: no overlap.
  EXPECT_EQ(StepsText({}), "");
}

TEST(KernelsTextTest, LongNamesAreCutBetweenCharacters) {
  v1::TimelineAnalysis answer;
  answer.set_kernels_count(7);
  v1::KernelStats* kernel = answer.add_kernels();
  kernel->set_name(std::string(56, 'k') + "\xc3\xa4 and more");
  kernel->set_kind("compute");
  kernel->set_count(1200);
  kernel->set_total_ps(2'000'000'000);
  kernel->set_share(0.25);
  answer.mutable_kernel_totals()->set_count(5000);
  const std::string text = KernelsText(answer);
  EXPECT_THAT(text, HasSubstr(std::string(56, 'k') + "...  compute  1,200  2.00 ms   25.0"));
  EXPECT_THAT(text, HasSubstr("5,000 operations of 7 names"));
  EXPECT_EQ(KernelsText({}), "");
}

TEST(LaunchesTextTest, WithoutALaunchThereIsNoDelay) {
  v1::TimelineAnalysis answer;
  v1::LaunchStats* rank = answer.add_launches();
  rank->set_rank(2);
  rank->set_without_launch_count(4);
  v1::QueueLength* queue = rank->add_queues();
  queue->set_queue("device 0 stream 7");
  queue->set_mean_length(1.75);
  queue->set_max_length(3);
  const std::string text = LaunchesText(answer);
  EXPECT_THAT(text, HasSubstr("device 0 stream 7"));
  EXPECT_THAT(text, HasSubstr("1.8       3\n"));
  EXPECT_EQ(LaunchesText({}), "");
}

TEST(MemoryTextTest, ADeviceIsALine) {
  v1::TimelineAnalysis answer;
  v1::MemoryTimeline* use = answer.add_memory();
  use->set_device("cuda:0");
  use->set_resident_bytes(1024);
  use->set_peak_bytes(4096);
  use->set_peak_at_ps(1'500'000'000);
  use->add_at_ps(0);
  use->add_bytes(2048);
  EXPECT_THAT(MemoryText(answer),
              HasSubstr("   0  cuda:0   1.0 KiB  4.0 KiB    1.500  2.0 KiB        1"));
  EXPECT_EQ(MemoryText({}), "");
}

}  // namespace
}  // namespace chakrad::client
