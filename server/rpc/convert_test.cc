#include "server/rpc/convert.h"

#include <gtest/gtest.h>

namespace chakrad {
namespace {

TraceInfo TraceOf(int ranks_count) {
  TraceInfo info;
  info.id = "t-1";
  info.world_size = ranks_count;
  info.create_unix_ns = 1'700'000'000'123'456'789;
  for (int rank = 0; rank < ranks_count; ++rank) {
    RankSummary summary;
    summary.rank = rank;
    summary.nodes_count = 10;
    summary.comm_by_type["ALL_REDUCE"] = {2, 4096};
    info.ranks.push_back(summary);
  }
  return info;
}

TEST(ConvertTest, ATraceKeepsItsCountsAndItsTime) {
  v1::Trace trace;
  ToProto(TraceOf(2), &trace);
  EXPECT_EQ(trace.name(), "traces/t-1");
  EXPECT_EQ(trace.create_time().seconds(), 1'700'000'000);
  EXPECT_EQ(trace.create_time().nanos(), 123'456'789);
  EXPECT_EQ(trace.ranks_count(), 2);
  EXPECT_EQ(trace.nodes_count(), 20);
  ASSERT_EQ(trace.ranks_size(), 2);
  EXPECT_EQ(trace.ranks(1).comm_by_type().at("ALL_REDUCE").bytes(), 4096);
}

TEST(ConvertTest, AListLeavesRanksOut) {
  v1::Trace trace;
  ToSummaryProto(TraceOf(2), &trace);
  EXPECT_EQ(trace.ranks_size(), 0);
  EXPECT_EQ(trace.ranks_count(), 2);
}

TEST(ConvertTest, AnAnswerBeyondTheClientsLimitIsCutAndSaysSo) {
  v1::Trace trace;
  ToProto(TraceOf(200'000), &trace);
  ASSERT_GT(trace.ByteSizeLong(), kMaxAnswerBytes);
  FitIntoAnswer(&trace);
  EXPECT_LT(trace.ByteSizeLong(), kMaxAnswerBytes + 1000);
  EXPECT_GT(trace.ranks_size(), 10'000);
  EXPECT_EQ(trace.ranks(0).rank(), 0);
  ASSERT_EQ(trace.notices_size(), 1);
  EXPECT_NE(trace.notices(0).find(std::to_string(200'000 - trace.ranks_size()) + " ranks"),
            std::string::npos)
      << trace.notices(0);
}

TEST(ConvertTest, AResultBeyondTheClientsLimitIsCutFromItsLongestListsOn) {
  v1::SimulationResult result;
  for (int i = 0; i < 10'000; ++i) {
    v1::LinkResult* link = result.add_links();
    link->set_busy_ps(int64_t{1} << 60);
    link->set_bytes(int64_t{1} << 60);
    v1::CriticalStep* step = result.add_critical_path();
    step->set_start_ps(int64_t{1} << 60);
    step->set_end_ps(int64_t{1} << 60);
  }
  for (int i = 0; i < 65'536; ++i) {
    v1::RankResult* rank = result.add_ranks();
    rank->set_rank(i);
    for (int k = 0; k < 4; ++k) rank->add_rank_ranges(i);
    rank->set_end_ps(int64_t{1} << 60);
    rank->set_comm_ps(int64_t{1} << 60);
    rank->set_compute_ps(int64_t{1} << 60);
  }
  JobView view;
  view.record.state = JobRecord::State::kSucceeded;
  view.record.result = result.SerializeAsString();
  v1::Job job;
  ToProto(view, &job);
  ASSERT_GT(job.ByteSizeLong(), kMaxAnswerBytes);
  FitIntoAnswer(&job);
  EXPECT_LT(job.ByteSizeLong(), kMaxAnswerBytes + 1000);
  EXPECT_GT(job.result().ranks_size(), 10'000);
  ASSERT_EQ(job.result().notices_size(), 1);
  EXPECT_NE(
      job.result().notices(0).find(std::to_string(65'536 - job.result().ranks_size()) + " ranks"),
      std::string::npos)
      << job.result().notices(0);
}

TEST(ConvertTest, ASmallAnswerIsLeftAlone) {
  v1::Trace trace;
  ToProto(TraceOf(2), &trace);
  FitIntoAnswer(&trace);
  EXPECT_EQ(trace.ranks_size(), 2);
  EXPECT_EQ(trace.notices_size(), 0);
}

// Protobuf's C++ writes broken UTF-8 and refuses to read it.
TEST(ConvertTest, CutTextOfFilesDoesNotMakeAnAnswerUnreadable) {
  TraceInfo info = TraceOf(1);
  Ledger ledger;
  ledger.Reject("unknown_category", 0, 0, "name \xE6\xBC");
  ledger.notices.push_back("\xFF");
  info.ledgers.push_back(ledger);
  info.groups.push_back({"tp\xC0", "", {0}});
  v1::Trace trace;
  ToProto(info, &trace);
  v1::Trace read;
  EXPECT_TRUE(read.ParseFromString(trace.SerializeAsString()));
  EXPECT_EQ(read.files(0).rejections(0).reason(), "name ??");

  JobView view;
  view.record.error = "rank 3 waits for \xE6\xBC";
  v1::Job job, read_job;
  ToProto(view, &job);
  EXPECT_TRUE(read_job.ParseFromString(job.SerializeAsString()));
}

TEST(ConvertTest, AStoredResultTellsTheProgressOfAFinishedJob) {
  v1::SimulationResult result;
  result.set_nodes_count(7);
  result.set_end_ps(1'000);
  JobView view;
  view.record.state = JobRecord::State::kSucceeded;
  view.record.result = result.SerializeAsString();
  v1::Job job;
  ToProto(view, &job);
  EXPECT_EQ(job.progress().nodes_done(), 7);
  EXPECT_EQ(job.progress().nodes_count(), 7);
  EXPECT_EQ(job.progress().simulated_ps(), 1'000);
}

TEST(ConvertTest, AJobWithoutResultHasNone) {
  JobView view;
  view.record.id = "j-1";
  view.record.trace_id = "t-1";
  view.record.state = JobRecord::State::kRunning;
  view.progress.nodes_done = 5;
  v1::Job job;
  ToProto(view, &job);
  EXPECT_EQ(job.name(), "jobs/j-1");
  EXPECT_EQ(job.state(), v1::Job::RUNNING);
  EXPECT_EQ(job.spec().trace(), "traces/t-1");
  EXPECT_EQ(job.progress().nodes_done(), 5);
  EXPECT_FALSE(job.has_result());
  EXPECT_FALSE(job.has_end_time());
}

}  // namespace
}  // namespace chakrad
