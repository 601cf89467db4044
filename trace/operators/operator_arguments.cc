#include "trace/operators/operator_arguments.h"

#include <utility>

#include "absl/strings/match.h"

namespace chakrad {
namespace {

// ---- The wire format of protobuf, as far as a cold block needs it.

class WireReader {
 public:
  explicit WireReader(absl::string_view bytes) : bytes_(bytes) {}

  // The next field; false at the end or when the bytes are no message. `content` of a field
  // that is not length-delimited is empty.
  bool Next(uint32_t* field, absl::string_view* content) {
    uint64_t tag = 0;
    if (bytes_.empty() || !Varint(&tag)) return false;
    *field = static_cast<uint32_t>(tag >> 3);
    *content = {};
    uint64_t size = 0;
    switch (tag & 7) {
      case 0:
        return Varint(&size);
      case 1:
        return Skip(8);
      case 2:
        if (!Varint(&size) || size > bytes_.size()) return false;
        *content = bytes_.substr(0, size);
        return Skip(size);
      case 5:
        return Skip(4);
      default:
        return false;
    }
  }

 private:
  bool Varint(uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (bytes_.empty()) return false;
      const auto byte = static_cast<uint8_t>(bytes_.front());
      bytes_.remove_prefix(1);
      *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  bool Skip(uint64_t size) {
    if (size > bytes_.size()) return false;
    bytes_.remove_prefix(size);
    return true;
  }

  absl::string_view bytes_;
};

void ReadInfo(absl::string_view message, absl::string_view* values, absl::string_view* shapes,
              absl::string_view* types) {
  WireReader reader(message);
  uint32_t field = 0;
  absl::string_view content;
  while (reader.Next(&field, &content)) {
    if (field == 1) *values = content;
    if (field == 2) *shapes = content;
    if (field == 3) *types = content;
  }
}

// ---- Lists in JSON or Python spelling.

// Walks the elements of one list.
class ListReader {
 public:
  explicit ListReader(absl::string_view list) : text_(list) {
    SkipSpace();
    ok_ = Take('[');
    SkipSpace();
    done_ = !ok_ || Take(']');
  }

  // The text of the next element; false at the end of the list, or where it breaks off.
  bool Next(absl::string_view* element) {
    if (done_) return false;
    SkipSpace();
    const size_t size = ElementSize();
    if (size == absl::string_view::npos) {
      ok_ = false;
      return false;
    }
    *element = text_.substr(0, size);
    text_.remove_prefix(size);
    while (!element->empty() && IsSpace(element->back())) element->remove_suffix(1);
    if (!Take(',')) done_ = Take(']');
    return true;
  }
  // Whether all of it was a list, once Next has answered false.
  bool ok() const { return ok_; }

 private:
  static bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
  void SkipSpace() {
    while (!text_.empty() && IsSpace(text_.front())) text_.remove_prefix(1);
  }
  bool Take(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  // Up to the comma or bracket that ends the element; npos: there is none.
  size_t ElementSize() const {
    int depth = 0;
    char quote = 0;
    for (size_t i = 0; i < text_.size(); ++i) {
      const char c = text_[i];
      if (quote != 0) {
        if (c == '\\') {
          ++i;
        } else if (c == quote) {
          quote = 0;
        }
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '[' || c == '(' || c == '{') {
        ++depth;
      } else if (c == ']' || c == ')' || c == '}') {
        if (depth-- == 0) return i;
      } else if (c == ',' && depth == 0) {
        return i;
      }
    }
    return absl::string_view::npos;
  }

  absl::string_view text_;
  bool ok_ = false, done_ = false;
};

bool ReadDims(absl::string_view text, std::vector<int64_t>* dims) {
  ListReader list(text);
  absl::string_view element;
  while (list.Next(&element)) {
    constexpr size_t kMaxDigits = 18;
    if (element.empty() || element.size() > kMaxDigits) return false;
    int64_t dim = 0;
    for (const char c : element) {
      if (c < '0' || c > '9') return false;
      dim = dim * 10 + (c - '0');
    }
    dims->push_back(dim);
  }
  return list.ok();
}

struct ElementType {
  absl::string_view name;
  int32_t bytes;
};
constexpr ElementType kElementTypes[] = {
    {"float", 4},
    {"c10::Half", 2},
    {"c10::BFloat16", 2},
    {"long int", 8},
    {"long", 8},
    {"int", 4},
    {"double", 8},
    {"bool", 1},
    {"unsigned char", 1},
    {"signed char", 1},
    {"char", 1},
    {"short int", 2},
    {"short", 2},
    {"unsigned short", 2},
    {"unsigned int", 4},
    {"unsigned long", 8},
    {"long long", 8},
    {"c10::complex<float>", 8},
    {"c10::complex<double>", 16},
    {"c10::complex<c10::Half>", 4},
    {"c10::Float8_e4m3fn", 1},
    {"c10::Float8_e5m2", 1},
    {"c10::Float8_e4m3fnuz", 1},
    {"c10::Float8_e5m2fnuz", 1},
    {"c10::qint8", 1},
    {"c10::quint8", 1},
    {"c10::qint32", 4},
    {"nullptr (uninitialized)", 0},
};

enum class TypeKind : uint8_t { kOther, kTensor, kList, kUnknown };

// "Tensor(float)": its element bytes.
TypeKind ReadTensorType(absl::string_view type, int32_t* element_bytes) {
  constexpr absl::string_view kTensor = "Tensor(";
  if (!absl::StartsWith(type, kTensor)) return TypeKind::kOther;
  if (!absl::EndsWith(type, ")")) return TypeKind::kUnknown;
  const absl::string_view name = type.substr(kTensor.size(), type.size() - kTensor.size() - 1);
  for (const ElementType& entry : kElementTypes) {
    if (entry.name != name) continue;
    *element_bytes = entry.bytes;
    return TypeKind::kTensor;
  }
  return TypeKind::kUnknown;
}

absl::string_view Unquoted(absl::string_view text) {
  const bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
                      text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

// One tensor of type `type` and shape `shape`; false when they are no tensor's.
bool ReadTensor(absl::string_view type, absl::string_view shape, Argument* argument) {
  TensorShape tensor;
  const TypeKind kind = ReadTensorType(type, &tensor.element_bytes);
  if (kind == TypeKind::kOther) return true;
  if (kind == TypeKind::kUnknown || !ReadDims(shape, &tensor.dims)) return false;
  argument->tensors.push_back(std::move(tensor));
  return true;
}

bool ReadArgument(absl::string_view type, absl::string_view shape, Argument* argument) {
  constexpr absl::string_view kList = "GenericList";
  if (!absl::StartsWith(type, kList)) return ReadTensor(type, shape, argument);
  if (!absl::StrContains(type, "Tensor(")) return true;
  argument->is_list = true;
  ListReader types(type.substr(kList.size())), shapes(shape);
  absl::string_view one_type, one_shape;
  while (types.Next(&one_type)) {
    if (!shapes.Next(&one_shape) || !ReadTensor(one_type, one_shape, argument)) return false;
  }
  return types.ok() && !shapes.Next(&one_shape) && shapes.ok();
}

bool ReadSide(absl::string_view shapes_text, absl::string_view types_text,
              std::vector<Argument>* arguments) {
  ListReader types(types_text), shapes(shapes_text);
  absl::string_view type, shape;
  while (types.Next(&type)) {
    Argument argument;
    if (!shapes.Next(&shape) || !ReadArgument(Unquoted(type), shape, &argument)) return false;
    arguments->push_back(std::move(argument));
  }
  return types.ok() && !shapes.Next(&shape) && shapes.ok();
}

const TensorShape* OneTensor(const std::vector<Argument>& arguments, size_t index) {
  if (index >= arguments.size() || arguments[index].is_list) return nullptr;
  const Argument& argument = arguments[index];
  return argument.tensors.size() == 1 && argument.tensors[0].defined() ? &argument.tensors[0]
                                                                       : nullptr;
}

}  // namespace

ArgumentTexts TextsOfCold(absl::string_view cold) {
  constexpr uint32_t kInputs = 8, kOutputs = 9;
  ArgumentTexts texts;
  WireReader reader(cold);
  uint32_t field = 0;
  absl::string_view content;
  while (reader.Next(&field, &content)) {
    if (field == kInputs) ReadInfo(content, &texts.in_values, &texts.in_shapes, &texts.in_types);
    if (field == kOutputs) {
      ReadInfo(content, &texts.out_values, &texts.out_shapes, &texts.out_types);
    }
    if (field > kOutputs && !texts.in_types.empty()) break;  // Written in order of their numbers.
  }
  return texts;
}

double TensorShape::elements() const {
  if (!defined()) return 0;
  double product = 1;
  for (const int64_t dim : dims) product *= static_cast<double>(dim);
  return product;
}

double Argument::elements() const {
  double sum = 0;
  for (const TensorShape& tensor : tensors) sum += tensor.elements();
  return sum;
}

double Argument::bytes() const {
  double sum = 0;
  for (const TensorShape& tensor : tensors) sum += tensor.bytes();
  return sum;
}

const TensorShape* OperatorArguments::Input(size_t index) const { return OneTensor(inputs, index); }

const TensorShape* OperatorArguments::Output(size_t index) const {
  return OneTensor(outputs, index);
}

std::optional<OperatorArguments> ReadArguments(const ArgumentTexts& texts) {
  if (texts.in_shapes.empty() || texts.in_types.empty()) return std::nullopt;
  OperatorArguments arguments;
  arguments.in_values = texts.in_values;
  arguments.out_values = texts.out_values;
  if (!ReadSide(texts.in_shapes, texts.in_types, &arguments.inputs)) return std::nullopt;
  if (!texts.out_types.empty() &&
      !ReadSide(texts.out_shapes, texts.out_types, &arguments.outputs)) {
    return std::nullopt;
  }
  return arguments;
}

absl::string_view ListElement(absl::string_view list, size_t index) {
  ListReader reader(list);
  absl::string_view element;
  for (size_t i = 0; reader.Next(&element); ++i) {
    if (i == index) return element;
  }
  return {};
}

}  // namespace chakrad
