// Over a real store in memory, with a clock that the test owns.
#include "server/retention/retention_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "storage/faulty_kv.h"
#include "storage/mem_kv.h"
#include "storage/trace_store_kv.h"
#include "trace/codec/rank_generator.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kDayNs = int64_t{86400} * 1'000'000'000;

class RetentionManagerTest : public testing::Test {
 protected:
  void Put(const std::string& id, const std::string& job) {
    const Trace trace = RandomTrace(std::hash<std::string>()(id), 1, 50);
    TraceInfo info;
    info.id = id;
    info.labels = {{"job", job}};
    info.create_unix_ns = clock_.NowUnixNs();
    info.world_size = trace.world_size;
    info.groups = trace.groups;
    ASSERT_THAT(traces_->Put(trace, info), IsOk());
  }
  std::vector<std::string> Ids() {
    std::vector<std::string> ids;
    const auto cards = traces_->Cards();
    for (const auto& card : *cards) ids.push_back(card->id);
    return ids;
  }
  absl::Status Run(RetentionManager* manager, bool trust_clock = false) {
    outcomes_.clear();
    return manager->Run(trust_clock, [this](const RetentionOutcome& outcome) {
      outcomes_.push_back(absl::StrCat(outcome.deleted ? "deleted " : "stays ",
                                       outcome.decision.card->id, ": ", outcome.reason));
      return true;
    });
  }
  static std::string Newest(int count) {
    return absl::StrCat("policies:\n - {name: p, group_by: job, keep_newest: ", count, "}\n");
  }
  static std::string Younger(const std::string& than) {
    return absl::StrCat("policies:\n - {name: p, keep_for: ", than, "}\n");
  }

  const std::shared_ptr<FaultyKv> kv_ = std::make_shared<FaultyKv>(std::shared_ptr<Kv>(NewMemKv()));
  FakeClock clock_;
  Metrics metrics_;
  const std::unique_ptr<TraceStore> traces_ = *OpenTraceStore(kv_);
  const std::unique_ptr<SettingsStore> settings_ = NewSettingsStore(kv_);
  RetentionManager manager_{traces_.get(), settings_.get(), &clock_, &metrics_};
  std::vector<std::string> outcomes_;
};

TEST_F(RetentionManagerTest, WithoutPoliciesARunDeletesNothing) {
  Put("t-1", "a");
  ASSERT_OK_AND_ASSIGN(const auto policies, manager_.Get());
  EXPECT_THAT(policies->policies, IsEmpty());
  EXPECT_THAT(Run(&manager_), IsOk());
  EXPECT_THAT(Ids(), ElementsAre("t-1"));
}

TEST_F(RetentionManagerTest, PoliciesAreKeptAsTheyWereGivenAndReadAgain) {
  const std::string yaml = "# two of each\n" + Newest(2);
  ASSERT_THAT(manager_.Set(yaml), IsOk());
  EXPECT_THAT(manager_.Set("policies: [{name: p}]"),
              StatusIs(absl::StatusCode::kInvalidArgument, "policy p: has no rule"));
  RetentionManager next(traces_.get(), settings_.get(), &clock_, &metrics_);
  ASSERT_OK_AND_ASSIGN(const auto policies, next.Get());
  EXPECT_EQ(policies->yaml, yaml);
  EXPECT_EQ(policies->policies[0].keep_newest, 2);
  ASSERT_THAT(next.Set(""), IsOk());
  EXPECT_THAT((*next.Get())->policies, IsEmpty());
}

TEST_F(RetentionManagerTest, ARunDeletesTheOldestFirstAndAPlanNothing) {
  for (const char* id : {"t-1", "t-2", "t-3", "t-4"}) {
    Put(id, "a");
    clock_.AdvanceNs(1000);
  }
  ASSERT_THAT(manager_.Set(Newest(2)), IsOk());
  ASSERT_OK_AND_ASSIGN(const RetentionPlan plan, manager_.Plan(std::nullopt));
  EXPECT_EQ(plan.decisions.size(), 4u);
  ASSERT_OK_AND_ASSIGN(const RetentionPlan other, manager_.Plan(Newest(1)));
  EXPECT_TRUE(other.decisions[1].goes);
  EXPECT_THAT(manager_.Plan("policies: 7"), StatusIs(absl::StatusCode::kInvalidArgument, ""));
  EXPECT_EQ(Ids().size(), 4u);
  ASSERT_THAT(Run(&manager_), IsOk());
  EXPECT_THAT(outcomes_, ElementsAre("deleted t-1: policy p: not among the newest 2 of job=a",
                                     "deleted t-2: policy p: not among the newest 2 of job=a"));
  EXPECT_THAT(Ids(), ElementsAre("t-4", "t-3"));
  EXPECT_THAT(metrics_.Text(), HasSubstr("chakrad_retention_deleted_traces_total 2"));
}

TEST_F(RetentionManagerTest, WhatIsReadOrPinnedStaysAndIsTold) {
  for (const char* id : {"t-1", "t-2", "t-3", "t-4"}) {
    Put(id, "a");
    clock_.AdvanceNs(1000);
  }
  ASSERT_THAT(manager_.Set(Newest(1)), IsOk());
  ASSERT_OK_AND_ASSIGN(auto lease, traces_->Lease("t-1"));
  ASSERT_THAT(traces_->SetPinned("t-2", true), IsOk());
  ASSERT_THAT(Run(&manager_), IsOk());
  EXPECT_THAT(Ids(), ElementsAre("t-4", "t-2", "t-1"));
  ASSERT_EQ(outcomes_.size(), 2u);
  EXPECT_THAT(outcomes_[0], HasSubstr("stays t-1: stays: "));
  EXPECT_THAT(metrics_.Text(),
              HasSubstr("chakrad_retention_skipped_traces_total{reason=\"in_use\"} 1"));
  lease = nullptr;
  ASSERT_THAT(Run(&manager_), IsOk());
  EXPECT_THAT(Ids(), ElementsAre("t-4", "t-2"));
}

TEST_F(RetentionManagerTest, AClockThatJumpsYearsAheadDeletesNothingUntilItIsTrusted) {
  ASSERT_THAT(manager_.Set(Younger("30d")), IsOk());
  Put("t-1", "a");
  clock_.AdvanceNs(5 * kDayNs);
  Put("t-2", "a");
  ASSERT_THAT(Run(&manager_), IsOk());
  clock_.AdvanceNs(10'000 * kDayNs);
  ASSERT_THAT(Run(&manager_), IsOk());
  EXPECT_THAT(Ids(), ElementsAre("t-2", "t-1"));
  ASSERT_EQ(outcomes_.size(), 2u);
  EXPECT_THAT(outcomes_[0], HasSubstr("held: older than 30d only by a time that is not trusted"));
  // A trace that is stored at such a time makes no difference, nor does the next run.
  Put("t-3", "a");
  ASSERT_THAT(Run(&manager_), IsOk());
  EXPECT_THAT(Ids(), ElementsAre("t-3", "t-2", "t-1"));
  EXPECT_THAT(metrics_.Text(), HasSubstr("chakrad_retention_held_traces 2"));
  // The clock is mended: nothing is held any more (but that t-3's time counts still).
  ASSERT_THAT(traces_->Delete("t-3"), IsOk());
  clock_.AdvanceNs(-10'000 * kDayNs);
  ASSERT_THAT(Run(&manager_), IsOk());
  EXPECT_THAT(outcomes_, IsEmpty());
  // Time goes on by days: t-1 is 30 days old before t-2 is.
  for (int day = 0; day < 26; ++day) {
    clock_.AdvanceNs(kDayNs);
    ASSERT_THAT(Run(&manager_), IsOk());
  }
  EXPECT_THAT(Ids(), ElementsAre("t-2"));
  clock_.AdvanceNs(10'000 * kDayNs);
  ASSERT_THAT(Run(&manager_, /*trust_clock=*/true), IsOk());
  EXPECT_THAT(Ids(), IsEmpty());
}

TEST_F(RetentionManagerTest, ARunThatHeldNothingDoesNotMakeAWrongTimeTheTrustedOne) {
  Put("t-1", "a");
  ASSERT_THAT(
      manager_.Set("policies:\n - {name: p, group_by: job, keep_newest: 1, keep_for: 30d}\n"),
      IsOk());
  ASSERT_THAT(Run(&manager_), IsOk());
  clock_.AdvanceNs(10'000 * kDayNs);
  ASSERT_THAT(Run(&manager_), IsOk());  // t-1 is the newest: nothing to hold.
  EXPECT_THAT(outcomes_, IsEmpty());
  Put("t-2", "a");
  ASSERT_THAT(Run(&manager_), IsOk());
  EXPECT_THAT(Ids(), ElementsAre("t-2", "t-1"));
  ASSERT_EQ(outcomes_.size(), 1u);
  EXPECT_THAT(outcomes_[0], HasSubstr("held: "));
}

TEST_F(RetentionManagerTest, PoliciesThatAreSetDuringARunEndIt) {
  for (const char* id : {"t-1", "t-2", "t-3"}) Put(id, "a");
  ASSERT_THAT(manager_.Set(Newest(1)), IsOk());
  const absl::Status status = manager_.Run(false, [&](const RetentionOutcome&) {
    EXPECT_THAT(manager_.Set(""), IsOk());
    return true;
  });
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kAborted, "policies were changed"));
  EXPECT_THAT(Ids(), ElementsAre("t-3", "t-2"));
}

TEST_F(RetentionManagerTest, ATraceThatCannotBeDeletedKeepsNoOtherFromGoing) {
  for (const char* id : {"t-1", "t-2", "t-3"}) Put(id, "a");
  ASSERT_THAT(manager_.Set(Newest(1)), IsOk());
  kv_->FailOneWriteAfter(0, absl::ResourceExhaustedError("no space"));
  EXPECT_THAT(Run(&manager_), StatusIs(absl::StatusCode::kResourceExhausted, "trace t-1"));
  EXPECT_THAT(Ids(), ElementsAre("t-3", "t-1"));
}

TEST_F(RetentionManagerTest, ADiskThatRefusesDeletesEndsTheRunWithTheTracesName) {
  Put("t-1", "a");
  Put("t-2", "a");
  ASSERT_THAT(manager_.Set(Newest(1)), IsOk());
  kv_->FailWritesAfter(0, absl::UnavailableError("disk is away"));
  EXPECT_THAT(Run(&manager_), StatusIs(absl::StatusCode::kUnavailable, "trace t-1"));
  EXPECT_THAT(manager_.Set(Newest(7)), StatusIs(absl::StatusCode::kUnavailable, "disk is away"));
  EXPECT_EQ((*manager_.Get())->policies[0].keep_newest, 1);  // What is stored, and no other.
  kv_->Heal();
  EXPECT_EQ(Ids().size(), 2u);
  EXPECT_THAT(Run(&manager_), IsOk());
  EXPECT_THAT(Ids(), ElementsAre("t-2"));
}

TEST_F(RetentionManagerTest, PoliciesOfANewerVersionDeleteNothingUntilTheyAreSetAnew) {
  Put("t-1", "a");
  Put("t-2", "a");
  ASSERT_THAT(settings_->Set({{"retention/policies", "policies: [{name: p, keep_moon: full}]"}}),
              IsOk());
  RetentionManager manager(traces_.get(), settings_.get(), &clock_, &metrics_);
  manager.Start(std::chrono::milliseconds(0));
  EXPECT_THAT(manager.Get(), StatusIs(absl::StatusCode::kFailedPrecondition, "keep_moon"));
  EXPECT_THAT(Run(&manager), StatusIs(absl::StatusCode::kFailedPrecondition, "set them anew"));
  EXPECT_EQ(Ids().size(), 2u);
  ASSERT_THAT(manager.Set(Newest(1)), IsOk());
  EXPECT_THAT(Run(&manager), IsOk());
  EXPECT_THAT(Ids(), ElementsAre("t-2"));
}

TEST_F(RetentionManagerTest, OneRunAtATimeAndNoneAfterStop) {
  Put("t-1", "a");
  Put("t-2", "a");
  ASSERT_THAT(manager_.Set(Newest(1)), IsOk());
  absl::Status inner;
  EXPECT_THAT(manager_.Run(false,
                           [&](const RetentionOutcome&) {
                             inner = manager_.Run(false, [](const auto&) { return true; });
                             return false;
                           }),
              StatusIs(absl::StatusCode::kCancelled, ""));
  EXPECT_THAT(inner, StatusIs(absl::StatusCode::kAborted, "running already"));
  manager_.Stop();
  EXPECT_THAT(Run(&manager_), StatusIs(absl::StatusCode::kUnavailable, "shutting down"));
}

TEST_F(RetentionManagerTest, TheBackgroundRunComesByItself) {
  Put("t-1", "a");
  Put("t-2", "a");
  ASSERT_THAT(manager_.Set(Newest(1)), IsOk());
  RetentionManager manager(traces_.get(), settings_.get(), &clock_, &metrics_);
  manager.Start(std::chrono::milliseconds(5));
  for (int i = 0; i < 2000 && Ids().size() > 1; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_THAT(Ids(), ElementsAre("t-2"));
}

}  // namespace
}  // namespace chakrad
