// The cards of all stored traces in memory, and who keeps which from being deleted.
#ifndef CHAKRAD_STORAGE_TRACE_CATALOG_H_
#define CHAKRAD_STORAGE_TRACE_CATALOG_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/mutex.h"
#include "storage/trace_card.h"
#include "storage/trace_store.h"

namespace chakrad {

absl::Status UnknownTrace(absl::string_view id);

// Thread-safe. No call waits for the disk.
class TraceCatalog : public std::enable_shared_from_this<TraceCatalog> {
 public:
  // Any order, each id once.
  explicit TraceCatalog(std::vector<std::shared_ptr<const TraceCard>> cards);

  // Newest first. O(1) when nothing changed, else O(traces).
  std::shared_ptr<const TraceCards> Cards();
  // Whether the id is taken, also by a trace that is being deleted.
  bool Has(absl::string_view id);
  // Null when there is none, or it is being deleted.
  std::shared_ptr<const TraceCard> Find(absl::string_view id);
  // Of the newest trace with this content that is not being deleted, nor known to be unreadable.
  absl::StatusOr<std::string> FindByContent(absl::string_view content_hash);
  // INT64_MIN when there is none.
  int64_t newest_create_unix_ns();
  int64_t traces_count();

  // The id must be new.
  void Add(std::shared_ptr<const TraceCard> card);
  // Changes a card. NOT_FOUND: there is none, or it is being deleted.
  absl::Status SetPinned(absl::string_view id, bool pinned);
  void SetDamaged(absl::string_view id);
  // What a read of all or some of it found. Until the next start, or the next such word.
  void SetReadable(absl::string_view id, bool readable);
  absl::StatusOr<std::unique_ptr<TraceLease>> Lease(absl::string_view id);

  // Hides the trace from Find, Lease and FindByContent until FinishDelete or
  // CancelDelete. NOT_FOUND, or FAILED_PRECONDITION when it is leased or pinned.
  absl::Status BeginDelete(absl::string_view id);
  void FinishDelete(absl::string_view id);
  void CancelDelete(absl::string_view id);

 private:
  class Held;
  using Card = std::shared_ptr<const TraceCard>;
  struct Entry {
    std::shared_ptr<const TraceCard> card;
    int64_t leases_count = 0;
    bool deleting = false;
    bool unreadable = false;
  };
  using Entries = std::map<absl::string_view, Entry>;  // By card->id.

  // entries_.end() when there is none, or it is being deleted.
  Entries::iterator FindLocked(absl::string_view id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Replace(Entries::iterator it, TraceCard card) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void InsertLocked(std::shared_ptr<const TraceCard> card) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Return(absl::string_view id);

  Mutex mutex_;
  Entries entries_ ABSL_GUARDED_BY(mutex_);
  // Ascending by (create_unix_ns, id).
  std::vector<std::shared_ptr<const TraceCard>> by_time_ ABSL_GUARDED_BY(mutex_);
  std::multimap<absl::string_view, std::shared_ptr<const TraceCard>> by_content_
      ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const TraceCards> snapshot_ ABSL_GUARDED_BY(mutex_);  // Null: out of date.
};

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_TRACE_CATALOG_H_
