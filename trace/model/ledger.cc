#include "trace/model/ledger.h"

namespace chakrad {

void Ledger::Merge(absl::string_view rule) {
  ++input_records;
  ++merged;
  ++merged_by_rule[std::string(rule)];
}

void Ledger::Reject(absl::string_view rule, int64_t record, int64_t byte_offset,
                    absl::string_view reason) {
  ++input_records;
  ++rejected;
  ++rejected_by_rule[std::string(rule)];
  if (rejections.size() < kListedRejections) {
    rejections.push_back({std::string(rule), record, byte_offset, std::string(reason)});
  }
}

void Ledger::AddFlaw(absl::string_view rule, int64_t record, int64_t byte_offset,
                     absl::string_view reason) {
  const int64_t count = ++flaws_by_rule[std::string(rule)];
  if (count > kListedFlawsPerRule) return;
  flaws.push_back({std::string(rule), record, byte_offset, std::string(reason)});
}

void Ledger::TurnIntoRejection(bool was_kept, absl::string_view merged_rule, absl::string_view rule,
                               int64_t record, absl::string_view reason) {
  --input_records;  // Reject counts it again.
  if (was_kept) {
    --kept;
  } else {
    --merged;
    --merged_by_rule[std::string(merged_rule)];
  }
  Reject(rule, record, -1, reason);
}

}  // namespace chakrad
