#include "sim/simulate.h"

#include <algorithm>
#include <cmath>
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
#include "sim/workload/node_plan.h"
#include "sim/workload/rank_graph.h"
#include "sim/workload/workload.h"
#include "trace/model/trace.h"

namespace chakrad {
namespace {

// By index of Trace::ranks; only of traces that somebody runs.
struct TraceParts {
  std::vector<RankGraph> graphs;
  std::vector<NodePlan> plans;
};

absl::StatusOr<TraceParts> BuildParts(const Trace& trace, const SystemDescription& system,
                                      const Cast& cast) {
  TraceParts parts;
  parts.graphs.resize(trace.ranks.size());
  parts.plans.resize(trace.ranks.size());
  std::vector<bool> used(trace.ranks.size(), false);
  for (const uint32_t index : cast.trace_of) used[index] = true;
  int64_t nodes_count = 0;
  for (size_t i = 0; i < trace.ranks.size(); ++i) {
    if (!used[i]) continue;
    nodes_count += trace.ranks[i].size();
    if (nodes_count > kMaxNodes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("nodes: different ranks have more than the limit of ", kMaxNodes));
    }
    ASSIGN_OR_RETURN(parts.graphs[i], BuildRankGraph(trace.ranks[i]));
    ASSIGN_OR_RETURN(parts.plans[i], BuildNodePlan(system, trace.ranks[i]));
  }
  return parts;
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
      if (event.at_ps >= horizon_ps_) {
        return absl::OutOfRangeError(
            absl::StrCat("simulated time passes ", horizon_ps_ / kPsPerNs, " ns"));
      }
      ++events_count_;
      if (events_count() > options_.max_events) {
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
    workload_->Flush();
    if (observer_ != nullptr) observer_->OnProgress(Progress());
    return absl::OkStatus();
  }

  int64_t events_count() const { return events_count_ + workload_->batch_events_count(); }

 private:
  SimProgress Progress() const {
    return {workload_->counts().nodes_done, workload_->nodes_count(), queue_->now_ps(),
            events_count()};
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
  const int64_t horizon_ps_ = std::min(options_.max_simulated_ps, kHorizonPs);
  int64_t events_count_ = 0;
};

}  // namespace

const char kSimEngineVersion[] = "4";

absl::StatusOr<SimResult> Simulate(const Trace& trace, const SystemDescription& system,
                                   const SimOptions& options, SimObserver* observer) {
  RETURN_IF_ERROR(Annotate(CheckSystem(system), "system"));
  if (options.max_events < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("max_events: ", options.max_events, " is not at least 1"));
  }
  if (options.max_simulated_ps < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("max_simulated_ps: ", options.max_simulated_ps, " is not at least 1"));
  }
  ASSIGN_OR_RETURN(Cast cast,
                   CastRanks(trace, system, options.replicate_missing_ranks, options.memory_use));
  ASSIGN_OR_RETURN(const TraceParts parts, BuildParts(trace, system, cast));
  ASSIGN_OR_RETURN(Channels channels, BuildChannels(trace, cast));

  EventQueue queue;
  const std::unique_ptr<Network> network = MakeNetwork(&system, &queue);
  Workload workload({.trace = &trace,
                     .system = &system,
                     .options = &options,
                     .cast = &cast,
                     .graphs = &parts.graphs,
                     .plans = &parts.plans,
                     .queue = &queue,
                     .network = network.get(),
                     .observer = observer},
                    std::move(channels));
  Run run(&queue, &workload, options, observer);
  RETURN_IF_ERROR(run.ToTheEnd());

  SimResult result;
  result.semantics = SemanticsName(system.semantics).data();
  result.engine_version.assign(kSimEngineVersion, sizeof(kSimEngineVersion) - 1);
  workload.Report(&result);
  for (const RankEnd& rank : result.ranks) {
    result.network_bytes = rank.network_bytes > INT64_MAX - result.network_bytes
                               ? INT64_MAX
                               : result.network_bytes + rank.network_bytes;
  }
  const std::vector<LinkUse> uses = network->LinkUses();
  result.dims = workload.Dims(uses, result.end_ps);
  for (const LinkUse& use : uses) {
    if (system.back_end == NetworkBackEnd::kAnalytical && !options.link_traffic) break;
    result.links.push_back({use.dim, use.src, use.dst, use.messages_count,
                            static_cast<int64_t>(std::llround(use.bytes)), use.busy_ps,
                            use.queue_ps});
  }
  result.events_count = run.events_count();
  result.stand_in_by_rank = std::move(cast.stand_in_by_rank);
  result.notices = WriteNotices(workload.counts(), result);
  return result;
}

}  // namespace chakrad
