#include "storage/load_catalog.h"

#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "storage/card_record.h"
#include "storage/record.h"
#include "storage/record.pb.h"
#include "storage/scan_past_damage.h"
#include "storage/trace_keys.h"
#include "storage/trace_record.h"

namespace chakrad {
namespace {

class Loader {
 public:
  explicit Loader(Kv* kv) : kv_(kv) {}

  absl::Status ReadCards() {
    ASSIGN_OR_RETURN(const bool damaged,
                     ScanPastDamage(kv_, Family::kIndex, PrefixRange(kCardPrefix),
                                    [this](absl::string_view key, absl::string_view value) {
                                      const std::string id(key.substr(1));
                                      TraceCard card;
                                      card.id = id;
                                      if (UnpackCard(value, &card).ok()) {
                                        cards_[id] = std::move(card);
                                      } else {
                                        unread_.insert(id);
                                      }
                                    }));
    if (damaged) loaded_.notices.push_back("family index is damaged: cards are missing");
    complete_ = !damaged && unread_.empty();
    return absl::OkStatus();
  }

  absl::Status ReadTotalsOrNone() {
    const auto totals = ReadTotals(kv_);
    has_totals_ = totals.ok();
    if (has_totals_) loaded_.totals = *totals;
    if (has_totals_ || absl::IsNotFound(totals.status())) return absl::OkStatus();
    if (!absl::IsDataLoss(totals.status())) return totals.status();
    loaded_.notices.push_back("the totals are damaged: counting again");
    return absl::OkStatus();
  }

  // Whether every stored trace has its card.
  bool complete() const {
    return complete_ &&
           (!has_totals_ || loaded_.totals.traces_count == static_cast<int64_t>(cards_.size()));
  }

  // Cards from manifests, and names from the keys of rank indexes.
  absl::Status Recover() {
    int64_t made = 0;
    const auto take = [&](const std::string& id, absl::string_view manifest) {
      auto card = CardFromManifest(id, manifest);
      if (!card.ok()) {
        unread_.insert(id);
        return;
      }
      cards_[id] = *std::move(card);
      unread_.erase(id);
      ++made;
    };
    ASSIGN_OR_RETURN(const bool damaged,
                     ScanPastDamage(kv_, Family::kMeta, PrefixRange(kManifestPrefix),
                                    [&](absl::string_view key, absl::string_view value) {
                                      const std::string id(key.substr(1));
                                      if (cards_.count(id) == 0) take(id, value);
                                    }));
    ASSIGN_OR_RETURN(const bool ranks_damaged,
                     ScanPastDamage(kv_, Family::kMeta, PrefixRange("r"),
                                    [&](absl::string_view key, absl::string_view) {
                                      std::string id;
                                      int32_t rank = 0;
                                      if (!ParseRankKey(key, &id, &rank)) return;
                                      if (cards_.count(id) == 0) unread_.insert(id);
                                    }));
    if (damaged || ranks_damaged) {
      loaded_.notices.push_back("family meta is damaged: manifests or rank indexes are missing");
    }
    // Between two damaged places a scan sees nothing; by name it may still be there.
    for (const std::string& id : std::set<std::string>(unread_)) {
      const auto value = kv_->Get(Family::kMeta, ManifestKey(id));
      if (value.ok()) take(id, *value);
    }
    for (const std::string& id : unread_) {
      TraceCard card;
      card.id = id;
      card.damaged = true;
      cards_[id] = std::move(card);
    }
    loaded_.notices.push_back(absl::StrCat(made, " cards made again from manifests, ",
                                           unread_.size(), " traces known by name only"));
    return absl::OkStatus();
  }

  absl::Status ReadPins() {
    ASSIGN_OR_RETURN(const bool damaged,
                     ScanPastDamage(kv_, Family::kMeta, PrefixRange(kPinnedPrefix),
                                    [this](absl::string_view key, absl::string_view) {
                                      const auto it = cards_.find(std::string(key.substr(1)));
                                      if (it != cards_.end()) it->second.pinned = true;
                                    }));
    if (damaged) {
      // Rather keep too much than delete what somebody wanted kept.
      for (auto& [id, card] : cards_) {
        const absl::Status found = kv_->Get(Family::kMeta, PinnedKey(id)).status();
        if (!absl::IsNotFound(found)) card.pinned = true;
      }
      loaded_.notices.push_back("pins are damaged: traces whose pin cannot be read are pinned");
    }
    return absl::OkStatus();
  }

  absl::StatusOr<LoadedCatalog> Finish() {
    if (!has_totals_) {
      const ChunkTable chunks(kv_);
      ASSIGN_OR_RETURN(loaded_.totals.chunks, chunks.Count());
    }
    loaded_.totals.traces_count = static_cast<int64_t>(cards_.size());
    loaded_.cards.reserve(cards_.size());
    while (!cards_.empty()) {
      auto node = cards_.extract(cards_.begin());
      loaded_.cards.push_back(std::make_shared<const TraceCard>(std::move(node.mapped())));
    }
    return std::move(loaded_);
  }

 private:
  Kv* const kv_;
  LoadedCatalog loaded_;
  std::map<std::string, TraceCard> cards_;  // By id.
  std::set<std::string> unread_;            // Known by name, not read.
  bool complete_ = false;
  bool has_totals_ = false;
};

}  // namespace

absl::StatusOr<TraceCard> CardFromManifest(const std::string& id, absl::string_view manifest) {
  storage::TraceManifest record;
  RETURN_IF_ERROR(UnpackRecord(manifest, &record));
  TraceInfo info;
  info.id = id;
  RETURN_IF_ERROR(TraceInfoFromProto(record, &info));
  return CardOf(info);
}

absl::StatusOr<LoadedCatalog> LoadCatalog(Kv* kv) {
  Loader loader(kv);
  RETURN_IF_ERROR(loader.ReadCards());
  RETURN_IF_ERROR(loader.ReadTotalsOrNone());
  if (!loader.complete()) RETURN_IF_ERROR(loader.Recover());
  RETURN_IF_ERROR(loader.ReadPins());
  return loader.Finish();
}

}  // namespace chakrad
