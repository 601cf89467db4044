#include "sim/engine/event_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "sim/engine/semantics.h"
#include "sim/limits.h"

namespace chakrad {
namespace {

EventTag Tag(uint32_t target) { return EventTag{1, 2, target}; }

TEST(EventQueueTest, EqualTimesRunInTheOrderPushed) {
  EventQueue queue;
  queue.Push(20, Tag(0));
  queue.Push(10, Tag(1));
  queue.Push(20, Tag(2));
  queue.Push(10, Tag(3));
  std::vector<uint32_t> targets;
  for (Event event; queue.Pop(&event);) targets.push_back(event.tag.target);
  EXPECT_EQ(targets, (std::vector<uint32_t>{1, 3, 0, 2}));
  EXPECT_EQ(queue.now_ps(), 20);
}

TEST(EventQueueTest, KindAndArgumentComeBack) {
  EventQueue queue;
  queue.Push(0, EventTag{255, kMaxEventArg, 7});
  Event event;
  ASSERT_TRUE(queue.Pop(&event));
  EXPECT_EQ(event.tag.kind, 255u);
  EXPECT_EQ(event.tag.arg, kMaxEventArg);
  EXPECT_EQ(event.tag.target, 7u);
  EXPECT_FALSE(queue.Pop(&event));
}

TEST(EventQueueDeathTest, ThePastIsClosed) {
  EventQueue queue;
  queue.Push(10, Tag(0));
  Event event;
  queue.Pop(&event);
  EXPECT_DEATH(queue.Push(9, Tag(0)), "9 is before 10");
}

TEST(EventQueueTest, TimesEndAtTheHorizon) {
  EventQueue queue;
  queue.Push(INT64_MAX, Tag(0));
  Event event;
  ASSERT_TRUE(queue.Pop(&event));
  EXPECT_EQ(event.at_ps, kHorizonPs);
}

// Seeded random pushes and pops come out as a stable sort would order them.
TEST(EventQueueTest, AgreesWithAStableSort) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    EventQueue queue;
    std::vector<std::pair<int64_t, uint32_t>> waiting, got, want;
    Event event;
    for (uint32_t i = 0; i < 500; ++i) {
      if (random() % 3 != 0 || waiting.empty()) {
        const int64_t at_ps = queue.now_ps() + random() % 20;
        queue.Push(at_ps, Tag(i));
        waiting.emplace_back(at_ps, i);
        continue;
      }
      const auto first = std::min_element(waiting.begin(), waiting.end());
      want.push_back(*first);
      waiting.erase(first);
      ASSERT_TRUE(queue.Pop(&event));
      got.emplace_back(event.at_ps, event.tag.target);
    }
    EXPECT_EQ(got, want) << "seed " << seed;
  }
}

// Increments of all sizes, equal ones among them, against a sorted list; the queue grows to
// thousands and runs empty in between.
TEST(EventQueueTest, AllSizesOfIncrementsComeOutInOrder) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    EventQueue queue;
    std::multimap<int64_t, uint32_t> waiting;  // Equal keys stay in the order inserted.
    uint32_t number = 0;
    for (int round = 0; round < 6; ++round) {
      const int pushes_of_ten = round % 2 == 0 ? 7 : 2;
      for (int i = 0; i < 4000; ++i) {
        if (static_cast<int>(random() % 10) < pushes_of_ten) {
          // A number of bits first, so that every level is used; every fourth a round number.
          int64_t increment_ps = static_cast<int64_t>(random() >> (8 + random() % 56));
          if (number % 4 == 0) increment_ps = increment_ps / 1'000'000 * 1'000'000;
          const int64_t at_ps = std::min(kHorizonPs, queue.now_ps() + increment_ps);
          queue.Push(at_ps, Tag(number));
          waiting.emplace(at_ps, number++);
        } else if (!waiting.empty()) {
          Event event;
          ASSERT_TRUE(queue.Pop(&event));
          ASSERT_EQ(event.at_ps, waiting.begin()->first) << "seed " << seed;
          ASSERT_EQ(event.tag.target, waiting.begin()->second) << "seed " << seed;
          ASSERT_EQ(queue.now_ps(), event.at_ps);
          waiting.erase(waiting.begin());
        }
        ASSERT_EQ(queue.size(), waiting.size());
      }
    }
    for (Event event; queue.Pop(&event); waiting.erase(waiting.begin())) {
      ASSERT_EQ(event.tag.target, waiting.begin()->second) << "seed " << seed;
    }
    EXPECT_TRUE(waiting.empty());
  }
}

TEST(SemanticsTest, DelaysAreCutToWholeNanosecondsAndBounded) {
  EXPECT_EQ(RoundDelayPs(Semantics::kAstra, 0.0), 0);
  EXPECT_EQ(RoundDelayPs(Semantics::kAstra, 12.999), 12'000);
  EXPECT_EQ(RoundDelayPs(Semantics::kAstra, 1e300), kMaxDelayPs);
  EXPECT_EQ(NsToPs(5), 5'000);
  EXPECT_EQ(NsToPs(INT64_MAX), kMaxDelayPs);
}

}  // namespace
}  // namespace chakrad
