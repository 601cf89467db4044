#include "trace/readers/repair/repair_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/status_matchers.h"
#include "trace/readers/json/json_check.h"
#include "trace/readers/testing/sources.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

struct Repaired {
  std::string text;
  RepairReport report;
};

absl::StatusOr<Repaired> Repair(const std::string& text, size_t piece_bytes = 1 << 20) {
  Repaired repaired;
  const auto source =
      OpenRepairSource(std::make_unique<PiecewiseSource>(text, piece_bytes), &repaired.report);
  ASSIGN_OR_RETURN(repaired.text, ReadAll(source.get(), 1000));
  return repaired;
}

// With all blanks out, as far as they are not in strings of these tests.
std::string Dense(const std::string& text) {
  return absl::StrReplaceAll(text, {{" ", ""}, {"\n", ""}});
}

bool IsJson(absl::string_view text) {
  std::vector<NonFinite> numbers;
  return !CheckJson(text, &numbers).found;
}

std::string Node(int id) {
  return absl::StrCat(R"({"id":)", id, R"(,"name":"op)", id,
                      R"(","attrs":[{"name":"rf_id","value":1},{"name":"x","value":[]}]})");
}
std::string Event(int ts) {
  return absl::StrCat(R"({"ph":"X","cat":"cpu_op","name":"op","ts":)", ts,
                      R"(,"args":{"External id":{"a":1}}})");
}
std::string Nodes(const std::string& list) {
  return absl::StrCat(R"({"schema":"1.1.1","nodes":[)", list, R"(],"finish_ts":7})");
}
std::string Events(const std::string& list) {
  return absl::StrCat(R"({"schemaVersion":1,"traceEvents":[)", list, R"(],"traceName":"t"})");
}

struct Case {
  std::string broken;
  std::string wanted;  // Without blanks.
  std::vector<std::pair<std::string, int64_t>> counts;
};

void ExpectRepaired(const Case& c) {
  for (const size_t piece_bytes : {size_t{1}, size_t{1} << 20}) {
    ASSERT_OK_AND_ASSIGN(const Repaired repaired, Repair(c.broken, piece_bytes));
    EXPECT_TRUE(IsJson(repaired.text)) << repaired.text;
    EXPECT_EQ(Dense(repaired.text), Dense(c.wanted)) << c.broken;
    const std::vector<std::pair<std::string, int64_t>> counts(repaired.report.count_by_rule.begin(),
                                                              repaired.report.count_by_rule.end());
    EXPECT_EQ(counts, c.counts) << c.broken;
  }
}

TEST(RepairSourceTest, CommasBetweenRecordsArePutRight) {
  const std::string good = Nodes(Node(1) + "," + Node(2));
  const Case cases[] = {
      {Nodes(Node(1) + "," + Node(2) + ","), good, {{"repaired_comma", 1}}},
      {Nodes(Node(1) + "\n,,\n ," + Node(2)), good, {{"repaired_comma", 1}}},
      {Nodes("," + Node(1) + "," + Node(2)), good, {{"repaired_comma", 1}}},
      {Nodes(Node(1) + Node(2)), good, {{"repaired_comma", 1}}},
      {Nodes(Node(1) + "\n " + Node(2) + "\n ,"), good, {{"repaired_comma", 2}}},
      {Nodes(","), Nodes(""), {{"repaired_comma", 1}}},
      {"[" + Event(1) + Event(2) + ",]",
       "[" + Event(1) + "," + Event(2) + "]",
       {{"repaired_comma", 2}}},
      {R"({"schema":"1",,"nodes":[],})", R"({"schema":"1","nodes":[]})", {{"repaired_comma", 2}}},
  };
  for (const Case& c : cases) ExpectRepaired(c);
}

TEST(RepairSourceTest, CommasInsideARecordArePutRight) {
  ExpectRepaired({Nodes(R"({"id":1,,"name":"a","inputs":[,1,,2,],},)" + Node(2)),
                  Nodes(R"({"id":1,"name":"a","inputs":[1,2]},)" + Node(2)),
                  {{"repaired_comma", 5}}});
}

TEST(RepairSourceTest, HalfRecordsGoAndTheOthersStay) {
  const std::string good = Nodes(Node(1) + "," + Node(3));
  for (size_t cut = 1; cut < Node(2).size(); ++cut) {
    const std::string half = Node(2).substr(0, cut);
    for (const std::string separator : {"", ",", "\n,"}) {
      ExpectRepaired(
          {Nodes(Node(1) + "," + half + separator + Node(3)), good, {{"lost_record", 1}}});
    }
    ExpectRepaired({Nodes(half + "," + Node(1) + "," + Node(3)), good, {{"lost_record", 1}}});
  }
}

TEST(RepairSourceTest, AFileCutAtAnyByteKeepsItsWholeRecords) {
  for (const bool events : {false, true}) {
    const std::string text =
        events ? Events(Event(1) + ",\n" + Event(2)) : Nodes(Node(1) + ",\n" + Node(2));
    const std::string first = events ? Event(1) : Node(1), second = events ? Event(2) : Node(2);
    for (size_t cut = 1; cut < text.size(); ++cut) {
      ASSERT_OK_AND_ASSIGN(const Repaired repaired, Repair(text.substr(0, cut)));
      ASSERT_TRUE(IsJson(repaired.text)) << cut << repaired.text;
      // (A half record's own brackets may look like the document's.)
      EXPECT_GT(repaired.report.count_by_rule.count("repaired_end") +
                    repaired.report.count_by_rule.count("lost_record"),
                0u)
          << text.substr(0, cut);
      for (const std::string& record : {first, second}) {
        const bool whole = cut >= text.find(record) + record.size();
        EXPECT_EQ(absl::StrContains(repaired.text, record), whole) << cut;
      }
    }
  }
}

TEST(RepairSourceTest, CompressedDataThatIsCutOffIsAnEnd) {
  std::string list;
  for (int i = 0; i < 2000; ++i) absl::StrAppend(&list, i == 0 ? "" : ",", Event(i * 7919));
  const std::string packed = Gzip(Events(list));
  RepairReport report;
  const auto source = OpenRepairSource(
      OpenMemorySource(absl::string_view(packed).substr(0, packed.size() / 2)), &report);
  ASSERT_OK_AND_ASSIGN(const std::string text, ReadAll(source.get(), 1000));
  EXPECT_TRUE(IsJson(text));
  EXPECT_THAT(text, HasSubstr(Event(0)));
  EXPECT_EQ(report.count_by_rule.at("repaired_end"), 1);
  EXPECT_THAT(report.entries.back().reason, HasSubstr("gzip: cut off"));
}

TEST(RepairSourceTest, BracketsTooManyOrTooFewArePutRight) {
  const std::string good = Nodes(Node(1) + "," + Node(2));
  const Case cases[] = {
      {Nodes(Node(1) + "}," + Node(2)), good, {{"repaired_stray_bytes", 1}}},
      {Nodes(Node(1) + "}]}]," + Node(2)), good, {{"repaired_stray_bytes", 1}}},
      {Nodes(Node(1) + "," + Node(2) + "}}"), good, {{"repaired_stray_bytes", 1}}},
      {Nodes(Node(1) + "]," + Node(2)), good, {{"repaired_stray_bytes", 1}}},
      {Nodes(Node(1) + std::string(5, '\0') + "," + Node(2)), good, {{"repaired_stray_bytes", 1}}},
      {R"({"nodes":[)" + Node(1) + "}\n", R"({"nodes":[)" + Node(1) + "]}", {{"repaired_end", 1}}},
      {R"({"nodes":[)" + Node(1) + "]", R"({"nodes":[)" + Node(1) + "]}", {{"repaired_end", 1}}},
      {"[" + Event(1), "[" + Event(1) + "]", {{"repaired_end", 1}}},
      {R"({"nodes":[],"finish_ts":12)", R"({"nodes":[]})", {{"repaired_end", 1}}},
      {R"({"nodes":[],"finish)", R"({"nodes":[]})", {{"repaired_end", 1}}},
  };
  for (const Case& c : cases) ExpectRepaired(c);
}

// "attrs" of the first record is never closed: the list's own brackets do that.
TEST(RepairSourceTest, ARecordThatSwallowsTheOthersGivesThemBack) {
  ExpectRepaired({R"({"nodes":[{"id":1,"name":"a","attrs":[)" + Node(2) + "," + Node(3) +
                      R"(],"finish_ts":7})",
                  R"({"nodes":[)" + Node(2) + "," + Node(3) + R"(],"finish_ts":7})",
                  {{"lost_record", 1}}});
}

TEST(RepairSourceTest, QuotesInsideAStringGetTheirBackslash) {
  const auto event = [](const std::string& name) {
    return absl::StrCat(R"({"ph":"X","cat":"python_function","name":")", name,
                        R"(","pid":42,"tid":1,"ts":10,"args":{"Python id":"7"}})");
  };
  for (const std::string name : {R"({"device":"cpu","dtype":"f32"}(12):run)", R"("quoted")",
                                 R"(f("a","b"))", R"(")", R"(say "hi")"}) {
    const std::string escaped = absl::StrReplaceAll(name, {{"\"", "\\\""}});
    for (const bool last : {false, true}) {
      const std::string tail = last ? "" : "," + Event(2);
      ExpectRepaired({Events(event(name) + tail),
                      Dense(Events(event(escaped) + tail)),
                      {{"repaired_quote", 1}}});
    }
  }
}

TEST(RepairSourceTest, AnEventThatCannotBeReadIsLostAlone) {
  const std::string good = Events(Event(1) + "," + Event(3));
  for (const std::string broken :
       {R"({"ph":"X","name":"a"b","pid":1,"cat":"y"z"})", R"({"ph":"X","name":"a" ,"b","pid":1})",
        R"({"ph":"X","name":"tab	"})", "{\"ph\":\"X\",\"name\":\"\xff\"}",
        R"({"ph":"X","name":})", R"({ph:"X",name:"a"})",
        R"({"ph":"X","name":"a","a":"x"y","name":"u"v"})"}) {
    ExpectRepaired({Events(Event(1) + "," + broken + "," + Event(3)), good, {{"lost_record", 1}}});
  }
}

TEST(RepairSourceTest, WordsInOtherSpellingsArePutRight) {
  ExpectRepaired(
      {Nodes(
           R"({"id":1,"name":"a","inputs":[+Infinity,INF,-1.#IND,1.#INF,1.,+2.5,True,None,NAN]})"),
       Nodes(R"({"id":1,"name":"a","inputs":[Infinity,inf,nan,inf,1,2.5,true,null,nan]})"),
       {{"repaired_number", 9}}});
  // JsonReader takes these, and readers keep them as recorded.
  const std::string taken =
      Nodes(R"({"id":1,"name":"a","inputs":[NaN,nan,Infinity,-Infinity,inf,-inf]})");
  ASSERT_OK_AND_ASSIGN(const Repaired repaired, Repair(taken));
  EXPECT_EQ(repaired.text, taken);
  EXPECT_EQ(repaired.report.total(), 0);
}

TEST(RepairSourceTest, WhatIsRightPassesByteForByte) {
  const std::string texts[] = {
      Nodes(Node(1) + " , \n\t" + Node(2) + "\r\n"),
      Events(Event(1)),
      "\xef\xbb\xbf [ " + Event(1) + " ] \n",
      "[]",
      "{}",
      " { } ",
      "[1,2 ,\"a\",null,[{}]]",
      R"({"a":[[],[1]],"b":{"c":"]}"},"traceEvents":[],"nodes":[{"x":"\"}"}]})",
      R"({"nodes":[{"id":1,"name":"a","inner":{"id":2,"name":"b"}}],"last":1})",
      "",
      "<html>\"[{",
      "no JSON, {at} all",
      "7",
  };
  for (const std::string& text : texts) {
    for (const size_t piece_bytes : {size_t{1}, size_t{1} << 20}) {
      ASSERT_OK_AND_ASSIGN(const Repaired repaired, Repair(text, piece_bytes));
      EXPECT_EQ(repaired.text, text);
      EXPECT_EQ(repaired.report.total(), 0) << text;
    }
  }
}

// What goes becomes blanks, so that records keep their places.
TEST(RepairSourceTest, OffsetsBehindARepairStay) {
  const std::string broken = Nodes(Node(1) + ",," + Node(2).substr(0, 20) + "\n," + Node(3) +
                                   "\n " + Node(4) + "}," + Node(5) + ",");
  ASSERT_OK_AND_ASSIGN(const Repaired repaired, Repair(broken));
  EXPECT_EQ(repaired.text.size(), broken.size());
  for (int id : {1, 3, 5}) EXPECT_EQ(repaired.text.find(Node(id)), broken.find(Node(id)));
  EXPECT_EQ(std::count(repaired.text.begin(), repaired.text.end(), '\n'),
            std::count(broken.begin(), broken.end(), '\n'));
}

TEST(RepairSourceTest, EachChangeIsListedWithItsPlace) {
  const std::string broken = Nodes(Node(1) + "," + Node(2).substr(0, 20) + "," + Node(3) + ",");
  ASSERT_OK_AND_ASSIGN(const Repaired repaired, Repair(broken));
  ASSERT_EQ(repaired.report.entries.size(), 2u);
  const LedgerEntry& lost = repaired.report.entries[0];
  EXPECT_EQ(lost.rule, "lost_record");
  EXPECT_EQ(lost.record, 1);
  EXPECT_EQ(lost.byte_offset, static_cast<int64_t>(broken.find(Node(1)) + Node(1).size() + 1));
  EXPECT_THAT(lost.reason, HasSubstr("20 bytes"));
  const LedgerEntry& comma = repaired.report.entries[1];
  EXPECT_EQ(comma.byte_offset, static_cast<int64_t>(broken.find(Node(3)) + Node(3).size()));
  Ledger ledger;
  ledger.Keep();
  repaired.report.AddTo(&ledger);
  EXPECT_TRUE(ledger.Balanced());
  EXPECT_EQ(ledger.rejected_by_rule.at("lost_record"), 1);
  EXPECT_EQ(ledger.rejections.size(), 1u);
  EXPECT_THAT(ledger.flaws_by_rule, ElementsAre(Pair("repaired_comma", 1)));
  EXPECT_EQ(ledger.flaws.size(), 1u);
}

TEST(RepairSourceTest, ManyRepairsAreCountedAndSomeListed) {
  std::string list;
  for (int i = 0; i < 1000; ++i) absl::StrAppend(&list, Node(i), i % 2 == 0 ? "" : ",,");
  ASSERT_OK_AND_ASSIGN(const Repaired repaired, Repair(Nodes(list)));
  EXPECT_TRUE(IsJson(repaired.text));
  EXPECT_EQ(repaired.report.count_by_rule.at("repaired_comma"), 1000);
  EXPECT_EQ(repaired.report.entries.size(), static_cast<size_t>(Ledger::kListedFlawsPerRule));
}

TEST(RepairSourceTest, FaultsOutsideTheRecordsAreErrors) {
  EXPECT_THAT(Repair(R"({"schema":"a"b","nodes":[]})"),
              StatusIs(kInvalid, "byte offset 13: cannot be repaired: expected a key"));
  EXPECT_THAT(Repair(R"({"deviceProperties":[{"id":0,"name":"a"b"}],"traceEvents":[]})"),
              StatusIs(kInvalid, "cannot be repaired"));
  EXPECT_THAT(Repair(R"({schema:1})"), StatusIs(kInvalid, "expected a key"));
  EXPECT_THAT(Repair(R"({"schema" 1})"), StatusIs(kInvalid, "expected ':'"));
}

// Good documents, changed at random: JSON or an error comes out, never less than
// the records that were not touched... and a document that is right stays.
TEST(RepairSourceTest, AnythingBecomesJsonOrAnError) {
  std::mt19937 random(11);
  int repaired_count = 0;
  constexpr int kRounds = 20000;
  for (int round = 0; round < kRounds; ++round) {
    std::string list;
    for (int i = 0; i < 5; ++i) {
      absl::StrAppend(&list, i == 0 ? "" : ",\n", round % 2 == 0 ? Node(i) : Event(i));
    }
    std::string text = round % 2 == 0 ? Nodes(list) : Events(list);
    for (uint32_t changes = 1 + random() % 4; changes > 0; --changes) {
      const size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text.erase(at, 1 + random() % 30);
          break;
        case 1:
          text[at] = "{}[]\",:0a-\\\xff\n"[random() % 13];
          break;
        case 2:
          text.insert(at, text.substr(random() % text.size(), random() % 40));
          break;
        default:
          text.insert(at, 1, "{}[]\",: "[random() % 8]);
      }
    }
    RepairReport report;
    const auto source =
        OpenRepairSource(std::make_unique<PiecewiseSource>(text, 1 + random() % 100), &report);
    const absl::StatusOr<std::string> result = ReadAll(source.get(), 64);
    if (!result.ok()) {
      ASSERT_THAT(result, StatusIs(kInvalid, "byte offset ")) << text;
      continue;
    }
    ++repaired_count;
    const size_t first = text.find_first_not_of(" \n");
    if (first == std::string::npos || (text[first] != '{' && text[first] != '[')) {
      EXPECT_EQ(*result, text);  // No JSON at all.
      continue;
    }
    // Text behind the document is left for readers to complain of.
    size_t size = 0;
    EXPECT_FALSE(CheckJsonPrefix(*result, 512, &size).found) << text << "\n" << *result;
    EXPECT_TRUE(!IsJson(text) || *result == text) << text;
    EXPECT_TRUE(!IsJson(text) || report.total() == 0) << text;
    ASSERT_FALSE(HasFailure()) << "round " << round;
  }
  EXPECT_GT(repaired_count, kRounds / 2);
}

// Input that starts records again and again and never ends one.
TEST(RepairSourceTest, HostileInputEndsSoon) {
  std::string deep, quotes, halves;
  for (int i = 0; i < 200000; ++i) {
    deep += R"({"ph":[)";
    quotes += R"({"ph":"X","name":"a"b)";
    halves += R"({"ph":"X","name":"a",)";
  }
  for (const std::string& list : {deep, quotes, halves, std::string(3 << 20, '{'),
                                  std::string(3 << 20, '['), std::string(3 << 20, '"')}) {
    const absl::StatusOr<Repaired> repaired = Repair(Events(list));
    EXPECT_TRUE(repaired.ok() ? IsJson(repaired->text) : repaired.status().code() == kInvalid);
  }
}

}  // namespace
}  // namespace chakrad
