// Archives of rank files: tar, plain or in gzip, zstd or xz, and zip.
#ifndef CHAKRAD_TRACE_READERS_ARCHIVE_ARCHIVE_H_
#define CHAKRAD_TRACE_READERS_ARCHIVE_ARCHIVE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/readers/limits.h"

namespace chakrad {

// Whether the file is one of these, by its content alone. A compressed file is one
// only if a tar is inside: most .json.gz hold plain JSON. Damaged compression is no
// archive (who reads the file then says what is wrong with it). NOT_FOUND and the
// like as the OS says.
absl::StatusOr<bool> IsArchive(absl::string_view path);

struct ArchiveLimits {
  int64_t max_members = kMaxArchiveMembers;
  int64_t max_bytes = kMaxArchiveBytes;    // Of all members, unpacked.
  int64_t max_ratio = kMaxArchiveRatio;    // Unpacked bytes a byte of the archive ...
  int64_t free_bytes = kFreeArchiveBytes;  // ... beyond these.
};

struct ExtractedFile {
  // As the archive names it, for messages and for ranks in names: relative, "/"
  // between parts, no "." or ".." among them, valid UTF-8. Never opened.
  std::string name;
  std::string path;  // Where its bytes lie: a counter's name in the folder.
  int64_t bytes = 0;
};

struct ExtractedArchive {
  std::vector<ExtractedFile> files;  // In the archive's order.
  int64_t folders_count = 0;
  int64_t ignored_count = 0;  // Links, devices and what macOS puts beside files.
};

// Unpacks the regular files into `folder`, which must be there. INVALID_ARGUMENT
// names the member and the reason: cut off, damaged, encrypted, two of one name, no
// regular file at all, a limit with its value. Of a tar without its end mark it
// cannot be known that nothing is missing, so that is cut off too. After an error
// the folder holds what came before: remove it. Memory: a buffer and the list.
absl::StatusOr<ExtractedArchive> ExtractArchive(absl::string_view path, absl::string_view folder,
                                                const ArchiveLimits& limits = {});

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_ARCHIVE_ARCHIVE_H_
