#include "storage/trace_catalog.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status.h"

namespace chakrad {
namespace {

bool IsOlder(const std::shared_ptr<const TraceCard>& a, const std::shared_ptr<const TraceCard>& b) {
  return std::tie(a->create_unix_ns, a->id) < std::tie(b->create_unix_ns, b->id);
}

}  // namespace

absl::Status UnknownTrace(absl::string_view id) {
  return absl::NotFoundError(absl::StrCat("trace ", id, " is not known"));
}

class TraceCatalog::Held : public TraceLease {
 public:
  Held(std::shared_ptr<TraceCatalog> catalog, std::string id)
      : catalog_(std::move(catalog)), id_(std::move(id)) {}
  ~Held() override { catalog_->Return(id_); }

 private:
  const std::shared_ptr<TraceCatalog> catalog_;
  const std::string id_;
};

TraceCatalog::TraceCatalog(std::vector<std::shared_ptr<const TraceCard>> cards) {
  std::sort(cards.begin(), cards.end(), IsOlder);
  MutexLock lock(&mutex_);
  by_time_.reserve(cards.size());
  for (Card& card : cards) InsertLocked(std::move(card));
}

std::shared_ptr<const TraceCards> TraceCatalog::Cards() {
  MutexLock lock(&mutex_);
  if (snapshot_ == nullptr) {
    snapshot_ = std::make_shared<const TraceCards>(by_time_.rbegin(), by_time_.rend());
  }
  return snapshot_;
}

bool TraceCatalog::Has(absl::string_view id) {
  MutexLock lock(&mutex_);
  return entries_.count(id) > 0;
}

TraceCatalog::Entries::iterator TraceCatalog::FindLocked(absl::string_view id) {
  const auto it = entries_.find(id);
  return it == entries_.end() || it->second.deleting ? entries_.end() : it;
}

std::shared_ptr<const TraceCard> TraceCatalog::Find(absl::string_view id) {
  MutexLock lock(&mutex_);
  const auto it = FindLocked(id);
  return it == entries_.end() ? nullptr : it->second.card;
}

absl::StatusOr<std::string> TraceCatalog::FindByContent(absl::string_view content_hash) {
  MutexLock lock(&mutex_);
  const TraceCard* newest = nullptr;
  const auto [begin, end] = by_content_.equal_range(content_hash);
  for (auto it = begin; it != end && !content_hash.empty(); ++it) {
    const TraceCard* card = it->second.get();
    const auto entry = FindLocked(card->id);
    if (entry == entries_.end() || entry->second.unreadable || card->damaged) continue;
    if (newest == nullptr || card->create_unix_ns > newest->create_unix_ns) newest = card;
  }
  if (newest == nullptr) return absl::NotFoundError("no trace has this content");
  return newest->id;
}

int64_t TraceCatalog::newest_create_unix_ns() {
  MutexLock lock(&mutex_);
  return by_time_.empty() ? INT64_MIN : by_time_.back()->create_unix_ns;
}

int64_t TraceCatalog::traces_count() {
  MutexLock lock(&mutex_);
  return static_cast<int64_t>(entries_.size());
}

void TraceCatalog::InsertLocked(Card card) {
  const bool is_new = entries_.emplace(card->id, Entry{.card = card}).second;
  CHECK(is_new) << card->id;
  if (!card->content_hash.empty()) by_content_.emplace(card->content_hash, card);
  // At the end, but for cards of before that share a time.
  by_time_.insert(std::upper_bound(by_time_.begin(), by_time_.end(), card, IsOlder), card);
}

void TraceCatalog::Add(Card card) {
  MutexLock lock(&mutex_);
  InsertLocked(std::move(card));
  snapshot_ = nullptr;
}

void TraceCatalog::Replace(Entries::iterator it, TraceCard card) {
  const auto next = std::make_shared<const TraceCard>(std::move(card));
  const Card before = it->second.card;
  *std::lower_bound(by_time_.begin(), by_time_.end(), before, IsOlder) = next;
  const auto [begin, end] = by_content_.equal_range(before->content_hash);
  for (auto content = begin; content != end; ++content) {
    if (content->second != before) continue;
    by_content_.erase(content);
    by_content_.emplace(next->content_hash, next);
    break;
  }
  Entry entry = it->second;
  entry.card = next;
  entries_.erase(it);  // Its key is the old card's text.
  entries_.emplace(next->id, std::move(entry));
  snapshot_ = nullptr;
}

absl::Status TraceCatalog::SetPinned(absl::string_view id, bool pinned) {
  MutexLock lock(&mutex_);
  const auto it = FindLocked(id);
  if (it == entries_.end()) return UnknownTrace(id);
  if (it->second.card->pinned == pinned) return absl::OkStatus();
  TraceCard card = *it->second.card;
  card.pinned = pinned;
  Replace(it, std::move(card));
  return absl::OkStatus();
}

void TraceCatalog::SetDamaged(absl::string_view id) {
  MutexLock lock(&mutex_);
  const auto it = FindLocked(id);
  if (it == entries_.end() || it->second.card->damaged) return;
  TraceCard card = *it->second.card;
  card.damaged = true;
  Replace(it, std::move(card));
}

void TraceCatalog::SetReadable(absl::string_view id, bool readable) {
  MutexLock lock(&mutex_);
  const auto it = FindLocked(id);
  if (it != entries_.end()) it->second.unreadable = !readable;
}

absl::StatusOr<std::unique_ptr<TraceLease>> TraceCatalog::Lease(absl::string_view id) {
  MutexLock lock(&mutex_);
  const auto it = FindLocked(id);
  if (it == entries_.end()) return UnknownTrace(id);
  ++it->second.leases_count;
  return std::make_unique<Held>(shared_from_this(), std::string(id));
}

void TraceCatalog::Return(absl::string_view id) {
  MutexLock lock(&mutex_);
  --entries_.find(id)->second.leases_count;  // It cannot have been deleted.
}

absl::Status TraceCatalog::BeginDelete(absl::string_view id) {
  MutexLock lock(&mutex_);
  const auto it = FindLocked(id);
  if (it == entries_.end()) return UnknownTrace(id);
  if (it->second.leases_count > 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("trace ", id, " is being read (by ", it->second.leases_count,
                     " unfinished jobs or exports); cancel them or wait for their end"));
  }
  if (it->second.card->pinned) {
    return absl::FailedPreconditionError(absl::StrCat("trace ", id, " is pinned; unpin it first"));
  }
  it->second.deleting = true;
  return absl::OkStatus();
}

void TraceCatalog::FinishDelete(absl::string_view id) {
  MutexLock lock(&mutex_);
  const auto it = entries_.find(id);
  const Card card = it->second.card;
  entries_.erase(it);
  by_time_.erase(std::lower_bound(by_time_.begin(), by_time_.end(), card, IsOlder));
  const auto [begin, end] = by_content_.equal_range(card->content_hash);
  for (auto content = begin; content != end; ++content) {
    if (content->second != card) continue;
    by_content_.erase(content);
    break;
  }
  snapshot_ = nullptr;
}

void TraceCatalog::CancelDelete(absl::string_view id) {
  MutexLock lock(&mutex_);
  entries_.find(id)->second.deleting = false;
}

}  // namespace chakrad
