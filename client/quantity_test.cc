#include "client/quantity.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>

#include "client/json.h"
#include "client/table.h"

namespace chakrad::client {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

TEST(QuantityTest, MicrosecondsKeepEveryPicosecond) {
  EXPECT_EQ(PsAsUs(0), "0.000000");
  EXPECT_EQ(PsAsUs(1), "0.000001");
  EXPECT_EQ(PsAsUs(-1), "-0.000001");
  EXPECT_EQ(PsAsUs(-1'500'000), "-1.500000");
  // 2^53 + 1, which no double holds.
  EXPECT_EQ(PsAsUs(9'007'199'254'740'993), "9007199254.740993");
  EXPECT_EQ(PsAsUs(kMax), "9223372036854.775807");
  EXPECT_EQ(PsAsUs(kMin), "-9223372036854.775808");
}

TEST(QuantityTest, RoundingIsHalfAwayFromZero) {
  EXPECT_EQ(RoundedDecimal(1499, 3, 0), "1");
  EXPECT_EQ(RoundedDecimal(1500, 3, 0), "2");
  EXPECT_EQ(RoundedDecimal(-1500, 3, 0), "-2");
  EXPECT_EQ(RoundedDecimal(-499, 3, 0), "0");
  EXPECT_EQ(RoundedDecimal(999'999, 3, 2), "1000.00");
  EXPECT_EQ(RoundedDecimal(1234, 3, 3), "1.234");
  EXPECT_EQ(PsAsMs(12'304'500'000, 3), "12.305");
}

TEST(QuantityTest, CountsBytesAndSharesReadWell) {
  EXPECT_EQ(CountText(0), "0");
  EXPECT_EQ(CountText(999), "999");
  EXPECT_EQ(CountText(14'391), "14,391");
  EXPECT_EQ(CountText(-1'000'000), "-1,000,000");
  EXPECT_EQ(CountText(kMin), "-9,223,372,036,854,775,808");
  EXPECT_EQ(BytesText(1023), "1023 B");
  EXPECT_EQ(BytesText(1536), "1.5 KiB");
  EXPECT_EQ(BytesText(kMax), "8.0 EiB");
  EXPECT_EQ(PercentText(1, 8), "12.5");
  EXPECT_EQ(PercentText(0, 0), "-");
}

TEST(JsonTest, NanosecondsAreExactDecimals) {
  EXPECT_EQ(JsonText(PsAsNs(2000)), "2");
  EXPECT_EQ(JsonText(PsAsNs(1500)), "1.5");
  EXPECT_EQ(JsonText(PsAsNs(-1)), "-0.001");
  EXPECT_EQ(JsonText(PsAsNs(9'223'372'036'854'775'000)), "9223372036854775");
}

// Seeded random times below 10^15 ps: the text is the decimal, with trailing
// zeros cut.
TEST(JsonTest, NoDigitIsLostBelowAThousandSeconds) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 100'000; ++i) {
    const int64_t ps = static_cast<int64_t>(random() % 1'000'000'000'000'000);
    std::string wanted = FixedDecimal(ps, 3);
    wanted.erase(wanted.find_last_not_of('0') + 1);
    if (wanted.back() == '.') wanted.pop_back();
    ASSERT_EQ(JsonText(PsAsNs(ps)), wanted);
  }
  EXPECT_EQ(JsonText(PsAsNs(999'999'999'999'999)), "999999999999.999");
}

TEST(JsonTest, KeysKeepTheirOrderAndBadUtf8IsReplaced) {
  const Json json = {{"b", uint64_t{18446744073709551615u}}, {"a", "\xff"}};
  EXPECT_EQ(JsonText(json), "{\"b\":18446744073709551615,\"a\":\"\xEF\xBF\xBD\"}");
}

TEST(TableTest, NumbersStandRightAndWordsLeft) {
  Table table({{"name", "", Table::Align::kLeft}, {"time", "ms", Table::Align::kRight}});
  table.AddRow({"a", "1.5"});
  table.AddRow({"\xC3\xBC\x62\x65r", "1000.25"});  // Five bytes, four letters.
  EXPECT_EQ(table.Text(),
            "name     time\n"
            "           ms\n"
            "a         1.5\n"
            "\xC3\xBC\x62\x65r  1000.25\n");
}

TEST(QuantityTest, DurationsTakeTheUnitThatReadsBest) {
  EXPECT_EQ(DurationText(0), "0 ps");
  EXPECT_EQ(DurationText(17), "17 ps");
  EXPECT_EQ(DurationText(1'500), "1.50 ns");
  EXPECT_EQ(DurationText(-12'340'000), "-12.3 us");
  EXPECT_EQ(DurationText(123'456'000'000), "123 ms");
  EXPECT_EQ(DurationText(4'523'000'000'000'000), "4523 s");
  EXPECT_EQ(DurationText(INT64_MIN), "-9223372 s");
}

}  // namespace
}  // namespace chakrad::client
