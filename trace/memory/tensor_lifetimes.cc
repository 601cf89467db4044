#include "trace/memory/tensor_lifetimes.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "trace/memory/tensor_values.h"
#include "trace/operators/nesting.h"
#include "trace/operators/operator_arguments.h"

namespace chakrad {
namespace {

// Where a node begins and ends in recorded order: callers around what they call.
struct Places {
  std::vector<uint32_t> enter, exit;  // By node.
  std::vector<uint32_t> node_at;      // Node of each place; kExitBit: its end.
};
constexpr uint32_t kExitBit = uint32_t{1} << 31;

// The places in the order of the trace: each thread's calls, depth first.
Places PlacesInTraceOrder(const RankTrace& trace) {
  const CallNesting nesting = FindNesting(trace);
  std::vector<uint32_t> child_begin(trace.size() + 1, 0), child, roots;
  for (uint32_t node = 0; node < trace.size(); ++node) {
    if (nesting.parent[node] != kNone) ++child_begin[nesting.parent[node] + 1];
  }
  for (uint32_t node = 0; node < trace.size(); ++node) child_begin[node + 1] += child_begin[node];
  child.resize(child_begin.back());
  std::vector<uint32_t> next(child_begin.begin(), child_begin.end() - 1);
  for (uint32_t node = 0; node < trace.size(); ++node) {
    if (!trace.is_host(node)) continue;
    const uint32_t parent = nesting.parent[node];
    if (parent == kNone) {
      roots.push_back(node);
    } else {
      child[next[parent]++] = node;
    }
  }
  Places places;
  std::vector<uint32_t> stack(roots.rbegin(), roots.rend());
  while (!stack.empty()) {
    const uint32_t top = stack.back();
    stack.pop_back();
    places.node_at.push_back(top);
    if ((top & kExitBit) != 0) continue;
    stack.push_back(top | kExitBit);
    for (uint32_t j = child_begin[top + 1]; j-- > child_begin[top];) stack.push_back(child[j]);
  }
  return places;
}

int64_t RecordedNs(const RankTrace& trace, uint32_t place) {
  const uint32_t node = place & ~kExitBit;
  return trace.start_ns[node] + ((place & kExitBit) != 0 ? trace.dur_ns[node] : 0);
}

Places FindPlaces(const RankTrace& trace) {
  Places places = PlacesInTraceOrder(trace);
  const bool timed = std::all_of(places.node_at.begin(), places.node_at.end(), [&](uint32_t place) {
    const uint32_t node = place & ~kExitBit;
    return trace.start_ns[node] != kUnknownNs && trace.dur_ns[node] >= 0;
  });
  if (timed) {
    std::stable_sort(places.node_at.begin(), places.node_at.end(), [&](uint32_t a, uint32_t b) {
      return RecordedNs(trace, a) < RecordedNs(trace, b);
    });
  }
  places.enter.assign(trace.size(), 0);
  places.exit.assign(trace.size(), 0);
  for (uint32_t i = 0; i < places.node_at.size(); ++i) {
    const uint32_t place = places.node_at[i];
    ((place & kExitBit) != 0 ? places.exit : places.enter)[place & ~kExitBit] = i;
  }
  return places;
}

class Finder {
 public:
  explicit Finder(const RankTrace& trace) : trace_(trace), places_(FindPlaces(trace)) {}

  TensorLifetimes Run() {
    for (const uint32_t place : places_.node_at) {
      const uint32_t node = place & ~kExitBit;
      if (trace_.ColdOf(node).empty()) continue;
      if ((place & kExitBit) == 0) {
        Enter(node);
      } else {
        Exit(node);
      }
    }
    for (const auto& [key, current] : current_) {
      TensorLife& life = result_.lives[current.life];
      if (life.first == kNone)
        life.last = kNone;  // It was there before, and nobody took its place.
    }
    return std::move(result_);
  }

 private:
  struct Current {
    uint32_t life = 0;     // The storage's latest.
    uint32_t begun = 0;    // Its first place.
    uint32_t touched = 0;  // Its last place so far.
  };
  using Key = std::pair<uint32_t, uint64_t>;  // Device, storage.

  uint32_t DeviceNumber(absl::string_view device) {
    const auto it = std::find(result_.devices.begin(), result_.devices.end(), device);
    if (it != result_.devices.end()) return static_cast<uint32_t>(it - result_.devices.begin());
    result_.devices.emplace_back(device);
    return static_cast<uint32_t>(result_.devices.size() - 1);
  }

  void Begin(const Key& key, uint32_t first, uint32_t place) {
    current_[key] = {static_cast<uint32_t>(result_.lives.size()), place, place};
    result_.lives.push_back({key.first, first, kNone, 0});
  }

  void Touch(const Key& key, const TensorValue& tensor, uint32_t node, uint32_t place) {
    Current& current = current_[key];
    current.touched = place;
    TensorLife& life = result_.lives[current.life];
    life.last = node;
    life.bytes = std::max(life.bytes, tensor.end_bytes);
  }

  void Read(uint32_t node) {
    const ArgumentTexts texts = TextsOfCold(trace_.ColdOf(node));
    inputs_.clear();
    outputs_.clear();
    FindTensorValues(texts.in_values, &inputs_);
    FindTensorValues(texts.out_values, &outputs_);
  }

  void Enter(uint32_t node) {
    Read(node);
    const uint32_t place = places_.enter[node];
    for (const TensorValue& tensor : inputs_) {
      const Key key(DeviceNumber(tensor.device), tensor.storage);
      if (!current_.contains(key)) Begin(key, kNone, place);
      Touch(key, tensor, node, place);
    }
  }

  void Exit(uint32_t node) {
    Read(node);
    const uint32_t place = places_.exit[node], enter = places_.enter[node];
    for (const TensorValue& tensor : inputs_) {
      const Key key(DeviceNumber(tensor.device), tensor.storage);
      // What something inside has allocated at the same address is another life.
      if (current_[key].begun <= enter) Touch(key, tensor, node, place);
    }
    for (const TensorValue& tensor : outputs_) {
      const Key key(DeviceNumber(tensor.device), tensor.storage);
      const auto it = current_.find(key);
      // An argument, or what something inside has allocated or used; else it is new.
      const bool known = it != current_.end() && it->second.touched >= enter;
      if (!known) Begin(key, node, place);
      Touch(key, tensor, node, place);
    }
  }

  const RankTrace& trace_;
  const Places places_;
  TensorLifetimes result_;
  std::map<Key, Current> current_;
  std::vector<TensorValue> inputs_, outputs_;  // Of the node at hand.
};

struct Change {
  int64_t at_ps;
  int64_t bytes;  // Below 0: given back.
};

// Steps of the sum of `changes` (sorted; of one time, frees first).
void Accumulate(const std::vector<Change>& changes, int64_t max_steps, MemoryUse* use) {
  int64_t bytes = use->resident_bytes;
  use->peak_bytes = bytes;
  use->peak_at_ps = changes.empty() ? 0 : changes.front().at_ps;
  std::vector<MemoryStep> steps;
  for (size_t i = 0; i < changes.size(); ++i) {
    bytes += changes[i].bytes;
    if (i + 1 < changes.size() && changes[i + 1].at_ps == changes[i].at_ps) continue;
    if (bytes > use->peak_bytes) {
      use->peak_bytes = bytes;
      use->peak_at_ps = changes[i].at_ps;
    }
    steps.push_back({changes[i].at_ps, bytes});
  }
  use->steps_coarse = static_cast<int64_t>(steps.size()) > max_steps;
  if (!use->steps_coarse) {
    use->steps = std::move(steps);
    return;
  }
  // Equal slices of time, each with the most that was there in it, what it began with included.
  const int64_t begin_ps = steps.front().at_ps;
  const int64_t slice_ps = (steps.back().at_ps - begin_ps) / max_steps + 1;
  size_t next = 0;
  int64_t held = use->resident_bytes;
  for (int64_t i = 0; i < max_steps; ++i) {
    int64_t most = held;
    const int64_t end_ps = begin_ps + (i + 1) * slice_ps;
    if (next < steps.size() && steps[next].at_ps == begin_ps + i * slice_ps) most = 0;
    for (; next < steps.size() && steps[next].at_ps < end_ps; ++next) {
      held = steps[next].bytes;
      most = std::max(most, held);
    }
    use->steps.push_back({begin_ps + i * slice_ps, most});
  }
}

}  // namespace

TensorLifetimes FindTensorLifetimes(const RankTrace& trace) {
  if (trace.cold_begin.empty()) return {};
  return Finder(trace).Run();
}

std::vector<MemoryUse> ComputeMemoryUse(const TensorLifetimes& lifetimes,
                                        const std::vector<int64_t>& start_ps,
                                        const std::vector<int64_t>& end_ps, int64_t max_steps) {
  std::vector<MemoryUse> uses(lifetimes.devices.size());
  std::vector<std::vector<Change>> changes(lifetimes.devices.size());
  for (size_t i = 0; i < uses.size(); ++i) uses[i].device = lifetimes.devices[i];
  for (const TensorLife& life : lifetimes.lives) {
    if (life.first != kNone && start_ps[life.first] < 0) continue;
    MemoryUse& use = uses[life.device];
    ++use.lives_count;
    if (life.first == kNone) {
      use.resident_bytes += life.bytes;
    } else {
      changes[life.device].push_back({start_ps[life.first], life.bytes});
    }
    if (life.last == kNone || start_ps[life.last] < 0) continue;
    const int64_t from_ps = life.first == kNone ? 0 : start_ps[life.first];
    changes[life.device].push_back({std::max(end_ps[life.last], from_ps), -life.bytes});
  }
  for (size_t i = 0; i < uses.size(); ++i) {
    std::sort(changes[i].begin(), changes[i].end(), [](const Change& a, const Change& b) {
      return std::tie(a.at_ps, a.bytes) < std::tie(b.at_ps, b.bytes);
    });
    Accumulate(changes[i], max_steps, &uses[i]);
  }
  return uses;
}

}  // namespace chakrad
