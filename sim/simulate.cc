#include "sim/simulate.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/engine/event_queue.h"
#include "sim/limits.h"
#include "sim/network/network.h"
#include "sim/notices.h"
#include "sim/system/system_description.h"
#include "sim/workload/cast.h"
#include "sim/workload/channels.h"
#include "sim/workload/rank_graph.h"
#include "sim/workload/workload.h"
#include "trace/model/trace.h"

namespace chakrad {
namespace {

absl::StatusOr<std::vector<RankGraph>> BuildGraphs(const Trace& trace, const Cast& cast) {
  std::vector<RankGraph> graphs;
  for (const RankTrace& rank : trace.ranks) {
    ASSIGN_OR_RETURN(RankGraph graph, BuildRankGraph(rank));
    graphs.push_back(std::move(graph));
  }
  int64_t nodes_count = 0;
  for (const uint32_t index : cast.trace_of) nodes_count += trace.ranks[index].size();
  if (nodes_count > kMaxNodes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "nodes: ", nodes_count, " over all ranks are more than the limit of ", kMaxNodes));
  }
  return graphs;
}

// The event loop.
class Run {
 public:
  Run(EventQueue* queue, Workload* workload, const SimOptions& options, SimObserver* observer)
      : queue_(queue), workload_(workload), options_(options), observer_(observer) {}

  absl::Status ToTheEnd() {
    workload_->Start();
    RETURN_IF_ERROR(workload_->status());
    for (Event event; queue_->Pop(&event);) {
      if (event.at_ps >= kHorizonPs) {
        return absl::OutOfRangeError(
            absl::StrCat("simulated time passes ", kHorizonPs / kPsPerNs, " ns"));
      }
      if (++events_count_ > options_.max_events) {
        return absl::ResourceExhaustedError(
            absl::StrCat("max_events: more than ", options_.max_events, " events"));
      }
      if (events_count_ % kEventsPerLook == 0) RETURN_IF_ERROR(Look());
      workload_->Handle(event);
      if (!workload_->status().ok()) return workload_->status();
    }
    if (!workload_->AllDone()) {
      return absl::FailedPreconditionError(absl::StrCat("the run cannot finish: at ",
                                                        queue_->now_ps() / kPsPerNs, " ns ",
                                                        workload_->DescribeWaits()));
    }
    if (observer_ != nullptr) observer_->OnProgress(Progress());
    return absl::OkStatus();
  }

  int64_t events_count() const { return events_count_; }

 private:
  SimProgress Progress() const {
    return {workload_->counts().nodes_done, workload_->nodes_count(), queue_->now_ps(),
            events_count_};
  }
  absl::Status Look() {
    if (observer_ == nullptr) return absl::OkStatus();
    if (observer_->Cancelled()) {
      return absl::CancelledError(absl::StrCat("cancelled after ", events_count_, " events, at ",
                                               queue_->now_ps() / kPsPerNs, " ns"));
    }
    observer_->OnProgress(Progress());
    return absl::OkStatus();
  }

  EventQueue* queue_;
  Workload* workload_;
  const SimOptions& options_;
  SimObserver* observer_;
  int64_t events_count_ = 0;
};

}  // namespace

const char kSimEngineVersion[] = "2";

absl::StatusOr<SimResult> Simulate(const Trace& trace, const SystemDescription& system,
                                   const SimOptions& options, SimObserver* observer) {
  RETURN_IF_ERROR(Annotate(CheckSystem(system), "system"));
  if (options.max_events < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("max_events: ", options.max_events, " is not at least 1"));
  }
  ASSIGN_OR_RETURN(Cast cast, CastRanks(trace, system, options.replicate_missing_ranks));
  ASSIGN_OR_RETURN(const std::vector<RankGraph> graphs, BuildGraphs(trace, cast));
  ASSIGN_OR_RETURN(Channels channels, BuildChannels(trace));

  EventQueue queue;
  const std::unique_ptr<Network> network = MakeNetwork(&system, &queue);
  Workload workload(&trace, &system, &cast, &graphs, std::move(channels), &queue, network.get(),
                    observer);
  Run run(&queue, &workload, options, observer);
  RETURN_IF_ERROR(run.ToTheEnd());

  SimResult result;
  result.semantics = SemanticsName(system.semantics).data();
  result.engine_version.assign(kSimEngineVersion, sizeof(kSimEngineVersion) - 1);
  result.ranks = workload.RankEnds();
  for (const RankEnd& rank : result.ranks) {
    result.end_ps = std::max(result.end_ps, rank.end_ps);
    result.network_bytes = rank.network_bytes > INT64_MAX - result.network_bytes
                               ? INT64_MAX
                               : result.network_bytes + rank.network_bytes;
  }
  result.nodes_count = workload.nodes_count();
  result.events_count = run.events_count();
  result.stand_in_by_rank = std::move(cast.stand_in_by_rank);
  result.notices = WriteNotices(workload.counts(), result);
  return result;
}

}  // namespace chakrad
