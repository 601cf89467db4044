#include "trace/readers/detect.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "chakra/et_def.pb.h"
#include "common/status.h"
#include "trace/readers/astra_text/workload_file.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/chakra_json/json_front.h"
#include "trace/readers/chakra_json/json_keys.h"
#include "trace/readers/json/json_reader.h"
#include "trace/readers/limits.h"
#include "trace/readers/manifest/manifest.h"
#include "trace/readers/replayed_source.h"

namespace chakrad {
namespace {

// JSON and other text hold none of these; a protobuf message soon does.
bool HasControlBytes(absl::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<uint8_t>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r';
  });
}

// Whether `front` starts with a length and a message of a Chakra file, which
// may go on behind `front`.
bool LooksLikeChakra(absl::string_view front, bool is_whole_file) {
  uint64_t size = 0;
  size_t i = 0;
  for (int shift = 0; i < front.size() && i < 5; shift += 7) {
    const uint8_t byte = static_cast<uint8_t>(front[i++]);
    size |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) break;
  }
  if (i == 0 || size > static_cast<uint64_t>(kMaxChakraMessageBytes)) return false;
  const absl::string_view message = front.substr(i, size);
  if (message.size() < size) {
    // Too large to see whole: its first field must be one of GlobalMetadata or Node.
    return !is_whole_file && !message.empty() &&
           (message[0] == 0x0a || message[0] == 0x12 || message[0] == 0x08);
  }
  ChakraProtoMsg::GlobalMetadata metadata;
  ChakraProtoMsg::Node node;
  const int bytes = static_cast<int>(message.size());
  return metadata.ParseFromArray(message.data(), bytes) ||
         node.ParseFromArray(message.data(), bytes);
}

absl::StatusOr<FileKind> KindOfList(JsonReader* reader) {
  ASSIGN_OR_RETURN(const JsonWindow* window, reader->NextWindow());
  if (window == nullptr) {
    return absl::InvalidArgumentError("byte offset 0: an empty list, not a trace");
  }
  const absl::string_view text(window->text, window->size);
  // Of an event every recorder writes the phase.
  if (absl::StrContains(text, "\"ph\"")) return FileKind::kKineto;
  return absl::InvalidArgumentError(
      "byte offset 0: a JSON list, but not of profiler events (no \"ph\")");
}

absl::StatusOr<FileKind> KindOfObject(JsonReader* reader) {
  std::vector<std::string> keys;
  bool manifest = false, only_group_numbers = true;
  std::string key;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, reader->NextKey(&key));
    if (!more) break;
    if (key == "nodes") return FileKind::kPyTorchEt;
    if (key == "traceEvents") return FileKind::kKineto;
    if (key == kJsonMetadataKey || key == kJsonNodesKey || key == kWorkloadGraphKey) {
      return FileKind::kChakraJson;
    }
    only_group_numbers &= IsGroupNumber(key);
    manifest |= key == "world_size" || key == "world" || key == "process_groups";
    if (keys.size() < 10) keys.push_back(key.substr(0, 40));
    RETURN_IF_ERROR(reader->SkipValue());
  }
  if (manifest || (only_group_numbers && !keys.empty())) return FileKind::kManifest;
  return absl::InvalidArgumentError(absl::StrCat(
      "JSON, but neither a trace (no nodes, no traceEvents) nor a manifest (no world_size, no "
      "process_groups); its keys: ",
      keys.empty() ? "none" : absl::StrJoin(keys, ", ")));
}

// The first word behind white space and dot's comments: letters, digits and '_'.
absl::string_view FirstWord(absl::string_view text) {
  absl::ConsumePrefix(&text, "\xef\xbb\xbf");
  while (true) {
    text = absl::StripLeadingAsciiWhitespace(text);
    absl::string_view end;
    if (absl::StartsWith(text, "//") || absl::StartsWith(text, "#")) {
      end = "\n";
    } else if (absl::StartsWith(text, "/*")) {
      end = "*/";
    } else {
      break;
    }
    const size_t at = text.find(end);
    if (at == absl::string_view::npos) return "";
    text.remove_prefix(at + end.size());
  }
  size_t size = 0;
  while (size < text.size() &&
         (absl::ascii_isalnum(static_cast<unsigned char>(text[size])) || text[size] == '_')) {
    ++size;
  }
  return text.substr(0, size);
}

// Kinds of plain text, told by their first word; nullopt: JSON, or none at all.
absl::StatusOr<std::optional<FileKind>> KindOfText(absl::string_view front) {
  const absl::string_view word = FirstWord(front);
  if (FindParallelism(word).has_value()) return FileKind::kAstraText;
  if (absl::EqualsIgnoreCase(word, "digraph") || absl::EqualsIgnoreCase(word, "strict")) {
    return FileKind::kFlexFlow;
  }
  if (absl::EqualsIgnoreCase(word, "graph")) {
    return absl::InvalidArgumentError(
        "byte offset 0: an undirected graphviz graph; FlexFlow's task graphs are digraphs");
  }
  return std::nullopt;
}

// Adds the number at `digits`, if one is there.
void AddNumber(absl::string_view digits, std::vector<int32_t>* found) {
  size_t size = 0;
  while (size < digits.size() && absl::ascii_isdigit(static_cast<unsigned char>(digits[size]))) {
    ++size;
  }
  int32_t number;
  if (size > 0 && absl::SimpleAtoi(digits.substr(0, size), &number)) found->push_back(number);
}

}  // namespace

absl::string_view FileKindName(FileKind kind) {
  switch (kind) {
    case FileKind::kPyTorchEt:
      return "PyTorch execution trace";
    case FileKind::kKineto:
      return "Kineto trace";
    case FileKind::kChakraEt:
      return "Chakra execution trace";
    case FileKind::kManifest:
      return "manifest";
    case FileKind::kChakraJson:
      return "Chakra execution trace in JSON";
    case FileKind::kFlexFlow:
      return "FlexFlow task graph";
    case FileKind::kAstraText:
      return "ASTRA-sim text workload";
  }
  return "unknown";
}

absl::StatusOr<FileKind> DetectFileKind(ByteSource* source) {
  constexpr size_t kFrontBytes = 64 << 10;
  ASSIGN_OR_RETURN(std::string front, ReadFront(source, kFrontBytes));
  const size_t size = front.size();
  const bool ended = size < kFrontBytes;
  const absl::string_view begin = absl::string_view(front).substr(0, 4096);
  if (HasControlBytes(begin) ||
      (size > 0 && begin[0] < 0 && !absl::StartsWith(begin, "\xef\xbb"))) {
    if (LooksLikeChakra(front, ended)) return FileKind::kChakraEt;
    return absl::InvalidArgumentError("byte offset 0: binary data of an unknown kind");
  }
  if (IsConcatenatedMessages(front)) return FileKind::kChakraJson;
  ASSIGN_OR_RETURN(const std::optional<FileKind> text, KindOfText(front));
  if (text.has_value()) return *text;
  ReplayedSource replayed(std::move(front), source);
  JsonReader reader(&replayed);
  const absl::StatusOr<JsonReader::Top> top = reader.Open();
  if (!top.ok()) return top.status();
  if (*top == JsonReader::Top::kArray) return KindOfList(&reader);
  return KindOfObject(&reader);
}

std::optional<int32_t> RankFromFileName(absl::string_view file_name) {
  const size_t slash = file_name.rfind('/');
  if (slash != absl::string_view::npos) file_name.remove_prefix(slash + 1);
  const std::string name = absl::AsciiStrToLower(file_name);
  std::vector<int32_t> found;
  for (absl::string_view word : {"rank", "worker", "npu", "chakra"}) {
    for (size_t at = name.find(word.data()); at != std::string::npos;
         at = name.find(word.data(), at + 1)) {
      if (at > 0 && absl::ascii_isalpha(static_cast<unsigned char>(name[at - 1]))) continue;
      absl::string_view rest = absl::string_view(name).substr(at + word.size());
      if (!rest.empty() && (rest[0] == '_' || rest[0] == '-' || rest[0] == '.' || rest[0] == '=')) {
        rest.remove_prefix(1);
      }
      AddNumber(rest, &found);
    }
  }
  // "foo.3.et"
  const size_t suffix = name.rfind(".et");
  if (suffix != std::string::npos && suffix > 0) {
    const size_t dot = name.rfind('.', suffix - 1);
    const absl::string_view digits =
        dot == std::string::npos ? absl::string_view()
                                 : absl::string_view(name).substr(dot + 1, suffix - dot - 1);
    if (std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit)) AddNumber(digits, &found);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  if (found.size() != 1) return std::nullopt;
  return found[0];
}

}  // namespace chakrad
