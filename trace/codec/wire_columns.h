// Reads the messages of chunk.proto without building them: their columns are decoded straight to
// where they belong. A message in memory takes several times the time of its bytes.
#ifndef CHAKRAD_TRACE_CODEC_WIRE_COLUMNS_H_
#define CHAKRAD_TRACE_CODEC_WIRE_COLUMNS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace chakrad {

// The fields of a message, by number; those above kMaxField are skipped.
class WireMessage {
 public:
  static constexpr uint32_t kMaxField = 15;

  // False: `raw`, which must outlive this, is no message, or one that EncodeRank does not write:
  // with groups, or a field twice (which protobuf would join).
  bool Parse(absl::string_view raw);
  // Of a single number; 0 where there is none.
  uint64_t Number(int field) const { return number_[field]; }
  // Of a bytes field or a packed column; empty where there is none.
  absl::string_view Bytes(int field) const { return bytes_[field]; }

 private:
  uint64_t number_[kMaxField + 1] = {};
  absl::string_view bytes_[kMaxField + 1];
};

// The varint at *next. False: there is none before `end`, or it has more than 64 bits.
inline bool ReadVarint(const uint8_t** next, const uint8_t* end, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (*next == end) return false;
    const uint8_t byte = *(*next)++;
    *value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// Rows of a packed column, if it is one.
inline size_t CountVarints(absl::string_view column) {
  return static_cast<size_t>(std::count_if(
      column.begin(), column.end(), [](char byte) { return static_cast<uint8_t>(byte) < 0x80; }));
}

// Calls take(row, value) for rows 0 to count - 1. False: the column has not so many rows, or more.
template <typename Take>
bool ForEachRow(absl::string_view column, size_t count, Take take) {
  const auto* next = reinterpret_cast<const uint8_t*>(column.data());
  const uint8_t* const end = next + column.size();
  for (size_t row = 0; row < count; ++row) {
    uint64_t value;
    if (next != end && *next < 0x80) {
      value = *next++;
    } else if (!ReadVarint(&next, end, &value)) {
      return false;
    }
    take(row, value);
  }
  return next == end;
}

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_CODEC_WIRE_COLUMNS_H_
