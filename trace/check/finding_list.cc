#include "trace/check/finding_list.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/check.h"
#include "common/utf8.h"

namespace chakrad {
namespace {

constexpr size_t kMaxNameBytes = 80;
constexpr size_t kRangesListed = 20;

Severity SeverityOf(absl::string_view rule) {
  const Rule* known = FindRule(rule);
  return known == nullptr ? Severity::kWarning : known->severity;
}

}  // namespace

bool FindingList::Count(absl::string_view rule, Severity severity, int64_t times) {
  report_.count_by_rule[std::string(rule)] += times;
  (severity == Severity::kError     ? report_.errors_count
   : severity == Severity::kWarning ? report_.warnings_count
                                    : report_.infos_count) += times;
  return listed_by_rule_[std::string(rule)] < kListedPerRule;
}

void FindingList::Add(absl::string_view rule, int32_t rank, const uint64_t* node_id,
                      Message message) {
  const Rule* known = FindRule(rule);
  CHECK(known != nullptr) << rule;
  if (!Count(rule, known->severity, 1)) return;
  ++listed_by_rule_[std::string(rule)];
  Finding finding;
  finding.rule = std::string(rule);
  finding.severity = known->severity;
  finding.rank = rank;
  if (node_id != nullptr) {
    finding.has_node = true;
    finding.node_id = *node_id;
  }
  finding.message = ValidUtf8(message(), kMaxFindingBytes);
  report_.findings.push_back(std::move(finding));
}

void FindingList::Add(absl::string_view rule, const RankTrace& rank, uint32_t node,
                      Message message) {
  Add(rule, rank.rank, &rank.id[node], message);
}

void FindingList::AddOfRank(absl::string_view rule, const RankTrace& rank, Message message) {
  Add(rule, rank.rank, nullptr, message);
}

void FindingList::AddOfTrace(absl::string_view rule, Message message) {
  Add(rule, kNoRank, nullptr, message);
}

void FindingList::AddLedger(const Ledger& ledger) {
  std::set<std::string> listed;
  for (const auto* entries : {&ledger.rejections, &ledger.flaws}) {
    for (const LedgerEntry& entry : *entries) listed.insert(entry.rule);
  }
  for (const auto* by_rule : {&ledger.rejected_by_rule, &ledger.flaws_by_rule}) {
    for (const auto& [rule, count] : *by_rule) {
      ledger_rules_.insert(rule);
      if (!Count(rule, SeverityOf(rule), count) || listed.count(rule) > 0) continue;
      AddOfFile(ledger, rule, -1,
                absl::StrCat(CountText(count, "record"), ", none of them listed"));
    }
  }
  for (const auto* entries : {&ledger.rejections, &ledger.flaws}) {
    for (const LedgerEntry& entry : *entries) {
      AddOfFile(ledger, entry.rule, entry.byte_offset,
                absl::StrCat(entry.record >= 0 ? absl::StrCat("record ", entry.record, ": ") : "",
                             entry.reason));
    }
  }
}

void FindingList::AddOfFile(const Ledger& ledger, const std::string& rule, int64_t byte_offset,
                            absl::string_view message) {
  if (listed_by_rule_[rule]++ >= kListedPerRule) return;
  Finding finding;
  finding.rule = rule;
  finding.severity = SeverityOf(rule);
  finding.file = ledger.file;
  finding.byte_offset = byte_offset;
  finding.message = ValidUtf8(message, kMaxFindingBytes);
  report_.findings.push_back(std::move(finding));
}

bool FindingList::InLedger(absl::string_view rule) const {
  return ledger_rules_.count(std::string(rule)) > 0;
}

int64_t FindingList::CountOf(absl::string_view rule) const {
  const auto it = report_.count_by_rule.find(std::string(rule));
  return it == report_.count_by_rule.end() ? 0 : it->second;
}

CheckReport FindingList::Take() {
  std::stable_sort(report_.findings.begin(), report_.findings.end(),
                   [](const Finding& a, const Finding& b) {
                     return std::tie(b.severity, a.rule, a.rank, a.node_id) <
                            std::tie(a.severity, b.rule, b.rank, b.node_id);
                   });
  return std::move(report_);
}

std::string NodeText(const RankTrace& rank, uint32_t node) {
  const absl::string_view name = rank.NameOf(node);
  return absl::StrCat("node ", rank.id[node], " (", ValidUtf8(name, kMaxNameBytes),
                      name.size() > kMaxNameBytes ? "..." : "", ")");
}

std::string GroupText(const Trace& trace, uint32_t group) {
  if (group == kNone || group == kWorldGroup) return "the world";
  if (group >= trace.groups.size() || trace.groups[group].name.empty()) {
    return absl::StrCat("group ", group);
  }
  return absl::StrCat("group \"", ValidUtf8(trace.groups[group].name, kMaxNameBytes), "\"");
}

std::string RangesText(const std::vector<int32_t>& ascending) {
  std::vector<std::string> ranges;
  size_t listed = 0;
  while (listed < ascending.size() && ranges.size() < kRangesListed) {
    const size_t first = listed;
    while (listed + 1 < ascending.size() && ascending[listed + 1] == ascending[listed] + 1) {
      ++listed;
    }
    ranges.push_back(first == listed ? absl::StrCat(ascending[first])
                                     : absl::StrCat(ascending[first], "-", ascending[listed]));
    ++listed;
  }
  std::string text = absl::StrJoin(ranges, ", ");
  if (listed < ascending.size()) {
    absl::StrAppend(&text, " and ", ascending.size() - listed, " more");
  }
  return text;
}

std::string CountText(int64_t count, absl::string_view noun) {
  return absl::StrCat(count, " ", noun, count == 1 ? "" : "s");
}

}  // namespace chakrad
