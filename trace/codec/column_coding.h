// Small pieces that the encoder and the decoder of rank traces share.
#ifndef CHAKRAD_TRACE_CODEC_COLUMN_CODING_H_
#define CHAKRAD_TRACE_CODEC_COLUMN_CODING_H_

#include <cstdint>

#include "absl/status/status.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

namespace codec {
class Group;
}

// Small magnitudes of either sign become small numbers.
inline uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
inline int64_t UnZigZag(uint64_t value) {
  return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

// Modulo 2^64, so that differences of any two recorded times exist.
inline int64_t WrapSub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
inline int64_t WrapAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

void GroupToProto(const ProcessGroup& group, codec::Group* record);
// DATA_LOSS: a member is no 32-bit number.
absl::Status GroupFromProto(const codec::Group& record, ProcessGroup* group);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_CODEC_COLUMN_CODING_H_
