// The options of every command that takes trace files: which files, and how they
// are to be read.
#ifndef CHAKRAD_CLIENT_INPUT_OPTIONS_H_
#define CHAKRAD_CLIENT_INPUT_OPTIONS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/upload.h"
#include "trace/import/import_settings.h"

namespace CLI {
class App;
}  // namespace CLI

namespace chakrad::client {

class Session;

struct InputArgs {
  std::vector<std::string> paths;
  std::vector<std::string> ranks;  // FILE=N
  std::string manifest;
  ImportSettings settings;   // Without rank_by_file, which `ranks` becomes.
  std::string kernel_names;  // A file; for conversions on this machine.
};

// `paths_help` describes PATH.
void AddInputOptions(CLI::App* command, const char* paths_help, InputArgs* args);

// Files and settings of an upload; labels and request id are left empty. Says on
// the error stream which files of a folder are left out. Usage errors.
absl::StatusOr<UploadPlan> PlanInput(const InputArgs& args, Session* session);

// "k=v" at its first '='. A usage error names `option`.
absl::StatusOr<std::pair<std::string, std::string>> SplitPair(const char* option,
                                                              const std::string& text);

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_INPUT_OPTIONS_H_
