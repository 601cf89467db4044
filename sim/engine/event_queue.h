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
  uint64_t seq;
  EventTag tag;
};

// A binary heap by (at_ps, seq): equal times run in the order pushed. Not
// thread-safe: one queue a run, one thread a queue. Allocates only when more
// events wait than ever before. Push and Pop: O(log size()).
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
  size_t size() const { return heap_.size(); }

 private:
  std::vector<Event> heap_;
  uint64_t next_seq_ = 0;
  int64_t now_ps_ = 0;
};

}  // namespace chakrad

#endif  // CHAKRAD_SIM_ENGINE_EVENT_QUEUE_H_
