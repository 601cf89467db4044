#include "sim/compute/carriers.h"

#include <utility>

#include "absl/strings/match.h"
#include "sim/compute/operator_table.h"
#include "trace/operators/nesting.h"

namespace chakrad {
namespace {

// What a name says; once a name of the trace's string table.
struct NameInfo {
  enum : uint8_t { kSeen = 1, kKnown = 2, kWrapper = 4, kStep = 8, kKernelSeen = 16 };
  uint8_t flags = 0;
  OperatorClass host_class = OperatorClass::kOther;
  OperatorClass kernel_class = OperatorClass::kOther;
};

class Finder {
 public:
  explicit Finder(const RankTrace& trace) : trace_(trace), names_(trace.strings.size()) {
    CallNesting nesting = FindNesting(trace);
    parent_ = std::move(nesting.parent);
    order_ = std::move(nesting.parents_first);
  }

  Carriers Run() {
    FindCarrying();
    Carriers result;
    result.carrier.assign(trace_.size(), kNone);
    result.op_class.assign(trace_.size(), OperatorClass::kOther);
    for (const uint32_t node : order_) SetHost(node, &result);
    for (uint32_t node = 0; node < trace_.size(); ++node) {
      if (!trace_.is_host(node)) SetDevice(node, &result);
    }
    return result;
  }

 private:
  const NameInfo& NameOf(uint32_t node) {
    NameInfo& info = names_[trace_.name[node]];
    if ((info.flags & NameInfo::kSeen) != 0) return info;
    info.flags |= NameInfo::kSeen;
    const absl::string_view name = trace_.NameOf(node);
    info.host_class = ClassOfOperator(name);
    if (absl::StartsWith(name, "Optimizer.step")) info.flags |= NameInfo::kStep;
    if (const OperatorInfo* op = FindOperator(name);
        op != nullptr && op->formula != Formula::kNone) {
      info.flags |= op->wrapper ? NameInfo::kKnown | NameInfo::kWrapper : NameInfo::kKnown;
    }
    return info;
  }

  OperatorClass KernelClass(uint32_t node) {
    NameInfo& info = names_[trace_.name[node]];
    if ((info.flags & NameInfo::kKernelSeen) == 0) {
      info.flags |= NameInfo::kKernelSeen;
      info.kernel_class = ClassOfKernel(trace_.NameOf(node));
    }
    return info.kernel_class;
  }

  void FindCarrying() {
    // Bits of `marks_`.
    constexpr uint8_t kInside = 1;  // Below a known operator that is no wrapper.
    constexpr uint8_t kHolds = 2;   // Above one, or above a wrapper.
    std::vector<uint8_t> marks(trace_.size(), 0);
    carries_.assign(trace_.size(), false);
    for (const uint32_t node : order_) {
      const bool inside = parent_[node] != kNone &&
                          ((marks[parent_[node]] & kInside) != 0 || carries_[parent_[node]]);
      if (inside) marks[node] |= kInside;
      const uint8_t flags = NameOf(node).flags;
      const bool known = trace_.type[node] == NodeType::kComp && (flags & NameInfo::kKnown) != 0;
      carries_[node] = known && (flags & NameInfo::kWrapper) == 0 && !inside;
    }
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      const uint32_t node = *it;
      if ((marks[node] & kInside) != 0) continue;
      const bool wrapper =
          trace_.type[node] == NodeType::kComp && (NameOf(node).flags & NameInfo::kWrapper) != 0;
      if (wrapper && (marks[node] & kHolds) == 0) carries_[node] = true;
      if (parent_[node] != kNone && (carries_[node] || (marks[node] & kHolds) != 0)) {
        marks[parent_[node]] |= kHolds;
      }
    }
    in_step_.assign(trace_.size(), false);
  }

  void SetHost(uint32_t node, Carriers* result) {
    const uint32_t parent = parent_[node];
    uint32_t carrier = parent == kNone ? kNone : result->carrier[parent];
    if (carrier == kNone && carries_[node]) carrier = node;
    result->carrier[node] = carrier;
    const NameInfo& name = NameOf(node);
    in_step_[node] = (name.flags & NameInfo::kStep) != 0 || (parent != kNone && in_step_[parent]);
    if (carrier != kNone && carrier != node) {
      result->op_class[node] = result->op_class[carrier];
      return;
    }
    OperatorClass op_class = name.host_class;
    const bool update = op_class == OperatorClass::kElementwise ||
                        op_class == OperatorClass::kMemoryCopy || op_class == OperatorClass::kOther;
    if (in_step_[node] && update) op_class = OperatorClass::kOptimiser;
    result->op_class[node] = op_class;
  }

  void SetDevice(uint32_t node, Carriers* result) {
    OperatorClass op_class = OperatorClass::kOther;
    for (uint32_t j = trace_.dep_begin[node]; j < trace_.dep_begin[node + 1]; ++j) {
      if (trace_.dep_kind[j] != EdgeKind::kLaunch || !trace_.is_host(trace_.dep_node[j])) continue;
      result->carrier[node] = result->carrier[trace_.dep_node[j]];
      op_class = result->op_class[trace_.dep_node[j]];
      break;
    }
    if (op_class == OperatorClass::kOther) op_class = KernelClass(node);
    result->op_class[node] = op_class;
  }

  const RankTrace& trace_;
  std::vector<NameInfo> names_;           // By index of the string table.
  std::vector<uint32_t> parent_, order_;  // CallNesting.
  std::vector<bool> carries_, in_step_;
};

}  // namespace

Carriers FindCarriers(const RankTrace& trace) { return Finder(trace).Run(); }

}  // namespace chakrad
