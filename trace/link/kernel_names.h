// What a user adds to the table of communication kernels (comm_kernels.h): for
// libraries and versions that it does not know.
#ifndef CHAKRAD_TRACE_LINK_KERNEL_NAMES_H_
#define CHAKRAD_TRACE_LINK_KERNEL_NAMES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/link/comm_kernels.h"

namespace chakrad {

// Entries, and bytes of a pattern and of the kernel name that is compared with
// it: bound the work for one name to some ten million steps.
inline constexpr size_t kMaxKernelNameRules = 256;
inline constexpr size_t kMaxKernelPatternBytes = 256;
inline constexpr size_t kMaxComparedKernelNameBytes = 4096;

// Thread-safe once made.
class KernelNames {
 public:
  struct Rule {
    enum class Match : uint8_t { kContains, kPrefix, kGlob };
    Match match = Match::kContains;
    std::string pattern;
    CommKernel meaning;
  };

  KernelNames() = default;
  explicit KernelNames(std::vector<Rule> rules) : rules_(std::move(rules)) {}

  // The first rule that fits decides, else the built-in table. Names are
  // compared as recorded, with case and arguments.
  CommKernel Classify(absl::string_view kernel_name) const;

 private:
  std::vector<Rule> rules_;
};

// {"kernel_names": [{"prefix": "acmeccl_ar_", "meaning": "all_reduce"}, ...]}.
// Each entry has one of "contains", "prefix", "glob" (* and ? in the whole
// name), and "meaning": all_reduce, all_gather, all_to_all, reduce_scatter,
// broadcast, reduce, gather, scatter, barrier, send, recv, undecided (the host's
// call decides) or not_comm. INVALID_ARGUMENT names the entry and what is wrong.
absl::StatusOr<KernelNames> ParseKernelNames(absl::string_view json);

// Whether `pattern` with * (any text) and ? (one byte) fits all of `text`.
// O(pattern * text) at worst.
bool GlobFits(absl::string_view pattern, absl::string_view text);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_LINK_KERNEL_NAMES_H_
