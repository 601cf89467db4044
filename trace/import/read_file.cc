#include "trace/import/read_file.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/chakra_et/chakra_et.h"
#include "trace/readers/read_options.h"

namespace chakrad {
namespace {

ParsedFile OneRank(RankTrace rank) {
  ParsedFile file;
  file.rank = rank.rank;
  file.ranks.push_back(std::move(rank));
  return file;
}

}  // namespace

absl::StatusOr<ParsedFile> ReadTraceFile(FileKind kind, const ReadOptions& /*options*/,
                                         ByteSource* source, Ledger* ledger) {
  ParsedFile file;
  switch (kind) {
    case FileKind::kPyTorchEt: {
      ASSIGN_OR_RETURN(PyTorchEt et, ReadPyTorchEt(source, ledger));
      file.rank = et.rank;
      file.world_size = et.world_size;
      file.et = std::make_unique<PyTorchEt>(std::move(et));
      return file;
    }
    case FileKind::kKineto: {
      ASSIGN_OR_RETURN(KinetoTrace kineto, ReadKineto(source, ledger));
      file.rank = kineto.rank;
      file.world_size = kineto.world_size;
      file.kineto = std::make_unique<KinetoTrace>(std::move(kineto));
      return file;
    }
    case FileKind::kChakraEt: {
      ASSIGN_OR_RETURN(RankTrace rank, ReadChakraEt(source, ledger));
      return OneRank(std::move(rank));
    }
    case FileKind::kManifest:
      break;
  }
  CHECK(false) << "a manifest is no trace file";
  return file;
}

absl::StatusOr<std::string> ReadSmallFile(ByteSource* source, int64_t limit_bytes) {
  std::string bytes;
  char buffer[1 << 16];
  while (true) {
    ASSIGN_OR_RETURN(const size_t count, source->Read(buffer, sizeof(buffer)));
    if (count == 0) return bytes;
    bytes.append(buffer, count);
    if (static_cast<int64_t>(bytes.size()) > limit_bytes) {
      return absl::InvalidArgumentError(absl::StrCat("larger than ", limit_bytes, " bytes"));
    }
  }
}

}  // namespace chakrad
