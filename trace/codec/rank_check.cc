#include "trace/codec/rank_check.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/status.h"

namespace chakrad {
namespace {

absl::Status Wrong(absl::string_view column, uint64_t row, uint64_t value, uint64_t limit) {
  return absl::InvalidArgumentError(
      absl::StrCat(column, "[", row, "]: ", value, " is not in [0, ", limit, ")"));
}

absl::Status CheckLengths(const RankTrace& rank) {
  const size_t n = rank.id.size();
  if (n >= kNone) return Wrong("nodes_count", 0, n, kNone);
  const std::pair<absl::string_view, size_t> lengths[] = {
      {"type", rank.type.size()},
      {"flags", rank.flags.size()},
      {"queue", rank.queue.size()},
      {"name", rank.name.size()},
      {"start_ns", rank.start_ns.size()},
      {"dur_ns", rank.dur_ns.size()},
      {"work_ns", rank.work_ns.size()},
      {"side", rank.side.size()},
      {"dep_begin", rank.dep_begin.size() - 1},
  };
  for (const auto& [column, size] : lengths) {
    if (size == n) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(column, ": has ", static_cast<int64_t>(size), " entries for ", n, " nodes"));
  }
  if (rank.dep_node.size() != rank.dep_kind.size() || rank.dep_node.size() > UINT32_MAX) {
    return absl::InvalidArgumentError(absl::StrCat(
        "dep_kind: has ", rank.dep_kind.size(), " entries for ", rank.dep_node.size(), " edges"));
  }
  if (rank.gap_node.size() != rank.gap_ns.size()) {
    return absl::InvalidArgumentError(absl::StrCat("gap_ns: has ", rank.gap_ns.size(),
                                                   " entries for ", rank.gap_node.size(), " gaps"));
  }
  return absl::OkStatus();
}

// A begin column starts at 0, never falls and ends at `end`.
template <typename T>
absl::Status CheckBegins(absl::string_view column, const std::vector<T>& begin, uint64_t end) {
  if (begin.front() != 0 || begin.back() != end) {
    return absl::InvalidArgumentError(absl::StrCat(column, ": spans [", begin.front(), ", ",
                                                   begin.back(), ") instead of [0, ", end, ")"));
  }
  for (size_t i = 1; i < begin.size(); ++i) {
    if (begin[i] < begin[i - 1]) {
      return absl::InvalidArgumentError(
          absl::StrCat(column, "[", i, "]: ", begin[i], " is below ", begin[i - 1]));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckNodes(const RankTrace& rank) {
  for (uint32_t node = 0; node < rank.size(); ++node) {
    const auto type = static_cast<uint8_t>(rank.type[node]);
    if (type >= kNodeTypesCount) return Wrong("type", node, type, kNodeTypesCount);
    if (rank.queue[node] >= rank.queues.size()) {
      return Wrong("queue", node, rank.queue[node], rank.queues.size());
    }
    if (rank.name[node] >= rank.strings.size()) {
      return Wrong("name", node, rank.name[node], rank.strings.size());
    }
    const size_t table = IsComm(rank.type[node]) ? rank.comm.size() : rank.work_size.size();
    if (rank.side[node] != kNone && rank.side[node] >= table) {
      return Wrong("side", node, rank.side[node], table);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckEdges(const RankTrace& rank, size_t nodes_count) {
  for (size_t i = 0; i < rank.dep_node.size(); ++i) {
    if (rank.dep_node[i] >= nodes_count) return Wrong("dep_node", i, rank.dep_node[i], nodes_count);
    const auto kind = static_cast<uint8_t>(rank.dep_kind[i]);
    if (kind >= kEdgeKindsCount) return Wrong("dep_kind", i, kind, kEdgeKindsCount);
  }
  for (size_t i = 0; i < rank.gap_node.size(); ++i) {
    if (rank.gap_node[i] >= rank.size()) return Wrong("gap_node", i, rank.gap_node[i], rank.size());
    if (i > 0 && rank.gap_node[i] <= rank.gap_node[i - 1]) {
      return absl::InvalidArgumentError(absl::StrCat("gap_node[", i, "]: ", rank.gap_node[i],
                                                     " is not above ", rank.gap_node[i - 1]));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckRankColumns(const RankTrace& rank, size_t groups_count) {
  return CheckPartColumns(rank, groups_count, rank.size());
}

absl::Status CheckPartColumns(const RankTrace& rank, size_t groups_count, size_t nodes_count) {
  if (rank.dep_begin.empty()) return absl::InvalidArgumentError("dep_begin: is empty");
  RETURN_IF_ERROR(CheckLengths(rank));
  RETURN_IF_ERROR(CheckBegins("dep_begin", rank.dep_begin, rank.dep_node.size()));
  RETURN_IF_ERROR(CheckNodes(rank));
  RETURN_IF_ERROR(CheckEdges(rank, nodes_count));
  for (size_t i = 0; i < rank.queues.size(); ++i) {
    const auto kind = static_cast<uint8_t>(rank.queues[i].kind);
    if (kind > static_cast<uint8_t>(Queue::Kind::kDeviceStream)) {
      return Wrong("queues.kind", i, kind, 2);
    }
  }
  for (size_t i = 0; i < rank.comm.size(); ++i) {
    const auto collective = static_cast<uint8_t>(rank.comm[i].collective);
    if (collective >= kCollectiveTypesCount) {
      return Wrong("comm.collective", i, collective, kCollectiveTypesCount);
    }
    if (rank.comm[i].group != kNone && rank.comm[i].group >= groups_count) {
      return Wrong("comm.group", i, rank.comm[i].group, groups_count);
    }
  }
  if (rank.cold_begin.empty()) {
    if (!rank.cold.empty()) return absl::InvalidArgumentError("cold_begin: is empty, cold is not");
    return absl::OkStatus();
  }
  if (rank.cold_begin.size() != rank.id.size() + 1) {
    return absl::InvalidArgumentError(absl::StrCat("cold_begin: has ", rank.cold_begin.size(),
                                                   " entries for ", rank.id.size(), " nodes"));
  }
  return CheckBegins("cold_begin", rank.cold_begin, rank.cold.size());
}

}  // namespace chakrad
