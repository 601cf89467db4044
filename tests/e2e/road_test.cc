// The whole road on real traces: upload, convert, store, simulate, stream.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "common/status_matchers.h"
#include "tests/e2e/test_server.h"

namespace chakrad {
namespace {

struct Row {
  int32_t rank;
  uint64_t node_id;
  int64_t start_ps;
  int64_t dur_ps;
  std::string name;
  v1::TimelineChunk::Kind kind;
  auto operator<=>(const Row&) const = default;
};

std::vector<Row> Timeline(TestServer* server, const std::string& job,
                          const std::vector<int32_t>& ranks = {}) {
  grpc::ClientContext context;
  v1::StreamTimelineRequest request;
  request.set_name(job);
  for (int32_t rank : ranks) request.add_ranks(rank);
  const auto stream = server->jobs().StreamTimeline(&context, request);
  std::vector<Row> rows;
  std::vector<std::string> names;
  v1::TimelineChunk chunk;
  while (stream->Read(&chunk)) {
    names.insert(names.end(), chunk.names().begin(), chunk.names().end());
    for (int i = 0; i < chunk.rank_size(); ++i) {
      rows.push_back({chunk.rank(i), chunk.node_id(i), chunk.start_ps(i), chunk.dur_ps(i),
                      names.at(chunk.name(i)), chunk.kind(i)});
    }
  }
  EXPECT_THAT(FromGrpc(stream->Finish()), IsOk());
  return rows;
}

void ExpectConserved(const v1::Trace& trace) {
  for (const v1::FileLedger& file : trace.files()) {
    EXPECT_EQ(file.kept_count() + file.merged_count() + file.rejected_count(), file.records_count())
        << file.file();
  }
}

void ExpectConserved(const v1::SimulationResult& result) {
  for (const v1::RankResult& rank : result.ranks()) {
    EXPECT_EQ(
        rank.compute_ps() + rank.exposed_comm_ps() + rank.exposed_memory_ps() + rank.idle_ps(),
        rank.end_ps())
        << rank.rank();
    EXPECT_LE(rank.exposed_comm_ps(), rank.comm_ps());
    EXPECT_LE(rank.end_ps(), result.end_ps());
  }
}

// Counts of the recorder's own table (tests/data/collected/README.md): two steps
// of 16 tensor-parallel and 4 data-parallel all-reduces, and 2 broadcasts.
TEST(RoadTest, TransformerWithTensorAndDataParallelGroups) {
  TestServer server;
  v1::CreateUploadRequest request;
  (*request.mutable_labels())["job"] = "transformer";
  ASSERT_OK_AND_ASSIGN(
      const v1::Trace trace,
      server.Upload(ReadFolder("tests/data/collected/transformer_dp_tp/w4"), request));
  EXPECT_EQ(trace.world_size(), 4);
  ASSERT_EQ(trace.ranks_size(), 4);
  EXPECT_EQ(trace.labels().at("job"), "transformer");
  ExpectConserved(trace);
  for (const v1::RankSummary& rank : trace.ranks()) {
    EXPECT_EQ(rank.comm_by_type().at("ALL_REDUCE").count(), 20) << rank.rank();
    EXPECT_EQ(rank.comm_by_type().at("BROADCAST").count(), 2) << rank.rank();
  }
  std::set<std::string> groups;
  for (const v1::ProcessGroup& group : trace.process_groups()) groups.insert(group.group());
  for (const char* group : {"tp0", "tp1", "dp0", "dp1"}) EXPECT_TRUE(groups.count(group)) << group;

  ASSERT_OK_AND_ASSIGN(const v1::Job job, server.Run(SpecOf(trace, "Ring")));
  ASSERT_EQ(job.state(), v1::Job::SUCCEEDED) << job.error();
  EXPECT_EQ(job.result().semantics(), "astra");
  ASSERT_EQ(job.result().ranks_size(), 4);
  ExpectConserved(job.result());
  EXPECT_EQ(job.progress().nodes_done(), job.progress().nodes_count());

  const std::vector<Row> rows = Timeline(&server, job.name());
  int64_t comm_rows = 0, last_end_ps = 0;
  for (const Row& row : rows) {
    comm_rows += row.rank == 2 && row.kind == v1::TimelineChunk::COMM;
    last_end_ps = std::max(last_end_ps, row.start_ps + row.dur_ps);
  }
  EXPECT_EQ(comm_rows, 22);
  EXPECT_LE(last_end_ps, job.result().end_ps());
  const std::vector<Row> of_two = Timeline(&server, job.name(), {2});
  EXPECT_EQ(of_two.size(),
            static_cast<size_t>(
                std::count_if(rows.begin(), rows.end(), [](const Row& r) { return r.rank == 2; })));
}

TEST(RoadTest, TheSameJobTwiceGivesTheSameBytes) {
  TestServer server;
  ASSERT_OK_AND_ASSIGN(const v1::Trace trace,
                       server.Upload(ReadFolder("tests/data/collected/mlp_dp/w2")));
  ASSERT_OK_AND_ASSIGN(const v1::Job first, server.Run(SpecOf(trace, "Switch")));
  ASSERT_OK_AND_ASSIGN(const v1::Job second, server.Run(SpecOf(trace, "Switch")));
  ASSERT_EQ(first.state(), v1::Job::SUCCEEDED) << first.error();
  EXPECT_EQ(first.result().ShortDebugString(), second.result().ShortDebugString());
  const std::vector<Row> rows = Timeline(&server, first.name());
  EXPECT_GT(rows.size(), 1'000u);
  EXPECT_EQ(rows, Timeline(&server, second.name()));
}

TEST(RoadTest, AFasterNetworkNeverTakesLongerAndMovesTheSameBytes) {
  TestServer server;
  ASSERT_OK_AND_ASSIGN(const v1::Trace trace,
                       server.Upload(ReadFolder("tests/data/collected/mlp_dp/w2")));
  v1::SimulationSpec slow = SpecOf(trace, "Ring"), fast = slow;
  slow.set_network_yaml(NetworkYaml("Ring", 2, 0.01));
  fast.set_network_yaml(NetworkYaml("Ring", 2, 100));
  ASSERT_OK_AND_ASSIGN(const v1::Job slow_job, server.Run(slow));
  ASSERT_OK_AND_ASSIGN(const v1::Job fast_job, server.Run(fast));
  EXPECT_GT(slow_job.result().end_ps(), fast_job.result().end_ps());
  EXPECT_GT(slow_job.result().ranks(0).exposed_comm_ps(),
            fast_job.result().ranks(0).exposed_comm_ps());
  EXPECT_GT(slow_job.result().network_bytes(), 0);
  EXPECT_EQ(slow_job.result().network_bytes(), fast_job.result().network_bytes());
}

TEST(RoadTest, PipelineSendsMeetTheirReceives) {
  TestServer server;
  ASSERT_OK_AND_ASSIGN(const v1::Trace trace,
                       server.Upload(ReadFolder("tests/data/collected/transformer_pp/w2")));
  for (const v1::RankSummary& rank : trace.ranks()) {
    EXPECT_EQ(rank.comm_by_type().at("SEND").count(), 8) << rank.rank();
    EXPECT_EQ(rank.comm_by_type().at("RECV").count(), 8) << rank.rank();
  }
  ASSERT_OK_AND_ASSIGN(const v1::Job job, server.Run(SpecOf(trace, "FullyConnected")));
  ASSERT_EQ(job.state(), v1::Job::SUCCEEDED) << job.error();
  ExpectConserved(job.result());
}

TEST(RoadTest, AnExportedTraceComesBackTheSameAndSimulatesTheSame) {
  TestServer server;
  ASSERT_OK_AND_ASSIGN(const v1::Trace trace,
                       server.Upload(ReadFolder("tests/data/collected/dlrm/w4")));
  ASSERT_OK_AND_ASSIGN(const auto exported, server.Export(trace.name()));
  ASSERT_OK_AND_ASSIGN(const v1::Trace again, server.Upload(exported));
  ASSERT_EQ(again.ranks_size(), trace.ranks_size());
  EXPECT_EQ(again.world_size(), trace.world_size());
  for (int i = 0; i < trace.ranks_size(); ++i) {
    // The schema tells the format, which differs.
    v1::RankSummary want = trace.ranks(i), got = again.ranks(i);
    want.clear_schema();
    got.clear_schema();
    EXPECT_EQ(got.nodes_count(), want.nodes_count());
    EXPECT_EQ(got.span_ns(), want.span_ns());
    EXPECT_EQ(got.comm_by_type().at("ALL_TO_ALL").bytes(),
              want.comm_by_type().at("ALL_TO_ALL").bytes());
    EXPECT_EQ(got.edges_count_by_kind().at("thread_order"),
              want.edges_count_by_kind().at("thread_order"));
  }
  ASSERT_OK_AND_ASSIGN(const v1::Job job, server.Run(SpecOf(trace, "Ring")));
  ASSERT_OK_AND_ASSIGN(const v1::Job job_again, server.Run(SpecOf(again, "Ring")));
  ASSERT_EQ(job.state(), v1::Job::SUCCEEDED) << job.error();
  ASSERT_EQ(job_again.state(), v1::Job::SUCCEEDED) << job_again.error();
  EXPECT_EQ(job.result().end_ps(), job_again.result().end_ps());
}

TEST(RoadTest, ListsFilterPageAndDelete) {
  TestServer server;
  std::vector<std::string> names;
  for (int i = 0; i < 5; ++i) {
    v1::CreateUploadRequest request;
    (*request.mutable_labels())["job"] = i < 3 ? "a" : "b";
    (*request.mutable_labels())["step"] = std::to_string(i);  // Else they were one trace.
    ASSERT_OK_AND_ASSIGN(const v1::Trace trace,
                         server.Upload(ReadFolder("tests/data/collected/mlp_dp/w2"), request));
    names.push_back(trace.name());
  }
  const auto list = [&server](const std::string& filter, int page_size, std::string* token) {
    grpc::ClientContext context;
    v1::ListTracesRequest request;
    request.set_filter(filter);
    request.set_page_size(page_size);
    request.set_page_token(*token);
    v1::ListTracesResponse response;
    EXPECT_THAT(FromGrpc(server.traces().ListTraces(&context, request, &response)), IsOk());
    *token = response.next_page_token();
    std::vector<std::string> got;
    for (const v1::Trace& trace : response.traces()) got.push_back(trace.name());
    return got;
  };
  std::string token;
  EXPECT_THAT(list("labels.job = a", 0, &token),
              ::testing::ElementsAre(names[2], names[1], names[0]));
  token.clear();
  EXPECT_THAT(list("", 2, &token), ::testing::ElementsAre(names[4], names[3]));
  {
    grpc::ClientContext context;
    v1::DeleteTraceRequest request;
    request.set_name(names[3]);
    google::protobuf::Empty empty;
    EXPECT_THAT(FromGrpc(server.traces().DeleteTrace(&context, request, &empty)), IsOk());
  }
  EXPECT_THAT(list("", 2, &token), ::testing::ElementsAre(names[2], names[1]));
  EXPECT_THAT(list("", 2, &token), ::testing::ElementsAre(names[0]));
  EXPECT_EQ(token, "");
}

TEST(RoadTest, PagesOverHttpTellHealthAndMetrics) {
  TestServer server;
  ASSERT_OK_AND_ASSIGN(const v1::Trace trace,
                       server.Upload(ReadFolder("tests/data/collected/mlp_dp/w2")));
  EXPECT_NE(server.HttpGet("/healthz").find("200"), std::string::npos);
  const std::string metrics = server.HttpGet("/metrics");
  EXPECT_NE(metrics.find("chakrad_traces_sealed_total{outcome=\"ok\"} 1"), std::string::npos)
      << metrics;
  EXPECT_NE(metrics.find("chakrad_rpc_duration_seconds_count{"), std::string::npos);
  EXPECT_EQ(metrics.find(trace.name().substr(7)), std::string::npos) << "a trace id is a label";
  EXPECT_NE(server.HttpGet("/other").find("404"), std::string::npos);
}

}  // namespace
}  // namespace chakrad
