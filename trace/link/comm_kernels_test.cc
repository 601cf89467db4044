#include "trace/link/comm_kernels.h"

#include <gtest/gtest.h>

namespace chakrad {
namespace {

constexpr NodeType kColl = NodeType::kCommColl;

TEST(CommKernelsTest, KernelsOfEveryVendorAndVersionAreRecognised) {
  struct Case {
    const char* name;
    KernelClass kernel_class;
    CollectiveType collective;
  };
  const Case cases[] = {
      {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", KernelClass::kComm,
       CollectiveType::kAllReduce},
      {"ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)",
       KernelClass::kComm, CollectiveType::kBroadcast},
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
       KernelClass::kComm, CollectiveType::kAllReduce},
      {"ncclDevKernel_ReduceScatter_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
       KernelClass::kComm, CollectiveType::kReduceScatter},
      {"ncclDevKernel_Reduce_Sum_f32_RING_LL()", KernelClass::kComm, CollectiveType::kReduce},
      // The algorithm's RS and AG are not the operation.
      {"ncclSymDevKernel_AllReduce_RSxLD_AGxST_sum_bf16(ncclSymDevArgs)", KernelClass::kComm,
       CollectiveType::kAllReduce},
      {"ncclSymkDevKernel_AllGather_LL(ncclSymkDevWorkArgs4K)", KernelClass::kComm,
       CollectiveType::kAllGather},
      {"hcom_allReduce__428_0_1", KernelClass::kComm, CollectiveType::kAllReduce},
      {"oneccl_allreduce_pcie<half, Rt64_128_PCIE, RingTransmit>", KernelClass::kComm,
       CollectiveType::kAllReduce},
      {"oneccl_allgatherv_pcie", KernelClass::kComm, CollectiveType::kAllGather},
      {"mtia_allreduce_0", KernelClass::kComm, CollectiveType::kAllReduce},
      {"cross_device_reduce_2stage", KernelClass::kComm, CollectiveType::kAllReduce},
      {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", KernelClass::kUndecided,
       CollectiveType::kAllReduce},
      {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", KernelClass::kUndecided,
       CollectiveType::kAllReduce},
      {"ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", KernelClass::kUndecided,
       CollectiveType::kAllReduce},
      {"void rcclGenericKernel<1, false>(ncclDevKernelArgsStorage<4096ul>)",
       KernelClass::kUndecided, CollectiveType::kAllReduce},
      {"mscclKernel_Sum_float_LL_false(ncclDevComm*, mscclAlgo*)", KernelClass::kUndecided,
       CollectiveType::kAllReduce},
      {"hcom_batchSendRecv__128_4_1", KernelClass::kUndecided, CollectiveType::kAllReduce},
      {"hcom_alltoallvc__1_2", KernelClass::kComm, CollectiveType::kAllToAll},
      {"hcom_broadcast__9_0", KernelClass::kComm, CollectiveType::kBroadcast},
      {"void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)",
       KernelClass::kComm, CollectiveType::kAllReduce},
      {"void c10d::symmetric_memory::two_shot_all_reduce_kernel_inplace<float>()",
       KernelClass::kComm, CollectiveType::kAllReduce},
      {"void vllm::cross_device_reduce_1stage<half, 8>(vllm::RankData*)", KernelClass::kComm,
       CollectiveType::kAllReduce},
      // Words of communication and no entry: counted, and taken for compute.
      {"my_nccl_free_cleanup", KernelClass::kSuspect, CollectiveType::kAllReduce},
      {"void acme::fused_allreduce_norm<half>()", KernelClass::kSuspect,
       CollectiveType::kAllReduce},
      {"ncclSymFutureKernel", KernelClass::kSuspect, CollectiveType::kAllReduce},
      {"void at::native::(anonymous namespace)::vectorized_gather_kernel<16, long>(char*)",
       KernelClass::kNotComm, CollectiveType::kAllReduce},
      {"fft_batch_complex", KernelClass::kNotComm, CollectiveType::kAllReduce},
      // An argument's type is not the function's name.
      {"void copy_kernel<ncclDevComm>(rcclThing)", KernelClass::kNotComm,
       CollectiveType::kAllReduce},
      {"void at::native::reduce_kernel<512, 1>(float)", KernelClass::kNotComm,
       CollectiveType::kAllReduce},
      {"", KernelClass::kNotComm, CollectiveType::kAllReduce},
  };
  for (const Case& c : cases) {
    const CommKernel kernel = ClassifyKernel(c.name);
    EXPECT_EQ(static_cast<int>(kernel.kernel_class), static_cast<int>(c.kernel_class)) << c.name;
    if (c.kernel_class != KernelClass::kComm) continue;
    EXPECT_EQ(kernel.kind, (CommKind{kColl, c.collective})) << c.name;
  }
}

TEST(CommKernelsTest, PointToPointKernelsOfHcclNameTheirSide) {
  EXPECT_EQ(ClassifyKernel("hcom_send__428_0_1").kind.type, NodeType::kCommSend);
  EXPECT_EQ(ClassifyKernel("hcom_receive__428_0_1").kind.type, NodeType::kCommRecv);
}

TEST(CommKernelsTest, OperationsAreKnownInEverySpelling) {
  const auto coll = [](CollectiveType type) { return CommKind{kColl, type}; };
  EXPECT_EQ(CommKindOfOp("allreduce"), coll(CollectiveType::kAllReduce));
  EXPECT_EQ(CommKindOfOp("all_reduce"), coll(CollectiveType::kAllReduce));
  EXPECT_EQ(CommKindOfOp("alltoall_base"), coll(CollectiveType::kAllToAll));
  EXPECT_EQ(CommKindOfOp("all_to_allv"), coll(CollectiveType::kAllToAll));
  EXPECT_EQ(CommKindOfOp("_allgather_base"), coll(CollectiveType::kAllGather));
  EXPECT_EQ(CommKindOfOp("_reduce_scatter_base"), coll(CollectiveType::kReduceScatter));
  EXPECT_EQ(CommKindOfOp("reduce"), coll(CollectiveType::kReduce));
  EXPECT_EQ(CommKindOfOp("barrier"), coll(CollectiveType::kBarrier));
  EXPECT_EQ(CommKindOfOp("recv_any_source")->type, NodeType::kCommRecv);
  EXPECT_EQ(CommKindOfOp("send")->type, NodeType::kCommSend);
  for (const char* op : {"wait", "init", "coalesced", "sendrecv", "wait_tensor", ""}) {
    EXPECT_FALSE(CommKindOfOp(op).has_value()) << op;
  }
}

}  // namespace
}  // namespace chakrad
