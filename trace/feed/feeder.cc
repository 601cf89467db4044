#include "trace/feed/feeder.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/feed/limits.h"

namespace chakrad {
namespace {

// Of nodes with more dependencies it is remembered which of them are known to be done,
// so that waiting for all k costs O(k), not O(k^2).
constexpr size_t kManyDependencies = 64;

}  // namespace

Feeder::Feeder(NodeSource* source, FeederOptions options)
    : source_(source),
      options_(options),
      nodes_count_(source->nodes_count()),
      states_(nodes_count_) {}

absl::Status Feeder::Fail(absl::Status status) {
  if (failed_.ok()) failed_ = std::move(status);
  return failed_;
}

bool Feeder::MayIssue(uint32_t node) {
  if (options_.lookahead_nodes == UINT32_MAX || outstanding_count_ == 0) return true;
  while (lowest_open_ < nodes_count_ && states_.IsDone(lowest_open_)) ++lowest_open_;
  return node - lowest_open_ < options_.lookahead_nodes;
}

void Feeder::Issue(uint32_t node, std::vector<uint32_t>* issued) {
  states_.SetIssued(node);
  ++outstanding_count_;
  issued->push_back(node);
}

absl::StatusOr<std::vector<uint32_t>> Feeder::Next(size_t count) {
  RETURN_IF_ERROR(failed_);
  std::vector<uint32_t> issued;
  while (issued.size() < count) {
    // Every ready one was looked at, so it lies below those that were not.
    if (states_.ready_count() > 0) {
      const uint32_t node = states_.LowestReady();
      if (!MayIssue(node)) break;
      Issue(node, &issued);
      continue;
    }
    if (looked_ == nodes_count_ || !MayIssue(looked_)) break;
    const absl::StatusOr<bool> is_free = Look();
    if (!is_free.ok()) {
      // What was found before is handed out first; the next call fails.
      if (issued.empty()) return Fail(is_free.status());
      break;
    }
    if (*is_free) Issue(looked_ - 1, &issued);
  }
  if (!issued.empty()) return issued;
  if (count > 0 && outstanding_count_ == 0 && !done()) return Fail(Cycle());
  return issued;
}

absl::StatusOr<bool> Feeder::Look() {
  const uint32_t node = looked_;
  ASSIGN_OR_RETURN(const absl::Span<const uint32_t> dependencies, source_->DependenciesOf(node));
  for (const uint32_t dependency : dependencies) {
    if (dependency >= nodes_count_) return Missing(node, dependency);
  }
  ++looked_;
  return !WaitForNext(node, dependencies);
}

bool Feeder::WaitForNext(uint32_t node, absl::Span<const uint32_t> dependencies) {
  const bool many = dependencies.size() > kManyDependencies;
  size_t end = dependencies.size();
  if (many) {
    const auto known = open_until_.find(node);
    if (known != open_until_.end()) end = std::min<size_t>(end, known->second);
  }
  // From the last one on: in recorded order it is done last, and then all are.
  while (end > 0 && states_.IsDone(dependencies[end - 1])) --end;
  if (end == 0) {
    if (many) open_until_.erase(node);
    return false;
  }
  if (many) open_until_[node] = static_cast<uint32_t>(end);
  const uint32_t dependency = dependencies[end - 1];
  size_t other = end - 1;
  while (other > 0 &&
         (dependencies[other - 1] == dependency || states_.IsDone(dependencies[other - 1]))) {
    --other;
  }
  if (many && other == 0) open_until_.erase(node);
  states_.Wait(node, dependency, other == 0);
  return true;
}

absl::Status Feeder::Complete(uint32_t node) {
  RETURN_IF_ERROR(failed_);
  if (node >= nodes_count_ || !states_.IsIssued(node)) {
    return absl::InvalidArgumentError(absl::StrCat("node: position ", node, " was not handed out"));
  }
  if (states_.IsDone(node)) {
    return absl::InvalidArgumentError(absl::StrCat("node: position ", node, " is done already"));
  }
  const uint32_t first = states_.FirstWaiter(node);
  // Where one waits next is written over what follows it here.
  states_.SetDone(node);
  ++done_count_;
  --outstanding_count_;
  for (uint32_t waiter = first; waiter != NodeStates::kNobody;) {
    const uint32_t next = states_.NextWaiter(waiter);
    bool waits = false;
    if (!states_.WaitsForLast(waiter)) {
      const absl::StatusOr<absl::Span<const uint32_t>> dependencies =
          source_->DependenciesOf(waiter);
      if (!dependencies.ok()) return Fail(dependencies.status());
      waits = WaitForNext(waiter, *dependencies);
    }
    if (!waits) states_.SetReady(waiter);
    waiter = next;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Feeder::Describe(uint32_t node) {
  ASSIGN_OR_RETURN(const FeedNode read, source_->Read(node));
  return absl::StrCat("node ", read.id, " (", read.name, ")");
}

absl::Status Feeder::Missing(uint32_t node, uint32_t dependency) {
  ASSIGN_OR_RETURN(const std::string name, Describe(node));
  return absl::InvalidArgumentError(absl::StrCat(name, ": depends on position ", dependency,
                                                 ", which is not in [0, ", nodes_count_, ")"));
}

// Every node that is not done waits for another that is not: following them leads
// into a cycle. In memory only: no window is read but for the names.
absl::Status Feeder::Cycle() {
  while (states_.IsDone(lowest_open_)) ++lowest_open_;
  states_.TurnListsRound();
  // Brent: the tortoise stands still and is moved ahead at powers of two.
  uint64_t power = 1, length = 1;
  uint32_t tortoise = lowest_open_, hare = states_.NextWaiter(lowest_open_);
  while (tortoise != hare) {
    if (length == power) {
      tortoise = hare;
      power *= 2;
      length = 0;
    }
    hare = states_.NextWaiter(hare);
    ++length;
  }
  uint32_t lowest = hare;
  for (uint64_t i = 0; i < length; ++i) {
    hare = states_.NextWaiter(hare);
    lowest = std::min(lowest, hare);
  }
  ASSIGN_OR_RETURN(const std::string first, Describe(lowest));
  std::string message = absl::StrCat("dependency cycle: ", first);
  uint32_t node = states_.NextWaiter(lowest);
  for (int shown = 1; node != lowest; ++shown, node = states_.NextWaiter(node)) {
    if (shown == kCycleNodesShown) {
      absl::StrAppend(&message, " -> ... (", length, " nodes)");
      break;
    }
    ASSIGN_OR_RETURN(const std::string name, Describe(node));
    absl::StrAppend(&message, " -> ", name);
  }
  return absl::InvalidArgumentError(absl::StrCat(message, " -> ", first));
}

}  // namespace chakrad
