// Which files of a folder or an archive are taken.
#ifndef CHAKRAD_TRACE_IMPORT_TRACE_FILE_NAME_H_
#define CHAKRAD_TRACE_IMPORT_TRACE_FILE_NAME_H_

#include "absl/strings/string_view.h"

namespace chakrad {

// *.json, *.et, plain or .gz, and *.graph. A text workload (*.txt) is taken when it
// is named itself: folders hold other texts.
bool IsTraceFileName(absl::string_view name);
// *.tar, *.tar.gz, *.tgz, *.tar.zst, *.tar.xz, *.zip.
bool IsArchiveFileName(absl::string_view name);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_IMPORT_TRACE_FILE_NAME_H_
