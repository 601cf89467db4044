#include "trace/readers/astra_text/program.h"

#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/model/rank_trace_builder.h"
#include "trace/readers/limits.h"

namespace chakrad {
namespace {

enum Phase : int { kForward = 0, kInputGradient = 1, kWeightGradient = 2 };
constexpr int kPhasesCount = 3;
constexpr const char* kPhaseNames[] = {"forward", "input gradient", "weight gradient"};

// Who takes part in a collective.
enum class Scope : uint8_t { kNobody, kAll, kFirstDim, kOtherDims, kModelGroup, kDataGroup };

Scope ScopeOf(WorkloadParallelism parallelism, Phase phase) {
  const bool weights = phase == kWeightGradient;
  switch (parallelism) {
    case WorkloadParallelism::kMicro:
    case WorkloadParallelism::kData:
    case WorkloadParallelism::kHybridDlrm:
    case WorkloadParallelism::kHybridDlrmEnhanced:
      return weights ? Scope::kAll : Scope::kNobody;
    case WorkloadParallelism::kModel:
    case WorkloadParallelism::kDistributedInference:
      return weights ? Scope::kNobody : Scope::kAll;
    case WorkloadParallelism::kHybridDataModel:
      return weights ? Scope::kOtherDims : Scope::kFirstDim;
    case WorkloadParallelism::kHybridModelData:
      return weights ? Scope::kFirstDim : Scope::kOtherDims;
    case WorkloadParallelism::kHybridTransformer:
    case WorkloadParallelism::kHybridTransformerFwdInBckwd:
      return weights ? Scope::kDataGroup : Scope::kModelGroup;
    case WorkloadParallelism::kHybridCustomized:
      break;  // Of a layer it is another.
  }
  return Scope::kNobody;
}

const LayerPhase& PhaseOf(const Layer& layer, Phase phase) {
  if (phase == kForward) return layer.forward;
  return phase == kInputGradient ? layer.input_gradient : layer.weight_gradient;
}

class ProgramMaker {
 public:
  ProgramMaker(const WorkloadFile& file, const ProgramOptions& options, Ledger* ledger)
      : file_(file), options_(options), ledger_(ledger), layers_count_(file.layers.size()) {
    for (auto& ends : ends_) ends.assign(layers_count_, kNone);
    for (auto& issued : issued_) issued.assign(layers_count_, false);
  }
  absl::StatusOr<RankTrace> Make();
  bool uses_groups() const { return uses_groups_; }

 private:
  absl::Status CheckTimes() const;
  Scope ScopeAt(size_t layer, Phase phase) const;
  uint32_t Add(const NodeSpec& spec);
  void Compute(size_t layer, Phase phase, absl::string_view suffix = "");
  uint32_t Issue(size_t layer, Phase phase);
  void IssueBlocking(size_t layer, Phase phase);
  void IssueBeside(size_t layer, Phase phase) { ends_[phase][layer] = Issue(layer, phase); }
  void WaitFor(size_t layer, Phase phase);

  void RunPass();
  void ForwardBlocking();
  void RunMicro();
  void RunData();
  void BackwardBeside(bool with_weights);
  void BackwardBlocking();
  void ForwardAgain(size_t up_to);
  void RunDlrm();
  void ReportUnused();

  const WorkloadFile& file_;
  const ProgramOptions& options_;
  Ledger* ledger_;
  const size_t layers_count_;
  RankTraceBuilder builder_;
  std::vector<uint32_t> waits_for_;  // What the program's next step waits for.
  // By phase and layer: where the newest collective ends; kNone: there is none.
  std::vector<uint32_t> ends_[kPhasesCount];
  std::vector<bool> issued_[kPhasesCount];
  bool uses_groups_ = false;
};

absl::Status ProgramMaker::CheckTimes() const {
  for (const Layer& layer : file_.layers) {
    for (const int64_t time : {layer.forward.compute, layer.input_gradient.compute,
                               layer.weight_gradient.compute, layer.update}) {
      if (time <= kMaxRecordingNs / options_.time_unit_ns) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("byte offset ", layer.byte_offset, ", layer ", layer.name, ": ", time,
                       " times ", options_.time_unit_ns, " ns is more than ", kMaxRecordingNs));
    }
  }
  return absl::OkStatus();
}

Scope ProgramMaker::ScopeAt(size_t layer, Phase phase) const {
  const bool dlrm = file_.parallelism == WorkloadParallelism::kHybridDlrm ||
                    file_.parallelism == WorkloadParallelism::kHybridDlrmEnhanced;
  if (dlrm && layer == 0) return Scope::kAll;
  const Scope scope = ScopeOf(file_.layers[layer].parallelism, phase);
  const int32_t model_npus = file_.model_group_npus;
  const bool alone = (scope == Scope::kModelGroup && model_npus == 1) ||
                     (scope == Scope::kDataGroup && model_npus == options_.npus_count);
  return alone ? Scope::kNobody : scope;
}

// After everything in waits_for_.
uint32_t ProgramMaker::Add(const NodeSpec& spec) {
  NodeSpec numbered = spec;
  numbered.id = builder_.size();
  const uint32_t node = builder_.AddNode(numbered);
  for (const uint32_t dependency : waits_for_) builder_.AddEdge(node, dependency, EdgeKind::kData);
  return node;
}

void ProgramMaker::Compute(size_t layer, Phase phase, absl::string_view suffix) {
  NodeSpec spec;
  spec.type = NodeType::kComp;
  const std::string name = absl::StrCat(file_.layers[layer].name, " ", kPhaseNames[phase], suffix);
  spec.name = name;
  spec.queue = {Queue::Kind::kDeviceStream, 0, 0};
  spec.dur_ns = spec.work_ns = PhaseOf(file_.layers[layer], phase).compute * options_.time_unit_ns;
  waits_for_ = {Add(spec)};
}

// The node after which the collective is over; kNone: there is none to issue.
uint32_t ProgramMaker::Issue(size_t layer, Phase phase) {
  const Layer& from = file_.layers[layer];
  const LayerPhase& what = PhaseOf(from, phase);
  const Scope scope = ScopeAt(layer, phase);
  if (!what.collective.has_value() || scope == Scope::kNobody) return kNone;
  issued_[phase][layer] = true;
  CommOp op;
  op.collective = *what.collective;
  op.bytes = what.bytes;
  if (scope == Scope::kFirstDim) op.involved_dims = 1;
  if (scope == Scope::kOtherDims) op.involved_dims = ~uint32_t{1};
  if (scope == Scope::kModelGroup) op.group = kModelGroup;
  if (scope == Scope::kDataGroup) op.group = kDataGroup;
  uses_groups_ |= op.group != kNone;
  NodeSpec spec;
  spec.type = NodeType::kCommColl;
  std::string name =
      absl::StrCat(from.name, " ", kPhaseNames[phase], " ", CollectiveTypeName(op.collective));
  spec.name = name;
  spec.queue = {Queue::Kind::kDeviceStream, 0, 1};
  spec.comm = &op;
  const uint32_t collective = Add(spec);
  if (from.update == 0) return collective;
  name = absl::StrCat(from.name, " ", kPhaseNames[phase], " update");
  spec.name = name;
  spec.type = NodeType::kMetadata;
  spec.comm = nullptr;
  spec.dur_ns = spec.work_ns = 0;
  spec.gap_ns = from.update * options_.time_unit_ns;
  std::vector<uint32_t> program = {collective};
  program.swap(waits_for_);
  const uint32_t update = Add(spec);
  program.swap(waits_for_);
  return update;
}

void ProgramMaker::IssueBlocking(size_t layer, Phase phase) {
  const uint32_t end = Issue(layer, phase);
  if (end != kNone) waits_for_ = {end};
}

void ProgramMaker::WaitFor(size_t layer, Phase phase) {
  uint32_t& end = ends_[phase][layer];
  if (end != kNone) waits_for_.push_back(end);
  end = kNone;  // The program waits for it once.
}

void ProgramMaker::ForwardBlocking() {
  for (size_t layer = 0; layer < layers_count_; ++layer) {
    WaitFor(layer, kWeightGradient);
    Compute(layer, kForward);
    IssueBlocking(layer, kForward);
  }
}

void ProgramMaker::RunMicro() {
  for (size_t layer = 0; layer < layers_count_; ++layer) Issue(layer, kWeightGradient);
}

void ProgramMaker::RunData() {
  for (size_t layer = 0; layer < layers_count_; ++layer) {
    WaitFor(layer, kWeightGradient);
    Compute(layer, kForward);
  }
  for (size_t layer = layers_count_; layer-- > 0;) {
    Compute(layer, kWeightGradient);
    IssueBeside(layer, kWeightGradient);
    if (layer > 0) Compute(layer, kInputGradient);
  }
}

void ProgramMaker::BackwardBeside(bool with_weights) {
  for (size_t layer = layers_count_; layer-- > 0;) {
    Compute(layer, kInputGradient);
    if (layer > 0) IssueBeside(layer, kInputGradient);
    Compute(layer, kWeightGradient);
    if (with_weights) IssueBeside(layer, kWeightGradient);
    WaitFor(layer, kInputGradient);
  }
}

// Layers from the nearest checkpoint at or below `up_to` to the one below it.
void ProgramMaker::ForwardAgain(size_t up_to) {
  const auto above = file_.checkpoints.upper_bound(static_cast<int64_t>(up_to));
  for (auto layer = static_cast<size_t>(*std::prev(above)); layer < up_to; ++layer) {
    // Layers times initiates may be far too many; Make says so.
    if (builder_.size() > options_.nodes_max) return;
    Compute(layer, kForward, " again");
    IssueBlocking(layer, kForward);
  }
}

void ProgramMaker::BackwardBlocking() {
  for (size_t layer = layers_count_; layer-- > 0;) {
    if (file_.checkpoint_initiates.count(static_cast<int64_t>(layer)) > 0) ForwardAgain(layer);
    Compute(layer, kInputGradient);
    IssueBlocking(layer, kInputGradient);
    Compute(layer, kWeightGradient);
    IssueBeside(layer, kWeightGradient);
  }
}

void ProgramMaker::RunDlrm() {
  const auto last_bottom = static_cast<size_t>(file_.last_bottom_layer);
  for (size_t layer = 0; layer < layers_count_; ++layer) {
    WaitFor(layer, kWeightGradient);
    Compute(layer, kForward);
    if (file_.layers[layer].forward.collective == CollectiveType::kAllToAll) {
      IssueBeside(layer, kForward);
    } else if (layer == last_bottom) {
      WaitFor(0, kForward);
    }
  }
  for (size_t layer = layers_count_; layer-- > 0;) {
    Compute(layer, kWeightGradient);
    IssueBeside(layer, kWeightGradient);
    if (file_.parallelism == WorkloadParallelism::kHybridDlrm) WaitFor(layer, kInputGradient);
    if (layer == 0) break;
    Compute(layer, kInputGradient);
    if (layer == last_bottom + 1) IssueBeside(0, kInputGradient);
  }
}

void ProgramMaker::RunPass() {
  switch (file_.parallelism) {
    case WorkloadParallelism::kMicro:
      return RunMicro();
    case WorkloadParallelism::kData:
      return RunData();
    case WorkloadParallelism::kDistributedInference:
      return ForwardBlocking();
    case WorkloadParallelism::kHybridDlrm:
    case WorkloadParallelism::kHybridDlrmEnhanced:
      return RunDlrm();
    case WorkloadParallelism::kModel:
    case WorkloadParallelism::kHybridDataModel:
    case WorkloadParallelism::kHybridModelData:
    case WorkloadParallelism::kHybridCustomized:
      ForwardBlocking();
      return BackwardBeside(file_.parallelism != WorkloadParallelism::kModel);
    case WorkloadParallelism::kHybridTransformer:
    case WorkloadParallelism::kHybridTransformerFwdInBckwd:
      ForwardBlocking();
      return BackwardBlocking();
  }
}

void ProgramMaker::ReportUnused() {
  for (size_t i = 0; i < layers_count_; ++i) {
    const Layer& layer = file_.layers[i];
    for (const Phase phase : {kForward, kInputGradient, kWeightGradient}) {
      const LayerPhase& what = PhaseOf(layer, phase);
      if (!what.collective.has_value() || issued_[phase][i]) continue;
      ledger_->AddFlaw(
          "astra_text_unused_collective", layer.record, layer.byte_offset,
          absl::StrCat("layer ", layer.name, ": ", CollectiveTypeName(*what.collective), " of ",
                       what.bytes, " bytes behind the ", kPhaseNames[phase], ": ",
                       WorkloadParallelismName(layer.parallelism), " never issues it",
                       ScopeAt(i, phase) == Scope::kNobody ? ", as nobody takes part" : ""));
    }
  }
}

absl::StatusOr<RankTrace> ProgramMaker::Make() {
  RETURN_IF_ERROR(CheckTimes());
  for (int32_t pass = 0; pass < options_.passes_count; ++pass) {
    RunPass();
    if (builder_.size() == 0) {
      return absl::InvalidArgumentError(absl::StrCat(WorkloadParallelismName(file_.parallelism),
                                                     ": no layer has a collective to issue"));
    }
    if (builder_.size() > options_.nodes_max) {
      return absl::InvalidArgumentError(absl::StrCat(
          "pass ", pass, " of ", options_.passes_count, ": ", builder_.size(), " nodes of each of ",
          options_.npus_count, " ranks: more than ", kMaxTextWorkloadNodes, " in all"));
    }
  }
  ReportUnused();
  return builder_.Build(nullptr);
}

}  // namespace

absl::StatusOr<RankTrace> MakeProgram(const WorkloadFile& file, const ProgramOptions& options,
                                      Ledger* ledger, bool* uses_groups) {
  ProgramMaker maker(file, options, ledger);
  ASSIGN_OR_RETURN(RankTrace trace, maker.Make());
  *uses_groups = maker.uses_groups();
  return trace;
}

}  // namespace chakrad
