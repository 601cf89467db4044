#include "client/encoded_trace.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/sha256.h"
#include "common/status.h"
#include "trace/api/trace_content.h"
#include "trace/codec/rank_check.h"
#include "trace/codec/rank_codec.h"

namespace chakrad::client {
namespace {

absl::Status AddRank(const RankTrace& rank, EncodedTrace* encoded) {
  RETURN_IF_ERROR(CheckRankColumns(rank, encoded->groups.size()));
  RankIndex index{.header = HeaderOf(rank), .hot = {}, .cold = {}, .has_spans = true};
  RETURN_IF_ERROR(EncodeRank(rank, [&](const ChunkSpan& span, absl::string_view stored) {
    std::string hash = Sha256Of(stored);
    (IsCold(span.kind) ? index.cold : index.hot).push_back({hash, span});
    const auto [chunk, added] = encoded->chunks.emplace(std::move(hash), "");
    if (added) {
      chunk->second.assign(stored.data(), stored.size());
      encoded->chunk_bytes += static_cast<int64_t>(stored.size());
    }
    return absl::OkStatus();
  }));
  encoded->ranks.push_back(std::move(index));
  return absl::OkStatus();
}

}  // namespace

void Relabel(EncodedTrace* encoded) {
  std::vector<const RankIndex*> ranks;
  for (const RankIndex& index : encoded->ranks) ranks.push_back(&index);
  encoded->content_hash =
      TraceContentHash(encoded->labels, encoded->world_size, encoded->groups, ranks);
}

absl::StatusOr<EncodedTrace> EncodeTrace(const Trace& trace) {
  EncodedTrace encoded;
  encoded.labels = trace.labels;
  encoded.world_size = trace.world_size;
  encoded.groups = trace.groups;
  for (const RankTrace& rank : trace.ranks) {
    RETURN_IF_ERROR(Annotate(AddRank(rank, &encoded), absl::StrCat("rank ", rank.rank)));
  }
  Relabel(&encoded);
  return encoded;
}

}  // namespace chakrad::client
