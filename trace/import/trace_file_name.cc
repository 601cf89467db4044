#include "trace/import/trace_file_name.h"

#include "absl/strings/match.h"

namespace chakrad {

bool IsTraceFileName(absl::string_view name) {
  for (const char* suffix : {".json", ".json.gz", ".et", ".et.gz", ".graph"}) {
    if (absl::EndsWith(name, suffix)) return true;
  }
  return false;
}

bool IsArchiveFileName(absl::string_view name) {
  for (const char* suffix : {".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.xz", ".zip"}) {
    if (absl::EndsWith(name, suffix)) return true;
  }
  return false;
}

}  // namespace chakrad
