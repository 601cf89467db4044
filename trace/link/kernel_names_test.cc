#include "trace/link/kernel_names.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"

namespace chakrad {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

TEST(KernelNamesTest, AUsersEntriesComeBeforeTheTableAndTheFirstThatFitsDecides) {
  ASSERT_OK_AND_ASSIGN(const KernelNames names, ParseKernelNames(R"({"kernel_names": [
    {"prefix": "acme::ar", "meaning": "all_reduce"},
    {"glob": "*acme::*p2p?", "meaning": "undecided"},
    {"contains": "acme", "meaning": "all_gather"},
    {"prefix": "ncclDevKernel_AllReduce_Sum_f64", "meaning": "not_comm"},
    {"contains": "nccl_free", "meaning": "not_comm"}]})"));
  EXPECT_EQ(names.Classify("acme::ar<float>()").kind.collective, CollectiveType::kAllReduce);
  EXPECT_EQ(names.Classify("acme::ar<float>()").kernel_class, KernelClass::kComm);
  EXPECT_EQ(names.Classify("void acme::p2p4").kernel_class, KernelClass::kUndecided);
  EXPECT_EQ(names.Classify("void acme::p2p").kind.collective, CollectiveType::kAllGather);
  EXPECT_EQ(names.Classify("ncclDevKernel_AllReduce_Sum_f64_RING_LL()").kernel_class,
            KernelClass::kNotComm);
  EXPECT_EQ(names.Classify("ncclDevKernel_AllReduce_Sum_f32_RING_LL()").kernel_class,
            KernelClass::kComm);
  EXPECT_EQ(names.Classify("my_nccl_free_cleanup").kernel_class, KernelClass::kNotComm);
  EXPECT_EQ(names.Classify("Acme").kernel_class, KernelClass::kNotComm);  // Case counts.
}

TEST(KernelNamesTest, EveryMeaningIsUnderstood) {
  for (const char* op : {"all_reduce", "all_gather", "all_to_all", "reduce_scatter", "broadcast",
                         "reduce", "gather", "scatter", "barrier", "send", "recv"}) {
    ASSERT_OK_AND_ASSIGN(const KernelNames names,
                         ParseKernelNames(absl::StrCat(
                             R"({"kernel_names":[{"prefix":"x","meaning":")", op, R"("}]})")));
    EXPECT_EQ(names.Classify("x").kernel_class, KernelClass::kComm) << op;
    EXPECT_EQ(names.Classify("x").kind, CommKindOfOp(op)) << op;
  }
}

TEST(KernelNamesTest, FaultyEntriesAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "not JSON"},
      {"[]", "kernel_names: missing"},
      {R"({"kernel_names":{}})", "not a list"},
      {R"({"kernel_names":[{"prefix":"a","meaning":"send"},7]})", "kernel_names[1]: is not an obj"},
      {R"({"kernel_names":[{"meaning":"send"}]})", "has none of contains"},
      {R"({"kernel_names":[{"prefix":"a"}]})", "has no meaning"},
      {R"({"kernel_names":[{"prefix":"","meaning":"send"}]})", "prefix: is not a text"},
      {R"({"kernel_names":[{"prefix":"a","glob":"b","meaning":"send"}]})", "has two of"},
      {R"({"kernel_names":[{"prefix":"a","meaning":"sendrecv"}]})", "\"sendrecv\" is none of"},
      {R"({"kernel_names":[{"regex":"a","meaning":"send"}]})", "regex: unknown"},
  };
  for (const auto& [json, part] : cases) {
    EXPECT_THAT(ParseKernelNames(json), StatusIs(kInvalid, part));
  }
  const std::string entry = R"({"prefix":"a","meaning":"send"})";
  std::string many = entry;
  for (size_t i = 0; i < kMaxKernelNameRules; ++i) absl::StrAppend(&many, ",", entry);
  EXPECT_THAT(ParseKernelNames(absl::StrCat(R"({"kernel_names":[)", many, "]}")),
              StatusIs(kInvalid, "257 entries are more than 256"));
  EXPECT_THAT(ParseKernelNames(absl::StrCat(R"({"kernel_names":[{"glob":")", std::string(300, '*'),
                                            R"(","meaning":"send"}]})")),
              StatusIs(kInvalid, "300 bytes are more than 256"));
}

TEST(KernelNamesTest, GlobsFitWholeNames) {
  EXPECT_TRUE(GlobFits("", ""));
  EXPECT_FALSE(GlobFits("", "a"));
  EXPECT_TRUE(GlobFits("*", ""));
  EXPECT_TRUE(GlobFits("a*c", "abbc"));
  EXPECT_FALSE(GlobFits("a*c", "abbcd"));
  EXPECT_TRUE(GlobFits("a?c*", "abc"));
  EXPECT_FALSE(GlobFits("a?c", "ac"));
  EXPECT_TRUE(GlobFits("*ab*ab", "abab"));
}

// A matcher that tries every split would not end here.
TEST(KernelNamesTest, PatternsOfManyStarsTakeNoLonger) {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "*a";
  EXPECT_FALSE(GlobFits(pattern + "b", std::string(4096, 'a')));
}

}  // namespace
}  // namespace chakrad
