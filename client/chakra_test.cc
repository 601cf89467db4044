#include "client/chakra.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "client/fake_chakrad.h"
#include "client/json.h"
#include "client/test_folder.h"

namespace chakrad::client {
namespace {

using testing::Test;

class ChakraTest : public Test {
 protected:
  ChakraTest() {
    fake_.trace.set_name("traces/t-1");
    fake_.trace.set_world_size(2);
    fake_.trace.set_ranks_count(1);
    fake_.trace.set_nodes_count(14391);
    fake_.trace.mutable_labels()->insert({"job", "llama"});
    v1::RankSummary& rank = *fake_.trace.add_ranks();
    rank.set_nodes_count(14391);
    rank.set_span_ns(1'234'567);
    (*rank.mutable_comm_by_type())["ALL_REDUCE"].set_count(15);
    (*rank.mutable_comm_by_type())["ALL_REDUCE"].set_bytes(306'684'384);
    fake_.job.set_name("jobs/j-1");
    fake_.job.set_state(v1::Job::SUCCEEDED);
    fake_.job.mutable_spec()->set_trace("traces/t-1");
    SetRanks(2);
    network_ = folder_.Write("ring.yml", "topology: [ Ring ]\n");
    system_ = folder_.Write("system.json", "{}");
    unsetenv("CHAKRAD_SERVER");
  }

  // Rank r ends at 2 ms + r * 1 ps; a quarter is exposed communication.
  void SetRanks(int count) {
    v1::SimulationResult& result = *fake_.job.mutable_result();
    result.Clear();
    result.set_end_ps(2'000'000'000 + count - 1);
    result.set_semantics("astra");
    for (int i = 0; i < count; ++i) {
      v1::RankResult& rank = *result.add_ranks();
      rank.set_rank(i);
      rank.set_end_ps(2'000'000'000 + i);
      rank.set_compute_ps(1'000'000'000);
      rank.set_comm_ps(700'000'000);
      rank.set_exposed_comm_ps(500'000'000);
      rank.set_idle_ps(500'000'000 + i);
    }
  }

  // With --server; returns the exit code.
  int Run(std::vector<std::string> args) {
    args.insert(args.end(), {"--server", fake_.address()});
    return RunBare(args);
  }
  int RunBare(const std::vector<std::string>& args) {
    out_.str("");
    err_.str("");
    Io io;
    io.out = &out_;
    io.err = &err_;
    io.sleep = [](std::chrono::milliseconds) {};
    return RunChakra(args, io);
  }
  std::string out() const { return out_.str(); }
  std::string err() const { return err_.str(); }
  Json json() const { return Json::parse(out()); }
  bool OutHas(const std::string& part) const { return out().find(part) != std::string::npos; }
  bool ErrHas(const std::string& part) const { return err().find(part) != std::string::npos; }

  TestFolder folder_;
  FakeChakrad fake_;
  std::string network_;
  std::string system_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(ChakraTest, WrongUsageIsTwoWithOneLineOnStandardError) {
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"fly"},
      {"traces"},
      {"traces", "show"},
      {"traces", "show", "jobs/j-1"},
      {"traces", "ls", "--output", "xml"},
      {"simulate", "t-1"},
      {"simulate", "t-1", "--network", "/nowhere", "--system", "/nowhere"},
      {"simulate", "t-1", "--system", "/nowhere"},
      {"simulate", "t-1", "--network", network_},
      {"simulate", "t-1", "--system_json", system_},
      {"simulate", "t-1", "--system", system_, "--system_json", system_},
      {"simulate", "t-1", "--network", network_, "--system", system_, "--system_json", system_},
      {"simulate", "t-1", "--system", system_, "--back_end", "ns3"},
      {"simulate", "t-1", "--system", system_, "--max-events", "0"},
      {"simulate", "t-1", "--system", system_, "--project", "dp"},
      {"simulate", "t-1", "--system", system_, "--project", "dp=0"},
      {"simulate", "t-1", "--system", system_, "--project", "dp=x"},
      {"simulate", "t-1", "--system", system_, "--algorithm", "ALL_REDUCE"},
      {"simulate", "t-1", "--system", system_, "--algorithm", "ALL_REDUCE=t-5@x"},
      {"simulate", "t-1", "--system", system_, "--max-simulated-ns", "-1"},
      {"ingest", "/nowhere"},
      {"ingest", network_, "--label", "novalue"},
      {"ingest", network_, "--rank", "other=1"},
      {"ingest", network_, "--rank", "ring.yml=-1"},
      {"ingest", network_, "--world-size", "0"},
      {"timeline", "j-1"},
  };
  for (const auto& args : wrong) {
    const std::string line = testing::PrintToString(args);
    EXPECT_EQ(Run(args), kExitUsage) << line;
    EXPECT_EQ(out(), "") << line;
    EXPECT_EQ(err().find('\n'), err().size() - 1) << line << err();
    EXPECT_EQ(err().substr(0, 8), "chakra: ") << line << err();
  }
}

TEST_F(ChakraTest, HelpIsAnAnswerNotAnError) {
  EXPECT_EQ(RunBare({"--help"}), kExitOk);
  EXPECT_TRUE(OutHas("Exit codes"));
  EXPECT_EQ(RunBare({"ingest", "--help"}), kExitOk);
  EXPECT_TRUE(OutHas("--label"));
  EXPECT_TRUE(OutHas("chakra ingest run7/"));
  EXPECT_FALSE(OutHas("Exit codes"));
  EXPECT_EQ(err(), "");
}

TEST_F(ChakraTest, AServerThatIsNotThereIsThree) {
  EXPECT_EQ(RunBare({"traces", "ls", "--server", "127.0.0.1:1"}), kExitUnreachable);
  EXPECT_TRUE(ErrHas("no server answers at 127.0.0.1:1")) << err();
  EXPECT_EQ(RunBare({"jobs", "watch", "j-1", "--server", "127.0.0.1:1"}), kExitUnreachable);
}

TEST_F(ChakraTest, TheServerComesFromTheEnvironmentToo) {
  setenv("CHAKRAD_SERVER", fake_.address().c_str(), 1);
  EXPECT_EQ(RunBare({"traces", "ls"}), kExitOk) << err();
  unsetenv("CHAKRAD_SERVER");
}

TEST_F(ChakraTest, ARefusedRequestIsOneAndKeepsTheServersWordsOnOneLine) {
  EXPECT_EQ(Run({"traces", "show", "t-9"}), kExitFailed);
  EXPECT_EQ(err(), "chakra: traces/t-9: no such trace\n");
  EXPECT_EQ(Run({"jobs", "cancel", "j-1"}), kExitFailed);
  EXPECT_EQ(err(), "chakra: jobs/j-1: already SUCCEEDED\n");
}

TEST_F(ChakraTest, IngestSendsFilesLabelsRanksAndPrintsTheTrace) {
  folder_.Write("run/a.et.json", "{1}");
  folder_.Write("run/b.et.json", "{2}");
  EXPECT_EQ(
      Run({"ingest", "--label", "job=llama", "--rank", "b.et.json=1", "--world-size", "2",
           "--lenient", "--repair", "--passes", "3", folder_.Path("run"), "--output", "json"}),
      kExitOk)
      << err();
  EXPECT_EQ(fake_.content_by_file,
            (std::map<std::string, std::string>{{"a.et.json", "{1}"}, {"b.et.json", "{2}"}}));
  const v1::CreateUploadRequest& created = fake_.created_upload;
  EXPECT_EQ(created.labels().at("job"), "llama");
  EXPECT_EQ(created.rank_by_file().at("b.et.json"), 1);
  EXPECT_EQ(created.world_size(), 2);
  EXPECT_EQ(created.passes_count(), 3);
  EXPECT_TRUE(created.lenient());
  EXPECT_TRUE(created.repair());
  EXPECT_EQ(json()["trace"]["name"], "traces/t-1");
  EXPECT_EQ(json()["uploaded_bytes"], 6);
  EXPECT_EQ(json()["request_id"], created.request_id());
  EXPECT_EQ(created.request_id().substr(0, 7), "sha256-");
  EXPECT_EQ(Run({"ingest", folder_.Path("run"), "--request-id", "mine"}), kExitOk) << err();
  EXPECT_EQ(created.request_id(), "mine");
  EXPECT_TRUE(OutHas("15 ALL_REDUCE (306,684,384 B)")) << out();
}

TEST_F(ChakraTest, IngestSaysWhereTheTraceIsStoredAlready) {
  folder_.Write("run/a.et.json", "{1}");
  fake_.known_content = true;
  EXPECT_EQ(Run({"ingest", folder_.Path("run")}), kExitOk) << err();
  EXPECT_TRUE(OutHas("already stored as traces/t-1: nothing was sent")) << out();
  EXPECT_EQ(fake_.created_upload.files_size(), 1);
  EXPECT_EQ(Run({"ingest", folder_.Path("run"), "--output", "json"}), kExitOk) << err();
  EXPECT_EQ(json()["already_stored"], true);
  EXPECT_EQ(Run({"ingest", folder_.Path("run"), "--no-hash"}), kExitOk) << err();
  EXPECT_EQ(fake_.created_upload.files_size(), 0);
  EXPECT_EQ(fake_.created_upload.request_id().substr(0, 7), "random-");
}

TEST_F(ChakraTest, OptionsOfJointUploadsAreChecked) {
  folder_.Write("run/a.et.json", "{1}");
  const std::string run = folder_.Path("run");
  EXPECT_EQ(Run({"ingest", run, "--expect", "2"}), kExitUsage);
  EXPECT_EQ(Run({"ingest", run, "--join", "a", "--request-id", "b"}), kExitUsage);
  EXPECT_EQ(Run({"ingest", run, "--join", "a", "--seal-after", "soon"}), kExitUsage);
  EXPECT_NE(err().find("such as 90s, 10m, 2h"), std::string::npos) << err();
}

TEST_F(ChakraTest, TracesAreListedOverAllPages) {
  EXPECT_EQ(Run({"traces", "ls", "--output", "json"}), kExitOk) << err();
  ASSERT_EQ(json()["traces"].size(), 2u);
  EXPECT_EQ(json()["traces"][1]["name"], "traces/t-1-older");
  EXPECT_EQ(Run({"traces", "ls"}), kExitOk);
  EXPECT_TRUE(OutHas("job=llama")) << out();
}

TEST_F(ChakraTest, NamesWorkWithAndWithoutTheirCollection) {
  EXPECT_EQ(Run({"traces", "show", "t-1"}), kExitOk) << err();
  EXPECT_TRUE(OutHas("14,391")) << out();
  EXPECT_EQ(Run({"traces", "show", "traces/t-1"}), kExitOk) << err();
  EXPECT_EQ(Run({"traces", "rm", "t-1"}), kExitOk) << err();
  EXPECT_EQ(fake_.deleted_trace, "traces/t-1");
}

TEST_F(ChakraTest, ALargeTraceStillFitsAScreenAndSaysWhatIsMissing) {
  fake_.trace.set_ranks_count(1000);
  fake_.trace.add_process_groups()->add_ranks(0);
  for (int i = 1; i < 1000; ++i) {
    fake_.trace.add_ranks()->set_rank(i);
    fake_.trace.add_process_groups();
    v1::FileLedger& file = *fake_.trace.add_files();
    file.set_file("rank" + std::to_string(i));
    file.add_notices("has no times");
  }
  EXPECT_EQ(Run({"traces", "show", "t-1"}), kExitOk) << err();
  const std::string text = out();
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 90) << text;
  EXPECT_TRUE(OutHas("(984 more ranks; ")) << text;
  EXPECT_TRUE(OutHas("(983 more files; ")) << text;
  EXPECT_TRUE(OutHas("(983 more notes; ")) << text;
  EXPECT_TRUE(OutHas("(world)  0\n")) << text;
  EXPECT_TRUE(OutHas("note: rank1: has no times")) << text;
  EXPECT_EQ(Run({"traces", "show", "t-1", "--output", "json"}), kExitOk) << err();
  EXPECT_EQ(json()["ranks"].size(), 1000u);
}

TEST_F(ChakraTest, ExportWritesAFileARank) {
  fake_.exported = {{"rank0.et", "0123456"}, {"rank1.et", "abc"}};
  EXPECT_EQ(Run({"traces", "export", "t-1", "-o", folder_.Path("out/deep")}), kExitOk) << err();
  EXPECT_EQ(folder_.Read("out/deep/rank0.et"), "0123456");
  EXPECT_EQ(folder_.Read("out/deep/rank1.et"), "abc");
  EXPECT_EQ(Run({"traces", "export", "t-1", "-o", "-"}), kExitUsage);
  fake_.exported = {{"rank0.et", "0123456"}};
  EXPECT_EQ(Run({"traces", "export", "t-1", "-o", "-"}), kExitOk);
  EXPECT_EQ(out(), "0123456");
}

TEST_F(ChakraTest, ExportedNamesCannotLeaveTheFolder) {
  fake_.exported = {{"../evil", "x"}};
  EXPECT_EQ(Run({"traces", "export", "t-1", "-o", folder_.Path("out")}), kExitFailed);
  EXPECT_FALSE(folder_.Has("evil"));
  fake_.exported = {{"..", "x"}};
  EXPECT_EQ(Run({"traces", "export", "t-1", "-o", folder_.Path("out")}), kExitFailed);
}

TEST_F(ChakraTest, SimulatePrintsTheJobAndSendsTheDescriptions) {
  EXPECT_EQ(Run({"simulate", "t-1", "--network", network_, "--system", system_,
                 "--replicate-missing-ranks", "--no-timeline"}),
            kExitOk)
      << err();
  EXPECT_EQ(out(), "jobs/j-1\n");
  ASSERT_EQ(fake_.created_jobs.size(), 1u);
  const v1::SimulationSpec& spec = fake_.created_jobs[0].spec();
  EXPECT_EQ(spec.trace(), "traces/t-1");
  EXPECT_EQ(spec.network_yaml(), "topology: [ Ring ]\n");
  EXPECT_EQ(spec.system_json(), "{}");
  EXPECT_TRUE(spec.replicate_missing_ranks());
  EXPECT_FALSE(spec.keep_timeline());
  EXPECT_FALSE(fake_.created_jobs[0].request_id().empty());
}

TEST_F(ChakraTest, SimulateSendsASystemOfOurOwnAndEveryOption) {
  EXPECT_EQ(Run({"simulate", "t-1", "--system", network_, "--back_end", "link", "--unfolded",
                 "--variant", "400G", "--critical-path", "--link_traffic", "--memory-use",
                 "--max-events", "7", "--max-simulated-ns", "5"}),
            kExitOk)
      << err();
  const v1::SimulationSpec& spec = fake_.created_jobs.at(0).spec();
  EXPECT_EQ(spec.system_yaml(), "topology: [ Ring ]\n");
  EXPECT_EQ(spec.network_yaml() + spec.system_json(), "");
  EXPECT_EQ(spec.back_end(), v1::SimulationSpec::LINK);
  EXPECT_TRUE(spec.unfolded() && spec.critical_path() && spec.keep_timeline());
  EXPECT_TRUE(spec.link_traffic() && spec.memory_use());
  EXPECT_EQ(spec.max_events(), 7);
  EXPECT_EQ(spec.max_simulated_ps(), 5'000);
  EXPECT_EQ(spec.variant(), "400G");
}

TEST_F(ChakraTest, SimulateSendsProjectionsAndAlgorithms) {
  for (const char* size : {"a=b=x2", "a=b=/3", "a=b=16"}) {
    EXPECT_EQ(Run({"simulate", "t-1", "--system", network_, "--project", size, "--algorithm",
                   "ALL_REDUCE=t-5", "--algorithm", "17=traces/t-6@1024"}),
              kExitOk)
        << err();
  }
  ASSERT_EQ(fake_.created_jobs.size(), 3u);
  EXPECT_EQ(fake_.created_jobs[0].spec().projection().group(), "a=b");
  EXPECT_EQ(fake_.created_jobs[0].spec().projection().multiply_by(), 2);
  EXPECT_EQ(fake_.created_jobs[1].spec().projection().divide_by(), 3);
  EXPECT_EQ(fake_.created_jobs[2].spec().projection().new_size(), 16);
  const auto& algorithms = fake_.created_jobs[0].spec().custom_algorithms();
  ASSERT_EQ(algorithms.size(), 2);
  EXPECT_EQ(algorithms[0].type(), "ALL_REDUCE");
  EXPECT_EQ(algorithms[0].trace(), "traces/t-5");
  EXPECT_EQ(algorithms[1].node_ids(0), 17u);
  EXPECT_EQ(algorithms[1].trace(), "traces/t-6");
  EXPECT_EQ(algorithms[1].total_bytes(), 1024);
}

TEST_F(ChakraTest, AstraSimsFilesHaveTheirOwnOptions) {
  EXPECT_EQ(Run({"simulate", "t-1", "--network", network_, "--system_json", system_,
                 "--remote-memory", system_}),
            kExitOk)
      << err();
  const v1::SimulationSpec& spec = fake_.created_jobs.at(0).spec();
  EXPECT_EQ(spec.network_yaml(), "topology: [ Ring ]\n");
  EXPECT_EQ(spec.system_json() + spec.remote_memory_json() + spec.system_yaml(), "{}{}");
}

TEST_F(ChakraTest, ResultsGoIntoFilesWhenAskedAndThatWaits) {
  EXPECT_EQ(Run({"simulate", "t-1", "--system", system_, "--csv", folder_.Path("out/deep"),
                 "--json", folder_.Path("job.json")}),
            kExitOk)
      << err();
  EXPECT_TRUE(OutHas("jobs/j-1 SUCCEEDED")) << out();
  EXPECT_EQ(folder_.Read("out/deep/ranks.csv").substr(0, 27), "ranks,ranks_count,end_ns,co");
  EXPECT_EQ(Json::parse(folder_.Read("job.json"))["result"]["ranks"][1]["end_ns"], 2000000.001);
  EXPECT_EQ(Run({"jobs", "show", "j-1", "--csv", folder_.Path("again")}), kExitOk) << err();
  EXPECT_EQ(folder_.Read("again/ranks.csv"), folder_.Read("out/deep/ranks.csv"));
  EXPECT_EQ(Run({"jobs", "show", "j-1", "--json", "-"}), kExitUsage);
  EXPECT_EQ(Run({"jobs", "show", "j-1", "--csv", network_}), kExitFailed) << "a file is there";
}

TEST_F(ChakraTest, WatchShowsEachRanksTimesThroughABrokenStream) {
  fake_.broken_watches = 2;
  EXPECT_EQ(Run({"simulate", "t-1", "--network", network_, "--system", system_, "--watch"}),
            kExitOk)
      << err();
  EXPECT_TRUE(OutHas("jobs/j-1 SUCCEEDED")) << out();
  EXPECT_TRUE(
      OutHas("   1  2.000    1.000          0.700          0.500     25.0"
             "          0.000  0.500\n"))
      << out();
}

TEST_F(ChakraTest, JsonTimesAreExactNanoseconds) {
  EXPECT_EQ(Run({"jobs", "show", "j-1", "--output", "json"}), kExitOk) << err();
  EXPECT_TRUE(OutHas("\"end_ns\": 2000000.001")) << out();
  EXPECT_EQ(json()["result"]["ranks"][0]["end_ns"], 2000000);
  EXPECT_EQ(json()["result"]["ranks"][0]["exposed_comm_ns"], 500000);
}

TEST_F(ChakraTest, ManyRanksAreSummedUpUnlessAskedFor) {
  SetRanks(17);
  EXPECT_EQ(Run({"jobs", "show", "j-1"}), kExitOk) << err();
  EXPECT_TRUE(OutHas("last to end: 16")) << out();
  EXPECT_TRUE(OutHas("17 ranks; --all-ranks shows each")) << out();
  EXPECT_EQ(Run({"jobs", "show", "j-1", "--all-ranks"}), kExitOk) << err();
  EXPECT_TRUE(OutHas("\n  16  2.000")) << out();
}

TEST_F(ChakraTest, AFailedJobIsFourForThoseWhoWaitAndZeroForThoseWhoLook) {
  fake_.job.set_state(v1::Job::FAILED);
  fake_.job.set_error("rank 1 waits for group 0");
  fake_.job.clear_result();
  EXPECT_EQ(Run({"jobs", "watch", "j-1"}), kExitJobFailed);
  EXPECT_EQ(err(), "chakra: jobs/j-1 failed: rank 1 waits for group 0\n");
  EXPECT_EQ(Run({"simulate", "t-1", "--network", network_, "--system", system_, "--watch"}),
            kExitJobFailed);
  EXPECT_EQ(Run({"jobs", "show", "j-1"}), kExitOk);
  EXPECT_TRUE(OutHas("error: rank 1 waits for group 0")) << out();
  EXPECT_EQ(Run({"jobs", "ls"}), kExitOk);
  EXPECT_TRUE(OutHas("FAILED")) << out();
}

TEST_F(ChakraTest, TimelineIsAWholeFileOrNone) {
  v1::TimelineChunk chunk;
  chunk.add_names("gemm");
  chunk.add_queues("stream 7");
  chunk.add_rank(0);
  chunk.add_node_id(5);
  chunk.add_start_ps(1);
  chunk.add_dur_ps(2);
  chunk.add_name(0);
  chunk.add_kind(v1::TimelineChunk::COMPUTE);
  chunk.add_queue(0);
  fake_.timeline = {chunk};
  const std::string path = folder_.Path("timeline.json");
  EXPECT_EQ(Run({"timeline", "j-1", "-o", path, "--rank", "0", "--rank", "1"}), kExitOk) << err();
  EXPECT_EQ(out(), "wrote 1 intervals of 1 ranks to " + path + "\n");
  EXPECT_EQ(fake_.timeline_ranks, (std::vector<int32_t>{0, 1}));
  const Json document = Json::parse(folder_.Read("timeline.json"));
  EXPECT_EQ(document["traceEvents"].back()["name"], "gemm");
  EXPECT_EQ(Run({"timeline", "j-1", "-o", "-"}), kExitOk) << err();
  EXPECT_EQ(json(), document);

  fake_.timeline[0].set_queue(0, 9);
  EXPECT_EQ(Run({"timeline", "j-1", "-o", folder_.Path("bad.json")}), kExitFailed);
  EXPECT_FALSE(folder_.Has("bad.json"));
  EXPECT_FALSE(folder_.Has("bad.json.partial"));
  EXPECT_EQ(Run({"timeline", "j-1", "-o", folder_.Path("no/such/folder.json")}), kExitFailed);
}

}  // namespace
}  // namespace chakrad::client
