// What a plan over a hundred thousand traces costs.
#include <benchmark/benchmark.h>

#include "analysis/representative.h"
#include "common/check.h"
#include "storage/random_cards.h"
#include "storage/retention_plan.h"

namespace chakrad {
namespace {

RetentionPolicy Policy(const char* name, const char* filter) {
  RetentionPolicy policy;
  policy.name = name;
  policy.filter = *TraceFilter::Parse(filter);
  return policy;
}

// Newest, a month, one a day, a quota: all rules but the dear one.
void BM_Plan(benchmark::State& state) {
  const TraceCards cards = RandomCards(1, 100'000);
  RetentionPolicy jobs = Policy("jobs", "labels.job:*");
  jobs.group_by = {"job"};
  jobs.keep_newest = 7;
  jobs.keep_one_a_day = true;
  RetentionPolicy month = Policy("month", "");
  month.keep_for_ns = int64_t{30} * 86400 * 1'000'000'000;
  RetentionPolicy quota = Policy("quota", "");
  quota.max_bytes = int64_t{500} << 30;
  std::vector<RetentionPolicy> policies{jobs, month, quota};
  if (state.range(0) != 0) policies[0].keep_representative = 5;
  for (auto _ : state) {
    const RetentionPlan plan = PlanRetention(
        policies, cards, {cards[0]->create_unix_ns, std::nullopt}, ChooseRepresentatives);
    CHECK(plan.decisions.size() == cards.size());
  }
  state.SetLabel(state.range(0) != 0 ? "with 5 representatives of each of 40 jobs" : "");
}
BENCHMARK(BM_Plan)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace chakrad

BENCHMARK_MAIN();
