// Lists of stored traces: filtered, ordered, in pages. Pure functions over cards.
#ifndef CHAKRAD_STORAGE_TRACE_SEARCH_H_
#define CHAKRAD_STORAGE_TRACE_SEARCH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "storage/trace_card.h"
#include "storage/trace_fields.h"
#include "storage/trace_filter.h"

namespace chakrad {

// An order of traces: by fields, one after the other, each ascending or descending. What a
// trace does not tell comes last either way. Labels: numbers (at most 15 digits) by value
// before other text by bytes. Traces that are equal in all fields: newest first, then by id,
// descending; so two traces are never in the same place.
class TraceOrder {
 public:
  TraceOrder() = default;  // Newest first.

  // "exposed_comm_ratio desc, labels.step". Blank: newest first. INVALID_ARGUMENT: not a
  // field, a field twice, above kMaxOrderByBytes or kMaxOrderFields.
  static absl::StatusOr<TraceOrder> Parse(absl::string_view text);

  struct Key {
    TraceField field;
    bool descending = false;
  };
  const std::vector<Key>& keys() const { return keys_; }
  std::string ToString() const;

 private:
  std::vector<Key> keys_;
};

struct TraceSearchPage {
  TraceCards traces;            // In the order that was asked for.
  std::string next_page_token;  // Empty on the last page.
  int64_t total_count = 0;      // Of all traces for which the filter holds, on all pages.
};

// The page after `page_token`, or the first when it is empty. A token tells a place in the
// order, not a number: traces that come and go meanwhile make no other one appear twice or
// not at all. (A trace whose place changes, as by pinning where `pinned` is ordered by, is
// seen in its new one.) INVALID_ARGUMENT: page_size below 1; a token of another filter or
// order, or one that no list returned.
//
// Copies no card: O(traces) for the filter, O(matching x log page_size) at most for the
// order; memory follows the page.
absl::StatusOr<TraceSearchPage> SearchTraces(const TraceCards& cards, const TraceFilter& filter,
                                             const TraceOrder& order, int page_size,
                                             absl::string_view page_token);

// The token of the page that begins after `card`: for a page that had to be cut short.
std::string TracePageToken(const TraceFilter& filter, const TraceOrder& order,
                           const TraceCard& card);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_TRACE_SEARCH_H_
