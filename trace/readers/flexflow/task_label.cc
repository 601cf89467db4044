#include "trace/readers/flexflow/task_label.h"

#include <iterator>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/status.h"
#include "common/utf8.h"
#include "trace/readers/json/decimal.h"
#include "trace/readers/limits.h"

namespace chakrad {
namespace {

struct Field {
  int depth = 0;  // Braces around it.
  std::string text;
};

constexpr size_t kMaxFields = 8;  // As many as the longest form has.
constexpr int kMaxDepth = 2;      // The same.

absl::Status Bad(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("label: ", what));
}
std::string Quote(absl::string_view text) { return absl::StrCat("\"", ValidUtf8(text, 80), "\""); }

// The fields of a record label, in order.
absl::StatusOr<std::vector<Field>> SplitRecord(absl::string_view label) {
  std::vector<Field> fields;
  Field field;
  int depth = 0;
  bool closed = false;  // A group of fields ended, and no '|' followed yet.
  const auto end_field = [&] {
    field.depth = depth;
    field.text = std::string(absl::StripAsciiWhitespace(field.text));
    fields.push_back(std::move(field));
    field = Field();
  };
  for (size_t i = 0; i < label.size(); ++i) {
    const char c = label[i];
    const bool blank = absl::StripAsciiWhitespace(field.text).empty();
    if (c == '\\' && i + 1 < label.size()) {
      field.text.push_back(label[++i]);
    } else if (c == '{') {
      if (!blank || closed) return Bad("a \"{\" inside a field");
      if (++depth > kMaxDepth) return Bad("more than two braces inside each other");
    } else if (c == '}' || c == '|') {
      if (depth == 0) return Bad(absl::StrCat("\"", std::string(1, c), "\" outside of braces"));
      if (!closed) end_field();
      closed = c == '}';
      if (closed) --depth;
      if (fields.size() > kMaxFields) return Bad("more than eight fields");
    } else {
      if (closed && !absl::ascii_isspace(static_cast<unsigned char>(c))) {
        return Bad("text behind a \"}\"");
      }
      field.text.push_back(c);
    }
  }
  if (depth != 0 || !closed) return Bad("it is not {field|field|...}");
  return fields;
}

absl::StatusOr<int64_t> ReadNumber(absl::string_view key, absl::string_view text, int64_t max) {
  __int128 value;
  bool exact;
  if (!ParseDecimal(text, 0, &value, &exact) || !exact || value < 0 || value > max) {
    return Bad(absl::StrCat(key, ": ", Quote(text), " is no whole number in [0, ", max, "]"));
  }
  return static_cast<int64_t>(value);
}

// The text behind "key=".
absl::StatusOr<absl::string_view> ValueOf(absl::string_view key, const Field& field) {
  absl::string_view text = field.text;
  if (field.depth != 1 || !absl::ConsumePrefix(&text, key) || !absl::ConsumePrefix(&text, "=")) {
    return Bad(absl::StrCat(Quote(field.text), " stands where ", key, "=... belongs"));
  }
  return text;
}

absl::StatusOr<int64_t> ReadField(absl::string_view key, const Field& field, int64_t max) {
  ASSIGN_OR_RETURN(const absl::string_view text, ValueOf(key, field));
  return ReadNumber(key, text, max);
}

absl::StatusOr<int64_t> MsToNs(absl::string_view key, absl::string_view text) {
  constexpr int kDigits = 18, kMsToNsDigits = 6;
  __int128 unit = 1;  // A nanosecond.
  for (int i = kMsToNsDigits; i < kDigits; ++i) unit *= 10;
  __int128 value;
  if (!ParseDecimal(text, kDigits, &value, nullptr) || value < 0 ||
      value > kMaxRecordingNs * unit) {
    return Bad(absl::StrCat(key, ": ", Quote(text), " is no time in [0, ",
                            kMaxRecordingNs / 1'000'000, "] ms"));
  }
  __int128 ns = value / unit;
  const __int128 twice = value % unit * 2;
  if (twice > unit || (twice == unit && ns % 2 == 1)) ++ns;
  return static_cast<int64_t>(ns);
}

absl::StatusOr<FlexFlowTask> ReadStock(const std::vector<Field>& fields) {
  // The last two lie in braces of their own, the others do not.
  const size_t size = fields.size();
  bool fits = size == 3 || size == 4;
  for (size_t i = 0; fits && i < size; ++i) fits = fields[i].depth == (i + 2 < size ? 1 : 2);
  if (!fits) {
    return Bad("it is neither {device_id=...|...} nor { name | type | { start | end } }");
  }
  FlexFlowTask task;
  task.is_stock = true;
  if (size == 4) task.name = fields[0].text;
  task.type = fields[size - 3].text;
  task.is_transfer = task.type == "Comm";
  ASSIGN_OR_RETURN(task.start_ns, MsToNs("start", fields[size - 2].text));
  ASSIGN_OR_RETURN(const int64_t end_ns, MsToNs("end", fields[size - 1].text));
  task.dur_ns = end_ns - task.start_ns;
  if (task.dur_ns < 0) return Bad("the task ends before it starts");
  return task;
}

absl::StatusOr<FlexFlowTask> ReadLabelled(const std::vector<Field>& fields) {
  FlexFlowTask task;
  ASSIGN_OR_RETURN(task.device, ReadField("device_id", fields[0], INT32_MAX));
  if (fields.size() < 5) return Bad(absl::StrCat(fields.size(), " fields are too few"));
  task.name = fields[1].text;
  task.type = fields[2].text;
  const std::string& kind = fields[3].text;
  task.is_transfer = kind == "COMM_SEND_RECV_NODE";
  if (!task.is_transfer && kind != "COMP_NODE") {
    return Bad(
        absl::StrCat("node type ", Quote(kind), " is neither COMP_NODE nor COMM_SEND_RECV_NODE"));
  }
  const size_t wanted = task.is_transfer ? 8 : 5;
  if (fields.size() != wanted) {
    return Bad(absl::StrCat(fields.size(), " fields, not ", wanted, " as of a ", kind));
  }
  if (task.is_transfer) {
    ASSIGN_OR_RETURN(const int64_t src, ReadField("src_device_id", fields[4], INT32_MAX));
    ASSIGN_OR_RETURN(const int64_t dst, ReadField("dst_device_id", fields[5], INT32_MAX));
    ASSIGN_OR_RETURN(task.bytes, ReadField("comm_size", fields[6], INT64_MAX));
    task.src = static_cast<int32_t>(src);
    task.dst = static_cast<int32_t>(dst);
  }
  const char* key = task.is_transfer ? "run_time" : "simulated_run_time";
  ASSIGN_OR_RETURN(const absl::string_view time, ValueOf(key, fields.back()));
  ASSIGN_OR_RETURN(task.dur_ns, MsToNs(key, time));
  return task;
}

}  // namespace

absl::StatusOr<FlexFlowTask> ParseTaskLabel(absl::string_view label) {
  ASSIGN_OR_RETURN(const std::vector<Field> fields, SplitRecord(label));
  if (absl::StartsWith(fields[0].text, "device_id=")) return ReadLabelled(fields);
  return ReadStock(fields);
}

}  // namespace chakrad
