#include "analysis/collectives/match_comm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/testing/fake_job.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using Type = CollectiveType;

// "0 1|0": by collective, the ranks that take part.
std::string Ranks(const MatchedComm& matches) {
  std::string text;
  for (const CollectiveMatch& match : matches.collectives) {
    if (!text.empty()) text += "|";
    for (const uint32_t member : matches.MembersOf(match)) {
      if (!text.empty() && text.back() != '|') text += " ";
      text += std::to_string(matches.ranks[matches.events[member].rank_index]);
    }
  }
  return text;
}

TEST(MatchCommTest, TheKthOfAGroupIsOneWhateverTheTimesAndTheOrderOfNodes) {
  FakeJob fake(2);
  const uint32_t pair = fake.AddGroup("pair", {0, 1});
  const uint32_t late = fake.Collective(0, pair, Type::kAllReduce, 8, 50, 60);
  const uint32_t early = fake.Collective(0, pair, Type::kAllReduce, 8, 0, 10);
  fake.Collective(0, kWorldGroup, Type::kBroadcast, 8, 20, 30);
  fake.Collective(1, pair, Type::kAllReduce, 8, 1000, 1010);
  fake.Collective(1, kWorldGroup, Type::kBroadcast, 8, 1020, 1030);
  fake.Collective(1, pair, Type::kAllReduce, 8, 1050, 1060);
  const MatchedComm matches = MatchComm(fake.Timeline());
  EXPECT_EQ(Ranks(matches), "0 1|0 1|0 1");  // The world's, then the pair's two.
  EXPECT_THAT(matches.notices, SizeIs(0));
  const CommEvent& first = matches.events[matches.MembersOf(matches.collectives[1])[0]];
  const CommEvent& second = matches.events[matches.MembersOf(matches.collectives[2])[0]];
  EXPECT_EQ(first.node, early);
  EXPECT_EQ(second.node, late);
  EXPECT_TRUE(matches.collectives[0].all_timed);
}

TEST(MatchCommTest, RanksThatDifferAreMatchedAsFarAsTheyAgree) {
  FakeJob fake(3);
  for (int32_t rank = 0; rank < 3; ++rank) {
    fake.Collective(rank, kWorldGroup, Type::kAllReduce, 8, 0, 10);
    fake.Collective(rank, kWorldGroup, rank == 1 ? Type::kBroadcast : Type::kAllReduce, 8, 20, 30);
    fake.Collective(rank, kWorldGroup, Type::kAllReduce, 8, 40, 50);
  }
  const MatchedComm matches = MatchComm(fake.Timeline());
  EXPECT_EQ(Ranks(matches), "0 1 2|0 2|0 2");
  EXPECT_THAT(matches.notices,
              ElementsAre(HasSubstr("in world, collective 1: rank 0 has ALL_REDUCE of 8 bytes "
                                    "where rank 1 has BROADCAST of 8 bytes")));
  EXPECT_FALSE(matches.collectives[1].all_timed);
}

TEST(MatchCommTest, SizesMustAgreeButOfAnAllToAll) {
  FakeJob fake(2);
  fake.Collective(0, kWorldGroup, Type::kAllToAll, 100, 0, 10);
  fake.Collective(0, kWorldGroup, Type::kAllReduce, 100, 20, 30);
  fake.Collective(1, kWorldGroup, Type::kAllToAll, 200, 0, 10);
  fake.Collective(1, kWorldGroup, Type::kAllReduce, 200, 20, 30);
  EXPECT_EQ(Ranks(MatchComm(fake.Timeline())), "0 1|0");
}

TEST(MatchCommTest, ARankThatStopsEarlyIsToldOnce) {
  FakeJob fake(2);
  for (int64_t i = 0; i < 5; ++i) {
    fake.Collective(0, kWorldGroup, Type::kAllReduce, 8, 10 * i, 10 * i + 5);
    if (i < 3) fake.Collective(1, kWorldGroup, Type::kAllReduce, 8, 10 * i, 10 * i + 5);
  }
  const MatchedComm matches = MatchComm(fake.Timeline());
  EXPECT_EQ(Ranks(matches), "0 1|0 1|0 1|0|0");
  EXPECT_THAT(matches.notices, ElementsAre(HasSubstr("rank 0 runs 5 collectives and rank 1 3")));
}

TEST(MatchCommTest, OneWithoutATimeKeepsItsPlace) {
  FakeJob fake(2);
  for (int32_t rank = 0; rank < 2; ++rank) {
    fake.Collective(rank, kWorldGroup, Type::kAllReduce, 1, 0, 10);
    // On rank 1 the barrier took no time that the recorder could tell.
    fake.Collective(rank, kWorldGroup, Type::kBarrier, 0, 20, rank == 0 ? 30 : 20);
    fake.Collective(rank, kWorldGroup, Type::kAllReduce, 2, 40, 50);
  }
  const MatchedComm matches = MatchComm(fake.Timeline());
  EXPECT_EQ(Ranks(matches), "0 1|0 1|0 1");
  EXPECT_FALSE(matches.collectives[1].all_timed);
  EXPECT_TRUE(matches.collectives[2].all_timed);
}

TEST(MatchCommTest, MessagesMatchByEndsAndSizeInOrder) {
  FakeJob fake(3);
  const uint32_t first = fake.Send(0, 1, 8, 0, 10);
  const uint32_t big = fake.Send(0, 1, 800, 5, 15);
  const uint32_t second = fake.Send(0, 1, 8, 20, 30);
  fake.Send(0, 2, 8, 40, 50);  // Rank 2 receives nothing.
  fake.Receive(1, 0, 800, 0, 20);
  fake.Receive(1, 0, 8, 21, 25);
  fake.Receive(1, 0, 8, 30, 40);
  const MatchedComm matches = MatchComm(fake.Timeline());
  ASSERT_THAT(matches.messages, SizeIs(3));
  std::vector<std::pair<uint32_t, uint32_t>> nodes;
  for (const MessageMatch& match : matches.messages) {
    nodes.emplace_back(matches.events[match.send].node, matches.events[match.receive].node);
  }
  EXPECT_THAT(nodes, ElementsAre(std::pair(first, 1u), std::pair(second, 2u), std::pair(big, 0u)));
}

TEST(MatchCommTest, AMemberOfNoGroupIsLeftOutAndCounted) {
  FakeJob fake(3);
  const uint32_t pair = fake.AddGroup("pair", {0, 1});
  for (int32_t rank = 0; rank < 3; ++rank) {
    fake.Collective(rank, pair, Type::kAllReduce, 8, 0, 10);
  }
  const MatchedComm matches = MatchComm(fake.Timeline());
  EXPECT_EQ(Ranks(matches), "0 1");
  EXPECT_THAT(matches.notices, ElementsAre(HasSubstr("that it is no member of")));
}

TEST(MatchCommTest, NamesOfGroupsAreCutAndMadeReadable) {
  FakeJob fake(1);
  const uint32_t group = fake.AddGroup(std::string(1 << 20, 'x') + "\xff", {0});
  const uint32_t bad = fake.AddGroup("a\xff", {0});
  EXPECT_EQ(GroupLabel(fake.trace(), group).size(), 48u);
  EXPECT_EQ(GroupLabel(fake.trace(), bad), "a?");
  EXPECT_EQ(GroupLabel(fake.trace(), fake.AddGroup("", {0})), "group 3");
  EXPECT_EQ(GroupLabel(fake.trace(), 99), "a group that is not known");
}

}  // namespace
}  // namespace chakrad
