#include "sim/engine/event_queue.h"

#include <algorithm>
#include <bit>

#include "common/check.h"
#include "sim/limits.h"

namespace chakrad {

inline uint32_t EventQueue::BucketOf(int64_t at_ps) const {
  const uint64_t differs = static_cast<uint64_t>(at_ps ^ now_ps_) | 1;
  const uint32_t shift = (63 - std::countl_zero(differs)) & ~(kDigitBits - 1);
  const uint32_t digit = static_cast<uint64_t>(at_ps) >> shift & (kDigitsCount - 1);
  return shift * (kDigitsCount / kDigitBits) + digit;
}

void EventQueue::AddBlock(uint32_t number) {
  uint32_t block = free_;
  if (block == kNone) {
    block = static_cast<uint32_t>(blocks_.size());
    blocks_.emplace_back();
  } else {
    free_ = blocks_[block].next;
  }
  Bucket& bucket = buckets_[number];
  if (bucket.first == kNone) {
    bucket.first = block;
    digits_[number / kDigitsCount] |= 1u << (number % kDigitsCount);
    levels_ |= 1u << (number / kDigitsCount);
  } else {
    blocks_[bucket.last].next = block;
  }
  bucket.last = block;
  bucket.end = 0;
}

inline void EventQueue::Append(const Event& event) {
  const uint32_t number = BucketOf(event.at_ps);
  Bucket& bucket = buckets_[number];
  if (bucket.end == kBlockEvents) AddBlock(number);
  if (event.at_ps < bucket.min_ps) bucket.min_ps = event.at_ps;
  blocks_[bucket.last].events[bucket.end++] = event;
}

void EventQueue::Push(int64_t at_ps, EventTag tag) {
  CHECK(at_ps >= now_ps_) << at_ps << " is before " << now_ps_;
  ++size_;
  Append({std::min(at_ps, kHorizonPs), tag});
}

// Moves now to the bucket's first time, takes the first event of that time, and deals the others
// out to where they belong as seen from there.
void EventQueue::DealOut(uint32_t number, Event* first) {
  const Bucket bucket = buckets_[number];
  ClearBucket(number);
  now_ps_ = bucket.min_ps;
  if (bucket.first == bucket.last && bucket.end == bucket.begin + 1) {
    *first = blocks_[bucket.first].events[bucket.begin];
    return FreeBlock(bucket.first);
  }
  bool taken = false;
  uint32_t begin = bucket.begin;
  for (uint32_t block = bucket.first;;) {
    const uint32_t end = block == bucket.last ? bucket.end : kBlockEvents;
    for (uint32_t i = begin; i < end; ++i) {
      const Event event = blocks_[block].events[i];
      if (!taken && event.at_ps == now_ps_) {
        taken = true;
        *first = event;
        continue;
      }
      Append(event);
    }
    const uint32_t next = blocks_[block].next;
    FreeBlock(block);
    if (block == bucket.last) return;
    block = next;
    begin = 0;
  }
}

void EventQueue::ClearBucket(uint32_t number) {
  buckets_[number] = Bucket();
  uint32_t& digits = digits_[number / kDigitsCount];
  digits &= ~(1u << (number % kDigitsCount));
  if (digits == 0) levels_ &= ~(1u << (number / kDigitsCount));
}

void EventQueue::FreeBlock(uint32_t block) {
  blocks_[block].next = free_;
  free_ = block;
}

bool EventQueue::Pop(Event* event) {
  if (size_ == 0) return false;
  --size_;
  // Some level has events; the mask tells the compiler that it is one.
  const uint32_t level = static_cast<uint32_t>(std::countr_zero(levels_)) % kLevelsCount;
  const uint32_t number =
      level * kDigitsCount + static_cast<uint32_t>(std::countr_zero(digits_[level]));
  if (level > 0) {
    DealOut(number, event);
    return true;
  }
  Bucket& bucket = buckets_[number];
  const uint32_t block = bucket.first;
  *event = blocks_[block].events[bucket.begin++];
  now_ps_ = event->at_ps;
  if (block == bucket.last) {
    if (bucket.begin != bucket.end) return true;
    ClearBucket(number);
  } else {
    if (bucket.begin < kBlockEvents) return true;
    bucket.first = blocks_[block].next;
    bucket.begin = 0;
  }
  FreeBlock(block);
  return true;
}

}  // namespace chakrad
