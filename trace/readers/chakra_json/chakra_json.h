// Chakra execution traces in JSON.
#ifndef CHAKRAD_TRACE_READERS_CHAKRA_JSON_CHAKRA_JSON_H_
#define CHAKRAD_TRACE_READERS_CHAKRA_JSON_CHAKRA_JSON_H_

#include "absl/status/statusor.h"
#include "trace/model/ledger.h"
#include "trace/model/rank_trace.h"
#include "trace/readers/read_options.h"

namespace chakrad {

class ByteSource;  // trace/readers/byte_source.h

// Reads any of
// - chakrad's own document, {"chakra_metadata": {...}, "chakra_nodes": [...]}
//   (trace/writers/chakra_json_writer.h), metadata first;
// - what Chakra's jsonizer writes: GlobalMetadata and Nodes in protobuf's JSON, one
//   object behind the other with nothing in between;
// - the document of Chakra's feeder, {"workload_graph": [...]}.
// In the first two, keys are field names as in et_def.proto or in camel case, and
// integers are numbers or strings of digits, exact. What the messages mean is as
// in ReadChakraEt. INVALID_ARGUMENT names byte offset, record, node where its id
// is known, and reason: not JSON, a bare NaN, a key that is no field, a value that
// does not fit. With options.lenient a key that is no field is left out instead
// and entered as a flaw, "unknown_json_key".
// Streams: memory is the trace plus one window of nodes.
absl::StatusOr<RankTrace> ReadChakraJson(ByteSource* source, const ReadOptions& options,
                                         Ledger* ledger);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_CHAKRA_JSON_CHAKRA_JSON_H_
