#include "trace/import/read_kernel_names.h"

#include "common/status.h"
#include "trace/import/read_file.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/limits.h"

namespace chakrad {
namespace {

absl::StatusOr<KernelNames> Read(const std::string& path) {
  ASSIGN_OR_RETURN(const auto source, OpenFileSource(path));
  ASSIGN_OR_RETURN(const std::string json, ReadSmallFile(source.get(), kMaxManifestBytes));
  return ParseKernelNames(json);
}

}  // namespace

absl::StatusOr<KernelNames> ReadKernelNames(const std::string& path) {
  absl::StatusOr<KernelNames> names = Read(path);
  if (!names.ok()) return Annotate(names.status(), path);
  return names;
}

}  // namespace chakrad
