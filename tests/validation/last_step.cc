#include "tests/validation/last_step.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/model/rank_trace_builder.h"

namespace chakrad {
namespace {

uint32_t FindLastStepMark(const RankTrace& rank) {
  uint32_t last = kNone;
  for (uint32_t node = 0; node < rank.size(); ++node) {
    if ((rank.flags[node] & RankTrace::kAnnotation) == 0) continue;
    if (rank.start_ns[node] == kUnknownNs || rank.dur_ns[node] == kUnknownNs) continue;
    if (!absl::StartsWith(rank.NameOf(node), "ProfilerStep")) continue;
    if (last == kNone || rank.start_ns[node] > rank.start_ns[last]) last = node;
  }
  return last;
}

NodeSpec SpecOf(const RankTrace& rank, uint32_t node) {
  NodeSpec spec;
  spec.id = rank.id[node];
  spec.type = rank.type[node];
  spec.flags = rank.flags[node];
  spec.name = rank.NameOf(node);
  spec.queue = rank.queues[rank.queue[node]];
  spec.start_ns = rank.start_ns[node];
  spec.dur_ns = rank.dur_ns[node];
  spec.work_ns = rank.work_ns[node];
  spec.comm = rank.CommOf(node);
  spec.work_size = rank.WorkSizeOf(node);
  spec.cold = rank.ColdOf(node);
  return spec;
}

}  // namespace

absl::StatusOr<RankTrace> LastStepOfRank(const RankTrace& rank) {
  const uint32_t mark = FindLastStepMark(rank);
  if (mark == kNone) {
    return absl::NotFoundError(absl::StrCat("rank ", rank.rank, ": no mark ProfilerStep"));
  }
  const int64_t begin_ns = rank.start_ns[mark];
  const int64_t end_ns = begin_ns + rank.dur_ns[mark];
  const auto starts_inside = [&](uint32_t node) {
    return rank.start_ns[node] >= begin_ns && rank.start_ns[node] < end_ns;
  };
  const auto follows_inside = [&](uint32_t node) {
    const auto begin = rank.dep_node.begin();
    return std::any_of(begin + rank.dep_begin[node], begin + rank.dep_begin[node + 1],
                       starts_inside);
  };
  const auto inside = [&](uint32_t node) {
    if (rank.start_ns[node] != kUnknownNs) return starts_inside(node);
    return IsComm(rank.type[node]) && follows_inside(node);
  };

  RankTraceBuilder builder;
  builder.header().rank = rank.rank;
  builder.header().base_unix_ns = rank.base_unix_ns == 0 ? 0 : rank.base_unix_ns + begin_ns;
  builder.header().schema = rank.schema;
  builder.header().groups = rank.groups;
  const std::vector<int64_t> gap_ns = rank.DenseGaps();
  std::vector<uint32_t> kept_as(rank.size(), kNone);
  for (uint32_t node = 0; node < rank.size(); ++node) {
    if (!inside(node)) continue;
    NodeSpec spec = SpecOf(rank, node);
    spec.gap_ns = gap_ns[node];
    if (spec.start_ns != kUnknownNs) {
      spec.start_ns -= begin_ns;
      if (!follows_inside(node)) spec.gap_ns = spec.start_ns;
    }
    kept_as[node] = builder.AddNode(spec);
  }
  for (uint32_t node = 0; node < rank.size(); ++node) {
    if (kept_as[node] == kNone) continue;
    for (uint32_t i = rank.dep_begin[node]; i < rank.dep_begin[node + 1]; ++i) {
      const uint32_t dependency = kept_as[rank.dep_node[i]];
      if (dependency != kNone) builder.AddEdge(kept_as[node], dependency, rank.dep_kind[i]);
    }
  }
  return builder.Build(nullptr);
}

absl::StatusOr<Trace> LastStep(const Trace& trace) {
  Trace last;
  last.world_size = trace.world_size;
  last.groups = trace.groups;
  last.labels = trace.labels;
  for (const RankTrace& rank : trace.ranks) {
    ASSIGN_OR_RETURN(RankTrace step, LastStepOfRank(rank));
    last.ranks.push_back(std::move(step));
  }
  return last;
}

void ScaleHostTime(double factor, Trace* trace) {
  const auto scale = [factor](int64_t* ns) {
    if (*ns > 0) *ns = std::llround(static_cast<double>(*ns) * factor);
  };
  for (RankTrace& rank : trace->ranks) {
    for (uint32_t node = 0; node < rank.size(); ++node) {
      if (!IsComm(rank.type[node])) scale(&rank.work_ns[node]);
    }
    for (int64_t& gap_ns : rank.gap_ns) scale(&gap_ns);
  }
}

}  // namespace chakrad
