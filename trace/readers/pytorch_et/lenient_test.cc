#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "trace/readers/pytorch_et/et_test_util.h"
#include "trace/readers/pytorch_et/pytorch_et.h"
#include "trace/readers/testing/sources.h"

namespace chakrad {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr ReadOptions kLenient{.lenient = true};

TEST(LenientEtTest, AFileWithoutNodesIsAnErrorNotAnEmptyTrace) {
  EXPECT_THAT(Read(R"({"schema":"1.0.1","nodes":[]})"),
              StatusIs(kInvalid, "nodes: the file holds none"));
  Ledger ledger;
  EXPECT_THAT(Read(R"({"schema":"1.0.1","nodes":[17]})", &ledger, kLenient),
              StatusIs(kInvalid, "none that can be read (1 records)"));
}

// An observer that was stopped while node 9 ran wrote its children and not it.
TEST(LenientEtTest, LenientNodesWithoutTheirParentGoUnderTheRootOfTheirThread) {
  const std::string text =
      R"({"schema":"1.0.1","nodes":[{"name":"[pytorch|profiler|execution_graph|thread]","id":2,)"
      R"("parent":1,"tid":1},{"name":"a","id":3,"parent":9,"tid":1},{"name":"b","id":4,)"
      R"("parent":3,"tid":1},{"name":"c","id":5,"parent":9,"tid":7},)"
      R"({"name":"[pytorch|profiler|execution_graph|process]","id":1,"parent":1}]})";
  EXPECT_THAT(Read(text), StatusIs(kInvalid, "--lenient"));
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(const PyTorchEt et, Read(text, &ledger, kLenient));
  ASSERT_THAT(et.ops, SizeIs(5));
  EXPECT_EQ(et.ops[1].parent, 2u);
  EXPECT_EQ(et.ops[2].parent, 3u);
  EXPECT_EQ(et.ops[3].parent, 1u);  // Nothing is the root of thread 7: the process.
  EXPECT_EQ(ledger.flaws_by_rule["missing_parent"], 2);
  ASSERT_THAT(ledger.flaws, SizeIs(2));
  EXPECT_THAT(ledger.flaws[0].reason,
              HasSubstr("parent 9 is not in the file; it goes under node 2"));
  EXPECT_EQ(ledger.kept, 5);
  EXPECT_TRUE(ledger.Balanced());
}

TEST(LenientEtTest, LenientFilesWithoutAnyRootStillHaveNoDanglingParent) {
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(
      const PyTorchEt et,
      Read(R"({"schema":"1.0.1","nodes":[{"name":"a","id":3,"parent":9}]})", &ledger, kLenient));
  EXPECT_EQ(et.ops[0].parent, 3u);  // A root itself.
}

TEST(LenientEtTest, LenientALaterNodeOfATakenIdIsRejectedAndTheFirstOneStays) {
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(const PyTorchEt et, Read(Flat(R"({"name":"a","id":3,"parent":2},)"
                                                     R"({"name":"b","id":3,"parent":2},17,)"
                                                     R"({"name":"c","parent":2})"),
                                                &ledger, kLenient));
  ASSERT_THAT(et.ops, SizeIs(3));
  EXPECT_EQ(et.strings.Get(et.ops[1].name), "a");
  EXPECT_EQ(ledger.rejected_by_rule["duplicate_node_id"], 1);
  EXPECT_EQ(ledger.rejected_by_rule["bad_node"], 2);
  EXPECT_EQ(ledger.rejections[0].record, 2);
  EXPECT_GT(ledger.rejections[0].byte_offset, 0);
  EXPECT_TRUE(ledger.Balanced());
}

// What is refused leaves no trace: its id is free, and nobody is its child.
TEST(LenientEtTest, LenientARejectedNodeIsNobodysParent) {
  Ledger ledger;
  ASSERT_OK_AND_ASSIGN(
      const PyTorchEt et,
      Read(Flat(absl::StrCat(FlatCall(3, "gloo:x", R"([[1,2,0,-5,4,"cpu"]])", "[]", "[]", "[]"),
                             R"(,{"name":"b","id":4,"parent":3})")),
           &ledger, kLenient));
  ASSERT_THAT(et.ops, SizeIs(3));
  EXPECT_EQ(et.ops[1].parent, 1u);
  EXPECT_EQ(ledger.flaws_by_rule["missing_parent"], 1);
}

}  // namespace
}  // namespace chakrad
