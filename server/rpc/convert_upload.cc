#include "server/rpc/convert_upload.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "common/utf8.h"
#include "server/ingest/upload_manager.h"
#include "server/limits.h"
#include "server/rpc/convert.h"

namespace chakrad {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;

v1::Upload::State ToState(UploadRecord::State state) {
  switch (state) {
    case UploadRecord::State::kOpen:
      return v1::Upload::OPEN;
    case UploadRecord::State::kSealed:
      return v1::Upload::SEALED;
    case UploadRecord::State::kSealing:
      return v1::Upload::SEALING;
    case UploadRecord::State::kRefused:
      return v1::Upload::REFUSED;
  }
  return v1::Upload::STATE_UNSPECIFIED;
}

void SetTime(int64_t unix_ns, google::protobuf::Timestamp* time) {
  time->set_seconds(unix_ns / kNsPerSecond);
  time->set_nanos(static_cast<int32_t>(unix_ns % kNsPerSecond));
}

}  // namespace

void ToProto(const UploadRecord& record, v1::Upload* upload) {
  upload->set_name(absl::StrCat("uploads/", record.id));
  upload->set_state(ToState(record.state));
  for (const auto& [key, value] : record.labels) (*upload->mutable_labels())[key] = value;
  int32_t complete_count = 0;
  int64_t committed_bytes = 0;
  for (const auto& [name, staged] : record.files) {
    if (staged.complete) ++complete_count;
    committed_bytes += staged.committed_bytes;
    v1::UploadFile* file = upload->add_files();
    file->set_file(name);
    file->set_committed_bytes(staged.committed_bytes);
    file->set_complete(staged.complete);
    file->set_sha256(staged.sha256);
  }
  upload->set_files_count(static_cast<int32_t>(record.files.size()));
  upload->set_complete_files_count(complete_count);
  upload->set_committed_bytes(committed_bytes);
  if (!record.trace_id.empty()) upload->set_trace(absl::StrCat("traces/", record.trace_id));
  SetTime(record.create_unix_ns, upload->mutable_create_time());
  upload->set_error(ValidUtf8(record.error, kMaxErrorBytes));
  upload->set_request_id(record.request_id);
  if (record.join.has_value()) {
    upload->mutable_join()->set_expected_files(record.join->expected_files);
    upload->mutable_join()->set_seal_after_seconds(record.join->seal_after_ns / kNsPerSecond);
  }
  const int64_t expire_unix_ns = ExpireUnixNs(record);
  if (expire_unix_ns != 0) SetTime(expire_unix_ns, upload->mutable_expire_time());
}

absl::StatusOr<UploadRequest> FromProto(const v1::CreateUploadRequest& request) {
  UploadRequest upload;
  upload.request_id = request.request_id();
  upload.labels = {request.labels().begin(), request.labels().end()};
  upload.settings.rank_by_file = {request.rank_by_file().begin(), request.rank_by_file().end()};
  upload.settings.world_size = request.world_size();
  if (request.passes_count() != 0) upload.settings.passes_count = request.passes_count();
  upload.settings.lenient = request.lenient();
  upload.settings.repair = request.repair();
  upload.keep_files = request.keep_files();
  for (const v1::FileClaim& claim : request.files()) {
    const FileDigest digest{claim.size_bytes(), claim.sha256()};
    if (!upload.claims.emplace(claim.file(), digest).second) {
      return absl::InvalidArgumentError(absl::StrCat("files: ", claim.file(), " is there twice"));
    }
  }
  if (request.has_join()) {
    // A number that is too large stays too large for the check.
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / kNsPerSecond;
    const int64_t seconds = std::clamp<int64_t>(request.join().seal_after_seconds(), -1, kMost);
    upload.join = UploadJoin{request.join().expected_files(), seconds * kNsPerSecond};
  }
  return upload;
}

void FitIntoAnswer(v1::Upload* upload) {
  size_t bytes = upload->ByteSizeLong();
  while (bytes > kMaxAnswerBytes && upload->files_size() > 0) {
    // A file and its frame, which has two bytes or three.
    bytes -= upload->files(upload->files_size() - 1).ByteSizeLong() + 2;
    upload->mutable_files()->RemoveLast();
  }
}

}  // namespace chakrad
