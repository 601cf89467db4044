// Writes cold blocks (RankTrace::cold): ChakraProtoMsg.Node messages of inputs,
// outputs and attributes, byte for byte as protobuf's C++ library would, without
// building the messages.
#ifndef CHAKRAD_TRACE_READERS_COLD_WRITER_H_
#define CHAKRAD_TRACE_READERS_COLD_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "absl/strings/string_view.h"

namespace chakrad {

// Appends to a block, field by field in ascending order of their numbers: inputs,
// outputs, then attributes. Texts must be UTF-8. Not thread-safe.
class ColdWriter {
 public:
  // Appends to `*cold`, which must outlive the writer.
  explicit ColdWriter(std::string* cold) : cold_(*cold) {}

  // IOInfo: values, shapes, types.
  void Inputs(absl::string_view values, absl::string_view shapes, absl::string_view types) {
    Info(kInputs, values, shapes, types);
  }
  void Outputs(absl::string_view values, absl::string_view shapes, absl::string_view types) {
    Info(kOutputs, values, shapes, types);
  }

  void Int(absl::string_view name, int64_t value) { Number(name, kInt64, 1, value); }
  void Uint(absl::string_view name, uint64_t value) {
    Number(name, kUint64, 1, static_cast<int64_t>(value));
  }
  void Bool(absl::string_view name, bool value) { Number(name, kBool, 2, value ? 1 : 0); }
  void Double(absl::string_view name, double value) {
    Begin(name, 1 + sizeof(value));
    cold_.push_back(static_cast<char>(kDouble << 3 | 1));
    char bytes[sizeof(value)];
    std::memcpy(bytes, &value, sizeof(value));  // Little endian, as protobuf's is.
    cold_.append(bytes, sizeof(bytes));
  }
  void Text(absl::string_view name, absl::string_view text) {
    Begin(name, 2 + VarintSize(text.size()) + text.size());
    Varint(kString << 3 | 2);
    Varint(text.size());
    cold_.append(text.data(), text.size());
  }

 private:
  // Field numbers of Node, IOInfo and AttributeProto.
  enum : uint32_t { kInputs = 8, kOutputs = 9, kAttr = 10 };
  enum : uint32_t { kName = 1, kDouble = 3, kInt64 = 9, kUint64 = 13, kBool = 27, kString = 29 };

  static size_t VarintSize(uint64_t value) {
    size_t size = 1;
    for (; value >= 0x80; value >>= 7) ++size;
    return size;
  }
  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) cold_.push_back(static_cast<char>(value | 0x80));
    cold_.push_back(static_cast<char>(value));
  }
  static size_t TextSize(absl::string_view text) {
    return text.empty() ? 0 : 1 + VarintSize(text.size()) + text.size();
  }
  void TextField(uint32_t field, absl::string_view text) {
    if (text.empty()) return;
    cold_.push_back(static_cast<char>(field << 3 | 2));
    Varint(text.size());
    cold_.append(text.data(), text.size());
  }
  void Info(uint32_t field, absl::string_view values, absl::string_view shapes,
            absl::string_view types) {
    cold_.push_back(static_cast<char>(field << 3 | 2));
    Varint(TextSize(values) + TextSize(shapes) + TextSize(types));
    TextField(1, values);
    TextField(2, shapes);
    TextField(3, types);
  }
  // An attribute whose value takes `value_bytes`, its tag included.
  void Begin(absl::string_view name, size_t value_bytes) {
    cold_.push_back(static_cast<char>(kAttr << 3 | 2));
    Varint(TextSize(name) + value_bytes);
    TextField(kName, name);
  }
  void Number(absl::string_view name, uint32_t field, size_t tag_bytes, int64_t value) {
    Begin(name, tag_bytes + VarintSize(static_cast<uint64_t>(value)));
    Varint(field << 3);
    Varint(static_cast<uint64_t>(value));
  }

  std::string& cold_;
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_COLD_WRITER_H_
