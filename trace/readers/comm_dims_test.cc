#include "trace/readers/comm_dims.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace chakrad {
namespace {

CommArgs Sizes(absl::string_view call, absl::string_view dims, absl::string_view types) {
  const CommName name = ParseCommName(call);
  CommArgs args;
  args.op = CommOpName(name.op);
  SizesFromShapes(name, dims, types, &args);
  return args;
}

TEST(CommDimsTest, AMarksTensorsAreItsInput) {
  const CommArgs args = Sizes("nccl:all_to_all", "[[8192, 384]]", R"(["float"])");
  EXPECT_EQ(args.in_elements, 8192 * 384);
  EXPECT_EQ(args.in_bytes, 4 * 8192 * 384);
  EXPECT_EQ(args.input_dims, 2);
  EXPECT_EQ(args.dtype, "float");
  EXPECT_EQ(args.out_bytes, kNotStated);
}

// Output first, then input; the scalars behind have no shape.
TEST(CommDimsTest, InputAndOutputOfAC10dCallAreTakenByPlace) {
  const CommArgs args = Sizes("c10d::alltoall_base_", "[[100], [60, 2], [], [], [], []]",
                              R"(["c10::BFloat16", "c10::BFloat16", "", "", "", "Scalar"])");
  EXPECT_EQ(args.in_elements, 120);
  EXPECT_EQ(args.in_bytes, 240);
  EXPECT_EQ(args.input_dims, 2);
  EXPECT_EQ(args.out_elements, 100);
  EXPECT_EQ(args.out_bytes, 200);
}

TEST(CommDimsTest, ListsThatAreSpelledOutAreAddedUp) {
  const CommArgs args =
      Sizes("nccl:all_reduce_coalesced", "[[[2, 3], [4]], [5]]", R"(["float", "long"])");
  EXPECT_EQ(args.in_elements, 15);
  EXPECT_EQ(args.in_bytes, 4 * 10 + 8 * 5);
  EXPECT_EQ(args.input_dims, 2);
}

TEST(CommDimsTest, WhatIsNotToldStaysNotStated) {
  const CommArgs list =
      Sizes("c10d::allreduce_", "[[], [], [], []]", R"(["TensorList", "", "", "Scalar"])");
  EXPECT_EQ(list.in_bytes, kNotStated);
  EXPECT_EQ(list.in_elements, kNotStated);
  const CommArgs strange = Sizes("nccl:all_reduce", "[[7]]", R"(["Strange"])");
  EXPECT_EQ(strange.in_elements, 7);
  EXPECT_EQ(strange.in_bytes, kNotStated);
  EXPECT_EQ(Sizes("c10d::nobody_knows", "[[7]]", R"(["float"])").in_bytes, kNotStated);
  EXPECT_EQ(Sizes("nccl:all_reduce", "[[7]]", "7").in_bytes, kNotStated);
  EXPECT_EQ(Sizes("nccl:all_reduce", "", "").in_bytes, kNotStated);
}

TEST(CommDimsTest, TextThatIsNoListOfShapesIsRefused) {
  std::vector<ArgumentShape> shapes;
  const std::string good = "[[24], [3, 4], [[1], [2]]]";
  EXPECT_TRUE(ParseArgumentShapes(good, &shapes));
  for (size_t cut = 0; cut < good.size(); ++cut) {
    EXPECT_FALSE(ParseArgumentShapes(good.substr(0, cut), &shapes)) << cut;
  }
  for (const char* bad : {"[7]", "7", "[[-1]]", "[[a]]", "[[1.5]]", "[[[[1]]]]", "[]]", "[] []",
                          "[[99999999999999999999]]", "[[9223372036854775807, 2]]"}) {
    EXPECT_FALSE(ParseArgumentShapes(bad, &shapes)) << bad;
  }
  std::vector<std::string> texts;
  for (const char* bad : {"", "x", R"(["a)", R"(["a"b])", R"(["\u0041"])"}) {
    EXPECT_FALSE(ParseTextList(bad, &texts)) << bad;
  }
}

}  // namespace
}  // namespace chakrad
