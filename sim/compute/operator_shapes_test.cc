// The worked examples of docs/compute_model.md, each computed by hand.
#include "sim/compute/operator_shapes.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "sim/compute/operator_table.h"
#include "sim/system/system_description.h"
#include "trace/operators/operator_arguments.h"

namespace chakrad {
namespace {

constexpr char kF[] = "\"Tensor(float)\"";
constexpr char kL[] = "\"Tensor(long int)\"";

struct Op {
  std::string name;
  std::string in_shapes, in_types, out_shapes, out_types;
  std::string in_values, out_values;
};

std::optional<OperatorWork> WorkOf(const Op& op) {
  const OperatorInfo* info = FindOperator(op.name);
  if (info == nullptr) return std::nullopt;
  ArgumentTexts texts;
  texts.in_values = op.in_values;
  texts.in_shapes = op.in_shapes;
  texts.in_types = op.in_types;
  texts.out_values = op.out_values;
  texts.out_shapes = op.out_shapes;
  texts.out_types = op.out_types;
  const std::optional<OperatorArguments> arguments = ReadArguments(texts);
  return arguments.has_value() ? CountWork(*info, *arguments) : std::nullopt;
}

void Expect(const Op& op, double flops, double bytes) {
  const std::optional<OperatorWork> work = WorkOf(op);
  ASSERT_TRUE(work.has_value()) << op.name;
  EXPECT_EQ(work->flops, flops) << op.name;
  EXPECT_EQ(work->bytes, bytes) << op.name;
}

std::string List(std::initializer_list<absl::string_view> parts) {
  std::string text = "[";
  for (const absl::string_view part : parts) absl::StrAppend(&text, text == "[" ? "" : ", ", part);
  return text + "]";
}

// [32, 10] x [10, 512]: 2 * 32 * 10 * 512; 4 * (320 + 5,120 + 16,384).
TEST(OperatorShapesTest, MmIsTwoFlopsAnInnerProductStep) {
  Expect({"aten::mm", "[[32, 10], [10, 512]]", List({kF, kF}), "[[32, 512]]", List({kF})}, 327'680,
         87'296);
  // The output may be missing from the record.
  Expect({"aten::mm", "[[32, 10], [10, 512]]", List({kF, kF}), "", ""}, 327'680, 87'296);
}

// The bias is read as well; adding it is not counted.
TEST(OperatorShapesTest, AddmmReadsItsBias) {
  Expect({"aten::addmm", "[[512], [32, 256], [256, 512], [], []]",
          List({kF, kF, kF, "\"Int\"", "\"Int\""}), "[[32, 512]]", List({kF})},
         2.0 * 32 * 256 * 512, 4.0 * (512 + 32 * 256 + 256 * 512 + 32 * 512));
}

TEST(OperatorShapesTest, BatchedProductsMultiplyByTheBatch) {
  Expect({"aten::bmm", "[[16, 32, 8], [16, 8, 24]]", List({kF, kF}), "[[16, 32, 24]]", List({kF})},
         2.0 * 16 * 32 * 8 * 24, 4.0 * 16 * (32 * 8 + 8 * 24 + 32 * 24));
  Expect({"aten::baddbmm", "[[1, 1, 24], [16, 32, 8], [16, 8, 24]]", List({kF, kF, kF}),
          "[[16, 32, 24]]", List({kF})},
         2.0 * 16 * 32 * 8 * 24, 4.0 * (24 + 16 * (32 * 8 + 8 * 24 + 32 * 24)));
  Expect({"aten::matmul", "[[4, 32, 8], [8, 24]]", List({kF, kF}), "[[4, 32, 24]]", List({kF})},
         2.0 * 4 * 32 * 8 * 24, 4.0 * (4 * 32 * 8 + 8 * 24 + 4 * 32 * 24));
}

TEST(OperatorShapesTest, VectorsAreMatricesOfOneRowOrColumn) {
  Expect({"aten::mv", "[[30, 20], [20]]", List({kF, kF}), "[[30]]", List({kF})}, 2 * 30 * 20,
         4 * (600 + 20 + 30));
  Expect({"aten::dot", "[[20], [20]]", List({kF, kF}), "[[]]", List({kF})}, 40, 4 * 41);
}

TEST(OperatorShapesTest, LinearTakesItsWeightTransposed) {
  Expect({"aten::linear", "[[4, 32, 128], [256, 128], [256]]", List({kF, kF, kF}), "[[4, 32, 256]]",
          List({kF})},
         2.0 * 128 * 128 * 256, 4.0 * (128 * 128 + 256 * 128 + 256 + 128 * 256));
}

TEST(OperatorShapesTest, FactorsThatDoNotFitAreNotCounted) {
  EXPECT_FALSE(
      WorkOf({"aten::mm", "[[32, 10], [11, 512]]", List({kF, kF}), "[[32, 512]]", List({kF})})
          .has_value());
  EXPECT_FALSE(WorkOf({"aten::mm", "[[32, 10]]", List({kF}), "", ""}).has_value());
}

// ResNet's first layer on one image: 112 * 112 * 64 outputs, each 3 * 7 * 7 products.
TEST(OperatorShapesTest, AConvolutionMeetsItsFilterAtEachOutput) {
  Expect({"aten::cudnn_convolution", "[[1, 3, 224, 224], [64, 3, 7, 7], [[], []]]",
          List({kF, kF, "\"GenericList[Int,Int]\""}), "[[1, 64, 112, 112]]", List({kF})},
         2.0 * 112 * 112 * 64 * 147, 4.0 * (150'528 + 9'408 + 802'816));
  // Depthwise: a filter of one channel.
  Expect({"aten::_conv_depthwise2d", "[[1, 8, 10, 10], [8, 1, 3, 3]]", List({kF, kF}),
          "[[1, 8, 8, 8]]", List({kF})},
         2.0 * 8 * 64 * 9, 4.0 * (800 + 72 + 512));
}

TEST(OperatorShapesTest, ATransposedConvolutionMeetsItsFilterAtEachInput) {
  const std::string types = List({kF, kF, "\"None\"", "\"Int\"", "\"Int\"", "\"Int\"", "\"Bool\""});
  const std::string values = "[[1], [2], \"<None>\", 2, 0, 1, true]";
  Op op = {"aten::convolution",
           "[[1, 6, 5, 5], [6, 4, 2, 2], [], [], [], [], []]",
           types,
           "[[1, 4, 10, 10]]",
           List({kF}),
           values,
           ""};
  Expect(op, 2.0 * 6 * 25 * (4 * 4), 4.0 * (150 + 96 + 400));
  op.in_values = "[[1], [2], \"<None>\", 2, 0, 1, false]";
  Expect(op, 2.0 * 400 * (4 * 4), 4.0 * (150 + 96 + 400));
}

// Each wanted gradient costs what the forward pass did.
TEST(OperatorShapesTest, AConvolutionsBackwardCostsAPassForEachGradient) {
  const std::string undefined = "\"Tensor(nullptr (uninitialized))\"";
  const std::string in = "[[1, 8, 10, 10], [1, 4, 12, 12], [8, 4, 3, 3]]";
  const double forward = 2.0 * 800 * 36;
  Expect({"aten::convolution_backward", in, List({kF, kF, kF}),
          "[[1, 4, 12, 12], [8, 4, 3, 3], []]", List({kF, kF, undefined})},
         2 * forward, 4.0 * (2 * 800 + 288 + 576 + 576 + 288));
  Expect({"aten::convolution_backward", in, List({kF, kF, kF}), "[[], [8, 4, 3, 3], []]",
          List({undefined, kF, undefined})},
         forward, 4.0 * (800 + 576 + 288));
}

// 2 sequences of 3 heads, 10 queries, 20 keys, width 8, values 4 wide.
TEST(OperatorShapesTest, AttentionIsTwoProducts) {
  Expect({"aten::_scaled_dot_product_efficient_attention",
          "[[2, 3, 10, 8], [2, 3, 20, 8], [2, 3, 20, 4]]", List({kF, kF, kF}), "[[2, 3, 10, 4]]",
          List({kF})},
         2.0 * 6 * 10 * 20 * (8 + 4), 4.0 * 6 * (80 + 160 + 80 + 40));
}

TEST(OperatorShapesTest, CausalAttentionSeesHalfOfThePairs) {
  Expect({"aten::_scaled_dot_product_flash_attention",
          "[[1, 1, 10, 8], [1, 1, 10, 8], [1, 1, 10, 8], [], []]",
          List({kF, kF, kF, "\"Double\"", "\"Bool\""}), "[[1, 1, 10, 8]]", List({kF}),
          "[[1], [2], [3], 0.0, true]", ""},
         2.0 * 55 * 16, 4.0 * 320);
}

TEST(OperatorShapesTest, AttentionsBackwardIsFiveProducts) {
  Expect({"aten::_scaled_dot_product_flash_attention_backward",
          "[[1, 2, 10, 4], [1, 2, 10, 8], [1, 2, 20, 8], [1, 2, 20, 4]]", List({kF, kF, kF, kF}),
          "[[1, 2, 10, 8], [1, 2, 20, 8], [1, 2, 20, 4]]", List({kF, kF, kF})},
         2.0 * 2 * 200 * (3 * 8 + 2 * 4), 4.0 * 2 * (40 + 2 * (80 + 160 + 80)));
}

TEST(OperatorShapesTest, AnEmbeddingReadsOnlyTheRowsItPicks) {
  Expect({"aten::embedding", "[[1000, 32], [4, 16]]", List({kF, kL}), "[[4, 16, 32]]", List({kF})},
         0, 64 * 8 + 2.0 * 64 * 32 * 4);
  Expect({"aten::_embedding_bag", "[[1000, 32], [64], [16]]", List({kF, kL, kL}), "[[16, 32]]",
          List({kF})},
         64 * 32, 64 * 8 + 64 * 32 * 4 + 16 * 32 * 4);
}

TEST(OperatorShapesTest, AnEmbeddingsBackwardClearsTheWholeTable) {
  Expect({"aten::embedding_dense_backward", "[[4, 32, 128], [4, 32], [], [], []]",
          List({kF, kL, "\"Int\"", "\"Int\"", "\"Bool\""}), "[[512, 128]]", List({kF})},
         128 * 128, 4.0 * 16'384 + 128 * 8 + 4.0 * 65'536 + 2 * 4.0 * 16'384);
}

TEST(OperatorShapesTest, GathersAndScattersMoveWhatTheyPick) {
  Expect({"aten::index_select", "[[1000, 32], [], [5]]", List({kF, "\"Int\"", kL}), "[[5, 32]]",
          List({kF})},
         0, 2 * 160 * 4 + 40);
  Expect({"aten::index_add_", "[[1000, 32], [], [5], [5, 32], []]",
          List({kF, "\"Int\"", kL, kF, "\"Int\""}), "[[1000, 32]]", List({kF})},
         160, 40 + 3 * 160 * 4);
}

TEST(OperatorShapesTest, ElementwiseOperatorsReadAndWriteEachTensorOnce) {
  Expect({"aten::mul", "[[32, 512], [32, 512]]", List({kF, kF}), "[[32, 512]]", List({kF})}, 16'384,
         3 * 65'536);
  Expect({"aten::add_", "[[10], [10], []]", List({kF, kF, "\"Int\""}), "[[10]]", List({kF})}, 10,
         120);
  Expect({"aten::addcmul_", "[[10], [10], [10], []]", List({kF, kF, kF, "\"Double\""}), "[[10]]",
          List({kF})},
         30, 160);
}

TEST(OperatorShapesTest, WhereAResultGoesIsNotRead) {
  Expect({"aten::mul", "[[10], [], [10]]", List({kF, kF, kF}), "[[10]]", List({kF}),
          "[[54, 55, 0, 10, 4, \"cpu\"], [7, 8, 0, 1, 4, \"cpu\"], [95, 93, 0, 10, 4, \"cpu\"]]",
          "[[95, 93, 0, 10, 4, \"cpu\"]]"},
         10, 40 + 4 + 40);
}

TEST(OperatorShapesTest, ReductionsCountWhatTheyRead) {
  Expect({"aten::sum", "[[32, 10], [[]], [], []]",
          List({kF, "\"GenericList[Int]\"", "\"Bool\"", "\"None\""}), "[[1, 10]]", List({kF})},
         320, 4 * 330);
}

TEST(OperatorShapesTest, SoftmaxAndNormsHaveAFixedCountAnElement) {
  Expect({"aten::_softmax", "[[4, 100], [], []]", List({kF, "\"Int\"", "\"Bool\""}), "[[4, 100]]",
          List({kF})},
         5 * 400, 2 * 1600);
  Expect({"aten::_softmax_backward_data", "[[4, 100], [4, 100], [], []]",
          List({kF, kF, "\"Int\"", "\"Int\""}), "[[4, 100]]", List({kF})},
         4 * 400, 3 * 1600);
  Expect({"aten::native_layer_norm", "[[4, 100], [[]], [100], [100], []]",
          List({kF, "\"GenericList[Int]\"", kF, kF, "\"Double\""}), "[[4, 100], [4, 1], [4, 1]]",
          List({kF, kF, kF})},
         8 * 400, 4.0 * (400 + 200 + 400 + 8));
  Expect({"aten::native_layer_norm_backward", "[[4, 100], [4, 100], [[]], [4, 1], [4, 1], [100]]",
          List({kF, kF, "\"GenericList[Int]\"", kF, kF, kF}), "[[4, 100], [100]]", List({kF, kF})},
         13 * 400, 4.0 * (800 + 8 + 100 + 400 + 100));
}

TEST(OperatorShapesTest, ForEachOperatorsWriteTheirFirstList) {
  const std::string two = "\"GenericList[Tensor(float),Tensor(float)]\"";
  Expect({"aten::_foreach_add_", "[[[10], [20]], [[10], [20]], []]", List({two, two, "\"Int\""}),
          "", ""},
         30, 3 * 120);
  Expect({"aten::_foreach_addcdiv_", "[[[10], [20]], [[10], [20]], [[10], [20]], []]",
          List({two, two, two, "\"Int\""}), "", ""},
         90, 4 * 120);
}

// Parameters and two states are read and written, gradients read: 7 * 4 bytes an element.
TEST(OperatorShapesTest, AFusedOptimiserReadsGradientsAndUpdatesTheRest) {
  const std::string one = "\"GenericList[Tensor(float)]\"";
  Expect({"aten::_fused_adamw_", "[[[100]], [[100]], [[100]], [[100]], []]",
          List({one, one, one, one, "\"GenericList[]\""}), "", ""},
         1500, 7 * 400);
  Expect({"aten::_fused_sgd_", "[[[100]], [[100]], [[100]]]", List({one, one, one}), "", ""}, 600,
         5 * 400);
}

TEST(OperatorShapesTest, CopiesMoveBytesOnly) {
  const std::string half = "\"Tensor(c10::Half)\"";
  Expect(
      {"aten::copy_", "[[100], [100], []]", List({half, kF, "\"Bool\""}), "[[100]]", List({half})},
      0, 200 + 400);
  Expect({"aten::cat", "[[[10], [20]], []]",
          List({"\"GenericList[Tensor(float),Tensor(float)]\"", "\"Int\""}), "[[30]]", List({kF})},
         0, 240);
  Expect({"aten::zero_", "[[100]]", List({kF}), "[[100]]", List({kF})}, 0, 400);
}

TEST(OperatorShapesTest, WorkGrowsInProportionToTheBatch) {
  for (int64_t batch = 1; batch <= 1 << 20; batch *= 4) {
    const auto work =
        WorkOf({"aten::bmm", absl::StrCat("[[", batch, ", 32, 8], [", batch, ", 8, 24]]"),
                List({kF, kF}), "", ""});
    ASSERT_TRUE(work.has_value());
    EXPECT_EQ(work->flops, static_cast<double>(batch) * 12'288);
    EXPECT_EQ(work->bytes, static_cast<double>(batch) * 4 * (256 + 192 + 768));
  }
}

TEST(OperatorShapesTest, TheSlowerOfComputeAndMemoryDecides) {
  ComputeModel model;
  model.peak_flops_per_ns = 1000;
  model.memory_bytes_per_ns = 100;
  EXPECT_EQ(WorkNs(model, {5'000, 100}), 5);
  EXPECT_EQ(WorkNs(model, {5'000, 1'000}), 10);
  EXPECT_EQ(WorkNs(model, {0, 0}), 0);
}

}  // namespace
}  // namespace chakrad
