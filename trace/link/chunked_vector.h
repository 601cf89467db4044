// A vector for what a rank has millions of: it grows without moving, and gives
// memory back from the front while it is being used up.
#ifndef CHAKRAD_TRACE_LINK_CHUNKED_VECTOR_H_
#define CHAKRAD_TRACE_LINK_CHUNKED_VECTOR_H_

#include <sys/mman.h>

#include <cstddef>
#include <iterator>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/check.h"

namespace chakrad {

// Elements are plain data. Chunks come from the system and go back to it, so
// that freed ones do not stay with the allocator. Not thread-safe.
template <typename T>
class ChunkedVector {
  static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_copyable_v<T>);

  template <typename Vector, typename Value>
  class Iterator {
   public:
    using value_type = T;
    using difference_type = ptrdiff_t;
    using pointer = Value*;
    using reference = Value&;
    using iterator_category = std::bidirectional_iterator_tag;

    Iterator(Vector* vector, size_t i) : vector_(vector), i_(i) {}
    Value& operator*() const { return (*vector_)[i_]; }
    Value* operator->() const { return &(*vector_)[i_]; }
    Iterator& operator++() {
      ++i_;
      return *this;
    }
    Iterator& operator--() {
      --i_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return i_ == other.i_; }

   private:
    Vector* vector_;
    size_t i_;
  };

 public:
  using value_type = T;
  using iterator = Iterator<ChunkedVector, T>;
  using const_iterator = Iterator<const ChunkedVector, const T>;

  ChunkedVector() = default;
  ChunkedVector(ChunkedVector&& other) noexcept { *this = std::move(other); }
  ChunkedVector& operator=(ChunkedVector&& other) noexcept {
    std::swap(chunks_, other.chunks_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~ChunkedVector() { clear(); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](size_t i) { return chunks_[i / kChunkSize][i % kChunkSize]; }
  const T& operator[](size_t i) const { return chunks_[i / kChunkSize][i % kChunkSize]; }
  T& back() { return (*this)[size_ - 1]; }

  void push_back(const T& value) {
    const T copy = value;  // It may lie in here.
    if (size_ == chunks_.size() * kChunkSize) AddChunk();
    ::new (&(*this)[size_]) T(copy);
    ++size_;
  }
  void resize(size_t size) {
    while (size_ < size) push_back(T());
    size_ = size;
  }
  // Gives back what lies wholly before element `i`, which may not be used again.
  void FreeBefore(size_t i) {
    for (size_t chunk = i / kChunkSize; chunk > 0 && chunks_[chunk - 1] != nullptr; --chunk) {
      Free(&chunks_[chunk - 1]);
    }
  }
  void clear() {
    for (T*& chunk : chunks_) Free(&chunk);
    chunks_.clear();
    size_ = 0;
  }

  iterator begin() { return {this, 0}; }
  iterator end() { return {this, size_}; }
  const_iterator begin() const { return {this, 0}; }
  const_iterator end() const { return {this, size_}; }
  std::reverse_iterator<iterator> rbegin() { return std::reverse_iterator<iterator>(end()); }
  std::reverse_iterator<iterator> rend() { return std::reverse_iterator<iterator>(begin()); }

 private:
  static constexpr size_t kChunkSize = size_t{1} << 14;
  static constexpr size_t kChunkBytes = kChunkSize * sizeof(T);

  void AddChunk() {
    void* const chunk =
        mmap(nullptr, kChunkBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(chunk != MAP_FAILED) << "no memory";
    chunks_.push_back(static_cast<T*>(chunk));
  }
  static void Free(T** chunk) {
    if (*chunk != nullptr) munmap(*chunk, kChunkBytes);
    *chunk = nullptr;
  }

  std::vector<T*> chunks_;
  size_t size_ = 0;
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_LINK_CHUNKED_VECTOR_H_
