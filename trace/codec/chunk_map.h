// A rank's index and chunks in memory, for tests and measurements.
#ifndef CHAKRAD_TRACE_CODEC_CHUNK_MAP_H_
#define CHAKRAD_TRACE_CODEC_CHUNK_MAP_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "common/check.h"
#include "common/sha256.h"
#include "trace/codec/rank_codec.h"
#include "trace/codec/rank_reader.h"

namespace chakrad {

// Equal chunks once, as a store keeps them. Counts what is read.
class ChunkMap {
 public:
  // Encodes the rank; its chunks stay here.
  RankIndex Add(const RankTrace& rank) {
    RankIndex index;
    index.header = HeaderOf(rank);
    index.has_spans = true;
    const absl::Status encoded =
        EncodeRank(rank, [&](const ChunkSpan& span, absl::string_view stored) {
          std::string hash = Put(stored);
          (IsCold(span.kind) ? index.cold : index.hot).push_back({std::move(hash), span});
          return absl::OkStatus();
        });
    CHECK(encoded.ok()) << encoded;
    return index;
  }
  std::string Put(absl::string_view stored) {
    std::string hash = Sha256Of(stored);
    chunks_.emplace(hash, stored);
    return hash;
  }
  ChunkSource Source() {
    return [this](const std::string& hash) -> absl::StatusOr<std::string> {
      ++reads_count_;
      const auto found = chunks_.find(hash);
      if (found == chunks_.end()) return absl::DataLossError("chunk: is missing");
      return found->second;
    };
  }
  int64_t reads_count() const { return reads_count_; }
  const std::map<std::string, std::string>& chunks() const { return chunks_; }

 private:
  std::map<std::string, std::string> chunks_;
  int64_t reads_count_ = 0;
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_CODEC_CHUNK_MAP_H_
