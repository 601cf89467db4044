#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/saturating.h"
#include "trace/check/check_rank.h"

namespace chakrad {
namespace {

int64_t EndNs(const RankTrace& rank, uint32_t node) {
  return SaturatingAdd(rank.start_ns[node], rank.dur_ns[node]);
}

bool HasInterval(const RankTrace& rank, uint32_t node) {
  return rank.start_ns[node] >= 0 && rank.dur_ns[node] >= 0;
}

void CheckSigns(const RankTrace& rank, FindingList* findings) {
  for (uint32_t node = 0; node < rank.size(); ++node) {
    if (rank.start_ns[node] >= kUnknownNs && rank.dur_ns[node] >= kUnknownNs &&
        rank.work_ns[node] >= kUnknownNs) {
      continue;
    }
    findings->Add("negative_time", rank, node, [&] {
      return absl::StrCat(NodeText(rank, node), ": start ", rank.start_ns[node], " ns, duration ",
                          rank.dur_ns[node], " ns, work ", rank.work_ns[node], " ns");
    });
  }
  for (size_t i = 0; i < rank.gap_node.size(); ++i) {
    if (rank.gap_ns[i] >= 0) continue;
    findings->Add("negative_time", rank, rank.gap_node[i], [&] {
      return absl::StrCat(NodeText(rank, rank.gap_node[i]), ": gap ", rank.gap_ns[i], " ns");
    });
  }
}

// Overlaps and order on queues. Intervals of one queue by start, the longer first: the open ones
// then lie on a stack.
class QueueCheck {
 public:
  QueueCheck(const RankTrace& rank, FindingList* findings) : rank_(rank), findings_(findings) {}

  void Run() {
    std::vector<std::vector<uint32_t>> by_queue(rank_.queues.size());
    for (uint32_t node = 0; node < rank_.size(); ++node) {
      // Communication on a thread is asynchronous: it goes on when the call returns.
      const bool beside = IsComm(rank_.type[node]) && !IsDeviceOp(rank_, node);
      if (IsWork(rank_, node) && HasInterval(rank_, node) && !beside) {
        by_queue[rank_.queue[node]].push_back(node);
      }
    }
    const auto before = [&](uint32_t a, uint32_t b) {
      if (rank_.start_ns[a] != rank_.start_ns[b]) return rank_.start_ns[a] < rank_.start_ns[b];
      if (rank_.dur_ns[a] != rank_.dur_ns[b]) return rank_.dur_ns[a] > rank_.dur_ns[b];
      return a < b;
    };
    for (size_t queue = 0; queue < by_queue.size(); ++queue) {
      std::vector<uint32_t>& nodes = by_queue[queue];
      if (!std::is_sorted(nodes.begin(), nodes.end(), before)) {
        std::sort(nodes.begin(), nodes.end(), before);
      }
      if (rank_.queues[queue].kind == Queue::Kind::kDeviceStream) {
        CheckStream(nodes);
        CheckOrder(nodes);
      } else {
        CheckThread(nodes);
      }
    }
  }

 private:
  void CheckStream(const std::vector<uint32_t>& nodes) {
    uint32_t last = kNone;  // Of those that started: the one that ends last.
    for (const uint32_t node : nodes) {
      if (last == kNone) last = node;
      if (last == node) continue;
      const int64_t overlap_ns =
          std::min(EndNs(rank_, last), EndNs(rank_, node)) - rank_.start_ns[node];
      if (overlap_ns > kTimeToleranceNs) Report("stream_overlap", node, last, overlap_ns);
      if (EndNs(rank_, node) > EndNs(rank_, last)) last = node;
    }
  }

  // Chakra's converter leaves kernels without an order: one finding a stream.
  void CheckOrder(const std::vector<uint32_t>& nodes) {
    int64_t unordered = 0;
    uint32_t first = kNone;
    for (size_t i = 1; i < nodes.size(); ++i) {
      if (WaitsForDevice(nodes[i])) continue;
      if (unordered++ == 0) first = nodes[i];
    }
    if (unordered == 0) return;
    findings_->Add("unordered_stream", rank_, first, [&] {
      return absl::StrCat(
          unordered, " of ", CountText(static_cast<int64_t>(nodes.size()), "operation"),
          " on stream ", rank_.queues[rank_.queue[first]].raw_id,
          " wait for no device operation, the first of them ", NodeText(rank_, first));
    });
  }

  bool WaitsForDevice(uint32_t node) const {
    for (uint32_t j = rank_.dep_begin[node]; j < rank_.dep_begin[node + 1]; ++j) {
      if (IsDeviceOp(rank_, rank_.dep_node[j])) return true;
    }
    return false;
  }

  void CheckThread(const std::vector<uint32_t>& nodes) {
    std::vector<uint32_t> open;
    for (const uint32_t node : nodes) {
      while (!open.empty() && EndNs(rank_, open.back()) <= rank_.start_ns[node]) open.pop_back();
      if (!open.empty()) {
        const int64_t outer_end_ns = EndNs(rank_, open.back());
        const int64_t overlap_ns = outer_end_ns - rank_.start_ns[node];
        const int64_t beyond_ns = EndNs(rank_, node) - outer_end_ns;
        if (std::min(overlap_ns, beyond_ns) > kTimeToleranceNs) {
          Report("thread_overlap", node, open.back(), overlap_ns);
        }
      }
      open.push_back(node);
    }
  }

  void Report(absl::string_view rule, uint32_t node, uint32_t other, int64_t overlap_ns) {
    const Queue& queue = rank_.queues[rank_.queue[node]];
    findings_->Add(rule, rank_, node, [&] {
      return absl::StrCat(NodeText(rank_, node), " overlaps ", NodeText(rank_, other), " by ",
                          overlap_ns, " ns on ",
                          queue.kind == Queue::Kind::kDeviceStream ? "stream " : "thread ",
                          queue.raw_id);
    });
  }

  const RankTrace& rank_;
  FindingList* findings_;
};

// When the node's work was done: recorders note the end of communication late, when the thread
// that ran it wakes up; work_ns is without that.
int64_t DoneNs(const RankTrace& rank, uint32_t node) {
  const bool late = IsComm(rank.type[node]) && rank.work_ns[node] >= 0;
  return SaturatingAdd(rank.start_ns[node],
                       late ? std::min(rank.work_ns[node], rank.dur_ns[node]) : rank.dur_ns[node]);
}

// The earliest time that a dependency of this kind leaves to a node's start or end.
struct Bound {
  bool on_end = false;    // Bounds the node's end, else its start.
  bool from_end = false;  // By the dependency's end, else its start.
};

Bound BoundOf(const RankTrace& rank, uint32_t dependency, EdgeKind kind) {
  switch (kind) {
    case EdgeKind::kControl:      // A call runs inside its caller.
    case EdgeKind::kThreadOrder:  // The operation before may hold this one.
    case EdgeKind::kLaunch:       // The launching call may still run.
    case EdgeKind::kStreamOrder:  // Overlaps on a stream are a rule of their own.
      return {false, false};
    case EdgeKind::kSync:  // The operation that waited was running all the while.
      return {true, true};
    case EdgeKind::kData:  // Converters write callers of host operations as data, too.
      return {false, !rank.is_host(dependency)};
    case EdgeKind::kForwardBackward:
      return {false, true};
  }
  return {};
}

void CheckAgainstDependencies(const RankTrace& rank, FindingList* findings) {
  for (uint32_t node = 0; node < rank.size(); ++node) {
    if (!HasInterval(rank, node)) continue;
    for (uint32_t j = rank.dep_begin[node]; j < rank.dep_begin[node + 1]; ++j) {
      const uint32_t dependency = rank.dep_node[j];
      if (!HasInterval(rank, dependency)) continue;
      const Bound bound = BoundOf(rank, dependency, rank.dep_kind[j]);
      const int64_t at_ns = bound.on_end ? EndNs(rank, node) : rank.start_ns[node];
      const int64_t bound_ns =
          bound.from_end ? DoneNs(rank, dependency) : rank.start_ns[dependency];
      if (bound_ns - at_ns <= kTimeToleranceNs) continue;
      findings->Add("starts_before_dependency", rank, node, [&] {
        return absl::StrCat(NodeText(rank, node), bound.on_end ? " ends " : " starts ",
                            bound_ns - at_ns, " ns before the ", bound.from_end ? "end" : "start",
                            " of its ", EdgeKindName(rank.dep_kind[j]), " dependency, ",
                            NodeText(rank, dependency));
      });
      break;  // One finding a node.
    }
  }
}

}  // namespace

void CheckTimes(const RankTrace& rank, FindingList* findings) {
  CheckSigns(rank, findings);
  QueueCheck(rank, findings).Run();
  CheckAgainstDependencies(rank, findings);
}

}  // namespace chakrad
