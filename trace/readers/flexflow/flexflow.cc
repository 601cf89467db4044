#include "trace/readers/flexflow/flexflow.h"

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "chakra/et_def.pb.h"
#include "common/status.h"
#include "trace/model/rank_trace_builder.h"
#include "trace/readers/flexflow/task_graph.h"
#include "trace/readers/limits.h"

namespace chakrad {
namespace {

using Task = TaskGraph::Task;

constexpr int64_t kComputeStream = 0, kTransferStream = 1;

std::string LinkAsCold(int64_t link) {
  ChakraProtoMsg::Node node;
  ChakraProtoMsg::AttributeProto* attribute = node.add_attr();
  attribute->set_name("flexflow.link_id");
  attribute->set_int64_val(link);
  return node.SerializeAsString();
}

class RankMaker {
 public:
  RankMaker(const TaskGraph& graph, Ledger* ledger) : graph_(graph), ledger_(ledger) {}
  absl::StatusOr<std::vector<RankTrace>> Make();

 private:
  struct Place {
    int32_t rank = kNoRank;  // kNoRank: nowhere.
    uint32_t node = kNone;
  };
  struct Places {
    Place home;  // Where the task starts.
    Place far;   // Of a transfer: where it ends.
  };

  static bool IsMessage(const Task& task) { return task.is_transfer && task.src != kNoRank; }

  RankTraceBuilder* BuilderOf(int32_t rank);
  Place AddNode(int32_t rank, const NodeSpec& spec);
  Places AddTask(const Task& task);
  Places AddMessage(NodeSpec spec, int32_t src, int32_t dst, int64_t bytes);
  void AddEdge(const TaskGraph::Edge& edge);
  void AddBridge(const TaskGraph::Edge& edge, const Place& from, const Place& to);
  void DependOn(const Place& node, const Place& dependency);
  void AddNotices(size_t transfers_count);

  const TaskGraph& graph_;
  Ledger* ledger_;
  std::map<int32_t, std::unique_ptr<RankTraceBuilder>> builders_;
  std::vector<Places> places_;  // By task.
  uint64_t last_id_ = 0;
  int64_t next_tag_ = 0;
};

RankTraceBuilder* RankMaker::BuilderOf(int32_t rank) {
  std::unique_ptr<RankTraceBuilder>& builder = builders_[rank];
  if (builder == nullptr) {
    builder = std::make_unique<RankTraceBuilder>();
    builder->header().rank = rank;
    builder->header().schema = graph_.is_stock ? "flexflow-stock" : "flexflow-labelled";
  }
  return builder.get();
}

RankMaker::Place RankMaker::AddNode(int32_t rank, const NodeSpec& spec) {
  return {rank, BuilderOf(rank)->AddNode(spec)};
}

RankMaker::Places RankMaker::AddMessage(NodeSpec spec, int32_t src, int32_t dst, int64_t bytes) {
  CommOp op;
  op.bytes = bytes;
  op.tag = next_tag_++;
  spec.comm = &op;
  spec.queue = {Queue::Kind::kDeviceStream, 0, kTransferStream};
  Places places;
  spec.type = NodeType::kCommSend;
  op.peer = dst;
  places.home = AddNode(src, spec);
  spec.type = NodeType::kCommRecv;
  op.peer = src;
  places.far = AddNode(dst, spec);
  return places;
}

RankMaker::Places RankMaker::AddTask(const Task& task) {
  NodeSpec spec;
  spec.id = task.id;
  spec.name = graph_.names.Get(task.name);
  spec.start_ns = task.start_ns;
  spec.dur_ns = spec.work_ns = task.dur_ns;
  std::string cold;
  if (task.link >= 0) cold = LinkAsCold(task.link);
  spec.cold = cold;
  if (IsMessage(task) && task.src != task.dst) {
    return AddMessage(spec, task.src, task.dst, task.bytes);
  }
  spec.type = NodeType::kComp;
  spec.queue = {Queue::Kind::kDeviceStream, 0, task.is_transfer ? kTransferStream : kComputeStream};
  int32_t rank = graph_.is_stock ? 0 : task.device;
  if (IsMessage(task)) {
    rank = task.src;
    ledger_->AddFlaw("flexflow_self_transfer", task.record, task.byte_offset,
                     absl::StrCat("node", task.id, ": device ", rank, " sends ", task.bytes,
                                  " bytes to itself: a computation of the same duration"));
  }
  return {AddNode(rank, spec), {}};
}

void RankMaker::DependOn(const Place& node, const Place& dependency) {
  builders_[node.rank]->AddEdge(node.node, dependency.node, EdgeKind::kData);
}

// A message of no bytes keeps the order where no transfer does.
void RankMaker::AddBridge(const TaskGraph::Edge& edge, const Place& from, const Place& to) {
  const std::string name =
      absl::StrCat("edge node", graph_.tasks[edge.from].id, " -> node", graph_.tasks[edge.to].id);
  ledger_->AddFlaw("flexflow_cross_device_edge", edge.record, edge.byte_offset,
                   absl::StrCat(name, ": from device ", from.rank, " to ", to.rank,
                                " without a transfer: a message of 0 bytes"));
  NodeSpec spec;
  spec.id = ++last_id_;
  spec.name = name;
  const Places message = AddMessage(spec, from.rank, to.rank, 0);
  DependOn(message.home, from);
  DependOn(to, message.far);
}

void RankMaker::AddEdge(const TaskGraph::Edge& edge) {
  const Places& from = places_[edge.from];
  const Places& to = places_[edge.to];
  const auto end_on = [&from](int32_t rank) -> const Place* {
    if (rank == kNoRank) return nullptr;
    if (from.far.rank == rank) return &from.far;
    return from.home.rank == rank ? &from.home : nullptr;
  };
  if (const Place* here = end_on(to.home.rank)) {
    DependOn(to.home, *here);
  } else if (const Place* there = end_on(to.far.rank)) {
    DependOn(to.far, *there);
  } else {
    ledger_->Merge("cross_device_edge");
    const Place end = from.far.rank != kNoRank ? from.far : from.home;
    return AddBridge(edge, end, Place(to.home));
  }
  ledger_->Merge("dependency");
}

void RankMaker::AddNotices(size_t transfers_count) {
  ledger_->notices.push_back(absl::StrCat(
      "FlexFlow task graph: ", graph_.tasks.size(), " tasks, ", transfers_count,
      " of them transfers, on ", builders_.size(), " devices; its times are milliseconds"));
  if (!graph_.is_stock) return;
  const std::string lack = absl::StrCat(
      "stock FlexFlow's form says neither which device runs a task nor how many bytes a transfer "
      "moves: all ",
      graph_.tasks.size(), " tasks are one rank's compute nodes, ", transfers_count,
      " transfers among them for the time that FlexFlow simulated; no network changes that "
      "time, and tasks that ran side by side are simulated one after another");
  ledger_->AddFlaw("flexflow_no_devices", -1, -1, lack);
  ledger_->notices.push_back(lack);
}

absl::StatusOr<std::vector<RankTrace>> RankMaker::Make() {
  size_t transfers_count = 0;
  for (const Task& task : graph_.tasks) {
    last_id_ = std::max(last_id_, task.id);
    transfers_count += task.is_transfer ? 1 : 0;
    places_.push_back(AddTask(task));
    if (builders_.size() > static_cast<size_t>(kMaxRanksOfFile)) {
      return absl::InvalidArgumentError(absl::StrCat("byte offset ", task.byte_offset,
                                                     ": more than ", kMaxRanksOfFile, " devices"));
    }
  }
  for (const TaskGraph::Edge& edge : graph_.edges) AddEdge(edge);
  AddNotices(transfers_count);
  std::vector<RankTrace> ranks;
  for (auto& [rank, builder] : builders_) {
    ASSIGN_OR_RETURN(RankTrace trace, builder->Build(nullptr));
    ranks.push_back(std::move(trace));
    builder.reset();
  }
  return ranks;
}

}  // namespace

absl::StatusOr<std::vector<RankTrace>> ReadFlexFlow(ByteSource* source, const ReadOptions& options,
                                                    Ledger* ledger) {
  ASSIGN_OR_RETURN(const TaskGraph graph, ReadTaskGraph(source, options, ledger));
  return RankMaker(graph, ledger).Make();
}

}  // namespace chakrad
