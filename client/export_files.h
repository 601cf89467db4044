// Where exported files go: a folder, or standard output; and pictures of graphs.
#ifndef CHAKRAD_CLIENT_EXPORT_FILES_H_
#define CHAKRAD_CLIENT_EXPORT_FILES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/output_file.h"
#include "trace/writers/export.h"

namespace CLI {
class App;
}  // namespace CLI

namespace chakrad::client {

class Session;

// What the options of an export say.
struct ExportArgs {
  std::string format = "et";  // ExportFormatFromName's, "svg" or "pdf".
  std::string folder;         // "-": standard output; empty: the command's default.
  std::vector<int32_t> ranks;
  GraphOptions graph;
  int layout_seconds = kLayoutSeconds;
};

// --format, -o, --rank-only and those of graphs.
void AddExportOptions(CLI::App* command, const char* default_folder, ExportArgs* args);

struct ExportPlan {
  ExportFormat format = ExportFormat::kChakraEt;
  std::string picture;  // "svg", "pdf": made from a graph's file; empty: none.
};
// Usage errors. Of a picture the graph's node limit is that of graphviz.
absl::StatusOr<ExportPlan> PlanExport(ExportArgs* args);

// Takes the pieces of files one after the other. Not thread-safe.
class ExportFiles {
 public:
  // `folder` is made with the first piece. `standard_output` is used for "-".
  ExportFiles(std::string folder, std::ostream* standard_output)
      : folder_(std::move(folder)), standard_output_(standard_output) {}

  // A piece of `file`, a plain name. A usage error when a second file would go to
  // standard output.
  absl::Status Add(absl::string_view file, absl::string_view bytes);
  // After the last piece.
  absl::Status Finish();
  // Replaces each written graph by its picture. Errors leave the graph.
  absl::Status LayOut(const std::string& picture, int timeout_seconds);
  // A line a file, or JSON; to the error stream when the files went to standard output.
  void Print(const std::string& name, Session* session) const;

 private:
  struct Written {
    std::string path;
    int64_t bytes = 0;
  };
  absl::Status Begin(const std::string& file);

  const std::string folder_;
  std::ostream* const standard_output_;
  std::string file_;
  std::unique_ptr<OutputFile> output_;
  std::vector<Written> written_;
};

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_EXPORT_FILES_H_
