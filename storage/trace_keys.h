// Keys of the trace store. docs/storage_format.md lists them.
#ifndef CHAKRAD_STORAGE_TRACE_KEYS_H_
#define CHAKRAD_STORAGE_TRACE_KEYS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "storage/kv.h"

namespace chakrad {

// --- Family meta ---
inline constexpr char kTotalsKey[] = "b";
inline constexpr char kManifestPrefix[] = "m";
inline constexpr char kChunkUsePrefix[] = "c";
inline constexpr char kPinnedPrefix[] = "k";
inline constexpr char kPendingPrefix[] = "p";
inline constexpr char kPendingRawPrefix[] = "w";
std::string ManifestKey(absl::string_view id);
std::string RankKey(absl::string_view id, int32_t rank);
KvRange RankKeys(absl::string_view id);
// False when `key` is no RankKey.
bool ParseRankKey(absl::string_view key, std::string* id, int32_t* rank);
std::string ChunkUseKey(absl::string_view hash);
std::string PinnedKey(absl::string_view id);
// The chunks of draft `draft_key` (8 bytes) that no trace uses yet; 32 bytes each.
std::string PendingKey(absl::string_view draft_key, uint32_t number);
KvRange PendingKeys(absl::string_view draft_key);
// That the draft wrote pieces of raw files.
std::string PendingRawKey(absl::string_view draft_key);

// --- Family index ---
inline constexpr char kCardPrefix[] = "c";
std::string CardKey(absl::string_view id);

// --- Family raw ---
inline constexpr size_t kDraftKeyBytes = 8;
std::string RawPieceKey(absl::string_view draft_key, uint32_t file, uint32_t piece);
KvRange RawPieceKeys(absl::string_view draft_key);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_TRACE_KEYS_H_
