#include "trace/feed/node_states.h"

#include <algorithm>
#include <bit>

#include "common/check.h"

namespace chakrad {

NodeStates::NodeStates(uint32_t nodes_count) : nodes_count_(nodes_count) {
  static_assert(kWords == 64);
  const size_t pages = (size_t{nodes_count} + kPageNodes - 1) / kPageNodes;
  pages_.resize(pages);
  is_complete_.resize(pages);
  ready_pages_.resize(pages / 64 + 1);
}

NodeStates::Page& NodeStates::Touch(uint32_t node) {
  std::unique_ptr<Page>& page = pages_[node / kPageNodes];
  if (page == nullptr) {
    CHECK(!is_complete_[node / kPageNodes]) << node;
    page = std::make_unique<Page>();
    page->first_waiter.fill(kNobody);
    page->next_waiter.fill(kNobody);
  }
  return *page;
}

uint32_t NodeStates::NodesIn(size_t page) const {
  return std::min<uint32_t>(kPageNodes, nodes_count_ - static_cast<uint32_t>(page) * kPageNodes);
}

void NodeStates::Wait(uint32_t waiter, uint32_t dependency, bool is_last) {
  Page& page = Touch(waiter);
  if (is_last) Set(&page.last, waiter);
  uint32_t& first = Touch(dependency).first_waiter[dependency % kPageNodes];
  page.next_waiter[waiter % kPageNodes] = first;
  first = waiter;
}

void NodeStates::SetReady(uint32_t node) {
  Page& page = Touch(node);
  Set(&page.ready, node);
  page.ready_words |= uint64_t{1} << (node % kPageNodes / 64);
  const size_t index = node / kPageNodes;
  ready_pages_[index / 64] |= uint64_t{1} << (index % 64);
  ready_from_ = std::min(ready_from_, index / 64);
  ++ready_count_;
}

uint32_t NodeStates::LowestReady() {
  CHECK(ready_count_ > 0);
  while (ready_pages_[ready_from_] == 0) ++ready_from_;
  const size_t index =
      ready_from_ * 64 + static_cast<size_t>(std::countr_zero(ready_pages_[ready_from_]));
  const Page& page = *pages_[index];
  const auto word = static_cast<uint32_t>(std::countr_zero(page.ready_words));
  return static_cast<uint32_t>(index) * kPageNodes + word * 64 +
         static_cast<uint32_t>(std::countr_zero(page.ready[word]));
}

void NodeStates::SetIssued(uint32_t node) {
  Page& page = Touch(node);
  Set(&page.issued, node);
  if (!Test(page.ready, node)) return;
  const uint32_t word = node % kPageNodes / 64;
  page.ready[word] &= ~(uint64_t{1} << (node % 64));
  --ready_count_;
  if (page.ready[word] != 0) return;
  page.ready_words &= ~(uint64_t{1} << word);
  if (page.ready_words != 0) return;
  const size_t index = node / kPageNodes;
  ready_pages_[index / 64] &= ~(uint64_t{1} << (index % 64));
}

void NodeStates::SetDone(uint32_t node) {
  const size_t index = node / kPageNodes;
  Page& page = *pages_[index];
  Set(&page.done, node);
  page.first_waiter[node % kPageNodes] = kNobody;
  if (++page.done_count < NodesIn(index)) return;
  pages_[index].reset();
  is_complete_[index] = true;
}

void NodeStates::TurnListsRound() {
  for (size_t index = 0; index < pages_.size(); ++index) {
    if (pages_[index] == nullptr) continue;
    const auto begin = static_cast<uint32_t>(index * kPageNodes);
    for (uint32_t node = begin; node < begin + NodesIn(index); ++node) {
      for (uint32_t waiter = FirstWaiter(node); waiter != kNobody;) {
        uint32_t& next = pages_[waiter / kPageNodes]->next_waiter[waiter % kPageNodes];
        const uint32_t after = next;
        next = node;
        waiter = after;
      }
    }
  }
}

}  // namespace chakrad
