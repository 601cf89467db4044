#include "trace/readers/chakra_et/collective_name.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "trace/readers/comm_names.h"

namespace chakrad {
namespace {

struct Word {
  absl::string_view word;
  CollectiveType collective;
};

// Of these, none is part of another or of a word that is about something else.
constexpr Word kLongWords[] = {
    {"allreduce", CollectiveType::kAllReduce}, {"allgather", CollectiveType::kAllGather},
    {"alltoall", CollectiveType::kAllToAll},   {"reducescatter", CollectiveType::kReduceScatter},
    {"broadcast", CollectiveType::kBroadcast}, {"barrier", CollectiveType::kBarrier},
};
// These only where an operation's name begins.
constexpr Word kShortWords[] = {
    {"reduce", CollectiveType::kReduce},
    {"gather", CollectiveType::kGather},
    {"scatter", CollectiveType::kScatter},
};
constexpr absl::string_view kKernelPrefixes[] = {"nccldevkernel", "ncclkernel"};

// Letters and digits in lower case.
std::string Squeeze(absl::string_view text) {
  std::string squeezed;
  for (const char c : text) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c))) {
      squeezed.push_back(absl::ascii_tolower(static_cast<unsigned char>(c)));
    }
  }
  return squeezed;
}

}  // namespace

std::optional<CollectiveType> CollectiveOfName(absl::string_view name) {
  // Arguments of a kernel's signature name types, not what it does.
  const CommName parsed = ParseCommName(name);
  const std::string text = Squeeze(parsed.op.empty() ? name.substr(0, name.find('(')) : parsed.op);
  std::optional<CollectiveType> found;
  for (const Word& entry : kLongWords) {
    if (!absl::StrContains(text, entry.word)) continue;
    if (found.has_value()) return std::nullopt;
    found = entry.collective;
  }
  if (found.has_value()) return found;
  absl::string_view operation = text;
  bool begins = !parsed.op.empty();
  for (const absl::string_view prefix : kKernelPrefixes) {
    if (begins || !absl::StartsWith(operation, prefix)) continue;
    operation.remove_prefix(prefix.size());
    begins = true;
  }
  for (const Word& entry : kShortWords) {
    if (begins && absl::StartsWith(operation, entry.word)) return entry.collective;
  }
  return std::nullopt;
}

}  // namespace chakrad
