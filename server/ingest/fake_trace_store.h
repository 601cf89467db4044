// A TraceStore that keeps what traces are called and no columns: for tests of who
// stores what and when. Commits can be held up and made to fail.
#ifndef CHAKRAD_SERVER_INGEST_FAKE_TRACE_STORE_H_
#define CHAKRAD_SERVER_INGEST_FAKE_TRACE_STORE_H_

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/mutex.h"
#include "storage/trace_store.h"

namespace chakrad {

// Thread-safe.
class FakeTraceStore : public TraceStore {
 public:
  // Called by each Commit, with no lock held; an error is the Commit's.
  void SetBeforeCommit(std::function<absl::Status()> before_commit) {
    MutexLock lock(&mutex_);
    before_commit_ = std::move(before_commit);
  }
  // What a trace takes from now on.
  void SetStoredBytes(int64_t bytes) {
    MutexLock lock(&mutex_);
    stored_bytes_ = bytes;
  }
  int64_t commits_count() {
    MutexLock lock(&mutex_);
    return commits_count_;
  }

  std::unique_ptr<TraceDraft> NewDraft() override { return std::make_unique<Draft>(this); }

  std::shared_ptr<const TraceCards> Cards() override {
    MutexLock lock(&mutex_);
    return cards_;
  }
  absl::StatusOr<TraceInfo> GetInfo(absl::string_view id) override {
    MutexLock lock(&mutex_);
    const auto it = infos_.find(std::string(id));
    if (it == infos_.end()) return Unknown(id);
    return it->second;
  }
  absl::StatusOr<std::string> FindByContent(absl::string_view content_hash) override {
    MutexLock lock(&mutex_);
    for (const auto& card : *cards_) {
      if (card->content_hash == content_hash) return card->id;
    }
    return absl::NotFoundError("no trace has this content");
  }
  absl::StatusOr<std::unique_ptr<TraceLease>> Lease(absl::string_view id) override {
    MutexLock lock(&mutex_);
    if (infos_.count(std::string(id)) == 0) return Unknown(id);
    return std::make_unique<TraceLease>();
  }
  absl::Status Delete(absl::string_view id) override {
    MutexLock lock(&mutex_);
    if (infos_.erase(std::string(id)) == 0) return Unknown(id);
    MakeCards();
    return absl::OkStatus();
  }

  absl::StatusOr<Trace> Load(absl::string_view, const TraceLoadOptions&) override {
    return No<Trace>();
  }
  absl::StatusOr<RankIndex> GetRankIndex(absl::string_view, int32_t) override {
    return No<RankIndex>();
  }
  absl::StatusOr<std::string> ReadChunk(const std::string&) override { return No<std::string>(); }
  absl::Status SetPinned(absl::string_view, bool) override { return No<int>().status(); }
  absl::StatusOr<VerifyResult> Verify(absl::string_view) override { return No<VerifyResult>(); }
  absl::Status ReadRawFile(absl::string_view, absl::string_view,
                           const std::function<absl::Status(absl::string_view)>&) override {
    return No<int>().status();
  }
  absl::StatusOr<int64_t> SweepOrphans() override { return 0; }
  absl::StatusOr<int64_t> TotalBytes() override { return 0; }

 private:
  class Draft : public TraceDraft {
   public:
    explicit Draft(FakeTraceStore* store) : store_(*store) {}
    absl::Status AddRank(const RankTrace& rank) override {
      RankSummary summary;
      summary.rank = rank.rank;
      ranks_.push_back(summary);
      return absl::OkStatus();
    }
    absl::StatusOr<std::vector<std::string>> Missing(const std::vector<std::string>&) override {
      return No<std::vector<std::string>>();
    }
    absl::Status AddChunk(const std::string&, absl::string_view) override {
      return No<int>().status();
    }
    absl::StatusOr<RankTrace> AddEncodedRank(const RankIndex&, size_t, bool) override {
      return No<RankTrace>();
    }
    absl::Status AddDecodedRank(const RankIndex&, const RankTrace&, int64_t) override {
      return No<int>().status();
    }
    absl::Status Flush() override { return absl::OkStatus(); }
    absl::Status AddRawFile(const std::string& file, const std::string& path) override {
      raw_files_.push_back({file, 0, path});
      return absl::OkStatus();
    }
    absl::StatusOr<TraceInfo> Commit(TraceInfo info) override {
      info.ranks = ranks_;
      info.raw_files = raw_files_;
      return store_.Store(std::move(info));
    }

   private:
    FakeTraceStore& store_;
    std::vector<RankSummary> ranks_;
    std::vector<RawFileInfo> raw_files_;
  };

  template <typename T>
  static absl::StatusOr<T> No() {
    return absl::UnimplementedError("the fake store keeps no columns");
  }
  static absl::Status Unknown(absl::string_view id) {
    return absl::NotFoundError(absl::StrCat("trace ", id, " is not known"));
  }
  absl::StatusOr<TraceInfo> Store(TraceInfo info) {
    std::function<absl::Status()> before_commit;
    {
      MutexLock lock(&mutex_);
      before_commit = before_commit_;
    }
    if (before_commit != nullptr) {
      if (absl::Status status = before_commit(); !status.ok()) return status;
    }
    MutexLock lock(&mutex_);
    if (infos_.count(info.id) > 0) return absl::AlreadyExistsError(info.id);
    info.stored_bytes = stored_bytes_;
    info.create_unix_ns = std::max(info.create_unix_ns, newest_unix_ns_ + 1);
    newest_unix_ns_ = info.create_unix_ns;
    infos_[info.id] = info;
    ++commits_count_;
    MakeCards();
    return info;
  }
  void MakeCards() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    auto cards = std::make_shared<TraceCards>();
    for (const auto& [id, info] : infos_) {
      auto card = std::make_shared<TraceCard>();
      card->id = id;
      card->labels = info.labels;
      card->create_unix_ns = info.create_unix_ns;
      card->stored_bytes = info.stored_bytes;
      card->content_hash = info.content_hash;
      cards->push_back(std::move(card));
    }
    std::sort(cards->begin(), cards->end(),
              [](const auto& a, const auto& b) { return a->create_unix_ns > b->create_unix_ns; });
    cards_ = std::move(cards);
  }

  Mutex mutex_;
  std::function<absl::Status()> before_commit_ ABSL_GUARDED_BY(mutex_);
  int64_t stored_bytes_ ABSL_GUARDED_BY(mutex_) = 100;
  int64_t commits_count_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t newest_unix_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, TraceInfo> infos_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const TraceCards> cards_ ABSL_GUARDED_BY(mutex_) = std::make_shared<TraceCards>();
};

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_INGEST_FAKE_TRACE_STORE_H_
