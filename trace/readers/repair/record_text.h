// What a repair knows of the records that recorders write.
#ifndef CHAKRAD_TRACE_READERS_REPAIR_RECORD_TEXT_H_
#define CHAKRAD_TRACE_READERS_REPAIR_RECORD_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace chakrad {

enum class RecordKind : uint8_t {
  kNode,   // Of an execution trace's "nodes".
  kEvent,  // Of Kineto's "traceEvents" or a bare list.
  kOther,  // Of any other list: nothing is known of them.
};

RecordKind RecordKindOf(absl::string_view list_key);

// Whether `text`, a valid JSON value, is an object with the keys that every record
// of the kind has. Never of kOther.
bool IsRecord(absl::string_view text, RecordKind kind);
// Whether all its keys are ones that recorders write.
bool HasOnlyKnownKeys(absl::string_view text, RecordKind kind);
// Whether `key` is one that recorders write beside the list.
bool IsDocumentKey(absl::string_view key, RecordKind kind);

// Where the comma is that makes `text` no JSON at `fault_at`: doubled, or before or
// behind a bracket. npos when that is not the fault.
size_t FindExtraComma(absl::string_view text, size_t fault_at);

// Another spelling, of the same length with blanks for what is left over, of the
// number or word at text[at]: "+Infinity", "INF", "1.#IND", "1.", "True", "None".
// "" when it is none.
std::string MendWord(absl::string_view text, size_t at);

// A record with quotes inside a string.
struct MendedQuotes {
  std::string record;         // With a backslash before each of them.
  size_t original_bytes = 0;  // That it stands for.
  size_t string_at = 0;       // Where the string starts.
};
// `text` starts with a record that stops being JSON at `fault_at`, right behind a
// string. nullopt when that string has no other end that makes a record of it.
// `ended`: nothing comes behind `text`. Adds to `*looks` the bytes it looked at.
// Looks at kMaxMendedRecordBytes at most.
inline constexpr size_t kMaxMendedRecordBytes = 64 << 10;
std::optional<MendedQuotes> MendQuotes(absl::string_view text, size_t fault_at, RecordKind kind,
                                       bool ended, int64_t* looks);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_REPAIR_RECORD_TEXT_H_
