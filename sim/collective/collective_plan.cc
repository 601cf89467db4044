#include "sim/collective/collective_plan.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "sim/engine/semantics.h"

namespace chakrad {
namespace {

// What ASTRA-sim charges in every group smaller than the system.
constexpr int64_t kAstraSubgroupEndpointDelayNs = 10;

// All-gathers pass on whole chunks, everything else a place's share of one.
bool SendsWholeChunks(const CollectivePhase& phase) { return phase.op == PhaseOp::kAllGather; }

// Which of a dimension's queues a phase uses.
enum class QueueShare { kAll, kFirstHalf, kLastHalf };

PhaseOp OpOf(CollectiveType type) {
  switch (type) {
    case CollectiveType::kAllReduce:
    case CollectiveType::kBarrier:
      return PhaseOp::kAllReduce;
    case CollectiveType::kAllGather:
      return PhaseOp::kAllGather;
    case CollectiveType::kAllToAll:
      return PhaseOp::kAllToAll;
    case CollectiveType::kReduceScatter:
    case CollectiveType::kReduceScatterBlock:
      return PhaseOp::kReduceScatter;
    case CollectiveType::kBroadcast:
      return PhaseOp::kBroadcast;
    case CollectiveType::kReduce:
      return PhaseOp::kReduce;
    case CollectiveType::kGather:
      return PhaseOp::kGather;
    case CollectiveType::kScatter:
      return PhaseOp::kScatter;
  }
  return PhaseOp::kAllReduce;
}

bool IsRooted(PhaseOp op) {
  return op == PhaseOp::kBroadcast || op == PhaseOp::kReduce || op == PhaseOp::kGather ||
         op == PhaseOp::kScatter;
}

ScriptShape ScriptShapeOf(AlgorithmKind kind) {
  if (kind == AlgorithmKind::kRing) return ScriptShape::kChain;
  if (kind == AlgorithmKind::kDirect) return ScriptShape::kStar;
  return ScriptShape::kBinomialTree;
}

// Into how many pieces a phase that passes on what it receives wants its data cut, so that its
// places work side by side; 1: it passes nothing on. In a chain a share a place, as in a ring; a
// tree is only a few levels deep. More would cost more messages than they save.
int32_t PiecesCount(const CollectivePhase& phase) {
  constexpr int32_t kTreePieces = 64;
  const int32_t n = phase.places_count;
  if (phase.algorithm == AlgorithmKind::kDoubleBinaryTree) return std::min(n, kTreePieces);
  if (phase.algorithm != AlgorithmKind::kScript) return 1;
  if (phase.script_shape == ScriptShape::kBinomialTree) return std::min(n, kTreePieces);
  if (phase.script_shape == ScriptShape::kChain) return std::min<int32_t>(n, kMaxSplits);
  return 1;
}

// Whether the system says how a group that fits no dimensions runs: where there is only one, and
// (not in ASTRA-sim) where all groups run flat.
bool FlatIsConfigured(const SystemDescription& system,
                      const CollectiveImplementation& implementation) {
  return system.dims.size() == 1 ||
         (implementation.flat && system.semantics == Semantics::kPhysical);
}

// How it runs else.
AlgorithmChoice FlatChoice(Semantics semantics, PhaseOp op) {
  if (semantics == Semantics::kAstra) return {};
  if (op == PhaseOp::kAllToAll) return {AlgorithmKind::kDirect, -1};
  if (IsRooted(op)) return {AlgorithmKind::kHalvingDoubling, -1};  // Their binomial tree.
  return {};
}

// What a rank holds after the phase. Astra: whole bytes, cut down.
ByteFraction BytesAfter(Semantics semantics, PhaseOp op, ByteFraction bytes, int64_t places_count) {
  if (op == PhaseOp::kReduceScatter || op == PhaseOp::kScatter) {
    if (semantics == Semantics::kAstra) return {bytes.num / places_count, 1};
    return {bytes.num, bytes.den * places_count};
  }
  if (op == PhaseOp::kAllGather || op == PhaseOp::kGather) {
    if (bytes.den % places_count == 0) return {bytes.num, bytes.den / places_count};
    return {bytes.num * places_count, bytes.den};
  }
  return bytes;
}

class Planner {
 public:
  Planner(const SystemDescription& system, const CollectiveSpec& spec, const GroupShape& shape,
          CollectivePlan* plan)
      : system_(system),
        spec_(spec),
        shape_(shape),
        implementation_(ImplementationOf(system, spec.type)),
        plan_(plan) {}

  void AddPhase(PhaseOp op, int dim, int32_t places_count, int32_t stride, AlgorithmChoice choice,
                QueueShare share) {
    CollectivePhase phase;
    phase.semantics = system_.semantics;
    phase.op = op;
    phase.algorithm = choice.kind;
    phase.places_count = places_count;
    phase.stride = stride;
    phase.all_chunks = bytes_;
    phase.endpoint_delay_ps = NsToPs(endpoint_delay_ns_);
    SetSends(choice, &phase);
    SetLanes(dim, share, &phase);
    plan_->phases.push_back(phase);
    bytes_ = BytesAfter(system_.semantics, op, bytes_, places_count);
  }

  // A group that fits the dimensions.
  void AddDims(PhaseOp op) {
    if (implementation_.flat) {
      if (shape_.ranks_count > 1 && spec_.involved_dims != 0) {
        AddPhase(op, 0, shape_.ranks_count, 1, implementation_.per_dim[0], FirstHalfOrAll(op));
      }
      return;
    }
    std::vector<int> dims;
    for (int dim = 0; dim < static_cast<int>(system_.dims.size()); ++dim) {
      if (shape_.counts[dim] > 1 && (spec_.involved_dims >> dim & 1) != 0) dims.push_back(dim);
    }
    const bool descending =
        op == PhaseOp::kAllGather || op == PhaseOp::kBroadcast || op == PhaseOp::kScatter;
    if (descending) std::reverse(dims.begin(), dims.end());
    if (op != PhaseOp::kAllReduce || !system_.local_bw_aware) {
      for (const int dim : dims) AddDim(op, dim, FirstHalfOrAll(op));
      return;
    }
    if (dims.empty()) return;
    const int last = dims.back();
    dims.pop_back();
    for (const int dim : dims) AddDim(PhaseOp::kReduceScatter, dim, QueueShare::kFirstHalf);
    AddDim(PhaseOp::kAllReduce, last, QueueShare::kFirstHalf);
    std::reverse(dims.begin(), dims.end());
    for (const int dim : dims) AddDim(PhaseOp::kAllGather, dim, QueueShare::kLastHalf);
  }

  // A group that does not: in list order.
  void AddFlat(PhaseOp op) {
    plan_->flat = system_.dims.size() > 1;
    if (shape_.ranks_count < 2) return;
    const AlgorithmChoice choice = FlatIsConfigured(system_, implementation_)
                                       ? implementation_.per_dim[0]
                                       : FlatChoice(system_.semantics, op);
    if (system_.semantics == Semantics::kAstra) endpoint_delay_ns_ = kAstraSubgroupEndpointDelayNs;
    AddPhase(op, 0, shape_.ranks_count, 1, choice, FirstHalfOrAll(op));
    CollectivePhase& phase = plan_->phases.back();
    // In a subgroup ASTRA-sim lets (n - 1) windows of receipts reduce, not one.
    phase.reduce_run = phase.window * (shape_.ranks_count - 1);
  }

  void AddCustom(PhaseOp op) {
    if (shape_.ranks_count < 2) return;
    // ASTRA-sim charges custom algorithms no endpoint delay.
    if (system_.semantics == Semantics::kAstra) endpoint_delay_ns_ = 0;
    AddPhase(op, 0, shape_.ranks_count, 1, {}, FirstHalfOrAll(op));
    CollectivePhase& phase = plan_->phases.back();
    phase.algorithm = AlgorithmKind::kScript;
    phase.script_shape = ScriptShape::kCustom;
    phase.script = &system_.scripts[spec_.script];
    phase.root = 0;
  }

  void set_bytes(int64_t bytes) { bytes_ = {bytes, 1}; }

  // Astra, once the phases are there with one chunk's bytes as all_chunks.
  void CutAstra(int64_t chunks_count) {
    plan_->chunks_count = static_cast<int32_t>(chunks_count);
    for (CollectivePhase& phase : plan_->phases) {
      const int64_t chunk_bytes = phase.all_chunks.num;
      phase.chunk_bytes = static_cast<double>(chunk_bytes);
      phase.message_bytes = static_cast<double>(
          SendsWholeChunks(phase) ? chunk_bytes : chunk_bytes / phase.places_count);
      phase.all_chunks.num =
          chunk_bytes > INT64_MAX / chunks_count ? INT64_MAX : chunk_bytes * chunks_count;
    }
  }

  // Physical, once the phases are there.
  void CutPhysical(bool any_bytes) {
    const bool lone = plan_->phases.size() == 1;
    bool any_tree = false, any_rooted = false;
    int32_t pieces_count = 1;
    for (const CollectivePhase& phase : plan_->phases) {
      any_tree = any_tree || phase.algorithm == AlgorithmKind::kDoubleBinaryTree;
      any_rooted = any_rooted || (phase.script == nullptr && IsRooted(phase.op));
      pieces_count = std::max(pieces_count, PiecesCount(phase));
    }
    // Where all chunks start at once, they pipeline within a phase.
    const bool all_at_once = any_rooted || (any_tree && lone);
    int32_t chunks_count = lone && pieces_count == 1 ? 1 : system_.splits;
    if (all_at_once && pieces_count > 1) {
      const int64_t fit = kMaxFlowsPerCollective / (int64_t{shape_.ranks_count} *
                                                    static_cast<int64_t>(plan_->phases.size()));
      chunks_count = std::max<int32_t>(chunks_count,
                                       static_cast<int32_t>(std::min<int64_t>(pieces_count, fit)));
    }
    if (any_tree) chunks_count += chunks_count % 2;
    if (!any_bytes) chunks_count = 1;
    if (all_at_once) plan_->lane_chunks_count = chunks_count;
    if (any_tree) plan_->lane_chunks_count = std::max(plan_->lane_chunks_count, 2);
    plan_->chunks_count = chunks_count;
    for (CollectivePhase& phase : plan_->phases) {
      const ByteFraction all = phase.all_chunks;
      phase.chunk_bytes = ByteFraction{all.num, all.den * chunks_count}.AsDouble();
      const int64_t messages_count = SendsWholeChunks(phase) ? 1 : phase.places_count;
      phase.message_bytes =
          ByteFraction{all.num, all.den * chunks_count * messages_count}.AsDouble();
    }
  }

 private:
  void AddDim(PhaseOp op, int dim, QueueShare share) {
    int32_t stride = 1;
    for (int lower = 0; lower < dim; ++lower) stride *= shape_.counts[lower];
    AddPhase(op, dim, shape_.counts[dim], stride, implementation_.per_dim[dim], share);
  }

  static QueueShare FirstHalfOrAll(PhaseOp op) {
    return op == PhaseOp::kAllReduce ? QueueShare::kFirstHalf : QueueShare::kAll;
  }

  void SetSends(AlgorithmChoice choice, CollectivePhase* phase) const {
    if (IsRooted(phase->op)) {
      phase->algorithm = AlgorithmKind::kScript;
      phase->script_shape = ScriptShapeOf(choice.kind);
      phase->root = spec_.root;
      return;
    }
    const int64_t peers_count = phase->places_count - 1;
    const bool all_reduce = phase->op == PhaseOp::kAllReduce;
    phase->sends_count = all_reduce ? 2 * peers_count : peers_count;
    switch (choice.kind) {
      case AlgorithmKind::kRing:
        // All-to-all by neighbours only: what is meant for distance d takes d steps.
        if (phase->op == PhaseOp::kAllToAll) {
          phase->sends_count = peers_count * phase->places_count / 2;
        }
        break;
      case AlgorithmKind::kDirect:
        phase->window = static_cast<int32_t>(
            choice.window == -1 ? peers_count : std::min<int64_t>(choice.window, peers_count));
        phase->reduce_run = phase->window;
        break;
      case AlgorithmKind::kHalvingDoubling: {
        const int64_t levels = std::bit_width(static_cast<uint32_t>(phase->places_count)) - 1;
        phase->sends_count = all_reduce ? 2 * levels : levels;
        break;
      }
      case AlgorithmKind::kDoubleBinaryTree:
        // Whatever was asked for, ASTRA-sim's tree does an all-reduce. Physical: PlanFault.
        phase->op = PhaseOp::kAllReduce;
        break;
      case AlgorithmKind::kScript:
        CHECK(false) << "a script is no choice of a system";
    }
  }

  void SetLanes(int dim, QueueShare share, CollectivePhase* phase) const {
    const int32_t queues_count = system_.num_queues_per_dim;
    const int32_t first_half = (queues_count + 1) / 2;
    phase->first_lane = dim * queues_count;
    phase->lanes_count = queues_count;
    if (share == QueueShare::kAll || queues_count == 1) return;
    if (share == QueueShare::kLastHalf) phase->first_lane += first_half;
    phase->lanes_count = share == QueueShare::kFirstHalf ? first_half : queues_count - first_half;
  }

  const SystemDescription& system_;
  const CollectiveSpec& spec_;
  const GroupShape& shape_;
  const CollectiveImplementation& implementation_;
  CollectivePlan* plan_;
  int64_t endpoint_delay_ns_ = system_.endpoint_delay_ns;
  ByteFraction bytes_;
};

// ASTRA-sim's chunks: bytes of one, and how many.
std::pair<int64_t, int64_t> AstraChunks(const SystemDescription& system, CollectiveType type,
                                        int64_t bytes) {
  const int64_t npus_count = NpusCount(system);
  int64_t chunk_bytes = bytes / system.splits;
  const bool parts = type == CollectiveType::kAllGather || type == CollectiveType::kGather;
  if (!parts && chunk_bytes < npus_count) {
    chunk_bytes = npus_count;
    bytes = system.splits * npus_count;
  }
  if (chunk_bytes == 0) chunk_bytes = std::min<int64_t>(bytes, 1);
  return {chunk_bytes, chunk_bytes == 0 ? 1 : (bytes + chunk_bytes - 1) / chunk_bytes};
}

// The double binary tree is an all-reduce. In physical semantics nothing else runs on it.
std::string TreeFault(const SystemDescription& system, CollectiveType type, const GroupShape& shape,
                      size_t dim) {
  if (OpOf(type) != PhaseOp::kAllReduce) {
    return "doubleBinaryTree is an all-reduce: configure ring, direct or halvingDoubling";
  }
  if (!shape.fits || system.all_reduce.flat || !system.local_bw_aware) return "";
  for (size_t higher = dim + 1; higher < system.dims.size(); ++higher) {
    if (shape.counts[higher] == 1) continue;
    return absl::StrCat("doubleBinaryTree is an all-reduce, and with localBWAware dimension ", dim,
                        " runs a reduce-scatter and an all-gather: configure baseline, or ring, ",
                        "direct or halvingDoubling");
  }
  return "";
}

std::string KindFault(const SystemDescription& system, CollectiveType type, AlgorithmKind kind,
                      int32_t places_count) {
  const bool astra = system.semantics == Semantics::kAstra;
  if (kind == AlgorithmKind::kHalvingDoubling && type == CollectiveType::kAllToAll && astra) {
    return "halvingDoubling has no all-to-all";
  }
  const bool needs_power_of_two = kind == AlgorithmKind::kHalvingDoubling ||
                                  (kind == AlgorithmKind::kDoubleBinaryTree && astra);
  if (needs_power_of_two && !std::has_single_bit(uint32_t(places_count))) {
    return absl::StrCat(AlgorithmKindName(kind), " needs a power of two of ranks, and ",
                        "the group has ", places_count);
  }
  return "";
}

}  // namespace

bool HasCostModel(CollectiveType type) {
  return type == CollectiveType::kAllReduce || type == CollectiveType::kAllGather ||
         type == CollectiveType::kReduceScatter || type == CollectiveType::kReduceScatterBlock ||
         type == CollectiveType::kAllToAll;
}

bool HasCostModel(Semantics semantics, CollectiveType type) {
  return semantics == Semantics::kPhysical || HasCostModel(type);
}

bool HasRoot(CollectiveType type) { return IsRooted(OpOf(type)); }

const CollectiveImplementation& ImplementationOf(const SystemDescription& system,
                                                 CollectiveType type) {
  const auto own_or = [](const CollectiveImplementation& own,
                         const CollectiveImplementation& other) -> const auto& {
    return own.per_dim.empty() ? other : own;
  };
  switch (OpOf(type)) {
    case PhaseOp::kAllReduce:
      return system.all_reduce;
    case PhaseOp::kAllGather:
      return system.all_gather;
    case PhaseOp::kAllToAll:
      return system.all_to_all;
    case PhaseOp::kBroadcast:
      return own_or(system.broadcast, system.all_reduce);
    case PhaseOp::kReduce:
      return own_or(system.reduce, system.all_reduce);
    case PhaseOp::kGather:
      return own_or(system.gather, system.all_gather);
    case PhaseOp::kScatter:
      return own_or(system.scatter, system.reduce_scatter);
    case PhaseOp::kReduceScatter:
      break;
  }
  return system.reduce_scatter;
}

int32_t ScriptOf(const SystemDescription& system, CollectiveType type, uint64_t node_id) {
  const auto by_id = system.script_by_node_id.find(node_id);
  if (by_id != system.script_by_node_id.end()) return by_id->second;
  const auto by_type = system.script_by_type.find(type);
  return by_type == system.script_by_type.end() ? -1 : by_type->second;
}

void PlanCollective(const SystemDescription& system, const CollectiveSpec& spec,
                    const GroupShape& shape, CollectivePlan* plan) {
  const bool astra = system.semantics == Semantics::kAstra;
  const bool custom = spec.script >= 0;
  const int64_t bytes = spec.type == CollectiveType::kBarrier ? 0 : spec.bytes;
  const auto [chunk_bytes, chunks_count] =
      astra && !custom ? AstraChunks(system, spec.type, bytes) : std::pair(bytes, int64_t{1});
  plan->phases.clear();
  plan->flat = false;
  plan->lanes_count = static_cast<int32_t>(system.dims.size()) * system.num_queues_per_dim;
  plan->lane_chunks_count =
      (system.active_chunks_per_dim + system.num_queues_per_dim - 1) / system.num_queues_per_dim;
  Planner planner(system, spec, shape, plan);
  planner.set_bytes(chunk_bytes);
  if (custom) {
    planner.AddCustom(OpOf(spec.type));
  } else if (shape.fits) {
    planner.AddDims(OpOf(spec.type));
  } else {
    planner.AddFlat(OpOf(spec.type));
  }
  if (astra) {
    planner.CutAstra(chunks_count);
  } else {
    planner.CutPhysical(bytes > 0);
  }
}

void PlanCollective(const SystemDescription& system, CollectiveType type, int64_t bytes,
                    int32_t ranks_count, uint32_t involved_dims, CollectivePlan* plan) {
  const CollectiveSpec spec{type, bytes, involved_dims};
  const bool whole = ranks_count == NpusCount(system);
  PlanCollective(system, spec, whole ? WholeShape(system) : FlatShape(ranks_count), plan);
}

std::string PlanFault(const SystemDescription& system, CollectiveType type, const GroupShape& shape,
                      int32_t script) {
  if (shape.ranks_count < 2) return "";
  if (script >= 0) {
    const CollectiveScript& custom = system.scripts[script];
    if (custom.places_count == shape.ranks_count) return "";
    return absl::StrCat("the custom algorithm \"", custom.name, "\" is for ", custom.places_count,
                        " ranks, and the group has ", shape.ranks_count);
  }
  if (HasRoot(type)) return "";
  const CollectiveImplementation& implementation = ImplementationOf(system, type);
  if (!shape.fits && !FlatIsConfigured(system, implementation)) return "";
  const bool one_phase = !shape.fits || implementation.flat;
  for (size_t dim = 0; dim < implementation.per_dim.size(); ++dim) {
    const AlgorithmKind kind = implementation.per_dim[dim].kind;
    const int32_t places_count = one_phase ? shape.ranks_count : shape.counts[dim];
    if (places_count == 1) continue;
    std::string fault = KindFault(system, type, kind, places_count);
    if (fault.empty() && kind == AlgorithmKind::kDoubleBinaryTree &&
        system.semantics == Semantics::kPhysical) {
      fault = TreeFault(system, type, shape, dim);
    }
    if (!fault.empty()) return fault;
  }
  return "";
}

std::string PlanFault(const SystemDescription& system, CollectiveType type, int32_t ranks_count) {
  const bool whole = ranks_count == NpusCount(system);
  return PlanFault(system, type, whole ? WholeShape(system) : FlatShape(ranks_count));
}

}  // namespace chakrad
