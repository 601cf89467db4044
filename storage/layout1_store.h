// Makes a store of layout 1 out of one of this layout: for tests.
#ifndef CHAKRAD_STORAGE_LAYOUT1_STORE_H_
#define CHAKRAD_STORAGE_LAYOUT1_STORE_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "storage/kv.h"

namespace chakrad {

// As a daemon of layout 1 had written the same traces: no cards, no totals, times in an
// index of their own, and the chunk of a draft that was cut short, with a count of 0.
// Traces in `create_unix_ns` get that time.
absl::Status MakeLayout1(Kv* kv, const std::map<std::string, int64_t>& create_unix_ns);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_LAYOUT1_STORE_H_
