#include "trace/link/tensors.h"

#include <cctype>

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
  ChakraProtoMsg::Node node;
  if (!node.ParseFromArray(et.cold.data() + record.cold_begin,
                           static_cast<int>(record.cold_end - record.cold_begin))) {
    return {};
  }
  return StoragesInText(node.inputs().values());
}

}  // namespace chakrad
