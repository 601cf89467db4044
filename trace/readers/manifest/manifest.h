// The manifest: a small JSON file beside the rank files that tells what a
// recorder left out. docs/manifest.md is its schema.
#ifndef CHAKRAD_TRACE_READERS_MANIFEST_MANIFEST_H_
#define CHAKRAD_TRACE_READERS_MANIFEST_MANIFEST_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

// Which group a collective used, told by where it was called: the first rule
// that matches decides. On each rank the one of `groups` that holds it is meant.
struct CollectiveRule {
  std::string op;     // CommArgs::op to match; empty: any.
  std::string under;  // Part of the name of the call's parent or any ancestor; empty: any.
  std::vector<std::string> groups;
};

struct Manifest {
  int32_t world_size = 0;                       // 0: not stated.
  std::map<std::string, int32_t> rank_by_file;  // By base name.
  std::vector<ProcessGroup> groups;
  std::vector<CollectiveRule> collective_rules;
};

// Whether a key is the number of a group in ASTRA-sim's file of communicator groups.
bool IsGroupNumber(absl::string_view key);

// Whether a JSON document looks like a manifest rather than a trace: an object
// with world_size (or world) or process_groups, and without nodes or traceEvents;
// or ASTRA-sim's file of communicator groups, {"1": [0, 1, 2, 3], "2": [2, 3]},
// which stands for process_groups alone.
bool LooksLikeManifest(absl::string_view json);

// INVALID_ARGUMENT names the key and what is wrong with it. Unknown keys are
// ignored: recorders put much else there.
absl::StatusOr<Manifest> ParseManifest(absl::string_view json);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_MANIFEST_MANIFEST_H_
