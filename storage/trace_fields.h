// The fields of a stored trace by which lists are filtered and ordered, and
// policies choose. docs/search.md lists them for users.
#ifndef CHAKRAD_STORAGE_TRACE_FIELDS_H_
#define CHAKRAD_STORAGE_TRACE_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "storage/trace_card.h"

namespace chakrad {

enum class TraceFieldKind : uint8_t {
  kText = 0,      // Text().
  kTime = 1,      // Integer(): nanoseconds since 1970.
  kDuration = 2,  // Integer(): nanoseconds.
  kCount = 3,     // Integer().
  kSize = 4,      // Integer(): bytes.
  kBool = 5,      // Integer(): 0 or 1.
  kReal = 6,      // Real().
};

struct TraceFieldInfo;  // A row of the table in trace_fields.cc.

// A small value. Reading is thread-safe.
class TraceField {
 public:
  // "id" ("name" is the same field), "create_time", ...; none: no such field. Labels are
  // not found by it.
  static std::optional<TraceField> Find(absl::string_view name);
  static TraceField Label(absl::string_view key);
  // "id, labels.KEY, create_time, ...": for messages.
  static std::string AllNames();

  TraceFieldKind kind() const;
  bool is_label() const { return info_ == nullptr; }
  // As a filter says it: labels."any key" where the key is no plain word.
  std::string Name() const;

  // Of kText: null where the trace has no such label.
  const std::string* Text(const TraceCard& card) const;
  // Of the kinds with an integer; none: the trace does not tell.
  std::optional<int64_t> Integer(const TraceCard& card) const;
  std::optional<double> Real(const TraceCard& card) const;

  friend bool operator==(const TraceField&, const TraceField&) = default;

 private:
  TraceField(const TraceFieldInfo* info, absl::string_view label) : info_(info), label_(label) {}

  const TraceFieldInfo* info_;  // Null: a label.
  std::string label_;
};

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_TRACE_FIELDS_H_
