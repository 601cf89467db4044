#include "storage/trace_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "storage/random_cards.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;

std::shared_ptr<TraceCard> Card(const std::string& id, int64_t create_unix_ns) {
  auto card = std::make_shared<TraceCard>();
  card->id = id;
  card->create_unix_ns = create_unix_ns;
  return card;
}

TraceFilter Filter(absl::string_view text) { return *TraceFilter::Parse(text); }
TraceOrder Order(absl::string_view text) { return *TraceOrder::Parse(text); }

std::vector<std::string> Ids(const TraceCards& cards) {
  std::vector<std::string> ids;
  for (const auto& card : cards) ids.push_back(card->id);
  return ids;
}

std::vector<std::string> Listed(const TraceCards& cards, absl::string_view filter,
                                absl::string_view order_by) {
  return Ids(SearchTraces(cards, Filter(filter), Order(order_by), 1000, "")->traces);
}

// Every trace on all pages, in order.
std::vector<std::string> AllPages(const TraceCards& cards, const TraceFilter& filter,
                                  const TraceOrder& order, int page_size) {
  std::vector<std::string> ids;
  std::string token;
  do {
    const auto page = SearchTraces(cards, filter, order, page_size, token);
    EXPECT_THAT(page, IsOk());
    if (!page.ok()) break;
    for (const std::string& id : Ids(page->traces)) ids.push_back(id);
    token = page->next_page_token;
  } while (!token.empty());
  return ids;
}

TEST(TraceSearchTest, TheDefaultIsNewestFirstThenById) {
  const TraceCards cards{Card("b", 1), Card("a", 1), Card("c", 2)};
  EXPECT_THAT(Listed(cards, "", ""), ElementsAre("c", "b", "a"));
  EXPECT_THAT(Listed(cards, "", "create_time"), ElementsAre("b", "a", "c"));
  EXPECT_THAT(Listed(cards, "", "id desc"), ElementsAre("c", "b", "a"));
  EXPECT_THAT(Listed(cards, "", " name asc "), ElementsAre("a", "b", "c"));
}

TEST(TraceSearchTest, LabelsOrderByNumberBeforeTextAndWhatIsMissingComesLast) {
  const auto with_step = [](const std::string& step, int64_t at) {
    auto card = Card(absl::StrCat("step", step), at);
    card->labels["step"] = step;
    return card;
  };
  const TraceCards cards{Card("none", 9), with_step("9", 1), with_step("x", 2), with_step("10", 3),
                         with_step("a", 4)};
  EXPECT_THAT(Listed(cards, "", "labels.step"),
              ElementsAre("step9", "step10", "stepa", "stepx", "none"));
  EXPECT_THAT(Listed(cards, "", "labels.\"step\" desc"),
              ElementsAre("stepx", "stepa", "step10", "step9", "none"));
}

TEST(TraceSearchTest, SeveralFieldsOrderOneAfterTheOther) {
  TraceCards cards;
  for (const auto& [id, world, quality] :
       {std::tuple("a", 8, 0.5), {"b", 4, 0.1}, {"c", 8, 0.9}, {"d", 4, 0.2}}) {
    auto card = Card(id, 1);
    card->world_size = world;
    card->quality = quality;
    cards.push_back(card);
  }
  EXPECT_THAT(Listed(cards, "", "world_size desc,quality"), ElementsAre("a", "c", "b", "d"));
  EXPECT_THAT(Listed(cards, "quality > 0.15", "world_size, quality desc"),
              ElementsAre("d", "c", "a"));
}

TEST(TraceSearchTest, AnOrderThatIsNoneIsRefusedByName) {
  for (const auto& [order_by, part] : std::vector<std::pair<std::string, std::string>>{
           {"size", "\"size\": expected a field"},
           {"quality down", "\"quality down\""},
           {"quality,", "\"\": expected a field"},
           {"quality, quality desc", "same field twice"},
           {"labels.", "expected a field"},
           {"labels.a,labels.b,labels.c,labels.d,labels.e,labels.f", "more than 5 fields"},
           {std::string(2000, 'x'), "bytes are more than"}}) {
    EXPECT_THAT(TraceOrder::Parse(order_by), StatusIs(absl::StatusCode::kInvalidArgument, part))
        << order_by;
  }
}

TEST(TraceSearchTest, ATokenBelongsToItsFilterAndOrder) {
  const TraceCards cards = RandomCards(3, 50);
  ASSERT_OK_AND_ASSIGN(const TraceSearchPage page,
                       SearchTraces(cards, Filter("quality>0"), Order("quality"), 5, ""));
  ASSERT_FALSE(page.next_page_token.empty());
  const auto search = [&](absl::string_view filter, absl::string_view order_by,
                          absl::string_view token) {
    return SearchTraces(cards, Filter(filter), Order(order_by), 5, token).status();
  };
  // The same filter, spelt otherwise.
  EXPECT_THAT(search(" (quality > 0.0) ", " quality asc", page.next_page_token), IsOk());
  const auto other = StatusIs(absl::StatusCode::kInvalidArgument, "another filter or order_by");
  EXPECT_THAT(search("quality > 0.1", "quality", page.next_page_token), other);
  EXPECT_THAT(search("quality > 0", "quality desc", page.next_page_token), other);
  EXPECT_THAT(search("", "", page.next_page_token), other);
  const auto none = StatusIs(absl::StatusCode::kInvalidArgument, "not one that a list returned");
  for (size_t length = 0; length < page.next_page_token.size(); length += 3) {
    if (length == 0) continue;
    EXPECT_FALSE(search("quality>0", "quality", page.next_page_token.substr(0, length)).ok() &&
                 length < 40);
  }
  EXPECT_THAT(search("", "", "AAAA"), none);
  EXPECT_THAT(search("", "", "!"), none);
  EXPECT_THAT(SearchTraces(cards, {}, {}, 0, ""),
              StatusIs(absl::StatusCode::kInvalidArgument, "page_size: 0"));
}

TEST(TraceSearchTest, PagesTogetherAreTheWholeListInOrder) {
  const TraceCards cards = RandomCards(5, 300);
  for (const char* order_by :
       {"", "create_time", "labels.job", "labels.job desc, quality", "exposed_comm_ratio desc",
        "pinned, labels.step", "start_time", "world_size,ranks_count desc,errors_count"}) {
    for (const char* filter : {"", "quality > 0.5", "labels.job:*", "labels.job = nothing"}) {
      SCOPED_TRACE(absl::StrCat(filter, " | ", order_by));
      const TraceOrder order = Order(order_by);
      ASSERT_OK_AND_ASSIGN(const TraceSearchPage whole,
                           SearchTraces(cards, Filter(filter), order, 1000, ""));
      EXPECT_EQ(whole.next_page_token, "");
      EXPECT_EQ(whole.total_count, static_cast<int64_t>(whole.traces.size()));
      int64_t matching = 0;
      for (const auto& card : cards) matching += Filter(filter).Matches(*card) ? 1 : 0;
      EXPECT_EQ(whole.total_count, matching);
      for (const int page_size : {1, 7, 150}) {
        EXPECT_EQ(AllPages(cards, Filter(filter), order, page_size), Ids(whole.traces));
      }
    }
  }
}

// Whatever comes and goes between two pages: those that stay are listed once, in order.
TEST(TraceSearchTest, PagesNeitherSkipNorRepeatWhileTracesComeAndGo) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    std::mt19937_64 random(seed);
    const char* const orders[] = {"", "labels.job,labels.step desc", "quality desc",
                                  "idle_ratio,labels.user"};
    const TraceOrder order = Order(orders[seed % 4]);
    const TraceFilter filter = Filter(seed % 3 == 0 ? "quality > 0.3" : "");
    const TraceCards all = RandomCards(seed, 200);
    std::set<std::string> here, stayed;  // stayed: there from the first page to the last.
    for (const auto& card : all) {
      if (random() % 2 == 0) here.insert(card->id);
    }
    stayed = here;
    std::vector<std::string> listed;
    std::string token;
    do {
      TraceCards cards;
      for (const auto& card : all) {
        if (here.count(card->id) != 0) cards.push_back(card);
      }
      ASSERT_OK_AND_ASSIGN(const TraceSearchPage page,
                           SearchTraces(cards, filter, order, 9, token));
      for (const auto& id : Ids(page.traces)) listed.push_back(id);
      token = page.next_page_token;
      for (const auto& card : all) {
        if (random() % 10 != 0) continue;
        if (here.insert(card->id).second) continue;
        here.erase(card->id);
        stayed.erase(card->id);
      }
      // The last entry of a page goes often: its token must live on.
      if (!listed.empty() && random() % 2 == 0) {
        here.erase(listed.back());
        stayed.erase(listed.back());
      }
    } while (!token.empty());
    EXPECT_EQ(std::set<std::string>(listed.begin(), listed.end()).size(), listed.size());
    std::vector<std::string> wanted;
    for (const auto& id : AllPages(all, filter, order, 1000)) {
      if (stayed.count(id) != 0) wanted.push_back(id);
    }
    std::vector<std::string> got;
    for (const auto& id : listed) {
      if (stayed.count(id) != 0) got.push_back(id);
    }
    EXPECT_EQ(got, wanted);
  }
}

TEST(TraceSearchTest, ATokenMadeForACardGoesOnAfterIt) {
  const TraceCards cards = RandomCards(9, 40);
  const TraceOrder order = Order("labels.job");
  ASSERT_OK_AND_ASSIGN(const TraceSearchPage whole, SearchTraces(cards, {}, order, 40, ""));
  ASSERT_OK_AND_ASSIGN(
      const TraceSearchPage rest,
      SearchTraces(cards, {}, order, 40, TracePageToken({}, order, *whole.traces[24])));
  EXPECT_EQ(Ids(rest.traces), Ids(TraceCards(whole.traces.begin() + 25, whole.traces.end())));
  EXPECT_EQ(rest.total_count, 40);
}

}  // namespace
}  // namespace chakrad
