#include "trace/link/tensors.h"

#include <cctype>
#include <optional>

#include "chakra/et_def.pb.h"
#include "trace/readers/pytorch_et/pytorch_et.h"

namespace chakrad {
namespace {

void SkipSpace(absl::string_view text, size_t* at) {
  while (*at < text.size() && std::isspace(static_cast<unsigned char>(text[*at]))) ++*at;
}

// Reads "<digits> ," at `at`; false when something else is there.
bool ReadNumber(absl::string_view text, size_t* at, uint64_t* number) {
  SkipSpace(text, at);
  const size_t begin = *at;
  *number = 0;
  while (*at < text.size() && std::isdigit(static_cast<unsigned char>(text[*at]))) {
    *number = *number * 10 + static_cast<uint64_t>(text[*at] - '0');
    ++*at;
  }
  if (*at == begin) return false;
  SkipSpace(text, at);
  if (*at >= text.size() || text[*at] != ',') return false;
  ++*at;
  return true;
}

// The field of bytes with that tag at the front; nullopt when something else is there.
std::optional<absl::string_view> ReadBytes(absl::string_view message, char tag) {
  if (message.empty() || message.front() != tag) return std::nullopt;
  uint64_t size = 0;
  size_t at = 1;
  for (int shift = 0; shift < 32; shift += 7, ++at) {
    if (at >= message.size()) return std::nullopt;
    const auto byte = static_cast<uint8_t>(message[at]);
    size |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte >= 0x80) continue;
    ++at;
    if (size > message.size() - at) return std::nullopt;
    return message.substr(at, size);
  }
  return std::nullopt;
}

// Node.inputs.values of a cold block as the reader writes them: first of all. Each
// operation of a thread may be asked, and most of a block is of no interest.
std::optional<absl::string_view> InputValues(absl::string_view cold) {
  constexpr char kInputsTag = 8 << 3 | 2, kValuesTag = 1 << 3 | 2;
  const std::optional<absl::string_view> inputs = ReadBytes(cold, kInputsTag);
  if (!inputs.has_value()) return std::nullopt;
  return ReadBytes(*inputs, kValuesTag);
}

}  // namespace

std::vector<uint64_t> StoragesInText(absl::string_view text) {
  std::vector<uint64_t> storages;
  for (size_t open = text.find('['); open != absl::string_view::npos;
       open = text.find('[', open + 1)) {
    size_t at = open + 1;
    uint64_t numbers[5];
    bool tensor = true;
    for (uint64_t& number : numbers) tensor = tensor && ReadNumber(text, &at, &number);
    if (!tensor) continue;
    SkipSpace(text, &at);
    if (at < text.size() && (text[at] == '"' || text[at] == '\'')) storages.push_back(numbers[1]);
  }
  return storages;
}

std::vector<uint64_t> InputStorages(const PyTorchEt& et, uint32_t op) {
  const EtOp& record = et.ops[op];
  if (record.cold_end <= record.cold_begin) return {};
  const absl::string_view cold(et.cold.data() + record.cold_begin,
                               record.cold_end - record.cold_begin);
  if (const auto values = InputValues(cold); values.has_value()) return StoragesInText(*values);
  ChakraProtoMsg::Node node;
  if (!node.ParseFromArray(cold.data(), static_cast<int>(cold.size()))) return {};
  return StoragesInText(node.inputs().values());
}

}  // namespace chakrad
