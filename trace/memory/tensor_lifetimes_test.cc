#include "trace/memory/tensor_lifetimes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/memory/tensor_values.h"
#include "trace/operators/test_operators.h"

namespace chakrad {
namespace {

// A tensor of `storage` with that many floats, as the recorder writes it.
std::string Tensor(int storage, int floats, absl::string_view device = "cpu") {
  return absl::StrCat("[", 1000 + storage, ", ", storage, ", 0, ", floats, ", 4, \"", device,
                      "\"]");
}

// Operators one after another or nested, each with its arguments.
class Recorder {
 public:
  uint32_t Op(int64_t start_ns, int64_t end_ns, std::vector<std::string> inputs,
              std::vector<std::string> outputs, uint32_t parent = kNone) {
    const std::string cold = ColdOf({absl::StrCat("[", absl::StrJoin(inputs, ", "), "]"), "", "",
                                     absl::StrCat("[", absl::StrJoin(outputs, ", "), "]"), "", ""});
    const uint32_t node = maker_.Add({.id = next_id_++,
                                      .type = NodeType::kComp,
                                      .flags = RankTrace::kHostOp,
                                      .name = "op",
                                      .start_ns = start_ns,
                                      .dur_ns = start_ns < 0 ? kUnknownNs : end_ns - start_ns,
                                      .cold = cold});
    if (parent != kNone) maker_.Nest(node, parent);
    start_ps_.push_back(start_ns * 1000);
    end_ps_.push_back(end_ns * 1000);
    return node;
  }
  const TensorLifetimes& Lives() {
    if (lives_.devices.empty()) lives_ = FindTensorLifetimes(maker_.Make());
    return lives_;
  }
  std::vector<MemoryUse> Use(int64_t max_steps = 100) {
    return ComputeMemoryUse(Lives(), start_ps_, end_ps_, max_steps);
  }

 private:
  OpMaker maker_;
  TensorLifetimes lives_;
  uint64_t next_id_ = 1;
  std::vector<int64_t> start_ps_, end_ps_;
};

TEST(TensorValuesTest, TensorsAreFoundAtAnyDepthAndNothingElseIs) {
  std::vector<TensorValue> tensors;
  FindTensorValues(
      "[[5, 6, 10, 30, 4, \"cpu\"], [[7, 8, 0, 2, 2, 'cuda:0'], [9, 8, 2, 2, 2, \"cuda:0\"]], [1, "
      "2, "
      "3], \"<None>\", [4, 0, 0, 0, 0, \"\"], [1, 2, 0, 0, 4, \"cpu\"], [1, 2, 0, "
      "99999999999999999, "
      "4, \"cpu\"], 3.5]",
      &tensors);
  ASSERT_EQ(tensors.size(), 3u);
  EXPECT_EQ(tensors[0].storage, 6u);
  EXPECT_EQ(tensors[0].end_bytes, 160);
  EXPECT_EQ(tensors[1].device, "cuda:0");
  EXPECT_EQ(tensors[2].end_bytes, 8);
}

TEST(TensorValuesTest, WhatCannotBeATensorIsLeftOut) {
  for (const char* text :
       {"[1, 2, 0, 1099511627777, 1, \"cpu\"]", "[1, 2, 0, 549755813889, 2, \"cpu\"]",
        "[1, 2, 1099511627776, 1, 1, \"cpu\"]", "[1, 2, 0, 1, 99999999999999, \"cpu\"]",
        "[1, 99999999999999999999999, 0, 1, 4, \"cpu\"]", "[1, 2, 0, 1, 4, \"cpu", "[1, 2, 0, 1, 4",
        "["}) {
    std::vector<TensorValue> tensors;
    FindTensorValues(text, &tensors);
    EXPECT_TRUE(tensors.empty()) << text;
  }
  std::vector<TensorValue> largest;
  FindTensorValues("[1, 2, 0, 1099511627776, 1, \"cpu\"]", &largest);
  ASSERT_EQ(largest.size(), 1u);
  EXPECT_EQ(largest[0].end_bytes, int64_t{1} << 40);
}

//   op 0 makes A (100 floats) | op 1 reads A, makes B (50) | op 2 reads B
TEST(TensorLifetimesTest, ATensorLivesFromItsMakerToItsLastReader) {
  Recorder recorder;
  recorder.Op(0, 10, {}, {Tensor(1, 100)});
  recorder.Op(20, 30, {Tensor(1, 100)}, {Tensor(2, 50)});
  recorder.Op(40, 50, {Tensor(2, 50)}, {});
  EXPECT_EQ(recorder.Lives().lives, (std::vector<TensorLife>{{0, 0, 1, 400}, {0, 1, 2, 200}}));
  const std::vector<MemoryUse> use = recorder.Use();
  ASSERT_EQ(use.size(), 1u);
  EXPECT_EQ(use[0].device, "cpu");
  EXPECT_EQ(use[0].peak_bytes, 600);
  EXPECT_EQ(use[0].peak_at_ps, 20'000);
  EXPECT_EQ(use[0].steps, (std::vector<MemoryStep>{{0, 400},
                                                   {20'000, 600},
                                                   {30'000, 200},  //
                                                   {50'000, 0}}));
}

// What nobody made was there before, and nobody can say that it goes.
TEST(TensorLifetimesTest, AParameterIsResident) {
  Recorder recorder;
  recorder.Op(0, 10, {Tensor(7, 1000)}, {Tensor(1, 100)});
  const std::vector<MemoryUse> use = recorder.Use();
  EXPECT_EQ(use[0].resident_bytes, 4000);
  EXPECT_EQ(use[0].peak_bytes, 4400);
  EXPECT_EQ(use[0].steps.back(), (MemoryStep{10'000, 4000}));
}

// Storage 1 is freed after op 1, and its address given to the result of op 2.
TEST(TensorLifetimesTest, AReusedIdIsAnotherLife) {
  Recorder recorder;
  recorder.Op(0, 10, {}, {Tensor(1, 100)});
  recorder.Op(10, 20, {Tensor(1, 100)}, {});
  recorder.Op(20, 30, {Tensor(9, 1)}, {Tensor(1, 20)});
  recorder.Op(30, 40, {Tensor(1, 20)}, {});
  EXPECT_EQ(recorder.Lives().lives, (std::vector<TensorLife>{{0, 0, 1, 400},  //
                                                             {0, kNone, kNone, 4},
                                                             {0, 2, 3, 80}}));
  EXPECT_EQ(recorder.Use()[0].peak_bytes, 404);
}

//   zeros [0, 30) calls empty [5, 10), which allocates, and zero_ [15, 25)
TEST(TensorLifetimesTest, TheInnermostOperatorAllocates) {
  Recorder recorder;
  const uint32_t zeros = recorder.Op(0, 30, {}, {Tensor(1, 100)});
  const uint32_t empty = recorder.Op(5, 10, {}, {Tensor(1, 100)}, zeros);
  recorder.Op(15, 25, {Tensor(1, 100)}, {Tensor(1, 100)}, zeros);
  EXPECT_EQ(recorder.Lives().lives, (std::vector<TensorLife>{{0, empty, zeros, 400}}));
}

//   backward [0, 40) is given G (storage 1); inside, [5, 10) reads it last, and [20, 30)
//   allocates at the same address.
TEST(TensorLifetimesTest, AnArgumentMayGoAndItsAddressComeBackInsideACall) {
  Recorder recorder;
  const uint32_t backward = recorder.Op(0, 40, {Tensor(1, 100)}, {});
  recorder.Op(5, 10, {Tensor(1, 100)}, {}, backward);
  const uint32_t inner = recorder.Op(20, 30, {}, {Tensor(1, 10)}, backward);
  const std::vector<TensorLife>& lives = recorder.Lives().lives;
  ASSERT_EQ(lives.size(), 2u);
  EXPECT_EQ(lives[1], (TensorLife{0, inner, inner, 40}));
  EXPECT_EQ(lives[0].bytes, 400);
  EXPECT_EQ(lives[0].last, 1u);  // It is gone: somebody took its place.
}

TEST(TensorLifetimesTest, WithoutTimesTheOrderOfTheTraceDecides) {
  Recorder recorder;
  const uint32_t zeros = recorder.Op(-1, -1, {}, {Tensor(1, 100)});
  const uint32_t empty = recorder.Op(-1, -1, {}, {Tensor(1, 100)}, zeros);
  const uint32_t reader = recorder.Op(-1, -1, {Tensor(1, 100)}, {Tensor(2, 10)});
  EXPECT_EQ(recorder.Lives().lives, (std::vector<TensorLife>{{0, empty, reader, 400},  //
                                                             {0, reader, reader, 40}}));
}

TEST(TensorLifetimesTest, ViewsShareAStorageThatSpansThemAll) {
  Recorder recorder;
  recorder.Op(0, 10, {}, {"[1, 2, 0, 10, 4, \"cpu\"]"});
  recorder.Op(10, 20, {"[1, 2, 0, 10, 4, \"cpu\"]"}, {"[3, 2, 90, 10, 4, \"cpu\"]"});
  EXPECT_EQ(recorder.Lives().lives, (std::vector<TensorLife>{{0, 0, 1, 400}}));
}

TEST(TensorLifetimesTest, DevicesAreCountedApart) {
  Recorder recorder;
  recorder.Op(0, 10, {}, {Tensor(1, 100), Tensor(1, 10, "cuda:0")});
  const std::vector<MemoryUse> use = recorder.Use();
  ASSERT_EQ(use.size(), 2u);
  EXPECT_EQ(use[0].peak_bytes, 400);
  EXPECT_EQ(use[1].device, "cuda:0");
  EXPECT_EQ(use[1].peak_bytes, 40);
}

TEST(TensorLifetimesTest, ATraceWithoutArgumentsHasNoLives) {
  OpMaker maker;
  maker.Add({.id = 1, .type = NodeType::kComp, .flags = RankTrace::kHostOp, .name = "op"});
  RankTrace trace = maker.Make();
  EXPECT_TRUE(FindTensorLifetimes(trace).lives.empty());
  trace.cold.clear();
  trace.cold_begin.clear();
  EXPECT_TRUE(FindTensorLifetimes(trace).lives.empty());
}

// Simulated times may differ from the recorded ones; a node that did not run holds nothing.
TEST(TensorLifetimesTest, TimesAreTheCallers) {
  TensorLifetimes lifetimes;
  lifetimes.devices = {"cpu"};
  lifetimes.lives = {{0, 0, 1, 100}, {0, 1, 2, 10}};
  const std::vector<MemoryUse> use = ComputeMemoryUse(lifetimes, {5, -1, 20}, {6, -1, 30}, 10);
  EXPECT_EQ(use[0].lives_count, 1);
  EXPECT_EQ(use[0].steps, (std::vector<MemoryStep>{{5, 100}}));
}

// Against a sum over all lives at every time, for random lives; and bounded series hold the peak.
TEST(TensorLifetimesTest, UseIsTheSumOfWhatIsAliveOverRandomLives) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 50; ++round) {
    TensorLifetimes lifetimes;
    lifetimes.devices = {"cpu"};
    std::vector<int64_t> start_ps, end_ps;
    for (uint32_t i = 0; i < 40; ++i) {
      start_ps.push_back(static_cast<int64_t>(random() % 60));
      end_ps.push_back(start_ps.back() + 1 + static_cast<int64_t>(random() % 20));
    }
    for (int i = 0; i < 60; ++i) {
      uint32_t first = random() % 40, last = random() % 40;
      if (start_ps[first] > start_ps[last]) std::swap(first, last);
      lifetimes.lives.push_back(
          {0, first, random() % 8 == 0 ? kNone : last, static_cast<int64_t>(1 + random() % 1000)});
    }
    const MemoryUse use = ComputeMemoryUse(lifetimes, start_ps, end_ps, 1000)[0];
    const MemoryUse coarse = ComputeMemoryUse(lifetimes, start_ps, end_ps, 7)[0];
    int64_t peak = 0, at_step = 0, at_slice = 0;
    size_t step = 0, slice = 0;
    int64_t most_of_slices = 0;
    for (int64_t now = 0; now < 100; ++now) {
      int64_t alive = 0;
      for (const TensorLife& life : lifetimes.lives) {
        if (start_ps[life.first] <= now && (life.last == kNone || now < end_ps[life.last])) {
          alive += life.bytes;
        }
      }
      for (; step < use.steps.size() && use.steps[step].at_ps <= now; ++step) {
        at_step = use.steps[step].bytes;
      }
      for (; slice < coarse.steps.size() && coarse.steps[slice].at_ps <= now; ++slice) {
        at_slice = coarse.steps[slice].bytes;
        most_of_slices = std::max(most_of_slices, at_slice);
      }
      EXPECT_EQ(at_step, alive) << "round " << round << " at " << now;
      EXPECT_GE(at_slice, alive) << "round " << round << " at " << now;
      peak = std::max(peak, alive);
    }
    EXPECT_EQ(use.peak_bytes, peak);
    EXPECT_EQ(coarse.peak_bytes, peak);
    EXPECT_EQ(most_of_slices, peak);
    EXPECT_TRUE(coarse.steps_coarse);
    EXPECT_LE(coarse.steps.size(), 7u);
  }
}

}  // namespace
}  // namespace chakrad
