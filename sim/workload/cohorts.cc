// The part of Workload that makes cohorts, and splits them.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/limits.h"
#include "sim/workload/workload.h"

namespace chakrad {
namespace {

// By rank. Overrides do not overlap: see CheckSystem.
std::vector<double> ComputeScales(const SystemDescription& system, int32_t ranks_count) {
  std::vector<double> scales(ranks_count, 1);
  for (const NpuOverride& over : system.npu_overrides) {
    std::fill(scales.begin() + over.first_npu, scales.begin() + over.last_npu + 1,
              over.compute_scale);
  }
  return scales;
}

}  // namespace

void Workload::MakeCohorts(bool fold) {
  std::map<std::tuple<uint32_t, double, int32_t>, std::vector<int32_t>> ranks_of;
  const std::vector<double> scales = ComputeScales(*system_, trace_->world_size);
  for (int32_t rank = 0; rank < trace_->world_size; ++rank) {
    const uint32_t index = parts_.cast->trace_of[rank];
    ranks_of[{index, scales[rank], fold ? 0 : rank}].push_back(rank);
  }
  // By their lowest rank, so that nothing depends on the order of the traces.
  std::map<int32_t, const std::tuple<uint32_t, double, int32_t>*> by_rank;
  for (const auto& [key, ranks] : ranks_of) by_rank[ranks[0]] = &key;
  for (const auto& [rank, key] : by_rank) {
    MakeCohort(std::get<0>(*key), std::get<1>(*key), std::move(ranks_of[*key]));
  }
}

void Workload::MakeCohort(uint32_t trace_index, double compute_scale, std::vector<int32_t> ranks) {
  const uint32_t index = static_cast<uint32_t>(cohorts_.size());
  Cohort& cohort = cohorts_.emplace_back();
  cohort.trace_index = trace_index;
  cohort.trace = &trace_->ranks[trace_index];
  cohort.graph = &(*parts_.graphs)[trace_index];
  cohort.plan = &(*parts_.plans)[trace_index];
  cohort.compute_scale = compute_scale;
  cohort.pending = cohort.graph->deps_count;
  cohort.slots.resize(cohort.plan->slots_count);
  if (parts_.options->critical_path || parts_.options->memory_use) {
    cohort.start_ps.assign(cohort.trace->size(), 0);
    cohort.node_end_ps.assign(cohort.trace->size(), 0);
  }
  for (const int32_t rank : ranks) cohort_of_[rank] = index;
  const int64_t ranks_count = static_cast<int64_t>(ranks.size());
  cohort.ranks = std::move(ranks);
  nodes_count_ += ranks_count * cohort.trace->size();
  pending_count_ += cohort.trace->size();
  const ComputeCosts& costs = cohort.plan->costs;
  counts_.recorded_durations += ranks_count * costs.recorded_count;
  counts_.unknown_durations += ranks_count * costs.unknown_count;
  counts_.roofline_skipped += ranks_count * costs.skipped_count;
  counts_.rooflines += ranks_count * costs.roofline_count;
  counts_.shapes += ranks_count * costs.shapes_count;
  counts_.without_size += ranks_count * costs.without_size_count;
  counts_.charged_any_time = counts_.charged_any_time || cohort.plan->charges_time;
}

std::vector<uint32_t> Workload::Split(uint32_t parent, std::vector<std::vector<int32_t>> parts) {
  std::vector<int32_t> ranks = std::move(cohorts_[parent].ranks);
  const int32_t spoke = ranks[0];  // For all of them.
  std::vector<bool> leaves;        // By place in `ranks`.
  leaves.assign(ranks.size(), false);
  for (const std::vector<int32_t>& part : parts) {
    for (const int32_t rank : part) {
      leaves[std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin()] = true;
    }
  }
  std::vector<int32_t> stay;
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (!leaves[i]) stay.push_back(ranks[i]);
  }
  for (GroupUse& use : cohorts_[parent].groups) {
    use.parts_known = false;
    use.parts.clear();
  }
  std::vector<uint32_t> cohorts;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i == 0 && stay.empty()) {
      cohorts.push_back(parent);
      continue;
    }
    pending_count_ += cohorts_[parent].trace->size();
    if (pending_count_ > kMaxNodes) {
      status_ = absl::ResourceExhaustedError(absl::StrCat(
          "nodes: ranks that no longer behave alike have more than the limit of ", kMaxNodes));
      break;
    }
    const uint32_t child = static_cast<uint32_t>(cohorts_.size());
    cohorts_.push_back(cohorts_[parent]);
    for (const int32_t rank : parts[i]) cohort_of_[rank] = child;
    cohorts_[child].ranks = std::move(parts[i]);
    CopyInFlight(parent, child);
    cohorts.push_back(child);
  }
  cohorts_[parent].ranks = stay.empty() ? std::move(parts[0]) : std::move(stay);
  if (remote_memory_ != nullptr) {
    remote_memory_->CopyBusy(spoke, cohorts_[parent].ranks[0]);
    for (const uint32_t cohort : cohorts)
      remote_memory_->CopyBusy(spoke, cohorts_[cohort].ranks[0]);
  }
  return cohorts;
}

// What will end by itself for the parent will do so for the child, too; what ends at one time in
// the same order.
void Workload::CopyInFlight(uint32_t parent, uint32_t child) {
  cohorts_[child].timers.clear();
  struct End {
    int64_t push;
    bool is_timer;
    uint32_t index;
  };
  std::vector<End> ends;
  for (uint32_t i = 0; i < cohorts_[parent].slots.size(); ++i) {
    const Slot& slot = cohorts_[parent].slots[i];
    if (slot.node == kNone || slot.until_ps == Slot::kNotYet) continue;
    ends.push_back({slot.push, false, i});
  }
  for (const uint32_t index : cohorts_[parent].timers) {
    ends.push_back({timers_[index].push, true, index});
  }
  std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) { return a.push < b.push; });
  for (const End& end : ends) {
    if (end.is_timer) {
      Timer timer = timers_[end.index];
      timer.cohort = child;
      PushTimer(timer);
    } else {
      const uint16_t slot = static_cast<uint16_t>(end.index);
      PushSlotEnd(child, slot, cohorts_[child].slots[slot].until_ps);
    }
  }
}

}  // namespace chakrad
