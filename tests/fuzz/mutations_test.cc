// A fuzz target over its seeds: whole, cut at every byte, and changed at random
// from a fixed seed. What libFuzzer does better for minutes (tools/fuzz), this
// does for a second in every run of the tests.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>

#include "tests/fuzz/fuzz_target.h"

namespace chakrad {
namespace {

constexpr int kMutationsPerSeed = 3000;
constexpr size_t kCutsMax = 4000;  // Of a longer seed every n-th byte.

bool RunOne(const std::string& bytes) {
  // A copy of the exact size: reading past the end is then a fault that asan sees.
  const std::vector<char> copy(bytes.begin(), bytes.end());
  return FuzzOne(absl::string_view(copy.data(), copy.size()));
}

size_t Below(size_t bound, std::mt19937_64* random) {
  return bound == 0 ? 0 : static_cast<size_t>((*random)() % bound);
}

// Pieces that formats are made of.
// A string view, so that NUL is one byte and not none.
constexpr std::string_view kTokens[] = {"{",
                                        "}",
                                        "[",
                                        "]",
                                        ",",
                                        ":",
                                        "\"",
                                        "\\",
                                        "\\u",
                                        "null",
                                        "true",
                                        "-1",
                                        "1e999",
                                        "NaN",
                                        "0",
                                        "{}",
                                        "[[",
                                        "->",
                                        "|",
                                        "9223372036854775808",
                                        std::string_view("\0", 1),
                                        "\xff",
                                        "\n",
                                        "\t",
                                        "\r",
                                        "18446744073709551616"};

void Mutate(std::string* bytes, std::mt19937_64* random) {
  const size_t at = Below(bytes->size() + 1, random);
  const size_t count = std::min(Below(40, random), bytes->size() - at);
  switch (Below(6, random)) {
    case 0:
      if (at < bytes->size()) (*bytes)[at] ^= static_cast<char>(1 << Below(8, random));
      break;
    case 1:
      if (at < bytes->size()) (*bytes)[at] = static_cast<char>(Below(256, random));
      break;
    case 2:
      bytes->erase(at, count);
      break;
    case 3:
      bytes->insert(at, bytes->substr(Below(bytes->size() + 1, random), count));
      break;
    case 4:
      bytes->insert(at, kTokens[Below(std::size(kTokens), random)]);
      break;
    default:
      bytes->resize(at);
      break;
  }
}

// A seed that the reader refuses would leave most of it untouched.
TEST(FuzzTest, SeedsAreThereAndTaken) {
  EXPECT_FALSE(FuzzSeeds().empty());
  for (const std::string& seed : FuzzSeeds()) EXPECT_TRUE(RunOne(seed)) << seed;
}

TEST(FuzzTest, InputsCutAtEveryByteDoNotCrash) {
  for (const std::string& seed : FuzzSeeds()) {
    const size_t step = 1 + seed.size() / kCutsMax;
    for (size_t size = 0; size < seed.size(); size += step) RunOne(seed.substr(0, size));
  }
}

TEST(FuzzTest, ChangedInputsDoNotCrash) {
  std::mt19937_64 random(20260101);
  for (const std::string& seed : FuzzSeeds()) {
    for (int i = 0; i < kMutationsPerSeed; ++i) {
      std::string bytes = seed;
      const size_t changes = 1 + Below(6, &random);
      for (size_t change = 0; change < changes; ++change) Mutate(&bytes, &random);
      RunOne(bytes);
    }
  }
}

}  // namespace
}  // namespace chakrad
