// What a feeder remembers of each node, in pages that exist only while something in
// them is undecided: 8.5 bytes a node there, nothing before and behind.
#ifndef CHAKRAD_TRACE_FEED_NODE_STATES_H_
#define CHAKRAD_TRACE_FEED_NODE_STATES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace chakrad {

// A node waits for one unfinished dependency at a time: it is in the list of that
// node's waiters. Positions must be below nodes_count. Not thread-safe.
class NodeStates {
 public:
  static constexpr uint32_t kNobody = UINT32_MAX;

  explicit NodeStates(uint32_t nodes_count);

  bool IsDone(uint32_t node) const {
    const Page* page = pages_[node / kPageNodes].get();
    return page == nullptr ? is_complete_[node / kPageNodes] : Test(page->done, node);
  }
  bool IsIssued(uint32_t node) const {
    const Page* page = pages_[node / kPageNodes].get();
    return page == nullptr ? is_complete_[node / kPageNodes] : Test(page->issued, node);
  }

  // `waiter` waits for `dependency`, which is not done; with `is_last`, for nothing else.
  void Wait(uint32_t waiter, uint32_t dependency, bool is_last);
  bool WaitsForLast(uint32_t waiter) const {
    return Test(pages_[waiter / kPageNodes]->last, waiter);
  }
  // The list of those that wait for `node`, the last one first.
  uint32_t FirstWaiter(uint32_t node) const {
    const Page* page = pages_[node / kPageNodes].get();
    return page == nullptr ? kNobody : page->first_waiter[node % kPageNodes];
  }
  uint32_t NextWaiter(uint32_t waiter) const {
    return pages_[waiter / kPageNodes]->next_waiter[waiter % kPageNodes];
  }

  void SetReady(uint32_t node);
  uint64_t ready_count() const { return ready_count_; }
  // The lowest of the ready ones; there must be one.
  uint32_t LowestReady();
  // Takes it out of the ready ones, if it is there.
  void SetIssued(uint32_t node);
  // An issued one. Its waiters must have been taken over before.
  void SetDone(uint32_t node);

  // Makes NextWaiter(w) say what w waits for. Only NextWaiter may be called afterwards.
  void TurnListsRound();

 private:
  static constexpr uint32_t kPageNodes = 4096;
  static constexpr uint32_t kWords = kPageNodes / 64;  // Must be 64: see ready_words.
  using Bits = std::array<uint64_t, kWords>;
  struct Page {
    std::array<uint32_t, kPageNodes> first_waiter;
    std::array<uint32_t, kPageNodes> next_waiter;
    Bits done{}, issued{}, ready{}, last{};
    uint64_t ready_words = 0;  // Which words of `ready` are not 0.
    uint32_t done_count = 0;
  };
  static bool Test(const Bits& bits, uint32_t node) {
    return (bits[node % kPageNodes / 64] >> (node % 64) & 1) != 0;
  }
  static void Set(Bits* bits, uint32_t node) {
    (*bits)[node % kPageNodes / 64] |= uint64_t{1} << (node % 64);
  }
  Page& Touch(uint32_t node);
  uint32_t NodesIn(size_t page) const;

  const uint32_t nodes_count_;
  std::vector<std::unique_ptr<Page>> pages_;
  std::vector<bool> is_complete_;      // Of pages that are gone: every node is done.
  std::vector<uint64_t> ready_pages_;  // A bit a page: whether a node of it is ready.
  size_t ready_from_ = 0;              // No word of ready_pages_ before is not 0.
  uint64_t ready_count_ = 0;
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_FEED_NODE_STATES_H_
