#include "analysis/steps/repetition.h"

#include <algorithm>
#include <map>
#include <utility>

namespace chakrad {
namespace {

// Tokens whose distances are looked at, and distances of each.
constexpr size_t kRareTokens = 32;
constexpr size_t kDistancesEach = 8;
constexpr size_t kMaxCandidates = 32;

// Where each token occurs: at[begin[t] .. begin[t + 1]), ascending.
struct Occurrences {
  std::vector<uint32_t> begin, at;
};

Occurrences FindOccurrences(const std::vector<uint32_t>& tokens) {
  Occurrences found;
  const uint32_t largest = *std::max_element(tokens.begin(), tokens.end());
  found.begin.assign(size_t{largest} + 2, 0);
  for (const uint32_t token : tokens) ++found.begin[token + 1];
  for (size_t t = 0; t + 1 < found.begin.size(); ++t) found.begin[t + 1] += found.begin[t];
  found.at.resize(tokens.size());
  std::vector<uint32_t> next(found.begin.begin(), found.begin.end() - 1);
  for (uint32_t i = 0; i < tokens.size(); ++i) found.at[next[tokens[i]]++] = i;
  return found;
}

// The rarest tokens that occur over at least half of the sequence: those of a prologue do not.
std::vector<uint32_t> SpreadTokens(const Occurrences& found, size_t size) {
  std::vector<std::pair<uint32_t, uint32_t>> by_count;
  for (uint32_t token = 0; token + 1 < found.begin.size(); ++token) {
    const uint32_t count = found.begin[token + 1] - found.begin[token];
    if (count < 2) continue;
    const uint32_t first = found.at[found.begin[token]];
    const uint32_t last = found.at[found.begin[token + 1] - 1];
    // Two halves are the least that may repeat: the token is then half the sequence apart.
    if (last - first + 1 >= size / 3) by_count.emplace_back(count, token);
  }
  const size_t kept = std::min(kRareTokens, by_count.size());
  std::partial_sort(by_count.begin(), by_count.begin() + static_cast<std::ptrdiff_t>(kept),
                    by_count.end());
  std::vector<uint32_t> tokens;
  for (size_t i = 0; i < kept; ++i) tokens.push_back(by_count[i].second);
  return tokens;
}

// Ascending; those that most occurrences speak for.
std::vector<uint32_t> Candidates(const Occurrences& found, size_t size) {
  std::map<uint32_t, uint32_t> votes;
  for (const uint32_t token : SpreadTokens(found, size)) {
    const uint32_t begin = found.begin[token], end = found.begin[token + 1];
    for (uint32_t step = 1; step <= kDistancesEach && step < end - begin; ++step) {
      // The most frequent distance between an occurrence and the one `step` later.
      std::map<uint32_t, uint32_t> count_of;
      for (uint32_t i = begin; i + step < end; ++i) ++count_of[found.at[i + step] - found.at[i]];
      const auto most =
          std::max_element(count_of.begin(), count_of.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      if (most->first <= size / 2) votes[most->first] += most->second;
    }
  }
  std::vector<std::pair<uint32_t, uint32_t>> by_votes;
  for (const auto& [period, count] : votes) by_votes.emplace_back(count, period);
  std::sort(by_votes.rbegin(), by_votes.rend());
  if (by_votes.size() > kMaxCandidates) by_votes.resize(kMaxCandidates);
  std::vector<uint32_t> candidates;
  for (const auto& [count, period] : by_votes) candidates.push_back(period);
  std::sort(candidates.begin(), candidates.end());
  return candidates;
}

// Where tokens agree with those a period later, net of the cost of those that do not.
struct Stretch {
  uint32_t period = 0;
  uint32_t begin = 0, end = 0;  // tokens[i] is compared with tokens[i + period], begin <= i < end.
  int64_t explained = 0;        // Tokens, less the cost.
};

Stretch BestStretch(const std::vector<uint32_t>& tokens, uint32_t period) {
  Stretch best{.period = period};
  int64_t sum = 0, best_sum = 0;
  uint32_t begin = 0;
  for (uint32_t i = 0; i + period < tokens.size(); ++i) {
    sum += tokens[i] == tokens[i + period] ? 1 : -kMismatchCost;
    if (sum <= 0) {
      sum = 0;
      begin = i + 1;
    } else if (sum > best_sum) {
      best_sum = sum;
      best.begin = begin;
      best.end = i + 1;
    }
  }
  if (best_sum > 0) best.explained = best_sum + period;
  return best;
}

// Steps begin where a token does that occurs once in each; strides of the period drift where a
// token too many came between.
std::vector<uint32_t> BeginsOf(const std::vector<uint32_t>& tokens, const Occurrences& found,
                               const Stretch& stretch) {
  const uint32_t end = stretch.end + stretch.period;
  const uint32_t count = (end - stretch.begin) / stretch.period;
  std::vector<uint32_t> begins;
  for (uint32_t offset = 0; offset < stretch.period; ++offset) {
    const uint32_t anchor = tokens[stretch.begin + offset];
    const auto of_token = [&](uint32_t t) {
      return found.at.begin() + static_cast<std::ptrdiff_t>(found.begin[t]);
    };
    const auto first =
        std::lower_bound(of_token(anchor), of_token(anchor + 1), stretch.begin + offset);
    const auto last = std::lower_bound(first, of_token(anchor + 1), end);
    const auto times = static_cast<uint32_t>(last - first);
    if (times != count && times != count + 1) continue;
    for (auto it = first; it != first + count; ++it) begins.push_back(*it - offset);
    return begins;
  }
  for (uint32_t i = 0; i < count; ++i) begins.push_back(stretch.begin + i * stretch.period);
  return begins;
}

}  // namespace

std::optional<Repetition> FindRepetition(const std::vector<uint32_t>& tokens) {
  if (tokens.size() < 3) return std::nullopt;
  const Occurrences found = FindOccurrences(tokens);
  Stretch best;
  for (const uint32_t period : Candidates(found, tokens.size())) {
    const Stretch stretch = BestStretch(tokens, period);
    if (stretch.explained > best.explained) best = stretch;
  }
  if (best.period == 0) return std::nullopt;
  const uint32_t length = best.end + best.period - best.begin;
  if (length < tokens.size() / 2) return std::nullopt;
  const uint32_t count = length / best.period;
  if (count < 2 || (count == 2 && best.period < kMinPeriodOfTwo)) return std::nullopt;
  Repetition repetition{.period = best.period, .begins = BeginsOf(tokens, found, best)};
  repetition.end = std::min<uint32_t>(repetition.begins.back() + best.period,
                                      static_cast<uint32_t>(tokens.size()));
  return repetition;
}

}  // namespace chakrad
