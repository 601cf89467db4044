#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/memory/memory_over_time.h"
#include "chakrad/v1/analysis.pb.h"
#include "common/utf8.h"
#include "server/analysis/list_budget.h"
#include "server/analysis/notices.h"
#include "server/analysis/sections.h"

namespace chakrad {
namespace {

// Of one device of one rank: a curve on a screen has no more.
constexpr int64_t kMaxMemorySteps = 500;

void ToProto(int32_t rank, const MemoryUse& use, v1::MemoryTimeline* proto) {
  proto->set_rank(rank);
  proto->set_device(ValidUtf8(use.device, kMaxAnalysisNameBytes));
  proto->set_resident_bytes(use.resident_bytes);
  proto->set_peak_bytes(use.peak_bytes);
  proto->set_peak_at_ps(use.peak_at_ps);
  for (const MemoryStep& step : use.steps) {
    proto->add_at_ps(step.at_ps);
    proto->add_bytes(step.bytes);
  }
}

}  // namespace

void FillMemory(const SectionInput& input, v1::TimelineAnalysis* answer) {
  if (input.job != input.whole) AddNotices({"memory: of the whole timeline"}, answer);
  ListBudget budget;
  bool coarse = false, any = false;
  for (const RankTimeline& rank : input.whole->ranks) {
    for (const MemoryUse& use : MemoryOverTime(rank, kMaxMemorySteps)) {
      any = true;
      coarse = coarse || use.steps_coarse;
      ToProto(rank.rank, use, answer->add_memory());
      if (budget.KeepLast(answer->mutable_memory())) continue;
      AddNotices({absl::StrCat("memory: only the first ", answer->memory_size(),
                               " devices are listed; name some ranks")},
                 answer);
      return;
    }
  }
  if (!any) {
    AddNotices({"memory: the operators of the trace name no tensors"}, answer);
  } else if (coarse) {
    AddNotices({absl::StrCat("memory: of more than ", kMaxMemorySteps,
                             " changes each listed one is the most in its part of the time")},
               answer);
  }
}

}  // namespace chakrad
