// The messages of one rank to a RankTrace, whatever form they are written in:
// .et files and Chakra's JSON differ in where messages come from only. Includes
// generated protobuf types, so it stays inside these two readers.
#ifndef CHAKRAD_TRACE_READERS_CHAKRA_ET_CHAKRA_MESSAGES_H_
#define CHAKRAD_TRACE_READERS_CHAKRA_ET_CHAKRA_MESSAGES_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "chakra/et_def.pb.h"
#include "trace/model/ledger.h"
#include "trace/model/rank_trace.h"
#include "trace/readers/read_options.h"

namespace chakrad {

class ChakraMessageSource {
 public:
  enum class Kind : uint8_t { kEnd, kMetadata, kNode };
  virtual ~ChakraMessageSource() = default;
  // The next message, into `metadata` or `node`. GlobalMetadata, if there is any,
  // comes first. INVALID_ARGUMENT starts with "byte offset N".
  virtual absl::StatusOr<Kind> Next(ChakraProtoMsg::GlobalMetadata* metadata,
                                    ChakraProtoMsg::Node* node) = 0;
  // Where the last message starts in the uncompressed file.
  virtual int64_t offset() const = 0;
};

// See ReadChakraEt.
absl::StatusOr<RankTrace> ReadChakraMessages(ChakraMessageSource* source,
                                             const ReadOptions& options, Ledger* ledger);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_CHAKRA_ET_CHAKRA_MESSAGES_H_
