// Whole recorded runs through the import: what was communicated, with whom, and
// whether the graph, run again, takes as long as the run did.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "trace/import/import.h"
#include "trace/link/reference_replay.h"
#include "trace/model/trace_summary.h"

namespace chakrad {
namespace {

absl::StatusOr<ImportResult> ImportFolder(const std::string& folder,
                                          const std::string& suffix = "") {
  std::vector<ImportFile> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.find(suffix) == std::string::npos && name != "manifest.json") continue;
    files.push_back({name, entry.path().string()});
  }
  return ImportTrace(files, ImportOptions());
}

std::string Collected(const std::string& name) { return "tests/data/collected/" + name; }

double ReplayErrorPercent(const RankTrace& rank) {
  const double recorded = static_cast<double>(RecordedSpanNs(rank));
  return 100 * (static_cast<double>(ReplayRecorded(rank).span_ns) - recorded) / recorded;
}

class CollectedTest : public ::testing::TestWithParam<const char*> {};

TEST_P(CollectedTest, NothingIsLostAndEveryOperationHasItsTimes) {
  ASSERT_OK_AND_ASSIGN(const ImportResult result, ImportFolder(Collected(GetParam())));
  for (const Ledger& ledger : result.ledgers) {
    EXPECT_TRUE(ledger.Balanced()) << ledger.file;
    EXPECT_EQ(ledger.rejected, 0) << ledger.file;
  }
  EXPECT_EQ(static_cast<int>(result.trace.ranks.size()), result.trace.world_size);
  for (const RankTrace& rank : result.trace.ranks) {
    for (uint32_t node = 0; node < rank.size(); ++node) {
      if (!IsComm(rank.type[node])) continue;
      EXPECT_NE(rank.start_ns[node], kUnknownNs) << DescribeNode(rank, node);
      EXPECT_GT(rank.CommOf(node)->bytes, 0) << DescribeNode(rank, node);
    }
  }
}

// Runs on two busy cores: 0.5 % leaves room for what a model of edges cannot say.
TEST_P(CollectedTest, ReplayedWithRecordedDurationsTheSpanIsAsRecorded) {
  ASSERT_OK_AND_ASSIGN(const ImportResult result, ImportFolder(Collected(GetParam())));
  for (const RankTrace& rank : result.trace.ranks) {
    EXPECT_LT(std::abs(ReplayErrorPercent(rank)), 0.5) << "rank " << rank.rank;
  }
}

TEST_P(CollectedTest, EveryCommunicationIsLaunchedAndWaitedFor) {
  ASSERT_OK_AND_ASSIGN(const ImportResult result, ImportFolder(Collected(GetParam())));
  for (const RankTrace& rank : result.trace.ranks) {
    std::vector<bool> waited(rank.size(), false);
    for (uint32_t i = 0; i < rank.dep_node.size(); ++i) {
      if (rank.dep_kind[i] == EdgeKind::kSync) waited[rank.dep_node[i]] = true;
    }
    for (uint32_t node = 0; node < rank.size(); ++node) {
      if (!IsComm(rank.type[node])) continue;
      EXPECT_TRUE(waited[node]) << rank.rank << " " << DescribeNode(rank, node);
      bool launched = false;
      for (uint32_t j = rank.dep_begin[node]; j < rank.dep_begin[node + 1]; ++j) {
        if (rank.dep_kind[j] != EdgeKind::kLaunch) continue;
        launched = true;
        EXPECT_LE(rank.start_ns[rank.dep_node[j]], rank.start_ns[node]);
      }
      EXPECT_TRUE(launched) << rank.rank << " " << DescribeNode(rank, node);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Workloads, CollectedTest,
                         ::testing::Values("dlrm/w4", "mlp_dp/w2", "transformer_dp_tp/w4",
                                           "transformer_pp/w2"));

// Counts as the recording's own table has them.
TEST(CollectedCountsTest, CommunicationIsAsTheTableOfTheRecordingSays) {
  struct Case {
    const char* name;
    int64_t all_reduces, broadcasts, all_to_alls, sends, recvs;
  };
  for (const Case& c :
       {Case{"dlrm/w4", 2, 2, 4, 0, 0}, Case{"mlp_dp/w2", 6, 2, 0, 0, 0},
        Case{"transformer_dp_tp/w4", 20, 2, 0, 0, 0}, Case{"transformer_pp/w2", 0, 0, 0, 8, 8}}) {
    ASSERT_OK_AND_ASSIGN(const ImportResult result, ImportFolder(Collected(c.name)));
    for (const RankTrace& rank : result.trace.ranks) {
      std::map<std::string, CommCount> comm = SummarizeRank(rank).comm_by_type;
      EXPECT_EQ(comm["ALL_REDUCE"].count, c.all_reduces) << c.name;
      EXPECT_EQ(comm["BROADCAST"].count, c.broadcasts) << c.name;
      EXPECT_EQ(comm["ALL_TO_ALL"].count, c.all_to_alls) << c.name;
      EXPECT_EQ(comm["SEND"].count, c.sends) << c.name;
      EXPECT_EQ(comm["RECV"].count, c.recvs) << c.name;
    }
  }
}

// 4 microbatches, 2 steps: each rank sends as often as it receives, 32 KiB
// (2 x 32 x 128 floats), with the other rank.
TEST(CollectedCountsTest, SendsAndReceivesHavePeersSizesAndMatch) {
  ASSERT_OK_AND_ASSIGN(const ImportResult result, ImportFolder(Collected("transformer_pp/w2")));
  for (const RankTrace& rank : result.trace.ranks) {
    for (const CommOp& comm : rank.comm) {
      EXPECT_EQ(comm.peer, 1 - rank.rank);
      EXPECT_EQ(comm.bytes, 2 * 32 * 128 * 4);
      EXPECT_EQ(comm.tag, 0);
    }
  }
}

// The recorder named no groups: 16 tensor-parallel and 4 data-parallel
// all-reduces a rank are told apart by where they were called.
TEST(CollectedCountsTest, DataAndTensorParallelGroupsAreToldApartWithAndWithoutTimes) {
  for (const char* suffix : {"", ".et."}) {
    ASSERT_OK_AND_ASSIGN(const ImportResult result,
                         ImportFolder(Collected("transformer_dp_tp/w4"), suffix));
    for (const RankTrace& rank : result.trace.ranks) {
      std::map<std::string, int> all_reduces, broadcasts;
      for (const CommOp& comm : rank.comm) {
        const ProcessGroup& group = result.trace.groups[comm.group];
        EXPECT_TRUE(std::count(group.ranks.begin(), group.ranks.end(), rank.rank)) << rank.rank;
        ++(comm.collective == CollectiveType::kAllReduce ? all_reduces
                                                         : broadcasts)[group.name.substr(0, 2)];
      }
      EXPECT_EQ(all_reduces, (std::map<std::string, int>{{"tp", 16}, {"dp", 4}})) << suffix;
      EXPECT_EQ(broadcasts, (std::map<std::string, int>{{"dp", 2}})) << suffix;
    }
  }
}

TEST(CollectedCountsTest, OneSourceAloneKeepsEveryCommunication) {
  for (const char* suffix : {".et.", ".kineto."}) {
    ASSERT_OK_AND_ASSIGN(const ImportResult result, ImportFolder(Collected("mlp_dp/w2"), suffix));
    for (const RankTrace& rank : result.trace.ranks) {
      std::map<std::string, CommCount> comm = SummarizeRank(rank).comm_by_type;
      EXPECT_EQ(comm["ALL_REDUCE"].count, 6) << suffix;
      EXPECT_EQ(comm["BROADCAST"].count, 2) << suffix;
    }
  }
}

std::vector<uint32_t> CommByStart(const RankTrace& rank) {
  std::vector<uint32_t> nodes;
  for (uint32_t node = 0; node < rank.size(); ++node) {
    if (IsComm(rank.type[node])) nodes.push_back(node);
  }
  std::sort(nodes.begin(), nodes.end(),
            [&rank](uint32_t a, uint32_t b) { return rank.start_ns[a] < rank.start_ns[b]; });
  return nodes;
}

// The graph's use: one run recorded on a fast network, one on a slow one, of a
// model whose compute is exactly the same. The graph of either, with the other's
// communication times put in, must take as long as the other run took. Wrong
// waits show: charged as compute they stay, missing ones hide communication.
TEST(CollectedPredictionTest, AGraphPredictsTheRunOnAnotherNetwork) {
  const std::string folder = "trace/import/testdata/sleepnet_dp_w2/";
  ASSERT_OK_AND_ASSIGN(const ImportResult fast, ImportFolder(folder + "rate_none"));
  ASSERT_OK_AND_ASSIGN(const ImportResult slow, ImportFolder(folder + "rate_100"));
  for (const auto& [from, to] : {std::pair(&fast, &slow), std::pair(&slow, &fast)}) {
    for (size_t r = 0; r < from->trace.ranks.size(); ++r) {
      RankTrace rank = from->trace.ranks[r];
      const RankTrace& other = to->trace.ranks[r];
      const std::vector<uint32_t> here = CommByStart(rank), there = CommByStart(other);
      ASSERT_EQ(here.size(), 12u);
      ASSERT_EQ(there.size(), 12u);
      for (size_t i = 0; i < here.size(); ++i) {
        rank.work_ns[here[i]] = other.work_ns[there[i]];
      }
      const double recorded = static_cast<double>(RecordedSpanNs(other));
      const double predicted = static_cast<double>(ReplayRecorded(rank).span_ns);
      EXPECT_NEAR(predicted / recorded, 1, 0.02) << r << " of " << recorded << " ns";
    }
  }
  // The two differ by far more than the tolerance.
  EXPECT_GT(RecordedSpanNs(slow.trace.ranks[0]), 3 * RecordedSpanNs(fast.trace.ranks[0]));
}

}  // namespace
}  // namespace chakrad
