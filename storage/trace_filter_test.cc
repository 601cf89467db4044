#include "storage/trace_filter.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "storage/limits.h"

namespace chakrad {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
// 2026-11-15T00:00:00Z
constexpr int64_t kMidNovemberNs = 1'794'700'800 * kSecondNs;

TraceCard LlamaCard() {
  TraceCard card;
  card.id = "t-Abc123";
  card.labels = {{"job", "llama"}, {"step", "250"}, {"any key", "x*y"}, {"owner", "Ann"}};
  card.create_unix_ns = kMidNovemberNs;
  card.span_ns = 20 * kSecondNs;
  card.world_size = 8;
  card.ranks_count = 4;
  card.stored_bytes = 3 << 20;
  card.quality = 0.75;
  card.pinned = true;
  card.breakdown = TraceBreakdown{.exposed_comm_ratio = 0.25};
  return card;
}

bool Holds(const std::string& filter, const TraceCard& card = LlamaCard()) {
  const absl::StatusOr<TraceFilter> parsed = TraceFilter::Parse(filter);
  EXPECT_TRUE(parsed.ok()) << filter << ": " << parsed.status();
  if (!parsed.ok()) return false;
  const absl::StatusOr<TraceFilter> again = TraceFilter::Parse(parsed->ToString());
  EXPECT_TRUE(again.ok()) << filter << " as " << parsed->ToString() << ": " << again.status();
  if (!again.ok()) return false;
  EXPECT_EQ(again->ToString(), parsed->ToString());
  EXPECT_EQ(again->Matches(card), parsed->Matches(card)) << filter;
  return parsed->Matches(card);
}

TEST(TraceFilterTest, BlankTextHoldsForEveryTrace) {
  EXPECT_TRUE(Holds(""));
  EXPECT_TRUE(Holds(" \n "));
  EXPECT_TRUE(Holds("", TraceCard()));
}

TEST(TraceFilterTest, OrBindsTighterThanAndAndTermsSideBySideAreJoinedByAnd) {
  // (job or job) and quality, not job or (job and quality).
  EXPECT_FALSE(Holds("labels.job=llama OR labels.job=bert AND quality > 0.9"));
  EXPECT_TRUE(Holds("labels.job=llama OR (labels.job=bert AND quality > 0.9)"));
  EXPECT_TRUE(Holds("labels.job=bert OR labels.job=llama world_size=8"));
  EXPECT_FALSE(Holds("labels.job=bert OR labels.job=llama world_size=9"));
  EXPECT_TRUE(Holds("labels.job=llama AND (world_size=8)"));
}

TEST(TraceFilterTest, NotAndMinusTakeTheNextTermOnly) {
  EXPECT_TRUE(Holds("NOT labels.job=bert world_size=8"));
  EXPECT_TRUE(Holds("-labels.job=bert AND world_size=8"));
  EXPECT_FALSE(Holds("-(labels.job=llama OR world_size=9)"));
  EXPECT_TRUE(Holds("NOT (labels.job=llama AND world_size=9)"));
  EXPECT_TRUE(Holds("NOT labels.job=llama OR world_size=8"));
  EXPECT_FALSE(Holds("-llama"));
  EXPECT_TRUE(Holds("-\"bert\""));
}

TEST(TraceFilterTest, NumbersInLabelsCompareAsNumbersOnBothSides) {
  EXPECT_TRUE(Holds("labels.step < 300"));
  EXPECT_TRUE(Holds("labels.step > 30"));  // As texts "250" < "30".
  EXPECT_TRUE(Holds("labels.step = \"250.0\""));
  EXPECT_FALSE(Holds("labels.step != 250"));
  EXPECT_FALSE(Holds("labels.job < 300"));  // "llama" is neither less
  EXPECT_FALSE(Holds("labels.job > 300"));  // nor greater than a number.
  EXPECT_TRUE(Holds("labels.job > bert"));
  EXPECT_TRUE(Holds("labels.job != 300"));
}

TEST(TraceFilterTest, WildcardsInEqualityStandForAnyBytesUnlessEscaped) {
  EXPECT_TRUE(Holds("labels.job = \"ll*\""));
  EXPECT_TRUE(Holds("labels.job = l*m*"));
  EXPECT_TRUE(Holds("labels.job = \"*llama*\""));
  EXPECT_FALSE(Holds("labels.job = \"lla*lama\""));  // The ends must not overlap.
  EXPECT_FALSE(Holds("labels.job != \"ll*\""));
  EXPECT_TRUE(Holds(R"(labels."any key" = "x\*y")"));
  EXPECT_FALSE(Holds(R"(labels.job = "ll\*")"));
  EXPECT_TRUE(Holds(R"(labels.'any key' = 'x*')"));
}

TEST(TraceFilterTest, AMissingLabelEqualsTheEmptyTextOnly) {
  EXPECT_TRUE(Holds("labels.nope = \"\""));
  EXPECT_FALSE(Holds("labels.nope = \"*\""));
  EXPECT_FALSE(Holds("labels.nope = x"));
  EXPECT_TRUE(Holds("labels.nope != x"));
  EXPECT_FALSE(Holds("labels.nope < x OR labels.nope >= x"));
  EXPECT_FALSE(Holds("labels.nope:*"));
  EXPECT_TRUE(Holds("labels.job:*"));
  EXPECT_TRUE(Holds("labels:job"));
  EXPECT_FALSE(Holds("labels:nope"));
  EXPECT_TRUE(Holds("labels:\"any key\""));
}

TEST(TraceFilterTest, WhatATraceDoesNotTellIsNeitherLessNorGreaterAndEqualsNothing) {
  const TraceCard bare;
  for (const char* field : {"exposed_comm_ratio", "idle_ratio", "quality"}) {
    EXPECT_FALSE(Holds(absl::StrCat(field, " >= 0 OR ", field, " < 0"), bare));
    EXPECT_FALSE(Holds(absl::StrCat(field, " = 0"), bare));
    EXPECT_TRUE(Holds(absl::StrCat(field, " != 0"), bare));
    EXPECT_FALSE(Holds(absl::StrCat(field, ":*"), bare));
    EXPECT_TRUE(Holds(absl::StrCat(field, ":*")));
  }
  TraceCard bad;  // A score of 0 that was given.
  bad.errors_count = 1;
  EXPECT_TRUE(Holds("quality < 0.5", bad));
  EXPECT_FALSE(Holds("span < 1h", bare));
  EXPECT_FALSE(Holds("start_time > 1970-01-01 OR start_time <= 1970-01-01", bare));
  EXPECT_TRUE(Holds("world_size = 0", bare));
}

TEST(TraceFilterTest, EachKindOfFieldReadsItsOwnValues) {
  EXPECT_TRUE(Holds("create_time > \"2026-11-01T00:00:00Z\""));
  EXPECT_TRUE(Holds("create_time = 2026-11-15T01:00:00+01:00"));
  EXPECT_TRUE(Holds("create_time < 2026-11-16"));
  EXPECT_TRUE(Holds("span = 20s AND span < \"5m\""));
  EXPECT_TRUE(Holds("stored_bytes = 3MiB"));
  EXPECT_TRUE(Holds("quality >= .75"));
  EXPECT_TRUE(Holds("exposed_comm_ratio=25e-2"));
  EXPECT_TRUE(Holds("pinned = true damaged = false pinned:true pinned != false"));
  EXPECT_TRUE(Holds("id = t-Abc123"));
  EXPECT_TRUE(Holds("name = \"traces/t-*\""));
  EXPECT_TRUE(Holds("ranks_count<=4 world_size>4"));
}

TEST(TraceFilterTest, TextIsFoundInIdAndValuesWhateverItsCase) {
  EXPECT_TRUE(Holds("LLaM"));
  EXPECT_TRUE(Holds("\"abc12\""));
  EXPECT_TRUE(Holds("ann"));
  EXPECT_FALSE(Holds("owner"));  // Keys are not searched.
  EXPECT_TRUE(Holds("labels.owner:ANN"));
  EXPECT_TRUE(Holds("labels.owner:nn"));
  EXPECT_FALSE(Holds("labels.owner:nna"));
}

TEST(TraceFilterTest, AnErrorTellsThePositionAndWhatWasExpected) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"labels.job =", "position 12, at the end: expected a value"},
      {"labels.job = \"x", "position 13, at \"\"x\": expected a closing quote"},
      {"labels. = x", "position 7"},
      {"labels = x", "expected . and a label's key"},
      {"job = x", "position 0, at \"job = x\": expected a field before the operator"},
      {"world_size = 8 AND", "position 18, at the end: expected a field"},
      {"(world_size = 8", "position 15, at the end: expected )"},
      {"world_size = 8)", "there is no ( to close"},
      {"world_size = many", "expected a whole number as world_size"},
      {"world_size = 1.5", "expected a whole number as world_size"},
      {"create_time > yesterday", "expected a time such as"},
      {"span > 20", "expected a duration such as"},
      {"quality > nan", "expected a number such as 0.25 as quality"},
      {"pinned > true", "expected only = or != before a value of pinned"},
      {"pinned = yes", "expected true or false"},
      {"pinned", "expected an operator after the field"},
      {"labels.job", "expected an operator after the field"},
      {"labels.job = x and labels.step = 3", "AND, OR, NOT in capitals"},
      {"a OR OR b", "position 5"},
      {"NOT", "at the end"},
      {"a, b", "position 1"},
      {"\"job\" = x", "expected a field without quotes"},
      {"labels.job == x", "position 12"},
      {"()", "position 1"},
      {std::string("a\0b", 3), "position 1"},
  };
  for (const auto& [filter, part] : cases) {
    EXPECT_THAT(TraceFilter::Parse(filter), StatusIs(absl::StatusCode::kInvalidArgument, part))
        << filter;
  }
}

TEST(TraceFilterTest, AHostileFilterIsRefusedByItsSizeDepthAndTerms) {
  const auto refused = [](const std::string& filter, const char* part) {
    EXPECT_THAT(TraceFilter::Parse(filter), StatusIs(absl::StatusCode::kInvalidArgument, part))
        << filter;
  };
  refused(std::string(4096, '('), "parentheses within each other");
  refused(std::string(kMaxFilterBytes + 1, 'a'), "bytes are more than");
  refused(absl::StrCat(std::string(4095, ')')), "position 0");
  std::string not_not;
  for (int i = 0; i < 1000; ++i) not_not += "-(";
  refused(not_not, "parentheses within each other");
  std::string many;
  for (int i = 0; i <= kMaxFilterTerms; ++i) many += "a ";
  refused(many, "at most");
  refused(std::string(4000, '-') + "a", "position 1");
  const std::string deepest =
      std::string(kMaxFilterDepth, '(') + "a" + std::string(kMaxFilterDepth, ')');
  EXPECT_THAT(TraceFilter::Parse(deepest), IsOk());
}

// --- Against a naive evaluation ---

// A filter that is made up: its text, in one of many spellings, and what it means.
struct MadeUp {
  std::string text;
  bool is_simple = true;  // Needs no parentheses anywhere.
  std::function<bool(const TraceCard&)> holds;
};

class FilterMaker {
 public:
  explicit FilterMaker(uint64_t seed) : random_(seed) {}

  MadeUp Make(int depth) {
    const int kind = depth == 0 ? 0 : Below(5);
    if (kind <= 1) return Term();
    if (kind == 2) {
      MadeUp inner = Make(depth - 1);
      const char* spelling = Below(2) == 0 ? "NOT " : "-";
      const bool is_twice = inner.text[0] == 'N' || inner.text[0] == '-';
      return {spelling + (is_twice ? absl::StrCat("(", inner.text, ")") : InParentheses(inner)),
              true, [holds = inner.holds](const TraceCard& card) { return !holds(card); }};
    }
    const bool is_and = kind == 3;
    MadeUp all = Make(depth - 1);
    all.text = InParentheses(all);
    for (int i = 1 + Below(3); i > 0; --i) {
      const MadeUp next = Make(depth - 1);
      const char* between = !is_and ? " OR " : Below(2) == 0 ? " AND " : "  ";
      all.text += between + InParentheses(next);
      all.holds = [is_and, a = all.holds, b = next.holds](const TraceCard& card) {
        return is_and ? a(card) && b(card) : a(card) || b(card);
      };
    }
    all.is_simple = false;
    return all;
  }

  TraceCard Card() {
    TraceCard card;
    card.id = absl::StrCat("t-", Below(3));
    if (Below(3) > 0) card.labels["a"] = Pick(kTexts);
    if (Below(3) > 0) card.labels["b c"] = Pick(kTexts);
    card.world_size = Below(3);
    card.span_ns = Below(3) * kSecondNs;
    card.pinned = Below(2) == 0;
    if (Below(2) == 0) {
      card.breakdown.emplace();
      card.breakdown->idle_ratio = 0.5 * Below(3);
    }
    return card;
  }

 private:
  const std::vector<std::string> kTexts{"", "x", "xy", "yx", "X", "1", "2", "10", "1.0"};

  int Below(int end) { return static_cast<int>(random_() % static_cast<uint64_t>(end)); }
  const std::string& Pick(const std::vector<std::string>& from) {
    return from[static_cast<size_t>(Below(static_cast<int>(from.size())))];
  }
  std::string InParentheses(const MadeUp& part) {
    return part.is_simple && Below(4) > 0 ? part.text : absl::StrCat("(", part.text, ")");
  }

  // Orders: -1, 0, 1, or 2 for "cannot be compared".
  static bool Decide(const std::string& op, int order) {
    if (op == "=") return order == 0;
    if (op == "!=") return order != 0;
    if (order == 2) return false;
    if (op == "<") return order < 0;
    if (op == "<=") return order <= 0;
    if (op == ">") return order > 0;
    return order >= 0;
  }
  template <typename Value>
  static int OrderOf(const Value& a, const Value& b) {
    return a < b ? -1 : a == b ? 0 : 1;
  }
  static bool IsNumber(const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos;
  }
  static double ToNumber(const std::string& text) {
    double number = 0;
    EXPECT_TRUE(absl::SimpleAtod(text, &number)) << text;
    return number;
  }
  static int OrderOfLabels(const std::string* value, const std::string& wanted) {
    if (value == nullptr) return wanted.empty() ? 3 : 2;  // 3: equal, and not comparable.
    if (IsNumber(wanted) && IsNumber(*value)) {
      return OrderOf(ToNumber(*value), ToNumber(wanted));
    }
    if (IsNumber(wanted)) return 2;
    return OrderOf(*value, wanted);
  }

  MadeUp Term() {
    static const std::vector<std::string> kOps{"=", "!=", "<", "<=", ">", ">="};
    const std::string op = Pick(kOps);
    const std::string blank = Below(2) == 0 ? " " : "";
    const auto text = [&](const std::string& field, const std::string& value) {
      return absl::StrCat(field, blank, op, blank, value);
    };
    switch (Below(6)) {
      case 0: {
        const bool is_a = Below(2) == 0;
        const std::string wanted = Pick(kTexts);
        const std::string key = is_a ? "a" : "b c";
        return {text(is_a ? "labels.a" : "labels.\"b c\"", absl::StrCat("\"", wanted, "\"")), true,
                [op, wanted, key](const TraceCard& card) {
                  const auto it = card.labels.find(key);
                  const int order =
                      OrderOfLabels(it == card.labels.end() ? nullptr : &it->second, wanted);
                  if (order == 3) return op == "=";
                  return Decide(op, order);
                }};
      }
      case 1: {
        const int wanted = Below(3);
        return {text("world_size", absl::StrCat(wanted)), true,
                [op, wanted](const TraceCard& card) {
                  return Decide(op, OrderOf(card.world_size, wanted));
                }};
      }
      case 2: {
        const int wanted = Below(3);
        return {text("span", absl::StrCat(wanted, "s")), true, [op, wanted](const TraceCard& card) {
                  if (card.span_ns == 0) return Decide(op, 2);
                  return Decide(op, OrderOf(card.span_ns, wanted * kSecondNs));
                }};
      }
      case 3: {
        const double wanted = 0.5 * Below(3);
        return {text("idle_ratio", absl::StrCat(wanted)), true,
                [op, wanted](const TraceCard& card) {
                  if (!card.breakdown.has_value()) return Decide(op, 2);
                  return Decide(op, OrderOf(card.breakdown->idle_ratio, wanted));
                }};
      }
      case 4: {
        const bool wanted = Below(2) == 0;
        return {absl::StrCat("pinned = ", wanted ? "true" : "false"), true,
                [wanted](const TraceCard& card) { return card.pinned == wanted; }};
      }
      default: {
        const bool is_quoted = Below(2) == 0;
        return {is_quoted ? "\"x\"" : "X", true, [](const TraceCard& card) {
                  for (const auto& [key, value] : card.labels) {
                    if (value.find_first_of("xX") != std::string::npos) return true;
                  }
                  return false;
                }};
      }
    }
  }

  std::mt19937_64 random_;
};

TEST(TraceFilterTest, ParsedFiltersMeanWhatTheirPartsMeanAndPrintAsThemselves) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    FilterMaker maker(seed);
    const MadeUp made = maker.Make(3);
    SCOPED_TRACE(absl::StrCat("seed ", seed, ": ", made.text));
    ASSERT_OK_AND_ASSIGN(const TraceFilter filter, TraceFilter::Parse(made.text));
    ASSERT_OK_AND_ASSIGN(const TraceFilter printed, TraceFilter::Parse(filter.ToString()));
    ASSERT_EQ(printed.ToString(), filter.ToString());
    for (int i = 0; i < 20; ++i) {
      const TraceCard card = maker.Card();
      ASSERT_EQ(filter.Matches(card), made.holds(card)) << filter.ToString();
      ASSERT_EQ(printed.Matches(card), made.holds(card)) << filter.ToString();
    }
  }
}

TEST(TraceFilterTest, AnyBytesAreAFilterOrAnError) {
  std::mt19937_64 random(7);
  const std::string letters = "()\"'\\*=<>!:- ANDORTlabels.x,1\xff\n";
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (size_t i = random() % 40; i > 0; --i) text += letters[random() % letters.size()];
    const absl::StatusOr<TraceFilter> filter = TraceFilter::Parse(text);
    if (!filter.ok()) continue;
    const absl::StatusOr<TraceFilter> again = TraceFilter::Parse(filter->ToString());
    ASSERT_TRUE(again.ok()) << text << " as " << filter->ToString();
    ASSERT_EQ(again->ToString(), filter->ToString()) << text;
  }
}

}  // namespace
}  // namespace chakrad
