// The content hash of a trace: what makes two pushes "the same", so that the second
// stores nothing. SHA-256 over a canonical text:
//
//   files:   "chakrad content 1" "files"  labels settings keep_files files
//   pushed:  "chakrad content 1" "ranks"  labels ...   (whoever converts: see its caller)
//
// Each field is its length in decimal digits, ':', and its bytes; a list is the
// number of its entries as a field, then the entries. So no two contents have one
// text. Numbers are fields of decimal digits. Lists are sorted by name, bytes as
// unsigned numbers. Changing any of this changes every hash: then raise the number.
#ifndef CHAKRAD_TRACE_API_CONTENT_HASH_H_
#define CHAKRAD_TRACE_API_CONTENT_HASH_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "common/sha256.h"
#include "trace/import/import_settings.h"

namespace chakrad {

// Feeds canonical fields. Not thread-safe.
class ContentHasher {
 public:
  // "files" or "ranks": contents of different kinds are never equal.
  explicit ContentHasher(absl::string_view kind);
  void AddField(absl::string_view bytes);
  void AddNumber(int64_t number);
  void AddLabels(const std::map<std::string, std::string>& labels);
  void AddSettings(const ImportSettings& settings);
  // 32 raw bytes. Call once.
  std::string Digest() { return hash_.Digest(); }

 private:
  Sha256 hash_;
};

struct FileDigest {
  int64_t size_bytes = 0;
  std::string sha256;  // 32 raw bytes.
  friend bool operator==(const FileDigest&, const FileDigest&) = default;
};

// Of a trace that the daemon converts from uploaded files. `keep_files`: whether
// the upload itself asked that they be kept; a trace without them is no answer then.
std::string FilesContentHash(const std::map<std::string, std::string>& labels,
                             const ImportSettings& settings, bool keep_files,
                             const std::map<std::string, FileDigest>& files);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_API_CONTENT_HASH_H_
