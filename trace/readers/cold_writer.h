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
    {
      Pieces pieces(&cold_);
      Begin(name, 1 + sizeof(value), &pieces);
      pieces.Byte(kDouble << 3 | 1);
    }
    char bytes[sizeof(value)];
    std::memcpy(bytes, &value, sizeof(value));  // Little endian, as protobuf's is.
    cold_.append(bytes, sizeof(bytes));
  }
  void Text(absl::string_view name, absl::string_view text) {
    {
      Pieces pieces(&cold_);
      Begin(name, 2 + VarintSize(text.size()) + text.size(), &pieces);
      pieces.Varint(kString << 3 | 2);
      pieces.Varint(text.size());
    }
    cold_.append(text.data(), text.size());
  }

 private:
  // Field numbers of Node, IOInfo and AttributeProto.
  enum : uint32_t { kInputs = 8, kOutputs = 9, kAttr = 10 };
  enum : uint32_t { kName = 1, kDouble = 3, kInt64 = 9, kUint64 = 13, kBool = 27, kString = 29 };

  // Names, tags and numbers are put together here: one append for many bytes.
  class Pieces {
   public:
    explicit Pieces(std::string* to) : to_(*to) {}
    ~Pieces() { to_.append(bytes_, size_); }
    void Byte(uint64_t value) { bytes_[size_++] = static_cast<char>(value); }
    void Varint(uint64_t value) {
      for (; value >= 0x80; value >>= 7) Byte(value | 0x80);
      Byte(value);
    }
    // A field of text; not when it is empty.
    void Text(uint32_t field, absl::string_view text) {
      if (text.empty()) return;
      Byte(field << 3 | 2);
      Varint(text.size());
      if (text.size() <= kMaxNameBytes) {
        std::memcpy(bytes_ + size_, text.data(), text.size());
        size_ += text.size();
        return;
      }
      to_.append(bytes_, size_);
      to_.append(text.data(), text.size());
      size_ = 0;
    }

   private:
    // Besides a name, at most four tags of two bytes and four varints of ten.
    static constexpr size_t kMaxNameBytes = 40, kMaxBytes = kMaxNameBytes + 4 * 2 + 4 * 10;
    std::string& to_;
    char bytes_[kMaxBytes];
    size_t size_ = 0;
  };

  static size_t VarintSize(uint64_t value) {
    size_t size = 1;
    for (; value >= 0x80; value >>= 7) ++size;
    return size;
  }
  static size_t TextSize(absl::string_view text) {
    return text.empty() ? 0 : 1 + VarintSize(text.size()) + text.size();
  }
  void Info(uint32_t field, absl::string_view values, absl::string_view shapes,
            absl::string_view types) {
    {
      Pieces head(&cold_);
      head.Byte(field << 3 | 2);
      head.Varint(TextSize(values) + TextSize(shapes) + TextSize(types));
    }
    Pieces(&cold_).Text(1, values);
    Pieces(&cold_).Text(2, shapes);
    Pieces(&cold_).Text(3, types);
  }
  // An attribute whose value takes `value_bytes`, its tag included.
  static void Begin(absl::string_view name, size_t value_bytes, Pieces* pieces) {
    pieces->Byte(kAttr << 3 | 2);
    pieces->Varint(TextSize(name) + value_bytes);
    pieces->Text(kName, name);
  }
  void Number(absl::string_view name, uint32_t field, size_t tag_bytes, int64_t value) {
    Pieces pieces(&cold_);
    Begin(name, tag_bytes + VarintSize(static_cast<uint64_t>(value)), &pieces);
    pieces.Varint(field << 3);
    pieces.Varint(static_cast<uint64_t>(value));
  }

  std::string& cold_;
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_COLD_WRITER_H_
