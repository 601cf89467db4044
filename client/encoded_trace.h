// A trace as chunks and indexes, ready to be pushed.
#ifndef CHAKRAD_CLIENT_ENCODED_TRACE_H_
#define CHAKRAD_CLIENT_ENCODED_TRACE_H_

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "trace/codec/rank_index.h"
#include "trace/model/ledger.h"
#include "trace/model/trace.h"

namespace chakrad::client {

struct EncodedTrace {
  std::map<std::string, std::string> labels;
  int32_t world_size = 0;
  std::vector<ProcessGroup> groups;
  std::vector<Ledger> ledgers;
  std::vector<std::string> notices;
  std::vector<RankIndex> ranks;
  std::unordered_map<std::string, std::string> chunks;  // By hash.
  int64_t chunk_bytes = 0;                              // Of all chunks, equal ones once.
  std::string content_hash;                             // TraceContentHash.
};

// Encodes an assembled trace; ledgers and notices are left empty. Memory: the chunks,
// about a tenth of the trace. INVALID_ARGUMENT: a rank's columns do not fit together.
absl::StatusOr<EncodedTrace> EncodeTrace(const Trace& trace);

// Makes content_hash follow changed labels.
void Relabel(EncodedTrace* encoded);

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_ENCODED_TRACE_H_
