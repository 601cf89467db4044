#include "trace/import/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "trace/readers/testing/tar.h"

namespace chakrad {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

std::string Kineto(int rank, int world_size) {
  const std::string info = rank < 0 ? ""
                                    : absl::StrCat(R"("distributedInfo":{"rank":)", rank,
                                                   R"(,"world_size":)", world_size, "},");
  return absl::StrCat(R"({"schemaVersion":1,)", info,
                      R"("traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,)"
                      R"("tid":1,"ts":100,"dur":10,"args":{"External id":1}}]})");
}

std::string Et() {
  const auto node = [](int id, int parent, absl::string_view name) {
    return absl::StrCat(
        R"({"name":")", name, R"(","id":)", id, R"(,"rf_id":)", id > 2 ? id : 0, R"(,"parent":)",
        parent, R"(,"fw_parent":0,"seq_id":-1,"scope":0,"tid":1,"fw_tid":0,"op_schema":"",)",
        R"("inputs":[],"input_shapes":[],"input_types":[],"outputs":[],"output_shapes":[],)",
        R"("output_types":[]})");
  };
  return absl::StrCat(
      R"({"schema":"1.0.1","pid":1,"time":"x","start_ts":1,"nodes":[)", node(3, 2, "aten::mm"), ",",
      node(2, 1, "[pytorch|profiler|execution_graph|thread]"), ",",
      node(1, 1, "[pytorch|profiler|execution_graph|process]"), R"(],"finish_ts":2})");
}

class ImportTest : public ::testing::Test {
 protected:
  void File(const std::string& name, const std::string& text) {
    const std::string path =
        absl::StrCat(std::getenv("TEST_TMPDIR"), "/",
                     ::testing::UnitTest::GetInstance()->current_test_info()->name(), "_", name);
    std::ofstream(path) << text;
    files_.push_back({name, path});
  }
  absl::StatusOr<ImportResult> Import() { return ImportTrace(files_, options_); }

  std::vector<ImportFile> files_;
  ImportOptions options_;
};

TEST_F(ImportTest, FilesOfOneRankAreJoinedByTheirNames) {
  File("rank1.kineto.json", Kineto(-1, 0));
  File("rank0.et.json", Et());
  File("rank1.et.json", Et());
  File("rank0.kineto.json", Kineto(-1, 0));
  File("manifest.json", R"({"world_size":2,"process_groups":{"world":[0,1]}})");
  ASSERT_OK_AND_ASSIGN(const ImportResult result, Import());
  EXPECT_EQ(result.trace.world_size, 2);
  ASSERT_EQ(result.trace.ranks.size(), 2u);
  EXPECT_EQ(result.trace.ranks[1].rank, 1);
  ASSERT_EQ(result.ledgers.size(), 5u);
  EXPECT_EQ(result.ledgers[0].file, "rank1.kineto.json");
  EXPECT_EQ(result.ledgers[0].merged_by_rule.at("host_op"), 1);
  for (const Ledger& ledger : result.ledgers) EXPECT_TRUE(ledger.Balanced()) << ledger.file;
}

TEST_F(ImportTest, TheRankInTheFileComesBeforeItsName) {
  File("rank0.json", Kineto(3, 4));
  ASSERT_OK_AND_ASSIGN(const ImportResult result, Import());
  EXPECT_EQ(result.trace.ranks[0].rank, 3);
  EXPECT_EQ(result.trace.world_size, 4);
}

TEST_F(ImportTest, OnePairWithoutRanksIsRankZeroAndSaidSo) {
  File("et.json", Et());
  File("kineto.json", Kineto(-1, 0));
  ASSERT_OK_AND_ASSIGN(const ImportResult result, Import());
  ASSERT_EQ(result.trace.ranks.size(), 1u);
  EXPECT_EQ(result.trace.ranks[0].rank, 0);
  EXPECT_EQ(result.trace.world_size, 1);
  EXPECT_FALSE(result.notices.empty());
}

TEST_F(ImportTest, AnExecutionTraceWithoutRankTakesItsOnlyPartners) {
  File("et.json", Et());
  File("kineto.json", Kineto(2, 4));
  ASSERT_OK_AND_ASSIGN(const ImportResult result, Import());
  ASSERT_EQ(result.trace.ranks.size(), 1u);
  EXPECT_EQ(result.trace.ranks[0].rank, 2);
}

TEST_F(ImportTest, TheUsersWordGoesBeforeTheFilesAndTheNames) {
  File("a.json", Et());
  File("b.json", Et());
  options_.settings.rank_by_file = {{"a.json", 1}, {"b.json", 0}};
  options_.settings.world_size = 2;
  ASSERT_OK_AND_ASSIGN(const ImportResult result, Import());
  EXPECT_EQ(result.trace.ranks.size(), 2u);
  files_.clear();
  File("c.json", Kineto(1, 2));
  options_.settings.rank_by_file = {{"c.json", 0}};
  ASSERT_OK_AND_ASSIGN(const ImportResult given, Import());
  EXPECT_EQ(given.trace.ranks[0].rank, 0);
  EXPECT_THAT(given.notices,
              ::testing::Contains(::testing::HasSubstr(
                  "c.json: taken for rank 0, as given; the file itself says rank 1")));
  options_.settings.world_size = 64;
  ASSERT_OK_AND_ASSIGN(const ImportResult world, Import());
  EXPECT_EQ(world.trace.world_size, 2);
  EXPECT_THAT(world.notices, ::testing::Contains(::testing::HasSubstr("the given 64 is not used")));
  options_.settings.rank_by_file = {{"d.json", 0}};
  EXPECT_THAT(Import(), StatusIs(kInvalid, "rank_by_file: no file is named d.json"));
}

TEST_F(ImportTest, TwoFilesForOneRankNameBothAndWhatToDo) {
  File("a.rank0.json", Kineto(0, 2));
  File("b.json", Kineto(0, 2));
  EXPECT_THAT(Import(), StatusIs(kInvalid, "rank 0: claimed by both a.rank0.json (Kineto"));
  EXPECT_THAT(Import(), StatusIs(kInvalid, "b.json"));
  EXPECT_THAT(Import(), StatusIs(kInvalid, "under \"files\" in a manifest"));
}

TEST_F(ImportTest, OneExecutionTraceTwiceIsRefused) {
  File("rank0.et.json", Et());
  File("rank0.copy.et.json", Et());
  EXPECT_THAT(Import(), StatusIs(kInvalid, "claimed by both"));
}

TEST_F(ImportTest, SeveralFilesWithoutRanksSayHowToNameThem) {
  File("a.json", Et());
  File("b.json", Et());
  EXPECT_THAT(Import(), StatusIs(kInvalid, "a.json, b.json: the rank is not in the file"));
  EXPECT_THAT(Import(), StatusIs(kInvalid, "rank0.et.json"));
}

TEST_F(ImportTest, AWorldSmallerThanARankIsRefused) {
  File("rank5.et.json", Et());
  File("manifest.json", R"({"world_size":4,"process_groups":{}})");
  EXPECT_THAT(Import(), StatusIs(kInvalid,
                                 "rank5.et.json: rank: 5 is not in [0, 4), the world "
                                 "size that manifest.json states"));
}

TEST_F(ImportTest, FilesThatDisagreeAboutTheWorldAreRefused) {
  File("rank0.json", Kineto(0, 2));
  File("rank1.json", Kineto(1, 4));
  EXPECT_THAT(Import(), StatusIs(kInvalid, "world size: rank0.json says 2, rank1.json says 4"));
}

TEST_F(ImportTest, NothingOrOnlyAManifestIsRefused) {
  EXPECT_THAT(Import(), StatusIs(kInvalid, "files: none"));
  File("manifest.json", R"({"world_size":2,"process_groups":{}})");
  EXPECT_THAT(Import(), StatusIs(kInvalid, "manifest.json: only a manifest"));
  File("second.json", R"({"world_size":2,"process_groups":{}})");
  EXPECT_THAT(Import(), StatusIs(kInvalid, "a second manifest, beside manifest.json"));
}

TEST_F(ImportTest, AFileOfAllRanksIsATraceByItself) {
  File("mlp.graph", R"x(digraph taskgraph {
    node0 [label="{device_id=0|Dense|Forward|COMP_NODE|simulated_run_time=0.5}"];
    node1 [label="{device_id=2|Comm from 0 to 1|Comm|COMM_SEND_RECV_NODE|src_device_id=0|dst_device_id=1|comm_size=4096|run_time=0.5}"];
    node2 [label="{device_id=1|Dense|Forward|COMP_NODE|simulated_run_time=0.5}"];
    node0 -> node1; node1 -> node2; })x");
  ASSERT_OK_AND_ASSIGN(const ImportResult result, Import());
  ASSERT_EQ(result.trace.ranks.size(), 2u);
  EXPECT_EQ(result.trace.ranks[0].comm.at(0).peer, 1);
  EXPECT_TRUE(result.ledgers[0].Balanced());
  options_.settings.rank_by_file["mlp.graph"] = 0;
  EXPECT_THAT(Import(), StatusIs(kInvalid, "mlp.graph: rank_by_file: the file holds 2 ranks"));
}

TEST_F(ImportTest, ATextWorkloadIsWrittenForAsManyNpusAsTheUserOrTheManifestSays) {
  File("dp.txt", "DATA\n1\nconv1 -1 5 NONE 0 5 NONE 0 5 ALLREDUCE 1048576 5\n");
  EXPECT_THAT(Import(), StatusIs(kInvalid, "--world-size"));
  options_.settings.world_size = 4;
  ASSERT_OK_AND_ASSIGN(const ImportResult four, Import());
  EXPECT_EQ(four.trace.ranks.size(), 4u);
  options_.settings.world_size = 0;
  File("manifest.json", R"({"world_size":2})");
  ASSERT_OK_AND_ASSIGN(const ImportResult two, Import());
  EXPECT_EQ(two.trace.ranks.size(), 2u);
}

TEST_F(ImportTest, BrokenJsonIsRepairedOnlyWhenAskedAndEveryRepairIsCounted) {
  std::string broken = Et();
  const size_t comma = broken.find("},{");
  ASSERT_NE(comma, std::string::npos);
  broken.erase(comma + 1, 1);  // Two nodes without a comma between them.
  File("rank0.et.json", broken);
  EXPECT_THAT(Import(), StatusIs(kInvalid, "rank0.et.json: byte offset"));
  options_.settings.repair = true;
  ASSERT_OK_AND_ASSIGN(const ImportResult result, Import());
  EXPECT_EQ(result.ledgers[0].flaws_by_rule.at("repaired_comma"), 1);
  EXPECT_EQ(result.ledgers[0].kept, 3);
  EXPECT_TRUE(result.ledgers[0].Balanced());
  EXPECT_EQ(result.report.count_by_rule.at("repaired_comma"), 1);
}

TEST_F(ImportTest, AnArchiveStandsForTheFilesInside) {
  File("run.tar", Tar({{"run/README.md", "notes"},
                       {"run/rank0.json", Kineto(0, 2)},
                       {"run/rank1.json", Kineto(1, 2)}}));
  ASSERT_OK_AND_ASSIGN(const ImportResult result, Import());
  EXPECT_EQ(result.trace.ranks.size(), 2u);
  ASSERT_EQ(result.ledgers.size(), 2u);
  EXPECT_EQ(result.ledgers[1].file, "run.tar/run/rank1.json");
  EXPECT_THAT(result.notices,
              ::testing::Contains(::testing::HasSubstr("an archive of 3 files; 1 others")));
}

// The report once ended in a crash: the rank's place was made before its rival was seen.
TEST_F(ImportTest, AReportOfARankThatTwoFilesClaimKeepsTheFirst) {
  const std::string graph =
      R"x(digraph g { node0 [label="{device_id=0|a|Forward|COMP_NODE|simulated_run_time=1}"]; })x";
  for (const auto& [first, second] :
       {std::pair<std::string, std::string>(Kineto(0, 2), Kineto(0, 2)),
        std::pair<std::string, std::string>(graph, graph),
        std::pair<std::string, std::string>(graph, Kineto(0, 2))}) {
    files_.clear();
    File("a", first);
    File("b", second);
    options_.report_only = true;
    ASSERT_OK_AND_ASSIGN(const ImportResult result, Import());
    EXPECT_EQ(result.trace.ranks.size(), 1u);
    EXPECT_EQ(result.ledgers[0].flaws.size() + result.ledgers[1].flaws.size(), 1u);
    options_.report_only = false;
    EXPECT_THAT(Import(), StatusIs(kInvalid, "claimed by both"));
  }
}

TEST_F(ImportTest, AReportComesEvenWhereRanksCannotBeDecided) {
  options_.report_only = true;
  File("a.json", Kineto(-1, 0));
  File("b.json", Kineto(-1, 0));
  ASSERT_OK_AND_ASSIGN(const ImportResult without, Import());
  EXPECT_EQ(without.report.count_by_rule.at("unreadable_file"), 2);
  files_.clear();
  File("rank5.json", Kineto(-1, 0));
  options_.settings.world_size = 2;
  ASSERT_OK_AND_ASSIGN(const ImportResult beyond, Import());
  EXPECT_THAT(beyond.ledgers[0].flaws.at(0).reason, ::testing::HasSubstr("5 is not in [0, 2)"));
}

TEST_F(ImportTest, ErrorsNameTheFileOnceAndTheRepairThatWouldHelp) {
  File("rank0.json", Kineto(0, 1).substr(0, 120));
  const absl::Status status = Import().status();
  EXPECT_THAT(status, StatusIs(kInvalid, "--repair"));
  EXPECT_EQ(std::string(status.message()).find("rank0.json: "), 0u);
  EXPECT_EQ(std::string(status.message()).rfind("rank0.json: "), 0u);
}

TEST_F(ImportTest, AnArchiveWithoutATraceFileIsRefused) {
  File("run.tar", Tar({{"run/README.md", "notes"}}));
  EXPECT_THAT(Import(), StatusIs(kInvalid, "run.tar: none of the 1 files inside"));
}

TEST_F(ImportTest, AReportGoesOnWithoutTheFilesThatCannotBeRead) {
  File("rank0.kineto.json", Kineto(0, 3));
  File("rank1.kineto.json", Kineto(1, 3).substr(0, 120));
  File("notes.html", "<html><body>Log in</body></html>");
  options_.report_only = true;
  ASSERT_OK_AND_ASSIGN(const ImportResult result, Import());
  EXPECT_EQ(result.trace.ranks.size(), 1u);
  EXPECT_EQ(result.trace.world_size, 3);
  ASSERT_EQ(result.ledgers.size(), 3u);
  EXPECT_TRUE(result.ledgers[0].flaws.empty());
  EXPECT_EQ(result.ledgers[1].flaws_by_rule.at("unreadable_file"), 1);
  EXPECT_THAT(result.ledgers[2].flaws.at(0).reason, ::testing::HasSubstr("HTML"));

  files_.erase(files_.begin());
  ASSERT_OK_AND_ASSIGN(const ImportResult nothing, Import());
  EXPECT_TRUE(nothing.trace.ranks.empty());
  EXPECT_EQ(nothing.ledgers[0].flaws_by_rule.count("unreadable_file"), 1u);
}

TEST_F(ImportTest, BadBytesNameTheFile) {
  File("page.json", "<html><body>Log in</body></html>");
  EXPECT_THAT(Import(), StatusIs(kInvalid, "page.json: "));
  files_.clear();
  File("rank0.json", Kineto(0, 1).substr(0, 120));
  EXPECT_THAT(Import(), StatusIs(kInvalid, "rank0.json: "));
  files_ = {{"gone.json", "/nonexistent/gone.json"}};
  EXPECT_THAT(Import(), StatusIs(absl::StatusCode::kNotFound, "gone.json"));
}

}  // namespace
}  // namespace chakrad
