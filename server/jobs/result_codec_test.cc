#include "server/jobs/result_codec.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "chakrad/v1/job.pb.h"
#include "server/limits.h"

namespace chakrad {
namespace {

// Of `count` ranks, rank r ends at 100 + values[r % values.size()].
SimResult ResultOf(int32_t count, const std::vector<int64_t>& values) {
  SimResult result;
  result.semantics.assign("physical", 8);
  for (int32_t rank = 0; rank < count; ++rank) {
    const int64_t more = values[static_cast<size_t>(rank) % values.size()];
    result.ranks.push_back({rank, 100 + more, 7});
    RankTime time;
    time.compute_ps = 60;
    time.comm_ps = 30;
    time.exposed_comm_ps = 20;
    time.exposed_memory_ps = 5;
    time.idle_ps[0] = 10 + more;
    time.idle_ps[1] = 5;
    result.times.push_back(time);
  }
  return result;
}

Trace TraceOf(std::vector<std::string> groups) {
  Trace trace;
  for (std::string& name : groups) trace.groups.push_back({std::move(name), "", {}});
  return trace;
}

SystemDescription SystemOfTwo() {
  SystemDescription system;
  system.dims = {{TopologyKind::kRing, 2, 1, 1}};
  system.back_end = NetworkBackEnd::kLink;
  return system;
}

v1::SimulationResult Encoded(const SimResult& result, const Trace& trace = {}) {
  v1::SimulationResult message;
  EXPECT_TRUE(message.ParseFromString(EncodeResult(result, trace, SystemOfTwo())));
  return message;
}

TEST(ResultCodecTest, ARanksPartsAddUpToItsEnd) {
  SimResult result = ResultOf(2, {0, 3});
  result.times[1].wait_ps = 4;
  result.times[1].waits_most_for_rank = 0;
  result.times[1].waits_most_in_group = 2;
  const v1::SimulationResult message = Encoded(result, TraceOf({"world", "tp", "dp"}));
  EXPECT_EQ(message.back_end(), "link");
  EXPECT_EQ(message.topology(), "2 NPUs: Ring 2");
  EXPECT_EQ(message.ranks_count(), 2);
  ASSERT_EQ(message.ranks_size(), 2);
  const v1::RankResult& rank = message.ranks(1);
  EXPECT_EQ(rank.end_ps(), 103);
  EXPECT_EQ(rank.compute_ps() + rank.exposed_comm_ps() + rank.exposed_memory_ps() + rank.idle_ps(),
            rank.end_ps());
  EXPECT_EQ(rank.idle_host_ps() + rank.idle_queue_ps(), rank.idle_ps());
  EXPECT_EQ(rank.wait_ps(), 4);
  EXPECT_TRUE(rank.has_waits_most_for_rank());
  EXPECT_EQ(rank.waits_most_for_rank(), 0);
  EXPECT_EQ(message.groups(static_cast<int>(rank.waits_most_in_group())), "dp");
  EXPECT_FALSE(message.ranks(0).has_waits_most_for_rank());
  EXPECT_EQ(rank.ranks_count(), 0) << "stands for itself";
}

TEST(ResultCodecTest, ManyEqualRanksAreOneEntryWithTheirRanges) {
  SimResult result = ResultOf(100'000, {0});
  for (const size_t other : {4'000u, 4'001u, 70'000u}) result.ranks[other].network_bytes = 8;
  const v1::SimulationResult message = Encoded(result);
  EXPECT_EQ(message.ranks_count(), 100'000);
  ASSERT_EQ(message.ranks_size(), 2);
  EXPECT_EQ(message.ranks(0).ranks_count(), 99'997);
  const auto& most = message.ranks(0).rank_ranges();
  EXPECT_EQ(std::vector<int32_t>(most.begin(), most.end()),
            (std::vector<int32_t>{0, 3'999, 4'002, 69'999, 70'001, 99'999}));
  EXPECT_EQ(message.ranks(1).rank(), 4'000);
  EXPECT_EQ(message.ranks(1).ranks_count(), 3);
  const auto& few = message.ranks(1).rank_ranges();
  EXPECT_EQ(std::vector<int32_t>(few.begin(), few.end()),
            (std::vector<int32_t>{4'000, 4'001, 70'000, 70'000}));
  EXPECT_EQ(message.notices_size(), 0);
}

TEST(ResultCodecTest, ManyDifferentRanksAreCutWithANotice) {
  SimResult result = ResultOf(kMaxRankEntries + 10, {0});
  for (size_t i = 0; i < result.ranks.size(); ++i) result.ranks[i].network_bytes = i;
  const v1::SimulationResult message = Encoded(result);
  EXPECT_EQ(message.ranks_size(), kMaxRankEntries);
  ASSERT_EQ(message.notices_size(), 1);
  EXPECT_EQ(message.notices(0), "ranks: 10 are not listed");
  // Two classes, one beside the other: more ranges than anybody reads.
  const v1::SimulationResult turns = Encoded(ResultOf(300'000, {0, 1}));
  ASSERT_EQ(turns.ranks_size(), 2);
  EXPECT_EQ(turns.ranks(0).ranks_count() + turns.ranks(1).ranks_count(), 300'000);
  ASSERT_EQ(turns.notices_size(), 1);
  EXPECT_EQ(turns.notices(0), "ranks: of equal ones, 200000 ranges are counted, not listed");
}

TEST(ResultCodecTest, CollectivesNameTheirGroupsOnce) {
  SimResult result = ResultOf(2, {0});
  CollectiveResult collective;
  collective.group = 1;
  collective.type = CollectiveType::kAllGather;
  collective.bytes = 1000;
  collective.bus_bandwidth = 12.5;
  collective.last_rank = 1;
  result.collectives = {collective, collective};
  result.collectives_dropped = 3;
  const v1::SimulationResult message = Encoded(result, TraceOf({"world", "tp"}));
  EXPECT_EQ(message.collectives_count(), 5);
  ASSERT_EQ(message.collectives_size(), 2);
  EXPECT_EQ(message.collectives(0).type(), "ALL_GATHER");
  EXPECT_EQ(message.collectives(0).bus_bandwidth(), 12.5);
  ASSERT_EQ(message.groups_size(), 1);
  EXPECT_EQ(message.groups(static_cast<int>(message.collectives(1).group())), "tp");
  EXPECT_EQ(message.notices(0), "collectives: 3 are not listed");
}

TEST(ResultCodecTest, LongListsOfMemoryAndStandInsAreCutWithANotice) {
  SimResult result = ResultOf(2, {0});
  for (int32_t rank = 0; rank < 10'003; ++rank) {
    result.memory.push_back({rank, "cuda:0", 5, 7, 9});
    result.stand_in_by_rank.emplace_back(rank, 0);
  }
  const v1::SimulationResult message = Encoded(result);
  ASSERT_EQ(message.memory_size(), kMaxMemoryPeaksListed);
  EXPECT_EQ(message.memory(1).device(), "cuda:0");
  EXPECT_EQ(message.memory(1).peak_bytes(), 7);
  EXPECT_EQ(message.stand_in_by_rank().size(), kMaxStandInsListed);
  EXPECT_EQ(message.notices(0), "stand-ins: the first 10000 of 10003 are listed");
  EXPECT_EQ(message.notices(1), "memory: the first 10000 of 10003 entries are listed");
}

TEST(ResultCodecTest, OfManyLinksTheBusiestStayAndDimensionsCountAll) {
  SimResult result = ResultOf(2, {0});
  const int32_t count = static_cast<int32_t>(kMaxLinksListed) + 5;
  for (int32_t i = 0; i < count; ++i) {
    result.links.push_back({i % 2, i, i + 1, 1, 10, i < 5 ? 1 : 2, 3});
  }
  result.dims = {{0, 5'003, 50'030, 0.25}, {1, 5'002, 50'020, 0.5}};
  const v1::SimulationResult message = Encoded(result);
  ASSERT_EQ(message.links_size(), static_cast<int>(kMaxLinksListed));
  EXPECT_EQ(message.links(0).from(), 5) << "the five idle ones went, the order stayed";
  EXPECT_EQ(message.links(1).from(), 6);
  EXPECT_EQ(message.links_count(), count);
  ASSERT_EQ(message.dimensions_size(), 2);
  EXPECT_EQ(message.dimensions(0).links_count() + message.dimensions(1).links_count(), count);
  EXPECT_EQ(message.dimensions(0).bytes() + message.dimensions(1).bytes(), int64_t{10} * count);
  EXPECT_EQ(message.dimensions(0).max_busy_ps(), 2);
  EXPECT_EQ(message.dimensions(1).utilisation(), 0.5);
  EXPECT_EQ(message.notices(0), "links: the busiest 10000 of 10005 are listed");
}

TEST(ResultCodecTest, ClassesAndTheSimulatorsNoticesArePassedOn) {
  SimResult result = ResultOf(2, {0});
  result.classes = {{0, 2}};
  result.notices = {"a notice \xFF"};
  const v1::SimulationResult message = Encoded(result);
  ASSERT_EQ(message.classes_size(), 1);
  EXPECT_EQ(message.classes(0).ranks_count(), 2);
  EXPECT_EQ(message.notices(0), "a notice ?");
}

}  // namespace
}  // namespace chakrad
