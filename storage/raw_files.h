// Files kept as they were uploaded, in compressed pieces of family `raw`.
#ifndef CHAKRAD_STORAGE_RAW_FILES_H_
#define CHAKRAD_STORAGE_RAW_FILES_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "storage/kv.h"

namespace chakrad {

// Where the pieces of one file are.
struct RawPlace {
  std::string draft_key;  // 8 bytes: of the draft that wrote it.
  uint32_t file = 0;      // Its number there.
};

struct StoredRaw {
  int64_t size_bytes = 0;
  int64_t stored_bytes = 0;  // Compressed.
  std::string sha256;        // 32 raw bytes.
};

// Reads the file at `path` and writes its pieces, not synced, each batch with the
// draft's mark so that a sweep finds them. Holds one piece. NOT_FOUND: no such file.
absl::StatusOr<StoredRaw> StoreRawFile(Kv* kv, const RawPlace& place, const std::string& path);

// Calls `sink` with the pieces until it fails. DATA_LOSS: a piece is missing or
// damaged, or the whole has not this size and hash.
absl::Status ReadRawPieces(Kv* kv, const RawPlace& place, int64_t size_bytes,
                           const std::string& sha256,
                           const std::function<absl::Status(absl::string_view bytes)>& sink);

// Deletes the pieces of drafts that left a mark; returns of how many drafts.
absl::StatusOr<int64_t> SweepRawFiles(Kv* kv,
                                      const std::function<bool(const std::string&)>& is_living);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_RAW_FILES_H_
