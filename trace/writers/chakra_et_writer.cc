#include "trace/writers/chakra_et_writer.h"

#include <google/protobuf/message.h>

#include <string>

#include "common/status.h"
#include "trace/writers/chakra_messages.h"
#include "trace/writers/pieces.h"

namespace chakrad {
namespace {

// Appends the message behind its length.
void AppendMessage(const google::protobuf::Message& message, std::string* piece) {
  uint64_t size = message.ByteSizeLong();
  for (; size >= 0x80; size >>= 7) piece->push_back(static_cast<char>(size | 0x80));
  piece->push_back(static_cast<char>(size));
  message.AppendToString(piece);
}

}  // namespace

absl::Status WriteChakraEt(const Trace& trace, int32_t rank,
                           const std::function<absl::Status(absl::string_view)>& sink) {
  Pieces pieces(sink);
  RETURN_IF_ERROR(ForEachChakraMessage(trace, rank, [&](const google::protobuf::Message& message) {
    AppendMessage(message, &pieces.text());
    return pieces.Passed();
  }));
  return pieces.Flush();
}

}  // namespace chakrad
