#include "trace/writers/json_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "absl/strings/numbers.h"

namespace chakrad {
namespace {

std::string Text(absl::string_view text) {
  std::string json;
  AppendJsonString(text, &json);
  return json;
}

TEST(JsonTextTest, AnyStringComesBackFromAnotherParser) {
  std::string all;
  for (int c = 0; c < 0x80; ++c) all.push_back(static_cast<char>(c));
  for (const std::string& text : {all, std::string("\xc3\xa9\xf0\x9f\x98\x80"), std::string()}) {
    EXPECT_EQ(nlohmann::json::parse(Text(text)).get<std::string>(), text);
  }
  EXPECT_EQ(Text("a\xff"), "\"a?\"");
}

TEST(JsonTextTest, NumbersAreTheShortestThatReadTheSame) {
  std::string json;
  for (double value : {0.1, 0.0, -0.0, 1e300, std::numeric_limits<double>::infinity()}) {
    AppendJsonDouble(value, &json);
    json += ' ';
  }
  AppendJsonFloat(0.1f, &json);
  EXPECT_EQ(json, "0.1 0 -0.0 1e+300 \"Infinity\" 0.1");
}

TEST(JsonTextTest, EveryBitPatternReadsTheSame) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    const uint64_t bits = random();
    double wide;
    std::memcpy(&wide, &bits, sizeof(wide));
    float narrow;
    std::memcpy(&narrow, &bits, sizeof(narrow));
    std::string json;
    double read = 0;
    if (std::isfinite(wide)) {
      AppendJsonDouble(wide, &json);
      ASSERT_TRUE(absl::SimpleAtod(json, &read));
      ASSERT_EQ(read, wide) << json;
    }
    if (!std::isfinite(narrow)) continue;
    json.clear();
    AppendJsonFloat(narrow, &json);
    ASSERT_TRUE(absl::SimpleAtod(json, &read));
    ASSERT_EQ(static_cast<float>(read), narrow) << json;
  }
}

}  // namespace
}  // namespace chakrad
