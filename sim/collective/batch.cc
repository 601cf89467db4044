#include "sim/collective/batch.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "sim/collective/batch_ring.h"
#include "sim/collective/batch_symmetric.h"
#include "sim/collective/steps.h"
#include "sim/collective/traffic.h"
#include "sim/engine/semantics.h"
#include "sim/limits.h"

namespace chakrad {
namespace {

// Pairs of members whose costs are compared before a group counts as symmetric.
constexpr int64_t kMaxPairsCompared = int64_t{1} << 22;

int64_t AddPs(int64_t a, int64_t b) { return std::min(a + b, kHorizonPs); }

}  // namespace

bool BatchCovers(const SystemDescription& system, CollectiveType type, uint32_t involved_dims) {
  if (system.back_end != NetworkBackEnd::kAnalytical) return false;
  int long_dims_count = 0;
  for (size_t dim = 0; dim < system.dims.size(); ++dim) {
    if (system.dims[dim].npus_count == 1) continue;
    ++long_dims_count;
    if ((involved_dims >> dim & 1) == 0) return false;  // Some members never hear of others.
    if (system.dims[dim].bucket.bytes_per_ns > 0) return false;
  }
  if (system.semantics == Semantics::kPhysical && long_dims_count > 1 &&
      (system.active_chunks_per_dim > 1 || system.num_queues_per_dim > 1)) {
    return false;  // Chunks share a port.
  }
  return type == CollectiveType::kAllReduce || type == CollectiveType::kAllGather ||
         type == CollectiveType::kReduceScatter || type == CollectiveType::kReduceScatterBlock ||
         type == CollectiveType::kAllToAll;
}

BatchEvaluator::BatchEvaluator(const SystemDescription* system,
                               const std::vector<ProcessGroup>* groups)
    : system_(system), groups_(groups), paths_(system) {}

BatchEvaluator::~BatchEvaluator() = default;

void BatchEvaluator::Plan(const CollectiveCall& call, const GroupIndex& group) {
  const Key key{call.type, call.bytes, call.group, call.involved_dims};
  if (key == planned_) return;
  PlanCollective(*system_, CollectiveSpec{call.type, call.bytes, call.involved_dims}, group.shape(),
                 &plan_);
  planned_ = key;
}

bool BatchEvaluator::NothingToDo(const CollectiveCall& call, const GroupIndex& group) {
  Plan(call, group);
  return plan_.phases.empty();
}

const std::vector<DimTraffic>& BatchEvaluator::Traffic(const CollectiveCall& call,
                                                       const GroupIndex& group) {
  const Key key{call.type, call.bytes, call.group, call.involved_dims};
  const auto it = traffic_.find(key);
  if (it != traffic_.end()) return it->second;
  Plan(call, group);
  if (static_cast<int64_t>(traffic_.size()) * kMaxDims >= kMaxKeptAnswers) traffic_.clear();
  return traffic_.emplace(key, TrafficOf(*system_, paths_.topology(), plan_, group)).first->second;
}

absl::Status BatchEvaluator::Evaluate(const CollectiveCall& call, const GroupIndex& group,
                                      absl::Span<const int64_t> join_ps, BatchAnswer* answer) {
  const bool together =
      std::all_of(join_ps.begin(), join_ps.end(), [&](int64_t ps) { return ps == join_ps[0]; });
  if (!together) {
    Plan(call, group);
    return EvaluateAfresh(call, group, join_ps, answer);
  }
  const Key key{call.type, call.bytes, call.group, call.involved_dims};
  auto it = kept_.find(key);
  if (it == kept_.end()) {
    Plan(call, group);
    const int64_t zero = 0;
    RETURN_IF_ERROR(EvaluateAfresh(call, group, absl::MakeConstSpan(&zero, 1), answer));
    kept_entries_ += static_cast<int64_t>(answer->end_ps.size() + answer->bytes.size());
    if (kept_entries_ > kMaxKeptAnswers) {
      kept_.clear();
      kept_entries_ = static_cast<int64_t>(answer->end_ps.size() + answer->bytes.size());
    }
    it = kept_.emplace(key, *answer).first;
  } else {
    *answer = it->second;
  }
  for (int64_t& end_ps : answer->end_ps) end_ps = AddPs(end_ps, join_ps[0]);
  return absl::OkStatus();
}

absl::Status BatchEvaluator::EvaluateAfresh(const CollectiveCall& call, const GroupIndex& group,
                                            absl::Span<const int64_t> join_ps,
                                            BatchAnswer* answer) {
  answer->flat = plan_.flat;
  if (join_ps.size() == 1 && Symmetric(group, join_ps[0], answer)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const bool answered, SinglePhase(group, join_ps, answer));
  if (answered) return absl::OkStatus();
  return ByMessages(call, group, join_ps, answer);
}

// ---- All members alike.

bool BatchEvaluator::Symmetric(const GroupIndex& group, int64_t join_ps, BatchAnswer* answer) {
  std::vector<int64_t> phase_ps;
  for (const CollectivePhase& phase : plan_.phases) {
    if (phase.algorithm == AlgorithmKind::kDoubleBinaryTree) return false;
    if (!IsSymmetric(group, phase)) return false;
    // The first member's peers: everybody else's are as far.
    const auto peer = [&](int64_t hop) {
      int32_t place = 1;
      if (phase.algorithm == AlgorithmKind::kDirect) place = static_cast<int32_t>(hop) + 1;
      if (phase.algorithm == AlgorithmKind::kHalvingDoubling) {
        place = PairStepAt(phase, 0, hop, 1).peer;
      }
      return group.RankAt(place * phase.stride);
    };
    const int32_t self = group.RankAt(0);
    const SymmetricCosts costs{
        [&](int64_t hop, double bytes) { return paths_.DelayPs(self, peer(hop), bytes); },
        [&](int64_t hop, double bytes) { return paths_.PortPs(self, peer(hop), bytes); },
        [&](double bytes) { return ReductionPs(*system_, bytes); }};
    phase_ps.push_back(SymmetricPhasePs(phase, costs));
  }
  answer->end_ps.assign(1, AddPs(join_ps, PipelinePs(plan_, phase_ps)));
  answer->bytes.assign(1, BytesOfMember());
  return true;
}

// Whether the messages of a phase cost every member the same.
bool BatchEvaluator::IsSymmetric(const GroupIndex& group, const CollectivePhase& phase) const {
  int dim = 0;
  const bool along_one = RunsAlongOneDim(*system_, paths_.topology(), phase, group, &dim);
  const bool ring_shaped = along_one && (system_->dims[dim].topology == TopologyKind::kRing ||
                                         system_->dims[dim].topology == TopologyKind::kMesh);
  // On a ring messages to either side have their own port, which one place cannot stand for.
  if (system_->semantics == Semantics::kPhysical && phase.algorithm == AlgorithmKind::kDirect &&
      (!along_one || ring_shaped)) {
    return false;
  }
  // Places along one dimension are all alike but for the ends of a mesh.
  if (along_one && paths_.uniform()) return system_->dims[dim].topology != TopologyKind::kMesh;
  // Any list: compare what each member's messages cost, at two sizes.
  std::vector<int32_t> offsets{1};
  const int32_t n = phase.places_count;
  if (phase.algorithm == AlgorithmKind::kDirect) {
    for (int32_t offset = 2; offset < n; ++offset) offsets.push_back(offset);
  } else if (phase.algorithm == AlgorithmKind::kHalvingDoubling) {
    for (int32_t offset = 2; offset < n; offset *= 2) offsets.push_back(offset);
  }
  if (static_cast<int64_t>(offsets.size()) * group.members_count() > kMaxPairsCompared) {
    return false;
  }
  for (const int32_t offset : offsets) {
    if (!CostsAllTheSame(group, phase, offset)) return false;
  }
  return true;
}

// Whether each member's message to the place `offset` away costs the same.
bool BatchEvaluator::CostsAllTheSame(const GroupIndex& group, const CollectivePhase& phase,
                                     int32_t offset) const {
  const int32_t n = phase.places_count;
  const bool pairs = phase.algorithm == AlgorithmKind::kHalvingDoubling;
  for (const double bytes : {0.0, phase.chunk_bytes}) {
    const int32_t first = group.RankAt(0), to = group.RankAt(offset * phase.stride);
    const int64_t want = paths_.DelayPs(first, to, bytes);
    const int64_t want_port = paths_.PortPs(first, to, bytes);
    for (int32_t i = 1; i < group.members_count(); ++i) {
      const int32_t place = i / phase.stride % n;
      const int32_t peer_place = pairs ? place ^ offset : (place + offset) % n;
      const int32_t peer = group.RankAt(i + (peer_place - place) * phase.stride);
      if (paths_.DelayPs(group.RankAt(i), peer, bytes) != want ||
          paths_.PortPs(group.RankAt(i), peer, bytes) != want_port) {
        return false;
      }
    }
  }
  return true;
}

// Whether an NPU has one port for all that it sends: one dimension, and not two ways along it.
bool BatchEvaluator::OnePortEach() const {
  int ports_count = 0;
  for (const NetworkDim& dim : system_->dims) {
    if (dim.npus_count == 1) continue;
    const bool two_ways =
        dim.topology == TopologyKind::kRing || dim.topology == TopologyKind::kMesh;
    ports_count += two_ways ? 2 : 1;
  }
  return ports_count <= 1;
}

// ---- One phase, members that join at different times or have different links.

absl::StatusOr<bool> BatchEvaluator::SinglePhase(const GroupIndex& group,
                                                 absl::Span<const int64_t> join_ps,
                                                 BatchAnswer* answer) {
  if (plan_.phases.size() != 1) return false;
  const CollectivePhase& phase = plan_.phases[0];
  const bool ring = phase.algorithm == AlgorithmKind::kRing;
  if (!ring && phase.algorithm != AlgorithmKind::kHalvingDoubling) return false;
  if (phase.places_count != group.members_count()) return false;
  // With endpoint delays or reductions a place's turn to send and its port are two things.
  if (system_->semantics == Semantics::kPhysical &&
      (phase.endpoint_delay_ps > 0 || system_->local_mem_bytes_per_ns > 0)) {
    return false;
  }
  if (!ring && system_->semantics == Semantics::kPhysical && !OnePortEach()) return false;
  const int64_t n = phase.places_count;
  std::vector<int64_t> start_ps(n), ends(n, 0);
  for (int64_t i = 0; i < n; ++i) start_ps[i] = join_ps[join_ps.size() == 1 ? 0 : i];
  for (int32_t lane = 0; lane < phase.lanes_count; ++lane) {
    // Chunks lane, lane + lanes_count, ...: each in its turn, a few side by side.
    const int64_t chunks = (plan_.chunks_count - lane + phase.lanes_count - 1) / phase.lanes_count;
    const int64_t turns = (chunks + plan_.lane_chunks_count - 1) / plan_.lane_chunks_count;
    std::vector<int64_t> now = start_ps;
    for (int64_t turn = 0; turn < turns; ++turn) {
      now = ring ? RingTurn(group, phase, ChunkDirection(phase, lane, system_->num_queues_per_dim),
                            now)
                 : PairsTurn(group, phase, now);
      if (now.empty()) {
        return absl::ResourceExhaustedError(absl::StrCat(
            "a ring of ", n, " ranks whose links and starts all differ needs more than ",
            kMaxRingWork, " steps of a rank"));
      }
    }
    for (int64_t i = 0; i < n; ++i) ends[i] = std::max(ends[i], now[i]);
  }
  answer->end_ps = std::move(ends);
  answer->bytes.assign(1, BytesOfMember());
  return true;
}

std::vector<int64_t> BatchEvaluator::RingTurn(const GroupIndex& group, const CollectivePhase& phase,
                                              int32_t direction,
                                              const std::vector<int64_t>& start_ps) const {
  const int32_t n = phase.places_count;
  const auto member = [&](int32_t place) { return direction > 0 ? place : n - 1 - place; };
  std::vector<int64_t> starts(n), delay_ps(n), port_ps(n);
  for (int32_t i = 0; i < n; ++i) {
    const int32_t self = group.RankAt(member(i));
    const int32_t next = group.RankAt(member(i + 1 == n ? 0 : i + 1));
    starts[i] = start_ps[member(i)];
    delay_ps[i] = paths_.DelayPs(self, next, phase.message_bytes);
    port_ps[i] = paths_.PortPs(self, next, phase.message_bytes);
  }
  std::vector<int64_t> ends = RingEnds(starts, delay_ps, port_ps, phase.sends_count);
  // Before the first message, after each receipt, and of those that are added up.
  const bool reduces = phase.op == PhaseOp::kReduceScatter || phase.op == PhaseOp::kAllReduce;
  __int128 extra = __int128{phase.sends_count + 1} * phase.endpoint_delay_ps;
  if (reduces) extra += __int128{n - 1} * ReductionPs(*system_, phase.message_bytes);
  const int64_t extra_ps = extra < kHorizonPs ? static_cast<int64_t>(extra) : kHorizonPs;
  if (ends.empty()) return ends;
  for (int64_t& end : ends) end = AddPs(end, extra_ps);
  if (direction < 0) std::reverse(ends.begin(), ends.end());
  return ends;
}

std::vector<int64_t> BatchEvaluator::PairsTurn(const GroupIndex& group,
                                               const CollectivePhase& phase,
                                               const std::vector<int64_t>& start_ps) const {
  const int32_t n = phase.places_count;
  std::vector<int64_t> now(n), next(n);
  for (int32_t i = 0; i < n; ++i) now[i] = AddPs(start_ps[i], phase.endpoint_delay_ps);
  for (int64_t step = 0; step < phase.sends_count; ++step) {
    const PairStep what = PairStepAt(phase, 0, step, 1);
    const int64_t extra_ps =
        AddPs(phase.endpoint_delay_ps, ReductionPs(*system_, what.reduce_bytes));
    for (int32_t i = 0; i < n; ++i) {
      const int32_t peer = PairStepAt(phase, i, step, 1).peer;
      const int32_t self_rank = group.RankAt(i), peer_rank = group.RankAt(peer);
      const int64_t left_ps = AddPs(now[i], paths_.PortPs(self_rank, peer_rank, what.bytes));
      const int64_t come_ps = AddPs(now[peer], paths_.DelayPs(peer_rank, self_rank, what.bytes));
      next[i] = AddPs(std::max(left_ps, come_ps), extra_ps);
    }
    now.swap(next);
  }
  return now;
}

// What each member sends, where all send the same.
int64_t BatchEvaluator::BytesOfMember() const {
  int64_t sum = 0;
  for (const CollectivePhase& phase : plan_.phases) {
    const int64_t bytes = SentBytes(phase, plan_.chunks_count, 0);
    sum = bytes > INT64_MAX - sum ? INT64_MAX : sum + bytes;
  }
  return sum;
}

}  // namespace chakrad
