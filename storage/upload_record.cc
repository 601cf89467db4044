#include "storage/upload_record.h"

#include "absl/strings/str_cat.h"
#include "storage/record.pb.h"

namespace chakrad {

void UploadToProto(const UploadRecord& upload, storage::UploadHeader* header) {
  header->set_request_id(upload.request_id);
  header->set_state(static_cast<uint32_t>(upload.state));
  header->set_create_unix_ns(upload.create_unix_ns);
  for (const auto& [key, value] : upload.labels) {
    storage::Label* label = header->add_labels();
    label->set_key(key);
    label->set_value(value);
  }
  for (const auto& [file, rank] : upload.settings.rank_by_file) {
    storage::UploadHeader::RankOfFile* entry = header->add_rank_by_file();
    entry->set_file(file);
    entry->set_rank(rank);
  }
  header->set_world_size(upload.settings.world_size);
  header->set_passes_count(upload.settings.passes_count);
  header->set_lenient(upload.settings.lenient);
  header->set_repair(upload.settings.repair);
  header->set_trace_id(upload.trace_id);
  header->set_joint(upload.join.has_value());
  if (upload.join.has_value()) {
    header->set_expected_files(upload.join->expected_files);
    header->set_seal_after_ns(upload.join->seal_after_ns);
  }
  header->set_keep_files(upload.keep_files);
  header->set_error(upload.error);
  header->set_seal_notice(upload.seal_notice);
  header->set_end_unix_ns(upload.end_unix_ns);
  header->set_content_hash(upload.content_hash);
}

absl::Status UploadFromProto(const storage::UploadHeader& header, UploadRecord* upload) {
  upload->request_id = header.request_id();
  if (header.state() < static_cast<uint32_t>(UploadRecord::State::kOpen) ||
      header.state() > static_cast<uint32_t>(UploadRecord::State::kRefused)) {
    return absl::DataLossError(absl::StrCat("state: ", header.state(), " is unknown"));
  }
  upload->state = static_cast<UploadRecord::State>(header.state());
  upload->create_unix_ns = header.create_unix_ns();
  for (const storage::Label& label : header.labels()) upload->labels[label.key()] = label.value();
  for (const auto& entry : header.rank_by_file())
    upload->settings.rank_by_file[entry.file()] = entry.rank();
  upload->settings.world_size = header.world_size();
  // Records of before there were passes have none.
  upload->settings.passes_count = header.passes_count() == 0 ? 1 : header.passes_count();
  upload->settings.lenient = header.lenient();
  upload->settings.repair = header.repair();
  upload->trace_id = header.trace_id();
  if (header.joint()) upload->join = {header.expected_files(), header.seal_after_ns()};
  upload->keep_files = header.keep_files();
  upload->error = header.error();
  upload->seal_notice = header.seal_notice();
  upload->end_unix_ns = header.end_unix_ns();
  upload->content_hash = header.content_hash();
  return absl::OkStatus();
}

void UploadFileToProto(const std::string& name, const UploadedFile& file,
                       storage::UploadFile* record) {
  record->set_name(name);
  record->set_committed_bytes(file.committed_bytes);
  record->set_complete(file.complete);
  record->set_sha256(file.sha256);
}

UploadedFile UploadFileFromProto(const storage::UploadFile& record) {
  return {record.committed_bytes(), record.complete(), record.sha256()};
}

void ClaimsToProto(const std::map<std::string, FileDigest>& claims, storage::UploadClaims* record) {
  for (const auto& [file, digest] : claims) {
    storage::UploadClaims::Claim* claim = record->add_claims();
    claim->set_file(file);
    claim->set_size_bytes(digest.size_bytes);
    claim->set_sha256(digest.sha256);
  }
}

std::map<std::string, FileDigest> ClaimsFromProto(const storage::UploadClaims& record) {
  std::map<std::string, FileDigest> claims;
  for (const auto& claim : record.claims()) {
    claims[claim.file()] = {claim.size_bytes(), claim.sha256()};
  }
  return claims;
}

}  // namespace chakrad
