#include "trace/readers/repair/record_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "trace/readers/json/json_check.h"
#include "trace/readers/limits.h"

namespace chakrad {
namespace {

// A string with quotes inside is a name: a line of it, and not a long one.
constexpr size_t kMaxMendedStringBytes = 16 << 10;
constexpr int kMaxStringEnds = 64;

constexpr absl::string_view kNodeKeys[] = {"id",
                                           "name",
                                           "ctrl_deps",
                                           "inputs",
                                           "outputs",
                                           "attrs",
                                           "parent",
                                           "rf_id",
                                           "fw_parent",
                                           "seq_id",
                                           "scope",
                                           "tid",
                                           "fw_tid",
                                           "op_schema",
                                           "input_shapes",
                                           "input_types",
                                           "output_shapes",
                                           "output_types",
                                           "input_strides",
                                           "output_strides",
                                           "data_deps",
                                           "inclusive_dur",
                                           "exclusive_dur",
                                           "ts",
                                           "dur",
                                           "sync_dep",
                                           "cat",
                                           "ph",
                                           "stream",
                                           "pg_name",
                                           "kernel_file",
                                           "kernel_backend",
                                           "inter_thread_dep",
                                           "control_deps"};
constexpr absl::string_view kEventKeys[] = {
    "ph", "cat", "name", "pid",  "tid", "ts",  "dur",   "args",   "id",    "id2",
    "bp", "s",   "tts",  "tdur", "sf",  "esf", "stack", "estack", "cname", "scope"};
constexpr absl::string_view kNodeDocumentKeys[] = {"schema", "pid", "time", "start_ts",
                                                   "finish_ts"};
constexpr absl::string_view kEventDocumentKeys[] = {"schemaVersion",
                                                    "deviceProperties",
                                                    "distributedInfo",
                                                    "displayTimeUnit",
                                                    "baseTimeNanoseconds",
                                                    "traceName",
                                                    "trace_id",
                                                    "traceIdentifier",
                                                    "record_shapes",
                                                    "with_stack",
                                                    "with_modules",
                                                    "with_flops",
                                                    "profile_memory",
                                                    "cupti_version",
                                                    "cuda_runtime_version",
                                                    "cuda_driver_version",
                                                    "hip_runtime_version",
                                                    "hip_driver_version",
                                                    "otherData",
                                                    "systemTraceEvents",
                                                    "stackFrames",
                                                    "samples",
                                                    "roctracer_version"};

template <size_t kSize>
bool Contains(const absl::string_view (&list)[kSize], absl::string_view key) {
  return std::find(std::begin(list), std::end(list), key) != std::end(list);
}

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

size_t SkipSpace(absl::string_view text, size_t at) {
  while (at < text.size() && IsSpace(text[at])) ++at;
  return at;
}

// Behind the string that starts at text[at]; text.size() if it has no end.
size_t EndOfString(absl::string_view text, size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.size();
}

// The keys of a valid object, as written; none of another value.
std::vector<absl::string_view> KeysOf(absl::string_view text) {
  std::vector<absl::string_view> keys;
  size_t at = SkipSpace(text, 0);
  if (at == text.size() || text[at] != '{') return keys;
  bool expects_key = true;
  for (int depth = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      const size_t end = EndOfString(text, at);
      if (depth == 1 && expects_key) keys.push_back(text.substr(at + 1, end - at - 2));
      if (depth == 1) expects_key = false;
      at = end;
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c == ',' && depth == 1) expects_key = true;
    ++at;
  }
  return keys;
}

bool IsKnownKey(absl::string_view key, RecordKind kind) {
  return kind == RecordKind::kNode ? Contains(kNodeKeys, key) : Contains(kEventKeys, key);
}

// Whether `text`, up to a quote that `rest` stands behind, ends with a key that
// recorders write: `..."pid` before `" : ...`.
bool EndsWithKey(absl::string_view text, size_t begin, absl::string_view rest, RecordKind kind) {
  const size_t colon = SkipSpace(rest, 0);
  if (colon >= rest.size() || rest[colon] != ':') return false;
  const size_t quote = text.rfind('"');
  return quote > begin && IsKnownKey(text.substr(quote + 1), kind);
}

// Another spelling of `word`, or "" when it is none that is known.
std::string Respell(absl::string_view word) {
  const std::string lower = absl::AsciiStrToLower(word);
  absl::string_view rest = lower;
  const bool minus = absl::StartsWith(rest, "-");
  if (minus || absl::StartsWith(rest, "+")) rest.remove_prefix(1);
  if (rest == "true" || rest == "false") return std::string(rest);
  if (rest == "none" || rest == "undefined" || rest == "null") return "null";
  if (rest == "inf" || rest == "1.#inf" || rest == "infinity") {
    return std::string(minus ? "-" : "") + (rest == "infinity" ? "Infinity" : "inf");
  }
  if (absl::StartsWith(rest, "nan") || rest == "1.#ind" || rest == "1.#qnan") return "nan";
  // "+1", "1.": numbers but for a sign or a dot that says nothing.
  std::string number(word);
  if (number[0] == '+') number.erase(0, 1);
  if (absl::EndsWith(number, ".")) number.pop_back();
  double value;
  const bool digits =
      !number.empty() && absl::ascii_isdigit(number[0] == '-' ? number[1] : number[0]);
  return digits && absl::SimpleAtod(number, &value) ? number : "";
}

}  // namespace

RecordKind RecordKindOf(absl::string_view list_key) {
  if (list_key == "nodes") return RecordKind::kNode;
  return list_key == "traceEvents" ? RecordKind::kEvent : RecordKind::kOther;
}

bool IsRecord(absl::string_view text, RecordKind kind) {
  if (kind == RecordKind::kOther) return false;
  const absl::string_view wanted = kind == RecordKind::kNode ? "id" : "ph";
  bool has_wanted = false, has_name = false;
  for (const absl::string_view key : KeysOf(text)) {
    has_wanted |= key == wanted;
    has_name |= key == "name";
  }
  return has_wanted && has_name;
}

bool HasOnlyKnownKeys(absl::string_view text, RecordKind kind) {
  const std::vector<absl::string_view> keys = KeysOf(text);
  return std::all_of(keys.begin(), keys.end(),
                     [kind](absl::string_view key) { return IsKnownKey(key, kind); });
}

bool IsDocumentKey(absl::string_view key, RecordKind kind) {
  return kind == RecordKind::kNode ? Contains(kNodeDocumentKeys, key)
                                   : Contains(kEventDocumentKeys, key);
}

size_t FindExtraComma(absl::string_view text, size_t fault_at) {
  if (fault_at >= text.size()) return absl::string_view::npos;
  size_t before = fault_at;
  while (before > 0 && IsSpace(text[before - 1])) --before;
  const char previous = before > 0 ? text[before - 1] : '\0';
  const char c = text[fault_at];
  if (c == ',' && (previous == ',' || previous == '[' || previous == '{')) return fault_at;
  return (c == '}' || c == ']') && previous == ',' ? before - 1 : absl::string_view::npos;
}

std::string MendWord(absl::string_view text, size_t at) {
  constexpr size_t kMaxWordBytes = 40;
  const size_t end = std::min(text.find_first_of(" \t\r\n,:]}[{\"", at), text.size());
  if (end <= at || end - at > kMaxWordBytes) return "";
  const absl::string_view word = text.substr(at, end - at);
  std::string mended = Respell(word);
  if (mended.empty() || mended.size() > word.size() || mended == word) return "";
  std::vector<NonFinite> numbers;
  if (CheckJson(mended, &numbers).found) return "";
  mended.resize(word.size(), ' ');
  return mended;
}

std::optional<MendedQuotes> MendQuotes(absl::string_view text, size_t fault_at, RecordKind kind,
                                       bool ended, int64_t* looks) {
  // The last string before the fault: the walk takes quotes as the check did.
  size_t begin = 0, first_end = 0;
  for (size_t at = 0; at < fault_at && at < text.size();) {
    if (text[at] != '"') {
      ++at;
      continue;
    }
    begin = at;
    first_end = at = EndOfString(text, at);
  }
  if (first_end == 0 || SkipSpace(text, first_end) != fault_at) return std::nullopt;
  const bool all_here = ended && text.size() <= kMaxMendedRecordBytes;
  text = text.substr(0, kMaxMendedRecordBytes);
  MendedQuotes mended;
  mended.string_at = begin;
  // Up to each quote in turn, those before it with a backslash.
  std::string front(text.substr(0, first_end - 1));
  size_t taken = first_end - 1;
  for (int ends = 0; ends < kMaxStringEnds; ++ends) {
    size_t next = taken + 1;
    while (next < text.size() && text[next] != '"') next += text[next] == '\\' ? 2 : 1;
    if (next >= text.size() || next - begin > kMaxMendedStringBytes) return std::nullopt;
    // A string does not hold the record's next key: then two strings are broken.
    if (EndsWithKey(front, begin, text.substr(taken + 1), kind)) return std::nullopt;
    front += "\\\"";
    front.append(text.data() + taken + 1, next - taken - 1);
    taken = next;
    // Behind a value's string nothing else can stand.
    const size_t follows = SkipSpace(text, next + 1);
    if (follows < text.size() &&
        absl::string_view(",}]").find(text[follows]) == absl::string_view::npos) {
      continue;
    }
    mended.record = front;
    mended.record.append(text.data() + taken, text.size() - taken);
    size_t size = 0;
    const JsonFault fault = CheckJsonPrefix(mended.record, kMaxJsonDepth, &size);
    *looks += static_cast<int64_t>(mended.record.size());
    if (fault.found) continue;
    const size_t behind = SkipSpace(mended.record, size);
    const bool fits =
        behind < mended.record.size()
            ? absl::string_view(",]{").find(mended.record[behind]) != absl::string_view::npos
            : all_here;
    if (!fits) continue;
    mended.record.resize(size);
    if (!IsRecord(mended.record, kind) || !HasOnlyKnownKeys(mended.record, kind)) continue;
    mended.original_bytes = size - (front.size() - taken);
    return mended;
  }
  return std::nullopt;
}

}  // namespace chakrad
