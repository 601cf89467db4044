// How fast the event queue is, by the hold model: N events wait; each step takes the next one and
// pushes another. Items are events: one Pop and one Push.
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "common/check.h"
#include "sim/engine/event_queue.h"

namespace chakrad {
namespace {

constexpr size_t kIncrementsCount = size_t{1} << 16;  // Drawn before the clock runs.

void Hold(benchmark::State& state, const std::vector<int64_t>& increments_ps) {
  EventQueue queue;
  size_t next = 0;
  const auto increment_ps = [&] { return increments_ps[next++ % kIncrementsCount]; };
  for (int64_t i = 0; i < state.range(0); ++i) {
    queue.Push(increment_ps(), EventTag{0, 0, static_cast<uint32_t>(i)});
  }
  Event event{};
  for (auto _ : state) {
    CHECK(queue.Pop(&event));
    queue.Push(event.at_ps + increment_ps(), event.tag);
  }
  benchmark::DoNotOptimize(event);
  state.SetItemsProcessed(state.iterations());
}

// Up to 2 ms, to the picosecond: hardly any two are equal.
void BM_UniformIncrements(benchmark::State& state) {
  std::mt19937_64 random(1);
  std::vector<int64_t> increments_ps(kIncrementsCount);
  for (int64_t& ps : increments_ps) ps = static_cast<int64_t>(random() % 2'000'000'000);
  Hold(state, increments_ps);
}
BENCHMARK(BM_UniformIncrements)->Arg(1024)->Arg(65'536)->Arg(1 << 20);

// Exponential, whole nanoseconds, 1 us on average: astra's delays.
void BM_ExponentialIncrements(benchmark::State& state) {
  std::mt19937_64 random(1);
  std::exponential_distribution<double> ns(1e-3);
  std::vector<int64_t> increments_ps(kIncrementsCount);
  for (int64_t& ps : increments_ps) ps = static_cast<int64_t>(ns(random)) * 1000;
  Hold(state, increments_ps);
}
BENCHMARK(BM_ExponentialIncrements)->Arg(1024)->Arg(65'536)->Arg(1 << 20);

// A collective in step: a message takes 5 us, after an endpoint's 10 ns.
void BM_TwoIncrements(benchmark::State& state) {
  std::vector<int64_t> increments_ps(kIncrementsCount);
  for (size_t i = 0; i < kIncrementsCount; ++i) increments_ps[i] = i % 2 == 0 ? 5'000'000 : 10'000;
  Hold(state, increments_ps);
}
BENCHMARK(BM_TwoIncrements)->Arg(1024)->Arg(65'536);

void BM_EqualIncrements(benchmark::State& state) {
  Hold(state, std::vector<int64_t>(kIncrementsCount, 5'000'000));
}
BENCHMARK(BM_EqualIncrements)->Arg(1024)->Arg(65'536);

}  // namespace
}  // namespace chakrad

BENCHMARK_MAIN();
