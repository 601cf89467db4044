#include "server/ingest/upload_sealer.h"

#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "analysis/measured_breakdown.h"
#include "common/status.h"
#include "storage/upload_staging.h"
#include "trace/api/content_hash.h"

namespace chakrad {
namespace {

// An upload and its trace share the random part of their ids, so that a Seal
// that was cut off between storing the trace and marking the upload finds what
// it did.
std::string TraceIdOf(absl::string_view upload_id) {
  return absl::StrCat("t-", upload_id.substr(upload_id.find('-') + 1));
}

std::string Text(const FileDigest& digest) {
  return absl::StrCat(digest.size_bytes, " bytes with SHA-256 ",
                      absl::BytesToHexString(digest.sha256));
}

absl::Status CheckClaims(const std::map<std::string, FileDigest>& claims,
                         const std::map<std::string, FileDigest>& files) {
  if (claims.empty()) return absl::OkStatus();
  for (const auto& [file, claim] : claims) {
    const auto it = files.find(file);
    if (it == files.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat(file, ": was claimed with ", Text(claim), ", and never came"));
    }
    if (it->second == claim) continue;
    return absl::InvalidArgumentError(absl::StrCat(file, ": was claimed with ", Text(claim),
                                                   ", and has ", Text(it->second),
                                                   "; did it change while it was sent?"));
  }
  for (const auto& [file, digest] : files) {
    if (claims.count(file) > 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": is not among the ", claims.size(), " files that were claimed"));
  }
  return absl::OkStatus();
}

}  // namespace

struct UploadSealer::Chosen {
  std::vector<ImportFile> files;
  std::map<std::string, FileDigest> digests;
  ImportSettings settings;
};

absl::StatusOr<UploadSealer::Chosen> UploadSealer::Choose(const UploadRecord& upload) {
  Chosen chosen;
  chosen.settings = upload.settings;
  for (const auto& [name, file] : upload.files) {
    if (upload.join.has_value() && !file.complete) continue;
    ASSIGN_OR_RETURN(std::string path, uploads_->PathOf(upload.id, name));
    FileDigest digest{file.committed_bytes, file.sha256};
    if (digest.sha256.empty()) {
      ASSIGN_OR_RETURN(digest.sha256, Sha256OfFile(path, file.committed_bytes));
    }
    chosen.digests[name] = std::move(digest);
    chosen.files.push_back({name, std::move(path)});
  }
  RETURN_IF_ERROR(CheckClaims(upload.claims, chosen.digests));
  // A joint upload's missing files are in its notice; an import would not do without them.
  if (upload.join.has_value()) {
    auto& ranks = chosen.settings.rank_by_file;
    for (auto it = ranks.begin(); it != ranks.end();) {
      it = chosen.digests.count(it->first) > 0 ? std::next(it) : ranks.erase(it);
    }
  }
  return chosen;
}

absl::StatusOr<SealResult> UploadSealer::FindStored(const std::string& content_hash) {
  ASSIGN_OR_RETURN(const std::string id, traces_->FindByContent(content_hash));
  SealResult result;
  ASSIGN_OR_RETURN(result.lease, traces_->Lease(id));
  ASSIGN_OR_RETURN(result.info, traces_->GetInfo(id));
  result.content_hash = content_hash;
  result.known = true;
  return result;
}

absl::StatusOr<TraceInfo> UploadSealer::Store(const UploadRecord& upload, const Chosen& chosen,
                                              const std::string& content_hash,
                                              ImportResult imported) {
  TraceInfo info;
  info.id = TraceIdOf(upload.id);
  info.labels = upload.labels;
  info.create_unix_ns = clock_->NowUnixNs();
  info.world_size = imported.trace.world_size;
  info.groups = imported.trace.groups;
  info.ledgers = std::move(imported.ledgers);
  info.notices = std::move(imported.notices);
  if (!upload.seal_notice.empty()) info.notices.insert(info.notices.begin(), upload.seal_notice);
  info.check = std::move(imported.report);
  info.breakdown = MeasuredBreakdown(imported.trace);
  info.content_hash = content_hash;
  const std::unique_ptr<TraceDraft> draft = traces_->NewDraft();
  for (const RankTrace& rank : imported.trace.ranks) RETURN_IF_ERROR(draft->AddRank(rank));
  if (upload.keep_files || resources_.keep_files) {
    for (const ImportFile& file : chosen.files) {
      RETURN_IF_ERROR(draft->AddRawFile(file.name, file.path));
    }
  }
  const std::string id = info.id;
  absl::StatusOr<TraceInfo> stored = draft->Commit(std::move(info));
  if (absl::IsAlreadyExists(stored.status())) return traces_->GetInfo(id);
  return stored;
}

absl::StatusOr<SealResult> UploadSealer::Seal(const UploadRecord& upload) {
  ASSIGN_OR_RETURN(const Chosen chosen, Choose(upload));
  const std::string content_hash =
      FilesContentHash(upload.labels, chosen.settings, upload.keep_files, chosen.digests);
  const auto hold = gate_->Enter(content_hash);
  absl::StatusOr<SealResult> stored = FindStored(content_hash);
  if (stored.ok()) stored->files_count = static_cast<int64_t>(chosen.files.size());
  // A trace that is damaged is no answer: then it is stored anew.
  if (stored.ok() || !(absl::IsNotFound(stored.status()) || absl::IsDataLoss(stored.status()))) {
    return stored;
  }
  ImportOptions options;
  options.settings = chosen.settings;
  options.scratch_folder = resources_.scratch_folder;
  options.kernel_names = resources_.kernel_names;
  ASSIGN_OR_RETURN(ImportResult imported, ImportTrace(chosen.files, options));
  SealResult result;
  ASSIGN_OR_RETURN(result.info, Store(upload, chosen, content_hash, std::move(imported)));
  ASSIGN_OR_RETURN(result.lease, traces_->Lease(result.info.id));
  result.content_hash = content_hash;
  result.files_count = static_cast<int64_t>(chosen.files.size());
  return result;
}

}  // namespace chakrad
