// A file that is there whole or not at all; "-" is standard output.
#ifndef CHAKRAD_CLIENT_OUTPUT_FILE_H_
#define CHAKRAD_CLIENT_OUTPUT_FILE_H_

#include <fstream>
#include <memory>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"

namespace chakrad::client {

// Writes to "PATH.partial" and renames at Commit; what was not committed is
// removed. A path that exists and is no regular file (/dev/null, a pipe) is
// written to directly. Not thread-safe.
class OutputFile {
 public:
  // `standard_output` must outlive this; it is used when `path` is "-".
  static absl::StatusOr<std::unique_ptr<OutputFile>> Open(const std::string& path,
                                                          std::ostream* standard_output);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  std::ostream& stream() { return *stream_; }
  // INTERNAL with the path when anything could not be written.
  absl::Status Commit();

 private:
  OutputFile() = default;

  std::string path_;
  std::string partial_path_;  // Empty: no rename.
  std::ofstream file_;
  std::ostream* stream_ = nullptr;
};

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_OUTPUT_FILE_H_
