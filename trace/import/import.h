// Files of one upload in, one checked Trace out: the whole conversion.
#ifndef CHAKRAD_TRACE_IMPORT_IMPORT_H_
#define CHAKRAD_TRACE_IMPORT_IMPORT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trace/check/report.h"
#include "trace/import/import_file.h"
#include "trace/import/import_settings.h"
#include "trace/model/ledger.h"
#include "trace/model/trace.h"

namespace chakrad {

class KernelNames;  // trace/link/kernel_names.h

struct ImportOptions {
  ImportSettings settings;
  // For a report rather than a trace: reads on where a file, a rank or a
  // dependency cycle would end the import, with a flaw "unreadable_file" in the
  // ledger. The trace may then lack ranks, have cycles, or have no ranks at all.
  bool report_only = false;
  // What a user adds to the table of communication kernels; null: nothing.
  std::shared_ptr<const KernelNames> kernel_names;
  // Where archives are unpacked, and removed again; must be there. Empty: where
  // the system keeps temporary files.
  std::string scratch_folder;
};

struct ImportResult {
  Trace trace;
  // One a file, in the given order; of an archive one for each file inside.
  std::vector<Ledger> ledgers;
  std::vector<std::string> notices;  // Assumptions and inferences about the whole trace.
  CheckReport report;                // What the conformance suite says of it.
};

// Unpacks archives, detects each file's kind, reads it, decides its rank (what
// rank_by_file says, else its content, else the manifest, else its name; where two
// differ a notice tells), pairs execution traces with Kineto files, links each rank, makes process
// groups global, checks that no rank has a dependency cycle. INVALID_ARGUMENT names the file, the
// byte offset where there is one, and the reason; among the reasons: no files, two files of one
// kind for one rank, several files without ranks, a rank at or above the world
// size. One rank's files alone without any rank: rank 0, with a notice; a
// world size that nothing states is the least that holds all ranks and group
// members, with a notice.
// Memory: the trace plus one file being read. Not cancellable; linear time.
absl::StatusOr<ImportResult> ImportTrace(const std::vector<ImportFile>& files,
                                         const ImportOptions& options);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_IMPORT_IMPORT_H_
