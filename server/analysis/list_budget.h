// Keeps each list of an answer within its share of the answer's bytes.
#ifndef CHAKRAD_SERVER_ANALYSIS_LIST_BUDGET_H_
#define CHAKRAD_SERVER_ANALYSIS_LIST_BUDGET_H_

#include <cstddef>

#include "server/limits.h"

namespace chakrad {

// Of one list. Not thread-safe.
class ListBudget {
 public:
  explicit ListBudget(size_t max_bytes = kMaxAnalysisListBytes) : max_bytes_(max_bytes) {}

  // Whether the entry at the end of `list` (a RepeatedPtrField) still fits; else it is taken
  // away again, and nothing more fits.
  template <typename List>
  bool KeepLast(List* list) {
    bytes_ += list->rbegin()->ByteSizeLong() + kFramingBytes;
    if (bytes_ <= max_bytes_) return true;
    bytes_ = max_bytes_;
    list->RemoveLast();
    return false;
  }

 private:
  static constexpr size_t kFramingBytes = 5;
  const size_t max_bytes_;
  size_t bytes_ = 0;
};

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_ANALYSIS_LIST_BUDGET_H_
