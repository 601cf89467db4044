#include "trace/codec/trace_content.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/sha256.h"

namespace chakrad {
namespace {

// Each number and text with its end marked, so that no two contents read alike.
class Hasher {
 public:
  void Add(int64_t number) { hash_.Update(absl::StrCat(number, ";")); }
  void Add(absl::string_view text) {
    hash_.Update(absl::StrCat(text.size(), ":"));
    hash_.Update(text);
  }
  void Add(const std::vector<ChunkRef>& chunks) {
    Add(static_cast<int64_t>(chunks.size()));
    for (const ChunkRef& chunk : chunks) Add(absl::string_view(chunk.hash));
  }
  std::string Digest() { return hash_.Digest(); }

 private:
  Sha256 hash_;
};

}  // namespace

std::string TraceContentHash(const std::map<std::string, std::string>& labels, int32_t world_size,
                             const std::vector<ProcessGroup>& groups,
                             const std::vector<const RankIndex*>& ranks) {
  Hasher hash;
  hash.Add(absl::string_view("chakrad trace 1"));
  hash.Add(static_cast<int64_t>(labels.size()));
  for (const auto& [key, value] : labels) {
    hash.Add(absl::string_view(key));
    hash.Add(absl::string_view(value));
  }
  hash.Add(int64_t{world_size});
  hash.Add(static_cast<int64_t>(groups.size()));
  for (const ProcessGroup& group : groups) {
    hash.Add(absl::string_view(group.name));
    hash.Add(absl::string_view(group.description));
    hash.Add(static_cast<int64_t>(group.ranks.size()));
    for (const int32_t rank : group.ranks) hash.Add(int64_t{rank});
  }
  std::vector<const RankIndex*> ascending = ranks;
  std::sort(ascending.begin(), ascending.end(),
            [](const RankIndex* a, const RankIndex* b) { return a->header.rank < b->header.rank; });
  hash.Add(static_cast<int64_t>(ascending.size()));
  for (const RankIndex* index : ascending) {
    const RankHeader& header = index->header;
    hash.Add(int64_t{header.rank});
    hash.Add(header.base_unix_ns);
    hash.Add(absl::string_view(header.schema));
    hash.Add(int64_t{header.nodes_count});
    hash.Add(int64_t{header.edges_count});
    hash.Add(int64_t{header.has_cold});
    hash.Add(static_cast<int64_t>(header.file_cold_bytes));
    hash.Add(index->hot);
    hash.Add(index->cold);
  }
  return hash.Digest();
}

}  // namespace chakrad
