#include "analysis/steps/steps.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analysis/steps/rank_steps.h"
#include "common/check.h"

namespace chakrad {
namespace {

// The windows of each rank; equal graphs are looked at once where that is enough.
std::vector<StepWindows> AllMarked(const JobTimeline& job) {
  std::map<const RankTrace*, std::vector<StepWindow>> of_graph;
  std::vector<StepWindows> all;
  for (const RankTimeline& rank : job.ranks) {
    const auto [it, added] = of_graph.try_emplace(rank.trace);
    if (added) it->second = MarkedSteps(*rank.trace);
    all.push_back({it->second, StepSource::kMarks});
  }
  return all;
}

// What repeats on each rank; of ranks that found another number of steps than most, nothing.
std::vector<StepWindows> AllRepeated(const JobTimeline& job) {
  std::vector<StepWindows> all;
  std::map<size_t, size_t> ranks_count_of;  // By number of steps.
  for (const RankTimeline& rank : job.ranks) {
    all.push_back(RepeatedSteps(rank));
    const size_t steps_count = all.back().windows.size();
    if (steps_count > 0) ++ranks_count_of[steps_count];
  }
  if (ranks_count_of.empty()) return all;
  const size_t usual =
      std::max_element(ranks_count_of.begin(), ranks_count_of.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; })
          ->first;
  for (StepWindows& of_rank : all) {
    if (of_rank.windows.size() != usual) of_rank.windows.clear();
  }
  return all;
}

bool AllEmpty(const std::vector<StepWindows>& all) {
  return std::all_of(all.begin(), all.end(), [](const auto& one) { return one.windows.empty(); });
}

// Steps by number, from those of each rank.
void Assemble(const std::vector<std::vector<StepWindow>>& all, const char* prefix,
              JobSteps* found) {
  std::map<int64_t, uint32_t> index_of;
  for (const std::vector<StepWindow>& steps : all) {
    for (const StepWindow& step : steps) index_of.emplace(step.number, 0);
  }
  for (auto& [number, index] : index_of) {
    index = static_cast<uint32_t>(found->steps.size());
    found->steps.push_back({.name = absl::StrCat(prefix, number)});
  }
  for (const std::vector<StepWindow>& steps : all) {
    std::vector<RankStep>& of_rank = found->ranks.emplace_back();
    for (const StepWindow& window : steps) {
      const uint32_t index = index_of.at(window.number);
      JobStep& step = found->steps[index];
      const bool first = step.ranks_count++ == 0;
      step.start_ps = first ? window.start : std::min(step.start_ps, window.start);
      step.end_ps = std::max(step.end_ps, window.end);
      of_rank.push_back({index, window.start, window.end});
    }
  }
}

}  // namespace

JobSteps FindSteps(const JobTimeline& job) {
  JobSteps found;
  std::vector<StepWindows> windows = AllMarked(job);
  const bool marked = !AllEmpty(windows);
  if (!marked) windows = AllRepeated(job);
  std::vector<std::vector<StepWindow>> all(windows.size());
  size_t without_count = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!windows[i].windows.empty()) all[i] = StepsOf(job.ranks[i], job.simulated, windows[i]);
    if (all[i].empty()) ++without_count;
  }
  Assemble(all, marked ? "ProfilerStep#" : "step ", &found);
  if (found.steps.empty()) return found;
  found.source = marked ? "profiler_step" : "repetition";
  if (without_count > 0) {
    found.notices.push_back(absl::StrCat("steps: ", without_count, " of ", all.size(), " ranks ",
                                         marked ? "mark none" : "do not repeat as the others do",
                                         " and are no part of them"));
  }
  return found;
}

JobTimeline CutToStep(const JobTimeline& job, const JobSteps& steps, size_t step) {
  CHECK(step < steps.steps.size()) << step;
  CHECK(steps.ranks.size() == job.ranks.size());
  std::vector<int64_t> start_ps(job.ranks.size(), 0), end_ps(job.ranks.size(), 0);
  for (size_t i = 0; i < job.ranks.size(); ++i) {
    for (const RankStep& of_rank : steps.ranks[i]) {
      if (of_rank.step != step) continue;
      start_ps[i] = of_rank.start_ps;
      end_ps[i] = of_rank.end_ps;
    }
  }
  return CutTimeline(job, start_ps, end_ps);
}

}  // namespace chakrad
