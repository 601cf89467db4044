// Runs of records in one vector, handed out and taken back by size.
#ifndef CHAKRAD_SIM_COLLECTIVE_SEGMENT_POOL_H_
#define CHAKRAD_SIM_COLLECTIVE_SEGMENT_POOL_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace chakrad {

// Sizes are rounded up to powers of two, so that a run of equal collectives allocates
// once. Taking a new segment may move the records: keep indices, not pointers.
template <typename T>
class SegmentPool {
 public:
  // The first index of `count` >= 1 default records.
  size_t Take(size_t count) {
    std::vector<size_t>& free = free_[SizeClass(count)];
    if (free.empty()) {
      const size_t begin = records_.size();
      records_.resize(begin + std::bit_ceil(count));
      return begin;
    }
    const size_t begin = free.back();
    free.pop_back();
    for (size_t i = begin; i < begin + count; ++i) records_[i] = T{};
    return begin;
  }
  // Gives back what Take(count) answered.
  void GiveBack(size_t begin, size_t count) { free_[SizeClass(count)].push_back(begin); }

  T& operator[](size_t index) { return records_[index]; }
  const T& operator[](size_t index) const { return records_[index]; }
  size_t size() const { return records_.size(); }

 private:
  static int SizeClass(size_t count) { return std::bit_width(count - 1); }

  std::vector<T> records_;
  std::vector<size_t> free_[65];
};

}  // namespace chakrad

#endif  // CHAKRAD_SIM_COLLECTIVE_SEGMENT_POOL_H_
