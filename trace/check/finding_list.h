// Where the checks put what they find, and how they name things.
#ifndef CHAKRAD_TRACE_CHECK_FINDING_LIST_H_
#define CHAKRAD_TRACE_CHECK_FINDING_LIST_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "trace/check/report.h"
#include "trace/model/ledger.h"
#include "trace/model/rank_trace.h"
#include "trace/model/trace.h"

namespace chakrad {

// Counts all findings, lists the first kListedPerRule of each rule. Not thread-safe.
class FindingList {
 public:
  using Message = absl::FunctionRef<std::string()>;

  // `rule` must be registered. `message` is called only for a finding that is listed.
  void Add(absl::string_view rule, const RankTrace& rank, uint32_t node, Message message);
  void AddOfRank(absl::string_view rule, const RankTrace& rank, Message message);
  void AddOfTrace(absl::string_view rule, Message message);
  // Rejections and flaws, those that the ledger only counts included.
  void AddLedger(const Ledger& ledger);

  // Whether a ledger has told of this rule, which the checks then need not repeat.
  bool InLedger(absl::string_view rule) const;
  int64_t CountOf(absl::string_view rule) const;
  int64_t errors_count() const { return report_.errors_count; }
  // Everything but the quality, in the report's order. Call once.
  CheckReport Take();

 private:
  // Counts `times` findings; whether one more would be listed.
  bool Count(absl::string_view rule, Severity severity, int64_t times);
  void Add(absl::string_view rule, int32_t rank, const uint64_t* node_id, Message message);
  // Lists without counting.
  void AddOfFile(const Ledger& ledger, const std::string& rule, int64_t byte_offset,
                 absl::string_view message);

  CheckReport report_;
  std::map<std::string, int64_t> listed_by_rule_;
  std::set<std::string> ledger_rules_;
};

// "node 17 (aten::mm)", with the name cut at 80 bytes.
std::string NodeText(const RankTrace& rank, uint32_t node);
// "group \"dp\"", "group 3" when it has no name, "the world".
std::string GroupText(const Trace& trace, uint32_t group);
// "3, 7-9 and 12" of ascending numbers; at most 20 ranges, then "and 5 more".
std::string RangesText(const std::vector<int32_t>& ascending);
// "1 node", "2 nodes".
std::string CountText(int64_t count, absl::string_view noun);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_CHECK_FINDING_LIST_H_
