// RankTrace to Chakra's JSON form: the messages of a .et file as one valid JSON
// document,
//
//   {"chakra_metadata": GlobalMetadata, "chakra_nodes": [Node, Node, ...]}
//
// a node a line, each message in protobuf's JSON mapping with the field names of
// et_def.proto. Integers of 64 bits are strings, since most JSON readers would
// round them; NaN and infinities are strings.
#ifndef CHAKRAD_TRACE_WRITERS_CHAKRA_JSON_WRITER_H_
#define CHAKRAD_TRACE_WRITERS_CHAKRA_JSON_WRITER_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/model/trace.h"

namespace chakrad {

// Says all that WriteChakraEt says, so reading the text again (ReadChakraJson)
// gives an equal RankTrace. A node with fields that et_def.proto does not know,
// which JSON has no names for, has its whole message in base64 too, under
// "chakrad.message"; that stands over its other keys. What is lost: which NaN a
// NaN was, and bytes of a text that were not UTF-8.
absl::Status WriteChakraJson(const Trace& trace, int32_t rank,
                             const std::function<absl::Status(absl::string_view)>& sink);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_WRITERS_CHAKRA_JSON_WRITER_H_
