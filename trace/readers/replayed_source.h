// A source of which the front has been read already, whole again.
#ifndef CHAKRAD_TRACE_READERS_REPLAYED_SOURCE_H_
#define CHAKRAD_TRACE_READERS_REPLAYED_SOURCE_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "common/status.h"
#include "trace/readers/byte_source.h"

namespace chakrad {

// Serves bytes that were read already, then the rest. Not thread-safe.
class ReplayedSource final : public ByteSource {
 public:
  // `rest` must outlive this.
  ReplayedSource(std::string front, ByteSource* rest) : front_(std::move(front)), rest_(rest) {}
  absl::StatusOr<size_t> Read(char* buffer, size_t capacity) override {
    size_t count = std::min(capacity, front_.size() - next_);
    if (count > 0) {
      std::memcpy(buffer, front_.data() + next_, count);
      next_ += count;
    } else {
      ASSIGN_OR_RETURN(count, rest_->Read(buffer, capacity));
    }
    offset_ += static_cast<int64_t>(count);
    return count;
  }
  int64_t offset() const override { return offset_; }

 private:
  std::string front_;
  ByteSource* rest_;
  size_t next_ = 0;
  int64_t offset_ = 0;
};

// The first `bytes` of a source, fewer where it ends before.
inline absl::StatusOr<std::string> ReadFront(ByteSource* source, size_t bytes) {
  std::string front(bytes, '\0');
  size_t size = 0;
  while (size < front.size()) {
    ASSIGN_OR_RETURN(const size_t count, source->Read(front.data() + size, front.size() - size));
    if (count == 0) break;
    size += count;
  }
  front.resize(size);
  return front;
}

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_REPLAYED_SOURCE_H_
