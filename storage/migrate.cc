#include "storage/migrate.h"

#include <cstdint>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "storage/card_record.h"
#include "storage/keys.h"
#include "storage/load_catalog.h"
#include "storage/record.h"
#include "storage/record.pb.h"
#include "storage/scan_past_damage.h"
#include "storage/trace_keys.h"
#include "storage/trace_writer.h"

namespace chakrad {
namespace {

constexpr size_t kBatchOps = 1000;
constexpr int64_t kNoticeEveryTraces = 10'000;
// Of layout 1: "t" + be64(create_unix_ns) + trace id, the order of lists.
constexpr char kTimeIndexPrefix[] = "t";

class Migration {
 public:
  Migration(Kv* kv, const StoreNotice& notice) : kv_(kv), notice_(notice) {}

  absl::Status Run() {
    Say("migrating the store from layout 1 to 2");
    RETURN_IF_ERROR(WriteCards());
    RETURN_IF_ERROR(WriteDamagedCards());
    RETURN_IF_ERROR(CountChunks());
    RETURN_IF_ERROR(WriteBatch());
    const KvRange times = PrefixRange(kTimeIndexPrefix);
    batch_.DeleteRange(Family::kMeta, times.begin, times.end);
    totals_.traces_count = static_cast<int64_t>(ids_.size());
    batch_.Put(Family::kMeta, kTotalsKey, PackTotals(totals_));
    RETURN_IF_ERROR(kv_->Write(batch_, /*sync=*/true));
    Say(absl::StrCat("migrated ", ids_.size(), " traces"));
    return absl::OkStatus();
  }

 private:
  void Say(const std::string& line) {
    if (notice_ != nullptr) notice_(line);
  }

  absl::Status WriteBatch() {
    if (batch_.ops().empty()) return absl::OkStatus();
    batch_.UseReserve();  // Cards are small; without them nothing could be deleted.
    return kv_->Write(std::exchange(batch_, KvBatch()), /*sync=*/false);
  }

  // Scans `prefix`; `visit` adds to the batch, which is written when it is large.
  absl::Status ScanAndWrite(
      absl::string_view prefix,
      const std::function<void(absl::string_view key, absl::string_view value)>& visit) {
    absl::Status written;
    ASSIGN_OR_RETURN(const bool damaged,
                     ScanPastDamage(kv_, Family::kMeta, PrefixRange(prefix),
                                    [&](absl::string_view key, absl::string_view value) {
                                      if (!written.ok()) return;
                                      visit(key, value);
                                      if (batch_.ops().size() >= kBatchOps) written = WriteBatch();
                                    }));
    if (damaged) Say(absl::StrCat("a part of family meta, \"", prefix, "\", is damaged"));
    return written;
  }

  absl::Status WriteCards() {
    return ScanAndWrite(kManifestPrefix, [this](absl::string_view key, absl::string_view value) {
      const std::string id(key.substr(1));
      const auto card = CardFromManifest(id, value);
      if (!card.ok()) return;
      batch_.Put(Family::kIndex, CardKey(id), PackCard(*card));
      ids_.insert(id);
      if (ids_.size() % kNoticeEveryTraces == 0) Say(absl::StrCat("migrated ", ids_.size()));
    });
  }

  absl::Status WriteDamagedCards() {
    return ScanAndWrite(kTimeIndexPrefix, [this](absl::string_view key, absl::string_view) {
      TimeKey time;
      if (!ParseTimeKey(key.substr(1), &time) || ids_.count(time.id) > 0) return;
      TraceCard card;
      card.create_unix_ns = time.create_unix_ns;
      card.damaged = true;
      batch_.Put(Family::kIndex, CardKey(time.id), PackCard(card));
      Say(absl::StrCat("trace ", time.id, ": its manifest is damaged"));
      ids_.insert(std::move(time.id));
    });
  }

  absl::Status CountChunks() {
    return ScanAndWrite(kChunkUsePrefix, [this](absl::string_view key, absl::string_view value) {
      storage::ChunkUse use;
      if (!UnpackRecord(value, &use).ok()) return;
      if (use.traces_count() > 0) {
        ++totals_.chunks.chunks_count;
        totals_.chunks.bytes += use.stored_bytes();
        return;
      }
      batch_.Delete(Family::kChunks, key.substr(1));
      batch_.Delete(Family::kMeta, key);
    });
  }

  Kv* const kv_;
  const StoreNotice& notice_;
  KvBatch batch_;
  std::set<std::string> ids_;  // That have a card.
  TraceTotals totals_;
};

}  // namespace

absl::Status MigrateFrom1(Kv* kv, const StoreNotice& notice) { return Migration(kv, notice).Run(); }

}  // namespace chakrad
