#include "trace/import/expand.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/import/trace_file_name.h"
#include "trace/readers/archive/archive.h"

namespace chakrad {
namespace {

namespace fs = std::filesystem;

constexpr char kPrefix[] = "chakrad-scratch-";

// Folders of processes that are gone: whoever is killed cannot tidy up.
void SweepLeftovers(const fs::path& where) {
  std::error_code ignored;
  std::vector<fs::path> leftovers;
  for (fs::directory_iterator it(where, ignored), end; !ignored && it != end;
       it.increment(ignored)) {
    absl::string_view name_view = kPrefix;
    const std::string name = it->path().filename().string();
    if (!absl::StartsWith(name, name_view)) continue;
    const std::string pid_text =
        name.substr(name_view.size(), name.find('-', name_view.size()) - name_view.size());
    int32_t pid;
    if (!absl::SimpleAtoi(pid_text, &pid) || pid <= 0) continue;
    if (kill(pid, 0) != 0 && errno == ESRCH) leftovers.push_back(it->path());
  }
  for (const fs::path& folder : leftovers) fs::remove_all(folder, ignored);
}

absl::Status MakeFolder(const std::string& path) {
  std::error_code error;
  fs::create_directory(path, error);
  if (error) return absl::InternalError(absl::StrCat(path, ": ", error.message()));
  return absl::OkStatus();
}

}  // namespace

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

absl::Status ScratchFolder::Make(const std::string& parent) {
  std::error_code error;
  const fs::path where = parent.empty() ? fs::temp_directory_path(error) : fs::path(parent);
  SweepLeftovers(where);
  std::string name = (where / absl::StrCat(kPrefix, getpid(), "-XXXXXX")).string();
  if (error || mkdtemp(name.data()) == nullptr) {
    return absl::InternalError(
        absl::StrCat("no folder to unpack into could be made in ",
                     where.empty() ? "the system's temporary folder (TMPDIR)" : where.string()));
  }
  path_ = name;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ImportFile>> ExpandArchives(const std::vector<ImportFile>& files,
                                                       const std::string& parent,
                                                       ScratchFolder* scratch,
                                                       std::vector<std::string>* notices) {
  std::vector<ImportFile> expanded;
  ArchiveLimits left;  // Of all archives together.
  for (const ImportFile& file : files) {
    const absl::StatusOr<bool> is_archive = IsArchive(file.path);
    if (!is_archive.ok() || !*is_archive) {  // Who reads it tells what is wrong.
      expanded.push_back(file);
      continue;
    }
    if (scratch->path().empty()) RETURN_IF_ERROR(scratch->Make(parent));
    const std::string folder = absl::StrCat(scratch->path(), "/", expanded.size());
    RETURN_IF_ERROR(MakeFolder(folder));
    absl::StatusOr<ExtractedArchive> archive = ExtractArchive(file.path, folder, left);
    if (!archive.ok()) return Annotate(archive.status(), file.name);
    int64_t left_out = archive->ignored_count;
    const size_t before = expanded.size();
    for (ExtractedFile& member : archive->files) {
      --left.max_members;
      left.max_bytes -= member.bytes;
      left.free_bytes = std::max<int64_t>(0, left.free_bytes - member.bytes);
      if (IsTraceFileName(member.name)) {
        expanded.push_back({absl::StrCat(file.name, "/", member.name), std::move(member.path)});
      } else {
        ++left_out;
      }
    }
    if (expanded.size() == before) {
      return absl::InvalidArgumentError(absl::StrCat(
          file.name, ": none of the ", archive->files.size(),
          " files inside is a trace file by its name (*.json, *.et, plain or .gz, *.graph)"));
    }
    notices->push_back(absl::StrCat(
        file.name, ": an archive of ", archive->files.size(), " files",
        left_out == 0 ? "" : absl::StrCat("; ", left_out, " others, links and the like left out")));
  }
  return expanded;
}

}  // namespace chakrad
