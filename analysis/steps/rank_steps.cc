#include "analysis/steps/rank_steps.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "analysis/steps/repetition.h"
#include "common/saturating.h"

namespace chakrad {
namespace {

constexpr int64_t kNoNumber = -1;

// By name: the N of "ProfilerStep#N", else kNoNumber.
std::vector<int64_t> StepNumbers(const StringTable& strings) {
  std::vector<int64_t> numbers(strings.size(), kNoNumber);
  for (uint32_t name = 0; name < strings.size(); ++name) {
    absl::string_view text = strings.Get(name);
    int64_t number;
    if (!absl::ConsumePrefix(&text, "ProfilerStep#")) continue;
    if (absl::SimpleAtoi(text, &number) && number >= 0) numbers[name] = number;
  }
  return numbers;
}

// Communication by what it moves, whatever its kernels are called.
std::vector<uint32_t> CommTokens(const RankTimeline& rank, std::vector<TimelineInterval>* at) {
  std::map<std::tuple<NodeType, CollectiveType, int64_t, uint32_t>, uint32_t> number_of;
  std::vector<uint32_t> tokens;
  for (const TimelineInterval& interval : rank.intervals) {
    const CommOp* comm = rank.trace->CommOf(interval.node);
    if (comm == nullptr) continue;
    const auto key = std::make_tuple(rank.trace->type[interval.node], comm->collective, comm->bytes,
                                     comm->group);
    tokens.push_back(number_of.emplace(key, number_of.size()).first->second);
    at->push_back(interval);
  }
  return tokens;
}

// The names of the outermost operations of the queue that has most of them.
std::vector<uint32_t> NameTokens(const RankTimeline& rank, std::vector<TimelineInterval>* at) {
  const size_t queues_count = rank.trace->queues.size();
  std::vector<int64_t> until_ps(queues_count, std::numeric_limits<int64_t>::min());
  std::vector<std::vector<TimelineInterval>> outermost(queues_count);
  for (const TimelineInterval& interval : rank.intervals) {
    if (interval.queue >= queues_count || interval.start_ps < until_ps[interval.queue]) continue;
    until_ps[interval.queue] = interval.end_ps;
    outermost[interval.queue].push_back(interval);
  }
  const auto busiest =
      std::max_element(outermost.begin(), outermost.end(),
                       [](const auto& a, const auto& b) { return a.size() < b.size(); });
  if (busiest == outermost.end()) return {};
  std::vector<uint32_t> tokens;
  for (const TimelineInterval& interval : *busiest) {
    tokens.push_back(rank.trace->name[interval.node]);
  }
  *at = std::move(*busiest);
  return tokens;
}

// A repetition of tokens as windows of time: each up to the next, the last up to its last end.
std::vector<StepWindow> WindowsOf(const Repetition& repetition,
                                  const std::vector<TimelineInterval>& at) {
  std::vector<StepWindow> windows;
  for (const uint32_t begin : repetition.begins) {
    if (!windows.empty()) windows.back().end = at[begin].start_ps;
    windows.push_back({static_cast<int64_t>(windows.size()), at[begin].start_ps, 0});
  }
  for (uint32_t i = repetition.begins.back(); i < repetition.end; ++i) {
    windows.back().end = std::max(windows.back().end, at[i].end_ps);
  }
  return windows;
}

// Which window a node belongs to: that in which the host operation that launched it began; of
// what nobody launched, that in which it began itself.
class Membership {
 public:
  // `starts`: of each node, in the windows' time; below 0: not known.
  Membership(const RankTrace& trace, const std::vector<StepWindow>& windows,
             const std::vector<int64_t>& starts)
      : trace_(trace), windows_(windows), starts_(starts) {}

  // windows.size() when it belongs to none.
  size_t Of(uint32_t node) const {
    int64_t start = starts_[node];
    for (uint32_t j = trace_.dep_begin[node]; j < trace_.dep_begin[node + 1]; ++j) {
      if (trace_.dep_kind[j] != EdgeKind::kLaunch || starts_[trace_.dep_node[j]] < 0) continue;
      start = starts_[trace_.dep_node[j]];
      break;
    }
    if (start < 0) return windows_.size();
    const auto after =
        std::upper_bound(windows_.begin(), windows_.end(), start,
                         [](int64_t at, const StepWindow& window) { return at < window.start; });
    if (after == windows_.begin() || start >= (after - 1)->end) return windows_.size();
    return static_cast<size_t>(after - windows_.begin()) - 1;
  }

 private:
  const RankTrace& trace_;
  const std::vector<StepWindow>& windows_;
  const std::vector<int64_t>& starts_;
};

// What was added to recorded times to make them the timeline's.
std::optional<int64_t> ShiftPs(const RankTimeline& rank) {
  for (const TimelineInterval& interval : rank.intervals) {
    const int64_t start_ps = SaturatingMultiply(rank.trace->start_ns[interval.node], kPsPerNs);
    if (start_ps == std::numeric_limits<int64_t>::max()) continue;
    return SaturatingSubtract(interval.start_ps, start_ps);
  }
  return std::nullopt;
}

// Extends each step to the device work that belongs to it; with `all`, to all its operations, and
// to the start of the first as well.
void AddMembers(const RankTimeline& rank, const Membership& membership, bool all,
                std::vector<StepWindow>* steps) {
  for (const TimelineInterval& interval : rank.intervals) {
    const bool on_device =
        interval.kind != IntervalKind::kHost &&
        !(rank.trace->is_host(interval.node) && interval.kind == IntervalKind::kCompute);
    if (!all && !on_device) continue;
    const size_t i = membership.Of(interval.node);
    if (i == steps->size()) continue;
    StepWindow& step = (*steps)[i];
    if (all) step.start = std::min(step.start, interval.start_ps);
    step.end = std::max(step.end, interval.end_ps);
  }
}

}  // namespace

std::vector<StepWindow> MarkedSteps(const RankTrace& trace) {
  const std::vector<int64_t> numbers = StepNumbers(trace.strings);
  if (std::all_of(numbers.begin(), numbers.end(), [](int64_t n) { return n == kNoNumber; })) {
    return {};
  }
  std::vector<StepWindow> windows;
  for (uint32_t node = 0; node < trace.size(); ++node) {
    if (numbers[trace.name[node]] == kNoNumber || trace.start_ns[node] < 0) continue;
    if ((trace.flags[node] & RankTrace::kAnnotation) == 0 || !trace.is_host(node)) continue;
    windows.push_back(
        {numbers[trace.name[node]], trace.start_ns[node],
         SaturatingAdd(trace.start_ns[node], std::max<int64_t>(trace.dur_ns[node], 0))});
  }
  std::sort(windows.begin(), windows.end(), [](const StepWindow& a, const StepWindow& b) {
    return std::tie(a.start, a.number, a.end) < std::tie(b.start, b.number, b.end);
  });
  std::set<int64_t> seen;
  std::erase_if(windows, [&seen](const StepWindow& w) { return !seen.insert(w.number).second; });
  for (size_t i = 0; i + 1 < windows.size(); ++i) {
    windows[i].end = std::min(windows[i].end, windows[i + 1].start);
  }
  return windows;
}

StepWindows RepeatedSteps(const RankTimeline& rank) {
  std::vector<TimelineInterval> comm_at, names_at;
  const auto found = [&rank](const Repetition& repetition,
                             const std::vector<TimelineInterval>& at) {
    const bool on_host = rank.trace->is_host(at[repetition.begins.front()].node);
    return StepWindows{WindowsOf(repetition, at),
                       on_host ? StepSource::kHost : StepSource::kDevice};
  };
  const std::vector<uint32_t> comm = CommTokens(rank, &comm_at);
  const std::optional<Repetition> of_comm = FindRepetition(comm);
  // One operation that comes again and again may well be a part of a step: names know more.
  if (of_comm.has_value() && of_comm->period > 1) return found(*of_comm, comm_at);
  const std::optional<Repetition> of_names = FindRepetition(NameTokens(rank, &names_at));
  if (of_names.has_value()) return found(*of_names, names_at);
  if (of_comm.has_value()) return found(*of_comm, comm_at);
  return {};
}

std::vector<StepWindow> StepsOf(const RankTimeline& rank, bool simulated,
                                const StepWindows& windows) {
  const bool marked = windows.source == StepSource::kMarks;
  const bool by_members = marked && simulated;
  std::vector<StepWindow> steps = windows.windows;
  if (by_members) {
    for (StepWindow& step : steps) {
      step.start = std::numeric_limits<int64_t>::max();
      step.end = 0;
    }
  } else if (marked) {
    const std::optional<int64_t> shift_ps = ShiftPs(rank);
    if (!shift_ps.has_value()) return {};
    for (StepWindow& step : steps) {
      step.start = SaturatingAdd(SaturatingMultiply(step.start, kPsPerNs), *shift_ps);
      step.end = SaturatingAdd(SaturatingMultiply(step.end, kPsPerNs), *shift_ps);
    }
  }
  if (windows.source != StepSource::kDevice) {
    const std::vector<int64_t> starts = marked ? rank.trace->start_ns : NodeTimesOf(rank).start_ps;
    AddMembers(rank, Membership(*rank.trace, windows.windows, starts), by_members, &steps);
  }
  int64_t before_ps = rank.start_ps;
  for (StepWindow& step : steps) {
    step.start = std::max(step.start, before_ps);
    step.end = std::min(step.end, rank.end_ps);
    before_ps = std::max(before_ps, step.end);
  }
  std::erase_if(steps, [](const StepWindow& step) { return step.end <= step.start; });
  return steps;
}

}  // namespace chakrad
