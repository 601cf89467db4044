#include "storage/quantity_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace chakrad {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

TEST(QuantityTextTest, DurationsAddTheirParts) {
  EXPECT_EQ(ParseDurationNs("20s"), 20 * kSecondNs);
  EXPECT_EQ(ParseDurationNs("1d12h"), 36 * 3600 * kSecondNs);
  EXPECT_EQ(ParseDurationNs("2w"), 14 * 86400 * kSecondNs);
  EXPECT_EQ(ParseDurationNs("1.5s"), 1'500'000'000);
  EXPECT_EQ(ParseDurationNs("300ms7us1ns"), 300'007'001);
  EXPECT_EQ(ParseDurationNs("-5m"), -300 * kSecondNs);
  EXPECT_EQ(ParseDurationNs("0"), 0);
  EXPECT_EQ(ParseDurationNs("9223372036854775807ns"), std::numeric_limits<int64_t>::max());
}

TEST(QuantityTextTest, WhatIsNoDurationIsNone) {
  for (const char* text : {"", "-", "5", "s", "5 s", "5x", "1e3s", "5s ", "1..5s", "--5s",
                           "9223372036854775808ns", "999999999999999999d", "inf", "nans"}) {
    EXPECT_EQ(ParseDurationNs(text), std::nullopt) << text;
  }
}

TEST(QuantityTextTest, DurationsAndSizesPrintShortAndDurationsReadBack) {
  EXPECT_EQ(DurationText(30 * 86400 * kSecondNs), "30d");
  EXPECT_EQ(DurationText(36 * 3600 * kSecondNs), "1d12h");
  EXPECT_EQ(DurationText(1'500'000'000), "1s500ms");
  for (const int64_t duration_ns :
       {int64_t{0}, int64_t{-90'000'000'001}, int64_t{1}, std::numeric_limits<int64_t>::max()}) {
    EXPECT_EQ(ParseDurationNs(DurationText(duration_ns)), duration_ns);
  }
  EXPECT_EQ(SizeText(int64_t{500} << 30), "500GiB");
  EXPECT_EQ(SizeText(1'500'000), "1.4MiB");
  EXPECT_EQ(SizeText(17), "17B");
}

TEST(QuantityTextTest, SizesKnowBothKindsOfUnits) {
  EXPECT_EQ(ParseSizeBytes("4096"), 4096);
  EXPECT_EQ(ParseSizeBytes("500GiB"), int64_t{500} << 30);
  EXPECT_EQ(ParseSizeBytes("1.5 TB"), 1'500'000'000'000);
  EXPECT_EQ(ParseSizeBytes("0"), 0);
  for (const char* text : {"", "GiB", "-1", "5gib", "5 Gi", "9000PiB", "nan", "+5", "0x10"}) {
    EXPECT_EQ(ParseSizeBytes(text), std::nullopt) << text;
  }
}

TEST(QuantityTextTest, TimesAreRfc3339OrDates) {
  EXPECT_EQ(ParseTimeUnixNs("1970-01-02"), 86400 * kSecondNs);
  EXPECT_EQ(ParseTimeUnixNs("1970-01-01T01:00:00.5+01:00"), kSecondNs / 2);
  for (const int64_t unix_ns : {int64_t{0}, int64_t{1'700'000'000'123'456'789}, int64_t{-1}}) {
    EXPECT_EQ(ParseTimeUnixNs(TimeText(unix_ns)), unix_ns) << TimeText(unix_ns);
  }
  for (const char* text : {"", "2026", "2026-13-01", "2026-02-30T00:00:00Z", "infinite-future",
                           "2500-01-01", "1500-01-01", "2026-11-01T08:00:00", "99999999-01-01"}) {
    EXPECT_EQ(ParseTimeUnixNs(text), std::nullopt) << text;
  }
}

TEST(QuantityTextTest, PlainNumbersHaveAtMostFifteenDigitsAndNoExponent) {
  EXPECT_EQ(ParsePlainNumber("300"), 300);
  EXPECT_EQ(ParsePlainNumber("-0.25"), -0.25);
  EXPECT_EQ(ParsePlainNumber("0.1"), 0.1);
  EXPECT_EQ(ParsePlainNumber("999999999999999"), 999999999999999);
  for (const char* text :
       {"", "-", ".5", "5.", "1.2.3", "1e5", "0x1", "+1", " 1", "nan", "1234567890123456", "1-2"}) {
    EXPECT_EQ(ParsePlainNumber(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace chakrad
