#include "sim/collective/traffic.h"

#include <algorithm>

#include "absl/numeric/int128.h"
#include "common/saturating.h"
#include "sim/collective/steps.h"

namespace chakrad {
namespace {

// Counts the messages of one phase.
class Counter {
 public:
  Counter(const SystemDescription& system, const Topology& topology, const GroupIndex& group,
          int32_t chunks_count, std::vector<DimTraffic>* dims)
      : system_(system),
        topology_(topology),
        group_(group),
        chunks_count_(chunks_count),
        dims_(dims) {}

  void Count(const CollectivePhase& phase) {
    switch (phase.algorithm) {
      case AlgorithmKind::kRing:
        return ForMembers(phase, [&](int32_t member, int32_t place) {
          const int32_t next = place + 1 == phase.places_count ? 0 : place + 1;
          Add(phase, member, place, next, phase.sends_count, phase.message_bytes);
        });
      case AlgorithmKind::kDirect:
        return ForMembers(phase, [&](int32_t member, int32_t place) {
          const int64_t rounds = phase.sends_count / (phase.places_count - 1);
          for (int32_t peer = 0; peer < phase.places_count; ++peer) {
            if (peer != place) Add(phase, member, place, peer, rounds, phase.message_bytes);
          }
        });
      case AlgorithmKind::kHalvingDoubling:
        return ForMembers(phase, [&](int32_t member, int32_t place) {
          for (int64_t step = 0; step < phase.sends_count; ++step) {
            const PairStep what = PairStepAt(phase, place, step, 1);
            Add(phase, member, place, what.peer, 1, what.bytes);
          }
        });
      case AlgorithmKind::kDoubleBinaryTree:
        return CountTrees(phase);
      case AlgorithmKind::kScript:
        return;
    }
  }

 private:
  template <typename Fn>
  void ForMembers(const CollectivePhase& phase, const Fn& count) {
    for (int32_t member = 0; member < group_.members_count(); ++member) {
      count(member, member / phase.stride % phase.places_count);
    }
  }

  // Each edge carries a chunk up and down.
  void CountTrees(const CollectivePhase& phase) {
    const int32_t odd = chunks_count_ / 2, even = chunks_count_ - odd;
    chunks_count_ = 1;
    for (const bool root_is_last : {true, false}) {
      const int64_t chunks = root_is_last ? even : odd;
      ForMembers(phase, [&](int32_t member, int32_t place) {
        const TreePlace tree = TreePlaceOf(phase.places_count, root_is_last, place);
        if (tree.parent < 0) return;
        Add(phase, member, place, tree.parent, 2 * chunks, phase.chunk_bytes);
      });
    }
  }

  void Add(const CollectivePhase& phase, int32_t member, int32_t place, int32_t peer,
           int64_t messages_count, double bytes) {
    const int32_t src = group_.RankAt(member);
    const int32_t dst = group_.RankAt(member + (peer - place) * phase.stride);
    messages_count *= chunks_count_;
    for (int dim = topology_.FirstDifferingDim(src, dst);
         dim < static_cast<int>(topology_.dims().size()); ++dim) {
      if (topology_.coordinate(src, dim) == topology_.coordinate(dst, dim)) continue;
      int64_t& count = (*dims_)[dim].messages_count;
      count = SaturatingAdd(count, messages_count);
      (*dims_)[dim].bytes += static_cast<double>(messages_count) * bytes;
      if (system_.semantics == Semantics::kAstra) break;
    }
  }

  const SystemDescription& system_;
  const Topology& topology_;
  const GroupIndex& group_;
  int32_t chunks_count_;
  std::vector<DimTraffic>* dims_;
};

}  // namespace

bool RunsAlongOneDim(const SystemDescription& system, const Topology& topology,
                     const CollectivePhase& phase, const GroupIndex& group, int* dim) {
  if (!group.is_system()) return false;
  for (*dim = 0; *dim < static_cast<int>(system.dims.size()); ++*dim) {
    if (topology.stride(*dim) == phase.stride &&
        system.dims[*dim].npus_count == phase.places_count) {
      return true;
    }
  }
  return false;
}

std::vector<DimTraffic> TrafficOf(const SystemDescription& system, const Topology& topology,
                                  const CollectivePlan& plan, const GroupIndex& group) {
  std::vector<DimTraffic> dims(system.dims.size());
  for (const CollectivePhase& phase : plan.phases) {
    int dim = 0;
    const bool alike = phase.algorithm != AlgorithmKind::kDoubleBinaryTree &&
                       phase.algorithm != AlgorithmKind::kScript;
    if (alike && RunsAlongOneDim(system, topology, phase, group, &dim)) {
      const int64_t members = group.members_count();
      double bytes = static_cast<double>(phase.sends_count) * phase.message_bytes;
      if (phase.algorithm == AlgorithmKind::kHalvingDoubling) {
        bytes = 0;
        for (int64_t step = 0; step < phase.sends_count; ++step) {
          bytes += PairStepAt(phase, 0, step, 1).bytes;
        }
      }
      // Ring all-to-alls of very many ranks have more than int64 holds.
      const absl::int128 count =
          absl::int128(members) * plan.chunks_count * phase.sends_count + dims[dim].messages_count;
      dims[dim].messages_count = static_cast<int64_t>(std::min<absl::int128>(count, INT64_MAX));
      dims[dim].bytes += static_cast<double>(members) * plan.chunks_count * bytes;
      continue;
    }
    Counter(system, topology, group, plan.chunks_count, &dims).Count(phase);
  }
  return dims;
}

}  // namespace chakrad
