#include "trace/link/match_host.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "trace/link/align.h"
#include "trace/link/comm_kernels.h"
#include "trace/readers/kineto/kineto.h"
#include "trace/readers/pytorch_et/pytorch_et.h"

namespace chakrad {
namespace {

// Threads that are compared with each other, those with most operations first:
// bounds the pairs of threads on files with many of them.
constexpr size_t kMaxComparedThreads = 64;

absl::string_view EtName(const PyTorchEt& et, uint32_t op) {
  return et.strings.Get(et.ops[op].name);
}
absl::string_view EventName(const KinetoTrace& kineto, uint32_t event) {
  return kineto.strings.Get(kineto.events.name(event));
}
// One spelling for a step's mark: recorders number it or write a star.
absl::string_view PlainName(absl::string_view name) {
  return absl::StartsWith(name, "ProfilerStep") ? absl::string_view("ProfilerStep") : name;
}
bool IsHostEvent(KinetoKind kind) {
  return kind == KinetoKind::kHostOp || kind == KinetoKind::kAnnotation;
}

// Operations of the execution trace in the order of their ids, without roots.
std::vector<uint32_t> OpsById(const PyTorchEt& et) {
  std::vector<uint32_t> ops;
  for (uint32_t op = 0; op < et.ops.size(); ++op) {
    if (!IsEtRoot(et, op)) ops.push_back(op);
  }
  std::sort(ops.begin(), ops.end(),
            [&et](uint32_t a, uint32_t b) { return et.ops[a].id < et.ops[b].id; });
  return ops;
}

class Matcher {
 public:
  Matcher(const PyTorchEt& et, const KinetoTrace& kineto)
      : et_(et), kineto_(kineto), ops_(OpsById(et)) {
    Reset();
  }

  HostMatch Run() {
    const int64_t candidates = MatchById();
    match_.by_id = match_.matched_count > 0 && 2 * match_.matched_count >= candidates;
    if (!match_.by_id) {
      const int64_t disagreements = match_.disagreements_count;
      Reset();
      match_.disagreements_count = disagreements;
      MatchByOrder();
    }
    FindThreads();
    match_.ops_count = static_cast<int64_t>(ops_.size());
    return std::move(match_);
  }

 private:
  void Reset() {
    match_ = HostMatch();
    match_.event_of_op.assign(et_.ops.size(), kNone);
    match_.op_of_event.assign(kineto_.events.size(), kNone);
  }

  void Pair(uint32_t op, uint32_t event) {
    match_.event_of_op[op] = event;
    match_.op_of_event[event] = op;
    ++match_.matched_count;
  }

  // Returns how many operations found an event with their id.
  int64_t MatchById() {
    absl::flat_hash_map<int64_t, uint32_t> event_of_id;
    event_of_id.reserve(ops_.size());
    for (uint32_t event = 0; event < kineto_.events.size(); ++event) {
      if (!IsHostEvent(kineto_.events.kind(event))) continue;
      const int64_t rf_id = kineto_.events.rf_id(event);
      if (rf_id > 0) event_of_id.emplace(rf_id, event);
    }
    int64_t candidates = 0;
    for (const uint32_t op : ops_) {
      const uint64_t rf_id = et_.ops[op].rf_id;
      if (rf_id == 0 || rf_id > static_cast<uint64_t>(INT64_MAX)) continue;
      const auto it = event_of_id.find(static_cast<int64_t>(rf_id));
      if (it == event_of_id.end()) continue;
      ++candidates;
      if (PlainName(EtName(et_, op)) != PlainName(EventName(kineto_, it->second))) {
        ++match_.disagreements_count;
      } else if (match_.op_of_event[it->second] == kNone) {
        Pair(op, it->second);
      }
    }
    return candidates;
  }

  uint32_t NameNumber(absl::string_view name) {
    return name_numbers_.emplace(PlainName(name), static_cast<uint32_t>(name_numbers_.size()))
        .first->second;
  }

  struct Thread {
    uint64_t key = 0;               // The recorder's thread number or the queue's index.
    std::vector<uint32_t> members;  // Operations or events in start order.
    std::vector<uint32_t> names;    // Their name numbers.
    std::map<uint32_t, int64_t> count_of_name;
  };

  void AddTo(std::map<uint64_t, Thread>* threads, uint64_t key, uint32_t member,
             absl::string_view name) {
    Thread& thread = (*threads)[key];
    thread.key = key;
    thread.members.push_back(member);
    thread.names.push_back(NameNumber(name));
    ++thread.count_of_name[thread.names.back()];
  }

  static std::vector<const Thread*> Largest(const std::map<uint64_t, Thread>& threads) {
    std::vector<const Thread*> list;
    for (const auto& [key, thread] : threads) list.push_back(&thread);
    std::stable_sort(list.begin(), list.end(), [](const Thread* a, const Thread* b) {
      return a->members.size() > b->members.size();
    });
    if (list.size() > kMaxComparedThreads) list.resize(kMaxComparedThreads);
    return list;
  }

  static int64_t InCommon(const Thread& a, const Thread& b) {
    int64_t sum = 0;
    for (const auto& [name, count] : a.count_of_name) {
      const auto it = b.count_of_name.find(name);
      if (it != b.count_of_name.end()) sum += std::min(count, it->second);
    }
    return sum;
  }

  void MatchByOrder() {
    std::map<uint64_t, Thread> et_threads, kineto_threads;
    // Asynchronous communication by name: it starts on one thread, ends on another.
    std::map<absl::string_view, std::pair<std::vector<uint32_t>, std::vector<uint32_t>>> async;
    for (const uint32_t op : ops_) {
      const absl::string_view name = EtName(et_, op);
      if (IsAsyncHostComm(name)) {
        async[name].first.push_back(op);
      } else {
        AddTo(&et_threads, et_.ops[op].tid, op, name);
      }
    }
    for (uint32_t event = 0; event < kineto_.events.size(); ++event) {
      if (!IsHostEvent(kineto_.events.kind(event))) continue;
      const absl::string_view name = EventName(kineto_, event);
      if (IsAsyncHostComm(name)) {
        async[name].second.push_back(event);
      } else {
        AddTo(&kineto_threads, kineto_.events.queue(event), event, name);
      }
    }
    AlignThreads(et_threads, kineto_threads);
    for (const auto& [name, lists] : async) {
      const size_t count = std::min(lists.first.size(), lists.second.size());
      for (size_t i = 0; i < count; ++i) Pair(lists.first[i], lists.second[i]);
    }
  }

  void AlignThreads(const std::map<uint64_t, Thread>& et_threads,
                    const std::map<uint64_t, Thread>& kineto_threads) {
    std::vector<std::tuple<int64_t, const Thread*, const Thread*>> pairs;
    for (const Thread* a : Largest(et_threads)) {
      for (const Thread* b : Largest(kineto_threads)) pairs.emplace_back(InCommon(*a, *b), a, b);
    }
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const auto& a, const auto& b) { return std::get<0>(a) > std::get<0>(b); });
    std::vector<const Thread*> taken;
    const auto is_taken = [&taken](const Thread* thread) {
      return std::find(taken.begin(), taken.end(), thread) != taken.end();
    };
    int64_t window_start_ns = kUnknownNs;  // Of the first, largest pair: the others lie there too.
    for (const auto& [in_common, a, b] : pairs) {
      if (in_common == 0 || is_taken(a) || is_taken(b)) continue;
      taken.push_back(a);
      taken.push_back(b);
      const std::vector<uint32_t> partner =
          AlignSequences(a->names, b->names, PreferredBegin(*b, window_start_ns));
      for (size_t i = 0; i < partner.size(); ++i) {
        if (partner[i] == kNone) continue;
        const uint32_t event = b->members[partner[i]];
        Pair(a->members[i], event);
        if (window_start_ns == kUnknownNs) window_start_ns = kineto_.events.start_ns(event);
      }
    }
  }

  int64_t PreferredBegin(const Thread& thread, int64_t window_start_ns) const {
    if (window_start_ns == kUnknownNs) return -1;
    const auto it = std::lower_bound(
        thread.members.begin(), thread.members.end(), window_start_ns,
        [this](uint32_t event, int64_t ns) { return kineto_.events.start_ns(event) < ns; });
    return it - thread.members.begin();
  }

  // A recorder's thread is the Kineto thread where most of its operations ran.
  void FindThreads() {
    std::map<uint64_t, std::map<uint32_t, int64_t>> votes;
    for (const uint32_t op : ops_) {
      const uint32_t event = match_.event_of_op[op];
      if (event == kNone || IsAsyncHostComm(EtName(et_, op))) continue;
      ++votes[et_.ops[op].tid][kineto_.events.queue(event)];
    }
    for (const auto& [tid, counts] : votes) {
      const auto most =
          std::max_element(counts.begin(), counts.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      match_.queue_of_tid[tid] = most->first;
    }
  }

  const PyTorchEt& et_;
  const KinetoTrace& kineto_;
  const std::vector<uint32_t> ops_;
  HostMatch match_;
  absl::flat_hash_map<std::string, uint32_t> name_numbers_;
};

}  // namespace

bool IsEtRoot(const PyTorchEt& et, uint32_t op) {
  return absl::StartsWith(EtName(et, op), "[pytorch|profiler|");
}

HostMatch MatchHost(const PyTorchEt& et, const KinetoTrace& kineto) {
  return Matcher(et, kineto).Run();
}

}  // namespace chakrad
