#include "storage/retention_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "storage/random_cards.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kHourNs = int64_t{3600} * 1'000'000'000;
constexpr int64_t kDayNs = 24 * kHourNs;
constexpr int64_t kDay0Ns = 20'000 * kDayNs;  // Midnight.

// The first k: what is chosen is the business of analysis/representative.
std::vector<size_t> FirstK(const std::vector<TraceBreakdown>& points, size_t k) {
  std::vector<size_t> first;
  for (size_t i = 0; i < std::min(k, points.size()); ++i) first.push_back(i);
  return first;
}

// "a1" of job a, 10 bytes, stored so many hours after day 0.
std::shared_ptr<TraceCard> Card(const std::string& id, int64_t at_hours) {
  auto card = std::make_shared<TraceCard>();
  card->id = id;
  card->labels["job"] = id.substr(0, 1);
  card->create_unix_ns = kDay0Ns + at_hours * kHourNs;
  card->stored_bytes = 10;
  return card;
}

TraceCards NewestFirst(TraceCards cards) {
  std::sort(cards.begin(), cards.end(), [](const auto& a, const auto& b) {
    return std::tie(a->create_unix_ns, a->id) > std::tie(b->create_unix_ns, b->id);
  });
  return cards;
}

// Two jobs: a1..a4 a day apart, b1 with a2, b2 with a4.
TraceCards TwoJobs() {
  return NewestFirst({Card("a1", 0), Card("a2", 24), Card("a3", 48), Card("a4", 72), Card("b1", 25),
                      Card("b2", 73)});
}

RetentionPolicy Policy(const std::string& name, absl::string_view filter = "") {
  RetentionPolicy policy;
  policy.name = name;
  policy.filter = *TraceFilter::Parse(filter);
  return policy;
}

RetentionPlan Plan(const std::vector<RetentionPolicy>& policies, const TraceCards& cards,
                   int64_t clock_unix_ns = kDay0Ns + 74 * kHourNs) {
  return PlanRetention(policies, cards, {clock_unix_ns, std::nullopt}, FirstK);
}

std::vector<std::string> Going(const RetentionPlan& plan) {
  std::vector<std::string> ids;
  for (const RetentionDecision& decision : plan.decisions) {
    if (decision.goes) ids.push_back(decision.card->id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::string ReasonOf(const RetentionPlan& plan, const std::string& id) {
  for (const RetentionDecision& decision : plan.decisions) {
    if (decision.card->id == id) return decision.reason;
  }
  return "not decided";
}

TEST(RetentionPlanTest, WithoutPoliciesEverythingStays) {
  const RetentionPlan plan = Plan({}, TwoJobs());
  EXPECT_THAT(Going(plan), IsEmpty());
  EXPECT_EQ(ReasonOf(plan, "a1"), "no policy's filter holds for it");
}

TEST(RetentionPlanTest, TheNewestAreCountedInEachGroup) {
  RetentionPolicy policy = Policy("weekly");
  policy.group_by = {"job"};
  policy.keep_newest = 2;
  const RetentionPlan plan = Plan({policy}, TwoJobs());
  EXPECT_THAT(Going(plan), ElementsAre("a1", "a2"));
  EXPECT_EQ(ReasonOf(plan, "a2"), "policy weekly: not among the newest 2 of job=a");
  EXPECT_EQ(ReasonOf(plan, "b1"), "policy weekly: among the newest 2 of job=b");
  policy.group_by = {};
  EXPECT_THAT(Going(Plan({policy}, TwoJobs())), ElementsAre("a1", "a2", "a3", "b1"));
}

TEST(RetentionPlanTest, AFilterTouchesOnlyWhatItHoldsFor) {
  RetentionPolicy policy = Policy("p", "labels.job = b");
  policy.keep_newest = 1;
  EXPECT_THAT(Going(Plan({policy}, TwoJobs())), ElementsAre("b1"));
}

// At hour 74: a3 is 26 hours old, a2 50.
TEST(RetentionPlanTest, ATraceOfExactlyTheAgeGoes) {
  RetentionPolicy policy = Policy("p", "labels.job = a");
  policy.keep_for_ns = 26 * kHourNs;
  EXPECT_THAT(Going(Plan({policy}, TwoJobs())), ElementsAre("a1", "a2", "a3"));
  policy.keep_for_ns = 26 * kHourNs + 1;
  EXPECT_THAT(Going(Plan({policy}, TwoJobs())), ElementsAre("a1", "a2"));
}

TEST(RetentionPlanTest, OneADayIsTheNewestOfEachDayInUtc) {
  RetentionPolicy policy = Policy("p");
  policy.keep_one_a_day = true;
  const TraceCards cards =
      NewestFirst({Card("a1", 0), Card("a2", 23), Card("a3", 24), Card("b1", 22), Card("b2", -1)});
  const RetentionPlan plan = Plan({policy}, cards);
  EXPECT_THAT(Going(plan), ElementsAre("a1", "b1"));
  EXPECT_EQ(ReasonOf(plan, "a2"), "policy p: the newest of 2024-10-04");
  EXPECT_EQ(ReasonOf(plan, "a1"), "policy p: not the newest of its day");
  policy.group_by = {"job"};
  EXPECT_THAT(Going(Plan({policy}, cards)), ElementsAre("a1"));
}

TEST(RetentionPlanTest, RepresentativesAreChosenAmongThoseWithABreakdown) {
  RetentionPolicy policy = Policy("p");
  policy.group_by = {"job"};
  policy.keep_representative = 1;
  TraceCards cards = TwoJobs();
  for (const auto& card : cards) {
    if (card->id != "a4") const_cast<TraceCard&>(*card).breakdown.emplace();
  }
  const RetentionPlan plan = Plan({policy}, cards);
  EXPECT_THAT(Going(plan), ElementsAre("a1", "a2", "a4", "b1"));
  EXPECT_EQ(ReasonOf(plan, "a3"), "policy p: one of 1 that represent job=a");
}

TEST(RetentionPlanTest, ATraceWithTimesWhoseBreakdownIsNotKnownIsKeptByRepresentatives) {
  RetentionPolicy policy = Policy("p");
  policy.group_by = {"job"};
  policy.keep_representative = 1;
  const TraceCards cards = TwoJobs();
  for (const auto& card : cards) {
    if (card->id == "a2") const_cast<TraceCard&>(*card).span_ns = kHourNs;
    if (card->id == "a3" || card->id == "b2") const_cast<TraceCard&>(*card).breakdown.emplace();
  }
  const RetentionPlan plan = Plan({policy}, cards);
  EXPECT_THAT(Going(plan), ElementsAre("a1", "a4", "b1"));
  EXPECT_EQ(ReasonOf(plan, "a2"), "policy p: its breakdown is not known");
}

TEST(RetentionPlanTest, AnyRuleOfAnyPolicyKeeps) {
  RetentionPolicy newest = Policy("newest");
  newest.keep_newest = 1;  // b2
  RetentionPolicy old_job = Policy("a-job", "labels.job = a");
  old_job.keep_for_ns = 30 * kHourNs;  // a3, a4
  const RetentionPlan plan = Plan({newest, old_job}, TwoJobs());
  EXPECT_THAT(Going(plan), ElementsAre("a1", "a2", "b1"));
  EXPECT_EQ(ReasonOf(plan, "a1"),
            "policy newest: not among the newest 1; policy a-job: older than 1d6h");
  RetentionPolicy both = old_job;
  both.keep_newest = 3;
  EXPECT_THAT(Going(Plan({both}, TwoJobs())), ElementsAre("a1"));
}

// Of the three newest, 10 bytes each, 25 bytes hold two.
TEST(RetentionPlanTest, BytesBoundWhatTheRulesKeepButNotWhatAnotherPolicyKeeps) {
  RetentionPolicy policy = Policy("p", "labels.job = a");
  policy.keep_newest = 3;
  policy.max_bytes = 25;
  const RetentionPlan plan = Plan({policy}, TwoJobs());
  EXPECT_THAT(Going(plan), ElementsAre("a1", "a2"));
  EXPECT_EQ(ReasonOf(plan, "a2"), "policy p: over 25B");
  RetentionPolicy other = Policy("other");
  other.keep_for_ns = 51 * kHourNs;
  EXPECT_THAT(Going(Plan({policy, other}, TwoJobs())), ElementsAre("a1"));
}

TEST(RetentionPlanTest, AQuotaBoundsWhateverTheOthersLeaveAndKeepsNothingThatTheyLetGo) {
  RetentionPolicy quota = Policy("quota");
  quota.max_bytes = 40;
  EXPECT_THAT(Going(Plan({quota}, TwoJobs())), ElementsAre("a1", "a2"));
  RetentionPolicy newest = Policy("newest", "labels.job = a");
  newest.keep_newest = 3;
  // a1 goes by the rule; of the other five the oldest.
  for (const auto& policies : {std::vector{quota, newest}, std::vector{newest, quota}}) {
    const RetentionPlan plan = Plan(policies, TwoJobs());
    EXPECT_THAT(Going(plan), ElementsAre("a1", "a2"));
    EXPECT_EQ(ReasonOf(plan, "a2"), "policy quota: over 40B");
    EXPECT_EQ(ReasonOf(plan, "b1"), "policy quota: within 40B");
  }
  quota.max_bytes = 9;
  EXPECT_EQ(Going(Plan({quota}, TwoJobs())).size(), 6u);
}

TEST(RetentionPlanTest, PinnedTracesStayAndCount) {
  TraceCards cards = TwoJobs();
  for (const auto& card : cards) const_cast<TraceCard&>(*card).pinned = card->id[1] == '1';
  RetentionPolicy quota = Policy("quota");
  quota.max_bytes = 30;  // a1 and b1 are pinned: room for one more.
  const RetentionPlan plan = Plan({quota}, cards);
  EXPECT_THAT(Going(plan), ElementsAre("a2", "a3", "a4"));
  EXPECT_EQ(ReasonOf(plan, "a1"), "pinned");
}

TEST(RetentionPlanTest, DamagedTracesStayAndDoNotCount) {
  TraceCards cards = TwoJobs();
  for (const auto& card : cards) const_cast<TraceCard&>(*card).damaged = card->id == "b2";
  RetentionPolicy policy = Policy("p");
  policy.keep_newest = 1;
  const RetentionPlan plan = Plan({policy}, cards);
  EXPECT_THAT(Going(plan), ElementsAre("a1", "a2", "a3", "b1"));
  EXPECT_THAT(ReasonOf(plan, "b2"), HasSubstr("damaged"));
}

TEST(RetentionPlanTest, AClockThatWentBackMakesNothingYounger) {
  RetentionPolicy policy = Policy("p");
  policy.keep_for_ns = 30 * kHourNs;
  const RetentionPlan plan = Plan({policy}, TwoJobs(), /*clock_unix_ns=*/0);
  EXPECT_EQ(plan.now_unix_ns, kDay0Ns + 73 * kHourNs);
  EXPECT_THAT(Going(plan), ElementsAre("a1", "a2", "b1"));
}

TEST(RetentionPlanTest, AClockFarAheadHoldsWhatOnlyItsAgeLetsGo) {
  RetentionPolicy aged = Policy("aged", "labels.job = a");
  aged.keep_for_ns = 40 * kHourNs;
  RetentionPolicy newest = Policy("newest", "labels.job = b");
  newest.keep_newest = 1;
  const int64_t last_run_ns = kDay0Ns + 74 * kHourNs;
  const auto plan_at = [&](int64_t clock_unix_ns) {
    return PlanRetention({aged, newest}, TwoJobs(), {clock_unix_ns, last_run_ns}, FirstK);
  };
  const RetentionPlan a_week = plan_at(last_run_ns + kMaxRetentionStepNs);
  EXPECT_THAT(Going(a_week), ElementsAre("a1", "a2", "a3", "a4", "b1"));
  EXPECT_EQ(a_week.held_because, "");
  const RetentionPlan plan = plan_at(last_run_ns + kMaxRetentionStepNs + 1);
  // By the last trusted time a1 and a2 are old; nothing else goes for its age.
  EXPECT_THAT(Going(plan), ElementsAre("a1", "a2", "b1"));
  EXPECT_EQ(plan.held_count, 2);
  EXPECT_THAT(plan.held_because, HasSubstr("the clock says 2024-10-14T02:00:00.000000001+00:00"));
  EXPECT_THAT(ReasonOf(plan, "a3"), HasSubstr("policy aged: held: older than 1d16h"));
  const RetentionPlan far = plan_at(std::numeric_limits<int64_t>::max());
  EXPECT_THAT(Going(far), ElementsAre("a1", "a2", "b1"));
}

TEST(RetentionPlanTest, ATraceThatWasStoredWhileTheClockWasFarAheadHoldsTheOthers) {
  TraceCards cards = TwoJobs();
  cards = NewestFirst({cards[0], cards[1], cards[2], Card("a9", 24 * 365 * 50)});
  RetentionPolicy policy = Policy("p");
  policy.keep_for_ns = 30 * kDayNs;
  const int64_t now_ns = kDay0Ns + 74 * kHourNs;
  const RetentionPlan plan = PlanRetention({policy}, cards, {now_ns, now_ns}, FirstK);
  EXPECT_THAT(Going(plan), IsEmpty());
  EXPECT_EQ(plan.held_count, 3);
  EXPECT_THAT(plan.held_because, HasSubstr("the creation time of trace a9 says 2074"));
}

// --- Properties ---

std::vector<RetentionPolicy> RandomPolicies(uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::vector<std::string> filters{"", "labels.model = dlrm", "quality > 0.5", "labels.job:*",
                                         "NOT labels.cluster = east-1"};
  const std::vector<std::vector<std::string>> groups{{}, {"job"}, {"cluster", "model"}, {"nope"}};
  std::vector<RetentionPolicy> policies(random() % 4);
  for (size_t i = 0; i < policies.size(); ++i) {
    RetentionPolicy& policy = policies[i];
    policy = Policy(absl::StrCat("p", i), filters[random() % filters.size()]);
    policy.group_by = groups[random() % groups.size()];
    if (random() % 3 == 0) policy.keep_newest = 1 + static_cast<int64_t>(random() % 9);
    if (random() % 3 == 0) policy.keep_for_ns = static_cast<int64_t>(1 + random() % 100) * kHourNs;
    policy.keep_one_a_day = random() % 3 == 0;
    if (random() % 3 == 0) policy.keep_representative = 1 + static_cast<int64_t>(random() % 4);
    if (random() % 2 == 0) policy.max_bytes = static_cast<int64_t>(random() % 400'000'000);
  }
  return policies;
}

TEST(RetentionPlanTest, EveryCardIsDecidedOnceAndOfAGroupNoMoreGoThanTheRulesSay) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const TraceCards cards = RandomCards(seed, 150);
    const std::vector<RetentionPolicy> policies = RandomPolicies(seed);
    const int64_t clock_ns = cards[0]->create_unix_ns + kHourNs;
    const RetentionPlan plan = Plan(policies, cards, clock_ns);
    ASSERT_EQ(plan.decisions.size(), cards.size());
    std::map<std::string, bool> goes;
    for (size_t i = 0; i < cards.size(); ++i) {
      const RetentionDecision& decision = plan.decisions[i];
      EXPECT_EQ(decision.card, cards[i]);
      EXPECT_FALSE(decision.reason.empty());
      EXPECT_FALSE(decision.goes && decision.card->pinned);
      goes[cards[i]->id] = decision.goes;
      bool covered = false;
      for (const RetentionPolicy& policy : policies) {
        covered = covered || policy.filter.Matches(*cards[i]);
      }
      EXPECT_TRUE(covered || !decision.goes);
    }
    bool has_quota = false;
    for (const RetentionPolicy& policy : policies) {
      has_quota = has_quota || (!policy.has_keep_rule() && policy.max_bytes > 0);
    }
    for (const RetentionPolicy& policy : policies) {
      std::map<std::string, int64_t> newer, bytes, pinned_bytes;
      for (const auto& card : cards) {
        if (!policy.filter.Matches(*card)) continue;
        std::string group;
        for (const std::string& label : policy.group_by) {
          const auto it = card->labels.find(label);
          absl::StrAppend(&group, it == card->labels.end() ? "" : it->second, "|");
        }
        const bool among_newest = newer[group]++ < policy.keep_newest;
        const bool is_young = clock_ns - card->create_unix_ns < policy.keep_for_ns;
        if (!has_quota && policy.max_bytes == 0) {
          EXPECT_FALSE(goes[card->id] && (among_newest || is_young)) << card->id;
        }
        if (!goes[card->id]) bytes[group] += card->stored_bytes;
        if (card->pinned) pinned_bytes[group] += card->stored_bytes;
      }
      if (policy.has_keep_rule() || policy.max_bytes == 0) continue;
      for (const auto& [group, sum] : bytes) {
        EXPECT_LE(sum, std::max(policy.max_bytes, pinned_bytes[group]));
      }
    }
    const RetentionPlan again = Plan(policies, cards, clock_ns);
    EXPECT_EQ(Going(again), Going(plan));
  }
}

// What a run leaves, a second run at the same time leaves: rules by count and day are stable.
// (Representatives are chosen anew among what is left, and are the same: k of k.)
TEST(RetentionPlanTest, ASecondRunFindsNothingMoreToDelete) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const TraceCards cards = RandomCards(seed, 150);
    std::vector<RetentionPolicy> policies = RandomPolicies(seed);
    // Policies whose filters overlap keep for each other: one at a time.
    if (policies.size() > 1) policies.resize(1);
    const RetentionPlan plan = Plan(policies, cards, cards[0]->create_unix_ns);
    TraceCards left;
    for (const RetentionDecision& decision : plan.decisions) {
      if (!decision.goes) left.push_back(decision.card);
    }
    if (left.empty()) continue;
    EXPECT_THAT(Going(Plan(policies, left, cards[0]->create_unix_ns)), IsEmpty());
  }
}

}  // namespace
}  // namespace chakrad
