// Encoding and decoding speed of the trace codec, and bytes a node. Speeds count
// the bytes that the columns take in memory, the cold block included.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "common/check.h"
#include "trace/codec/rank_codec.h"
#include "trace/codec/rank_generator.h"

namespace chakrad {
namespace {

int64_t MemoryBytes(const RankTrace& rank) {
  return int64_t{rank.size()} * kHotBytesPerNode + static_cast<int64_t>(rank.dep_node.size()) * 5 +
         static_cast<int64_t>(rank.cold.size() + 8 * rank.cold_begin.size());
}

std::vector<std::string> EncodeAll(const RankTrace& rank) {
  std::vector<std::string> chunks;
  CHECK(EncodeRank(rank, [&](const ChunkSpan&, absl::string_view stored) {
          chunks.emplace_back(stored);
          return absl::OkStatus();
        }).ok());
  return chunks;
}

void SetCounters(const RankTrace& rank, const std::vector<std::string>& chunks,
                 benchmark::State& state) {
  int64_t stored_bytes = 0;
  for (const std::string& chunk : chunks) stored_bytes += static_cast<int64_t>(chunk.size());
  state.SetBytesProcessed(state.iterations() * MemoryBytes(rank));
  state.counters["stored_bytes_per_node"] = static_cast<double>(stored_bytes) / rank.size();
  state.counters["memory_bytes_per_node"] = static_cast<double>(MemoryBytes(rank)) / rank.size();
}

void BM_EncodeRank(benchmark::State& state) {
  const RankTrace rank =
      RecordedLikeRank(1, static_cast<uint32_t>(state.range(0)), state.range(1) != 0);
  std::vector<std::string> chunks;
  for (auto _ : state) chunks = EncodeAll(rank);
  SetCounters(rank, chunks, state);
}

void BM_DecodeRank(benchmark::State& state) {
  const RankTrace rank =
      RecordedLikeRank(1, static_cast<uint32_t>(state.range(0)), state.range(1) != 0);
  const std::vector<std::string> chunks = EncodeAll(rank);
  for (auto _ : state) {
    RankDecoder decoder(HeaderOf(rank));
    for (const std::string& chunk : chunks) CHECK(decoder.Add(chunk).ok());
    CHECK(decoder.Finish(state.range(1) != 0, 1).ok());
  }
  SetCounters(rank, chunks, state);
}

BENCHMARK(BM_EncodeRank)->ArgNames({"nodes", "cold"})->Args({1 << 20, 0})->Args({1 << 20, 1});
BENCHMARK(BM_DecodeRank)->ArgNames({"nodes", "cold"})->Args({1 << 20, 0})->Args({1 << 20, 1});

}  // namespace
}  // namespace chakrad

BENCHMARK_MAIN();
