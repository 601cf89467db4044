// Chakra .et files: protobuf messages behind varint lengths.
#ifndef CHAKRAD_TRACE_READERS_CHAKRA_ET_CHAKRA_ET_H_
#define CHAKRAD_TRACE_READERS_CHAKRA_ET_CHAKRA_ET_H_

#include "absl/status/statusor.h"
#include "trace/model/ledger.h"
#include "trace/model/rank_trace.h"
#include "trace/readers/read_options.h"

namespace chakrad {

class ByteSource;  // trace/readers/byte_source.h

// Reads GlobalMetadata and every Node. Known attributes (trace/model/attributes.h) may
// have any integer kind, never another type. All attributes and the unknown fields
// stay in the cold blocks, also those of nodes that are wrong. Groups are named by pg_name and
// have no members here. rank is kNoRank unless the metadata tells it.
//
// Ledger: a record is a message. Nodes are kept, GlobalMetadata is merged. Flaws, and what
// of a file is read nevertheless:
//   missing_control_dependency  of ctrl_deps: left out
//   duplicate_dependency        counted once
//   comm_type_missing, unknown_node_type   see node_codec.h
// INVALID_ARGUMENT, with byte offset, node and reason: cut off, damaged, no nodes, over a
// limit; and when strict also (lenient: a flaw, or a rejection where it says so)
//   missing_dependency   of data_deps: left out; an error lists the first kListedMissing
//   duplicate_node_id    the first node counts, the others are rejected
//   attribute_type, attribute_range, duplicate_attribute, time_out_of_range,
//   comm_type_missing, unknown_node_type   see node_codec.h
// Nothing that is wrong is ever read as a 0 in silence.
absl::StatusOr<RankTrace> ReadChakraEt(ByteSource* source, const ReadOptions& options,
                                       Ledger* ledger);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_CHAKRA_ET_CHAKRA_ET_H_
