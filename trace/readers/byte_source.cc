#include "trace/readers/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/readers/limits.h"

namespace chakrad {
namespace {

class MemoryBytes final : public ByteSource {
 public:
  explicit MemoryBytes(absl::string_view bytes) : bytes_(bytes) {}
  absl::StatusOr<size_t> Read(char* buffer, size_t capacity) override {
    const size_t count = std::min(capacity, bytes_.size() - next_);
    if (count > 0) std::memcpy(buffer, bytes_.data() + next_, count);
    next_ += count;
    return count;
  }
  int64_t offset() const override { return static_cast<int64_t>(next_); }

 private:
  absl::string_view bytes_;
  size_t next_ = 0;
};

class FileBytes final : public ByteSource {
 public:
  FileBytes(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  ~FileBytes() override { close(fd_); }
  absl::StatusOr<size_t> Read(char* buffer, size_t capacity) override {
    ssize_t count;
    do {
      count = read(fd_, buffer, capacity);
    } while (count < 0 && errno == EINTR);
    if (count < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path_));
    offset_ += count;
    return static_cast<size_t>(count);
  }
  int64_t offset() const override { return offset_; }

 private:
  int fd_;
  std::string path_;
  int64_t offset_ = 0;
};

// Hands bytes through, inflated when the first two are gzip's magic number.
class MaybeGzipBytes final : public ByteSource {
 public:
  explicit MaybeGzipBytes(std::unique_ptr<ByteSource> raw)
      : raw_(std::move(raw)), input_(kReadBytes) {}
  ~MaybeGzipBytes() override {
    if (inflating_) inflateEnd(&stream_);
  }

  absl::StatusOr<size_t> Read(char* buffer, size_t capacity) override {
    if (!started_) RETURN_IF_ERROR(Start());
    size_t count = 0;
    if (gzip_) {
      ASSIGN_OR_RETURN(count, Inflate(buffer, capacity));
    } else if (available() > 0) {
      count = std::min(capacity, available());
      std::memcpy(buffer, input_.data() + begin_, count);
      begin_ += count;
    } else {
      ASSIGN_OR_RETURN(count, raw_->Read(buffer, capacity));
    }
    offset_ += static_cast<int64_t>(count);
    return count;
  }
  int64_t offset() const override { return offset_; }

 private:
  size_t available() const { return end_ - begin_; }
  int64_t compressed_offset() const { return raw_->offset() - static_cast<int64_t>(available()); }

  absl::Status Start() {
    started_ = true;
    while (end_ < 2) {
      ASSIGN_OR_RETURN(const size_t count, raw_->Read(input_.data() + end_, input_.size() - end_));
      if (count == 0) break;
      end_ += count;
    }
    gzip_ = end_ >= 2 && static_cast<uint8_t>(input_[0]) == 0x1f &&
            static_cast<uint8_t>(input_[1]) == 0x8b;
    return absl::OkStatus();
  }

  absl::Status Refill() {
    begin_ = end_ = 0;
    ASSIGN_OR_RETURN(end_, raw_->Read(input_.data(), input_.size()));
    return absl::OkStatus();
  }

  absl::Status Damaged(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat("gzip: ", what, " at compressed byte offset ",
                                                   compressed_offset(), " (byte offset ", offset_,
                                                   " uncompressed)"));
  }

  // At a member's start: opens the next one; false when none follows.
  absl::StatusOr<bool> BeginMember() {
    if (available() == 0) RETURN_IF_ERROR(Refill());
    if (available() == 0) return false;
    stream_ = {};
    if (inflateInit2(&stream_, MAX_WBITS + 16) != Z_OK) {
      return absl::ResourceExhaustedError("gzip: no memory to inflate");
    }
    inflating_ = true;
    return true;
  }

  absl::StatusOr<size_t> Inflate(char* buffer, size_t capacity) {
    stream_.next_out = reinterpret_cast<Bytef*>(buffer);
    stream_.avail_out = static_cast<uInt>(std::min<size_t>(capacity, 1 << 30));
    const uInt wanted = stream_.avail_out;
    while (stream_.avail_out == wanted && wanted > 0) {
      if (!inflating_) {
        const uInt avail_out = stream_.avail_out;
        ASSIGN_OR_RETURN(const bool more, BeginMember());
        if (!more) return 0;
        stream_.next_out = reinterpret_cast<Bytef*>(buffer);
        stream_.avail_out = avail_out;
      }
      if (available() == 0) RETURN_IF_ERROR(Refill());
      if (available() == 0) return Damaged("cut off");
      stream_.next_in = reinterpret_cast<Bytef*>(input_.data() + begin_);
      stream_.avail_in = static_cast<uInt>(available());
      const int code = inflate(&stream_, Z_NO_FLUSH);
      begin_ = end_ - stream_.avail_in;
      if (code == Z_STREAM_END) {
        inflateEnd(&stream_);
        inflating_ = false;
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        return Damaged(stream_.msg != nullptr ? stream_.msg : "damaged");
      }
    }
    return wanted - stream_.avail_out;
  }

  std::unique_ptr<ByteSource> raw_;
  std::vector<char> input_;
  size_t begin_ = 0, end_ = 0;  // Of what input_ holds and nobody has used.
  bool started_ = false, gzip_ = false, inflating_ = false;
  z_stream stream_ = {};
  int64_t offset_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ByteSource>> OpenFileSource(absl::string_view path) {
  const std::string name(path);
  const int fd = open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  struct stat info;
  if (fstat(fd, &info) != 0 || S_ISDIR(info.st_mode)) {
    close(fd);
    return absl::InvalidArgumentError(absl::StrCat(path, ": is a directory, not a file"));
  }
  return std::make_unique<MaybeGzipBytes>(std::make_unique<FileBytes>(fd, name));
}

std::unique_ptr<ByteSource> OpenMemorySource(absl::string_view bytes) {
  return std::make_unique<MaybeGzipBytes>(std::make_unique<MemoryBytes>(bytes));
}

}  // namespace chakrad
