#include "client/input_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/sha256.h"
#include "common/status.h"
#include "trace/import/trace_file_name.h"

namespace chakrad::client {
namespace {

namespace fs = std::filesystem;

using PathByName = std::map<std::string, fs::path>;

absl::Status AddFile(const std::string& name, const fs::path& path, PathByName* path_by_name) {
  const auto [entry, inserted] = path_by_name->emplace(name, path);
  std::error_code ignored;
  if (!inserted && !fs::equivalent(entry->second, path, ignored)) {
    return absl::InvalidArgumentError(absl::StrCat("two files would both be named ", name, ": ",
                                                   entry->second.string(), " and ", path.string(),
                                                   "; name their common folder instead"));
  }
  return absl::OkStatus();
}

// Entries of `folder` in name order. Hidden ones are left aside.
absl::StatusOr<std::vector<fs::path>> ListFolder(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (!absl::StartsWith(it->path().filename().string(), ".")) entries.push_back(it->path());
  }
  if (error) {
    return absl::InvalidArgumentError(absl::StrCat(folder.string(), ": ", error.message()));
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

absl::Status AddFolder(const fs::path& folder, const std::string& prefix, int levels,
                       PathByName* path_by_name, std::vector<std::string>* left_out) {
  ASSIGN_OR_RETURN(const std::vector<fs::path> entries, ListFolder(folder));
  for (const fs::path& entry : entries) {
    const std::string name = prefix + entry.filename().string();
    std::error_code ignored;
    if (fs::is_directory(entry, ignored)) {
      if (levels > 0) {
        RETURN_IF_ERROR(AddFolder(entry, name + "/", levels - 1, path_by_name, left_out));
      } else {
        left_out->push_back(entry.string());
      }
    } else if (fs::is_regular_file(entry, ignored) &&
               (IsTraceFileName(name) || IsArchiveFileName(name))) {
      RETURN_IF_ERROR(AddFile(name, entry, path_by_name));
    } else {
      left_out->push_back(entry.string());
    }
  }
  return absl::OkStatus();
}

absl::Status AddPath(const std::string& path, PathByName* path_by_name, InputFiles* result) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return absl::InvalidArgumentError(absl::StrCat(path, ": no such file"));
  if (fs::is_regular_file(status)) {
    return AddFile(fs::path(path).filename().string(), path, path_by_name);
  }
  if (!fs::is_directory(status)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": neither a file nor a folder"));
  }
  const size_t before_count = path_by_name->size();
  RETURN_IF_ERROR(AddFolder(path, "", /*levels=*/1, path_by_name, &result->left_out));
  if (path_by_name->size() == before_count) {
    return absl::InvalidArgumentError(absl::StrCat(path,
                                                   ": no trace files (*.json, *.et, plain or .gz, "
                                                   "*.graph, *.tar, *.zip, ...) in this folder"));
  }
  return absl::OkStatus();
}

// Lengths go in too, so that no two plans feed the same bytes.
void HashField(absl::string_view field, Sha256* hash) {
  hash->Update(absl::StrCat(field.size(), ":"));
  hash->Update(field);
}

absl::StatusOr<std::string> HashOfFile(const UploadFile& file) {
  Sha256 hash;
  std::ifstream in(file.path, std::ios::binary);
  std::string piece(1 << 20, '\0');
  int64_t read_bytes = 0;
  while (in.read(piece.data(), piece.size()), in.gcount() > 0) {
    hash.Update(absl::string_view(piece.data(), in.gcount()));
    read_bytes += in.gcount();
  }
  if (read_bytes == file.bytes) return hash.Digest();
  return absl::InvalidArgumentError(
      absl::StrCat(file.path, ": ", read_bytes, " of ", file.bytes, " bytes could be read"));
}

}  // namespace

absl::StatusOr<InputFiles> CollectInputFiles(const std::vector<std::string>& paths,
                                             const std::string& manifest) {
  InputFiles result;
  PathByName path_by_name;
  for (const std::string& path : paths) RETURN_IF_ERROR(AddPath(path, &path_by_name, &result));
  if (!manifest.empty()) {
    std::error_code ignored;
    if (!fs::is_regular_file(manifest, ignored)) {
      return absl::InvalidArgumentError(absl::StrCat("--manifest: ", manifest, ": no such file"));
    }
    path_by_name["manifest.json"] = manifest;
  }
  for (const auto& [name, path] : path_by_name) {
    std::error_code error;
    const uintmax_t bytes = fs::file_size(path, error);
    if (error) {
      return absl::InvalidArgumentError(absl::StrCat(path.string(), ": ", error.message()));
    }
    result.files.push_back({name, path.string(), static_cast<int64_t>(bytes)});
  }
  return result;
}

absl::Status HashFiles(UploadPlan* plan) {
  for (UploadFile& file : plan->files) {
    if (!file.sha256.empty()) continue;
    ASSIGN_OR_RETURN(file.sha256, HashOfFile(file));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ContentRequestId(UploadPlan* plan) {
  RETURN_IF_ERROR(HashFiles(plan));
  Sha256 hash;
  const ImportSettings& settings = plan->settings;
  HashField("chakra ingest 3", &hash);
  HashField(absl::StrCat(settings.world_size, " ", settings.passes_count, " ", settings.lenient,
                         " ", settings.repair, " ", plan->keep_files),
            &hash);
  HashField(absl::StrCat(plan->labels.size()), &hash);
  for (const auto& [key, value] : plan->labels) {
    HashField(key, &hash);
    HashField(value, &hash);
  }
  HashField(absl::StrCat(settings.rank_by_file.size()), &hash);
  for (const auto& [file, rank] : settings.rank_by_file) {
    HashField(file, &hash);
    HashField(absl::StrCat(rank), &hash);
  }
  for (const UploadFile& file : plan->files) {
    HashField(file.file, &hash);
    HashField(absl::StrCat(file.bytes), &hash);
    HashField(file.sha256, &hash);
  }
  return absl::StrCat("sha256-", absl::BytesToHexString(hash.Digest()));
}

}  // namespace chakrad::client
