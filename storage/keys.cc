#include "storage/keys.h"

#include "common/check.h"

namespace chakrad {
namespace {

std::string BigEndian(uint64_t value, int bytes_count) {
  std::string bytes;
  for (int i = bytes_count - 1; i >= 0; --i) bytes.push_back(static_cast<char>(value >> (8 * i)));
  return bytes;
}

}  // namespace

std::string SortableInt32(int32_t value) {
  return BigEndian(static_cast<uint32_t>(value) ^ (1u << 31), 4);
}

std::string SortableInt64(int64_t value) {
  return BigEndian(static_cast<uint64_t>(value) ^ (1ull << 63), 8);
}

int64_t ParseSortableInt64(absl::string_view bytes) {
  CHECK(bytes.size() >= 8) << bytes.size();
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return static_cast<int64_t>(value ^ (1ull << 63));
}

std::string PackTimeKey(int64_t create_unix_ns, absl::string_view id) {
  std::string key = SortableInt64(create_unix_ns);
  key.append(id.data(), id.size());
  return key;
}

bool ParseTimeKey(absl::string_view bytes, TimeKey* key) {
  if (bytes.size() < 8) return false;
  key->create_unix_ns = ParseSortableInt64(bytes);
  key->id = std::string(bytes.substr(8));
  return true;
}

}  // namespace chakrad
