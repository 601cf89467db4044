#include "trace/feed/node_source.h"

#include <algorithm>
#include <list>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/codec/rank_reader.h"

namespace chakrad {
namespace {

absl::Status CheckPosition(uint32_t position, uint32_t nodes_count) {
  if (position < nodes_count) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("node: position ", position, " is not in [0, ", nodes_count, ")"));
}

FeedNode NodeOf(const RankTrace& rows, uint32_t row, uint32_t position) {
  FeedNode node;
  node.position = position;
  node.id = rows.id[row];
  node.type = rows.type[row];
  node.is_host = rows.is_host(row);
  node.queue = rows.queues[rows.queue[row]];
  node.start_ns = rows.start_ns[row];
  node.dur_ns = rows.dur_ns[row];
  node.work_ns = rows.work_ns[row];
  const auto gap = std::lower_bound(rows.gap_node.begin(), rows.gap_node.end(), row);
  if (gap != rows.gap_node.end() && *gap == row) {
    node.gap_ns = rows.gap_ns[gap - rows.gap_node.begin()];
  }
  node.name = rows.NameOf(row);
  node.comm = rows.CommOf(row);
  node.work_size = rows.WorkSizeOf(row);
  return node;
}

class MemorySource : public NodeSource {
 public:
  explicit MemorySource(const RankTrace* rank) : rank_(rank) {}

  uint32_t nodes_count() const override { return rank_->size(); }
  absl::StatusOr<absl::Span<const uint32_t>> DependenciesOf(uint32_t position) override {
    const uint32_t begin = rank_->dep_begin[position], end = rank_->dep_begin[position + 1];
    return absl::Span<const uint32_t>(rank_->dep_node.data() + begin, end - begin);
  }
  absl::StatusOr<FeedNode> Read(uint32_t position) override {
    RETURN_IF_ERROR(CheckPosition(position, nodes_count()));
    return NodeOf(*rank_, position, position);
  }

 private:
  const RankTrace* const rank_;
};

// The runs used last, by where they begin. Few: found by looking at each.
template <typename Run>
class RunCache {
 public:
  struct Entry {
    uint32_t first = 0;
    size_t bytes = 0;
    Run run;
  };
  const Run* Find(uint32_t first) {
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      if (entry->first != first) continue;
      entries_.splice(entries_.begin(), entries_, entry);
      return &entry->run;
    }
    return nullptr;
  }
  const Run* Add(Entry entry, size_t bytes_max, size_t entries_max) {
    bytes_ += entry.bytes;
    entries_.push_front(std::move(entry));
    while (entries_.size() > 1 && (bytes_ > bytes_max || entries_.size() > entries_max)) {
      bytes_ -= entries_.back().bytes;
      entries_.pop_back();
    }
    return &entries_.front().run;
  }

 private:
  std::list<Entry> entries_;
  size_t bytes_ = 0;
};

class ReaderSource : public NodeSource {
 public:
  ReaderSource(RankReader* reader, const ReaderSourceOptions& options)
      : reader_(reader), options_(options) {}

  uint32_t nodes_count() const override { return reader_->header().nodes_count; }

  absl::StatusOr<absl::Span<const uint32_t>> DependenciesOf(uint32_t position) override {
    if (run_ == nullptr || position - run_->first >= run_->begin.size() - 1) {
      ASSIGN_OR_RETURN(run_, RunOf(position - position % kDependencyRunNodes));
    }
    const uint32_t row = position - run_->first;
    return absl::Span<const uint32_t>(run_->dep_node.data() + run_->begin[row],
                                      run_->begin[row + 1] - run_->begin[row]);
  }

  absl::StatusOr<FeedNode> Read(uint32_t position) override {
    RETURN_IF_ERROR(CheckPosition(position, nodes_count()));
    const uint32_t first = position - position % kNodeRunNodes;
    const RankPart* part = parts_.Find(first);
    if (part == nullptr) {
      ASSIGN_OR_RETURN(RankPart read, reader_->Read({first, kNodeRunNodes}));
      part = parts_.Add({first, 0, std::move(read)}, SIZE_MAX, kNodeRunsKept);
    }
    return NodeOf(part->rows, position - first, position);
  }

 private:
  absl::StatusOr<const DependencyRun*> RunOf(uint32_t first) {
    run_ = nullptr;
    const DependencyRun* run = runs_.Find(first);
    if (run != nullptr) return run;
    ASSIGN_OR_RETURN(DependencyRun read, reader_->ReadDependencies(first, kDependencyRunNodes));
    read.dep_node.shrink_to_fit();
    const size_t bytes = (read.begin.capacity() + read.dep_node.capacity()) * sizeof(uint32_t);
    return runs_.Add({first, bytes, std::move(read)}, options_.dependency_cache_bytes, SIZE_MAX);
  }

  RankReader* const reader_;
  const ReaderSourceOptions options_;
  RunCache<DependencyRun> runs_;
  const DependencyRun* run_ = nullptr;  // The one used last.
  RunCache<RankPart> parts_;
};

}  // namespace

std::unique_ptr<NodeSource> NewMemorySource(const RankTrace* rank) {
  return std::make_unique<MemorySource>(rank);
}

std::unique_ptr<NodeSource> NewReaderSource(RankReader* reader,
                                            const ReaderSourceOptions& options) {
  return std::make_unique<ReaderSource>(reader, options);
}

}  // namespace chakrad
