#include "trace/link/link.h"

#include <malloc.h>

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/link/build_graph.h"
#include "trace/link/comm_batches.h"
#include "trace/link/comm_calls.h"
#include "trace/link/comm_ops.h"
#include "trace/link/device_waits.h"
#include "trace/link/edges.h"
#include "trace/link/emit.h"
#include "trace/link/linked_et.h"
#include "trace/link/match_device.h"
#include "trace/link/match_host.h"
#include "trace/link/nesting.h"
#include "trace/link/times.h"
#include "trace/link/waits.h"
#include "trace/readers/kineto/kineto.h"
#include "trace/readers/pytorch_et/pytorch_et.h"

namespace chakrad {
namespace {

// Columns of some tens of MiB are freed step by step; without this, the allocator
// would keep them while others grow beside them. Costs well below a millisecond
// where there is nothing to give back.
void GiveMemoryBack() { malloc_trim(0); }

// Large, and needed no more once the graph is built: all but the counts.
void FreeMatches(LinkedView* view) {
  for (std::vector<uint32_t>* column :
       {&view->nesting.enclosing, &view->device_match.launch, &view->device_match.host_op,
        &view->host_match.event_of_op, &view->host_match.op_of_event}) {
    *column = std::vector<uint32_t>();  // "= {}" would keep the memory.
  }
  GiveMemoryBack();
}

// Records counted as kept became parts of nodes.
void KeptBecomesMerged(const char* rule, int64_t count, Ledger* ledger) {
  if (count == 0) return;
  ledger->kept -= count;
  ledger->merged += count;
  ledger->merged_by_rule[rule] += count;
}

// Every event is a node of its own, or says into what it went.
void AccountForEvents(const LinkGraph& graph, Ledger* ledger) {
  int64_t host_ops = 0, syncs = 0, calls = 0, calls_between_ops = 0;
  for (uint32_t event = 0; event < graph.kineto->events.size(); ++event) {
    const uint32_t node = graph.node_of_event[event];
    switch (graph.kineto->events.kind(event)) {
      case KinetoKind::kHostOp:
      case KinetoKind::kAnnotation:
        if (graph.nodes[node].et_op != kNone) ++host_ops;
        break;
      case KinetoKind::kSync:
        ++syncs;
        break;
      default:
        break;
    }
  }
  for (const RuntimeCall& call : graph.calls) {
    if (graph.node_of_event[call.event] != kNone) continue;  // A launch outside of any operation.
    ++(call.enclosing != kNone ? calls : calls_between_ops);
  }
  KeptBecomesMerged("host_op", host_ops, ledger);
  KeptBecomesMerged("sync_event", syncs, ledger);
  KeptBecomesMerged("runtime_call", calls, ledger);
  KeptBecomesMerged("runtime_call_between_ops", calls_between_ops, ledger);
}

void NotifyOfHostMatch(const HostMatch& match, Ledger* ledger) {
  if (match.matched_count == match.ops_count && match.disagreements_count == 0) return;
  std::string notice = absl::StrCat(
      match.matched_count, " of ", match.ops_count,
      " operations of the execution trace were found in the profile (by ",
      match.by_id ? "record-function id" : "name and order", "); the others have no times");
  if (match.disagreements_count > 0) {
    absl::StrAppend(&notice, "; ", match.disagreements_count,
                    " record-function ids stand for different names");
  }
  ledger->notices.push_back(notice);
}

void NotifyOfDeviceMatch(const DeviceMatch& match, Ledger* ledger) {
  const int64_t linked_count = match.device_ops_count - match.unlinked_count;
  if (match.unlinked_count > 0 || match.by_external_id_count > 0 || match.by_order_count > 0) {
    ledger->notices.push_back(
        absl::StrCat(linked_count, " of ", match.device_ops_count,
                     " device operations linked to their launch (", match.by_correlation_count,
                     " by correlation, ", match.by_external_id_count, " by external id, ",
                     match.by_order_count, " by order); the others are ordered by stream only"));
  }
  if (match.external_id_disagreements_count > 0) {
    ledger->notices.push_back(absl::StrCat(
        match.external_id_disagreements_count,
        " device operations were launched inside another host operation than their external id "
        "names; the launch decides"));
  }
}

void NotifyOfLinked(const PyTorchEt& et, const DeviceMatch& match, Ledger* ledger) {
  ledger->notices.push_back(absl::StrCat(
      "already linked: ", et.linked.size(), " of ", et.ops.size(), " nodes have times, ",
      match.device_ops_count, " of them device operations (",
      match.device_ops_count - match.unlinked_count,
      " under a host operation with times); when they were launched is not recorded: the start of "
      "that operation is taken"));
}

// Linking needs no steps; whoever counts per step has one.
void NotifyOfSteps(const LinkGraph& graph, Ledger* ledger) {
  for (const LinkNode& node : graph.nodes) {
    if (node.role == NodeRole::kAnnotation && absl::StartsWith(node.name, "ProfilerStep")) return;
  }
  ledger->notices.push_back("no step is marked (ProfilerStep): the whole file is one iteration");
}

absl::StatusOr<int32_t> RankOf(const PyTorchEt* et, const KinetoTrace* kineto) {
  const int32_t et_rank = et == nullptr ? kNoRank : et->rank;
  const int32_t kineto_rank = kineto == nullptr ? kNoRank : kineto->rank;
  if (et_rank != kNoRank && kineto_rank != kNoRank && et_rank != kineto_rank) {
    return absl::InvalidArgumentError(absl::StrCat("rank: the execution trace says ", et_rank,
                                                   ", the Kineto file says ", kineto_rank));
  }
  return et_rank != kNoRank ? et_rank : kineto_rank;
}

}  // namespace

absl::StatusOr<RankTrace> LinkRank(PyTorchEt* et, Ledger* et_ledger, KinetoTrace* kineto,
                                   Ledger* kineto_ledger, int32_t known_rank,
                                   const Manifest* manifest, const KernelNames* kernel_names) {
  GiveMemoryBack();  // The readers'.
  ASSIGN_OR_RETURN(int32_t rank, RankOf(et, kineto));
  if (rank == kNoRank) rank = known_rank;
  const bool linked = et != nullptr && !et->linked.empty();
  if (linked && kineto != nullptr) {
    return absl::InvalidArgumentError(
        "the execution trace holds times and device operations already (chakra_trace_link wrote "
        "it): leave the Kineto file out, or give the execution trace as it was recorded");
  }
  LinkedView view;
  if (linked) {
    view = ViewOfLinkedEt(*et);
    kineto = &view.kineto;
  } else if (kineto != nullptr) {
    if (et != nullptr) view.host_match = MatchHost(*et, *kineto);
    view.nesting = FindNesting(*kineto);
    view.device_match = MatchDevice(*kineto, view.nesting);
  }
  ASSIGN_OR_RETURN(LinkGraph graph, BuildGraph(et, kineto, manifest, view.host_match, view.nesting,
                                               view.device_match));
  FreeMatches(&view);
  if (graph.nodes.empty()) {
    const Ledger& ledger = kineto_ledger != nullptr ? *kineto_ledger : *et_ledger;
    return absl::InvalidArgumentError(absl::StrCat("the file holds no operation: of its ",
                                                   ledger.input_records, " records ",
                                                   ledger.rejected, " were rejected"));
  }
  graph.kernel_names = kernel_names;
  FillCommOps(FindCommCalls(&graph), rank, &graph);
  AddOrderEdges(&graph);
  AddForwardBackwardEdges(&graph);
  AddRecordedWaitEdges(&graph);
  if (kineto != nullptr) {
    AddDeviceWaits(&graph);
    if (!linked) AccountForEvents(graph, kineto_ledger);
    graph.calls = std::vector<RuntimeCall>();
    graph.node_of_event = std::vector<uint32_t>();
    kineto->events.DropTimes();
    GiveMemoryBack();
    AddCommWaits(&graph);
    AddAutogradWaits(&graph);
  }
  if (linked) AddLinkedSyncEdges(&graph, et_ledger);
  SpreadBatchWaits(&graph);
  DropBackwardEdges(&graph);
  if (kineto != nullptr) ShareOutTimes(&graph);

  if (kineto != nullptr && !linked) {
    NotifyOfDeviceMatch(view.device_match, kineto_ledger);
    NotifyOfSteps(graph, kineto_ledger);
    if (et != nullptr) NotifyOfHostMatch(view.host_match, et_ledger);
  }
  if (linked) NotifyOfLinked(*et, view.device_match, et_ledger);
  Ledger* ledger = kineto_ledger != nullptr ? kineto_ledger : et_ledger;
  ledger->notices.insert(ledger->notices.end(), graph.notices.begin(), graph.notices.end());
  for (const LedgerEntry& flaw : graph.flaws) {
    ledger->AddFlaw(flaw.rule, flaw.record, flaw.byte_offset, flaw.reason);
  }
  GiveMemoryBack();
  ASSIGN_OR_RETURN(RankTrace trace, EmitRankTrace(std::move(graph), et));
  trace.rank = rank;
  return trace;
}

}  // namespace chakrad
