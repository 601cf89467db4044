// What a repair did to a file, for the file's ledger.
#ifndef CHAKRAD_TRACE_READERS_REPAIR_REPAIR_REPORT_H_
#define CHAKRAD_TRACE_READERS_REPAIR_REPAIR_REPORT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/model/ledger.h"

namespace chakrad {

// Its rules. Offsets are those of the file as it was given.
namespace repair_rule {
// Commas between records, or in one, that were doubled, missing or trailing.
inline constexpr char kComma[] = "repaired_comma";
// A number or word in another spelling than JSON's: "+Infinity", "True", "1.".
inline constexpr char kNumber[] = "repaired_number";
// Double quotes inside a string that had no backslash.
inline constexpr char kQuote[] = "repaired_quote";
// Brackets that were missing at the end of the list or of the file.
inline constexpr char kEnd[] = "repaired_end";
// Bytes between records that belong to none: a bracket too many, zeros.
inline constexpr char kStray[] = "repaired_stray_bytes";
// A record that could not be read: half written, or broken beyond the above.
inline constexpr char kLost[] = "lost_record";
}  // namespace repair_rule

// Plain data.
struct RepairReport {
  std::map<std::string, int64_t> count_by_rule;
  // Of each rule the first Ledger::kListedFlawsPerRule, in the file's order.
  // `record` counts the list's records, lost ones included.
  std::vector<LedgerEntry> entries;

  void Add(absl::string_view rule, int64_t record, int64_t byte_offset, absl::string_view reason);
  // Adds another's, which come behind these.
  void Merge(const RepairReport& more);
  int64_t total() const;
  // Lost records as rejections, so that the ledger's sum counts them; all else as
  // flaws.
  void AddTo(Ledger* ledger) const;
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_REPAIR_REPAIR_REPORT_H_
