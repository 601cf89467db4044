// Pictures of .dot files by graphviz, which runs as a program of its own.
#ifndef CHAKRAD_TRACE_WRITERS_GRAPHVIZ_H_
#define CHAKRAD_TRACE_WRITERS_GRAPHVIZ_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/writers/limits.h"

namespace chakrad {

struct LayoutOptions {
  int timeout_seconds = kLayoutSeconds;
  // Looked for in PATH unless it has a slash.
  absl::string_view program = "dot";
};

// Has graphviz's dot lay out and draw the file, and waits for it. `format`: "svg"
// or "pdf". Errors leave no file at `out_path`: FAILED_PRECONDITION: graphviz is not
// installed (says what to install); RESOURCE_EXHAUSTED: it did not end in time and
// was killed (says what helps); INTERNAL: it failed (with its own first words);
// INVALID_ARGUMENT: another format. Thread-safe; the caller's SIGCHLD must not be
// ignored. Look that the graph has at most kMaxLayoutNodes before.
absl::Status LayOutDot(absl::string_view dot_path, absl::string_view format,
                       absl::string_view out_path, const LayoutOptions& options = {});

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_WRITERS_GRAPHVIZ_H_
