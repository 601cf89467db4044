// Conversion on this machine, without a daemon: the same code that the daemon
// runs at Seal.
#ifndef CHAKRAD_CLIENT_LOCAL_IMPORT_H_
#define CHAKRAD_CLIENT_LOCAL_IMPORT_H_

#include <string>

#include "absl/status/statusor.h"
#include "chakrad/v1/trace.pb.h"
#include "client/upload.h"
#include "trace/import/import.h"

namespace chakrad::client {

// Reads, links and checks the plan's files. `report_only`: see ImportOptions.
// Memory: the trace.
// `kernel_names`: a file (trace/link/kernel_names.h); empty: none.
absl::StatusOr<ImportResult> ImportHere(const UploadPlan& plan, const std::string& kernel_names,
                                        bool report_only);

// As the daemon would show it; without name, time and stored bytes, which only
// a stored trace has.
v1::Trace Describe(const ImportResult& result, const UploadPlan& plan);

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_LOCAL_IMPORT_H_
