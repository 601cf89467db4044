// RankTrace to a Chakra .et file.
#ifndef CHAKRAD_TRACE_WRITERS_CHAKRA_ET_WRITER_H_
#define CHAKRAD_TRACE_WRITERS_CHAKRA_ET_WRITER_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/model/trace.h"

namespace chakrad {

// Writes one rank of `trace` (loaded with its cold block) piece by piece to
// `sink`, which may end the writing with its own error. Attributes of the input
// come back unchanged; what linking found is added as attributes
// (trace/model/attributes.h), so that reading the file again gives an equal
// RankTrace, nanoseconds, queues, edge kinds and groups included.
absl::Status WriteChakraEt(const Trace& trace, int32_t rank,
                           const std::function<absl::Status(absl::string_view)>& sink);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_WRITERS_CHAKRA_ET_WRITER_H_
