#include "trace/model/string_table.h"

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "common/check.h"

namespace chakrad {

uint32_t StringTable::Append(absl::string_view text) {
  CHECK(end_.size() < UINT32_MAX) << "string table is full";
  buffer_.append(text.data(), text.size());
  end_.push_back(buffer_.size());
  return static_cast<uint32_t>(end_.size() - 1);
}

absl::string_view StringTable::Get(uint32_t index) const {
  CHECK(index < end_.size()) << index << " of " << end_.size();
  const uint64_t begin = index == 0 ? 0 : end_[index - 1];
  return absl::string_view(buffer_.data() + begin, end_[index] - begin);
}

// Hash to the indices that have it: keys in the table move when it grows, so
// the map cannot hold views of them.
struct StringInterner::Index {
  absl::flat_hash_map<uint64_t, std::vector<uint32_t>> by_hash;
};

StringInterner::StringInterner(StringTable* table)
    : table_(table), index_(std::make_unique<Index>()) {
  for (uint32_t i = 0; i < table_->size(); ++i) {
    index_->by_hash[absl::HashOf(table_->Get(i))].push_back(i);
  }
}

StringInterner::~StringInterner() = default;

uint32_t StringInterner::Intern(absl::string_view text) {
  std::vector<uint32_t>& candidates = index_->by_hash[absl::HashOf(text)];
  for (uint32_t candidate : candidates) {
    if (table_->Get(candidate) == text) return candidate;
  }
  candidates.push_back(table_->Append(text));
  return candidates.back();
}

}  // namespace chakrad
