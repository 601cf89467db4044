// From what a person names on the command line to the files of one upload.
#ifndef CHAKRAD_CLIENT_INPUT_FILES_H_
#define CHAKRAD_CLIENT_INPUT_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/upload.h"

namespace chakrad::client {

struct InputFiles {
  std::vector<UploadFile> files;      // By name on the server.
  std::vector<std::string> left_out;  // In named folders, but not trace files by their name.
};

// A path is a file, taken whatever its name, or a folder, of which the trace
// files and archives (trace/import/trace_file_name.h) are taken and those of its direct subfolders;
// hidden ones are not. On the server a file keeps its name from the named folder on ("rank0.et",
// "node3/rank7.et"), so that the same files are the same upload wherever they
// lie. `manifest`, when not empty, joins as "manifest.json" and stands in for
// one that lies there. INVALID_ARGUMENT: a path does not exist, holds no trace
// file, or two files would have one name.
absl::StatusOr<InputFiles> CollectInputFiles(const std::vector<std::string>& paths,
                                             const std::string& manifest);

// Fills in the SHA-256 of the plan's files that lack it; reads each once.
// INVALID_ARGUMENT: a file cannot be read, or is not as long as it was.
absl::Status HashFiles(UploadPlan* plan);

// "sha256-" and 64 hexadecimal digits over the plan's names, contents, labels,
// ranks and world size; `plan->request_id` is not looked at. HashFiles first.
// The same upload has the same id, so pushing it twice makes one trace.
absl::StatusOr<std::string> ContentRequestId(UploadPlan* plan);

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_INPUT_FILES_H_
