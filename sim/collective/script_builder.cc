#include "sim/collective/script_builder.h"

#include "common/check.h"

namespace chakrad {
namespace {

// Stable, by key in [0, keys_count). O(items + keys).
template <typename T, typename Key>
std::vector<T> SortedBy(const std::vector<T>& items, size_t keys_count, const Key& key) {
  std::vector<uint32_t> next(keys_count + 1, 0);
  for (const T& item : items) ++next[key(item) + 1];
  for (size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
  std::vector<T> sorted(items.size());
  for (const T& item : items) sorted[next[key(item)]++] = item;
  return sorted;
}

}  // namespace

ScriptBuilder::ScriptBuilder(int32_t places_count) : of_place_(places_count) {}

uint32_t ScriptBuilder::Add(int32_t place, ScriptStep::Kind kind) {
  std::vector<uint32_t>& mine = of_place_[place];
  const uint32_t number = static_cast<uint32_t>(mine.size());
  mine.push_back(static_cast<uint32_t>(steps_.size()));
  ScriptStep step;
  step.kind = kind;
  steps_.push_back(step);
  number_.push_back(number);
  return number;
}

void ScriptBuilder::Connect(int32_t from, uint32_t send, int32_t to, uint32_t receive,
                            int64_t units) {
  ScriptStep& there = steps_[Index(from, send)];
  ScriptStep& here = steps_[Index(to, receive)];
  CHECK(there.kind == ScriptStep::Kind::kSend && here.kind == ScriptStep::Kind::kReceive);
  there.peer = to;
  there.peer_step = receive;
  there.units = units;
  here.peer = from;
  here.peer_step = send;
  here.units = units;
}

void ScriptBuilder::SetDuration(int32_t place, uint32_t step, int64_t duration_ns) {
  steps_[Index(place, step)].duration_ns = duration_ns;
}

void ScriptBuilder::SetReduces(int32_t place, uint32_t step) {
  steps_[Index(place, step)].reduces = true;
}

void ScriptBuilder::Wait(int32_t place, uint32_t step, uint32_t dependency) {
  edges_.push_back({Index(place, step), Index(place, dependency)});
  ++steps_[edges_.back().step].deps_count;
}

ScriptBuilder::Message ScriptBuilder::AddMessage(int32_t from, int32_t to, int64_t units,
                                                 bool reduces) {
  const Message message{Add(from, ScriptStep::Kind::kSend), Add(to, ScriptStep::Kind::kReceive)};
  Connect(from, message.send, to, message.receive, units);
  if (reduces) SetReduces(to, message.receive);
  return message;
}

CollectiveScript ScriptBuilder::Build(int64_t units_total) {
  CollectiveScript script;
  script.places_count = static_cast<int32_t>(of_place_.size());
  script.units_total = units_total;
  std::vector<uint32_t> new_index(steps_.size());
  script.steps.reserve(steps_.size());
  script.step_begin.push_back(0);
  for (const std::vector<uint32_t>& mine : of_place_) {
    for (const uint32_t index : mine) {
      new_index[index] = static_cast<uint32_t>(script.steps.size());
      script.steps.push_back(steps_[index]);
    }
    script.step_begin.push_back(static_cast<uint32_t>(script.steps.size()));
  }
  // Counting sorts: by the step that waits, then by what it waits for, so that the dependents
  // of a step come in order.
  std::vector<Edge> edges =
      SortedBy(edges_, script.steps.size(), [&](const Edge& edge) { return new_index[edge.step]; });
  edges = SortedBy(edges, script.steps.size(),
                   [&](const Edge& edge) { return new_index[edge.dependency]; });
  script.dependent_begin.assign(script.steps.size() + 1, 0);
  for (const Edge& edge : edges) {
    ++script.dependent_begin[new_index[edge.dependency] + 1];
    script.dependent.push_back(number_[edge.step]);
  }
  for (size_t i = 1; i < script.dependent_begin.size(); ++i) {
    script.dependent_begin[i] += script.dependent_begin[i - 1];
  }
  return script;
}

StuckStep FindStuckStep(const CollectiveScript& script) {
  // A receive also waits for its send.
  std::vector<uint32_t> waits(script.steps.size());
  std::vector<int32_t> place_of(script.steps.size());
  std::vector<uint32_t> runs;
  for (int32_t place = 0; place < script.places_count; ++place) {
    for (uint32_t i = script.step_begin[place]; i < script.step_begin[place + 1]; ++i) {
      const ScriptStep& step = script.steps[i];
      place_of[i] = place;
      waits[i] = step.deps_count + (step.kind == ScriptStep::Kind::kReceive ? 1 : 0);
      if (waits[i] == 0) runs.push_back(i);
    }
  }
  for (size_t done = 0; done < runs.size(); ++done) {
    const uint32_t i = runs[done];
    const ScriptStep& step = script.steps[i];
    const auto release = [&](uint32_t index) {
      if (--waits[index] == 0) runs.push_back(index);
    };
    for (uint32_t j = script.dependent_begin[i]; j < script.dependent_begin[i + 1]; ++j) {
      release(script.step_begin[place_of[i]] + script.dependent[j]);
    }
    if (step.kind == ScriptStep::Kind::kSend)
      release(script.step_begin[step.peer] + step.peer_step);
  }
  for (uint32_t i = 0; i < waits.size(); ++i) {
    if (waits[i] > 0) return {place_of[i], i - script.step_begin[place_of[i]]};
  }
  return {};
}

}  // namespace chakrad
