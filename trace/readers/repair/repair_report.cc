#include "trace/readers/repair/repair_report.h"

#include <algorithm>

namespace chakrad {

void RepairReport::Add(absl::string_view rule, int64_t record, int64_t byte_offset,
                       absl::string_view reason) {
  if (++count_by_rule[std::string(rule)] > Ledger::kListedFlawsPerRule) return;
  entries.push_back({std::string(rule), record, byte_offset, std::string(reason)});
}

void RepairReport::Merge(const RepairReport& more) {
  for (const LedgerEntry& entry : more.entries) {
    if (count_by_rule[entry.rule]++ < Ledger::kListedFlawsPerRule) entries.push_back(entry);
  }
  // Those that were not listed one by one count too.
  for (const auto& [rule, count] : more.count_by_rule) {
    count_by_rule[rule] += std::max<int64_t>(count - Ledger::kListedFlawsPerRule, 0);
  }
}

int64_t RepairReport::total() const {
  int64_t total = 0;
  for (const auto& [rule, count] : count_by_rule) total += count;
  return total;
}

void RepairReport::AddTo(Ledger* ledger) const {
  for (const auto& [rule, count] : count_by_rule) {
    if (rule == repair_rule::kLost) {
      ledger->input_records += count;
      ledger->rejected += count;
      ledger->rejected_by_rule[rule] += count;
    } else {
      ledger->flaws_by_rule[rule] += count;
    }
  }
  for (const LedgerEntry& entry : entries) {
    if (entry.rule != repair_rule::kLost) {
      ledger->flaws.push_back(entry);
    } else if (ledger->rejections.size() < Ledger::kListedRejections) {
      ledger->rejections.push_back(entry);
    }
  }
}

}  // namespace chakrad
