#include "sim/engine/event_queue.h"

#include <algorithm>

#include "common/check.h"
#include "sim/limits.h"

namespace chakrad {
namespace {

bool Before(const Event& a, const Event& b) {
  return a.at_ps != b.at_ps ? a.at_ps < b.at_ps : a.seq < b.seq;
}

}  // namespace

void EventQueue::Push(int64_t at_ps, EventTag tag) {
  CHECK(at_ps >= now_ps_) << at_ps << " is before " << now_ps_;
  const Event event{std::min(at_ps, kHorizonPs), next_seq_++, tag};
  // Sift up, moving a hole instead of swapping.
  size_t hole = heap_.size();
  heap_.push_back(event);
  while (hole > 0) {
    const size_t parent = (hole - 1) / 2;
    if (!Before(event, heap_[parent])) break;
    heap_[hole] = heap_[parent];
    hole = parent;
  }
  heap_[hole] = event;
}

bool EventQueue::Pop(Event* event) {
  if (heap_.empty()) return false;
  *event = heap_.front();
  now_ps_ = event->at_ps;
  const Event last = heap_.back();
  heap_.pop_back();
  const size_t size = heap_.size();
  if (size == 0) return true;
  size_t hole = 0;
  for (size_t child = 1; child < size; child = 2 * hole + 1) {
    if (child + 1 < size && Before(heap_[child + 1], heap_[child])) ++child;
    if (!Before(heap_[child], last)) break;
    heap_[hole] = heap_[child];
    hole = child;
  }
  heap_[hole] = last;
  return true;
}

}  // namespace chakrad
