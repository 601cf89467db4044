// What the steps of linking share: the nodes of one rank and their edges, before
// they become a RankTrace. Inside trace/link only.
#ifndef CHAKRAD_TRACE_LINK_LINK_GRAPH_H_
#define CHAKRAD_TRACE_LINK_LINK_GRAPH_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/link/chunked_vector.h"
#include "trace/model/ledger.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

class KernelNames;
struct CommArgs;
struct KinetoTrace;
struct Manifest;
struct PyTorchEt;

enum class NodeRole : uint8_t {
  kRoot = 0,        // The execution trace's process and thread nodes.
  kAnnotation = 1,  // A user's mark.
  kHostOp = 2,
  kComm = 3,    // Communication that no device operation stands for: gloo:*, or recorded
                // by the host alone. Not on the thread that called it.
  kDevice = 4,  // Kernel, copy, fill; a communication kernel is one too.
};

// Index order is the order of the result: the execution trace's operations by
// id, host events that only Kineto has by start, device operations by start.
struct LinkNode {
  uint64_t id = 0;
  absl::string_view name;
  const CommArgs* args = nullptr;
  uint32_t queue = kNone;         // Index into LinkGraph::queues.
  uint32_t et_op = kNone;         // Index into PyTorchEt::ops.
  uint32_t event = kNone;         // Index into KinetoTrace::events.
  uint32_t parent = kNone;        // Host operations: the call they run in.
  uint32_t caller = kNone;        // Device operations and communication: the host operation whose
                                  // call started them.
  uint32_t launch_event = kNone;  // Device operations: the runtime call, a Kineto event.
  uint32_t batch_end = kNone;  // Of a send or receive that was batched into a kernel, and of that
                               // kernel: its node, which is their common end.
  uint32_t comm = kNone;       // Communication nodes: index into LinkGraph::comm.
  uint32_t late_ns = 0;  // How long after its real end the recorder noted it; at most kMaxLateNs.
  NodeRole role = NodeRole::kHostOp;
  NodeType type = NodeType::kComp;
  int64_t start_ns = kUnknownNs;
  int64_t dur_ns = kUnknownNs;
  int64_t launch_ns = kUnknownNs;  // Device operations, communication: when the call was made.
  int64_t order_ns = 0;            // start_ns; of a node without times, that of the one before it.

  bool timed() const { return start_ns != kUnknownNs; }
  int64_t end_ns() const { return start_ns + dur_ns; }
  int64_t done_ns() const { return end_ns() - late_ns; }
};

struct LinkEdge {
  uint32_t node;
  uint32_t dependency;
  EdgeKind kind;
};

// A call of the host into the device's runtime.
struct RuntimeCall {
  uint32_t event = kNone;      // Index into KinetoTrace::events.
  uint32_t enclosing = kNone;  // Innermost host operation around it: a node.
  uint32_t queue = kNone;      // Its thread.
};

// Time in which a host thread did nothing but wait for `awaited`, up to its end;
// `next` is the thread's first host operation afterwards.
struct HostWait {
  uint32_t next = kNone;
  uint32_t awaited = kNone;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;  // begin_ns for a wait that took no time.
};

struct LinkGraph {
  const PyTorchEt* et = nullptr;
  const KinetoTrace* kineto = nullptr;
  const Manifest* manifest = nullptr;
  const KernelNames* kernel_names = nullptr;  // Null: the built-in table alone.

  ChunkedVector<LinkNode> nodes;
  std::vector<Queue> queues;
  std::map<std::tuple<Queue::Kind, int32_t, int64_t>, uint32_t> queue_index;
  // Of each queue, its nodes in the order they started (roots first).
  std::vector<std::vector<uint32_t>> in_order;
  std::vector<RuntimeCall> calls;       // By start.
  std::vector<uint32_t> node_of_event;  // Of each Kineto event; kNone.
  std::vector<HostWait> waits;
  ChunkedVector<LinkEdge> edges;
  std::vector<CommOp> comm;
  std::vector<ProcessGroup> groups;
  int64_t first_start_ns = kUnknownNs;  // Of any node.
  // Of each node, from ShareOutTimes on: see RankTrace.
  std::vector<int64_t> work_ns;
  std::vector<int64_t> gap_ns;
  std::vector<std::string> notices;
  std::vector<LedgerEntry> flaws;  // Of no record in particular.

  uint32_t size() const { return static_cast<uint32_t>(nodes.size()); }
  void AddEdge(uint32_t node, uint32_t dependency, EdgeKind kind) {
    edges.push_back({node, dependency, kind});
  }
};

// The queue's index, added when new.
uint32_t FindOrAddQueue(LinkGraph* graph, const Queue& queue);

// The host operations and marks of a thread by time: index into in_order[queue]
// of the first that starts at or after `ns`; its size when there is none. O(log).
size_t FirstStartingAt(const LinkGraph& graph, uint32_t queue, int64_t ns);

// Whether node `a` comes before node `b` in recorded order: the one total order
// along which every linked edge points, which keeps the graph free of cycles.
bool InOrder(const LinkGraph& graph, uint32_t a, uint32_t b);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_LINK_LINK_GRAPH_H_
