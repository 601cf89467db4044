#include "storage/layout1_store.h"

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "storage/keys.h"
#include "storage/record.h"
#include "storage/record.pb.h"
#include "storage/store_version.h"
#include "storage/trace_keys.h"

namespace chakrad {

absl::Status MakeLayout1(Kv* kv, const std::map<std::string, int64_t>& create_unix_ns) {
  KvBatch batch;
  absl::Status failure;
  RETURN_IF_ERROR(kv->Scan(
      Family::kMeta, PrefixRange(kManifestPrefix), ScanOrder::kForward,
      [&](absl::string_view key, absl::string_view value) {
        const std::string id(key.substr(1));
        storage::TraceManifest manifest;
        failure = UnpackRecord(value, &manifest);
        if (!failure.ok()) return false;
        const auto time = create_unix_ns.find(id);
        if (time != create_unix_ns.end()) manifest.set_create_unix_ns(time->second);
        manifest.clear_start_unix_ns();
        manifest.clear_end_unix_ns();
        batch.Put(Family::kMeta, key, PackRecord(manifest));
        batch.Put(Family::kMeta, absl::StrCat("t", PackTimeKey(manifest.create_unix_ns(), id)), "");
        batch.Delete(Family::kIndex, CardKey(id));
        return true;
      }));
  RETURN_IF_ERROR(failure);
  storage::ChunkUse unused;
  unused.set_stored_bytes(6);
  batch.Put(Family::kMeta, ChunkUseKey(std::string(32, 'o')), PackRecord(unused));
  batch.Put(Family::kChunks, std::string(32, 'o'), "orphan");
  batch.Delete(Family::kMeta, kTotalsKey);
  batch.Delete(Family::kIndex, kStoreVersionKey);
  batch.Put(Family::kMeta, kStoreVersionKey, "\x01");
  return kv->Write(batch, /*sync=*/true);
}

}  // namespace chakrad
