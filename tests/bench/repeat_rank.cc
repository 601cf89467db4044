#include "tests/bench/repeat_rank.h"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace chakrad {
namespace {

template <typename T>
void Append(const std::vector<T>& from, std::vector<T>* to) {
  to->insert(to->end(), from.begin(), from.end());
}

}  // namespace

RankTrace RepeatRank(const RankTrace& rank, int64_t count) {
  uint64_t highest_id = 0;
  int64_t end_ns = 0;
  for (uint32_t node = 0; node < rank.size(); ++node) {
    highest_id = std::max(highest_id, rank.id[node]);
    if (rank.start_ns[node] == kUnknownNs) continue;
    end_ns = std::max(end_ns, rank.start_ns[node] + std::max<int64_t>(rank.dur_ns[node], 0));
  }
  RankTrace all = rank;
  for (int64_t turn = 1; turn < count; ++turn) {
    const uint32_t first = all.size();
    const auto comm_first = static_cast<uint32_t>(all.comm.size());
    const auto work_first = static_cast<uint32_t>(all.work_size.size());
    const auto edges = static_cast<uint32_t>(all.dep_node.size());
    const uint64_t cold_first = all.cold.size();
    for (uint32_t node = 0; node < rank.size(); ++node) {
      all.id.push_back(rank.id[node] + static_cast<uint64_t>(turn) * (highest_id + 1));
      const int64_t start_ns = rank.start_ns[node];
      all.start_ns.push_back(start_ns == kUnknownNs ? kUnknownNs : start_ns + turn * end_ns);
      const uint32_t side = rank.side[node];
      const uint32_t moved = IsComm(rank.type[node]) ? comm_first : work_first;
      all.side.push_back(side == kNone ? kNone : side + moved);
      all.dep_begin.push_back(edges + rank.dep_begin[node + 1]);
      if (!rank.cold_begin.empty()) {
        all.cold_begin.push_back(cold_first + rank.cold_begin[node + 1]);
      }
    }
    Append(rank.type, &all.type);
    Append(rank.flags, &all.flags);
    Append(rank.queue, &all.queue);
    Append(rank.name, &all.name);
    Append(rank.dur_ns, &all.dur_ns);
    Append(rank.work_ns, &all.work_ns);
    Append(rank.dep_kind, &all.dep_kind);
    for (const uint32_t dep : rank.dep_node) all.dep_node.push_back(first + dep);
    for (const uint32_t node : rank.gap_node) all.gap_node.push_back(first + node);
    Append(rank.gap_ns, &all.gap_ns);
    Append(rank.comm, &all.comm);
    Append(rank.work_size, &all.work_size);
    all.cold += rank.cold;
  }
  return all;
}

void MakeDistinct(uint64_t seed, RankTrace* rank) {
  constexpr size_t kStretchBytes = 16 << 10;
  std::mt19937_64 random(seed);
  for (int64_t& start_ns : rank->start_ns) {
    if (start_ns != kUnknownNs) start_ns += static_cast<int64_t>(random() % 500);
  }
  for (size_t begin = 0; begin < rank->cold.size(); begin += kStretchBytes) {
    const size_t end = std::min(begin + kStretchBytes, rank->cold.size());
    size_t at = begin + random() % (end - begin);
    // Digits in texts only: a run of four, so that no length or key is hit.
    const auto is_digit = [&](size_t i) { return rank->cold[i] >= '0' && rank->cold[i] <= '9'; };
    for (; at + 4 < end; ++at) {
      if (!is_digit(at) || !is_digit(at + 1) || !is_digit(at + 2) || !is_digit(at + 3)) continue;
      rank->cold[at + 3] = static_cast<char>('0' + random() % 10);
      break;
    }
  }
}

}  // namespace chakrad
