// The file with a user's names of communication kernels.
#ifndef CHAKRAD_TRACE_IMPORT_READ_KERNEL_NAMES_H_
#define CHAKRAD_TRACE_IMPORT_READ_KERNEL_NAMES_H_

#include <string>

#include "absl/status/statusor.h"
#include "trace/link/kernel_names.h"

namespace chakrad {

// Errors name the file: as the OS says, larger than kMaxManifestBytes, or as
// ParseKernelNames.
absl::StatusOr<KernelNames> ReadKernelNames(const std::string& path);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_IMPORT_READ_KERNEL_NAMES_H_
