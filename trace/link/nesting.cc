#include "trace/link/nesting.h"

#include "trace/link/comm_kernels.h"
#include "trace/readers/kineto/kineto.h"

namespace chakrad {
namespace {

// Events of one thread that are still open, outermost first.
struct OpenEvents {
  std::vector<uint32_t> all;
  std::vector<uint32_t> ops;  // Without annotations.
};

void Close(const KinetoTrace& kineto, const KinetoEvent& next, std::vector<uint32_t>* open) {
  while (!open->empty()) {
    const KinetoEvent& top = kineto.events[open->back()];
    const int64_t top_end_ns = top.start_ns + top.dur_ns;
    if (next.start_ns < top_end_ns || next.start_ns + next.dur_ns <= top_end_ns) return;
    open->pop_back();
  }
}

}  // namespace

Nesting FindNesting(const KinetoTrace& kineto) {
  Nesting nesting;
  nesting.enclosing.assign(kineto.events.size(), kNone);
  std::vector<OpenEvents> open_of_queue(kineto.queues.size());
  for (uint32_t index = 0; index < kineto.events.size(); ++index) {
    const KinetoEvent& event = kineto.events[index];
    const bool op = event.kind == KinetoKind::kHostOp;
    const bool host = op || event.kind == KinetoKind::kAnnotation;
    if (!host && event.kind != KinetoKind::kRuntime) continue;
    if (host && IsAsyncHostComm(kineto.strings.Get(event.name))) continue;
    OpenEvents& open = open_of_queue[event.queue];
    Close(kineto, event, &open.all);
    Close(kineto, event, &open.ops);
    const std::vector<uint32_t>& around = host ? open.all : open.ops;
    if (!around.empty()) nesting.enclosing[index] = around.back();
    if (host) open.all.push_back(index);
    if (op) open.ops.push_back(index);
  }
  return nesting;
}

}  // namespace chakrad
