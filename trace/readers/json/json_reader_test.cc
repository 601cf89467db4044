#include "trace/readers/json/json_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "common/status_matchers.h"
#include "trace/readers/json/decimal.h"
#include "trace/readers/json/json_check.h"
#include "trace/readers/json/json_value.h"
#include "trace/readers/limits.h"
#include "trace/readers/testing/sources.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

struct Document {
  std::vector<std::string> keys;
  std::vector<std::string> values;    // Of all keys but "list".
  std::vector<std::string> elements;  // Of "list", from its windows' texts.
  std::vector<int64_t> byte_offsets;
  int windows = 0;
};

// The elements of a window whose elements are objects without inner objects.
void Take(const JsonWindow& window, Document* document) {
  ++document->windows;
  EXPECT_EQ(window.first_record, static_cast<int64_t>(document->byte_offsets.size()));
  EXPECT_GE(window.capacity, window.size + 32);
  const absl::string_view text(window.text, window.size);
  EXPECT_EQ(text.front(), '[');
  EXPECT_EQ(text.back(), ']');
  const int64_t first = window.byte_offsets.front();
  for (size_t i = 0; i < window.byte_offsets.size(); ++i) {
    document->byte_offsets.push_back(window.byte_offsets[i]);
    const size_t begin = static_cast<size_t>(window.byte_offsets[i] - first) + 1;
    document->elements.push_back(
        window.AsRecorded(text.substr(begin, text.find('}', begin) - begin + 1)));
  }
}

absl::Status WalkArray(JsonReader* reader, Document* document) {
  while (true) {
    ASSIGN_OR_RETURN(const JsonWindow* window, reader->NextWindow());
    if (window == nullptr) return absl::OkStatus();
    Take(*window, document);
  }
}

absl::StatusOr<Document> Walk(absl::string_view text, size_t piece_bytes = 1 << 20) {
  PiecewiseSource source(text, piece_bytes);
  JsonReader reader(&source);
  Document document;
  ASSIGN_OR_RETURN(const JsonReader::Top top, reader.Open());
  if (top == JsonReader::Top::kArray) {
    RETURN_IF_ERROR(WalkArray(&reader, &document));
    return document;
  }
  std::string key;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, reader.NextKey(&key));
    if (!more) return document;
    document.keys.push_back(key);
    if (key == "list") {
      RETURN_IF_ERROR(reader.BeginArray());
      RETURN_IF_ERROR(WalkArray(&reader, &document));
    } else if (absl::StartsWith(key, "skip")) {
      RETURN_IF_ERROR(reader.SkipValue());
    } else {
      ASSIGN_OR_RETURN(const std::string value, reader.ReadValue());
      document.values.push_back(value);
    }
  }
}

constexpr char kDocument[] =
    "{\"schema\" : \"1.0\\\"]}\", \"skip\":[[1,{\"a\":[]}],\"]\" ],\n"
    "\"list\": [ {\"a\": \"}]\\\\\\\"\" }\n,{\"b\":1},\n\n {\"c\":[1,[2]]} ] ,\n \"last\": -1.5e3 "
    "}\n";

TEST(JsonReaderTest, KeysComeBeforeAndBehindTheList) {
  for (size_t piece : {1, 2, 3, 7, 1000}) {
    ASSERT_OK_AND_ASSIGN(const Document document, Walk(kDocument, piece));
    EXPECT_THAT(document.keys, ElementsAre("schema", "skip", "list", "last"));
    EXPECT_THAT(document.values, ElementsAre("\"1.0\\\"]}\"", "-1.5e3"));
    ASSERT_EQ(document.byte_offsets.size(), 3u);
    const absl::string_view text(kDocument);
    for (int64_t offset : document.byte_offsets) EXPECT_EQ(text[static_cast<size_t>(offset)], '{');
    EXPECT_EQ(document.elements[1], "{\"b\":1}");
  }
}

TEST(JsonReaderTest, DocumentCutAtAnyByteIsAnError) {
  const std::string text(kDocument);
  for (size_t cut = 0; cut + 2 < text.size(); ++cut) {
    for (size_t piece : {1, 1000}) {
      const absl::StatusOr<Document> walked = Walk(text.substr(0, cut), piece);
      EXPECT_THAT(walked, StatusIs(kInvalid, "byte offset ")) << text.substr(0, cut);
    }
  }
}

TEST(JsonReaderTest, ManyWindowsGiveWhatIsInTheFile) {
  // 60,000 elements of 40 to 240 bytes are about 8 windows; some elements are
  // larger than a window.
  std::vector<std::string> elements;
  for (int i = 0; i < 60000; ++i) {
    const size_t filler = i % 20000 == 77 ? size_t{3} << 20 : 30 + i * 7919 % 200;
    elements.push_back(absl::StrCat("{\"i\":", i, ",\"s\":\"", std::string(filler, 'x'), "\"}"));
  }
  const std::string text = absl::StrCat("[", absl::StrJoin(elements, " ,\n"), "]");
  ASSERT_OK_AND_ASSIGN(const Document document, Walk(text, 100'000));
  EXPECT_EQ(document.elements, elements);
  EXPECT_GE(document.windows, 8);
  for (size_t i = 0; i < elements.size(); i += 977) {
    EXPECT_EQ(text.substr(static_cast<size_t>(document.byte_offsets[i]), elements[i].size()),
              elements[i]);
  }
}

TEST(JsonReaderTest, FaultsAreNamedWithOffsetLineAndReason) {
  const struct {
    absl::string_view text;
    absl::string_view part;
  } cases[] = {
      {"", "byte offset 0 (line 1): the file is empty"},
      {" \n\n", "byte offset 3 (line 3): the file holds only white space"},
      {"<!doctype html>", "byte offset 0 (line 1): HTML or XML"},
      {"hello", "not JSON"},
      {"{\"a\":1,}", "byte offset 7 (line 1): extra comma"},
      {"{\"a\":1,,\"b\":2}", "byte offset 7 (line 1): extra comma"},
      {"{\"a\":1 \"b\":2}", "expected ',' or '}'"},
      {"{\"a\" 1}", "byte offset 5 (line 1): expected ':'"},
      {"{a:1}", "expected a key in double quotes"},
      {"{\"a\":1}\n x", "byte offset 9 (line 2): text after the document's end"},
      {"[{}] []", "text after the document's end"},
      {"{\"list\":[{},\n{},]}", "byte offset 16 (line 2): extra comma"},
      {"{\"list\":[,{}]}", "byte offset 9 (line 1): extra comma"},
      {"{\"list\":[{}\n{}]}", "byte offset 12 (line 2): expected ',' or ']'"},
      {"{\"list\":{}}", "byte offset 8 (line 1): expected a list"},
      {"{\"list\":[{},{\"a\":1,,\"b\":2}]}", "record 1: byte offset 19 (line 1): extra comma"},
      {"{\"list\":[{\"a\":[1,2}]}]}", "record 0: byte offset 18 (line 1): expected ',' or ']'"},
      {"{\"list\":[{\"a\":01}]}", "bad number"},
      {"{\"list\":[{\"a\":tru}]}", "byte offset 14 (line 1): expected a value"},
      {"{\"list\":[{\"a\":\"\\x\"}]}", "unknown escape"},
      {"{\"list\":[{\"a\":\"\\ud800\"}]}", "lone surrogate"},
      {"{\"list\":[{\"a\":\"\xff\"}]}", "byte offset 15 (line 1): not UTF-8"},
      {"{\"list\":[{\"a\":\"\n\"}]}", "control character in a string"},
      {"{\"list\":[{\"a\":18446744073709551616}]}",
       "byte offset 14 (line 1): integer 18446744073709551616 does not fit 64 bits"},
      {"{\"skip\":[{\"a\":1 2}]}", "record 0: byte offset 16 (line 1): expected ',' or '}'"},
      {"{\"skip\":{\"a\":}}", "byte offset 13 (line 1): expected a value"},
      // A quote that is missing swallows the rest; the fault is where it shows.
      {"{\"list\":[{\"a\":\"b},\n{\"c\":\"d\"}]}", "byte offset 18 (line 1): control character"},
  };
  for (const auto& [text, part] : cases) {
    for (size_t piece : {1, 1000}) {
      EXPECT_THAT(Walk(text, piece), StatusIs(kInvalid, std::string(part))) << text;
    }
  }
}

TEST(JsonReaderTest, GoodElementsComeBeforeTheFault) {
  const std::string text = "[{\"i\":0},{\"i\":1},{\"i\":},{\"i\":3}]";
  PiecewiseSource source(text, 1000);
  JsonReader reader(&source);
  ASSERT_THAT(reader.Open(), IsOk());
  ASSERT_OK_AND_ASSIGN(const JsonWindow* window, reader.NextWindow());
  ASSERT_NE(window, nullptr);
  EXPECT_EQ(absl::string_view(window->text, window->size), "[{\"i\":0},{\"i\":1}]");
  EXPECT_THAT(reader.NextWindow(), StatusIs(kInvalid, "record 2"));
}

TEST(JsonReaderTest, NonFiniteNumbersStandAsStringsAndComeBackAsRecorded) {
  const std::string text =
      "[{\"a\":NaN},{\"a\":[-Infinity,1.5]},{\"a\":-inf},{\"a\":nan},{\"a\":\"NaN\"}]";
  PiecewiseSource source(text, 3);
  JsonReader reader(&source);
  ASSERT_THAT(reader.Open(), IsOk());
  ASSERT_OK_AND_ASSIGN(const JsonWindow* window, reader.NextWindow());
  const absl::string_view shown(window->text, window->size);
  EXPECT_EQ(shown.size(), text.size());
  EXPECT_FALSE(absl::StrContains(shown, "nfinity,"));
  EXPECT_EQ(window->AsRecorded(shown), text);
  EXPECT_EQ(reader.non_finite_count(), 4);
  EXPECT_EQ(reader.non_finite_offset(), 6);
  ASSERT_OK_AND_ASSIGN(window, reader.NextWindow());
  EXPECT_EQ(window, nullptr);
}

TEST(JsonReaderTest, NestingAndSizeHaveLimits) {
  const std::string deep(static_cast<size_t>(kMaxJsonDepth) + 1, '[');
  EXPECT_THAT(Walk(absl::StrCat("[", deep)),
              StatusIs(kInvalid, absl::StrCat("nesting is deeper than ", kMaxJsonDepth)));
  const std::string large(static_cast<size_t>(kMaxJsonElementBytes) + 10, 'x');
  for (absl::string_view wrap : {"[{\"a\":\"$\"}]", "{\"skip\":\"$\"}", "[$]"}) {
    EXPECT_THAT(Walk(absl::StrReplaceAll(wrap, {{"$", large}}), 1 << 16), StatusIs(kInvalid, ""));
  }
  EXPECT_THAT(Walk(absl::StrReplaceAll("[{\"a\":\"$\"}]", {{"$", large}}), 1 << 16),
              StatusIs(kInvalid, absl::StrCat("larger than ", kMaxJsonElementBytes, " bytes")));
}

TEST(JsonReaderTest, WhiteSpaceWithoutEndIsNotCollected) {
  const std::string space(static_cast<size_t>(kMaxJsonElementBytes) * 3, ' ');
  EXPECT_THAT(Walk(absl::StrCat("[{}", space, " ,{}]"), 1 << 20),
              StatusIs(kInvalid, "bytes of white space between records"));
  // Where nothing is kept, it does no harm.
  EXPECT_THAT(Walk(absl::StrCat(space, "[", space, "{}]", space, " "), 1 << 20), IsOk());
}

TEST(JsonReaderTest, AByteOrderMarkAndEmptyContainersAreFine) {
  EXPECT_THAT(Walk("\xef\xbb\xbf{}"), IsOk());
  EXPECT_THAT(Walk("[]"), IsOk());
  ASSERT_OK_AND_ASSIGN(const Document document, Walk("{\"list\":[],\"\\u0041\":null}"));
  EXPECT_THAT(document.keys, ElementsAre("list", "A"));
}

TEST(DecimalTest, TextBecomesWholeNumbersExactly) {
  const struct {
    absl::string_view text;
    int64_t value;
    bool exact;
  } cases[] = {
      {"0", 0, true},
      {"12", 12000, true},
      {"-0.5", -500, true},
      {"1700000000000000.751", 1700000000000000751, true},  // A double would give ...750.
      {"1.7e15", 1700000000000000000, true},
      {"4203669604595.407", 4203669604595407, true},
      {"25E-1", 2500, true},
      {"0.0004", 0, false},
      {"0.0005", 1, false},
      {"-0.0005", -1, false},
      {"1.23449", 1234, false},
      {"00012", 12000, true},
      {"5.", 5000, true},
      {"0e99999", 0, true},
      {"1e-99999", 0, false},
  };
  for (const auto& [text, value, exact] : cases) {
    __int128 parsed = -7;
    bool is_exact = !exact;
    ASSERT_TRUE(ParseDecimal(text, 3, &parsed, &is_exact)) << text;
    EXPECT_EQ(static_cast<int64_t>(parsed), value) << text;
    EXPECT_EQ(is_exact, exact) << text;
  }
  // One digit more than a plain number may have: found by fuzzing.
  __int128 long_number = 0;
  ASSERT_TRUE(ParseDecimal("9700000000000000000", 0, &long_number, nullptr));
  EXPECT_TRUE(long_number == __int128{970'000'000'000'000'000} * 10);
  for (absl::string_view text : {"", "-", ".", "x", "1x", "1e", "1e+", "1.2.3", "NaN", "--1",
                                 "1e99999999999", "1e40", "1e2.5", "0x10", "1 "}) {
    __int128 parsed;
    EXPECT_FALSE(ParseDecimal(text, 3, &parsed, nullptr)) << text;
  }
}

TEST(CheckJsonTest, GoodValuesHaveNoFault) {
  std::vector<NonFinite> numbers;
  for (absl::string_view text :
       {"{}", "[]", "[[],{}]", "-0", "1e5", "\"\\ud83d\\ude00\xe2\x82\xac\"",
        "{\"a\":[1,{\"b\":null}],\"c\":true}", "18446744073709551615", "-9223372036854775808"}) {
    EXPECT_FALSE(CheckJson(text, &numbers).found) << text;
  }
  EXPECT_TRUE(numbers.empty());
}

// The elements of a list, as written.
absl::StatusOr<std::vector<std::string>> ElementsOf(absl::string_view text, size_t piece_bytes) {
  PiecewiseSource source(text, piece_bytes);
  JsonReader reader(&source);
  RETURN_IF_ERROR(reader.Open().status());
  std::vector<std::string> elements;
  while (true) {
    ASSIGN_OR_RETURN(const JsonWindow* window, reader.NextWindow());
    if (window == nullptr) return elements;
    for (size_t i = 0; i < window->byte_offsets.size(); ++i) {
      const absl::string_view raw = JsonRef::Element(*window, i).raw();
      EXPECT_EQ(text.substr(window->byte_offsets[i], raw.size()), raw);
      elements.emplace_back(raw);
    }
  }
}

// Strings that hold brackets, quotes and escapes lie on every kind of cut.
TEST(JsonReaderTest, ElementsAreTheSameWhereverWindowsEnd) {
  std::mt19937_64 random(7);
  const std::string parts[] = {R"("}")",       R"("],[{")",
                               R"("\\")",      R"("\"}\"")",
                               R"("\u00e9x")", "\"\xc3\xa9\xf0\x9f\x98\x80\"",
                               "-0.5e-3",      "18446744073709551615",
                               "true",         "null",
                               "[]",           R"({"a\"}":{}})",
                               R"([1,"]"])",   "1234567.890123"};
  std::vector<std::string> elements;
  std::string text = "[";
  while (text.size() < 5 * kJsonWindowBytes / 2) {
    std::string element = parts[random() % std::size(parts)];
    // Some longer than a window.
    const size_t fields = random() % 5000 == 0 ? 40'000 : random() % 12;
    if (random() % 3 != 0) {
      element.assign(1, '{');
      for (size_t k = 0; k < fields; ++k) {
        absl::StrAppend(&element, k == 0 ? "" : ", ", "\"k", k,
                        "\" : ", parts[random() % std::size(parts)]);
      }
      element += "}";
    }
    absl::StrAppend(&text, elements.empty() ? "" : random() % 2 == 0 ? "," : " ,\n ", element);
    elements.push_back(element);
  }
  text += "]";
  for (const size_t piece : {size_t{1000}, size_t{65'537}, text.size()}) {
    ASSERT_OK_AND_ASSIGN(const std::vector<std::string> found, ElementsOf(text, piece));
    EXPECT_EQ(found, elements) << piece;
  }
}

TEST(JsonReaderTest, NumbersAreThoseOfJson) {
  for (const char* good :
       {"0", "-0", "7", "-12.5", "1e5", "1E+5", "-0.5e-3", "18446744073709551615",
        "-9223372036854775808", "123456789012345678901.25"}) {
    EXPECT_THAT(ElementsOf(absl::StrCat("[", good, " ]"), 100), IsOk()) << good;
  }
  for (const char* bad : {"00", "01", "-", "1.", ".5", "1e", "1e+", "--1", "1-2", "1e999",
                          "18446744073709551616", "-9223372036854775809", "0x10", "+1"}) {
    EXPECT_THAT(ElementsOf(absl::StrCat("[", bad, "]"), 100), StatusIs(kInvalid, "byte offset"))
        << bad;
  }
}

TEST(JsonValueTest, FieldsAndItemsAreWalkedInOrder) {
  const std::string text =
      R"([{"a" : [1, "x\ty", {"in":2}, []], "b":{}, "c\u0041":"", "d": -3.50 , "e":true}])";
  PiecewiseSource source(text, 100);
  JsonReader reader(&source);
  ASSERT_THAT(reader.Open(), IsOk());
  ASSERT_OK_AND_ASSIGN(const JsonWindow* window, reader.NextWindow());
  ASSERT_NE(window, nullptr);
  std::vector<std::string> walked;
  for (JsonFields field(JsonRef::Element(*window, 0)); field.Next();) {
    walked.emplace_back(field.key());
    walked.emplace_back(field.value().Take().text);
    if (!field.value().is_array()) continue;
    for (JsonItems item(field.value()); item.Next();) walked.emplace_back(item.value().Take().text);
  }
  EXPECT_THAT(walked, ElementsAre("a", R"([1, "x\ty", {"in":2}, []])", "1", "x\ty", R"({"in":2})",
                                  "[]", "b", "{}", "cA", "", "d", "-3.50", "e", "true"));
}

TEST(JsonCheckTest, AValueIsCheckedWithoutWhatStandsBehindIt) {
  struct Case {
    const char* text;
    size_t size;
    bool found;
    bool at_end;
  };
  const Case cases[] = {
      {"{\"a\":[1,2]}, {", 11, false, false},
      {"7,8", 1, false, false},
      {"[1]]", 3, false, false},
      {"\"a\"b", 3, false, false},
      {"[1,", 3, true, true},
      {"[1,,2]", 3, true, false},
      {"[[[1]]]", 3, true, false},
      {"[[1]]", 5, false, false},
      {"", 0, true, true},
  };
  for (const Case& c : cases) {
    size_t size = 0;
    const JsonFault fault = CheckJsonPrefix(c.text, /*max_depth=*/2, &size);
    EXPECT_EQ(fault.found, c.found) << c.text << ": " << fault.reason;
    EXPECT_EQ(fault.at_end, c.at_end) << c.text;
    EXPECT_EQ(c.found ? fault.at : size, c.size) << c.text;
  }
}

}  // namespace
}  // namespace chakrad
