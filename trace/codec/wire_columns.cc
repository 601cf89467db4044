#include "trace/codec/wire_columns.h"

namespace chakrad {
namespace {

// Of a field's key: what follows it.
enum WireType : uint64_t { kVarint = 0, kEightBytes = 1, kLengthAndBytes = 2, kFourBytes = 5 };

}  // namespace

bool WireMessage::Parse(absl::string_view raw) {
  const auto* next = reinterpret_cast<const uint8_t*>(raw.data());
  const uint8_t* const end = next + raw.size();
  bool seen[kMaxField + 1] = {};
  while (next != end) {
    uint64_t key = 0, value = 0;
    if (!ReadVarint(&next, end, &key)) return false;
    const uint64_t field = key >> 3, type = key & 7;
    if (field == 0) return false;
    absl::string_view bytes;
    if (type == kVarint) {
      if (!ReadVarint(&next, end, &value)) return false;
    } else if (type == kLengthAndBytes || type == kEightBytes || type == kFourBytes) {
      uint64_t length = type == kFourBytes ? 4 : 8;
      if (type == kLengthAndBytes && !ReadVarint(&next, end, &length)) return false;
      if (length > static_cast<uint64_t>(end - next)) return false;
      if (type == kLengthAndBytes) {
        bytes = absl::string_view(reinterpret_cast<const char*>(next), length);
      }
      next += length;
    } else {
      return false;
    }
    if (field > kMaxField) continue;
    if (seen[field]) return false;
    seen[field] = true;
    number_[field] = value;
    bytes_[field] = bytes;
  }
  return true;
}

}  // namespace chakrad
