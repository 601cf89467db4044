#include "storage/kv.h"

namespace chakrad {

absl::string_view FamilyName(Family family) {
  switch (family) {
    case Family::kMeta:
      return "meta";
    case Family::kChunks:
      return "chunks";
    case Family::kUploads:
      return "uploads";
    case Family::kJobs:
      return "jobs";
    case Family::kIndex:
      return "index";
    case Family::kRaw:
      return "raw";
    case Family::kSeries:
      return "series";
    case Family::kResults:
      return "results";
  }
  return "unknown";
}

void KvBatch::Put(Family family, absl::string_view key, absl::string_view value) {
  put_bytes_ += static_cast<int64_t>(key.size() + value.size());
  ops_.push_back({Kind::kPut, family, std::string(key), std::string(value)});
}

void KvBatch::Delete(Family family, absl::string_view key) {
  ops_.push_back({Kind::kDelete, family, std::string(key), {}});
}

void KvBatch::DeleteRange(Family family, absl::string_view begin, absl::string_view end) {
  ops_.push_back({Kind::kDeleteRange, family, std::string(begin), std::string(end)});
}

void KvBatch::Append(const KvBatch& other) {
  ops_.insert(ops_.end(), other.ops_.begin(), other.ops_.end());
  put_bytes_ += other.put_bytes_;
}

KvRange PrefixRange(absl::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff) end.pop_back();
  if (!end.empty()) end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return {std::string(prefix), std::move(end)};
}

}  // namespace chakrad
