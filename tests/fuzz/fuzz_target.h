// What a fuzz target gives: one reading, and inputs to start from.
#ifndef CHAKRAD_TESTS_FUZZ_FUZZ_TARGET_H_
#define CHAKRAD_TESTS_FUZZ_FUZZ_TARGET_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakrad {

// Reads the bytes as one file; whether the reader took them (when strict, if it can
// be lenient). Ends the process when a promise of the reader is broken: a crash, a
// ledger that does not add up.
bool FuzzOne(absl::string_view bytes);

// Small good files, which FuzzOne takes, that between them use everything the reader knows.
std::vector<std::string> FuzzSeeds();

}  // namespace chakrad

#endif  // CHAKRAD_TESTS_FUZZ_FUZZ_TARGET_H_
