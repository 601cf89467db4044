#include "trace/codec/rank_generator.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace chakrad {
namespace {

using Random = std::mt19937_64;

uint64_t Below(Random& random, uint64_t limit) { return random() % limit; }

// Small, unknown, or anything at all.
int64_t OddInt64(Random& random) {
  switch (Below(random, 4)) {
    case 0:
      return kUnknownNs;
    case 1:
      return static_cast<int64_t>(random());
    case 2:
      return Below(random, 2) == 0 ? INT64_MIN : INT64_MAX;
    default:
      return static_cast<int64_t>(Below(random, 1000));
  }
}

int32_t OddInt32(Random& random) { return static_cast<int32_t>(OddInt64(random)); }

std::string OddText(Random& random) {
  std::string text;
  for (uint64_t i = Below(random, 20); i > 0; --i) text.push_back(static_cast<char>(random()));
  return text;
}

void AddTables(Random& random, uint32_t groups_count, RankTrace* rank) {
  for (uint64_t i = 1 + Below(random, 4); i > 0; --i) {
    rank->queues.push_back(
        {static_cast<Queue::Kind>(Below(random, 2)), OddInt32(random), OddInt64(random)});
  }
  for (uint64_t i = Below(random, 30); i > 0; --i) rank->strings.Append(OddText(random));
  for (uint64_t i = Below(random, 4); i > 0; --i) {
    ProcessGroup group{OddText(random), OddText(random), {}};
    for (uint64_t j = Below(random, 9); j > 0; --j) group.ranks.push_back(OddInt32(random));
    rank->groups.push_back(std::move(group));
  }
  for (uint64_t i = Below(random, 20); i > 0; --i) {
    CommOp op;
    op.collective = static_cast<CollectiveType>(Below(random, kCollectiveTypesCount));
    op.bytes = OddInt64(random);
    if (Below(random, 3) > 0 && groups_count > 0) {
      op.group = static_cast<uint32_t>(Below(random, groups_count));
    }
    op.peer = OddInt32(random);
    op.root = OddInt32(random);
    op.priority = OddInt32(random);
    op.tag = OddInt64(random);
    if (Below(random, 2) == 0) op.involved_dims = static_cast<uint32_t>(random());
    rank->comm.push_back(op);
  }
  for (uint64_t i = Below(random, 20); i > 0; --i) {
    rank->work_size.push_back({OddInt64(random), OddInt64(random)});
  }
}

void AddEdges(Random& random, RankTrace* rank) {
  rank->dep_begin.assign(1, 0);
  for (uint32_t node = 0; node < rank->size(); ++node) {
    for (uint64_t i = Below(random, 4); i > 0; --i) {
      rank->dep_node.push_back(static_cast<uint32_t>(Below(random, rank->size())));
      rank->dep_kind.push_back(static_cast<EdgeKind>(Below(random, kEdgeKindsCount)));
    }
    rank->dep_begin.push_back(static_cast<uint32_t>(rank->dep_node.size()));
    if (Below(random, 5) > 0) continue;
    rank->gap_node.push_back(node);
    rank->gap_ns.push_back(OddInt64(random));
  }
}

// Within +-2^40: sums over a test's nodes exist.
void Tame(std::vector<int64_t>* column) {
  for (int64_t& value : *column) value %= int64_t{1} << 40;
}

}  // namespace

RankTrace RandomRank(uint64_t seed, uint32_t nodes_count, bool cold, uint32_t groups_count) {
  Random random(seed);
  RankTrace rank;
  rank.rank = static_cast<int32_t>(Below(random, 1000)) - 1;
  rank.base_unix_ns = OddInt64(random);
  rank.schema = OddText(random);
  AddTables(random, groups_count, &rank);
  for (uint32_t node = 0; node < nodes_count; ++node) {
    rank.id.push_back(Below(random, 2) == 0 ? node : random());
    rank.type.push_back(static_cast<NodeType>(Below(random, kNodeTypesCount)));
    rank.flags.push_back(static_cast<uint8_t>(random()));
    rank.queue.push_back(static_cast<uint16_t>(Below(random, rank.queues.size())));
    rank.name.push_back(static_cast<uint32_t>(Below(random, rank.strings.size())));
    rank.start_ns.push_back(OddInt64(random));
    rank.dur_ns.push_back(OddInt64(random));
    rank.work_ns.push_back(OddInt64(random));
    const size_t table = IsComm(rank.type[node]) ? rank.comm.size() : rank.work_size.size();
    const bool has_side = table > 0 && Below(random, 3) > 0;
    rank.side.push_back(has_side ? static_cast<uint32_t>(Below(random, table)) : kNone);
  }
  AddEdges(random, &rank);
  if (!cold) return rank;
  if (Below(random, 2) == 0) rank.file_cold = OddText(random);
  rank.cold_begin.push_back(0);
  for (uint32_t node = 0; node < nodes_count; ++node) {
    rank.cold += OddText(random);
    rank.cold_begin.push_back(rank.cold.size());
  }
  return rank;
}

RankTrace RecordedLikeRank(uint64_t seed, uint32_t nodes_count, bool cold) {
  Random random(seed);
  RankTrace rank;
  rank.base_unix_ns = 1'700'000'000'000'000'000;
  rank.schema = "1.0.3";
  rank.queues = {{Queue::Kind::kHostThread, -1, 4711}, {Queue::Kind::kDeviceStream, 0, 7}};
  for (int i = 0; i < 300; ++i) rank.strings.Append(absl::StrCat("aten::operation_", i));
  rank.cold_begin.push_back(0);
  int64_t now_ns = 0, device_ns = 0;
  for (uint32_t node = 0; node < nodes_count; ++node) {
    const bool host = node % 2 == 0;
    const auto dur_ns = static_cast<int64_t>(2'000 + Below(random, 20'000));
    now_ns += static_cast<int64_t>(Below(random, 9'000));
    int64_t& at_ns = host ? now_ns : device_ns;
    at_ns = std::max(at_ns, now_ns);
    rank.id.push_back(node + 2 + Below(random, 2));
    rank.type.push_back(node % 500 == 499 ? NodeType::kCommColl : NodeType::kComp);
    rank.flags.push_back(host ? RankTrace::kHostOp : 0);
    rank.queue.push_back(host ? 0 : 1);
    rank.name.push_back(static_cast<uint32_t>(1 + Below(random, 300)));
    rank.start_ns.push_back(at_ns);
    rank.dur_ns.push_back(dur_ns);
    rank.work_ns.push_back(host ? dur_ns / 3 : dur_ns);
    if (!host) device_ns += dur_ns;
    if (rank.type.back() == NodeType::kCommColl) {
      rank.side.push_back(static_cast<uint32_t>(rank.comm.size()));
      rank.comm.push_back({.bytes = 4 << 20, .group = 0});
    } else {
      rank.side.push_back(kNone);
    }
    const auto add_edge = [&](uint32_t distance, EdgeKind kind) {
      if (node < distance) return;
      rank.dep_node.push_back(node - distance);
      rank.dep_kind.push_back(kind);
    };
    if (!host) add_edge(1, EdgeKind::kLaunch);
    add_edge(2, host ? EdgeKind::kThreadOrder : EdgeKind::kStreamOrder);
    if (node % 3 == 0) add_edge(static_cast<uint32_t>(1 + Below(random, 50)), EdgeKind::kData);
    rank.dep_begin.push_back(static_cast<uint32_t>(rank.dep_node.size()));
    absl::StrAppend(&rank.cold, "Tensor(float32)[", 1 << Below(random, 8),
                    ",1024] stream=7 id=", Below(random, 10'000), " device=cuda:0");
    rank.cold_begin.push_back(rank.cold.size());
  }
  if (!cold) {
    rank.cold.clear();
    rank.cold_begin.clear();
  }
  return rank;
}

Trace RandomTrace(uint64_t seed, int32_t ranks_count, uint32_t nodes_count) {
  Trace trace;
  trace.world_size = ranks_count + 1;
  trace.labels["seed"] = absl::StrCat(seed);
  trace.groups.push_back({"world", "", {}});
  for (int32_t rank = 0; rank < trace.world_size; ++rank) trace.groups[0].ranks.push_back(rank);
  trace.groups.push_back({"pair", "tensor parallel", {1, 0}});
  for (int32_t rank = 0; rank < ranks_count; ++rank) {
    trace.ranks.push_back(RandomRank(seed * 1000 + rank, nodes_count, /*cold=*/true, 2));
    RankTrace& added = trace.ranks.back();
    added.rank = rank;
    Tame(&added.start_ns);
    Tame(&added.dur_ns);
    for (CommOp& op : added.comm) op.bytes %= int64_t{1} << 40;
  }
  return trace;
}

}  // namespace chakrad
