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
      return PhaseOp::kAllReduce;
    case CollectiveType::kAllGather:
      return PhaseOp::kAllGather;
    case CollectiveType::kAllToAll:
      return PhaseOp::kAllToAll;
    default:
      return PhaseOp::kReduceScatter;
  }
}

// What a rank holds after the phase. Astra: whole bytes, cut down.
ByteFraction BytesAfter(Semantics semantics, PhaseOp op, ByteFraction bytes, int64_t places_count) {
  if (op == PhaseOp::kReduceScatter) {
    if (semantics == Semantics::kAstra) return {bytes.num / places_count, 1};
    return {bytes.num, bytes.den * places_count};
  }
  if (op == PhaseOp::kAllGather) {
    if (bytes.den % places_count == 0) return {bytes.num, bytes.den / places_count};
    return {bytes.num * places_count, bytes.den};
  }
  return bytes;
}

class Planner {
 public:
  Planner(const SystemDescription& system, const CollectiveImplementation& implementation,
          CollectivePlan* plan)
      : system_(system), implementation_(implementation), plan_(plan) {}

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

  void AddAllNpus(PhaseOp op, uint32_t involved_dims) {
    if (implementation_.flat) {
      const int32_t npus_count = static_cast<int32_t>(NpusCount(system_));
      if (npus_count > 1 && involved_dims != 0) {
        AddPhase(op, 0, npus_count, 1, implementation_.per_dim[0], QueueShare::kFirstHalf);
      }
      return;
    }
    std::vector<int> dims;
    for (int dim = 0; dim < static_cast<int>(system_.dims.size()); ++dim) {
      if (system_.dims[dim].npus_count > 1 && (involved_dims >> dim & 1) != 0) dims.push_back(dim);
    }
    if (op == PhaseOp::kAllGather) std::reverse(dims.begin(), dims.end());
    if (op != PhaseOp::kAllReduce || !system_.local_bw_aware) {
      const QueueShare share =
          op == PhaseOp::kAllReduce ? QueueShare::kFirstHalf : QueueShare::kAll;
      for (const int dim : dims) AddDim(op, dim, share);
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

  void AddSubgroup(PhaseOp op, int32_t ranks_count) {
    if (ranks_count < 2) return;
    const AlgorithmChoice choice =
        system_.dims.size() == 1 ? implementation_.per_dim[0] : AlgorithmChoice{};
    if (system_.semantics == Semantics::kAstra) endpoint_delay_ns_ = kAstraSubgroupEndpointDelayNs;
    AddPhase(op, 0, ranks_count, 1, choice,
             op == PhaseOp::kAllReduce ? QueueShare::kFirstHalf : QueueShare::kAll);
    CollectivePhase& phase = plan_->phases.back();
    // In a subgroup ASTRA-sim lets (n - 1) windows of receipts reduce, not one.
    phase.reduce_run = phase.window * (ranks_count - 1);
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
    bool any_tree = false;
    for (const CollectivePhase& phase : plan_->phases) {
      any_tree = any_tree || phase.algorithm == AlgorithmKind::kDoubleBinaryTree;
    }
    int32_t chunks_count = plan_->phases.size() > 1 || any_tree ? system_.splits : 1;
    if (any_tree) {
      chunks_count += chunks_count % 2;
      // Both trees run together; of a lone tree phase everything does.
      plan_->lane_chunks_count =
          plan_->phases.size() == 1 ? chunks_count : std::max(plan_->lane_chunks_count, 2);
    }
    if (!any_bytes) chunks_count = 1;
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
    for (int lower = 0; lower < dim; ++lower) stride *= system_.dims[lower].npus_count;
    AddPhase(op, dim, system_.dims[dim].npus_count, stride, implementation_.per_dim[dim], share);
  }

  static void SetSends(AlgorithmChoice choice, CollectivePhase* phase) {
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
  if (type != CollectiveType::kAllGather && chunk_bytes < npus_count) {
    chunk_bytes = npus_count;
    bytes = system.splits * npus_count;
  }
  if (chunk_bytes == 0) chunk_bytes = std::min<int64_t>(bytes, 1);
  return {chunk_bytes, chunk_bytes == 0 ? 1 : (bytes + chunk_bytes - 1) / chunk_bytes};
}

// The double binary tree is an all-reduce. In physical semantics nothing else runs on it.
std::string TreeFault(const SystemDescription& system, CollectiveType type, size_t dim) {
  if (OpOf(type) != PhaseOp::kAllReduce) {
    return "doubleBinaryTree is an all-reduce: configure ring, direct or halvingDoubling";
  }
  if (system.all_reduce.flat || !system.local_bw_aware) return "";
  for (size_t higher = dim + 1; higher < system.dims.size(); ++higher) {
    if (system.dims[higher].npus_count == 1 || system.dims[dim].npus_count == 1) continue;
    return absl::StrCat("doubleBinaryTree is an all-reduce, and with localBWAware dimension ", dim,
                        " runs a reduce-scatter and an all-gather: configure baseline, or ring, ",
                        "direct or halvingDoubling");
  }
  return "";
}

}  // namespace

bool HasCostModel(CollectiveType type) {
  return type == CollectiveType::kAllReduce || type == CollectiveType::kAllGather ||
         type == CollectiveType::kReduceScatter || type == CollectiveType::kReduceScatterBlock ||
         type == CollectiveType::kAllToAll;
}

const CollectiveImplementation& ImplementationOf(const SystemDescription& system,
                                                 CollectiveType type) {
  CHECK(HasCostModel(type)) << static_cast<int>(type);
  switch (OpOf(type)) {
    case PhaseOp::kAllReduce:
      return system.all_reduce;
    case PhaseOp::kAllGather:
      return system.all_gather;
    case PhaseOp::kAllToAll:
      return system.all_to_all;
    case PhaseOp::kReduceScatter:
      break;
  }
  return system.reduce_scatter;
}

void PlanCollective(const SystemDescription& system, CollectiveType type, int64_t bytes,
                    int32_t ranks_count, uint32_t involved_dims, CollectivePlan* plan) {
  const bool astra = system.semantics == Semantics::kAstra;
  const auto [chunk_bytes, chunks_count] =
      astra ? AstraChunks(system, type, bytes) : std::pair(bytes, int64_t{1});
  plan->phases.clear();
  plan->lanes_count = static_cast<int32_t>(system.dims.size()) * system.num_queues_per_dim;
  plan->lane_chunks_count =
      (system.active_chunks_per_dim + system.num_queues_per_dim - 1) / system.num_queues_per_dim;
  Planner planner(system, ImplementationOf(system, type), plan);
  planner.set_bytes(chunk_bytes);
  if (ranks_count == NpusCount(system)) {
    planner.AddAllNpus(OpOf(type), involved_dims);
  } else {
    planner.AddSubgroup(OpOf(type), ranks_count);
  }
  if (astra) {
    planner.CutAstra(chunks_count);
  } else {
    planner.CutPhysical(bytes > 0);
  }
}

std::string PlanFault(const SystemDescription& system, CollectiveType type, int32_t ranks_count) {
  const bool subgroup = ranks_count != NpusCount(system);
  if (subgroup && (system.dims.size() > 1 || ranks_count < 2)) return "";
  const bool astra = system.semantics == Semantics::kAstra;
  const CollectiveImplementation& implementation = ImplementationOf(system, type);
  for (size_t dim = 0; dim < implementation.per_dim.size(); ++dim) {
    const AlgorithmKind kind = implementation.per_dim[dim].kind;
    if (kind == AlgorithmKind::kHalvingDoubling && type == CollectiveType::kAllToAll && astra) {
      return "halvingDoubling has no all-to-all";
    }
    if (kind == AlgorithmKind::kDoubleBinaryTree && !astra) {
      const std::string fault = TreeFault(system, type, dim);
      if (!fault.empty()) return fault;
    }
    const bool needs_power_of_two = kind == AlgorithmKind::kHalvingDoubling ||
                                    (kind == AlgorithmKind::kDoubleBinaryTree && astra);
    if (subgroup && needs_power_of_two && !std::has_single_bit(uint32_t(ranks_count))) {
      return absl::StrCat(AlgorithmKindName(kind), " needs a power of two of ranks, and ",
                          "the group has ", ranks_count);
    }
  }
  return "";
}

}  // namespace chakrad
