#include "trace/readers/archive/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/status.h"
#include "common/utf8.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/replayed_source.h"

namespace chakrad {
namespace {

constexpr size_t kTarBlockBytes = 512;

struct FreeArchive {
  void operator()(archive* a) const { archive_read_free(a); }
};
using ArchivePtr = std::unique_ptr<archive, FreeArchive>;

// The header block's own checksum fits: so says every tar, also those from before
// the magic number.
bool IsTarHeader(absl::string_view block) {
  constexpr size_t kChecksumAt = 148, kChecksumBytes = 8;
  if (block.size() < kTarBlockBytes) return false;
  uint32_t sum = 0;
  for (size_t i = 0; i < kTarBlockBytes; ++i) {
    const bool blank = i >= kChecksumAt && i < kChecksumAt + kChecksumBytes;
    sum += blank ? ' ' : static_cast<uint8_t>(block[i]);
  }
  uint32_t stated = 0;
  bool digits = false;
  for (const char c : block.substr(kChecksumAt, kChecksumBytes)) {
    if (c == ' ' && !digits) continue;
    if (c < '0' || c > '7') break;
    digits = true;
    stated = stated * 8 + static_cast<uint32_t>(c - '0');
  }
  return digits && stated == sum;
}

bool IsZip(absl::string_view front) {
  return absl::StartsWith(front, "PK\x03\x04") || absl::StartsWith(front, "PK\x05\x06");
}
bool IsZstdOrXz(absl::string_view front) {
  return absl::StartsWith(front, "\x28\xb5\x2f\xfd") ||
         absl::StartsWith(front, absl::string_view("\xfd\x37zXZ\0", 6));
}

// Hands a byte source to libarchive. gzip is inflated there, since libarchive
// does not look at gzip's checksum.
class SourceOfArchive {
 public:
  static absl::StatusOr<std::unique_ptr<SourceOfArchive>> Open(absl::string_view path) {
    ASSIGN_OR_RETURN(auto source, OpenFileSource(path));
    return std::make_unique<SourceOfArchive>(std::move(source));
  }
  explicit SourceOfArchive(std::unique_ptr<ByteSource> source)
      : source_(std::move(source)), buffer_(kReadBytes, '\0') {}

  bool Attach(archive* a) {
    return archive_read_open(a, this, nullptr, &SourceOfArchive::Read, nullptr) == ARCHIVE_OK;
  }
  // Reads what is left, since gzip's checksum comes last; at most `max_bytes`.
  absl::Status Drain(int64_t max_bytes) {
    for (int64_t drained = 0; drained <= max_bytes;) {
      const absl::StatusOr<size_t> count = source_->Read(buffer_.data(), buffer_.size());
      if (!count.ok()) return Annotate(count.status(), "archive: behind the last member");
      if (*count == 0) return absl::OkStatus();
      drained += static_cast<int64_t>(*count);
    }
    return absl::InvalidArgumentError(
        absl::StrCat("archive: more than ", max_bytes, " bytes behind the last member"));
  }
  // What went wrong below libarchive.
  const absl::Status& status() const { return status_; }

 private:
  static la_ssize_t Read(archive* a, void* self, const void** buffer) {
    auto* source = static_cast<SourceOfArchive*>(self);
    absl::StatusOr<size_t> count =
        source->source_->Read(source->buffer_.data(), source->buffer_.size());
    if (!count.ok()) {
      source->status_ = count.status();
      archive_set_error(a, EIO, "cannot read");
      return ARCHIVE_FATAL;
    }
    *buffer = source->buffer_.data();
    return static_cast<la_ssize_t>(*count);
  }

  std::unique_ptr<ByteSource> source_;
  std::string buffer_;
  absl::Status status_;
};

// "a/../../b\c" is "a/b/c".
std::string SafeName(absl::string_view raw) {
  std::string name;
  for (const absl::string_view part :
       absl::StrSplit(raw, absl::ByAnyChar("/\\"), absl::SkipEmpty())) {
    if (part == "." || part == "..") continue;
    absl::StrAppend(&name, name.empty() ? "" : "/", part);
  }
  name = ValidUtf8(name, kMaxArchiveNameBytes);
  for (char& c : name) {
    if (static_cast<uint8_t>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return name;
}

// "._rank0.json", ".DS_Store", "__MACOSX/...": beside the files, not of them.
bool IsMacLitter(absl::string_view name) {
  const absl::string_view base = name.substr(name.rfind('/') + 1);
  return absl::StartsWith(base, "._") || base == ".DS_Store" || absl::StartsWith(name, "__MACOSX/");
}

class OutputFile {
 public:
  explicit OutputFile(const std::string& path)
      : path_(path), fd_(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) {}
  ~OutputFile() {
    if (fd_ >= 0) close(fd_);
  }
  absl::Status Write(const char* bytes, size_t size) {
    if (fd_ < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot create ", path_));
    while (size > 0) {
      const ssize_t count = write(fd_, bytes, size);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path_));
      bytes += count;
      size -= static_cast<size_t>(count);
    }
    return absl::OkStatus();
  }

 private:
  const std::string path_;
  int fd_;
};

class Extractor {
 public:
  Extractor(absl::string_view folder, const ArchiveLimits& limits)
      : folder_(folder), limits_(limits), archive_(archive_read_new()), buffer_(kReadBytes, '\0') {}

  absl::StatusOr<ExtractedArchive> Run(absl::string_view path) {
    RETURN_IF_ERROR(Open(std::string(path)));
    while (true) {
      ASSIGN_OR_RETURN(const bool more, NextMember());
      if (!more) break;
    }
    if (result_.files.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("archive: none of its ", members_, " members is a regular file"));
    }
    return std::move(result_);
  }

 private:
  absl::Status Open(const std::string& path) {
    struct stat info;
    if (stat(path.c_str(), &info) != 0) {
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
    }
    const int64_t size = info.st_size;
    // Saturates: a file is no larger than 2^63 / ratio unless the limit is absurd.
    int64_t by_ratio;
    if (__builtin_mul_overflow(size, limits_.max_ratio, &by_ratio)) by_ratio = INT64_MAX;
    ratio_bytes_ = std::max(by_ratio, limits_.free_bytes);
    ASSIGN_OR_RETURN(source_, SourceOfArchive::Open(path));
    // A zip's list of members is at its end; without it the zip is cut off, and
    // libarchive's other reader of zip might not see that.
    archive_read_support_format_zip_seekable(archive_.get());
    archive_read_support_format_tar(archive_.get());
    archive_read_support_filter_zstd(archive_.get());
    archive_read_support_filter_xz(archive_.get());
    ASSIGN_OR_RETURN(const auto raw, OpenFileSource(path));
    const absl::StatusOr<std::string> front = ReadFront(raw.get(), 4);
    if (!front.ok()) return Annotate(front.status(), "archive");
    is_zip_ = IsZip(*front);
    const bool opened =
        is_zip_ ? archive_read_open_filename(archive_.get(), path.c_str(), kReadBytes) == ARCHIVE_OK
                : source_->Attach(archive_.get());
    if (opened) return absl::OkStatus();
    return is_zip_ ? absl::InvalidArgumentError(
                         "archive: cut off or damaged: a zip without its list of members")
                   : Broken();
  }

  // What libarchive, or the file below it, says.
  absl::Status Broken() const {
    if (!source_->status().ok()) return Annotate(source_->status(), Where());
    const char* reason = archive_error_string(archive_.get());
    return absl::InvalidArgumentError(absl::StrCat(
        Where(),
        ": cut off or damaged: ", reason == nullptr ? "unreadable" : ValidUtf8(reason, 200)));
  }
  // The member at hand, or the one before where the next has no name yet.
  std::string Where() const {
    if (!member_.empty()) return absl::StrCat("archive: member ", member_);
    return last_.empty() ? "archive" : absl::StrCat("archive: behind member ", last_);
  }

  absl::StatusOr<bool> NextMember() {
    last_ = std::exchange(member_, "");
    const int64_t position = archive_filter_bytes(archive_.get(), 0);
    archive_entry* entry = nullptr;
    const int code = archive_read_next_header(archive_.get(), &entry);
    if (code == ARCHIVE_EOF) {
      // Zero blocks end a tar; padding of the last member is shorter than one.
      const int64_t end_mark = archive_filter_bytes(archive_.get(), 0) - position;
      if (!is_zip_ && end_mark < static_cast<int64_t>(kTarBlockBytes)) {
        return absl::InvalidArgumentError(
            absl::StrCat(Where(), ": cut off: the end mark is missing"));
      }
      RETURN_IF_ERROR(source_->Drain(ratio_bytes_));
      return false;
    }
    // A warning tells of what cannot be kept on this machine: of a name, say.
    if (code != ARCHIVE_OK && code != ARCHIVE_WARN) return Broken();
    if (++members_ > limits_.max_members) {
      return absl::InvalidArgumentError(
          absl::StrCat("archive: more than ", limits_.max_members, " members"));
    }
    TakeName(entry);
    RETURN_IF_ERROR(TakeMember(entry));
    return true;
  }

  void TakeName(archive_entry* entry) {
    const char* name = archive_entry_pathname_utf8(entry);
    if (name == nullptr) name = archive_entry_pathname(entry);
    member_ = SafeName(name == nullptr ? "" : name);
    if (member_.empty()) member_ = absl::StrCat("member-", members_);
  }

  absl::Status TakeMember(archive_entry* entry) {
    if (archive_entry_filetype(entry) == AE_IFDIR) {
      ++result_.folders_count;
      return absl::OkStatus();
    }
    if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != nullptr ||
        IsMacLitter(member_)) {
      ++result_.ignored_count;
      return absl::OkStatus();
    }
    if (archive_entry_is_encrypted(entry) != 0) {
      return absl::InvalidArgumentError(absl::StrCat(Where(), ": is encrypted"));
    }
    if (!names_.insert(member_).second) {
      return absl::InvalidArgumentError(absl::StrCat(Where(), ": is there twice"));
    }
    ExtractedFile file;
    file.name = member_;
    file.path = absl::StrCat(folder_, "/", absl::Dec(result_.files.size(), absl::kZeroPad6));
    RETURN_IF_ERROR(CopyData(&file));
    result_.files.push_back(std::move(file));
    return absl::OkStatus();
  }

  absl::Status CopyData(ExtractedFile* file) {
    OutputFile output(file->path);
    RETURN_IF_ERROR(output.Write(nullptr, 0));
    while (true) {
      const la_ssize_t count = archive_read_data(archive_.get(), buffer_.data(), buffer_.size());
      if (count < 0) return Broken();
      if (count == 0) return absl::OkStatus();
      file->bytes += count;
      bytes_ += count;
      if (bytes_ > limits_.max_bytes) {
        return absl::InvalidArgumentError(
            absl::StrCat(Where(), ": unpacks to more than ", limits_.max_bytes, " bytes in all"));
      }
      if (bytes_ > ratio_bytes_) {
        return absl::InvalidArgumentError(absl::StrCat(
            Where(), ": the archive unpacks to more than ", limits_.max_ratio, " times its size"));
      }
      RETURN_IF_ERROR(output.Write(buffer_.data(), static_cast<size_t>(count)));
    }
  }

  const std::string folder_;
  const ArchiveLimits limits_;
  std::unique_ptr<SourceOfArchive> source_;  // Outlives archive_, which reads from it.
  ArchivePtr archive_;
  std::string buffer_;
  bool is_zip_ = false;
  int64_t ratio_bytes_ = 0;  // What the ratio allows.
  int64_t members_ = 0, bytes_ = 0;
  std::string member_, last_;
  absl::flat_hash_set<std::string> names_;
  ExtractedArchive result_;
};

// The first bytes inside zstd or xz; fewer or none where they are damaged.
absl::StatusOr<std::string> FrontInside(absl::string_view path) {
  ASSIGN_OR_RETURN(const auto source, SourceOfArchive::Open(path));
  const ArchivePtr reader(archive_read_new());
  archive_read_support_format_raw(reader.get());
  archive_read_support_filter_zstd(reader.get());
  archive_read_support_filter_xz(reader.get());
  std::string front(kTarBlockBytes, '\0');
  archive_entry* entry = nullptr;
  la_ssize_t count = 0;
  if (source->Attach(reader.get()) &&
      archive_read_next_header(reader.get(), &entry) == ARCHIVE_OK) {
    count = archive_read_data(reader.get(), front.data(), front.size());
  }
  front.resize(static_cast<size_t>(std::max<la_ssize_t>(count, 0)));
  return front;
}

}  // namespace

absl::StatusOr<bool> IsArchive(absl::string_view path) {
  ASSIGN_OR_RETURN(const auto source, OpenFileSource(path));
  absl::StatusOr<std::string> front = ReadFront(source.get(), kTarBlockBytes);
  if (!front.ok() && front.status().code() == absl::StatusCode::kInvalidArgument) return false;
  RETURN_IF_ERROR(front.status());
  if (IsZip(*front) || IsTarHeader(*front)) return true;
  if (!IsZstdOrXz(*front)) return false;
  ASSIGN_OR_RETURN(*front, FrontInside(path));
  return IsTarHeader(*front);
}

absl::StatusOr<ExtractedArchive> ExtractArchive(absl::string_view path, absl::string_view folder,
                                                const ArchiveLimits& limits) {
  return Extractor(folder, limits).Run(path);
}

}  // namespace chakrad
