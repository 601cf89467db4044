// Bytes of an input file, plain or gzip alike, from front to back.
#ifndef CHAKRAD_TRACE_READERS_BYTE_SOURCE_H_
#define CHAKRAD_TRACE_READERS_BYTE_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakrad {

// Not thread-safe.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills up to `capacity` bytes; returns how many, 0 at the end.
  // INVALID_ARGUMENT with the offset for damaged or cut-off gzip.
  virtual absl::StatusOr<size_t> Read(char* buffer, size_t capacity) = 0;
  // Uncompressed bytes handed out so far.
  virtual int64_t offset() const = 0;
};

// gzip is recognised by its magic number; several members in a row are read as
// one. NOT_FOUND, PERMISSION_DENIED as the OS says.
absl::StatusOr<std::unique_ptr<ByteSource>> OpenFileSource(absl::string_view path);
// Over bytes in memory, which must outlive the source.
std::unique_ptr<ByteSource> OpenMemorySource(absl::string_view bytes);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_BYTE_SOURCE_H_
