// The table of process groups that PyTorch writes: a JSON list of
// {"pg_name", "pg_desc", "ranks", "group_size" or "pg_size"}, in the node
// "## process_group:init ##" of an execution trace and in Kineto's distributedInfo.
#ifndef CHAKRAD_TRACE_READERS_PROCESS_GROUPS_H_
#define CHAKRAD_TRACE_READERS_PROCESS_GROUPS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/model/ledger.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

// Collects the groups of all tables of one file. Not thread-safe.
class ProcessGroupTables {
 public:
  // Outlives this; takes notices about tables that are cut off and entries that
  // say nothing usable.
  explicit ProcessGroupTables(Ledger* ledger) : ledger_(ledger) {}

  // Adds a table's complete entries; of two with one name the one that lists
  // members stays. An empty list of ranks with a size means all of them, as
  // PyTorch has it. Linear in the table and the ranks.
  void Add(absl::string_view json);

  std::vector<ProcessGroup> TakeGroups() { return std::move(groups_); }
  // The size of "default_pg", else of the first group with an empty list of
  // ranks; 0 where no table tells it.
  int32_t world_size() const { return world_size_; }

 private:
  void AddNotice(absl::string_view notice);

  Ledger* ledger_;
  std::vector<ProcessGroup> groups_;
  std::map<std::string, size_t> by_name_;
  int64_t ranks_count_ = 0;
  int32_t world_size_ = 0;
  int notices_count_ = 0;
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_PROCESS_GROUPS_H_
