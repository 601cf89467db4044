#include "trace/codec/wire_columns.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "trace/codec/chunk.pb.h"

namespace chakrad {
namespace {

std::vector<uint64_t> RowsOf(absl::string_view column) {
  std::vector<uint64_t> rows;
  EXPECT_TRUE(ForEachRow(column, CountVarints(column),
                         [&](size_t, uint64_t value) { rows.push_back(value); }));
  return rows;
}

TEST(WireMessageTest, HoldsWhatProtobufHasWritten) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    codec::StringWindow window;
    for (uint64_t rows = random() % 50; rows > 0; --rows)
      window.add_length(random() >> random() % 64);
    window.set_text(std::string(random() % 5, 'x'));
    const std::string raw = window.SerializeAsString();
    WireMessage message;
    ASSERT_TRUE(message.Parse(raw));
    EXPECT_EQ(RowsOf(message.Bytes(1)),
              std::vector<uint64_t>(window.length().begin(), window.length().end()));
    EXPECT_EQ(message.Bytes(2), absl::string_view(window.text()));
  }
}

TEST(WireMessageTest, SkipsFieldsThatItDoesNotKnow) {
  // 3: 300; 100: eight bytes; 101: "ab"; 102: four bytes; 1: 7.
  const std::string raw(
      "\x18\xac\x02\xa1\x06"
      "12345678"
      "\xaa\x06\x02"
      "ab"
      "\xb5\x06"
      "1234\x08\x07");
  WireMessage message;
  ASSERT_TRUE(message.Parse(raw));
  EXPECT_EQ(message.Number(3), 300u);
  EXPECT_EQ(message.Number(1), 7u);
  EXPECT_EQ(message.Number(2), 0u);
  EXPECT_EQ(message.Bytes(2), "");
}

TEST(WireMessageTest, RefusesWhatIsNoMessage) {
  const auto parses = [](absl::string_view raw) { return WireMessage().Parse(raw); };
  EXPECT_TRUE(parses(""));
  EXPECT_FALSE(parses("\x08"));      // A key alone.
  EXPECT_FALSE(parses("\x08\x80"));  // A number cut off.
  EXPECT_FALSE(
      parses("\x12\x05"
             "abcd"));  // Fewer bytes than it says.
  EXPECT_FALSE(parses("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
  EXPECT_FALSE(
      parses("\x09"
             "1234567"));
  EXPECT_FALSE(parses("\x0b\x0c"));                                          // A group.
  EXPECT_FALSE(parses(absl::string_view("\x00\x00", 2)));                    // Field 0.
  EXPECT_FALSE(parses("\x08\x01\x08\x02"));                                  // A field twice.
  EXPECT_FALSE(parses("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));  // Eleven bytes.
}

TEST(WireMessageTest, ACutMessageNeverReadsBeyondItsEnd) {
  codec::StringWindow window;
  for (uint64_t i = 0; i < 40; ++i) window.add_length(uint64_t{1} << i);
  window.set_text("text");
  const std::string whole = window.SerializeAsString();
  for (size_t length = 0; length < whole.size(); ++length) {
    const std::string cut(whole, 0, length);  // Of its own: a sanitizer sees its end.
    WireMessage message;
    EXPECT_FALSE(message.Parse(cut) && message.Bytes(2) == "text");
  }
}

TEST(ForEachRowTest, AColumnHasExactlyItsRows) {
  const absl::string_view column("\x01\xac\x02\x7f", 4);
  EXPECT_EQ(CountVarints(column), 3u);
  const auto nothing = [](size_t, uint64_t) {};
  EXPECT_TRUE(ForEachRow(column, 3, nothing));
  EXPECT_FALSE(ForEachRow(column, 2, nothing));
  EXPECT_FALSE(ForEachRow(column, 4, nothing));
  EXPECT_FALSE(ForEachRow(column.substr(0, 2), 2, nothing));  // Ends within a row.
  EXPECT_FALSE(ForEachRow(column.substr(0, 2), 1, nothing));
  EXPECT_EQ(RowsOf(column), (std::vector<uint64_t>{1, 300, 127}));
}

}  // namespace
}  // namespace chakrad
