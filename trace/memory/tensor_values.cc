#include "trace/memory/tensor_values.h"

namespace chakrad {
namespace {

void SkipSpace(absl::string_view text, size_t* at) {
  while (*at < text.size() && (text[*at] == ' ' || text[*at] == '\n')) ++*at;
}

// Reads "<digits> ," at `at`; false when something else, or too much, is there.
bool ReadNumber(absl::string_view text, size_t* at, uint64_t* number) {
  SkipSpace(text, at);
  const size_t begin = *at;
  *number = 0;
  for (; *at < text.size() && text[*at] >= '0' && text[*at] <= '9'; ++*at) {
    const auto digit = static_cast<uint64_t>(text[*at] - '0');
    if (*number > (UINT64_MAX - digit) / 10) return false;
    *number = *number * 10 + digit;
  }
  if (*at == begin) return false;
  SkipSpace(text, at);
  if (*at >= text.size() || text[*at] != ',') return false;
  ++*at;
  return true;
}

}  // namespace

void FindTensorValues(absl::string_view text, std::vector<TensorValue>* tensors) {
  // One tensor: 1 TiB. Sums of 8 million such stay in int64.
  constexpr uint64_t kMaxBytes = uint64_t{1} << 40;
  for (size_t open = text.find('['); open != absl::string_view::npos;
       open = text.find('[', open + 1)) {
    size_t at = open + 1;
    uint64_t numbers[5];
    bool tensor = true;
    for (uint64_t& number : numbers) tensor = tensor && ReadNumber(text, &at, &number);
    if (!tensor) continue;
    SkipSpace(text, &at);
    if (at >= text.size() || (text[at] != '"' && text[at] != '\'')) continue;
    const size_t close = text.find(text[at], at + 1);
    if (close == absl::string_view::npos) continue;
    const auto [id, storage, offset, elements, element_bytes] = numbers;
    if (storage == 0 || elements == 0 || element_bytes == 0) continue;
    if (offset > kMaxBytes || elements > kMaxBytes || element_bytes > kMaxBytes) continue;
    if (offset + elements > kMaxBytes / element_bytes) continue;
    tensors->push_back({id, storage, static_cast<int64_t>((offset + elements) * element_bytes),
                        text.substr(at + 1, close - at - 1)});
  }
}

}  // namespace chakrad
