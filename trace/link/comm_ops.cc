#include "trace/link/comm_ops.h"

#include <algorithm>
#include <map>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/readers/kineto/kineto.h"
#include "trace/readers/manifest/manifest.h"
#include "trace/readers/pytorch_et/pytorch_et.h"

namespace chakrad {
namespace {

constexpr int kMaxCallDepth = 64;
// Members of a group that a call describes by start, stride and size.
constexpr int64_t kMaxGroupSize = int64_t{1} << 20;

bool Holds(const ProcessGroup& group, int32_t rank) {
  return std::find(group.ranks.begin(), group.ranks.end(), rank) != group.ranks.end();
}

bool NameBeginsWithAny(absl::string_view name, std::initializer_list<absl::string_view> prefixes) {
  for (const absl::string_view prefix : prefixes) {
    if (absl::StartsWithIgnoreCase(name, prefix)) return true;
  }
  return false;
}

// The members that a call itself tells; empty when it does not.
std::vector<int32_t> RanksOfCall(const CommArgs& args) {
  if (!args.group_ranks.empty()) return args.group_ranks;
  std::vector<int32_t> ranks;
  // A group of one has the stride 0.
  if (args.global_rank_start < 0 || args.global_rank_stride < (args.group_size == 1 ? 0 : 1) ||
      args.group_size < 1 || args.group_size > kMaxGroupSize) {
    return ranks;
  }
  for (int64_t i = 0; i < args.group_size; ++i) {
    const int64_t rank = args.global_rank_start + i * args.global_rank_stride;
    if (rank > INT32_MAX) return {};
    ranks.push_back(static_cast<int32_t>(rank));
  }
  return ranks;
}

class Filler {
 public:
  Filler(int32_t rank, LinkGraph* graph) : rank_(rank), graph_(*graph) {
    // Earlier tables win: Kineto's is of the run that was timed.
    if (graph->kineto != nullptr) AddKnown(graph->kineto->groups);
    if (graph->et != nullptr) AddKnown(graph->et->groups);
    if (graph->manifest == nullptr) return;
    AddKnown(graph->manifest->groups);
    size_t world_size = static_cast<size_t>(std::max(graph->manifest->world_size, 0));
    for (const ProcessGroup& group : graph->manifest->groups) {
      world_size = std::max(world_size, group.ranks.size());
    }
    for (const ProcessGroup& group : graph->manifest->groups) {
      if (group.ranks.size() < world_size && Holds(group, rank)) choices_.push_back(&group);
    }
  }

  void Run(const std::vector<CommCall>& calls) {
    for (const CommCall& call : calls) {
      if (call.args.group_address != 0) {
        address_numbers_.emplace(call.args.group_address, address_numbers_.size());
      }
    }
    for (const CommCall& call : calls) Fill(call);
    // What no operation of this rank uses is known all the same.
    if (graph_.kineto != nullptr) AddTable(graph_.kineto->groups);
    if (graph_.et != nullptr) AddTable(graph_.et->groups);
    Notify();
  }

 private:
  // Groups of a table that no group of that name came before.
  void AddTable(const std::vector<ProcessGroup>& groups) {
    for (const ProcessGroup& group : groups) {
      const auto it = known_.find(group.name);
      if (it != known_.end() && it->second.ranks == group.ranks) Add(group);
    }
  }

  void AddKnown(const std::vector<ProcessGroup>& groups) {
    for (const ProcessGroup& group : groups) known_.emplace(group.name, group);
  }

  void Fill(const CommCall& call) {
    CommOp op;
    op.collective = call.kind.collective;
    op.bytes = CommBytes(call.kind, call.args);
    if (op.bytes < 0) {
      op.bytes = 0;
      if (call.kind.collective != CollectiveType::kBarrier) ++without_bytes_count_;
    }
    if (call.undecided) ++undecided_count_;
    // Kernels of one call share its bytes; the first takes what does not divide.
    const int64_t share = op.bytes / call.kernels_count;
    op.bytes = call.kernel == 0 ? op.bytes - share * (call.kernels_count - 1) : share;
    op.group = GroupOf(call);
    if (call.kind.type == NodeType::kCommColl) {
      op.root = GlobalRank(call.args.root, op.group);
    } else {
      op.peer = GlobalRank(call.args.peer, call.args.peer_is_global ? kNone : op.group);
      op.tag = std::max<int64_t>(call.args.tag, 0);
      if (op.peer == kNoRank) ++without_peer_count_;
    }
    graph_.nodes[call.node].comm = static_cast<uint32_t>(graph_.comm.size());
    graph_.comm.push_back(op);
  }

  int32_t GlobalRank(int64_t group_rank, uint32_t group) {
    if (group_rank < 0 || group_rank > INT32_MAX) return kNoRank;
    if (group == kNone || graph_.groups[group].ranks.empty()) {
      return static_cast<int32_t>(group_rank);
    }
    const std::vector<int32_t>& ranks = graph_.groups[group].ranks;
    if (group_rank >= static_cast<int64_t>(ranks.size())) return kNoRank;
    return ranks[static_cast<size_t>(group_rank)];
  }

  uint32_t GroupOf(const CommCall& call) {
    if (!call.args.group_name.empty() || !call.args.group_ranks.empty()) return Named(call.args);
    const std::vector<int32_t> ranks = RanksOfCall(call.args);
    if (!ranks.empty()) return Add({"", call.args.group_description, ranks});
    if (!choices_.empty()) return Chosen(call);
    const auto address = address_numbers_.find(call.args.group_address);
    if (address_numbers_.size() < 2 || address == address_numbers_.end()) {
      ++unnamed_count_;
      return kNone;
    }
    // Several groups, told apart by nothing but an address.
    ++unknown_count_;
    return Add({absl::StrCat("unnamed ", address->second), "", {}});
  }

  uint32_t Named(const CommArgs& args) {
    const auto it = known_.find(args.group_name);
    std::vector<int32_t> ranks = RanksOfCall(args);
    if (it != known_.end() && !it->second.ranks.empty()) {
      if (!ranks.empty() && ranks != it->second.ranks) ++disagreeing_names_[args.group_name];
      return Add(it->second);
    }
    if (ranks.empty()) {
      ++unknown_names_[args.group_name];
    } else if (!known_.empty() && !args.group_name.empty()) {
      ++unlisted_names_[args.group_name];
    }
    return Add({args.group_name, args.group_description, std::move(ranks)});
  }

  // Nothing names the group, and the manifest has several.
  uint32_t Chosen(const CommCall& call) {
    for (const CollectiveRule& rule : graph_.manifest->collective_rules) {
      if (!rule.op.empty() && CommKindOfOp(rule.op) != call.kind) continue;
      if (!rule.under.empty() && !CalledUnder(call, rule.under)) continue;
      for (const std::string& name : rule.groups) {
        const auto it = known_.find(name);
        if (it != known_.end() && Holds(it->second, rank_)) return Add(it->second);
      }
    }
    // A bucket is one flat tensor; the nesting alone may be off where there are
    // no times.
    const bool data_parallel =
        (CalledUnder(call, "AccumulateGrad") && call.args.input_dims <= 1) ||
        (call.kind.collective == CollectiveType::kBroadcast &&
         call.kind.type == NodeType::kCommColl && CalledUnder(call, "DistributedDataParallel"));
    const ProcessGroup* guess = nullptr;
    int found = 0;
    for (const ProcessGroup* group : choices_) {
      const bool fits = data_parallel
                            ? NameBeginsWithAny(group->name, {"dp", "data", "ddp"})
                            : NameBeginsWithAny(group->name, {"tp", "mp", "model", "tensor"});
      if (fits) guess = group, ++found;
    }
    if (found == 1) {
      ++guesses_[guess->name];
      return Add(*guess);
    }
    ++unknown_count_;
    return Add({"unknown", "", {}});
  }

  // The engine's calls do not lie in each other: of those around a call only the
  // innermost counts. (Recorded nesting without times puts some into others.)
  bool CalledUnder(const CommCall& call, absl::string_view part) const {
    uint32_t at = call.record != kNone ? call.record : graph_.nodes[call.node].caller;
    bool in_engine = false;
    for (int depth = 0; at != kNone && depth < kMaxCallDepth; ++depth) {
      const LinkNode& node = graph_.nodes[at];
      const bool engine = absl::StartsWith(node.name, "autograd::engine::evaluate_function");
      if (!(engine && in_engine) && absl::StrContains(node.name, part)) return true;
      in_engine = in_engine || engine;
      at = node.parent;
    }
    return false;
  }

  uint32_t Add(const ProcessGroup& group) {
    const auto [it, added] = index_.emplace(std::make_pair(group.name, group.ranks),
                                            static_cast<uint32_t>(graph_.groups.size()));
    if (added) graph_.groups.push_back(group);
    return it->second;
  }

  void Notify() {
    std::vector<std::string>& notices = graph_.notices;
    for (const auto& [name, count] : guesses_) {
      notices.push_back(absl::StrCat("process group of ", count, " communication calls: guessed ",
                                     name,
                                     " from where they were called; collective_rules in the "
                                     "manifest would say it"));
    }
    for (const auto& [name, count] : unknown_names_) {
      notices.push_back(absl::StrCat("process group \"", name, "\" of ", count,
                                     " communication calls: its members are recorded nowhere; "
                                     "process_groups in the manifest would say them"));
    }
    for (const auto& [name, count] : unlisted_names_) {
      notices.push_back(absl::StrCat("process group \"", name, "\" of ", count,
                                     " communication calls is in no table of groups: its members "
                                     "are what the calls say"));
    }
    for (const auto& [name, count] : disagreeing_names_) {
      notices.push_back(absl::StrCat("process group \"", name, "\": ", count,
                                     " communication calls name other members than its table; "
                                     "the table decides"));
    }
    if (unnamed_count_ > 0) {
      notices.push_back(absl::StrCat(unnamed_count_,
                                     " communication calls name no process group: the whole job "
                                     "is assumed"));
    }
    if (unknown_count_ > 0) {
      notices.push_back(absl::StrCat("process group of ", unknown_count_,
                                     " communication calls: unknown; the files tell several apart, "
                                     "and nothing says which this is"));
    }
    if (without_bytes_count_ > 0) {
      notices.push_back(absl::StrCat(without_bytes_count_,
                                     " communication operations: no record tells their bytes; 0 "
                                     "is assumed"));
    }
    if (without_peer_count_ > 0) {
      notices.push_back(
          absl::StrCat(without_peer_count_, " sends or receives: no record tells their peer"));
    }
    if (undecided_count_ > 0) {
      notices.push_back(absl::StrCat(undecided_count_,
                                     " communication kernels: no record tells their kind; "
                                     "all-to-all is assumed"));
    }
  }

  const int32_t rank_;
  LinkGraph& graph_;
  std::map<std::string, ProcessGroup> known_;
  std::vector<const ProcessGroup*>
      choices_;  // The manifest's groups with this rank, but the world.
  std::map<std::pair<std::string, std::vector<int32_t>>, uint32_t> index_;
  std::map<uint64_t, size_t> address_numbers_;  // Of CommArgs::group_address, by first use.
  std::map<std::string, int64_t> guesses_;
  std::map<std::string, int64_t> unknown_names_;
  std::map<std::string, int64_t> unlisted_names_;
  std::map<std::string, int64_t> disagreeing_names_;
  int64_t unknown_count_ = 0;
  int64_t unnamed_count_ = 0;
  int64_t without_bytes_count_ = 0;
  int64_t without_peer_count_ = 0;
  int64_t undecided_count_ = 0;
};

}  // namespace

int64_t CommBytes(const CommKind& kind, const CommArgs& args) {
  const bool receives = kind.type == NodeType::kCommRecv;
  const int64_t stated = receives && args.out_bytes > 0 ? args.out_bytes
                         : args.in_bytes != kNotStated  ? args.in_bytes
                                                        : args.out_bytes;
  if (kind.type == NodeType::kCommColl && kind.collective == CollectiveType::kBarrier) return 0;
  if (kind.type != NodeType::kCommColl || kind.collective != CollectiveType::kAllToAll ||
      args.in_splits.empty() || args.splits_cut || args.in_elements <= 0 || args.in_bytes <= 0) {
    return stated;
  }
  const int64_t element_bytes = args.in_bytes / args.in_elements;
  // Splits may count rows: then they add up to less than the tensor's elements,
  // of which they are the first dimension.
  int64_t splits = 0;
  for (const int64_t split : args.in_splits) {
    if (split < 0 || split > args.in_elements - splits) return stated;
    splits += split;
  }
  if (args.input_dims > 1) return stated;
  return splits * element_bytes;
}

void FillCommOps(const std::vector<CommCall>& calls, int32_t rank, LinkGraph* graph) {
  Filler(rank, graph).Run(calls);
}

}  // namespace chakrad
