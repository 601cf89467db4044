#include "trace/readers/flexflow/task_graph.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/status.h"
#include "common/utf8.h"
#include "trace/readers/flexflow/dot_reader.h"
#include "trace/readers/flexflow/task_label.h"
#include "trace/readers/limits.h"

namespace chakrad {
namespace {

absl::Status Bad(int64_t byte_offset, int64_t line, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("byte offset ", byte_offset, ", line ", line, ": ", what));
}

class GraphReader {
 public:
  GraphReader(ByteSource* source, const ReadOptions& options, Ledger* ledger)
      : dot_(source), options_(options), ledger_(ledger), interner_(&graph_.names) {}
  absl::StatusOr<TaskGraph> Read();

 private:
  // An edge whose ends may not have been read yet.
  struct OpenEdge {
    uint64_t from, to;  // Ids.
    int64_t record, byte_offset, line;
  };

  absl::StatusOr<uint64_t> ReadId(absl::string_view name) const;
  absl::Status AddEdge();
  absl::Status AddTask();
  absl::Status AddParsed(uint64_t id, const FlexFlowTask& parsed);
  absl::Status LeaveOut(absl::string_view rule, absl::string_view reason);
  uint32_t NameOf(const FlexFlowTask& parsed);
  absl::Status ResolveEdges();
  void DropRepeatedEdges();

  DotReader dot_;
  const ReadOptions& options_;
  Ledger* ledger_;
  DotStatement statement_;
  int64_t records_count_ = 0;
  TaskGraph graph_;
  StringInterner interner_;
  absl::flat_hash_map<uint64_t, uint32_t> task_by_id_;
  std::vector<OpenEdge> open_edges_;
};

absl::StatusOr<uint64_t> GraphReader::ReadId(absl::string_view name) const {
  absl::string_view digits = name;
  int64_t id;
  if (!absl::ConsumePrefix(&digits, "node") || digits.empty() || digits[0] < '0' ||
      digits[0] > '9' || !absl::SimpleAtoi(digits, &id)) {
    return Bad(statement_.byte_offset, statement_.line,
               absl::StrCat("the name \"", ValidUtf8(name, 80),
                            "\" is not node<number>, as FlexFlow writes it"));
  }
  return static_cast<uint64_t>(id);
}

absl::Status GraphReader::AddEdge() {
  ASSIGN_OR_RETURN(const uint64_t from, ReadId(statement_.name));
  ASSIGN_OR_RETURN(const uint64_t to, ReadId(statement_.to));
  open_edges_.push_back({from, to, records_count_ - 1, statement_.byte_offset, statement_.line});
  return absl::OkStatus();
}

// An error, or when lenient a rejection of the statement.
absl::Status GraphReader::LeaveOut(absl::string_view rule, absl::string_view reason) {
  const std::string what = absl::StrCat(statement_.name, ": ", reason);
  if (!options_.lenient)
    return Bad(statement_.byte_offset, statement_.line,
               absl::StrCat(what, " (--lenient leaves it out)"));
  ledger_->Reject(rule, records_count_ - 1, statement_.byte_offset, what);
  return absl::OkStatus();
}

uint32_t GraphReader::NameOf(const FlexFlowTask& parsed) {
  std::string name = parsed.name.empty() ? parsed.type : parsed.name;
  const bool told_by_name = parsed.type == parsed.name || parsed.is_transfer;
  if (!parsed.name.empty() && !told_by_name) absl::StrAppend(&name, " ", parsed.type);
  const std::string valid = ValidUtf8(name);
  if (valid != name) {
    ledger_->AddFlaw("text_not_utf8", records_count_ - 1, statement_.byte_offset,
                     absl::StrCat(statement_.name, ": bytes of its name became '?': ", valid));
  }
  return interner_.Intern(valid);
}

absl::Status GraphReader::AddParsed(uint64_t id, const FlexFlowTask& parsed) {
  if (graph_.tasks.empty()) {
    graph_.is_stock = parsed.is_stock;
  } else if (graph_.is_stock != parsed.is_stock) {
    return Bad(statement_.byte_offset, statement_.line,
               absl::StrCat(statement_.name, ": its label is ",
                            parsed.is_stock ? "stock FlexFlow's" : "one with devices",
                            ", those before it are not: one file has one form"));
  }
  TaskGraph::Task task;
  task.id = id;
  task.name = NameOf(parsed);
  task.is_transfer = parsed.is_transfer;
  if (parsed.is_transfer) {
    task.link = parsed.device;
  } else if (!parsed.is_stock) {
    task.device = static_cast<int32_t>(parsed.device);
  }
  task.src = parsed.src;
  task.dst = parsed.dst;
  task.bytes = parsed.bytes;
  task.start_ns = parsed.start_ns;
  task.dur_ns = parsed.dur_ns;
  task.record = records_count_ - 1;
  task.byte_offset = statement_.byte_offset;
  graph_.tasks.push_back(task);
  ledger_->Keep();
  return absl::OkStatus();
}

absl::Status GraphReader::AddTask() {
  ASSIGN_OR_RETURN(const uint64_t id, ReadId(statement_.name));
  if (!statement_.label.has_value()) {
    return LeaveOut("flexflow_label", "it has no label: nothing says what it does");
  }
  const absl::StatusOr<FlexFlowTask> parsed = ParseTaskLabel(*statement_.label);
  if (!parsed.ok()) {
    const std::string reason(parsed.status().message());
    return LeaveOut("flexflow_label", reason);
  }
  const auto [it, added] = task_by_id_.emplace(id, static_cast<uint32_t>(graph_.tasks.size()));
  if (!added) {
    return LeaveOut("duplicate_node_id", absl::StrCat("it was stated before, at byte offset ",
                                                      graph_.tasks[it->second].byte_offset));
  }
  return AddParsed(id, *parsed);
}

absl::Status GraphReader::ResolveEdges() {
  std::string listed;
  int64_t missing = 0;
  for (const OpenEdge& edge : open_edges_) {
    const auto from = task_by_id_.find(edge.from), to = task_by_id_.find(edge.to);
    if (from != task_by_id_.end() && to != task_by_id_.end()) {
      graph_.edges.push_back({from->second, to->second, edge.record, edge.byte_offset});
      continue;
    }
    const uint64_t absent = from == task_by_id_.end() ? edge.from : edge.to;
    const std::string what = absl::StrCat("edge node", edge.from, " -> node", edge.to, ": node",
                                          absent, " is not in the file");
    if (options_.lenient) {
      ledger_->Reject("missing_dependency", edge.record, edge.byte_offset, what);
    } else if (++missing <= kListedMissing) {
      absl::StrAppend(&listed, missing == 1 ? "" : "; ", "byte offset ", edge.byte_offset,
                      ", line ", edge.line, ": ", what);
    }
  }
  open_edges_ = {};
  if (missing == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      listed, missing > kListedMissing ? absl::StrCat("; ", missing, " such edges in all") : "",
      " (--lenient leaves such edges out)"));
}

void GraphReader::DropRepeatedEdges() {
  std::vector<TaskGraph::Edge>& edges = graph_.edges;
  std::sort(edges.begin(), edges.end(), [](const TaskGraph::Edge& a, const TaskGraph::Edge& b) {
    return std::tie(a.from, a.to, a.record) < std::tie(b.from, b.to, b.record);
  });
  const auto same = [](const TaskGraph::Edge& a, const TaskGraph::Edge& b) {
    return a.from == b.from && a.to == b.to;
  };
  for (size_t i = 1; i < edges.size(); ++i) {
    if (!same(edges[i - 1], edges[i])) continue;
    ledger_->Merge("duplicate_dependency");
    ledger_->AddFlaw("duplicate_dependency", edges[i].record, edges[i].byte_offset,
                     absl::StrCat("edge node", graph_.tasks[edges[i].from].id, " -> node",
                                  graph_.tasks[edges[i].to].id, " is there twice"));
  }
  edges.erase(std::unique(edges.begin(), edges.end(), same), edges.end());
  std::sort(edges.begin(), edges.end(),
            [](const TaskGraph::Edge& a, const TaskGraph::Edge& b) { return a.record < b.record; });
}

absl::StatusOr<TaskGraph> GraphReader::Read() {
  while (true) {
    ASSIGN_OR_RETURN(const bool more, dot_.Next(&statement_));
    if (!more) break;
    if (++records_count_ > kMaxRecords) {
      return Bad(statement_.byte_offset, statement_.line,
                 absl::StrCat("more than ", kMaxRecords, " nodes and edges"));
    }
    RETURN_IF_ERROR(statement_.kind == DotStatement::Kind::kNode ? AddTask() : AddEdge());
  }
  if (graph_.tasks.empty()) {
    return absl::InvalidArgumentError("the graph holds no tasks");
  }
  RETURN_IF_ERROR(ResolveEdges());
  DropRepeatedEdges();
  return std::move(graph_);
}

}  // namespace

absl::StatusOr<TaskGraph> ReadTaskGraph(ByteSource* source, const ReadOptions& options,
                                        Ledger* ledger) {
  return GraphReader(source, options, ledger).Read();
}

}  // namespace chakrad
