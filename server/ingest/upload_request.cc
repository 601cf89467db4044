#include "server/ingest/upload_request.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "server/ids.h"
#include "storage/limits.h"

namespace chakrad {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr size_t kSha256Bytes = 32;

absl::Status CheckSettings(const ImportSettings& settings) {
  for (const auto& [file, rank] : settings.rank_by_file) {
    RETURN_IF_ERROR(CheckFileName(file));
    if (rank < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("rank_by_file: ", file, " has the rank ", rank, ", below 0"));
    }
  }
  if (settings.world_size < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("world_size: ", settings.world_size, " is below 0"));
  }
  if (settings.passes_count < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("passes_count: ", settings.passes_count, " is below 1"));
  }
  return absl::OkStatus();
}

absl::Status CheckJoin(const ServerLimits& limits, UploadJoin* join) {
  if (join->expected_files < 0 || join->expected_files > limits.upload_files) {
    return absl::InvalidArgumentError(absl::StrCat("join.expected_files: ", join->expected_files,
                                                   " is not in [0, ", limits.upload_files, "]"));
  }
  if (join->seal_after_ns < 0 || join->seal_after_ns > kAbandonedUploadSeconds * kNsPerSecond) {
    return absl::InvalidArgumentError(
        absl::StrCat("join.seal_after_seconds: ", join->seal_after_ns / kNsPerSecond,
                     " is not in [0, ", kAbandonedUploadSeconds, "]"));
  }
  if (join->seal_after_ns == 0) join->seal_after_ns = kSealAfterSeconds * kNsPerSecond;
  return absl::OkStatus();
}

absl::Status CheckClaims(const ServerLimits& limits,
                         const std::map<std::string, FileDigest>& claims) {
  int64_t left_bytes = limits.upload_bytes;
  for (const auto& [file, digest] : claims) {
    RETURN_IF_ERROR(CheckFileName(file));
    if (digest.size_bytes < 0 || digest.sha256.size() != kSha256Bytes) {
      return absl::InvalidArgumentError(absl::StrCat("files: ", file, ": a size of ",
                                                     digest.size_bytes, " and a SHA-256 of ",
                                                     digest.sha256.size(), " bytes are none"));
    }
    if (digest.size_bytes > left_bytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("files: all of them exceed ", limits.upload_bytes,
                       " bytes (--max_upload_bytes); split the trace, or raise the limit"));
    }
    left_bytes -= digest.size_bytes;
  }
  if (static_cast<int64_t>(claims.size()) > limits.upload_files) {
    return absl::ResourceExhaustedError(absl::StrCat("files: ", claims.size(), " are more than ",
                                                     limits.upload_files, " (--max_upload_files)"));
  }
  return absl::OkStatus();
}

std::string Quoted(absl::string_view text) {
  return absl::StrCat("\"", absl::CHexEscape(text), "\"");
}

std::string Difference(absl::string_view field, absl::string_view first, absl::string_view now) {
  return absl::StrCat(field, " was ", first, ", and is ", now, " now");
}

std::string LabelDifference(const std::map<std::string, std::string>& first,
                            const std::map<std::string, std::string>& now) {
  for (const auto& [key, value] : first) {
    const auto it = now.find(key);
    if (it != now.end() && it->second == value) continue;
    return Difference(absl::StrCat("labels: ", key), Quoted(value),
                      it == now.end() ? "absent" : Quoted(it->second));
  }
  for (const auto& [key, value] : now) {
    if (first.count(key) == 0) {
      return Difference(absl::StrCat("labels: ", key), "absent", Quoted(value));
    }
  }
  return "";
}

std::string RankDifference(const std::map<std::string, int32_t>& first,
                           const std::map<std::string, int32_t>& now, bool joint) {
  for (const auto& [file, rank] : first) {
    const auto it = now.find(file);
    if (it == now.end() && joint) continue;
    if (it != now.end() && it->second == rank) continue;
    return Difference(absl::StrCat("rank_by_file: ", Quoted(file)), absl::StrCat(rank),
                      it == now.end() ? "absent" : absl::StrCat(it->second));
  }
  for (const auto& [file, rank] : now) {
    if (first.count(file) > 0 || joint) continue;
    return Difference(absl::StrCat("rank_by_file: ", Quoted(file)), "absent", absl::StrCat(rank));
  }
  return "";
}

std::string Hex(const FileDigest& digest) {
  return absl::StrCat(digest.size_bytes, " bytes with SHA-256 ",
                      absl::BytesToHexString(digest.sha256));
}

std::string ClaimDifference(const UploadRecord& first,
                            const std::map<std::string, FileDigest>& now) {
  if (now.empty()) return "";
  std::map<std::string, FileDigest> known = first.claims;
  const bool all_known = !known.empty();
  if (!all_known) {
    for (const auto& [name, file] : first.files) {
      if (file.complete) known[name] = {file.committed_bytes, file.sha256};
    }
  }
  for (const auto& [file, digest] : known) {
    const auto it = now.find(file);
    if (it != now.end() && it->second == digest) continue;
    return Difference(absl::StrCat("files: ", Quoted(file)), Hex(digest),
                      it == now.end() ? "absent" : Hex(it->second));
  }
  for (const auto& [file, digest] : now) {
    if (!all_known || known.count(file) > 0) continue;
    return Difference(absl::StrCat("files: ", Quoted(file)), "absent", Hex(digest));
  }
  return "";
}

std::string JoinDifference(const std::optional<UploadJoin>& first,
                           const std::optional<UploadJoin>& now) {
  if (first.has_value() != now.has_value()) {
    return Difference("join", first.has_value() ? "present" : "absent",
                      now.has_value() ? "present" : "absent");
  }
  if (!first.has_value()) return "";
  if (first->expected_files != now->expected_files) {
    return Difference("join.expected_files", absl::StrCat(first->expected_files),
                      absl::StrCat(now->expected_files));
  }
  if (first->seal_after_ns != now->seal_after_ns) {
    return Difference("join.seal_after_seconds", absl::StrCat(first->seal_after_ns / kNsPerSecond),
                      absl::StrCat(now->seal_after_ns / kNsPerSecond));
  }
  return "";
}

}  // namespace

absl::Status CheckFileName(absl::string_view file) {
  if (file.empty() || file.size() > kMaxFileNameBytes ||
      file.find('\0') != absl::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat("file: the name has ", file.size(),
                                                   " bytes; 1 to ", kMaxFileNameBytes,
                                                   " without NUL are allowed"));
  }
  return absl::OkStatus();
}

absl::Status CheckUploadRequest(const ServerLimits& limits, UploadRequest* request) {
  RETURN_IF_ERROR(CheckRequestId(request->request_id));
  RETURN_IF_ERROR(CheckLabels(request->labels));
  RETURN_IF_ERROR(CheckSettings(request->settings));
  RETURN_IF_ERROR(CheckClaims(limits, request->claims));
  if (!request->join.has_value()) return absl::OkStatus();
  if (!request->claims.empty()) {
    return absl::InvalidArgumentError(
        "files: a joint upload takes none, since no host knows the files of the others");
  }
  return CheckJoin(limits, &*request->join);
}

std::string FirstDifference(const UploadRecord& first, const UploadRequest& request) {
  const ImportSettings& was = first.settings;
  const ImportSettings& now = request.settings;
  const auto text = [](bool value) { return value ? "true" : "false"; };
  std::string difference = LabelDifference(first.labels, request.labels);
  if (difference.empty()) difference = JoinDifference(first.join, request.join);
  if (difference.empty()) {
    difference = RankDifference(was.rank_by_file, now.rank_by_file, first.join.has_value());
  }
  if (!difference.empty()) return difference;
  if (was.world_size != now.world_size) {
    return Difference("world_size", absl::StrCat(was.world_size), absl::StrCat(now.world_size));
  }
  if (was.passes_count != now.passes_count) {
    return Difference("passes_count", absl::StrCat(was.passes_count),
                      absl::StrCat(now.passes_count));
  }
  if (was.lenient != now.lenient)
    return Difference("lenient", text(was.lenient), text(now.lenient));
  if (was.repair != now.repair) return Difference("repair", text(was.repair), text(now.repair));
  if (first.keep_files != request.keep_files) {
    return Difference("keep_files", text(first.keep_files), text(request.keep_files));
  }
  return ClaimDifference(first, request.claims);
}

}  // namespace chakrad
