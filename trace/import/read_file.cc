#include "trace/import/read_file.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status.h"
#include "trace/import/control_cycles.h"
#include "trace/import/import_settings.h"
#include "trace/readers/astra_text/astra_text.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/chakra_et/chakra_et.h"
#include "trace/readers/chakra_json/chakra_json.h"
#include "trace/readers/flexflow/flexflow.h"
#include "trace/readers/read_options.h"

namespace chakrad {
namespace {

ParsedFile ManyRanks(std::vector<RankTrace> ranks) {
  ParsedFile file;
  if (ranks.size() == 1) file.rank = ranks[0].rank;
  file.ranks = std::move(ranks);
  return file;
}

// Chakra files have no world size. Only chakrad's list the members of groups, and
// the first group there is the world. 0: not told.
int32_t WorldSizeOf(const RankTrace& rank) {
  if (rank.groups.empty()) return 0;
  const std::vector<int32_t>& world = rank.groups[0].ranks;
  for (size_t i = 0; i < world.size(); ++i) {
    if (world[i] != static_cast<int32_t>(i)) return 0;
  }
  return static_cast<int32_t>(world.size());
}

absl::StatusOr<ParsedFile> ChakraRank(absl::StatusOr<RankTrace> rank, Ledger* ledger) {
  RETURN_IF_ERROR(rank.status());
  DropCyclicControlEdges(&*rank, ledger);
  const int32_t world_size = WorldSizeOf(*rank);
  std::vector<RankTrace> ranks;
  ranks.push_back(*std::move(rank));
  ParsedFile file = ManyRanks(std::move(ranks));
  file.world_size = world_size;
  return file;
}

absl::StatusOr<ParsedFile> HostHalf(absl::StatusOr<PyTorchEt> et) {
  RETURN_IF_ERROR(et.status());
  ParsedFile file;
  file.rank = et->rank;
  file.world_size = et->world_size;
  file.et = std::make_unique<PyTorchEt>(*std::move(et));
  return file;
}

absl::StatusOr<ParsedFile> DeviceHalf(absl::StatusOr<KinetoTrace> kineto) {
  RETURN_IF_ERROR(kineto.status());
  ParsedFile file;
  file.rank = kineto->rank;
  file.world_size = kineto->world_size;
  file.kineto = std::make_unique<KinetoTrace>(*std::move(kineto));
  return file;
}

}  // namespace

absl::StatusOr<ParsedFile> ReadTraceFile(FileKind kind, const ImportSettings& settings,
                                         ByteSource* source, Ledger* ledger) {
  const ReadOptions options = {.lenient = settings.lenient, .not_numbers = settings.repair};
  switch (kind) {
    case FileKind::kPyTorchEt:
      return HostHalf(ReadPyTorchEt(source, options, ledger));
    case FileKind::kKineto:
      return DeviceHalf(ReadKineto(source, ledger));
    case FileKind::kChakraEt:
      return ChakraRank(ReadChakraEt(source, options, ledger), ledger);
    case FileKind::kChakraJson:
      return ChakraRank(ReadChakraJson(source, options, ledger), ledger);
    case FileKind::kFlexFlow: {
      ASSIGN_OR_RETURN(std::vector<RankTrace> ranks, ReadFlexFlow(source, options, ledger));
      return ManyRanks(std::move(ranks));
    }
    case FileKind::kAstraText: {
      const AstraTextOptions text = {.npus_count = settings.world_size,
                                     .passes_count = settings.passes_count};
      ASSIGN_OR_RETURN(std::vector<RankTrace> ranks, ReadAstraText(source, text, options, ledger));
      return ManyRanks(std::move(ranks));
    }
    case FileKind::kManifest:
      break;
  }
  CHECK(false) << "a manifest is no trace file";
  return ParsedFile();
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
