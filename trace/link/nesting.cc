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

void Close(const KinetoEvents& events, uint32_t next, std::vector<uint32_t>* open) {
  while (!open->empty()) {
    const int64_t top_end_ns = events.end_ns(open->back());
    if (events.start_ns(next) < top_end_ns || events.end_ns(next) <= top_end_ns) return;
    open->pop_back();
  }
}

}  // namespace

Nesting FindNesting(const KinetoTrace& kineto) {
  Nesting nesting;
  nesting.enclosing.assign(kineto.events.size(), kNone);
  std::vector<OpenEvents> open_of_queue(kineto.queues.size());
  for (uint32_t index = 0; index < kineto.events.size(); ++index) {
    const KinetoEvents& events = kineto.events;
    const KinetoKind kind = events.kind(index);
    const bool op = kind == KinetoKind::kHostOp;
    const bool host = op || kind == KinetoKind::kAnnotation;
    if (!host && kind != KinetoKind::kRuntime) continue;
    if (host && IsAsyncHostComm(kineto.strings.Get(events.name(index)))) continue;
    OpenEvents& open = open_of_queue[events.queue(index)];
    Close(events, index, &open.all);
    Close(events, index, &open.ops);
    const std::vector<uint32_t>& around = host ? open.all : open.ops;
    if (!around.empty()) nesting.enclosing[index] = around.back();
    if (host) open.all.push_back(index);
    if (op) open.ops.push_back(index);
  }
  return nesting;
}

}  // namespace chakrad
