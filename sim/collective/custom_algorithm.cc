#include "sim/collective/custom_algorithm.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/collective/script_builder.h"
#include "sim/engine/event_queue.h"
#include "sim/limits.h"

namespace chakrad {
namespace {

// A node as a step.
struct Spot {
  int32_t place = 0;
  uint32_t step = 0;
};

class Reader {
 public:
  Reader(absl::string_view name, const std::vector<RankTrace>& ranks)
      : name_(name), ranks_(ranks), builder_(static_cast<int32_t>(ranks.size())) {}

  absl::StatusOr<CollectiveScript> Read(int64_t total_bytes) {
    if (ranks_.size() < 2 || static_cast<int64_t>(ranks_.size()) > kMaxNpusCount) {
      return Fault(absl::StrCat("ranks: ", ranks_.size(), " is not in [2, ", kMaxNpusCount, "]"));
    }
    if (total_bytes < 0 || total_bytes > kMaxCommBytes) {
      return Fault(
          absl::StrCat("total bytes: ", total_bytes, " is not in [0, ", kMaxCommBytes, "]"));
    }
    for (int32_t place = 0; place < static_cast<int32_t>(ranks_.size()); ++place) {
      RETURN_IF_ERROR(AddRank(place));
    }
    RETURN_IF_ERROR(ConnectAll());
    CollectiveScript script = builder_.Build(total_bytes);
    script.name = std::string(name_.data(), name_.size());
    const StuckStep stuck = FindStuckStep(script);
    if (stuck.place < 0) return script;
    return Fault(absl::StrCat(Describe({stuck.place, stuck.step}),
                              ": it can never run: nodes wait for each other in a circle"));
  }

 private:
  using Key = std::tuple<int32_t, int32_t, int64_t, int64_t>;  // Sender, receiver, tag, bytes.
  struct Channel {
    std::vector<Spot> sends, receives;
  };

  absl::Status AddRank(int32_t place) {
    const RankTrace& rank = ranks_[place];
    if (rank.rank != place && rank.rank != kNoRank) {
      return Fault(absl::StrCat("rank: ", rank.rank, " stands at place ", place));
    }
    if (rank.size() > kMaxEventArg) {
      return Fault(absl::StrCat("rank ", place, ": ", rank.size(), " nodes are over the limit of ",
                                kMaxEventArg));
    }
    // Steps are numbered by ascending id.
    std::vector<uint32_t>& by_step = node_of_.emplace_back(rank.size());
    std::iota(by_step.begin(), by_step.end(), 0);
    std::sort(by_step.begin(), by_step.end(),
              [&](uint32_t a, uint32_t b) { return rank.id[a] < rank.id[b]; });
    std::vector<uint32_t> step_of(rank.size());
    for (const uint32_t node : by_step) {
      ASSIGN_OR_RETURN(step_of[node], AddNode(place, node));
    }
    std::vector<uint32_t> deps;
    for (uint32_t node = 0; node < rank.size(); ++node) {
      deps.assign(rank.dep_node.begin() + rank.dep_begin[node],
                  rank.dep_node.begin() + rank.dep_begin[node + 1]);
      std::sort(deps.begin(), deps.end());
      deps.erase(std::unique(deps.begin(), deps.end()), deps.end());
      for (const uint32_t dep : deps) builder_.Wait(place, step_of[node], step_of[dep]);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<uint32_t> AddNode(int32_t place, uint32_t node) {
    const RankTrace& rank = ranks_[place];
    switch (rank.type[node]) {
      case NodeType::kCommSend:
      case NodeType::kCommRecv:
        return AddComm(place, node);
      case NodeType::kComp:
      case NodeType::kMetadata:
      case NodeType::kInvalid: {
        const uint32_t step = builder_.Add(place, ScriptStep::Kind::kCompute);
        if (rank.type[node] == NodeType::kComp) {
          builder_.SetDuration(place, step, std::max<int64_t>(rank.work_ns[node], 0));
        }
        return step;
      }
      default:
        return NodeFault(place, node,
                         absl::StrCat(NodeTypeName(rank.type[node]),
                                      " has no place in a collective's algorithm: it is made of "
                                      "COMM_SEND_NODE, COMM_RECV_NODE and COMP_NODE"));
    }
  }

  absl::StatusOr<uint32_t> AddComm(int32_t place, uint32_t node) {
    const RankTrace& rank = ranks_[place];
    const CommOp* op = rank.CommOf(node);
    if (op == nullptr) return NodeFault(place, node, "communication without its attributes");
    if (op->peer < 0 || op->peer >= static_cast<int32_t>(ranks_.size())) {
      return NodeFault(place, node,
                       absl::StrCat("peer: ", op->peer, " is not in [0, ", ranks_.size(), ")"));
    }
    if (op->peer == place) {
      return NodeFault(place, node, absl::StrCat("peer: ", op->peer, " is the rank itself"));
    }
    if (op->bytes < 0 || op->bytes > kMaxCommBytes) {
      return NodeFault(place, node,
                       absl::StrCat("bytes: ", op->bytes, " is not in [0, ", kMaxCommBytes, "]"));
    }
    const bool sends = rank.type[node] == NodeType::kCommSend;
    const uint32_t step =
        builder_.Add(place, sends ? ScriptStep::Kind::kSend : ScriptStep::Kind::kReceive);
    Channel& channel = channels_[sends ? Key{place, op->peer, op->tag, op->bytes}
                                       : Key{op->peer, place, op->tag, op->bytes}];
    (sends ? channel.sends : channel.receives).push_back({place, step});
    return step;
  }

  absl::Status ConnectAll() {
    for (const auto& [key, channel] : channels_) {
      const auto& [from, to, tag, bytes] = key;
      const size_t pairs_count = std::min(channel.sends.size(), channel.receives.size());
      for (size_t i = 0; i < pairs_count; ++i) {
        builder_.Connect(from, channel.sends[i].step, to, channel.receives[i].step, bytes);
      }
      const bool more_sends = channel.sends.size() > pairs_count;
      if (!more_sends && channel.receives.size() == pairs_count) continue;
      const Spot alone = more_sends ? channel.sends[pairs_count] : channel.receives[pairs_count];
      return Fault(absl::StrCat(Describe(alone), ": ", bytes, " bytes with tag ", tag,
                                more_sends ? " to rank " : " from rank ", more_sends ? to : from,
                                ", which has no ", more_sends ? "receive" : "send", " for it"));
    }
    return absl::OkStatus();
  }

  std::string Describe(Spot spot) const {
    return absl::StrCat("rank ", spot.place, ", ",
                        DescribeNode(ranks_[spot.place], node_of_[spot.place][spot.step]));
  }
  absl::Status NodeFault(int32_t place, uint32_t node, absl::string_view what) const {
    return Fault(absl::StrCat("rank ", place, ", ", DescribeNode(ranks_[place], node), ": ", what));
  }
  absl::Status Fault(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat("custom algorithm \"", name_, "\": ", what));
  }

  const absl::string_view name_;
  const std::vector<RankTrace>& ranks_;
  ScriptBuilder builder_;
  std::vector<std::vector<uint32_t>> node_of_;  // By place and step.
  std::map<Key, Channel> channels_;
};

}  // namespace

absl::StatusOr<CollectiveScript> ScriptFromTraces(absl::string_view name,
                                                  const std::vector<RankTrace>& ranks,
                                                  int64_t total_bytes) {
  return Reader(name, ranks).Read(total_bytes);
}

}  // namespace chakrad
