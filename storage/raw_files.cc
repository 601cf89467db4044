#include "storage/raw_files.h"

#include <zstd.h>

#include <cstdio>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/sha256.h"
#include "common/status.h"
#include "storage/limits.h"
#include "storage/posix_file.h"
#include "storage/trace_keys.h"

namespace chakrad {
namespace {

// First byte of a piece.
constexpr char kPlain = 1;  // As it is: compressing gains nothing.
constexpr char kZstd = 2;   // One frame.
// zstd's own default; most uploads are JSON or gzip.
constexpr int kLevel = 3;

std::string PackPiece(absl::string_view bytes) {
  std::string piece(1 + ZSTD_compressBound(bytes.size()), '\0');
  const size_t size =
      ZSTD_compress(piece.data() + 1, piece.size() - 1, bytes.data(), bytes.size(), kLevel);
  if (ZSTD_isError(size) || size >= bytes.size()) {
    return absl::StrCat(absl::string_view(&kPlain, 1), bytes);
  }
  piece[0] = kZstd;
  piece.resize(1 + size);
  return piece;
}

absl::Status UnpackPiece(absl::string_view piece, std::string* bytes) {
  const char kind = piece.empty() ? '\0' : piece[0];
  piece.remove_prefix(piece.empty() ? 0 : 1);
  if (kind == kPlain && piece.size() <= kRawPieceBytes) {
    bytes->assign(piece.data(), piece.size());
    return absl::OkStatus();
  }
  bytes->resize(kRawPieceBytes);
  const size_t size = ZSTD_decompress(bytes->data(), bytes->size(), piece.data(), piece.size());
  if (kind != kZstd || ZSTD_isError(size)) return absl::DataLossError("does not decode");
  bytes->resize(size);
  return absl::OkStatus();
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

absl::StatusOr<StoredRaw> StoreRawFile(Kv* kv, const RawPlace& place, const std::string& path) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) return ErrnoToStatus(errno, path);
  StoredRaw stored;
  Sha256 sha256;
  std::string bytes(kRawPieceBytes, '\0');
  for (uint32_t number = 0;; ++number) {
    const size_t size = std::fread(bytes.data(), 1, bytes.size(), file.get());
    if (size == 0 && std::ferror(file.get()) != 0) return ErrnoToStatus(errno, path);
    if (size == 0) break;
    const absl::string_view read(bytes.data(), size);
    const std::string piece = PackPiece(read);
    sha256.Update(read);
    stored.size_bytes += static_cast<int64_t>(size);
    stored.stored_bytes += static_cast<int64_t>(piece.size());
    KvBatch batch;
    if (number == 0) batch.Put(Family::kMeta, PendingRawKey(place.draft_key), "");
    batch.Put(Family::kRaw, RawPieceKey(place.draft_key, place.file, number), piece);
    RETURN_IF_ERROR(kv->Write(batch, /*sync=*/false));
  }
  stored.sha256 = sha256.Digest();
  return stored;
}

absl::Status ReadRawPieces(Kv* kv, const RawPlace& place, int64_t size_bytes,
                           const std::string& sha256,
                           const std::function<absl::Status(absl::string_view)>& sink) {
  Sha256 found;
  int64_t read_bytes = 0;
  std::string bytes;
  for (uint32_t number = 0; read_bytes < size_bytes; ++number) {
    const auto piece = kv->Get(Family::kRaw, RawPieceKey(place.draft_key, place.file, number));
    const std::string name = absl::StrCat("piece ", number);
    if (absl::IsNotFound(piece.status())) {
      return absl::DataLossError(absl::StrCat(name, " is missing"));
    }
    if (!piece.ok()) return Annotate(piece.status(), name);
    RETURN_IF_ERROR(Annotate(UnpackPiece(*piece, &bytes), name));
    if (bytes.empty()) return absl::DataLossError(absl::StrCat(name, " is empty"));
    found.Update(bytes);
    read_bytes += static_cast<int64_t>(bytes.size());
    RETURN_IF_ERROR(sink(bytes));
  }
  if (read_bytes != size_bytes || found.Digest() != sha256) {
    return absl::DataLossError("does not match its hash");
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> SweepRawFiles(Kv* kv,
                                      const std::function<bool(const std::string&)>& is_living) {
  KvBatch batch;
  int64_t swept = 0;
  const absl::Status scanned =
      kv->Scan(Family::kMeta, PrefixRange(kPendingRawPrefix), ScanOrder::kForward,
               [&](absl::string_view key, absl::string_view) {
                 const std::string draft_key(key.substr(1));
                 if (draft_key.size() != kDraftKeyBytes || is_living(draft_key)) return true;
                 const KvRange pieces = RawPieceKeys(draft_key);
                 batch.DeleteRange(Family::kRaw, pieces.begin, pieces.end);
                 batch.Delete(Family::kMeta, key);
                 ++swept;
                 return true;
               });
  if (!scanned.ok() && !absl::IsDataLoss(scanned)) return scanned;
  if (swept > 0) RETURN_IF_ERROR(kv->Write(batch, /*sync=*/false));
  return swept;
}

}  // namespace chakrad
