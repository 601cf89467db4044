// Archives among the files of an upload become the files inside them.
#ifndef CHAKRAD_TRACE_IMPORT_EXPAND_H_
#define CHAKRAD_TRACE_IMPORT_EXPAND_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trace/import/import_file.h"

namespace chakrad {

// A folder of its own, gone with everything in it when this is.
class ScratchFolder {
 public:
  ScratchFolder() = default;
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  // Makes it, in `parent` or, when that is empty, where the system keeps
  // temporary files; removes those that killed processes left there. Once.
  absl::Status Make(const std::string& parent);
  const std::string& path() const { return path_; }  // Empty before Make.

 private:
  std::string path_;
};

// `files`, with each archive (trace/readers/archive/archive.h) replaced by its
// members, named "run.tar/rank0.json" and unpacked into `scratch`, which is made
// in `parent` only when there is an archive. Members that are no trace files by their
// name are left out, as of a folder; a notice tells how many. An archive inside an
// archive is not unpacked. The bounds of ArchiveLimits hold for all archives
// together. Errors name the archive.
absl::StatusOr<std::vector<ImportFile>> ExpandArchives(const std::vector<ImportFile>& files,
                                                       const std::string& parent,
                                                       ScratchFolder* scratch,
                                                       std::vector<std::string>* notices);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_IMPORT_EXPAND_H_
