#include "server/rpc/trace_filter.h"

#include <gtest/gtest.h>

#include "common/status_matchers.h"

namespace chakrad {
namespace {

TraceInfo Llama() {
  TraceInfo trace;
  trace.labels = {{"job", "llama 70b"}, {"cluster", "east-1"}};
  trace.world_size = 8;
  return trace;
}

bool Matches(absl::string_view filter) {
  const auto parsed = ParseTraceFilter(filter);
  EXPECT_THAT(parsed, IsOk()) << filter;
  return parsed.ok() && (*parsed)(Llama());
}

TEST(TraceFilterTest, TermsCompareLabelsAndWorldSize) {
  EXPECT_TRUE(Matches("labels.cluster = east-1"));
  EXPECT_TRUE(Matches("labels.job = \"llama 70b\" AND world_size = 8"));
  EXPECT_FALSE(Matches("labels.job = \"llama 70b\" AND world_size = 4"));
  EXPECT_TRUE(Matches("labels.cluster!=west AND world_size!=4"));
  EXPECT_FALSE(Matches("labels.cluster != east-1"));
}

TEST(TraceFilterTest, AMissingLabelIsEmpty) {
  EXPECT_TRUE(Matches("labels.team = \"\""));
  EXPECT_TRUE(Matches("labels.team != red"));
}

TEST(TraceFilterTest, QuotesAndBackslashesAreEscaped) {
  TraceInfo trace;
  trace.labels = {{"job", "a\"b\\c"}};
  const auto filter = ParseTraceFilter("labels.job = \"a\\\"b\\\\c\"");
  ASSERT_THAT(filter, IsOk());
  EXPECT_TRUE((*filter)(trace));
}

TEST(TraceFilterTest, AnEmptyFilterIsNull) {
  ASSERT_OK_AND_ASSIGN(const auto filter, ParseTraceFilter("  "));
  EXPECT_EQ(filter, nullptr);
}

TEST(TraceFilterTest, ErrorsTellPositionAndExpectation) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(ParseTraceFilter("job = x"), StatusIs(kInvalid, "labels.KEY or world_size"));
  EXPECT_THAT(ParseTraceFilter("labels.job"), StatusIs(kInvalid, "expected = or !="));
  EXPECT_THAT(ParseTraceFilter("labels.job !"), StatusIs(kInvalid, "expected = or !="));
  EXPECT_THAT(ParseTraceFilter("labels.job ="), StatusIs(kInvalid, "a value"));
  EXPECT_THAT(ParseTraceFilter("labels.job = \"x"), StatusIs(kInvalid, "closing quote"));
  EXPECT_THAT(ParseTraceFilter("labels.job = \"x\\"), StatusIs(kInvalid, "closing quote"));
  EXPECT_THAT(ParseTraceFilter("world_size = many"), StatusIs(kInvalid, "whole number"));
  EXPECT_THAT(ParseTraceFilter("world_size = 1 OR world_size = 2"), StatusIs(kInvalid, "AND"));
  EXPECT_THAT(ParseTraceFilter(std::string(10'000, 'x')), StatusIs(kInvalid, "4096"));
}

}  // namespace
}  // namespace chakrad
