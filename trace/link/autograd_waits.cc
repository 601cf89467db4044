#include <algorithm>

#include "absl/strings/match.h"
#include "trace/link/host_threads.h"
#include "trace/link/waits.h"

namespace chakrad {
namespace {

// Between two operations of a run of backward the engine takes a few us.
constexpr int64_t kMinPauseNs = 20'000;

bool IsAutograd(const LinkNode& node) {
  return absl::StartsWith(node.name, "autograd::engine::evaluate_function");
}

class AutogradWaiter {
 public:
  explicit AutogradWaiter(LinkGraph* graph) : graph_(*graph), threads_(FindHostThreads(*graph)) {}

  void Run() {
    // The calling thread is the one that does most besides backward. (Without a
    // device, autograd runs on the calling thread, and nothing is left to do.)
    size_t most = 0;
    for (const HostThread& thread : threads_) {
      size_t other_count = 0, autograd_count = 0;
      for (size_t i = 0; i < thread.ops.size(); ++i) {
        const LinkNode& node = graph_.nodes[thread.ops[i]];
        if (i > 0 && node.start_ns < thread.busy_until_ns[i]) continue;  // Nested.
        (IsAutograd(node) ? autograd_count : other_count) += 1;
      }
      if (autograd_count > 0) autograd_.push_back(&thread);
      if (other_count > most) calling_ = &thread, most = other_count;
    }
    if (calling_ == nullptr) return;
    for (const HostThread* thread : autograd_) {
      if (thread != calling_) Link(*thread);
    }
  }

 private:
  const LinkNode& Node(uint32_t index) const { return graph_.nodes[index]; }

  void Add(uint32_t next, uint32_t awaited, int64_t begin_ns, int64_t end_ns) {
    graph_.AddEdge(next, awaited, EdgeKind::kSync);
    graph_.waits.push_back({next, awaited, begin_ns, std::max(begin_ns, end_ns)});
  }

  void Link(const HostThread& thread) {
    size_t run_begin = 0;  // First operation of a run without pauses that others explain.
    for (size_t i = 0; i < thread.ops.size(); ++i) {
      const LinkNode& node = Node(thread.ops[i]);
      const int64_t pause_ns = node.start_ns - thread.busy_until_ns[i];
      if (i > 0 && pause_ns < kMinPauseNs) continue;
      const int64_t since_ns = i == 0 ? graph_.first_start_ns : thread.busy_until_ns[i];
      // What the calling thread did in the pause: nothing means that it had
      // nothing to do with it.
      const size_t at = calling_->FirstAt(graph_, node.start_ns);
      if (at == 0 || Node(calling_->ops[at - 1]).start_ns < since_ns) continue;
      if (i > 0) Return(thread, run_begin, i - 1);
      run_begin = i;
      Start(thread.ops[i], at, since_ns);
    }
    Return(thread, run_begin, thread.ops.size() - 1);
  }

  // The run that begins with `first` waits for the operation that the calling
  // thread had come to: the last before calling_->ops[at] that does not go on.
  void Start(uint32_t first, size_t at, int64_t since_ns) {
    const int64_t start_ns = Node(first).start_ns;
    while (at > 0 && Node(calling_->ops[at - 1]).end_ns() > start_ns) --at;
    if (at == 0) return;
    const uint32_t caller = calling_->ops[at - 1];
    Add(first, caller, since_ns, Node(caller).end_ns());
  }

  // The calling thread goes on after the run ops[begin..last] of `thread`, if
  // the whole run lies in one of its pauses.
  void Return(const HostThread& thread, size_t begin, size_t last) {
    const uint32_t last_op = thread.ops[last];
    const int64_t end_ns = last + 1 < thread.ops.size()
                               ? thread.busy_until_ns[last + 1]
                               : std::max(thread.busy_until_ns[last], Node(last_op).end_ns());
    const int64_t begin_ns = Node(thread.ops[begin]).start_ns;
    const size_t at = calling_->FirstAt(graph_, end_ns);
    if (at == calling_->ops.size() || calling_->busy_until_ns[at] > begin_ns) return;
    if (at > 0 && Node(calling_->ops[at - 1]).start_ns > begin_ns) return;
    Add(calling_->ops[at], last_op, begin_ns, end_ns);
  }

  LinkGraph& graph_;
  const std::vector<HostThread> threads_;
  std::vector<const HostThread*> autograd_;
  const HostThread* calling_ = nullptr;
};

}  // namespace

void AddAutogradWaits(LinkGraph* graph) { AutogradWaiter(graph).Run(); }

}  // namespace chakrad
