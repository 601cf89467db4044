// The quick look at records that are right, as nearly all are.
#ifndef CHAKRAD_TRACE_READERS_REPAIR_QUICK_CHECK_H_
#define CHAKRAD_TRACE_READERS_REPAIR_QUICK_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"

namespace chakrad {

// Not thread-safe.
class QuickCheck {
 public:
  QuickCheck();
  ~QuickCheck();
  // Where the object or list ends that `text` starts with, if all of it is here and
  // CheckJsonPrefix would find nothing wrong with it. 0: that is not known. Adds to
  // `*looks` the bytes it looked at for nothing; where that happens often, it
  // looks seldom.
  size_t SizeOfValue(absl::string_view text, int64_t* looks);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
  // Values to let pass before the next look, and how many to let pass after a look
  // that was for nothing: twice as many each time, one less after a good one.
  int waiting_ = 0, wait_ = 0;
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_REPAIR_QUICK_CHECK_H_
