// Cards as a fleet's collectors leave them, for tests and benchmarks.
#ifndef CHAKRAD_STORAGE_RANDOM_CARDS_H_
#define CHAKRAD_STORAGE_RANDOM_CARDS_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "storage/trace_card.h"

namespace chakrad {

// `count` cards, newest first, some minutes apart: forty jobs in four clusters, a step
// that climbs, a user and a commit; every tenth without labels, every eighth without times.
inline TraceCards RandomCards(uint64_t seed, int64_t count) {
  std::mt19937_64 random(seed);
  const auto below = [&random](int64_t end) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(end));
  };
  TraceCards cards;
  int64_t create_unix_ns = 1'790'000'000'000'000'000;
  for (int64_t i = 0; i < count; ++i) {
    auto card = std::make_shared<TraceCard>();
    card->id = absl::StrCat("t-", absl::Hex(random(), absl::kZeroPad16));
    create_unix_ns += 1 + below(600'000'000'000);
    card->create_unix_ns = create_unix_ns;
    if (i % 10 != 0) {
      const int64_t job = below(40);
      card->labels = {{"job", absl::StrCat("llama-", job)},
                      {"model", job % 2 == 0 ? "llama3-70b" : "dlrm"},
                      {"cluster", absl::StrCat("east-", job % 4)},
                      {"step", absl::StrCat(i * 100 / 3)},
                      {"user", absl::StrCat("user", below(300))},
                      {"commit", absl::StrCat(absl::Hex(random()))}};
    }
    card->world_size = static_cast<int32_t>(8 << below(6));
    card->ranks_count = card->world_size;
    card->nodes_count = 1000 + below(1'000'000);
    card->stored_bytes = 1 + below(50'000'000);
    card->quality = static_cast<double>(below(101)) / 100;
    card->errors_count = below(3);
    card->pinned = below(50) == 0;
    if (i % 8 != 0) {
      card->start_unix_ns = create_unix_ns - 60'000'000'000;
      card->end_unix_ns = create_unix_ns - below(50'000'000'000);
      card->span_ns = card->end_unix_ns - card->start_unix_ns;
      TraceBreakdown breakdown;
      breakdown.compute_ratio = static_cast<double>(below(1000)) / 1000;
      breakdown.exposed_comm_ratio =
          (1 - breakdown.compute_ratio) * static_cast<double>(below(1000)) / 1000;
      breakdown.comm_ratio = breakdown.exposed_comm_ratio;
      breakdown.idle_ratio = 1 - breakdown.compute_ratio - breakdown.exposed_comm_ratio;
      breakdown.worst_exposed_comm_ratio = breakdown.exposed_comm_ratio;
      card->breakdown = breakdown;
    }
    cards.push_back(std::move(card));
  }
  std::reverse(cards.begin(), cards.end());
  return cards;
}

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_RANDOM_CARDS_H_
