#include "analysis/critical_path/scaling.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "common/status.h"

namespace chakrad {
namespace {

constexpr absl::string_view kKnown =
    "compute, comm, memory, host, gaps, comm:TYPE, name:REGEX, rank:N, group:NAME";
constexpr size_t kListedNames = 10;
constexpr size_t kListedNameBytes = 100;

// Whether a node of a rank (index) belongs to a class.
using InClass = std::function<bool(uint32_t rank, uint32_t node)>;

std::optional<IntervalKind> KindNamed(absl::string_view name) {
  if (name == "compute") return IntervalKind::kCompute;
  if (name == "comm") return IntervalKind::kComm;
  if (name == "memory") return IntervalKind::kMemory;
  if (name == "host") return IntervalKind::kHost;
  return std::nullopt;
}

absl::string_view CommTypeName(const RankTrace& trace, uint32_t node) {
  switch (trace.type[node]) {
    case NodeType::kCommSend:
      return "SEND";
    case NodeType::kCommRecv:
      return "RECV";
    case NodeType::kCommColl:
      return trace.CommOf(node) == nullptr ? ""
                                           : CollectiveTypeName(trace.CommOf(node)->collective);
    default:
      return "";
  }
}

absl::StatusOr<InClass> OfCommType(const CausalGraph& graph, const std::string& type) {
  std::vector<std::string> known;
  for (int i = 0; i < kCollectiveTypesCount; ++i) {
    known.emplace_back(CollectiveTypeName(static_cast<CollectiveType>(i)));
  }
  known.insert(known.end(), {"SEND", "RECV"});
  if (std::find(known.begin(), known.end(), type) == known.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", type, "\" is no type of communication: ", absl::StrJoin(known, ", ")));
  }
  return InClass([&graph, type](uint32_t rank, uint32_t node) {
    return CommTypeName(*graph.ranks[rank].timeline->trace, node) == type;
  });
}

absl::StatusOr<InClass> OfName(const CausalGraph& graph, const std::string& pattern) {
  if (pattern.empty() || pattern.size() > kMaxScalingPatternBytes) {
    return absl::InvalidArgumentError(absl::StrCat("the pattern has ", pattern.size(),
                                                   " bytes, which are not in [1, ",
                                                   kMaxScalingPatternBytes, "]"));
  }
  RE2::Options options;
  options.set_log_errors(false);
  const RE2 regex(pattern, options);
  if (!regex.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("\"", pattern, "\": ", regex.error()));
  }
  // Every name once, however many operations have it.
  auto matches = std::make_shared<std::map<const RankTrace*, std::vector<bool>>>();
  for (const RankCauses& rank : graph.ranks) {
    const RankTrace* trace = rank.timeline->trace;
    const auto [it, added] = matches->try_emplace(trace);
    if (!added) continue;
    std::vector<bool> looked_at(trace->strings.size(), false);
    it->second.assign(trace->strings.size(), false);
    for (const uint32_t node : rank.order) {
      const uint32_t name = trace->name[node];
      if (looked_at[name]) continue;
      looked_at[name] = true;
      const absl::string_view text = trace->strings.Get(name);
      it->second[name] = RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), regex);
    }
  }
  return InClass([&graph, matches](uint32_t rank, uint32_t node) {
    const RankTrace* trace = graph.ranks[rank].timeline->trace;
    return bool(matches->at(trace)[trace->name[node]]);
  });
}

absl::StatusOr<InClass> OfRank(const CausalGraph& graph, const std::string& text) {
  int32_t wanted = 0;
  if (!absl::SimpleAtoi(text, &wanted)) {
    return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is no rank"));
  }
  for (uint32_t i = 0; i < graph.ranks.size(); ++i) {
    if (graph.ranks[i].timeline->rank != wanted) continue;
    return InClass([i](uint32_t rank, uint32_t) { return rank == i; });
  }
  return absl::InvalidArgumentError(
      absl::StrCat("rank ", wanted, " is not among the ", graph.ranks.size(), " of the timeline"));
}

absl::StatusOr<InClass> OfGroup(const CausalGraph& graph, const std::string& name) {
  const std::vector<ProcessGroup>& groups = graph.job->trace->groups;
  std::vector<bool> wanted;
  std::vector<std::string> known;
  for (const ProcessGroup& group : groups) {
    wanted.push_back(group.name == name);
    if (known.size() < kListedNames) {
      known.push_back(absl::StrCat("\"", group.name.substr(0, kListedNameBytes), "\""));
    }
  }
  if (std::find(wanted.begin(), wanted.end(), true) == wanted.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no group is named \"", name, "\": there are ", groups.size(),
                     groups.empty() ? "" : ", such as ", absl::StrJoin(known, ", ")));
  }
  return InClass([&graph, wanted](uint32_t rank, uint32_t node) {
    const RankTimeline& timeline = *graph.ranks[rank].timeline;
    const CommOp* op = timeline.trace->CommOf(node);
    if (op == nullptr) return false;
    const uint32_t group =
        op->group < wanted.size() ? timeline.GroupFor(*op, *graph.job->trace) : kWorldGroup;
    return group < wanted.size() && wanted[group];
  });
}

absl::StatusOr<InClass> ClassNamed(const CausalGraph& graph, absl::string_view name) {
  if (const std::optional<IntervalKind> kind = KindNamed(name); kind.has_value()) {
    return InClass([&graph, kind](uint32_t rank, uint32_t node) {
      return graph.ranks[rank].kind[node] == *kind;
    });
  }
  if (absl::ConsumePrefix(&name, "comm:")) return OfCommType(graph, std::string(name));
  if (absl::ConsumePrefix(&name, "name:")) return OfName(graph, std::string(name));
  if (absl::ConsumePrefix(&name, "rank:")) return OfRank(graph, std::string(name));
  if (absl::ConsumePrefix(&name, "group:")) return OfGroup(graph, std::string(name));
  return absl::InvalidArgumentError(absl::StrCat("unknown; known are ", kKnown));
}

struct Multiplied {
  int64_t count = 0;   // Nodes of the class.
  double largest = 0;  // Product of factors of any of them.
};

Multiplied Multiply(const CausalGraph& graph, const InClass& in_class, double factor,
                    TimeFactors* factors) {
  Multiplied multiplied;
  for (uint32_t rank = 0; rank < graph.ranks.size(); ++rank) {
    const RankCauses& causes = graph.ranks[rank];
    for (const uint32_t node : causes.order) {
      if (causes.end_ps[node] == causes.start_ps[node] || !in_class(rank, node)) continue;
      factors->node[rank][node] *= factor;
      multiplied.largest = std::max(multiplied.largest, factors->node[rank][node]);
      ++multiplied.count;
    }
  }
  return multiplied;
}

absl::Status CheckProduct(double product, absl::string_view where) {
  if (std::isfinite(product)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(where, ": its factor times those of the classes before is too large a number"));
}

}  // namespace

absl::StatusOr<TimeFactors> FactorsOf(const CausalGraph& graph,
                                      const std::vector<Scaling>& scalings,
                                      std::vector<std::string>* notices) {
  if (scalings.size() > kMaxScalings) {
    return absl::InvalidArgumentError(absl::StrCat(
        "what_if: ", scalings.size(), " classes are more than the ", kMaxScalings, " allowed"));
  }
  TimeFactors factors;
  for (const Scaling& scaling : scalings) {
    const std::string where = absl::StrCat("what_if: class \"", scaling.node_class, "\"");
    if (!std::isfinite(scaling.factor) || scaling.factor < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": factor ", scaling.factor, " is not a finite number >= 0"));
    }
    if (scaling.node_class == "gaps") {
      factors.gaps *= scaling.factor;
      RETURN_IF_ERROR(CheckProduct(factors.gaps, where));
      continue;
    }
    absl::StatusOr<InClass> in_class = ClassNamed(graph, scaling.node_class);
    if (!in_class.ok()) return Annotate(in_class.status(), where);
    if (factors.node.empty()) {
      for (const RankCauses& rank : graph.ranks) factors.node.emplace_back(rank.kind.size(), 1.0);
    }
    const Multiplied multiplied = Multiply(graph, *in_class, scaling.factor, &factors);
    RETURN_IF_ERROR(CheckProduct(multiplied.largest, where));
    if (multiplied.count == 0) {
      notices->push_back(absl::StrCat(where, ": no operation belongs to it"));
    }
  }
  return factors;
}

}  // namespace chakrad
