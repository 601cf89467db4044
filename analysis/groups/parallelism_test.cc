#include "analysis/groups/parallelism.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace chakrad {
namespace {

using ::testing::HasSubstr;
using Kind = Parallelism;

// A group of 8 ranks of 64 that all-reduces `per_rank` times, each with its own size.
GroupEvidence Reducing(int64_t stride, int64_t per_rank, const std::string& name = "") {
  GroupEvidence group;
  group.name = name;
  group.shape = {.ranks_count = 8, .stride = stride};
  group.users_count = 8;
  group.reductions_count = 8 * per_rank;
  group.reductions_bytes = 1e6;
  group.most_frequent_count = 8;
  return group;
}

Kind GuessOf(const GroupEvidence& group) { return GuessParallelism({group})[0].parallelism; }

Kind GuessOfName(const std::string& description, const std::string& name = "7") {
  GroupEvidence group = Reducing(0, 1, name);
  group.description = description;
  return GuessOf(group);
}

TEST(ParallelismTest, WordsOfDescriptionsAndNamesDecide) {
  EXPECT_EQ(GuessOfName("TENSOR_MODEL_PARALLEL_GROUP"), Kind::kTensor);
  EXPECT_EQ(GuessOfName("PIPELINE_MODEL_PARALLEL_GROUP"), Kind::kPipeline);
  EXPECT_EQ(GuessOfName("DATA_PARALLEL_GROUP_WITH_CP"), Kind::kData);
  EXPECT_EQ(GuessOfName("EXPERT_MODEL_PARALLEL_GROUP"), Kind::kExpert);
  EXPECT_EQ(GuessOfName("EXPERT_DATA_PARALLEL_GROUP"), Kind::kData);
  EXPECT_EQ(GuessOfName("mesh_tp"), Kind::kTensor);
  EXPECT_EQ(GuessOfName("mesh_dp_shard"), Kind::kData);
  EXPECT_EQ(GuessOfName("", "tp0"), Kind::kTensor);
  EXPECT_EQ(GuessOfName("undefined", "pp12"), Kind::kPipeline);
}

TEST(ParallelismTest, WordsWithinWordsAndSeveralKindsSayNothing) {
  EXPECT_EQ(GuessOfName("https"), Kind::kUnknown);
  EXPECT_EQ(GuessOfName("metadata"), Kind::kUnknown);
  EXPECT_EQ(GuessOfName("default_pg"), Kind::kUnknown);
  EXPECT_EQ(GuessOfName("TENSOR_AND_DATA_PARALLEL_GROUP"), Kind::kUnknown);
  EXPECT_EQ(GuessOfName(std::string(1 << 20, 'x')), Kind::kUnknown);
}

TEST(ParallelismTest, AReasonQuotesANameOfAnyBytesAsReadableText) {
  GroupEvidence group = Reducing(1, 1, "tp\xff" + std::string(1 << 20, 'x'));
  const ParallelismGuess guess = GuessParallelism({group})[0];
  EXPECT_EQ(guess.parallelism, Kind::kTensor);
  EXPECT_THAT(guess.reason, HasSubstr("its name is \"tp?xxx"));
  EXPECT_LT(guess.reason.size(), 100u);
}

TEST(ParallelismTest, InnerGroupsThatReduceOftenAreTensorAndThoseAcrossThemData) {
  const auto guesses = GuessParallelism({Reducing(1, 64), Reducing(8, 4)});
  EXPECT_EQ(guesses[0].parallelism, Kind::kTensor);
  EXPECT_THAT(guesses[0].reason, HasSubstr("64 times a rank; groups across them 4 times"));
  EXPECT_EQ(guesses[1].parallelism, Kind::kData);
}

TEST(ParallelismTest, InnerGroupsThatReduceSeldomAreNotGuessed) {
  EXPECT_EQ(GuessParallelism({Reducing(1, 2), Reducing(8, 4)})[0].parallelism, Kind::kUnknown);
}

TEST(ParallelismTest, AloneTheSizesOfReductionsDecide) {
  GroupEvidence group = Reducing(1, 32);
  EXPECT_EQ(GuessOf(group), Kind::kData);
  group.most_frequent_count = group.reductions_count;
  EXPECT_EQ(GuessOf(group), Kind::kTensor);
  group = Reducing(1, 4);  // Few: the same buffer in each of four steps.
  group.most_frequent_count = group.reductions_count;
  EXPECT_EQ(GuessOf(group), Kind::kData);
}

TEST(ParallelismTest, MessagesArePipelineAndAllToAllsExpert) {
  GroupEvidence group;
  group.shape = {.ranks_count = 4, .stride = 1};
  group.messages_count = 8;
  group.messages_bytes = 3e6;
  group.reductions_count = 2;
  group.reductions_bytes = 1e6;
  const ParallelismGuess guess = GuessParallelism({group})[0];
  EXPECT_EQ(guess.parallelism, Kind::kPipeline);
  EXPECT_EQ(guess.reason, "sends and receives are 75 % of its bytes");
  std::swap(group.messages_count, group.all_to_alls_count);
  std::swap(group.messages_bytes, group.all_to_alls_bytes);
  EXPECT_EQ(GuessOf(group), Kind::kExpert);
  group.all_to_alls_bytes = 0.5e6;
  EXPECT_EQ(GuessOf(group), Kind::kData);
}

TEST(ParallelismTest, WhatNeedsNoGuessGetsNone) {
  GroupEvidence one = Reducing(0, 4, "dp");
  one.shape.ranks_count = 1;
  EXPECT_EQ(GuessOf(one), Kind::kUnknown);
  EXPECT_EQ(GuessOf(GroupEvidence()), Kind::kUnknown);
}

TEST(ParallelismTest, TheWorldIsNotGuessedWhereOtherGroupsHoldReplicas) {
  GroupEvidence world = Reducing(1, 2);
  world.shape.is_world = true;
  EXPECT_EQ(GuessOf(world), Kind::kData);
  EXPECT_EQ(GuessParallelism({world, Reducing(8, 4, "dp")})[0].parallelism, Kind::kUnknown);
  EXPECT_EQ(GuessParallelism({world, Reducing(8, 4)})[0].parallelism, Kind::kUnknown);
  EXPECT_EQ(GuessParallelism({world, Reducing(1, 64, "tp")})[0].parallelism, Kind::kData);
}

TEST(GroupShapeTest, StridesAreOfMembersInAscendingOrder) {
  EXPECT_EQ(ShapeText(ShapeOfGroup({4, 0, 8, 12}, 16)), "4 ranks with stride 4");
  EXPECT_EQ(ShapeText(ShapeOfGroup({0, 1, 3}, 16)), "3 ranks, irregular");
  EXPECT_EQ(ShapeText(ShapeOfGroup({5}, 16)), "1 rank");
  EXPECT_EQ(ShapeText(ShapeOfGroup({}, 16)), "members not known");
  EXPECT_TRUE(ShapeOfGroup({1, 0}, 2).is_world);
  EXPECT_EQ(ShapeOfGroup({INT32_MIN, INT32_MAX}, 2).stride, (int64_t{1} << 32) - 1);
}

// One rank may be in as many groups as it likes: 10^10 comparisons take a minute.
TEST(ParallelismTest, AHundredThousandStridesTakeNoPassOverEachOther) {
  constexpr int64_t kStrides = 100'000;
  std::vector<GroupEvidence> groups;
  for (int64_t stride = 1; stride <= kStrides; ++stride) groups.push_back(Reducing(stride, 2));
  groups[0].reductions_count = 80;
  const absl::Time before = absl::Now();
  const std::vector<ParallelismGuess> guesses = GuessParallelism(groups);
  EXPECT_LT(absl::Now() - before, absl::Seconds(5));
  EXPECT_EQ(guesses[0].parallelism, Kind::kTensor);
  EXPECT_THAT(guesses[0].reason, HasSubstr("reduce 10 times a rank; groups across them 2 times"));
  for (size_t i = 1; i < groups.size(); ++i) {
    EXPECT_EQ(guesses[i].parallelism, Kind::kData) << i;
  }
  EXPECT_THAT(guesses.back().reason, HasSubstr("across groups of stride 1,"));
}

}  // namespace
}  // namespace chakrad
