// What is wrong with a text, gathered so that one message can say it all.
#ifndef CHAKRAD_SIM_SYSTEM_FAULTS_H_
#define CHAKRAD_SIM_SYSTEM_FAULTS_H_

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/limits.h"

namespace chakrad {

using Faults = std::vector<std::string>;  // Each "field: value and limit".

// One message, "; " between the faults; at most kMaxFaultsListed of them and how many more.
inline std::string JoinFaults(const Faults& faults) {
  const size_t listed = std::min(faults.size(), static_cast<size_t>(kMaxFaultsListed));
  std::string text =
      absl::StrJoin(faults.begin(), faults.begin() + static_cast<ptrdiff_t>(listed), "; ");
  if (listed < faults.size()) {
    absl::StrAppend(&text, "; and ", faults.size() - listed, " more faults");
  }
  return text;
}

}  // namespace chakrad

#endif  // CHAKRAD_SIM_SYSTEM_FAULTS_H_
