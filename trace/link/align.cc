#include "trace/link/align.h"

#include <algorithm>
#include <cstdlib>

#include "absl/container/flat_hash_map.h"
#include "trace/model/rank_trace.h"

namespace chakrad {
namespace {

constexpr int64_t kGram = 8;        // Names in a run that votes.
constexpr int64_t kMaxVotes = 256;  // Places of one run that are looked at: bounds the work on
                                    // files that repeat one name.
constexpr int64_t kDrift = 64;
constexpr int64_t kJoinRun = 3;
constexpr int64_t kJoinReach = 64;
constexpr int64_t kMaxSwapped = 3;

uint64_t HashRun(const std::vector<uint32_t>& names, int64_t begin, int64_t length) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (int64_t i = begin; i < begin + length; ++i) {
    hash = (hash ^ names[static_cast<size_t>(i)]) * 0x100000001b3u;
    hash ^= hash >> 29;
  }
  return hash;
}

struct Start {
  int64_t a = 0;
  int64_t b = 0;
};

// Every extra or missing entry moves the offset by one, so near offsets vote
// together: those within kDrift plus a 32nd of the sequence. Of the best such
// range the offset with most votes.
int64_t BestOffset(std::vector<std::pair<int64_t, int64_t>> votes, int64_t a_size,
                   int64_t preferred_begin) {
  std::sort(votes.begin(), votes.end());
  const int64_t width = kDrift + a_size / 32;
  std::vector<int64_t> sums(votes.size(), 0);  // Of the range that begins with each offset.
  int64_t sum = 0, most = 0;
  for (size_t first = 0, last = 0; first < votes.size(); ++first) {
    while (last < votes.size() && votes[last].first - votes[first].first < width) {
      sum += votes[last++].second;
    }
    sums[first] = sum;
    most = std::max(most, sum);
    sum -= votes[first].second;
  }
  const auto distance = [&](size_t range) {
    return preferred_begin < 0 ? int64_t{0} : std::abs(votes[range].first - preferred_begin);
  };
  size_t best = votes.size();
  for (size_t range = 0; range < votes.size(); ++range) {
    const int64_t least = preferred_begin < 0 ? most : most - most / 20;
    if (sums[range] < least) continue;
    if (best == votes.size() || distance(range) < distance(best)) best = range;
  }
  size_t offset = best;
  for (size_t i = best; i < votes.size() && votes[i].first - votes[best].first < width; ++i) {
    if (votes[i].second > votes[offset].second) offset = i;
  }
  return votes[offset].first;
}

// A pair of places from which to walk; false when nothing is equal.
bool FindStart(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b,
               int64_t preferred_begin, Start* start) {
  const int64_t a_size = static_cast<int64_t>(a.size()), b_size = static_cast<int64_t>(b.size());
  const int64_t gram = std::min({kGram, a_size, b_size});
  if (gram == 0) return false;
  absl::flat_hash_map<uint64_t, std::vector<int64_t>> places;
  for (int64_t j = 0; j + gram <= b_size; ++j) {
    std::vector<int64_t>& list = places[HashRun(b, j, gram)];
    if (static_cast<int64_t>(list.size()) < kMaxVotes) list.push_back(j);
  }
  absl::flat_hash_map<int64_t, int64_t> votes;
  for (int64_t i = 0; i + gram <= a_size; ++i) {
    const auto it = places.find(HashRun(a, i, gram));
    if (it == places.end()) continue;
    for (const int64_t j : it->second) ++votes[j - i];
  }
  if (votes.empty()) return false;
  const int64_t best = BestOffset({votes.begin(), votes.end()}, a_size, preferred_begin);
  for (int64_t i = 0; i + gram <= a_size; ++i) {
    const int64_t j = i + best;
    if (j < 0 || j + gram > b_size) continue;
    if (std::equal(a.begin() + i, a.begin() + i + gram, b.begin() + j)) {
      *start = {i, j};
      return true;
    }
  }
  return false;
}

// One direction of the walk: position p stands for start + p * step.
class Walk {
 public:
  Walk(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b, Start start, int64_t step)
      : a_(a), b_(b), start_(start), step_(step) {
    const int64_t a_size = static_cast<int64_t>(a.size()), b_size = static_cast<int64_t>(b.size());
    a_left_ = step > 0 ? a_size - start.a : start.a + 1;
    b_left_ = step > 0 ? b_size - start.b : start.b + 1;
  }

  void Run(std::vector<uint32_t>* partner) const {
    int64_t p = 0, q = 0;
    int64_t give_up = 1;  // Doubled while nothing joins: two unlike files stay cheap.
    while (p < a_left_ && q < b_left_) {
      if (A(p) == B(q)) {
        (*partner)[static_cast<size_t>(start_.a + p * step_)] =
            static_cast<uint32_t>(start_.b + q * step_);
        ++p, ++q;
        continue;
      }
      const auto [skip_a, skip_b] = Join(p, q);
      if (skip_a + skip_b > 0) {
        p += skip_a, q += skip_b;
        give_up = 1;
      } else {
        p += give_up, q += give_up;
        give_up = std::min(2 * give_up, kJoinReach);
      }
    }
  }

 private:
  uint32_t A(int64_t p) const { return a_[static_cast<size_t>(start_.a + p * step_)]; }
  uint32_t B(int64_t q) const { return b_[static_cast<size_t>(start_.b + q * step_)]; }
  bool RunsEqual(int64_t p, int64_t q) const {
    const int64_t length = std::min({kJoinRun, a_left_ - p, b_left_ - q});
    for (int64_t i = 0; i < length; ++i) {
      if (A(p + i) != B(q + i)) return false;
    }
    return length > 0;
  }
  // How much to skip of either to be together again; {0, 0}: out of reach.
  std::pair<int64_t, int64_t> Join(int64_t p, int64_t q) const {
    // Entries that changed places first: in code that repeats itself, skipping
    // one side alone would join the wrong repetitions.
    for (int64_t skip = 1; skip <= kMaxSwapped; ++skip) {
      if (p + skip < a_left_ && q + skip < b_left_ && RunsEqual(p + skip, q + skip)) {
        return {skip, skip};
      }
    }
    for (int64_t distance = 1; distance <= kJoinReach; ++distance) {
      for (int64_t skip_a = 0; skip_a <= distance; ++skip_a) {
        const int64_t skip_b = distance - skip_a;
        if (p + skip_a < a_left_ && q + skip_b < b_left_ && RunsEqual(p + skip_a, q + skip_b)) {
          return {skip_a, skip_b};
        }
      }
    }
    return {0, 0};
  }

  const std::vector<uint32_t>& a_;
  const std::vector<uint32_t>& b_;
  const Start start_;
  const int64_t step_;
  int64_t a_left_ = 0;
  int64_t b_left_ = 0;
};

// Between two pairs, entries that only changed places (recorders that round to
// microseconds cannot order a call and its caller) are joined by name.
void JoinSwapped(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b,
                 std::vector<uint32_t>* partner) {
  size_t begin = 0;  // After the pair before.
  uint32_t b_begin = 0;
  bool inside = false;
  absl::flat_hash_map<uint32_t, std::vector<uint32_t>> places;
  for (size_t i = 0; i < a.size(); ++i) {
    if ((*partner)[i] == kNone) continue;
    const uint32_t b_end = (*partner)[i];
    if (inside && begin < i && b_begin < b_end) {
      places.clear();
      for (uint32_t j = b_end; j > b_begin; --j) places[b[j - 1]].push_back(j - 1);
      for (size_t k = begin; k < i; ++k) {
        const auto it = places.find(a[k]);
        if (it == places.end() || it->second.empty()) continue;
        (*partner)[k] = it->second.back();
        it->second.pop_back();
      }
    }
    inside = true;
    begin = i + 1;
    b_begin = b_end + 1;
  }
}

}  // namespace

std::vector<uint32_t> AlignSequences(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b,
                                     int64_t preferred_begin) {
  std::vector<uint32_t> partner(a.size(), kNone);
  Start start;
  if (!FindStart(a, b, preferred_begin, &start)) return partner;
  Walk(a, b, start, 1).Run(&partner);
  Walk(a, b, start, -1).Run(&partner);
  JoinSwapped(a, b, &partner);
  return partner;
}

}  // namespace chakrad
