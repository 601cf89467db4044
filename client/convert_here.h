// chakra ingest --convert-here: converts on this machine, and pushes what came out.
#ifndef CHAKRAD_CLIENT_CONVERT_HERE_H_
#define CHAKRAD_CLIENT_CONVERT_HERE_H_

#include <string>

#include "absl/status/status.h"
#include "client/upload.h"

namespace chakrad::client {

class Session;

// Reads, links and checks the plan's files, encodes the trace, sends what the server
// lacks, and prints the stored trace. `kernel_names`: see ImportHere. An empty request id
// becomes one of the trace's content.
absl::Status IngestConvertedHere(const UploadPlan& plan, const std::string& kernel_names,
                                 Session* session);

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_CONVERT_HERE_H_
