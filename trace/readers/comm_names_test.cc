#include "trace/readers/comm_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace chakrad {
namespace {

using ::testing::ElementsAre;

TEST(CommNamesTest, SpellingsOfOneOperationGiveOneName) {
  for (absl::string_view name : {"allreduce", "all_reduce", "allreduce_", "AllReduce"}) {
    EXPECT_EQ(CommOpName(name), "all_reduce") << name;
  }
  EXPECT_EQ(CommOpName("_allgather_base_"), "all_gather_base");
  EXPECT_EQ(CommOpName("alltoall_base_"), "all_to_all_base");
  EXPECT_EQ(CommOpName("all_to_allv"), "all_to_allv");
  EXPECT_EQ(CommOpName("reducescatter"), "reduce_scatter");
  EXPECT_EQ(CommOpName("___"), "");
}

TEST(CommNamesTest, NamesOfCommunicationAreRecognised) {
  EXPECT_EQ(ParseCommName("record_param_comms").kind, CommNameKind::kParamComms);
  EXPECT_EQ(ParseCommName("## process_group:init ##").kind, CommNameKind::kGroupTable);
  EXPECT_EQ(ParseCommName("c10d::allreduce_").op, "allreduce_");
  EXPECT_EQ(ParseCommName("_c10d_functional::all_reduce").kind, CommNameKind::kFunctional);
  EXPECT_EQ(ParseCommName("gloo:all_to_all").op, "all_to_all");
  EXPECT_EQ(ParseCommName("gloo:all_to_all").peer, -1);
  EXPECT_EQ(ParseCommName("nccl:send 0->1").op, "send");
  EXPECT_EQ(ParseCommName("nccl:send 0->1").peer, 1);
  EXPECT_EQ(ParseCommName("nccl:recv 3<-12").peer, 12);
  for (absl::string_view name : {"aten::mm", "nccl::all_reduce", "", "gloo", "recording"}) {
    EXPECT_EQ(ParseCommName(name).kind, CommNameKind::kNone) << name;
  }
}

TEST(CommNamesTest, DataTypesHaveTheirSizes) {
  EXPECT_EQ(DtypeBytes("Float"), 4);
  EXPECT_EQ(DtypeBytes("long int"), 8);
  EXPECT_EQ(DtypeBytes("c10::BFloat16"), 2);
  EXPECT_EQ(DtypeBytes("Byte"), 1);
  EXPECT_EQ(DtypeBytes(""), -1);
  EXPECT_EQ(DtypeBytes("mystery"), -1);
}

TEST(CommNamesTest, CutListsAreNoLists) {
  std::vector<int64_t> values;
  EXPECT_TRUE(ParseIntList("[1, 2,3]", &values));
  EXPECT_THAT(values, ElementsAre(1, 2, 3));
  EXPECT_TRUE(ParseIntList("[]", &values));
  EXPECT_TRUE(values.empty());
  for (absl::string_view text : {"", "[1, 2, ...]", "[1", "1]", "[1,,2]", "[a]"}) {
    EXPECT_FALSE(ParseIntList(text, &values)) << text;
    EXPECT_TRUE(values.empty());
  }
}

}  // namespace
}  // namespace chakrad
