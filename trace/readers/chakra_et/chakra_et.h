// Chakra .et files: protobuf messages behind varint lengths.
#ifndef CHAKRAD_TRACE_READERS_CHAKRA_ET_CHAKRA_ET_H_
#define CHAKRAD_TRACE_READERS_CHAKRA_ET_CHAKRA_ET_H_

#include "absl/status/statusor.h"
#include "trace/model/ledger.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

class ByteSource;  // trace/readers/byte_source.h

// Reads GlobalMetadata and every Node. Known attributes (trace/model/attributes.h)
// may have any integer kind; another kind, or a negative size, is
// INVALID_ARGUMENT naming node and attribute, never a zero. All attributes and
// the unknown fields stay in the cold block. INVALID_ARGUMENT names node, byte
// offset and reason: cut off, damaged, duplicate id, missing dependency. Groups
// are named by pg_name and have no members here. rank is kNoRank unless the
// metadata tells it.
absl::StatusOr<RankTrace> ReadChakraEt(ByteSource* source, Ledger* ledger);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_CHAKRA_ET_CHAKRA_ET_H_
