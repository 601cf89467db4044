#include "storage/verify_trace.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "storage/raw_files.h"
#include "storage/record.h"
#include "storage/record.pb.h"
#include "storage/scan_past_damage.h"
#include "storage/trace_keys.h"
#include "storage/trace_record.h"
#include "trace/codec/rank_codec.h"
#include "trace/codec/rank_index.pb.h"

namespace chakrad {
namespace {

class Verifier {
 public:
  Verifier(Kv* kv, const ChunkTable& chunks, absl::string_view id)
      : kv_(kv), chunks_(chunks), id_(id) {}

  absl::StatusOr<VerifyResult> Run() {
    RETURN_IF_ERROR(Note("manifest", ReadManifest()));
    std::set<int32_t> missing;
    for (const RankSummary& rank : info_.ranks) missing.insert(rank.rank);
    std::vector<std::pair<int32_t, std::string>> records;
    ASSIGN_OR_RETURN(const bool damaged,
                     ScanPastDamage(kv_, Family::kMeta, RankKeys(id_),
                                    [&](absl::string_view key, absl::string_view value) {
                                      std::string id;
                                      int32_t rank = 0;
                                      if (ParseRankKey(key, &id, &rank)) {
                                        records.emplace_back(rank, std::string(value));
                                      }
                                    }));
    if (damaged) result_.errors.push_back("rank indexes: a part cannot be read");
    for (const auto& [rank, record] : records) {
      missing.erase(rank);
      RETURN_IF_ERROR(VerifyRank(rank, record));
    }
    for (const int32_t rank : missing) {
      result_.errors.push_back(absl::StrCat("rank ", rank, ": its index is missing"));
    }
    RETURN_IF_ERROR(VerifyRawFiles());
    return std::move(result_);
  }

 private:
  // Keeps damage as an error of the result; returns every other failure.
  absl::Status Note(absl::string_view what, const absl::Status& status) {
    if (!absl::IsDataLoss(status)) return status;
    result_.errors.push_back(absl::StrCat(what, ": ", status.message()));
    return absl::OkStatus();
  }

  absl::Status ReadManifest() {
    const auto value = kv_->Get(Family::kMeta, ManifestKey(id_));
    if (absl::IsNotFound(value.status())) return absl::DataLossError("is missing");
    RETURN_IF_ERROR(value.status());
    RETURN_IF_ERROR(UnpackRecord(*value, &manifest_));
    RETURN_IF_ERROR(TraceInfoFromProto(manifest_, &info_));
    has_manifest_ = true;
    return absl::OkStatus();
  }

  absl::Status VerifyRank(int32_t rank, const std::string& value) {
    const std::string name = absl::StrCat("rank ", rank);
    codec::RankIndexRecord record;
    RankIndex index;
    absl::Status readable = UnpackRecord(value, &record);
    if (readable.ok()) readable = RankIndexFromProto(record, &index);
    if (!readable.ok()) {
      result_.errors.push_back(absl::StrCat(name, ": its index: ", readable.message()));
      return absl::OkStatus();
    }
    const size_t errors_before = result_.errors.size();
    RankDecoder decoder(index.header);
    for (const std::vector<ChunkRef>* refs : {&index.hot, &index.cold}) {
      for (const ChunkRef& ref : *refs) {
        const auto stored = chunks_.Read(ref.hash);
        RETURN_IF_ERROR(Note(name, stored.status()));
        const bool is_first = seen_.insert(ref.hash).second;
        if (is_first) {
          ++result_.chunks_count;
          result_.bytes += stored.ok() ? static_cast<int64_t>(stored->size()) : 0;
          RETURN_IF_ERROR(Note(name, chunks_.CheckUsed(ref.hash)));
        }
        // A rank with a hole does not decode: that would be the same error again.
        if (result_.errors.size() > errors_before) continue;
        RETURN_IF_ERROR(
            Note(absl::StrCat(name, ": chunk ", absl::BytesToHexString(ref.hash)),
                 index.has_spans ? decoder.Add(*stored, ref.span) : decoder.Add(*stored)));
      }
    }
    if (result_.errors.size() > errors_before || !has_manifest_) return absl::OkStatus();
    return Note(name, decoder.Finish(/*with_cold=*/true, info_.groups.size()).status());
  }

  absl::Status VerifyRawFiles() {
    for (size_t i = 0; i < info_.raw_files.size(); ++i) {
      const RawFileInfo& file = info_.raw_files[i];
      const RawPlace place{manifest_.raw_key(), static_cast<uint32_t>(i)};
      const auto count = [this](absl::string_view bytes) {
        result_.bytes += static_cast<int64_t>(bytes.size());
        return absl::OkStatus();
      };
      RETURN_IF_ERROR(Note(absl::StrCat("file ", absl::CHexEscape(file.file)),
                           ReadRawPieces(kv_, place, file.size_bytes, file.sha256, count)));
    }
    return absl::OkStatus();
  }

  Kv* const kv_;
  const ChunkTable& chunks_;
  const absl::string_view id_;
  storage::TraceManifest manifest_;
  TraceInfo info_;
  bool has_manifest_ = false;
  std::set<std::string> seen_;
  VerifyResult result_;
};

}  // namespace

absl::StatusOr<VerifyResult> VerifyTrace(Kv* kv, const ChunkTable& chunks, absl::string_view id) {
  return Verifier(kv, chunks, id).Run();
}

}  // namespace chakrad
