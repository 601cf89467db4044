#include <algorithm>

#include "absl/strings/str_cat.h"
#include "analysis/kernels/kernel_stats.h"
#include "chakrad/v1/analysis.pb.h"
#include "common/utf8.h"
#include "server/analysis/list_budget.h"
#include "server/analysis/notices.h"
#include "server/analysis/sections.h"

namespace chakrad {
namespace {

const char* KindName(IntervalKind kind) {
  switch (kind) {
    case IntervalKind::kCompute:
      return "compute";
    case IntervalKind::kComm:
      return "comm";
    case IntervalKind::kMemory:
      return "memory";
    case IntervalKind::kHost:
      break;
  }
  return "host";
}

void ToProto(const KernelStats& kernel, int64_t total_ps, v1::KernelStats* proto) {
  proto->set_name(ValidUtf8(kernel.name, kMaxAnalysisNameBytes));
  proto->set_kind(KindName(kernel.kind));
  proto->set_count(kernel.count);
  proto->set_total_ps(kernel.total_ps);
  proto->set_min_ps(kernel.min_ps);
  proto->set_max_ps(kernel.max_ps);
  proto->set_mean_ps(kernel.mean_ps);
  proto->set_stddev_ps(kernel.stddev_ps);
  if (total_ps > 0) {
    proto->set_share(static_cast<double>(kernel.total_ps) / static_cast<double>(total_ps));
  }
}

}  // namespace

void FillKernels(const SectionInput& input, v1::TimelineAnalysis* answer) {
  const KernelBreakdown breakdown = BreakDownKernels(*input.job);
  answer->set_kernels_count(static_cast<int64_t>(breakdown.kernels.size()));
  v1::KernelTotals* totals = answer->mutable_kernel_totals();
  totals->set_compute_ps(breakdown.compute_ps);
  totals->set_comm_ps(breakdown.comm_ps);
  totals->set_memory_ps(breakdown.memory_ps);
  totals->set_count(breakdown.count);
  ListBudget budget;
  for (size_t i = 0; i < std::min(input.top, breakdown.kernels.size()); ++i) {
    ToProto(breakdown.kernels[i], breakdown.total_ps(), answer->add_kernels());
    if (!budget.KeepLast(answer->mutable_kernels())) break;
  }
  if (static_cast<size_t>(answer->kernels_size()) < breakdown.kernels.size()) {
    AddNotices({absl::StrCat("kernels: the ", answer->kernels_size(), " with most time of ",
                             breakdown.kernels.size(), " are listed")},
               answer);
  }
}

}  // namespace chakrad
