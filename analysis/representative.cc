#include "analysis/representative.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include "common/check.h"

namespace chakrad {
namespace {

constexpr size_t kNoMedoid = static_cast<size_t>(-1);
constexpr int kSamplesCount = 5;
// Sums of distances differ by rounding when they are added in another order; an exchange
// must win more than that, or two could follow each other for ever.
constexpr double kMinGain = 1e-9;

// All distances of a few points.
class Distances {
 public:
  explicit Distances(const std::vector<TraceBreakdown>& points) : size_(points.size()) {
    values_.resize(size_ * size_);
    for (size_t i = 0; i < size_; ++i) {
      for (size_t j = 0; j < i; ++j) {
        values_[i * size_ + j] = values_[j * size_ + i] = BreakdownDistance(points[i], points[j]);
      }
    }
  }
  size_t size() const { return size_; }
  double operator()(size_t a, size_t b) const { return values_[a * size_ + b]; }

 private:
  size_t size_;
  std::vector<double> values_;
};

class Pam {
 public:
  Pam(const Distances& distances, size_t k)
      : distances_(distances), k_(k), is_medoid_(distances.size(), false) {}

  std::vector<size_t> Choose() {
    Build();
    while (SwapOnce()) {
    }
    std::sort(medoids_.begin(), medoids_.end());
    return medoids_;
  }

 private:
  void Build() {
    std::vector<double> nearest(distances_.size(), std::numeric_limits<double>::max());
    while (medoids_.size() < k_) {
      size_t best = kNoMedoid;
      double best_cost = 0;
      for (size_t candidate = 0; candidate < distances_.size(); ++candidate) {
        if (is_medoid_[candidate]) continue;
        double cost = 0;
        for (size_t i = 0; i < distances_.size(); ++i) {
          cost += std::min(nearest[i], distances_(candidate, i));
        }
        if (best != kNoMedoid && cost >= best_cost) continue;
        best = candidate;
        best_cost = cost;
      }
      medoids_.push_back(best);
      is_medoid_[best] = true;
      for (size_t i = 0; i < distances_.size(); ++i) {
        nearest[i] = std::min(nearest[i], distances_(best, i));
      }
    }
  }

  struct Nearest {
    size_t medoid = 0;  // Position in medoids_.
    double distance = std::numeric_limits<double>::max();
    double second = std::numeric_limits<double>::max();
  };

  std::vector<Nearest> FindNearest() const {
    std::vector<Nearest> nearest(distances_.size());
    for (size_t i = 0; i < distances_.size(); ++i) {
      for (size_t m = 0; m < medoids_.size(); ++m) {
        const double distance = distances_(medoids_[m], i);
        if (distance < nearest[i].distance) {
          nearest[i].second = nearest[i].distance;
          nearest[i].distance = distance;
          nearest[i].medoid = m;
        } else {
          nearest[i].second = std::min(nearest[i].second, distance);
        }
      }
    }
    return nearest;
  }

  // Makes the exchange that lowers the cost most; false when none does. For a candidate,
  // what each medoid's removal would cost is summed in one pass over the points.
  bool SwapOnce() {
    const std::vector<Nearest> nearest = FindNearest();
    double best_change = -kMinGain;
    size_t best_candidate = kNoMedoid, best_medoid = 0;
    std::vector<double> change(k_);
    for (size_t candidate = 0; candidate < distances_.size(); ++candidate) {
      if (is_medoid_[candidate]) continue;
      std::fill(change.begin(), change.end(), 0.0);
      double change_for_all = 0;  // Points that come nearer whichever medoid goes.
      for (size_t i = 0; i < distances_.size(); ++i) {
        const double distance = distances_(candidate, i);
        const Nearest& now = nearest[i];
        if (distance < now.distance) {
          change_for_all += distance - now.distance;
        } else {
          change[now.medoid] += std::min(distance, now.second) - now.distance;
        }
      }
      for (size_t m = 0; m < k_; ++m) {
        if (change_for_all + change[m] >= best_change) continue;
        best_change = change_for_all + change[m];
        best_candidate = candidate;
        best_medoid = m;
      }
    }
    if (best_candidate == kNoMedoid) return false;
    is_medoid_[medoids_[best_medoid]] = false;
    is_medoid_[best_candidate] = true;
    medoids_[best_medoid] = best_candidate;
    return true;
  }

  const Distances& distances_;
  const size_t k_;
  std::vector<bool> is_medoid_;
  std::vector<size_t> medoids_;
};

// kMaxPamPoints indices of [0, count), ascending, `always` among them.
std::vector<size_t> Sample(size_t count, const std::vector<size_t>& always,
                           std::mt19937_64* random) {
  std::vector<bool> taken(count, false);
  size_t taken_count = 0;
  for (const size_t index : always) taken[index] = true;
  taken_count = always.size();
  while (taken_count < kMaxPamPoints) {
    // Not uniform_int_distribution: libraries differ in what it makes of the sequence.
    const size_t index = static_cast<size_t>((*random)() % count);
    if (taken[index]) continue;
    taken[index] = true;
    ++taken_count;
  }
  std::vector<size_t> sample;
  for (size_t i = 0; i < count; ++i) {
    if (taken[i]) sample.push_back(i);
  }
  return sample;
}

}  // namespace

double BreakdownDistance(const TraceBreakdown& a, const TraceBreakdown& b) {
  const std::array<double, 6> differences{a.compute_ratio - b.compute_ratio,
                                          a.comm_ratio - b.comm_ratio,
                                          a.exposed_comm_ratio - b.exposed_comm_ratio,
                                          a.exposed_memory_ratio - b.exposed_memory_ratio,
                                          a.idle_ratio - b.idle_ratio,
                                          a.worst_exposed_comm_ratio - b.worst_exposed_comm_ratio};
  double sum = 0;
  for (const double difference : differences) sum += difference * difference;
  return std::sqrt(sum);
}

double RepresentationCost(const std::vector<TraceBreakdown>& points,
                          const std::vector<size_t>& medoids) {
  double cost = 0;
  for (const TraceBreakdown& point : points) {
    double nearest = std::numeric_limits<double>::max();
    for (const size_t medoid : medoids) {
      nearest = std::min(nearest, BreakdownDistance(point, points[medoid]));
    }
    cost += nearest;
  }
  return cost;
}

std::vector<size_t> ChooseRepresentatives(const std::vector<TraceBreakdown>& points, size_t k) {
  CHECK(k <= kMaxRepresentatives) << k;
  if (k == 0) return {};
  if (points.size() <= k) {
    std::vector<size_t> all(points.size());
    std::iota(all.begin(), all.end(), size_t{0});
    return all;
  }
  if (points.size() <= kMaxPamPoints) return Pam(Distances(points), k).Choose();
  std::mt19937_64 random(k);
  std::vector<size_t> best;
  double best_cost = 0;
  for (int round = 0; round < kSamplesCount; ++round) {
    const std::vector<size_t> sample = Sample(points.size(), best, &random);
    std::vector<TraceBreakdown> sampled;
    for (const size_t index : sample) sampled.push_back(points[index]);
    std::vector<size_t> medoids = Pam(Distances(sampled), k).Choose();
    for (size_t& medoid : medoids) medoid = sample[medoid];
    const double cost = RepresentationCost(points, medoids);
    if (!best.empty() && cost >= best_cost) continue;
    best = std::move(medoids);
    best_cost = cost;
  }
  return best;
}

}  // namespace chakrad
