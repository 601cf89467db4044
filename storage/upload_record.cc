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
}

absl::Status UploadFromProto(const storage::UploadHeader& header, UploadRecord* upload) {
  upload->request_id = header.request_id();
  if (header.state() < static_cast<uint32_t>(UploadRecord::State::kOpen) ||
      header.state() > static_cast<uint32_t>(UploadRecord::State::kSealed)) {
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
  return absl::OkStatus();
}

}  // namespace chakrad
