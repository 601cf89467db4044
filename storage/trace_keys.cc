#include "storage/trace_keys.h"

#include "absl/strings/str_cat.h"
#include "storage/keys.h"

namespace chakrad {
namespace {

std::string RankKeyPrefix(absl::string_view id) {
  return absl::StrCat("r", id, std::string(1, '\0'));
}

// Begins with a letter, so that a draft key of 0xff bytes still has a range.
std::string RawPrefix(absl::string_view draft_key) { return absl::StrCat("f", draft_key); }

std::string Number(uint32_t number) { return SortableInt32(static_cast<int32_t>(number)); }

}  // namespace

std::string ManifestKey(absl::string_view id) { return absl::StrCat(kManifestPrefix, id); }

std::string RankKey(absl::string_view id, int32_t rank) {
  return absl::StrCat(RankKeyPrefix(id), SortableInt32(rank));
}

KvRange RankKeys(absl::string_view id) { return PrefixRange(RankKeyPrefix(id)); }

bool ParseRankKey(absl::string_view key, std::string* id, int32_t* rank) {
  const size_t end = key.find('\0');
  if (key.empty() || key[0] != 'r' || end == absl::string_view::npos || key.size() != end + 5) {
    return false;
  }
  *id = std::string(key.substr(1, end - 1));
  uint32_t bits = 0;
  for (char byte : key.substr(end + 1)) bits = bits << 8 | static_cast<unsigned char>(byte);
  *rank = static_cast<int32_t>(bits ^ (1u << 31));
  return true;
}

std::string ChunkUseKey(absl::string_view hash) { return absl::StrCat(kChunkUsePrefix, hash); }

std::string PinnedKey(absl::string_view id) { return absl::StrCat(kPinnedPrefix, id); }

std::string PendingKey(absl::string_view draft_key, uint32_t number) {
  return absl::StrCat(kPendingPrefix, draft_key, Number(number));
}

KvRange PendingKeys(absl::string_view draft_key) {
  return PrefixRange(absl::StrCat(kPendingPrefix, draft_key));
}

std::string PendingRawKey(absl::string_view draft_key) {
  return absl::StrCat(kPendingRawPrefix, draft_key);
}

std::string CardKey(absl::string_view id) { return absl::StrCat(kCardPrefix, id); }

std::string RawPieceKey(absl::string_view draft_key, uint32_t file, uint32_t piece) {
  return absl::StrCat(RawPrefix(draft_key), Number(file), Number(piece));
}

KvRange RawPieceKeys(absl::string_view draft_key) { return PrefixRange(RawPrefix(draft_key)); }

}  // namespace chakrad
