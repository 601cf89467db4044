#include "trace/readers/flexflow/flexflow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "chakra/et_def.pb.h"
#include "common/status_matchers.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/limits.h"
#include "trace/readers/testing/sources.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

absl::StatusOr<std::vector<RankTrace>> Read(absl::string_view text, Ledger* ledger,
                                            bool lenient = false) {
  PiecewiseSource source(text, 3);
  return ReadFlexFlow(&source, {.lenient = lenient}, ledger);
}
absl::Status ReadStatus(absl::string_view text) {
  Ledger ledger;
  return Read(text, &ledger).status();
}

std::string Comp(int id, int device, const char* name, const char* type, const char* ms) {
  return absl::StrCat("  node", id, " [color=red,label=\"{device_id=", device, "|", name, "|", type,
                      "|COMP_NODE|simulated_run_time=", ms, "}\",shape=record];\n");
}
std::string Transfer(int id, int src, int dst, const char* bytes) {
  return absl::StrCat("  node", id, " [label=\"{device_id=9|Comm from A to B|Comm|",
                      "COMM_SEND_RECV_NODE|src_device_id=", src, "|dst_device_id=", dst,
                      "|comm_size=", bytes, "|run_time=0.25}\",shape=record];\n");
}
std::string Graph(const std::vector<std::string>& statements) {
  return absl::StrCat("digraph taskgraph {", absl::StrJoin(statements, ""), "}");
}

// "4 COMP_NODE Dense Forward <- 2, 3" for each node, dependencies by id.
std::vector<std::string> Describe(const RankTrace& rank) {
  std::vector<std::string> lines;
  for (uint32_t node = 0; node < rank.size(); ++node) {
    std::string line =
        absl::StrCat(rank.id[node], " ", NodeTypeName(rank.type[node]), " ", rank.NameOf(node));
    for (uint32_t i = rank.dep_begin[node]; i < rank.dep_begin[node + 1]; ++i) {
      absl::StrAppend(&line, i == rank.dep_begin[node] ? " <- " : ", ", rank.id[rank.dep_node[i]]);
    }
    lines.push_back(line);
  }
  return lines;
}

// Device 0: 0 -> transfer 1 (to device 1) and 0 -> 2; device 1: 1 -> 3.
std::string TwoDevices() {
  return Graph({Comp(0, 0, "Dense_100", "Forward", "0.279776"), "  node0 -> node1;\n",
                "  node0 -> node2;\n", Transfer(1, 0, 1, "4096"), "  node1 -> node3;\n",
                Comp(2, 0, "Barrier", "Barrier", "0"), Comp(3, 1, "Dense_100", "Backward", "1.5")});
}

TEST(FlexFlowTest, ATransferBecomesASendAndAReceiveThatMatch) {
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(const std::vector<RankTrace> ranks, Read(TwoDevices(), &ledger));
  ASSERT_EQ(ranks.size(), 2u);
  EXPECT_EQ(ranks[0].rank, 0);
  EXPECT_EQ(ranks[1].rank, 1);
  EXPECT_EQ(ranks[0].schema, "flexflow-labelled");
  EXPECT_THAT(Describe(ranks[0]),
              ElementsAre("0 COMP_NODE Dense_100 Forward", "1 COMM_SEND_NODE Comm from A to B <- 0",
                          "2 COMP_NODE Barrier <- 0"));
  EXPECT_THAT(Describe(ranks[1]), ElementsAre("1 COMM_RECV_NODE Comm from A to B",
                                              "3 COMP_NODE Dense_100 Backward <- 1"));
  const CommOp& send = *ranks[0].CommOf(1);
  const CommOp& receive = *ranks[1].CommOf(0);
  EXPECT_EQ(send.peer, 1);
  EXPECT_EQ(receive.peer, 0);
  EXPECT_EQ(send.bytes, 4096);
  EXPECT_EQ(receive.bytes, 4096);
  EXPECT_EQ(send.tag, receive.tag);
  EXPECT_THAT(ranks[0].work_ns, ElementsAre(279776, 250000, 0));
  EXPECT_THAT(ranks[1].dur_ns, ElementsAre(250000, 1500000));
  EXPECT_EQ(ranks[0].queues[ranks[0].queue[0]].raw_id, 0);
  EXPECT_EQ(ranks[0].queues[ranks[0].queue[1]].raw_id, 1);
  EXPECT_FALSE(ranks[0].is_host(0));
  EXPECT_EQ(ledger.kept, 4);
  EXPECT_THAT(ledger.merged_by_rule,
              ElementsAre(std::pair<const std::string, int64_t>("dependency", 3)));
  EXPECT_EQ(ledger.input_records, 7);
  EXPECT_TRUE(ledger.Balanced());
  EXPECT_THAT(ledger.flaws, IsEmpty());
  ASSERT_EQ(ledger.notices.size(), 1u);
  EXPECT_THAT(ledger.notices[0], HasSubstr("4 tasks, 1 of them transfers, on 2 devices"));
}

TEST(FlexFlowTest, TheLinkStaysInTheColdBlock) {
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(const std::vector<RankTrace> ranks, Read(TwoDevices(), &ledger));
  for (const auto& [rank, node] : {std::pair(0, 1), std::pair(1, 0)}) {
    ChakraProtoMsg::Node cold;
    const absl::string_view bytes = ranks[rank].ColdOf(node);
    ASSERT_TRUE(cold.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
    ASSERT_EQ(cold.attr_size(), 1);
    EXPECT_EQ(cold.attr(0).name(), "flexflow.link_id");
    EXPECT_EQ(cold.attr(0).int64_val(), 9);
  }
  EXPECT_EQ(ranks[0].ColdOf(0), "");
}

TEST(FlexFlowTest, MillisecondsAreRoundedHalfToEven) {
  const std::pair<const char*, int64_t> cases[] = {
      {"0.0000005", 0},  // Half a nanosecond.
      {"0.0000015", 2},
      {"0.0000025", 2},
      {"0.00000250000001", 3},
      {"1.5e-06", 2},
      {"9.54674e-07", 1},
      {"4.77837e-07", 0},
      {"2.64806", 2648060},
      {"1e3", 1'000'000'000},
      {"7776000000", kMaxRecordingNs},
      {"0.1", 100000},
      {"0", 0},
  };
  for (const auto& [ms, ns] : cases) {
    Ledger ledger;
    ASSERT_OK_AND_ASSIGN(const auto ranks,
                         Read(Graph({Comp(7, 0, "Dense", "Forward", ms)}), &ledger));
    EXPECT_THAT(ranks[0].dur_ns, ElementsAre(ns)) << ms;
    EXPECT_THAT(ranks[0].id, ElementsAre(7));
  }
}

TEST(FlexFlowTest, WhatFollowsATransferWaitsForTheEndOnItsOwnDevice) {
  // 1: 0 -> 1, after 0 on device 0 and after 2 on device 1, where it arrives; before 3
  // on device 0 and before 4 on device 1. 5: 1 -> 2, after 1 arrived.
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(
      const auto ranks,
      Read(Graph({Comp(0, 0, "a", "Forward", "1"), Transfer(1, 0, 1, "8"),
                  Comp(2, 1, "b", "Forward", "1"), Comp(3, 0, "c", "Forward", "1"),
                  Comp(4, 1, "d", "Forward", "1"), Transfer(5, 1, 2, "8"),
                  "node0 -> node1; node2 -> node1; node1 -> node3; node1 -> node4 node1->node5"}),
           &ledger));
  ASSERT_EQ(ranks.size(), 3u);
  EXPECT_THAT(Describe(ranks[0]),
              ElementsAre("0 COMP_NODE a Forward", "1 COMM_SEND_NODE Comm from A to B <- 0",
                          "3 COMP_NODE c Forward <- 1"));
  EXPECT_THAT(Describe(ranks[1]),
              ElementsAre("1 COMM_RECV_NODE Comm from A to B <- 2", "2 COMP_NODE b Forward",
                          "4 COMP_NODE d Forward <- 1", "5 COMM_SEND_NODE Comm from A to B <- 1"));
  EXPECT_THAT(Describe(ranks[2]), ElementsAre("5 COMM_RECV_NODE Comm from A to B"));
  EXPECT_EQ(ledger.merged, 5);
  EXPECT_NE(ranks[0].comm[0].tag, ranks[2].comm[0].tag);
}

TEST(FlexFlowTest, AnEdgeBetweenDevicesWithoutATransferIsAMessageOfNoBytes) {
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(const auto ranks,
                       Read(Graph({Comp(3, 0, "a", "Forward", "1"), Comp(8, 2, "b", "Forward", "1"),
                                   "node3 -> node8;"}),
                            &ledger));
  EXPECT_THAT(Describe(ranks[0]),
              ElementsAre("3 COMP_NODE a Forward", "9 COMM_SEND_NODE edge node3 -> node8 <- 3"));
  EXPECT_THAT(Describe(ranks[1]),
              ElementsAre("8 COMP_NODE b Forward <- 9", "9 COMM_RECV_NODE edge node3 -> node8"));
  EXPECT_EQ(ranks[0].comm[0].bytes, 0);
  EXPECT_EQ(ranks[0].comm[0].peer, 2);
  EXPECT_EQ(ledger.merged_by_rule["cross_device_edge"], 1);
  EXPECT_EQ(ledger.flaws_by_rule["flexflow_cross_device_edge"], 1);
  EXPECT_TRUE(ledger.Balanced());
}

TEST(FlexFlowTest, ATransferToItsOwnDeviceIsNoMessage) {
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(
      const auto ranks,
      Read(Graph({Transfer(0, 4, 4, "8"), Comp(1, 4, "a", "Forward", "1"), "node0 -> node1;"}),
           &ledger));
  ASSERT_EQ(ranks.size(), 1u);
  EXPECT_EQ(ranks[0].rank, 4);
  EXPECT_THAT(Describe(ranks[0]),
              ElementsAre("0 COMP_NODE Comm from A to B", "1 COMP_NODE a Forward <- 0"));
  EXPECT_EQ(ranks[0].work_ns[0], 250000);
  EXPECT_EQ(ledger.flaws_by_rule["flexflow_self_transfer"], 1);
}

constexpr char kStock[] = R"(digraph taskgraph {
  node0 [label="{ Dense_100 | Forward | { 0 | 0.5 } }",shape=record];
  node0 -> node1;
  node1 [label="{ Comm | { 0.5 | 0.75 } }",shape=record];
  node1 -> node2;
  node2 [label="{ Dense\_101 | Backward | { 0.75 | 1 } }",shape=record];
})";

TEST(FlexFlowTest, TheStockFormIsOneRankAndSaysWhatItLacks) {
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(const auto ranks, Read(kStock, &ledger));
  ASSERT_EQ(ranks.size(), 1u);
  EXPECT_EQ(ranks[0].rank, 0);
  EXPECT_EQ(ranks[0].schema, "flexflow-stock");
  EXPECT_THAT(Describe(ranks[0]),
              ElementsAre("0 COMP_NODE Dense_100 Forward", "1 COMP_NODE Comm <- 0",
                          "2 COMP_NODE Dense_101 Backward <- 1"));
  EXPECT_THAT(ranks[0].start_ns, ElementsAre(0, 500000, 750000));
  EXPECT_THAT(ranks[0].dur_ns, ElementsAre(500000, 250000, 250000));
  EXPECT_EQ(ranks[0].queues[ranks[0].queue[1]].raw_id, 1);
  EXPECT_EQ(ledger.flaws_by_rule["flexflow_no_devices"], 1);
  ASSERT_EQ(ledger.notices.size(), 2u);
  EXPECT_THAT(ledger.notices[1], HasSubstr("neither which device runs a task nor how many bytes"));
  EXPECT_TRUE(ledger.Balanced());
}

TEST(FlexFlowTest, DotIsReadInAllItsDressesThatWritersUse) {
  const std::string text = R"(# a line of the preprocessor
// a comment
strict DIGRAPH "a name" {
  graph [rankdir=LR, fontsize=9]; rankdir = TB;
  node [shape=record] edge[color=blue;weight=1.5]
  "node0":f0:n [ label = "{device_id=0|a \"b\" \| c|Forw" + "ard|COMP_NODE|simulated_run_time=1}" ] [x=-1]
  node1 [label="{device_id=0|two\
lines|Forward|COMP_NODE|simulated_run_time=1}", peripheries] /* and */ node2 [color=red,
   label="{device_id=0||Update|COMP_NODE|simulated_run_time=1}"]
  node0:f1 -> node1 -> node2 [color=red]
  ;;
}
// The end.
)";
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(const auto ranks, Read(text, &ledger));
  EXPECT_THAT(Describe(ranks[0]),
              ElementsAre("0 COMP_NODE a \"b\" | c Forward", "1 COMP_NODE twolines Forward <- 0",
                          "2 COMP_NODE Update <- 1"));
  EXPECT_EQ(ledger.input_records, 5);
}

TEST(FlexFlowTest, FaultsAreNamedWithOffsetAndLine) {
  const std::string good = Comp(0, 0, "a", "Forward", "1");
  const std::pair<std::string, const char*> cases[] = {
      {"", "byte offset 0, line 1: the file is empty"},
      {" \n ", "byte offset 3, line 2: the file is empty"},
      {"graph g {}", "an undirected graph"},
      {"hello", "does not start with \"digraph\""},
      {"digraph g {}", "holds no tasks"},
      {"digraph g {\n" + good + "node0 -- node1;}", "line 3: an undirected edge"},
      {"digraph g {\n subgraph x {}}", "byte offset 13, line 2: a subgraph"},
      {"digraph g { node0 -> {node1 node2} }", "a subgraph"},
      {"digraph g { node0 [label=<b>] }", "HTML-like"},
      {"digraph g { node [label=\"x\"] }", "a default label"},
      {"digraph g { node0 [=x] }", "an attribute's name is missing"},
      {"digraph g { node0 [label=] }", "an attribute's value is missing"},
      {"digraph g { node0 -> ; }", "a node's name is missing behind \"->\""},
      {"digraph g { node0 / }", "a '/' that starts no comment"},
      {"digraph g { task0 [label=\"x\"] }", "\"task0\" is not node<number>"},
      {"digraph g { node99999999999999999999 [label=\"x\"] }", "is not node<number>"},
      {"digraph g { node0; }", "node0: it has no label"},
      {Graph({good}) + " digraph h {}", "more text behind the graph's closing brace"},
      {Graph({good, Comp(0, 0, "b", "Forward", "1")}), "it was stated before, at byte offset 21"},
      {Graph({good, "node0 -> node7;"}), "edge node0 -> node7: node7 is not in the file"},
      {Graph({good, "node1 [label=\"{ a | Forward | { 0 | 1 } }\"];"}), "one file has one form"},
      {Graph({Comp(0, 0, "a", "Forward", "-1")}), "simulated_run_time: \"-1\" is no time in [0, "},
      {Graph({Comp(0, 0, "a", "Forward", "nan")}), "is no time in [0, "},
      {Graph({Comp(0, 0, "a", "Forward", "1e30")}), "is no time in [0, "},
      {Graph({Comp(0, -1, "a", "Forward", "1")}), "device_id: \"-1\" is no whole number"},
      {Graph({Comp(0, 0, "a|b", "Forward", "1")}), "is neither COMP_NODE nor COMM_SEND_RECV_NODE"},
      {Graph({Transfer(0, 0, 1, "-4")}), "comm_size: \"-4\" is no whole number"},
      {Graph({Transfer(0, 0, 1, "0.5")}), "comm_size: \"0.5\" is no whole number"},
      {Graph({Transfer(0, 0, 1, "99999999999999999999")}), "comm_size"},
      {"digraph g { node0 [label=\"{ a | Forward | { 2 | 1 } }\"] }", "ends before it starts"},
      {"digraph g { node0 [label=\"{ a | { Forward } | { 2 | 1 } }\"] }",
       "it is neither {device_id"},
      {"digraph g { node0 [label=\"{{{a}}}\"] }", "more than two braces"},
      {"digraph g { node0 [label=\"a\"] }", "it is not {field|field|...}"},
      {"digraph g { node0 [label=\"{a|b|c|d|e|f|g|h|i}\"] }", "more than eight fields"},
      {"digraph g { node0 [label=\"" + std::string(kMaxNameBytes + 1, 'x') + "\"] }",
       "a word of more than 1048576 bytes"},
  };
  for (const auto& [text, part] : cases) EXPECT_THAT(ReadStatus(text), StatusIs(kInvalid, part));
}

TEST(FlexFlowTest, LenientReadingLeavesOutWhatSaysNothing) {
  const std::string text =
      Graph({Comp(0, 0, "a", "Forward", "1"), "node1; node2 [label=\"?\"];",
             Comp(0, 0, "again", "Forward", "1"), "node0 -> node9; node1 -> node0;",
             Comp(3, 0, "\xff", "Forward", "1"), "node0 -> node3; node0 -> node3;"});
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(const auto ranks, Read(text, &ledger, true));
  EXPECT_THAT(Describe(ranks[0]),
              ElementsAre("0 COMP_NODE a Forward", "3 COMP_NODE ? Forward <- 0"));
  EXPECT_EQ(ledger.rejected_by_rule["flexflow_label"], 2);
  EXPECT_EQ(ledger.rejected_by_rule["duplicate_node_id"], 1);
  EXPECT_EQ(ledger.rejected_by_rule["missing_dependency"], 2);
  EXPECT_EQ(ledger.flaws_by_rule["duplicate_dependency"], 1);
  EXPECT_EQ(ledger.flaws_by_rule["text_not_utf8"], 1);
  EXPECT_EQ(ledger.input_records, 9);
  EXPECT_TRUE(ledger.Balanced());
}

TEST(FlexFlowTest, AFileCutAnywhereIsAnError) {
  for (const std::string& text : {TwoDevices(), std::string(kStock)}) {
    for (size_t size = 0; size < text.size(); ++size) {
      EXPECT_THAT(ReadStatus(text.substr(0, size)), StatusIs(kInvalid, "")) << size;
    }
  }
}

// Random graphs of up to 4 devices: nothing gets lost, whatever the edges are.
TEST(FlexFlowTest, TasksInAreNodesOutAndEveryEdgeIsKept) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&random](int bound) { return static_cast<int>(random() % bound); };
    const int size = 1 + below(20);
    std::vector<std::string> statements;
    int transfers = 0;
    for (int id = 0; id < size; ++id) {
      const int src = below(4), dst = below(4);
      if (below(2) == 0) {
        statements.push_back(Comp(id, src, "x", "Forward", "1"));
        continue;
      }
      statements.push_back(Transfer(id, src, dst, "64"));
      transfers += src != dst ? 1 : 0;
    }
    std::set<std::pair<int, int>> edges;
    for (int i = below(3 * size); i > 0 && size > 1; --i) {
      const int from = below(size - 1), to = from + 1 + below(size - 1 - from);
      if (!edges.insert({from, to}).second) continue;
      statements.push_back(absl::StrCat("node", from, " -> node", to, "\n"));
    }
    std::shuffle(statements.begin(), statements.end(), random);
    Ledger ledger;
    ASSERT_OK_AND_ASSIGN(const auto ranks, Read(Graph(statements), &ledger));
    const int64_t bridges = ledger.flaws_by_rule["flexflow_cross_device_edge"];
    size_t nodes = 0, dependencies = 0;
    int64_t tags = 0;
    for (const RankTrace& rank : ranks) {
      nodes += rank.size();
      dependencies += rank.dep_node.size();
      for (const CommOp& op : rank.comm) tags = std::max(tags, op.tag + 1);
    }
    EXPECT_EQ(nodes, size + transfers + 2 * bridges) << seed;
    EXPECT_EQ(dependencies, edges.size() + bridges) << seed;
    EXPECT_EQ(tags, transfers + bridges) << seed;
    EXPECT_EQ(ledger.kept, size);
    EXPECT_EQ(ledger.merged, static_cast<int64_t>(edges.size()));
    EXPECT_TRUE(ledger.Balanced());
  }
}

}  // namespace
}  // namespace chakrad
