// The first page of a hundred thousand traces.
#include <benchmark/benchmark.h>

#include "common/check.h"
#include "storage/random_cards.h"
#include "storage/trace_search.h"

namespace chakrad {
namespace {

struct Query {
  const char* filter;
  const char* order_by;
};
constexpr Query kQueries[] = {
    {"", ""},
    {"labels.job = \"llama-7\"", ""},
    {"labels.step < 300000", "labels.step desc"},
    {"", "labels.user, labels.commit desc"},
    {"exposed_comm_ratio > 0.2 AND quality > 0.5 AND labels.cluster = \"east-*\"",
     "exposed_comm_ratio desc, stored_bytes"},
    {"nothing has this", "quality"},
    {"llama3 -user7 OR dlrm", "stored_bytes desc"},
    {"labels.job=a OR labels.model=a OR labels.cluster=a OR labels.step=1 OR labels.user=a OR "
     "labels.commit=a OR labels.nope=a OR labels.other=a",
     ""},
};

void BM_FirstPage(benchmark::State& state) {
  static const TraceCards cards = RandomCards(1, 100'000);
  const Query& query = kQueries[state.range(0)];
  int64_t found = 0;
  for (auto _ : state) {
    const auto filter = TraceFilter::Parse(query.filter);
    const auto order = TraceOrder::Parse(query.order_by);
    CHECK(filter.ok() && order.ok()) << filter.status() << order.status();
    const auto page = SearchTraces(cards, *filter, *order, 50, "");
    CHECK(page.ok()) << page.status();
    found = page->total_count;
  }
  state.counters["found"] = static_cast<double>(found);
  state.SetLabel(std::string(query.filter) + " | " + query.order_by);
}
BENCHMARK(BM_FirstPage)->DenseRange(0, 7)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace chakrad

BENCHMARK_MAIN();
