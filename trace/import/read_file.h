// One file of an upload, of whatever kind, as its reader gives it.
#ifndef CHAKRAD_TRACE_IMPORT_READ_FILE_H_
#define CHAKRAD_TRACE_IMPORT_READ_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/model/ledger.h"
#include "trace/model/rank_trace.h"
#include "trace/readers/detect.h"
#include "trace/readers/kineto/kineto.h"
#include "trace/readers/pytorch_et/pytorch_et.h"

namespace chakrad {

class ByteSource;  // trace/readers/byte_source.h
struct ImportSettings;

// Exactly one of the first three is filled.
struct ParsedFile {
  std::unique_ptr<PyTorchEt> et;        // A half: waits for its profile.
  std::unique_ptr<KinetoTrace> kineto;  // The other half.
  std::vector<RankTrace> ranks;         // Ranks that need no linking.
  int32_t rank = kNoRank;               // Of a half, or of the only rank: what the content tells.
  int32_t world_size = 0;               // What the content tells; 0: nothing.
};

// `kind` is not kManifest. Errors are the reader's, without the file's name.
absl::StatusOr<ParsedFile> ReadTraceFile(FileKind kind, const ImportSettings& settings,
                                         ByteSource* source, Ledger* ledger);

// All bytes of a small file. INVALID_ARGUMENT when it has more than `limit_bytes`.
absl::StatusOr<std::string> ReadSmallFile(ByteSource* source, int64_t limit_bytes);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_IMPORT_READ_FILE_H_
