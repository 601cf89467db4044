// RankTrace to the messages of a Chakra file: the writers of its two forms
// differ in how a message becomes bytes only.
#ifndef CHAKRAD_TRACE_WRITERS_CHAKRA_MESSAGES_H_
#define CHAKRAD_TRACE_WRITERS_CHAKRA_MESSAGES_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "trace/model/trace.h"

namespace google::protobuf {
class Message;
}

namespace chakrad {

// Hands GlobalMetadata and then each Node of one rank to `sink`, which may end it
// with its own error. A message is valid until `sink` returns. See WriteChakraEt
// for what they hold. NOT_FOUND: the rank is not in the trace;
// FAILED_PRECONDITION: it was loaded without its cold block.
absl::Status ForEachChakraMessage(
    const Trace& trace, int32_t rank,
    const std::function<absl::Status(const google::protobuf::Message&)>& sink);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_WRITERS_CHAKRA_MESSAGES_H_
