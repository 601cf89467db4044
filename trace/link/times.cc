#include "trace/link/times.h"

#include <algorithm>
#include <map>
#include <utility>

#include "trace/link/host_threads.h"

namespace chakrad {
namespace {

struct Interval {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};

// What happens on one thread besides its operations.
struct Marks {
  std::vector<Interval> waits;    // Disjoint, ascending.
  std::vector<int64_t> turns_ns;  // Where the rest goes to the next operation; ascending.
};

std::vector<Interval> Unite(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.begin_ns < b.begin_ns; });
  std::vector<Interval> united;
  for (const Interval& interval : intervals) {
    if (interval.begin_ns >= interval.end_ns) continue;
    if (!united.empty() && interval.begin_ns <= united.back().end_ns) {
      united.back().end_ns = std::max(united.back().end_ns, interval.end_ns);
    } else {
      united.push_back(interval);
    }
  }
  return united;
}

class Sharer {
 public:
  Sharer(const HostThread& thread, const Marks& marks, LinkGraph* graph)
      : thread_(thread), marks_(marks), graph_(*graph) {}

  ThreadTimes Run() {
    times_.queue = thread_.queue;
    int64_t busy_until_ns = graph_.first_start_ns;
    Share(kNone, graph_.first_start_ns, thread_.ops[0], Start(0), busy_until_ns);
    for (size_t i = 0; i < thread_.ops.size(); ++i) {
      const LinkNode& node = graph_.nodes[thread_.ops[i]];
      busy_until_ns = std::max(busy_until_ns, node.end_ns());
      const bool last = i + 1 == thread_.ops.size();
      Share(thread_.ops[i], node.start_ns, last ? kNone : thread_.ops[i + 1],
            last ? busy_until_ns : Start(i + 1), busy_until_ns);
    }
    times_.span_ns = busy_until_ns - graph_.first_start_ns;
    return times_;
  }

 private:
  int64_t Start(size_t i) const { return graph_.nodes[thread_.ops[i]].start_ns; }

  // Time of [begin, end) outside of waits.
  int64_t NotWaiting(int64_t begin_ns, int64_t end_ns) const {
    if (begin_ns >= end_ns) return 0;
    int64_t sum_ns = end_ns - begin_ns;
    for (size_t i = next_wait_; i < marks_.waits.size(); ++i) {
      const Interval& wait = marks_.waits[i];
      if (wait.begin_ns >= end_ns) break;
      sum_ns -=
          std::max<int64_t>(0, std::min(end_ns, wait.end_ns) - std::max(begin_ns, wait.begin_ns));
    }
    return sum_ns;
  }

  // [begin, end) lies between the starts of `op` and `next`; of it, up to
  // `busy_until` some operation runs.
  void Share(uint32_t op, int64_t begin_ns, uint32_t next, int64_t end_ns, int64_t busy_until_ns) {
    while (next_wait_ < marks_.waits.size() && marks_.waits[next_wait_].end_ns <= begin_ns) {
      ++next_wait_;
    }
    while (next_turn_ < marks_.turns_ns.size() && marks_.turns_ns[next_turn_] <= begin_ns) {
      ++next_turn_;
    }
    int64_t turn_ns = end_ns;
    bool turned = false;
    for (; next_turn_ < marks_.turns_ns.size() && marks_.turns_ns[next_turn_] <= end_ns;
         ++next_turn_) {
      turn_ns = marks_.turns_ns[next_turn_];
      turned = true;
    }
    if (next == kNone) turn_ns = end_ns;
    const int64_t busy_end_ns = std::clamp(busy_until_ns, begin_ns, end_ns);
    const int64_t busy_turn_ns = std::min(busy_end_ns, turn_ns);
    const int64_t work_before_ns = NotWaiting(begin_ns, busy_turn_ns);
    const int64_t work_after_ns = NotWaiting(busy_turn_ns, busy_end_ns);
    // Idle before a wait: what it waits for was under way.
    const int64_t gap_begin_ns = turned ? std::max(busy_end_ns, turn_ns) : busy_end_ns;
    const int64_t gap_ns = NotWaiting(gap_begin_ns, end_ns);
    if (op != kNone) graph_.work_ns[op] += work_before_ns;
    if (next != kNone) {
      graph_.work_ns[next] = work_after_ns;
      graph_.gap_ns[next] = gap_ns;
    }
    times_.work_ns += work_before_ns + work_after_ns;
    times_.gap_ns += gap_ns;
    times_.waiting_ns += end_ns - begin_ns - work_before_ns - work_after_ns - gap_ns;
  }

  const HostThread& thread_;
  const Marks& marks_;
  LinkGraph& graph_;
  ThreadTimes times_;
  size_t next_wait_ = 0;
  size_t next_turn_ = 0;
};

std::vector<Marks> FindMarks(const LinkGraph& graph) {
  std::vector<Marks> marks(graph.queues.size());
  for (const HostWait& wait : graph.waits) {
    Marks& mark = marks[graph.nodes[wait.next].queue];
    mark.waits.push_back({wait.begin_ns, wait.end_ns});
    if (wait.end_ns > wait.begin_ns) mark.turns_ns.push_back(wait.end_ns);
  }
  for (const LinkNode& node : graph.nodes) {
    if (node.role != NodeRole::kComm || !node.timed() || node.caller == kNone) continue;
    if (node.batch_end != kNone) continue;
    marks[graph.nodes[node.caller].queue].turns_ns.push_back(node.launch_ns);
  }
  for (Marks& mark : marks) {
    mark.waits = Unite(std::move(mark.waits));
    std::sort(mark.turns_ns.begin(), mark.turns_ns.end());
  }
  return marks;
}

// When a node was done, as the shares above replay it.
int64_t DoneNs(const LinkGraph& graph, uint32_t index) {
  const LinkNode& node = graph.nodes[index];
  if (!node.timed()) return graph.first_start_ns;
  return node.start_ns + std::max<int64_t>(0, graph.work_ns[index]);
}

// Devices and communication workers: their durations; what passes between the
// last of a node's dependencies and its start is its gap.
void SetOtherTimes(LinkGraph* graph) {
  const auto off_thread = [](const LinkNode& node) {
    return node.timed() && (node.role == NodeRole::kDevice || node.role == NodeRole::kComm);
  };
  for (uint32_t i = 0; i < graph->size(); ++i) {
    const LinkNode& node = graph->nodes[i];
    if (node.role == NodeRole::kRoot || node.role == NodeRole::kAnnotation) graph->work_ns[i] = 0;
    if (!off_thread(node)) continue;
    graph->work_ns[i] = node.dur_ns - node.late_ns;
    graph->gap_ns[i] = graph->first_start_ns;  // For now, when its dependencies are done.
  }
  for (const LinkEdge& edge : graph->edges) {
    if (!off_thread(graph->nodes[edge.node])) continue;
    int64_t& ready_ns = graph->gap_ns[edge.node];
    ready_ns = std::max(ready_ns, DoneNs(*graph, edge.dependency));
  }
  for (uint32_t i = 0; i < graph->size(); ++i) {
    const LinkNode& node = graph->nodes[i];
    if (!off_thread(node)) continue;
    graph->gap_ns[i] = std::max<int64_t>(0, node.start_ns - graph->gap_ns[i]);
  }
}

}  // namespace

std::vector<ThreadTimes> ShareOutTimes(LinkGraph* graph) {
  const std::vector<Marks> marks = FindMarks(*graph);
  std::vector<ThreadTimes> times;
  graph->work_ns.assign(graph->size(), kUnknownNs);
  graph->gap_ns.assign(graph->size(), 0);
  for (uint32_t i = 0; i < graph->size(); ++i) {
    const LinkNode& node = graph->nodes[i];
    if (node.role == NodeRole::kHostOp && node.timed()) graph->work_ns[i] = 0;
  }
  for (const HostThread& thread : FindHostThreads(*graph)) {
    times.push_back(Sharer(thread, marks[thread.queue], graph).Run());
  }
  SetOtherTimes(graph);
  return times;
}

}  // namespace chakrad
