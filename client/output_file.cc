#include "client/output_file.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"

namespace chakrad::client {
namespace {

namespace fs = std::filesystem;

std::string LastError() { return std::error_code(errno, std::generic_category()).message(); }

}  // namespace

absl::StatusOr<std::unique_ptr<OutputFile>> OutputFile::Open(const std::string& path,
                                                             std::ostream* standard_output) {
  auto output = absl::WrapUnique(new OutputFile);
  output->path_ = path;
  if (path == "-") {
    output->stream_ = standard_output;
    return output;
  }
  std::error_code ignored;
  const bool direct = fs::exists(path, ignored) && !fs::is_regular_file(path, ignored);
  const std::string written_path = direct ? path : path + ".partial";
  output->file_.open(written_path, std::ios::binary | std::ios::trunc);
  if (!output->file_) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": cannot be written: ", LastError()));
  }
  if (!direct) output->partial_path_ = written_path;
  output->stream_ = &output->file_;
  return output;
}

absl::Status OutputFile::Commit() {
  stream_->flush();
  if (file_.is_open()) file_.close();
  if (!*stream_) {
    return absl::InternalError(absl::StrCat(path_, ": could not be written: ", LastError()));
  }
  if (partial_path_.empty()) return absl::OkStatus();
  std::error_code error;
  fs::rename(partial_path_, path_, error);
  if (error) return absl::InternalError(absl::StrCat(path_, ": ", error.message()));
  partial_path_.clear();
  return absl::OkStatus();
}

OutputFile::~OutputFile() {
  if (partial_path_.empty()) return;
  file_.close();
  std::error_code ignored;
  fs::remove(partial_path_, ignored);
}

}  // namespace chakrad::client
