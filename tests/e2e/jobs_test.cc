// Jobs: refused with reasons, run once, cancelled, failed with who waits, put
// back by a drain and taken up after a restart.
#include <gtest/gtest.h>

#include <thread>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "storage/open.h"
#include "tests/e2e/test_server.h"

namespace chakrad {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

v1::Trace MlpTrace(TestServer* server) {
  const auto trace = server->Upload(ReadFolder("tests/data/collected/mlp_dp/w2"));
  EXPECT_THAT(trace, IsOk());
  return trace.ok() ? *trace : v1::Trace();
}

TEST(JobsTest, RankCountAndTopologyMustAgreeAndBothAreNamed) {
  TestServer server;
  v1::SimulationSpec spec = SpecOf(MlpTrace(&server), "Ring");
  spec.set_network_yaml(NetworkYaml("Ring", 8));
  EXPECT_THAT(server.CreateJob(spec), StatusIs(kInvalid, "8 NPUs"));
  EXPECT_THAT(server.CreateJob(spec), StatusIs(kInvalid, "2 ranks"));
}

TEST(JobsTest, BadSystemsAreRefusedByName) {
  TestServer server;
  v1::SimulationSpec spec = SpecOf(MlpTrace(&server), "Ring");
  spec.set_network_yaml(NetworkYaml("Moebius", 2));
  EXPECT_THAT(server.CreateJob(spec), StatusIs(kInvalid, "Moebius"));
  spec = SpecOf(MlpTrace(&server), "Ring");
  spec.set_network_yaml(NetworkYaml("Ring", 2, -1));
  EXPECT_THAT(server.CreateJob(spec), StatusIs(kInvalid, "bandwidth"));
  spec = SpecOf(MlpTrace(&server), "Ring");
  spec.set_trace("traces/t-none");
  EXPECT_THAT(server.CreateJob(spec), StatusIs(absl::StatusCode::kNotFound, "t-none"));
}

constexpr char kTwoGpus[] = R"(
network:
  dimensions:
    - {topology: Switch, npus: 2, bandwidth: 100 Mbit/s, latency: 10 us}
)";

v1::SimulationSpec PhysicalSpecOf(const v1::Trace& trace) {
  v1::SimulationSpec spec;
  spec.set_trace(trace.name());
  spec.set_system_yaml(kTwoGpus);
  return spec;
}

TEST(JobsTest, OurOwnSystemIsAnsweredWithPhysicalSemantics) {
  TestServer server;
  const v1::SimulationSpec spec = PhysicalSpecOf(MlpTrace(&server));
  ASSERT_OK_AND_ASSIGN(const v1::Job job, server.Run(spec));
  ASSERT_EQ(job.state(), v1::Job::SUCCEEDED) << job.error();
  EXPECT_EQ(job.spec().system_yaml(), kTwoGpus);
  EXPECT_EQ(job.result().semantics(), "physical");
  EXPECT_EQ(job.result().back_end(), "analytical");
  EXPECT_EQ(job.result().topology(), "2 NPUs: Switch 2");
  EXPECT_EQ(job.result().ranks_count(), 2);
  ASSERT_EQ(job.result().ranks_size(), 2);
  for (const v1::RankResult& rank : job.result().ranks()) {
    EXPECT_EQ(rank.idle_host_ps() + rank.idle_queue_ps(), rank.idle_ps());
    EXPECT_GT(rank.exposed_comm_ps(), 0);
  }
  ASSERT_EQ(job.result().dimensions_size(), 1);
  EXPECT_EQ(job.result().dimensions(0).bytes(), job.result().network_bytes());
  EXPECT_GT(job.result().dimensions(0).utilisation(), 0);
  EXPECT_EQ(job.result().links_size(), 0);
  // With traffic by link and memory: the same answer, and more of it.
  v1::SimulationSpec more = spec;
  more.set_link_traffic(true);
  more.set_memory_use(true);
  ASSERT_OK_AND_ASSIGN(const v1::Job detailed, server.Run(more));
  ASSERT_EQ(detailed.state(), v1::Job::SUCCEEDED) << detailed.error();
  EXPECT_EQ(detailed.result().end_ps(), job.result().end_ps());
  EXPECT_EQ(detailed.result().links_size(), 2);
  ASSERT_EQ(detailed.result().memory_size(), 2);
  EXPECT_GT(detailed.result().memory(0).peak_bytes(), 0);
  // 100 times the bandwidth: the same bytes in less time.
  v1::SimulationSpec fast = spec;
  fast.set_system_yaml(R"(
network:
  dimensions:
    - {topology: Switch, npus: 2, bandwidth: 10 Gbit/s, latency: 10 us}
)");
  fast.set_back_end(v1::SimulationSpec::LINK);
  ASSERT_OK_AND_ASSIGN(const v1::Job faster, server.Run(fast));
  ASSERT_EQ(faster.state(), v1::Job::SUCCEEDED) << faster.error();
  EXPECT_EQ(faster.result().back_end(), "link");
  EXPECT_LT(faster.result().end_ps(), job.result().end_ps());
  EXPECT_EQ(faster.result().network_bytes(), job.result().network_bytes());
}

TEST(JobsTest, FaultsOfOurOwnSystemAreAllNamed) {
  TestServer server;
  v1::SimulationSpec spec = PhysicalSpecOf(MlpTrace(&server));
  spec.set_system_yaml("network: {dimensions: [{topology: Moebius, npus: 2, latency: 1}]}");
  const auto refused = server.CreateJob(spec);
  EXPECT_THAT(refused, StatusIs(kInvalid, "system_yaml: line 1: network.dimensions[0].topology"));
  EXPECT_THAT(refused, StatusIs(kInvalid, "network.dimensions[0].bandwidth: is missing"));
  EXPECT_THAT(refused, StatusIs(kInvalid, "network.dimensions[0].latency: 1 has no unit"));
  spec = PhysicalSpecOf(MlpTrace(&server));
  spec.set_network_yaml(NetworkYaml("Ring", 2));
  EXPECT_THAT(server.CreateJob(spec), StatusIs(kInvalid, "must be empty beside it"));
  spec = PhysicalSpecOf(MlpTrace(&server));
  spec.set_max_events(-1);
  EXPECT_THAT(server.CreateJob(spec), StatusIs(kInvalid, "max_events: -1"));
  spec.set_max_events(0);
  spec.set_back_end(static_cast<v1::SimulationSpec::BackEnd>(9));
  EXPECT_THAT(server.CreateJob(spec), StatusIs(kInvalid, "spec.back_end: 9"));
}

TEST(JobsTest, ATraceIsSimulatedForTwiceItsRanks) {
  TestServer server;
  const v1::Trace trace = MlpTrace(&server);
  v1::SimulationSpec spec = PhysicalSpecOf(trace);
  spec.mutable_projection()->set_group(trace.process_groups(0).group());
  spec.mutable_projection()->set_multiply_by(2);
  EXPECT_THAT(server.CreateJob(spec), StatusIs(kInvalid, "has 4 ranks as projected"));
  spec.set_system_yaml(R"(
network:
  dimensions:
    - {topology: Switch, npus: 4, bandwidth: 100 Mbit/s, latency: 10 us}
)");
  ASSERT_OK_AND_ASSIGN(const v1::Job job, server.Run(spec));
  ASSERT_EQ(job.state(), v1::Job::SUCCEEDED) << job.error();
  EXPECT_EQ(job.result().ranks_count(), 4);
  ASSERT_GT(job.result().notices_size(), 0);
  EXPECT_NE(job.result().notices(0).find("projected from 2 to 4 ranks"), std::string::npos);
  spec.mutable_projection()->set_group("no such group");
  ASSERT_OK_AND_ASSIGN(const v1::Job failed, server.Run(spec));
  EXPECT_EQ(failed.state(), v1::Job::FAILED);
  EXPECT_NE(failed.error().find("projection: "), std::string::npos) << failed.error();
}

TEST(JobsTest, ACustomAlgorithmThatIsNoneIsRefusedOrFails) {
  TestServer server;
  const v1::Trace trace = MlpTrace(&server);
  v1::SimulationSpec spec = PhysicalSpecOf(trace);
  v1::CustomAlgorithm* algorithm = spec.add_custom_algorithms();
  algorithm->set_type("ALL_REDUCE");
  algorithm->set_trace("traces/t-none");
  EXPECT_THAT(server.CreateJob(spec), StatusIs(absl::StatusCode::kNotFound, "t-none"));
  algorithm->set_trace(trace.name());  // A job, not an algorithm: it has collectives.
  algorithm->set_type("ALL_REDUSE");
  EXPECT_THAT(server.CreateJob(spec), StatusIs(kInvalid, "ALL_REDUSE is no type of collective"));
  algorithm->set_type("ALL_REDUCE");
  ASSERT_OK_AND_ASSIGN(const v1::Job job, server.Run(spec));
  EXPECT_EQ(job.state(), v1::Job::FAILED);
  EXPECT_NE(job.error().find("custom algorithm traces/"), std::string::npos) << job.error();
}

// Of a sum that no count of ranks divides, so that a rounded chunk shows.
constexpr int64_t kSumBytes = 1'000'003;

std::string ChakraJson(const std::string& nodes) {
  return absl::StrCat(R"({"chakra_metadata": {"version": "0.0.4"}, "chakra_nodes": [)", nodes,
                      "]}");
}

// Two ranks whose whole work is one all-reduce of kSumBytes.
absl::StatusOr<v1::Trace> UploadSum(TestServer* server) {
  const std::string nodes =
      absl::StrCat(R"({"id": 7, "name": "sum", "type": "COMM_COLL_NODE", "attr": [)",
                   R"({"name": "comm_type", "int64_val": 0}, {"name": "comm_size", "int64_val": )",
                   kSumBytes, R"(}, {"name": "is_cpu_op", "bool_val": false}]})");
  return server->Upload({{"rank0.json", ChakraJson(nodes)}, {"rank1.json", ChakraJson(nodes)}});
}

// Each of two ranks sends the other 1,000 bytes, and adds for 5 us what it received.
absl::StatusOr<v1::Trace> UploadExchange(TestServer* server) {
  std::map<std::string, std::string> files;
  for (int rank = 0; rank < 2; ++rank) {
    const auto message = [](int id, const char* type, int from, int to) {
      return absl::StrCat(R"({"id": )", id, R"(, "name": "m", "type": ")", type,
                          R"(", "attr": [{"name": "comm_src", "int32_val": )", from,
                          R"(}, {"name": "comm_dst", "int32_val": )", to,
                          R"(}, {"name": "comm_tag", "int32_val": 0}, )",
                          R"({"name": "comm_size", "int64_val": 1000}]}, )");
    };
    files[absl::StrCat("rank", rank, ".json")] = ChakraJson(absl::StrCat(
        message(1, "COMM_SEND_NODE", rank, 1 - rank), message(2, "COMM_RECV_NODE", 1 - rank, rank),
        R"({"id": 3, "name": "add", "type": "COMP_NODE", "data_deps": [2], "duration_micros": 5})"));
  }
  return server->Upload(files);
}

std::string RingYaml(int npus_count) {
  return absl::StrCat("network: {dimensions: [{topology: Ring, npus: ", npus_count,
                      ", bandwidth: 1 GB/s, latency: 1 us}]}");
}

// A ring of n sums S bytes in 2 (n - 1) steps of L + S / (n B); here L is 1,000 ns and B 1 byte/ns.
TEST(JobsTest, ASumProjectedToTwiceItsRanksTakesWhatARingOfThemDoes) {
  TestServer server;
  ASSERT_OK_AND_ASSIGN(const v1::Trace trace, UploadSum(&server));
  v1::SimulationSpec spec;
  spec.set_trace(trace.name());
  spec.set_system_yaml(RingYaml(2));
  ASSERT_OK_AND_ASSIGN(const v1::Job traced, server.Run(spec));
  ASSERT_EQ(traced.state(), v1::Job::SUCCEEDED) << traced.error();
  EXPECT_EQ(traced.result().end_ps(), 2 * (1'000'000 + kSumBytes * 1'000 / 2));
  spec.set_system_yaml(RingYaml(4));
  spec.mutable_projection()->set_multiply_by(2);
  for (const auto back_end : {v1::SimulationSpec::ANALYTICAL, v1::SimulationSpec::LINK}) {
    spec.set_back_end(back_end);
    ASSERT_OK_AND_ASSIGN(const v1::Job job, server.Run(spec));
    ASSERT_EQ(job.state(), v1::Job::SUCCEEDED) << job.error();
    EXPECT_EQ(job.result().end_ps(), 6 * (1'000'000 + kSumBytes * 1'000 / 4));
    ASSERT_EQ(job.result().ranks_size(), 4);
    for (const v1::RankResult& rank : job.result().ranks()) {
      EXPECT_EQ(rank.end_ps(), job.result().end_ps());
    }
    ASSERT_EQ(job.result().collectives_size(), 1);
    EXPECT_EQ(job.result().collectives(0).ranks_count(), 4);
  }
}

// An exchange takes L + m / B, and 5 us for the sum.
TEST(JobsTest, ACustomAlgorithmRunsInPlaceOfTheConfiguredOne) {
  TestServer server;
  ASSERT_OK_AND_ASSIGN(const v1::Trace trace, UploadSum(&server));
  ASSERT_OK_AND_ASSIGN(const v1::Trace exchange, UploadExchange(&server));
  v1::SimulationSpec spec;
  spec.set_trace(trace.name());
  spec.set_system_yaml(RingYaml(2));
  v1::CustomAlgorithm* algorithm = spec.add_custom_algorithms();
  algorithm->set_trace(exchange.name());
  algorithm->set_type("ALL_REDUCE");
  const auto end_ps = [&] {
    const auto job = server.Run(spec);
    EXPECT_THAT(job, IsOk());
    if (!job.ok()) return int64_t{-1};
    EXPECT_EQ(job->state(), v1::Job::SUCCEEDED) << job->error();
    return job->result().end_ps();
  };
  EXPECT_EQ(end_ps(), 1'000'000 + 1'000 * 1'000 + 5'000'000) << "as large as in its trace";
  algorithm->set_total_bytes(1'000);
  EXPECT_EQ(end_ps(), 1'000'000 + kSumBytes * 1'000 + 5'000'000) << "scaled to the sum";
  algorithm->clear_type();
  algorithm->add_node_ids(7);
  EXPECT_EQ(end_ps(), 1'000'000 + kSumBytes * 1'000 + 5'000'000) << "named by its node";
  algorithm->set_node_ids(0, 8);
  EXPECT_EQ(end_ps(), 2 * (1'000'000 + kSumBytes * 1'000 / 2)) << "of another node: the ring";
}

TEST(JobsTest, AJobBeyondItsOwnLimitFailsAndSaysWhich) {
  TestServer server;
  v1::SimulationSpec spec = PhysicalSpecOf(MlpTrace(&server));
  spec.set_max_events(10);
  ASSERT_OK_AND_ASSIGN(const v1::Job job, server.Run(spec));
  EXPECT_EQ(job.state(), v1::Job::FAILED);
  EXPECT_NE(job.error().find("max_events: more than 10 events"), std::string::npos) << job.error();
}

TEST(JobsTest, MissingRanksAreRefusedUnlessCopiesMayStandIn) {
  TestServer server;
  auto files = ReadFolder("tests/data/collected/mlp_dp/w2");
  files.erase("rank1.et.json.gz");
  files.erase("rank1.kineto.json.gz");
  ASSERT_OK_AND_ASSIGN(const v1::Trace trace, server.Upload(files));
  v1::SimulationSpec spec = SpecOf(trace, "Ring");
  EXPECT_THAT(server.CreateJob(spec), StatusIs(kInvalid, "1 of its world's 2 ranks (0)"));
  spec.set_replicate_missing_ranks(true);
  ASSERT_OK_AND_ASSIGN(const v1::Job job, server.Run(spec));
  ASSERT_EQ(job.state(), v1::Job::SUCCEEDED) << job.error();
  EXPECT_EQ(job.result().stand_in_by_rank().at(1), 0);
  EXPECT_EQ(job.result().ranks(0).end_ps(), job.result().ranks(1).end_ps());
}

TEST(JobsTest, TheSameRequestIsTheSameJob) {
  TestServer server;
  const v1::SimulationSpec spec = SpecOf(MlpTrace(&server), "Ring");
  ASSERT_OK_AND_ASSIGN(const v1::Job first, server.CreateJob(spec, "what-if-1"));
  ASSERT_OK_AND_ASSIGN(const v1::Job second, server.CreateJob(spec, "what-if-1"));
  EXPECT_EQ(first.name(), second.name());
  // Whatever changed since: the trace may be gone.
  ASSERT_THAT(server.Wait(first.name()), IsOk());
  grpc::ClientContext context;
  v1::DeleteTraceRequest remove;
  remove.set_name(spec.trace());
  google::protobuf::Empty empty;
  ASSERT_THAT(FromGrpc(server.traces().DeleteTrace(&context, remove, &empty)), IsOk());
  ASSERT_OK_AND_ASSIGN(const v1::Job third, server.CreateJob(spec, "what-if-1"));
  EXPECT_EQ(third.name(), first.name());
}

TEST(JobsTest, ADeeplyNestedSystemIsRefusedAndTheDaemonLives) {
  TestServer server;
  v1::SimulationSpec spec;
  spec.set_trace("traces/t-none");
  spec.set_network_yaml(NetworkYaml("Ring", 2));
  spec.set_system_json(absl::StrCat("{\"local-mem-bw\": ", std::string(500'000, '['),
                                    std::string(500'000, ']'), "}"));
  EXPECT_THAT(server.CreateJob(spec), StatusIs(kInvalid, "local-mem-bw"));
  EXPECT_THAT(server.TraceNames(), IsOk());
}

absl::Status DeleteTrace(TestServer* server, const std::string& name) {
  grpc::ClientContext context;
  v1::DeleteTraceRequest remove;
  remove.set_name(name);
  google::protobuf::Empty empty;
  return FromGrpc(server->traces().DeleteTrace(&context, remove, &empty));
}

TEST(JobsTest, TracesAreHeldFromAJobsCreationToItsEnd) {
  ServerOptions options;
  options.workers = 1;
  TestServer server(options);
  ASSERT_OK_AND_ASSIGN(const v1::SimulationSpec endless, EndlessSpec(&server));
  ASSERT_OK_AND_ASSIGN(const v1::Job running, server.CreateJob(endless));
  v1::SimulationSpec waiting = PhysicalSpecOf(MlpTrace(&server));
  v1::CustomAlgorithm* algorithm = waiting.add_custom_algorithms();
  algorithm->set_type("ALL_REDUCE");
  algorithm->set_trace(endless.trace());
  ASSERT_OK_AND_ASSIGN(const v1::Job pending, server.CreateJob(waiting));
  const auto held_by = [](int jobs) {
    return StatusIs(absl::StatusCode::kFailedPrecondition,
                    absl::StrCat("by ", jobs, " unfinished jobs or exports"));
  };
  EXPECT_THAT(DeleteTrace(&server, endless.trace()), held_by(2));
  EXPECT_THAT(DeleteTrace(&server, waiting.trace()), held_by(1));
  EXPECT_THAT(server.CancelJob(pending.name()), IsOk());
  EXPECT_THAT(DeleteTrace(&server, waiting.trace()), IsOk());
  EXPECT_THAT(DeleteTrace(&server, endless.trace()), held_by(1));
  EXPECT_THAT(server.CancelJob(running.name()), IsOk());
  ASSERT_OK_AND_ASSIGN(const v1::Job ended, server.Wait(running.name()));
  EXPECT_EQ(ended.state(), v1::Job::CANCELLED);
  EXPECT_THAT(server.CancelJob(running.name()),
              StatusIs(absl::StatusCode::kFailedPrecondition, "cancelled already"));
  EXPECT_THAT(DeleteTrace(&server, endless.trace()), IsOk());
}

TEST(JobsTest, AFullQueueAnswersAtOnce) {
  ServerOptions options;
  options.workers = 1;
  options.limits.pending_jobs = 2;
  TestServer server(options);
  ASSERT_OK_AND_ASSIGN(const v1::SimulationSpec spec, EndlessSpec(&server));
  absl::Status status;
  int accepted = 0;
  for (; accepted < 10 && status.ok(); ++accepted) status = server.CreateJob(spec).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted, "2 jobs wait"));
  EXPECT_LE(accepted, 4);  // One running, two waiting, one refused.
}

TEST(JobsTest, ADrainPutsARunningJobBackAndARestartTakesItUp) {
  ServerOptions options;
  options.limits.drain_seconds = 1;
  TestServer server(options);
  const v1::Trace trace = MlpTrace(&server);
  ASSERT_OK_AND_ASSIGN(const v1::SimulationSpec endless_spec, EndlessSpec(&server));
  ASSERT_OK_AND_ASSIGN(const v1::Job endless, server.CreateJob(endless_spec));
  ASSERT_OK_AND_ASSIGN(const v1::Job waiting, server.CreateJob(SpecOf(trace, "Ring")));
  std::thread drain([&server] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    server.server().Drain();
  });
  EXPECT_THAT(server.Wait(endless.name()),
              StatusIs(absl::StatusCode::kUnavailable, "shutting down"));
  drain.join();
  server.Stop();
  {  // Put back for certain, not only found running by the next start.
    StoreOptions store;
    store.data_dir = server.data_dir();
    ASSERT_OK_AND_ASSIGN(const Stores stores, OpenRocksStores(store));
    ASSERT_OK_AND_ASSIGN(const JobRecord record, stores.jobs->Get(endless.name().substr(5)));
    EXPECT_EQ(record.state, JobRecord::State::kPending);
    EXPECT_EQ(record.start_unix_ns, 0);
  }
  server.Restart();
  ASSERT_OK_AND_ASSIGN(const v1::Job taken_up, server.GetJob(endless.name()));
  EXPECT_TRUE(taken_up.state() == v1::Job::PENDING || taken_up.state() == v1::Job::RUNNING);
  EXPECT_THAT(DeleteTrace(&server, endless_spec.trace()),
              StatusIs(absl::StatusCode::kFailedPrecondition, "unfinished jobs"));
  EXPECT_THAT(server.CancelJob(endless.name()), IsOk());
  ASSERT_OK_AND_ASSIGN(const v1::Job ended, server.Wait(waiting.name()));
  EXPECT_EQ(ended.state(), v1::Job::SUCCEEDED) << ended.error();
}

TEST(JobsTest, AJobWithoutTimelineSaysSo) {
  TestServer server;
  v1::SimulationSpec spec = SpecOf(MlpTrace(&server), "Ring");
  spec.set_keep_timeline(false);
  ASSERT_OK_AND_ASSIGN(const v1::Job job, server.Run(spec));
  ASSERT_EQ(job.state(), v1::Job::SUCCEEDED) << job.error();
  grpc::ClientContext context;
  v1::StreamTimelineRequest request;
  request.set_name(job.name());
  const auto stream = server.jobs().StreamTimeline(&context, request);
  v1::TimelineChunk chunk;
  EXPECT_FALSE(stream->Read(&chunk));
  EXPECT_THAT(FromGrpc(stream->Finish()),
              StatusIs(absl::StatusCode::kFailedPrecondition, "keep_timeline"));
}

TEST(JobsTest, ListsAreNewestFirstAndByTrace) {
  TestServer server;
  const v1::Trace one = MlpTrace(&server);
  v1::CreateUploadRequest labelled;  // Else it would be the same trace.
  (*labelled.mutable_labels())["which"] = "other";
  ASSERT_OK_AND_ASSIGN(const v1::Trace other,
                       server.Upload(ReadFolder("tests/data/collected/mlp_dp/w2"), labelled));
  ASSERT_OK_AND_ASSIGN(const v1::Job a, server.Run(SpecOf(one, "Ring")));
  ASSERT_OK_AND_ASSIGN(const v1::Job b, server.Run(SpecOf(other, "Ring")));
  ASSERT_OK_AND_ASSIGN(const v1::Job c, server.Run(SpecOf(one, "Switch")));
  const auto list = [&server](const std::string& trace) {
    grpc::ClientContext context;
    v1::ListJobsRequest request;
    request.set_trace(trace);
    v1::ListJobsResponse response;
    EXPECT_THAT(FromGrpc(server.jobs().ListJobs(&context, request, &response)), IsOk());
    std::vector<std::string> names;
    for (const v1::Job& job : response.jobs()) names.push_back(job.name());
    return names;
  };
  EXPECT_EQ(list(""), (std::vector<std::string>{c.name(), b.name(), a.name()}));
  EXPECT_EQ(list(one.name()), (std::vector<std::string>{c.name(), a.name()}));
}

}  // namespace
}  // namespace chakrad
