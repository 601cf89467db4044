#include "trace/readers/astra_text/astra_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_matchers.h"
#include "trace/readers/limits.h"
#include "trace/readers/testing/sources.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

absl::StatusOr<std::vector<RankTrace>> Read(absl::string_view text, const AstraTextOptions& options,
                                            Ledger* ledger, bool lenient = false) {
  PiecewiseSource source(text, 5);
  return ReadAstraText(&source, options, {.lenient = lenient}, ledger);
}
absl::Status ReadStatus(absl::string_view text, AstraTextOptions options = {.npus_count = 4}) {
  Ledger ledger;
  return Read(text, options, &ledger).status();
}

// "3 b weight gradient ALL_REDUCE <- 2" for each node of rank 0.
std::vector<std::string> Program(absl::string_view text,
                                 AstraTextOptions options = {.npus_count = 4},
                                 Ledger* ledger = nullptr) {
  Ledger own;
  const auto ranks = Read(text, options, ledger == nullptr ? &own : ledger);
  EXPECT_TRUE(ranks.ok()) << ranks.status();
  std::vector<std::string> lines;
  if (!ranks.ok()) return lines;
  const RankTrace& rank = ranks->front();
  for (uint32_t node = 0; node < rank.size(); ++node) {
    EXPECT_EQ(rank.id[node], node);
    std::string line = absl::StrCat(node, " ", rank.NameOf(node));
    for (uint32_t i = rank.dep_begin[node]; i < rank.dep_begin[node + 1]; ++i) {
      absl::StrAppend(&line, i == rank.dep_begin[node] ? " <- " : ", ", rank.dep_node[i]);
    }
    lines.push_back(line);
  }
  return lines;
}

TEST(AstraTextTest, DataParallelTrainingOverlapsTheWeightGradients) {
  const std::string text =
      "DATA\n2\n"
      "a -1 10 NONE 0 20 NONE 0 30 ALLREDUCE 1024 5\n"
      "b -1 11 NONE 0 21 NONE 0 31 ALLREDUCE 2048 0\n";
  Ledger ledger;
  EXPECT_THAT(Program(text, {.npus_count = 2, .passes_count = 2}, &ledger),
              ElementsAre("0 a forward", "1 b forward <- 0", "2 b weight gradient <- 1",
                          "3 b weight gradient ALL_REDUCE <- 2", "4 b input gradient <- 2",
                          "5 a weight gradient <- 4", "6 a weight gradient ALL_REDUCE <- 5",
                          "7 a weight gradient update <- 6",
                          // The second pass.
                          "8 a forward <- 5, 7", "9 b forward <- 3, 8", "10 b weight gradient <- 9",
                          "11 b weight gradient ALL_REDUCE <- 10", "12 b input gradient <- 10",
                          "13 a weight gradient <- 12", "14 a weight gradient ALL_REDUCE <- 13",
                          "15 a weight gradient update <- 14"));
  EXPECT_EQ(ledger.kept, 2);
  EXPECT_EQ(ledger.merged_by_rule["header"], 2);
  EXPECT_TRUE(ledger.Balanced());
  EXPECT_THAT(ledger.flaws, IsEmpty());
  EXPECT_THAT(ledger.notices, ElementsAre(HasSubstr("in units of 1 ns")));
}

TEST(AstraTextTest, TimesSizesAndQueuesAreThoseOfTheFile) {
  const std::string text = "DATA\n1\na -1 10 NONE 0 20 NONE 0 30 ALLGATHER 1024 5";
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(const auto ranks,
                       Read(text, {.npus_count = 3, .time_unit_ns = 1000}, &ledger));
  ASSERT_EQ(ranks.size(), 3u);
  for (int32_t i = 0; i < 3; ++i) {
    const RankTrace& rank = ranks[i];
    EXPECT_EQ(rank.rank, i);
    EXPECT_EQ(rank.schema, "astra-sim-text DATA");
    EXPECT_THAT(rank.id, ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(rank.type, ElementsAre(NodeType::kComp, NodeType::kComp, NodeType::kCommColl,
                                       NodeType::kMetadata));
    EXPECT_THAT(rank.work_ns, ElementsAre(10000, 30000, kUnknownNs, 0));
    EXPECT_THAT(rank.start_ns, ElementsAre(kUnknownNs, kUnknownNs, kUnknownNs, kUnknownNs));
    EXPECT_THAT(rank.DenseGaps(), ElementsAre(0, 0, 0, 5000));
    EXPECT_THAT(rank.comm,
                ElementsAre(CommOp{.collective = CollectiveType::kAllGather, .bytes = 1024}));
    EXPECT_THAT(rank.groups, IsEmpty());
    EXPECT_EQ(rank.queues[rank.queue[0]].raw_id, 0);
    EXPECT_EQ(rank.queues[rank.queue[2]].raw_id, 1);
    EXPECT_FALSE(rank.is_host(0));
  }
}

TEST(AstraTextTest, NoneIsNoCommunication) {
  const std::string text =
      "MODEL\n2\n"
      "a -1 10 NONE 0 20 NONE 0 30 NONE 0 5\n"
      "b -1 11 ALLGATHER 8 21 ALLREDUCE 16 31 NONE 0 5\n";
  EXPECT_THAT(Program(text),
              ElementsAre("0 a forward", "1 b forward <- 0", "2 b forward ALL_GATHER <- 1",
                          "3 b forward update <- 2", "4 b input gradient <- 3",
                          "5 b input gradient ALL_REDUCE <- 4", "6 b input gradient update <- 5",
                          "7 b weight gradient <- 4",  // Beside the collective.
                          "8 a input gradient <- 6, 7", "9 a weight gradient <- 8"));
}

TEST(AstraTextTest, HybridKindsUseTheDimensionsOfTheirPhase) {
  const std::string layers =
      "\n2\n"
      "a -1 1 ALLGATHER 8 1 ALLREDUCE 16 1 ALLREDUCE 32 0\n"
      "b -1 1 ALLGATHER 8 1 ALLREDUCE 16 1 ALLREDUCE 32 0\n";
  Ledger ledger;
  EXPECT_THAT(Program("HYBRID_DATA_MODEL" + layers, {.npus_count = 4}, &ledger),
              ElementsAre("0 a forward", "1 a forward ALL_GATHER <- 0", "2 b forward <- 1",
                          "3 b forward ALL_GATHER <- 2", "4 b input gradient <- 3",
                          "5 b input gradient ALL_REDUCE <- 4", "6 b weight gradient <- 4",
                          "7 b weight gradient ALL_REDUCE <- 6", "8 a input gradient <- 5, 6",
                          "9 a weight gradient <- 8", "10 a weight gradient ALL_REDUCE <- 9"));
  // That of layer 0's input gradient is never issued.
  ASSERT_EQ(ledger.flaws_by_rule["astra_text_unused_collective"], 1);
  EXPECT_THAT(ledger.flaws[0].reason, HasSubstr("layer a: ALL_REDUCE of 16 bytes"));
  EXPECT_EQ(ledger.flaws[0].record, 2);
  for (const auto& [kind, model, data] :
       {std::tuple("HYBRID_DATA_MODEL", 1u, ~1u), std::tuple("HYBRID_MODEL_DATA", ~1u, 1u)}) {
    ASSERT_OK_AND_ASSIGN(const auto ranks,
                         Read(absl::StrCat(kind, layers), {.npus_count = 4}, &ledger));
    ASSERT_EQ(ranks[3].comm.size(), 5u);
    for (const CommOp& op : ranks[3].comm) {
      EXPECT_EQ(op.involved_dims, op.bytes == 32 ? data : model) << kind;
      EXPECT_EQ(op.group, kNone);
    }
  }
}

constexpr char kTransformerLayers[] =
    "\n2\n"
    "a -1 1 ALLGATHER 8 1 ALLREDUCE 16 1 ALLREDUCE 32 0\n"
    "b -1 1 ALLGATHER 8 1 NONE 0 1 ALLREDUCE 32 0\n";

TEST(AstraTextTest, TransformersUseModelAndDataGroups) {
  const std::string text =
      absl::StrCat("HYBRID_TRANSFORMER\tmodel_parallel_NPU_group: 2", kTransformerLayers);
  EXPECT_THAT(Program(text),
              ElementsAre("0 a forward", "1 a forward ALL_GATHER <- 0", "2 b forward <- 1",
                          "3 b forward ALL_GATHER <- 2", "4 b input gradient <- 3",
                          "5 b weight gradient <- 4", "6 b weight gradient ALL_REDUCE <- 5",
                          "7 a input gradient <- 5", "8 a input gradient ALL_REDUCE <- 7",
                          "9 a weight gradient <- 8", "10 a weight gradient ALL_REDUCE <- 9"));
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(const auto ranks, Read(text, {.npus_count = 6}, &ledger));
  ASSERT_EQ(ranks[5].groups.size(), 2u);
  EXPECT_THAT(ranks[5].groups[0].ranks, ElementsAre(4, 5));
  EXPECT_THAT(ranks[5].groups[1].ranks, ElementsAre(1, 3, 5));
  EXPECT_NE(ranks[5].groups[0].name, ranks[0].groups[0].name);
  for (const CommOp& op : ranks[5].comm) {
    EXPECT_EQ(op.group, op.bytes == 32 ? 1u : 0u);
    EXPECT_EQ(op.involved_dims, UINT32_MAX);
  }
  // Alone in its group, nobody communicates.
  ASSERT_OK_AND_ASSIGN(const auto alone, Read(text, {.npus_count = 2}, &ledger));
  EXPECT_EQ(alone[0].comm.size(), 3u);
  EXPECT_EQ(ledger.flaws_by_rule["astra_text_unused_collective"], 2);
}

TEST(AstraTextTest, CheckpointsRunForwardAgain) {
  // Layers 0 to 3; 1 is a checkpoint; before the input gradient of 3, 1 and 2 run again.
  std::string text =
      "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 checkpoints: 2 1 0 "
      "checkpoint_initiates: 1 3\n4\n";
  for (const char* name : {"a", "b", "c", "d"}) {
    absl::StrAppend(&text, name, " -1 1 ", *name == 'b' ? "ALLREDUCE 8" : "NONE 0",
                    " 1 NONE 0 1 NONE 0 0\n");
  }
  EXPECT_THAT(Program(text),
              ElementsAre("0 a forward", "1 b forward <- 0", "2 b forward ALL_REDUCE <- 1",
                          "3 c forward <- 2", "4 d forward <- 3", "5 b forward again <- 4",
                          "6 b forward ALL_REDUCE <- 5", "7 c forward again <- 6",
                          "8 d input gradient <- 7", "9 d weight gradient <- 8",
                          "10 c input gradient <- 9", "11 c weight gradient <- 10",
                          "12 b input gradient <- 11", "13 b weight gradient <- 12",
                          "14 a input gradient <- 13", "15 a weight gradient <- 14"));
}

TEST(AstraTextTest, SimAisHeaderTellsTheNpuCount) {
  const std::string text = absl::StrCat(
      "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 8 ga: 1 "
      "all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0",
      kTransformerLayers);
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(const auto ranks, Read(text, {}, &ledger));
  EXPECT_EQ(ranks.size(), 8u);
  EXPECT_THAT(ReadStatus(text), StatusIs(kInvalid, "world size: 4 was given, all_gpus: 8"));
}

TEST(AstraTextTest, DlrmHidesTheEmbeddingsAllToAll) {
  const std::string layers =
      "\n3\n"
      "emb -1 1 ALLTOALL 8 1 ALLTOALL 8 1 NONE 0 0\n"
      "bot -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 32 0\n"
      "top -1 1 ALLTOALL 64 1 NONE 0 1 ALLREDUCE 32 0\n";
  Ledger ledger;
  EXPECT_THAT(Program("HYBRID_DLRM 1" + layers, {.npus_count = 4}, &ledger),
              ElementsAre("0 emb forward", "1 emb forward ALL_TO_ALL <- 0", "2 bot forward <- 0",
                          "3 top forward <- 1, 2", "4 top weight gradient <- 3",
                          "5 top weight gradient ALL_REDUCE <- 4", "6 top input gradient <- 4",
                          "7 emb input gradient ALL_TO_ALL <- 6", "8 bot weight gradient <- 6",
                          "9 bot weight gradient ALL_REDUCE <- 8", "10 bot input gradient <- 8",
                          "11 emb weight gradient <- 10"));
  // Nobody takes part in the all-to-all of a layer that is not the first.
  EXPECT_EQ(ledger.flaws_by_rule["astra_text_unused_collective"], 1);
  // Layer 0's forward of the next pass waits, unless the kind is the enhanced one.
  const auto plain = Program("HYBRID_DLRM 1" + layers, {.npus_count = 4, .passes_count = 2});
  EXPECT_EQ(plain[12], "12 emb forward <- 7, 11");
  const auto enhanced =
      Program("HYBRID_DLRM_ENHANCED 1" + layers, {.npus_count = 4, .passes_count = 2});
  EXPECT_EQ(enhanced[12], "12 emb forward <- 11");
}

TEST(AstraTextTest, EachLayerOfACustomizedWorkloadHasItsOwnWay) {
  const std::string text =
      "HYBRID_CUSTOMIZED\n4\n"
      "a -1 1 ALLGATHER 1 1 REDUCESCATTER 2 1 ALLREDUCE 3 0 HYBRID_DATA_MODEL\n"
      "b -1 1 ALLGATHER 4 1 REDUCESCATTER 5 1 ALLREDUCE 6 0\tHYBRID_MODEL_DATA \n"
      "c -1 1 ALLGATHER 7 1 NONE 0 1 ALLREDUCE 9 0 DATA\n"
      "d -1 1 ALLGATHER 10 1 REDUCESCATTER 11 1 ALLREDUCE 12 0 MODEL\n";
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(const auto ranks, Read(text, {.npus_count = 2}, &ledger));
  std::vector<std::string> found;
  for (const CommOp& op : ranks[0].comm) {
    found.push_back(absl::StrCat(op.bytes, op.involved_dims == 1            ? " first"
                                           : op.involved_dims == UINT32_MAX ? " all"
                                                                            : " others"));
  }
  EXPECT_THAT(found, ElementsAre("1 first", "4 others", "10 all", "11 all", "9 all", "5 others",
                                 "6 first", "3 others"));
  // Layer a's input gradient (layer 0), c's forward (DATA), d's weights (MODEL).
  EXPECT_EQ(ledger.flaws_by_rule["astra_text_unused_collective"], 3);
}

TEST(AstraTextTest, MicroBenchmarksAndInference) {
  const std::string layers = "\n1\nconv1 -1 5 ALLREDUCE 4 5 NONE 0 5  ALLTOALL 1048576 5";
  EXPECT_THAT(
      Program("MICRO" + layers, {.npus_count = 2, .passes_count = 2}),
      ElementsAre("0 conv1 weight gradient ALL_TO_ALL", "1 conv1 weight gradient update <- 0",
                  "2 conv1 weight gradient ALL_TO_ALL", "3 conv1 weight gradient update <- 2"));
  EXPECT_THAT(Program("DISTRIBUTED_INFERENCE" + layers, {.npus_count = 2, .passes_count = 2}),
              ElementsAre("0 conv1 forward", "1 conv1 forward ALL_REDUCE <- 0",
                          "2 conv1 forward update <- 1", "3 conv1 forward <- 2",
                          "4 conv1 forward ALL_REDUCE <- 3", "5 conv1 forward update <- 4"));
}

TEST(AstraTextTest, FaultsAreNamed) {
  const std::string layer = "a -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 8 0";
  const std::pair<std::string, const char*> cases[] = {
      {"", "the file is empty"},
      {" \n\t\n", "the file is empty"},
      {"FOO\n1\n" + layer, "byte offset 0, line 1: not an ASTRA-sim text workload"},
      {"DATA", "the number of layers is missing"},
      {"DATA\n", "the number of layers is missing"},
      {"DATA\nx\n" + layer, "line 2: number of layers: \"x\" is no whole number"},
      {"DATA\n0\n", "0: no work"},
      {"DATA\n2\n" + layer, "cut off: line 2 states 2 layers, 1 are there"},
      {"DATA\n1\n" + layer + "\n" + layer, "line 4: layer \"a\": line 2 states only 1 layers"},
      {"DATA 7\n1\n" + layer, "\"7\" behind DATA has no meaning"},
      {"DATA\n1 7\n" + layer, "\"7\" behind the number of layers has no meaning"},
      {"DATA\n1\n" + layer + " extra", "1 columns more than 12, from \"extra\" on"},
      {"DATA\n1\na -1 1 NONE 0", "byte offset 7, line 3: layer \"a\": 5 columns, not 12"},
      {"DATA\n1\na -1 -1 NONE 0 1 NONE 0 1 NONE 0 0", "forward time: \"-1\" is no whole number"},
      {"DATA\n1\na -1 1 NONE 0 1 NONE 0 1 ALLREDUCE -8 0", "weight gradient size: \"-8\""},
      {"DATA\n1\na -1 1 NONE 0 1 NONE 0 1 allreduce 8 0",
       "weight gradient communication: \"allreduce\" is not NONE"},
      {"DATA\n1\na -1 99999999999999999999 NONE 0 1 NONE 0 1 NONE 8 0", "forward time"},
      {"HYBRID_CUSTOMIZED\n1\n" + layer, "12 columns, not 13"},
      {"HYBRID_CUSTOMIZED\n1\n" + layer + " HYBRID_TRANSFORMER", "parallelism: \"HYBRID_TRANSF"},
      {"HYBRID_DLRM\n1\n" + layer, "the number of the last bottom layer is missing"},
      {"HYBRID_DLRM 1\n1\n" + layer, "last bottom layer: 1 is not in [0, 1)"},
      {"HYBRID_TRANSFORMER\n1\n" + layer, "write \"model_parallel_NPU_group: N\" behind it"},
      {"HYBRID_TRANSFORMER model_parallel_NPU_group: 0\n1\n" + layer, "not understood"},
      {"HYBRID_TRANSFORMER model_parallel_NPU_group:\n1\n" + layer, "no number follows"},
      {"HYBRID_TRANSFORMER model_parallel_NPU_group: 3\n1\n" + layer, "does not divide the world"},
      {"HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 4\n1\n" + layer, "SimAI's expert"},
      {"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 checkpoints: 2 0\n1\n" + layer,
       "checkpoints: cut off"},
      {"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 checkpoints: 1 5\n1\n" + layer,
       "checkpoints: 5 is not in [0, 1)"},
      {"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 checkpoints: 0 "
       "checkpoint_initiates: 1 0\n1\n" +
           layer,
       "no checkpoint is at or below layer 0"},
      {"MICRO\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 0", "no layer has a collective to issue"},
      {std::string(kMaxTextWorkloadBytes + 1, ' '), "too large for a text workload"},
  };
  for (const auto& [text, part] : cases) EXPECT_THAT(ReadStatus(text), StatusIs(kInvalid, part));
  const std::string good = "DATA\n1\n" + layer;
  EXPECT_THAT(ReadStatus(good, {}), StatusIs(kInvalid, "give the world size (--world-size)"));
  EXPECT_THAT(ReadStatus(good, {.npus_count = -1}), StatusIs(kInvalid, "is below 0"));
  EXPECT_THAT(ReadStatus(good, {.npus_count = kMaxRanksOfFile + 1}), StatusIs(kInvalid, "65537"));
  EXPECT_THAT(ReadStatus(good, {.npus_count = 1, .passes_count = 0}), StatusIs(kInvalid, "passes"));
  EXPECT_THAT(ReadStatus(good, {.npus_count = 1 << 16, .passes_count = 1000}),
              StatusIs(kInvalid, "more than 16777216 in all"));
  EXPECT_THAT(ReadStatus(good, {.npus_count = 1, .time_unit_ns = 0}), StatusIs(kInvalid, "unit"));
  EXPECT_THAT(ReadStatus("DATA\n1\na -1 7776000000001 NONE 0 1 NONE 0 1 NONE 0 0",
                         {.npus_count = 1, .time_unit_ns = 1000}),
              StatusIs(kInvalid, "is more than"));
  EXPECT_THAT(
      ReadStatus(absl::StrCat("HYBRID_TRANSFORMER model_parallel_NPU_group: 1", kTransformerLayers),
                 {.npus_count = 8192}),
      StatusIs(kInvalid, "members, more than 16777216"));
}

TEST(AstraTextTest, RunningForwardAgainTooOftenIsAnError) {
  std::string header =
      "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 checkpoints: 1 0 "
      "checkpoint_initiates: 20000";
  std::string layers = "\n20000\n";
  for (int i = 0; i < 20000; ++i) {
    absl::StrAppend(&header, " ", i);
    absl::StrAppend(&layers, "a -1 1 NONE 0 1 NONE 0 1 NONE 0 0\n");
  }
  EXPECT_THAT(ReadStatus(header + layers, {.npus_count = 1 << 10}),
              StatusIs(kInvalid, "more than 16777216 in all"));
}

TEST(AstraTextTest, LenientReadingLeavesOutWhatHasNoMeaning) {
  const std::string text =
      "DATA x\n1 y\n\xff -1 1 NONE 0 1 NONE 0 1 BROADCAST 8 0 z\nb -1 1 NONE 0 1 NONE 0 1 NONE 8 "
      "0\n";
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(const auto ranks, Read(text, {.npus_count = 1}, &ledger, true));
  EXPECT_EQ(ranks[0].size(), 2u);
  EXPECT_EQ(ranks[0].NameOf(0), "? forward");
  EXPECT_EQ(ledger.flaws_by_rule["astra_text_extra_column"], 3);
  EXPECT_EQ(ledger.flaws_by_rule["astra_text_unknown_collective"], 1);
  EXPECT_EQ(ledger.flaws_by_rule["text_not_utf8"], 1);
  EXPECT_EQ(ledger.rejected_by_rule["astra_text_extra_layer"], 1);
  EXPECT_EQ(ledger.input_records, 4);
  EXPECT_TRUE(ledger.Balanced());
}

TEST(AstraTextTest, AFileCutAnywhereNeverCrashesAndMostlyIsAnError) {
  const std::string text =
      absl::StrCat("HYBRID_TRANSFORMER\tmodel_parallel_NPU_group: 2", kTransformerLayers);
  const size_t last_number = text.rfind(' ') + 1;
  for (size_t size = 0; size < text.size(); ++size) {
    // In the last column's number nothing tells that it was longer.
    EXPECT_EQ(ReadStatus(text.substr(0, size)).ok(), size > last_number) << size;
  }
}

// Random files of every kind: ids count up, nothing waits for what comes later, equal
// ranks, as many collectives as the file has and does not report as unused.
TEST(AstraTextTest, EveryCollectiveIsIssuedOrReported) {
  const char* kinds[] = {"MICRO",
                         "DATA",
                         "MODEL",
                         "DISTRIBUTED_INFERENCE",
                         "HYBRID_DATA_MODEL",
                         "HYBRID_MODEL_DATA",
                         "HYBRID_DLRM 0",
                         "HYBRID_DLRM_ENHANCED 1",
                         "HYBRID_TRANSFORMER model_parallel_NPU_group: 2"};
  const char* collectives[] = {"NONE", "ALLREDUCE", "ALLTOALL", "ALLGATHER", "REDUCESCATTER"};
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const int layers_count = 2 + static_cast<int>(random() % 4);
    std::string text = absl::StrCat(kinds[seed % 9], "\n", layers_count, "\n");
    // One that MICRO issues is always there.
    int64_t stated = 0;
    for (int i = 0; i < layers_count; ++i) {
      absl::StrAppend(&text, "layer", i, " -1");
      for (int phase = 0; phase < 3; ++phase) {
        const uint32_t pick = i == 0 && phase == 2 ? 1 : random() % 5;
        stated += pick > 0 ? 1 : 0;
        absl::StrAppend(&text, " ", random() % 100, " ", collectives[pick], " ", random() % 1000);
      }
      absl::StrAppend(&text, " ", random() % 3, "\n");
    }
    Ledger ledger;
    ASSERT_OK_AND_ASSIGN(const auto ranks, Read(text, {.npus_count = 4}, &ledger));
    const RankTrace& first = ranks[0];
    EXPECT_EQ(static_cast<int64_t>(first.comm.size()) +
                  ledger.flaws_by_rule["astra_text_unused_collective"],
              stated)
        << text;
    for (uint32_t node = 0; node < first.size(); ++node) {
      EXPECT_EQ(first.id[node], node);
      for (uint32_t i = first.dep_begin[node]; i < first.dep_begin[node + 1]; ++i) {
        EXPECT_LT(first.dep_node[i], node);
      }
    }
    EXPECT_EQ(ranks[3].dep_node, first.dep_node);
    EXPECT_EQ(ranks[3].comm, first.comm);
    EXPECT_TRUE(ledger.Balanced());
  }
}

}  // namespace
}  // namespace chakrad
