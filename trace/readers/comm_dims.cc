#include "trace/readers/comm_dims.h"

#include <utility>

#include "absl/strings/ascii.h"

namespace chakrad {
namespace {

// Lists in the text: arguments, of tensors, of sizes.
constexpr int kMaxNesting = 3;

class ShapeParser {
 public:
  ShapeParser(absl::string_view text, std::vector<ArgumentShape>* shapes)
      : text_(text), shapes_(*shapes) {}

  bool Run() {
    for (const char c : text_) {
      if (!Take(c)) return false;
    }
    return depth_ == 0 && closed_;
  }

 private:
  bool Take(char c) {
    if (absl::ascii_isspace(static_cast<unsigned char>(c))) return true;
    if (closed_) return false;
    switch (c) {
      case '[':
        return Open();
      case ']':
        return Close();
      case ',':
        return TakeNumber();
      default:
        if (!absl::ascii_isdigit(static_cast<unsigned char>(c)) || depth_ < 2) return false;
        has_digits_ = true;
        return !__builtin_mul_overflow(number_, int64_t{10}, &number_) &&
               !__builtin_add_overflow(number_, int64_t{c - '0'}, &number_);
    }
  }

  bool Open() {
    if (++depth_ > kMaxNesting) return false;
    if (depth_ == 2) shapes_.push_back({});
    dims_ = 0;
    elements_ = 1;
    return true;
  }

  // The sizes of the innermost open list multiply.
  bool TakeNumber() {
    if (!std::exchange(has_digits_, false)) return true;
    ++dims_;
    return !__builtin_mul_overflow(elements_, std::exchange(number_, 0), &elements_);
  }

  bool Close() {
    if (--depth_ < 0 || !TakeNumber()) return false;
    closed_ = depth_ == 0;
    if (dims_ == 0) return true;
    ArgumentShape& shape = shapes_.back();
    if (shape.dims < 0) shape.dims = std::exchange(dims_, 0);
    dims_ = 0;
    if (shape.elements < 0) shape.elements = 0;
    return !__builtin_add_overflow(shape.elements, elements_, &shape.elements);
  }

  absl::string_view text_;
  std::vector<ArgumentShape>& shapes_;
  int depth_ = 0;
  bool closed_ = false;
  bool has_digits_ = false;
  int64_t number_ = 0;
  int64_t elements_ = 1;
  int32_t dims_ = 0;
};

// One argument's bytes; -1 when shape or type do not tell.
int64_t BytesOf(const ArgumentShape& shape, absl::string_view type) {
  int64_t bytes;
  const int64_t element_bytes = DtypeBytes(type);
  if (shape.elements < 0 || element_bytes < 0 ||
      __builtin_mul_overflow(shape.elements, element_bytes, &bytes)) {
    return kNotStated;
  }
  return bytes;
}

}  // namespace

bool ParseArgumentShapes(absl::string_view json, std::vector<ArgumentShape>* shapes) {
  shapes->clear();
  return ShapeParser(json, shapes).Run();
}

bool ParseTextList(absl::string_view json, std::vector<std::string>* texts) {
  texts->clear();
  json = absl::StripAsciiWhitespace(json);
  if (json.size() < 2 || json.front() != '[' || json.back() != ']') return false;
  bool open = false;
  for (const char c : json.substr(1, json.size() - 2)) {
    if (c == '\\') return false;  // Names of types have none.
    if (c == '"') {
      open = !open;
      if (open) texts->emplace_back();
    } else if (open) {
      texts->back().push_back(c);
    } else if (c != ',' && !absl::ascii_isspace(static_cast<unsigned char>(c))) {
      return false;
    }
  }
  return !open;
}

void SizesFromShapes(const CommName& name, absl::string_view dims, absl::string_view types,
                     CommArgs* args) {
  std::vector<ArgumentShape> shapes;
  std::vector<std::string> type_list;
  if (!ParseArgumentShapes(dims, &shapes)) return;
  if (!ParseTextList(types, &type_list)) type_list.clear();
  type_list.resize(shapes.size());
  const auto take = [&](size_t at, int64_t* elements, int64_t* bytes) {
    if (at >= shapes.size() || shapes[at].elements < 0) return;
    const int64_t more = BytesOf(shapes[at], type_list[at]);
    const bool first = *elements < 0;
    if (first) *elements = 0;
    if (first && args->input_dims < 0) args->input_dims = shapes[at].dims;
    if (args->dtype.empty() && DtypeBytes(type_list[at]) > 0) args->dtype = type_list[at];
    if (__builtin_add_overflow(*elements, shapes[at].elements, elements)) *elements = kNotStated;
    if (first) {
      *bytes = more;
    } else if (more < 0 || *bytes < 0 || __builtin_add_overflow(*bytes, more, bytes)) {
      *bytes = kNotStated;
    }
  };
  if (name.kind == CommNameKind::kC10d) {
    const C10dLayout* layout = FindC10dLayout(args->op);
    if (layout == nullptr) return;
    if (layout->in >= 0) take(static_cast<size_t>(layout->in), &args->in_elements, &args->in_bytes);
    if (layout->out >= 0) {
      take(static_cast<size_t>(layout->out), &args->out_elements, &args->out_bytes);
    }
    return;
  }
  for (size_t at = 0; at < shapes.size(); ++at) take(at, &args->in_elements, &args->in_bytes);
}

}  // namespace chakrad
