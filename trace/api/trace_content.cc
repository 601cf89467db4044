#include "trace/api/trace_content.h"

#include <algorithm>

#include "trace/api/content_hash.h"

namespace chakrad {
namespace {

void AddChunks(const std::vector<ChunkRef>& chunks, ContentHasher* hash) {
  hash->AddNumber(static_cast<int64_t>(chunks.size()));
  for (const ChunkRef& chunk : chunks) hash->AddField(chunk.hash);
}

}  // namespace

std::string TraceContentHash(const std::map<std::string, std::string>& labels, int32_t world_size,
                             const std::vector<ProcessGroup>& groups,
                             const std::vector<const RankIndex*>& ranks) {
  ContentHasher hash("ranks");
  hash.AddLabels(labels);
  hash.AddNumber(world_size);
  hash.AddNumber(static_cast<int64_t>(groups.size()));
  for (const ProcessGroup& group : groups) {
    hash.AddField(group.name);
    hash.AddField(group.description);
    hash.AddNumber(static_cast<int64_t>(group.ranks.size()));
    for (const int32_t rank : group.ranks) hash.AddNumber(rank);
  }
  std::vector<const RankIndex*> ascending = ranks;
  std::sort(ascending.begin(), ascending.end(),
            [](const RankIndex* a, const RankIndex* b) { return a->header.rank < b->header.rank; });
  hash.AddNumber(static_cast<int64_t>(ascending.size()));
  for (const RankIndex* index : ascending) {
    const RankHeader& header = index->header;
    hash.AddNumber(header.rank);
    hash.AddNumber(header.base_unix_ns);
    hash.AddField(header.schema);
    hash.AddNumber(header.nodes_count);
    hash.AddNumber(header.edges_count);
    hash.AddNumber(header.has_cold);
    hash.AddNumber(static_cast<int64_t>(header.file_cold_bytes));
    AddChunks(index->hot, &hash);
    AddChunks(index->cold, &hash);
  }
  return hash.Digest();
}

}  // namespace chakrad
