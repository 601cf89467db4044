#include "tests/bench/repeat_trace.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/readers/byte_source.h"

namespace chakrad {
namespace {

// Fields whose values are ids, and attributes (of newer execution traces).
constexpr absl::string_view kIdFields[] = {"id",
                                           "parent",
                                           "ctrl_deps",
                                           "rf_id",
                                           "fw_parent",
                                           "seq_id",
                                           "External id",
                                           "external id",
                                           "correlation",
                                           "Record function id",
                                           "Sequence number",
                                           "wait_on_cuda_event_record_corr_id"};

enum class Shift : uint8_t { kNone, kId, kTime };

// Text, then a whole number that moves on.
struct Piece {
  std::string text;
  uint64_t number = 0;
  Shift shift = Shift::kNone;  // Of the number; kNone: there is none.
};

struct Number {
  size_t begin = 0;
  size_t end = 0;
  Shift shift = Shift::kNone;
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
size_t SkipSpace(absl::string_view text, size_t at) {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) ++at;
  return at;
}

// Behind the string that starts at `at`.
size_t StringEnd(absl::string_view text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return at + 1;
}

Shift ShiftOf(absl::string_view key) {
  if (key == "ts") return Shift::kTime;
  for (const absl::string_view field : kIdFields) {
    if (key == field) return Shift::kId;
  }
  return Shift::kNone;
}

// Numbers of `element` that move on, in order.
std::vector<Number> FindNumbers(absl::string_view element) {
  std::vector<Number> numbers;
  absl::string_view attribute;  // The "name" seen last: its "value" may be an id.
  for (size_t at = element.find('"'); at < element.size(); at = element.find('"', at)) {
    const size_t end = StringEnd(element, at);
    const absl::string_view key = element.substr(at + 1, end - at - 2);
    size_t value = SkipSpace(element, end);
    at = end;
    if (value >= element.size() || element[value] != ':') continue;
    value = SkipSpace(element, value + 1);
    if (key == "name" && element[value] == '"') {
      at = StringEnd(element, value);
      attribute = element.substr(value + 1, at - value - 2);
      continue;
    }
    const Shift shift = ShiftOf(key == "value" ? attribute : key);
    size_t number_end = value;
    while (number_end < element.size() && IsDigit(element[number_end])) ++number_end;
    at = std::max(at, number_end);
    if (shift != Shift::kNone && number_end > value) numbers.push_back({value, number_end, shift});
  }
  return numbers;
}

// [begin, end) of the elements of the array under `key`, and of each of them.
struct Elements {
  size_t begin = 0;
  size_t end = 0;
  std::vector<absl::string_view> list;
};

std::optional<Elements> FindElements(absl::string_view json, absl::string_view key) {
  size_t at = json.find(absl::StrCat("\"", key, "\""));
  if (at == absl::string_view::npos) return std::nullopt;
  at = json.find('[', at);
  if (at == absl::string_view::npos) return std::nullopt;
  Elements elements;
  elements.begin = ++at;
  int depth = 0;
  size_t start = 0;
  for (; at < json.size(); ++at) {
    const char c = json[at];
    if (c == '"') {
      at = StringEnd(json, at) - 1;
    } else if (c == '{' || c == '[') {
      if (depth++ == 0) start = at;
    } else if (c == '}' || c == ']') {
      if (depth == 0) break;
      if (--depth == 0) elements.list.push_back(json.substr(start, at + 1 - start));
    }
  }
  elements.end = at;
  return elements;
}

uint64_t ToNumber(absl::string_view digits) {
  uint64_t number = 0;
  return absl::SimpleAtoi(digits, &number) ? number : 0;
}

// The number under `key` in `element`, whole part; -1: none.
int64_t FieldOf(absl::string_view element, absl::string_view key) {
  const std::string quoted = absl::StrCat("\"", key, "\"");
  size_t at = element.find(quoted);
  if (at == absl::string_view::npos) return -1;
  at = SkipSpace(element, at + quoted.size());
  if (at >= element.size() || element[at] != ':') return -1;
  at = SkipSpace(element, at + 1);
  size_t end = at;
  while (end < element.size() && IsDigit(element[end])) ++end;
  return end == at ? -1 : static_cast<int64_t>(ToNumber(element.substr(at, end - at)));
}

bool IsRoot(absl::string_view element) {
  return absl::StrContains(element, "\"[pytorch|profiler|");
}

class Repeater {
 public:
  Repeater(const Elements& elements, uint64_t id_distance) : id_distance_(id_distance) {
    for (const absl::string_view element : elements.list) {
      if (IsRoot(element)) roots_.insert(static_cast<uint64_t>(FieldOf(element, "id")));
    }
    int64_t first_us = INT64_MAX, last_us = 0;
    for (const absl::string_view element : elements.list) {
      const int64_t ts = FieldOf(element, "ts"), dur = FieldOf(element, "dur");
      if (ts > 0 && dur >= 0) {
        first_us = std::min(first_us, ts);
        last_us = std::max(last_us, ts + dur);
      }
      if (IsRoot(element)) {
        only_first_ += absl::StrCat(element, ",\n");
      } else {
        Compile(element);
      }
    }
    if (last_us > first_us) time_distance_ = static_cast<uint64_t>(last_us - first_us) + 1000;
  }

  absl::string_view only_first() const { return only_first_; }

  // Repetition `k`, elements with commas between.
  void Write(uint64_t k, std::string* text) const {
    for (const Piece& piece : pieces_) {
      text->append(piece.text);
      if (piece.shift == Shift::kId) absl::StrAppend(text, piece.number + k * id_distance_);
      if (piece.shift == Shift::kTime) absl::StrAppend(text, piece.number + k * time_distance_);
    }
  }

 private:
  void Compile(absl::string_view element) {
    std::string text(pieces_.empty() ? "" : ",\n");
    size_t from = 0;
    for (const Number& number : FindNumbers(element)) {
      const uint64_t value = ToNumber(element.substr(number.begin, number.end - number.begin));
      // 0 stands for none; thread and process nodes stay.
      if (number.shift == Shift::kId && (value == 0 || roots_.count(value) > 0)) continue;
      absl::StrAppend(&text, element.substr(from, number.begin - from));
      pieces_.push_back({std::move(text), value, number.shift});
      text.clear();
      from = number.end;
    }
    absl::StrAppend(&text, element.substr(from));
    pieces_.push_back({std::move(text), 0, Shift::kNone});
  }

  const uint64_t id_distance_;
  uint64_t time_distance_ = 0;
  std::set<uint64_t> roots_;
  std::string only_first_;
  std::vector<Piece> pieces_;
};

}  // namespace

absl::StatusOr<std::string> ReadWholeFile(absl::string_view path) {
  ASSIGN_OR_RETURN(const auto source, OpenFileSource(path));
  std::string text, buffer(1 << 20, '\0');
  while (true) {
    ASSIGN_OR_RETURN(const size_t count, source->Read(buffer.data(), buffer.size()));
    if (count == 0) return text;
    text.append(buffer, 0, count);
  }
}

uint64_t IdDistance(absl::string_view json) {
  uint64_t largest = 0;
  for (const absl::string_view key : {"nodes", "traceEvents"}) {
    const std::optional<Elements> elements = FindElements(json, key);
    if (!elements.has_value()) continue;
    for (const absl::string_view element : elements->list) {
      for (const Number& number : FindNumbers(element)) {
        if (number.shift != Shift::kId) continue;
        largest =
            std::max(largest, ToNumber(element.substr(number.begin, number.end - number.begin)));
      }
    }
  }
  return largest + 1;
}

absl::Status RepeatTrace(absl::string_view json, absl::string_view key, int64_t count,
                         uint64_t id_distance, const TextSink& sink) {
  const std::optional<Elements> elements = FindElements(json, key);
  if (!elements.has_value() || elements->list.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(key, ": no such list, or an empty one"));
  }
  const Repeater repeater(*elements, id_distance);
  RETURN_IF_ERROR(sink(json.substr(0, elements->begin)));
  RETURN_IF_ERROR(sink(repeater.only_first()));
  std::string text;
  for (int64_t k = 0; k < count; ++k) {
    text = k == 0 ? "" : ",\n";
    repeater.Write(static_cast<uint64_t>(k), &text);
    RETURN_IF_ERROR(sink(text));
  }
  return sink(json.substr(elements->end));
}

}  // namespace chakrad
