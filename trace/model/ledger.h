// The account of one input file: every record was kept as a node, merged into
// one, or rejected with a reason. The three add up to the input. Beside it: what
// was wrong and could be lived with.
#ifndef CHAKRAD_TRACE_MODEL_LEDGER_H_
#define CHAKRAD_TRACE_MODEL_LEDGER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakrad {

struct LedgerEntry {
  std::string rule;          // Stable, lower_snake_case: "kineto_no_launch".
  int64_t record = 0;        // 0-based position in the file's list of records; -1: of no one.
  int64_t byte_offset = -1;  // Of the record in the uncompressed file; -1 unknown.
  std::string reason;        // For people.
};
using Rejection = LedgerEntry;

// Plain data; not thread-safe.
struct Ledger {
  // At most this many rejections are listed one by one; all are counted.
  static constexpr size_t kListedRejections = 100;
  // The same of flaws, for each rule.
  static constexpr int64_t kListedFlawsPerRule = 20;

  std::string file;
  int64_t input_records = 0;
  int64_t kept = 0;    // Became a node of its own.
  int64_t merged = 0;  // Its content went into a node or into the trace's tables.
  int64_t rejected = 0;
  std::map<std::string, int64_t> merged_by_rule;  // Why merged: "flow_event", "thread_name", ...
  std::map<std::string, int64_t> rejected_by_rule;
  std::vector<Rejection> rejections;  // The first kListedRejections.
  // What was wrong with records or the file and did not cost a record: a
  // dependency that was dropped, a value that had to be guessed. Flaws are no
  // part of the sum. docs/conformance.md lists their rules.
  std::map<std::string, int64_t> flaws_by_rule;
  std::vector<LedgerEntry> flaws;    // The first kListedFlawsPerRule of each rule.
  std::vector<std::string> notices;  // What a user should know, in order.

  void Keep() { ++input_records, ++kept; }
  void Merge(absl::string_view rule);
  void Reject(absl::string_view rule, int64_t record, int64_t byte_offset,
              absl::string_view reason);
  void AddFlaw(absl::string_view rule, int64_t record, int64_t byte_offset,
               absl::string_view reason);
  // A record counted as kept or merged turns out to have no place: it moves to
  // rejected. `was_kept` tells from which.
  void TurnIntoRejection(bool was_kept, absl::string_view merged_rule, absl::string_view rule,
                         int64_t record, absl::string_view reason);
  bool Balanced() const { return kept + merged + rejected == input_records; }
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_MODEL_LEDGER_H_
