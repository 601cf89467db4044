// Which kind of file this is, from its content alone.
#ifndef CHAKRAD_TRACE_READERS_DETECT_H_
#define CHAKRAD_TRACE_READERS_DETECT_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakrad {

class ByteSource;

enum class FileKind : uint8_t {
  kPyTorchEt = 0,
  kKineto = 1,
  kChakraEt = 2,
  kManifest = 3,
  kChakraJson = 4,
  kFlexFlow = 5,   // A graphviz digraph.
  kAstraText = 6,  // ASTRA-sim 1's text workload.
};

absl::string_view FileKindName(FileKind kind);

// Reads from the front of `source` no more than it needs. INVALID_ARGUMENT
// says what the file is instead: empty, only white space, HTML, JSON of
// another kind (naming its keys), damaged gzip, binary.
absl::StatusOr<FileKind> DetectFileKind(ByteSource* source);

// The rank in a file's name ("rank3.et.json.gz", "worker3_step_12...",
// "chakra.3.et", "foo.3.et"); nullopt when it has none or several differ.
std::optional<int32_t> RankFromFileName(absl::string_view file_name);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_DETECT_H_
