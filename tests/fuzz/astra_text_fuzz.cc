#include "common/check.h"
#include "tests/fuzz/fuzz_target.h"
#include "trace/readers/astra_text/astra_text.h"
#include "trace/readers/byte_source.h"

namespace chakrad {

std::vector<std::string> FuzzSeeds() {
  const std::string layers =
      "\n3\n"
      "first -1 300 ALLTOALL 98304 7 NONE 0 9 ALLREDUCE 4096 10\n"
      "second\t-1\t20\tALLGATHER\t64\t8\tREDUCESCATTER\t64\t5\tNONE\t0\t3\n"
      "third -1 2 ALLREDUCE 8 2 ALLREDUCE 8 2 ALLREDUCE 8 1\n";
  const std::string customized =
      "\n2\n"
      "first -1 300 ALLTOALL 98304 7 NONE 0 9 ALLREDUCE 4096 10 DATA\n"
      "second -1 2 ALLREDUCE 8 2 ALLREDUCE 8 2 ALLREDUCE 8 1 HYBRID_DATA_MODEL\n";
  return {
      "DATA" + layers,
      "MICRO" + layers,
      "HYBRID_DLRM 1" + layers,
      "HYBRID_CUSTOMIZED" + customized,
      "HYBRID_TRANSFORMER model_parallel_NPU_group: 2" + layers,
      "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 checkpoints: 1 0 "
      "checkpoint_initiates: 1 2" +
          layers,
  };
}

bool FuzzOne(absl::string_view bytes) {
  bool accepted = false;
  for (const bool lenient : {false, true}) {
    const auto source = OpenMemorySource(bytes);
    Ledger ledger;
    const auto ranks = ReadAstraText(source.get(), {.npus_count = 4, .passes_count = 2},
                                     {.lenient = lenient}, &ledger);
    if (ranks.ok()) CHECK(ledger.Balanced()) << ledger.input_records;
    accepted |= ranks.ok() && !lenient;
  }
  return accepted;
}

}  // namespace chakrad
