// What a fuzz target gives: libFuzzer's entry, and inputs to start from.
#ifndef CHAKRAD_TESTS_FUZZ_FUZZ_TARGET_H_
#define CHAKRAD_TESTS_FUZZ_FUZZ_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Reads the bytes as one file. Ends the process when a promise of the reader is
// broken: a crash, a ledger that does not add up.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace chakrad {

// Small good files that between them use everything the reader knows.
std::vector<std::string> FuzzSeeds();

}  // namespace chakrad

#endif  // CHAKRAD_TESTS_FUZZ_FUZZ_TARGET_H_
