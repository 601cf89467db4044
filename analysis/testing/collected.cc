#include "analysis/testing/collected.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/import/import.h"

namespace chakrad {

absl::StatusOr<Trace> CollectedTrace(absl::string_view name) {
  std::vector<ImportFile> files;
  const std::string folder = absl::StrCat("tests/data/collected/", name);
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.push_back({entry.path().filename().string(), entry.path().string()});
  }
  ASSIGN_OR_RETURN(ImportResult result, ImportTrace(files, ImportOptions()));
  return std::move(result.trace);
}

}  // namespace chakrad
