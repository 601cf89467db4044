#include <memory>
#include <string>

#include "common/check.h"
#include "server/retention/policies_yaml.h"
#include "storage/limits.h"
#include "storage/trace_filter.h"
#include "storage/trace_search.h"
#include "tests/fuzz/fuzz_target.h"

namespace chakrad {
namespace {

TraceCards Cards() {
  TraceCards cards;
  for (int i = 0; i < 3; ++i) {
    auto card = std::make_shared<TraceCard>();
    card->id = std::string("t-") + static_cast<char>('a' + i);
    card->create_unix_ns = 1000 + i;
    if (i > 0)
      card->labels = {{"job", "llama"}, {"step", std::string(static_cast<size_t>(i), '7')}};
    if (i > 1) card->breakdown.emplace();
    cards.push_back(card);
  }
  return cards;
}

// What is refused is refused as the caller's fault.
template <typename Result>
bool Took(const Result& result) {
  CHECK(result.ok() || absl::IsInvalidArgument(result.status())) << result.status();
  return result.ok();
}

}  // namespace

std::vector<std::string> FuzzSeeds() {
  return {R"(labels.job = "ll*\*a" AND -(span < 1h30m OR quality>=.5) NOT labels."a b":'x' text)",
          R"(create_time > 2026-11-01T08:00:00Z stored_bytes<=10GiB pinned=true labels:job id:"*")",
          "exposed_comm_ratio desc, labels.step, labels.\"a b\", name asc",
          "policies:\n - {name: p, filter: 'a OR b', group_by: [job, x], keep_newest: 7,\n"
          "    keep_for: 30d, keep_one_a_day: true, keep_representative: 5, max_bytes: 5GiB}\n"
          " - name: q\n   max_bytes: 4096\n"};
}

bool FuzzOne(absl::string_view bytes) {
  static const TraceCards cards = Cards();
  const absl::StatusOr<TraceFilter> filter = TraceFilter::Parse(bytes);
  const absl::StatusOr<TraceOrder> order = TraceOrder::Parse(bytes);
  const TraceFilter used_filter = Took(filter) ? *filter : TraceFilter();
  const TraceOrder used_order = Took(order) ? *order : TraceOrder();
  const std::string printed = used_filter.ToString();
  if (printed.size() <= kMaxFilterBytes) {
    const absl::StatusOr<TraceFilter> again = TraceFilter::Parse(printed);
    CHECK(again.ok()) << again.status() << " of " << printed;
    CHECK(again->ToString() == printed) << printed;
    for (const auto& card : cards) CHECK(again->Matches(*card) == used_filter.Matches(*card));
  }
  const auto page = SearchTraces(cards, used_filter, used_order, 1, "");
  CHECK(page.ok()) << page.status();
  const auto next = SearchTraces(cards, used_filter, used_order, 1, page->next_page_token);
  CHECK(next.ok() && next->total_count == page->total_count);
  static_cast<void>(Took(SearchTraces(cards, used_filter, used_order, 1, bytes)));
  return Took(ParsePoliciesYaml(bytes)) | filter.ok() | order.ok();
}

}  // namespace chakrad
