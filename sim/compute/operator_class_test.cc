#include "sim/compute/operator_class.h"

#include <gtest/gtest.h>

#include "sim/compute/operator_table.h"

namespace chakrad {
namespace {

TEST(OperatorClassTest, NamesAndClassesAreOneToOne) {
  for (int i = 0; i < kOperatorClassesCount; ++i) {
    const auto op_class = static_cast<OperatorClass>(i);
    EXPECT_EQ(FindOperatorClass(OperatorClassName(op_class)), op_class);
  }
  EXPECT_FALSE(FindOperatorClass("gemm").has_value());
  EXPECT_FALSE(FindOperatorClass("").has_value());
}

TEST(OperatorClassTest, OperatorsHaveTheirClass) {
  EXPECT_EQ(ClassOfOperator("aten::addmm"), OperatorClass::kMatmul);
  EXPECT_EQ(ClassOfOperator("aten::convolution_backward"), OperatorClass::kConvolution);
  EXPECT_EQ(ClassOfOperator("aten::_scaled_dot_product_flash_attention"),
            OperatorClass::kAttention);
  EXPECT_EQ(ClassOfOperator("aten::embedding_dense_backward"), OperatorClass::kEmbedding);
  EXPECT_EQ(ClassOfOperator("aten::gelu"), OperatorClass::kElementwise);
  EXPECT_EQ(ClassOfOperator("aten::native_layer_norm"), OperatorClass::kNormalisation);
  EXPECT_EQ(ClassOfOperator("aten::_fused_adamw_"), OperatorClass::kOptimiser);
  EXPECT_EQ(ClassOfOperator("aten::copy_"), OperatorClass::kMemoryCopy);
  EXPECT_EQ(ClassOfOperator("aten::view"), OperatorClass::kOther);
  EXPECT_EQ(ClassOfOperator("addmm"), OperatorClass::kOther);
  EXPECT_EQ(ClassOfOperator(""), OperatorClass::kOther);
}

TEST(OperatorClassTest, AnInPlaceOperatorIsFoundAsItsPlainOne) {
  EXPECT_EQ(FindOperator("aten::add_"), FindOperator("aten::add"));
  EXPECT_NE(FindOperator("aten::copy_"), nullptr);
  EXPECT_EQ(FindOperator("aten::copy"), nullptr);
  EXPECT_EQ(FindOperator("aten::_"), nullptr);
}

TEST(OperatorClassTest, KernelsAreToldByTheirNames) {
  EXPECT_EQ(ClassOfKernel("ampere_sgemm_128x64_tn"), OperatorClass::kMatmul);
  EXPECT_EQ(ClassOfKernel("Cijk_Ailk_Bljk_SB_MT64x64"), OperatorClass::kMatmul);
  EXPECT_EQ(ClassOfKernel("sm80_xmma_fprop_implicit_gemm_tf32f32"), OperatorClass::kConvolution);
  EXPECT_EQ(ClassOfKernel("void cudnn::winograd_nonfused::winogradForwardData4x4"),
            OperatorClass::kConvolution);
  EXPECT_EQ(ClassOfKernel("void flash_fwd_kernel<Flash_fwd_kernel_traits>"),
            OperatorClass::kAttention);
  EXPECT_EQ(ClassOfKernel("void at::native::vectorized_elementwise_kernel<4, AddFunctor>"),
            OperatorClass::kElementwise);
  EXPECT_EQ(ClassOfKernel("void at::native::vectorized_elementwise_kernel<4, FillFunctor<float>>"),
            OperatorClass::kMemoryCopy);
  EXPECT_EQ(ClassOfKernel("void at::native::reduce_kernel<512, 1>"), OperatorClass::kElementwise);
  EXPECT_EQ(ClassOfKernel("cunn_SoftMaxForward"), OperatorClass::kNormalisation);
  EXPECT_EQ(ClassOfKernel("void at::native::multi_tensor_apply_kernel"), OperatorClass::kOptimiser);
  EXPECT_EQ(ClassOfKernel("void fbgemm_gpu::permute_2D_data_kernel<false>"), OperatorClass::kOther);
  EXPECT_EQ(ClassOfKernel("mystery"), OperatorClass::kOther);
}

}  // namespace
}  // namespace chakrad
