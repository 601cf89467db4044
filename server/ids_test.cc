#include "server/ids.h"

#include <gtest/gtest.h>

#include "common/status_matchers.h"
#include "server/limits.h"

namespace chakrad {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

TEST(IdsTest, NamesAreTakenApart) {
  ASSERT_OK_AND_ASSIGN(const std::string id, IdFromName("traces/t-0a1", "traces", "name"));
  EXPECT_EQ(id, "t-0a1");
}

TEST(IdsTest, WrongNamesAreRefusedWithTheFieldAndTheForm) {
  for (const std::string& name :
       {std::string(""), std::string("traces/"), std::string("t-1"), std::string("jobs/t-1"),
        std::string("traces/../x"), std::string("traces/T"), std::string("traces/a/b"),
        "traces/" + std::string(65, 'a'), std::string("traces/a\0b", 10)}) {
    EXPECT_THAT(IdFromName(name, "traces", "spec.trace"),
                StatusIs(kInvalid, "is not of the form traces/{id}"))
        << name;
  }
  EXPECT_THAT(IdFromName("x", "traces", "spec.trace"), StatusIs(kInvalid, "spec.trace: \"x\""));
}

TEST(IdsTest, RandomIdsDifferAndAreValid) {
  const std::string a = RandomId(), b = RandomId();
  EXPECT_NE(a, b);
  EXPECT_EQ(a.size(), 16u);
  EXPECT_THAT(IdFromName("jobs/j-" + a, "jobs", "name"), IsOk());
}

TEST(IdsTest, RequestIdsHaveBoundsAndAnAlphabet) {
  EXPECT_THAT(CheckRequestId("Push_2024-01-02.a"), IsOk());
  EXPECT_THAT(CheckRequestId(std::string(kMaxRequestIdChars, 'x')), IsOk());
  EXPECT_THAT(CheckRequestId(std::string(kMaxRequestIdChars + 1, 'x')), StatusIs(kInvalid, "128"));
  EXPECT_THAT(CheckRequestId(""), StatusIs(kInvalid, "request_id"));
  EXPECT_THAT(CheckRequestId("a b"), StatusIs(kInvalid, "request_id"));
}

TEST(IdsTest, LabelsHaveBoundsAndNoControlCharacters) {
  EXPECT_THAT(CheckLabels({{"job", "llama 70b \"x\""}, {"team.name", ""}}), IsOk());
  EXPECT_THAT(CheckLabels({{"Job", "x"}}), StatusIs(kInvalid, "the key \"Job\""));
  EXPECT_THAT(CheckLabels({{"", "x"}}), StatusIs(kInvalid, "the key \"\""));
  EXPECT_THAT(CheckLabels({{"job", "a\nb"}}), StatusIs(kInvalid, "control character"));
  EXPECT_THAT(CheckLabels({{"job", std::string(1 << 20, 'x')}}),
              StatusIs(kInvalid, "the value of job has 1048576 bytes"));
}

}  // namespace
}  // namespace chakrad
