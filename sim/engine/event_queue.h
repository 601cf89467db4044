// The events of one run, in order of simulated time.
#ifndef CHAKRAD_SIM_ENGINE_EVENT_QUEUE_H_
#define CHAKRAD_SIM_ENGINE_EVENT_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace chakrad {

// What happens, apart from when. `kind` is an EventKind (event_kind.h), which
// says what `arg` and `target` mean. Plain data.
struct EventTag {
  uint32_t kind : 8;
  uint32_t arg : 24;
  uint32_t target;
};
inline constexpr uint32_t kMaxEventArg = (1u << 24) - 1;

struct Event {
  int64_t at_ps;
  EventTag tag;
};

// Equal times run in the order pushed. Not thread-safe: one queue a run, one thread a queue.
//
// A radix heap, which may be one because time never runs back. Times are numbers of 16 digits of
// 4 bits. An event waits in the bucket (level, digit): the highest digit in which its time differs
// from now, and what that digit is. So the next event is in the lowest bucket of the lowest level
// that has any; at level 0 all events of a bucket have one time. When the next event is higher up,
// its bucket is dealt out again, as seen from that event's time, to lower levels: at most 15 times
// for an event, about log16 of the events that wait. Buckets are queues and are dealt out in order,
// and equal times are always in one bucket, so equal times stay in the order pushed.
//
// Push and Pop: O(1) and what dealing out costs. Memory: 17 bytes an event that waits and at most a
// block of 256 a bucket that holds any; allocates only when that is more than ever before.
class EventQueue {
 public:
  EventQueue() = default;
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  // CHECKs at_ps >= now_ps(). Times past kHorizonPs (sim/limits.h) are cut to it.
  void Push(int64_t at_ps, EventTag tag);
  // Takes the next event and moves now_ps() to it. False when nothing is left.
  bool Pop(Event* event);

  int64_t now_ps() const { return now_ps_; }
  size_t size() const { return size_; }

 private:
  static constexpr int kDigitBits = 4;
  static constexpr int kDigitsCount = 1 << kDigitBits;
  static constexpr int kLevelsCount = 64 / kDigitBits;
  static constexpr uint32_t kBlockEvents = 15;
  static constexpr uint32_t kNone = UINT32_MAX;

  struct alignas(64) Block {
    Event events[kBlockEvents];
    uint32_t next;
  };
  // A queue of events in blocks.
  struct Bucket {
    int64_t min_ps = INT64_MAX;
    uint32_t first = kNone;
    uint32_t last = kNone;
    uint32_t begin = 0;           // Of its events in `first`,
    uint32_t end = kBlockEvents;  // and their end in `last`.
  };

  uint32_t BucketOf(int64_t at_ps) const;
  void Append(const Event& event);
  void AddBlock(uint32_t bucket);
  void DealOut(uint32_t bucket, Event* first);
  void ClearBucket(uint32_t bucket);
  void FreeBlock(uint32_t block);

  Bucket buckets_[kLevelsCount * kDigitsCount];  // By level, then digit.
  uint32_t levels_ = 0;                          // A bit a level: it has events.
  uint32_t digits_[kLevelsCount] = {};           // A bit a bucket.
  std::vector<Block> blocks_;
  uint32_t free_ = kNone;  // The first of the free blocks.
  size_t size_ = 0;
  int64_t now_ps_ = 0;
};

}  // namespace chakrad

#endif  // CHAKRAD_SIM_ENGINE_EVENT_QUEUE_H_
