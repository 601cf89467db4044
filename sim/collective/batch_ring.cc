#include "sim/collective/batch_ring.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "sim/limits.h"

namespace chakrad {
namespace {

using Int128 = __int128;

int64_t Cut(Int128 ps) { return ps < kHorizonPs ? static_cast<int64_t>(ps) : kHorizonPs; }

// All ports alike. A way of `steps` steps to place r makes j moves, from r - j, and steps - j
// stays: starts[r - j] + (moved delays - j * port) + steps * port. Moves gain, so of the ways that
// come from one place only the longest matters: j in (steps - n, steps].
std::vector<int64_t> SlidingEnds(absl::Span<const int64_t> start_ps,
                                 absl::Span<const int64_t> delay_ps, int64_t port_ps,
                                 int64_t steps) {
  const int64_t n = static_cast<int64_t>(start_ps.size());
  std::vector<Int128> gain_before(n + 1, 0);  // Of the moves over links 0 .. i-1.
  for (int64_t i = 0; i < n; ++i) gain_before[i + 1] = gain_before[i] + delay_ps[i] - port_ps;
  // Along the unrolled ring; `v` >= 0 after a shift by whole turns.
  const auto gain_to = [&](int64_t v) {
    return Int128{v / n} * gain_before[n] + gain_before[v % n];
  };
  const int64_t shift = (steps / n + 1) * n;
  const int64_t fewest_moves = std::max<int64_t>(0, steps - n + 1);
  std::deque<std::pair<int64_t, Int128>> best;  // (v, value), values falling.
  const auto add = [&](int64_t v) {
    const Int128 value = Int128{start_ps[v % n]} - gain_to(v);
    while (!best.empty() && best.back().second <= value) best.pop_back();
    best.emplace_back(v, value);
  };
  std::vector<int64_t> ends(n);
  int64_t next = shift - steps;  // Next v to come into the window.
  for (int64_t r = 0; r < n; ++r) {
    const int64_t to = r + shift;
    for (; next <= to - fewest_moves; ++next) add(next);
    while (best.front().first < to - steps) best.pop_front();
    ends[r] = Cut(gain_to(to) + best.front().second + Int128{steps} * port_ps);
  }
  return ends;
}

// A function of the place, in stretches in which it is linear.
struct Run {
  int64_t begin = 0;  // Until the next run's.
  int64_t value = 0;  // At begin.
  int64_t slope = 0;
};
struct CostRun {
  int64_t begin = 0;
  int64_t stay_ps = 0;
  int64_t move_ps = 0;  // Of the link that ends here.
};

class RunLine {
 public:
  RunLine(absl::Span<const int64_t> start_ps, absl::Span<const int64_t> delay_ps,
          absl::Span<const int64_t> port_ps)
      : n_(static_cast<int64_t>(start_ps.size())) {
    for (int64_t r = 0; r < n_; ++r) {
      Append(r, 1, start_ps[r], 0);
      const int64_t move_ps = delay_ps[(r + n_ - 1) % n_];
      if (costs_.empty() || costs_.back().stay_ps != port_ps[r] ||
          costs_.back().move_ps != move_ps) {
        costs_.push_back({r, port_ps[r], move_ps});
      }
    }
    runs_.swap(next_);
  }

  size_t runs_count() const { return runs_.size(); }

  void Step() {
    next_.clear();
    const int64_t last = At(runs_.back(), n_ - 1);
    // `own`: the run that holds r; `from`: the one that holds r - 1.
    size_t own = 0, from = 0, cost = 0;
    for (int64_t r = 0; r < n_;) {
      int64_t end = n_;
      const auto bound = [&](int64_t at) { end = std::min(end, at); };
      if (own + 1 < runs_.size()) bound(runs_[own + 1].begin);
      if (cost + 1 < costs_.size()) bound(costs_[cost + 1].begin);
      Run move{r, last, 0};
      if (r == 0) {
        bound(1);
      } else {
        move = {r, At(runs_[from], r - 1), runs_[from].slope};
        if (from + 1 < runs_.size()) bound(runs_[from + 1].begin + 1);
      }
      Run stay{r, At(runs_[own], r), runs_[own].slope};
      stay.value += costs_[cost].stay_ps;
      move.value += costs_[cost].move_ps;
      AppendMax(r, end - r, stay, move);
      r = end;
      if (own + 1 < runs_.size() && runs_[own + 1].begin == r) ++own;
      if (cost + 1 < costs_.size() && costs_[cost + 1].begin == r) ++cost;
      if (from + 1 < runs_.size() && runs_[from + 1].begin + 1 == r) ++from;
    }
    runs_.swap(next_);
  }

  std::vector<int64_t> Values() const {
    std::vector<int64_t> values(n_);
    for (size_t i = 0; i < runs_.size(); ++i) {
      const int64_t end = i + 1 < runs_.size() ? runs_[i + 1].begin : n_;
      for (int64_t r = runs_[i].begin; r < end; ++r) values[r] = At(runs_[i], r);
    }
    return values;
  }
  int64_t Largest() const {
    int64_t largest = 0;
    for (size_t i = 0; i < runs_.size(); ++i) {
      const int64_t end = i + 1 < runs_.size() ? runs_[i + 1].begin : n_;
      largest = std::max({largest, runs_[i].value, At(runs_[i], end - 1)});
    }
    return largest;
  }

 private:
  static int64_t At(const Run& run, int64_t r) { return run.value + run.slope * (r - run.begin); }

  void AppendMax(int64_t begin, int64_t length, const Run& a, const Run& b) {
    const int64_t first = a.value - b.value;
    const int64_t rise = a.slope - b.slope;
    const int64_t last = first + rise * (length - 1);
    if (first >= 0 && last >= 0) return Append(begin, length, a.value, a.slope);
    if (first <= 0 && last <= 0) return Append(begin, length, b.value, b.slope);
    // They cross once: `lead` is larger for the first `count` places.
    const Run& lead = first > 0 ? a : b;
    const Run& rest = first > 0 ? b : a;
    const int64_t count = std::abs(first) / std::abs(rise) + 1;
    Append(begin, count, lead.value, lead.slope);
    Append(begin + count, length - count, rest.value + rest.slope * count, rest.slope);
  }

  // Joins what goes on in a line. Of a run of one place the slope is still free.
  void Append(int64_t begin, int64_t length, int64_t value, int64_t slope) {
    if (!next_.empty()) {
      Run& before = next_.back();
      const int64_t before_length = begin - before.begin;
      if (before_length == 1 && (length == 1 || value - before.value == slope)) {
        before.slope = value - before.value;
        return;
      }
      if (before_length > 1 && At(before, begin) == value &&
          (length == 1 || before.slope == slope)) {
        return;
      }
    }
    next_.push_back({begin, value, slope});
  }

  int64_t n_;
  std::vector<CostRun> costs_;
  std::vector<Run> runs_, next_;
};

void DenseStep(absl::Span<const int64_t> delay_ps, absl::Span<const int64_t> port_ps,
               const std::vector<int64_t>& now, std::vector<int64_t>* next) {
  const size_t n = now.size();
  const int64_t* delay = delay_ps.data();
  const int64_t* port = port_ps.data();
  const int64_t* from = now.data();
  int64_t* to = next->data();
  to[0] = std::max(from[0] + port[0], from[n - 1] + delay[n - 1]);
  for (size_t r = 1; r < n; ++r) to[r] = std::max(from[r] + port[r], from[r - 1] + delay[r - 1]);
}

constexpr int64_t kStepsPerLook = 64;  // Between two looks at how many runs there are.

}  // namespace

std::vector<int64_t> RingEnds(absl::Span<const int64_t> start_ps,
                              absl::Span<const int64_t> delay_ps, absl::Span<const int64_t> port_ps,
                              int64_t steps_count) {
  const bool alike =
      std::all_of(port_ps.begin(), port_ps.end(), [&](int64_t ps) { return ps == port_ps[0]; });
  if (alike) return SlidingEnds(start_ps, delay_ps, port_ps[0], steps_count);
  // A bound on one step, so that no sum overflows before it is looked at.
  const int64_t longest_ps = *std::max_element(delay_ps.begin(), delay_ps.end());
  if (longest_ps >= kHorizonPs / kStepsPerLook) {
    return std::vector<int64_t>(start_ps.size(), kHorizonPs);
  }
  RunLine line(start_ps, delay_ps, port_ps);
  int64_t step = 0;
  for (; step < steps_count; ++step) {
    if (step % kStepsPerLook == 0) {
      if (line.Largest() >= kHorizonPs) return std::vector<int64_t>(start_ps.size(), kHorizonPs);
      if (line.runs_count() * 4 > start_ps.size()) break;
    }
    line.Step();
  }
  const int64_t n = static_cast<int64_t>(start_ps.size());
  if (step < steps_count && steps_count - step > kMaxRingWork / n) return {};
  std::vector<int64_t> now = line.Values(), next(now.size());
  for (; step < steps_count; ++step) {
    if (step % kStepsPerLook == 0 && *std::max_element(now.begin(), now.end()) >= kHorizonPs) {
      return std::vector<int64_t>(start_ps.size(), kHorizonPs);
    }
    DenseStep(delay_ps, port_ps, now, &next);
    now.swap(next);
  }
  for (int64_t& end : now) end = std::min(end, kHorizonPs);
  return now;
}

}  // namespace chakrad
