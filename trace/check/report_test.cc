#include "trace/check/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>

#include "trace/check/finding_list.h"
#include "trace/model/rank_trace_builder.h"

namespace chakrad {
namespace {

using ::testing::HasSubstr;

RankTrace RankOf(int32_t number, int nodes_count) {
  RankTraceBuilder builder;
  builder.header().rank = number;
  for (int i = 0; i < nodes_count; ++i) {
    NodeSpec spec;
    spec.id = static_cast<uint64_t>(100 - i);
    spec.name = "n";
    builder.AddNode(spec);
  }
  return builder.Build(nullptr).value();
}

TEST(RulesTest, IdsAreUniqueAndEveryRuleSaysWhatAndWhatToDo) {
  std::set<std::string> ids;
  for (const Rule& rule : AllRules()) {
    EXPECT_TRUE(ids.insert(std::string(rule.id)).second) << rule.id;
    EXPECT_EQ(FindRule(rule.id), &rule);
    EXPECT_FALSE(rule.meaning.empty()) << rule.id;
    EXPECT_FALSE(rule.fix.empty()) << rule.id;
    for (const unsigned char c : rule.id)
      EXPECT_TRUE(std::islower(c) || std::isdigit(c) || c == '_') << rule.id;
  }
  EXPECT_EQ(FindRule("no_such_rule"), nullptr);
  EXPECT_EQ(FindRule(""), nullptr);
  EXPECT_EQ(FindRule("repaired_comma"), FindRule("repaired_"));
}

TEST(FindingListTest, FindingsComeBySeverityRuleRankAndNode) {
  const RankTrace low = RankOf(1, 2), high = RankOf(2, 2);
  FindingList findings;
  const auto text = [] { return std::string("text"); };
  findings.Add("zero_size", high, 0, text);
  findings.AddOfRank("unnamed_node", low, text);
  findings.Add("zero_size", low, 0, text);
  findings.Add("zero_size", low, 1, text);
  findings.AddOfTrace("group_member_twice", text);
  const CheckReport report = findings.Take();
  std::vector<std::string> order;
  for (const Finding& finding : report.findings) {
    order.push_back(std::string(SeverityName(finding.severity)) + " " + finding.rule + " " +
                    std::to_string(finding.rank) +
                    (finding.has_node ? " " + std::to_string(finding.node_id) : ""));
  }
  EXPECT_THAT(order, testing::ElementsAre("error group_member_twice -1", "warning zero_size 1 99",
                                          "warning zero_size 1 100", "warning zero_size 2 100",
                                          "info unnamed_node 1"));
  EXPECT_EQ(report.errors_count, 1);
  EXPECT_EQ(report.warnings_count, 3);
  EXPECT_EQ(report.infos_count, 1);
}

TEST(FindingListTest, TwentyOfARuleAreListedAndAllAreCounted) {
  const RankTrace rank = RankOf(0, 50);
  FindingList findings;
  int written = 0;
  for (uint32_t node = 0; node < 50; ++node) {
    findings.Add("zero_size", rank, node, [&] { return std::to_string(++written); });
  }
  const CheckReport report = findings.Take();
  EXPECT_EQ(report.findings.size(), 20u);
  EXPECT_EQ(written, 20);
  EXPECT_EQ(report.count_by_rule.at("zero_size"), 50);
  EXPECT_EQ(report.warnings_count, 50);
  EXPECT_THAT(ReportText(report), HasSubstr("and 30 more of zero_size"));
}

TEST(FindingListTest, WhatALedgerCountsIsFoundWhetherOrNotItIsListedOrRegistered) {
  Ledger ledger;
  ledger.file = "rank0.json";
  for (int i = 0; i < 150; ++i) ledger.Reject("kineto_no_time", i, 10 * i, "ts: missing");
  ledger.Reject("lost_record", 150, 7, "half a node");  // Beyond what a ledger lists.
  ledger.AddFlaw("missing_dependency", 3, 30, "node 9 is not there");
  ledger.AddFlaw("never_heard_of", -1, -1, "odd");
  FindingList findings;
  findings.AddLedger(ledger);
  const CheckReport report = findings.Take();
  EXPECT_EQ(report.count_by_rule.at("kineto_no_time"), 150);
  EXPECT_EQ(report.errors_count, 2);  // lost_record and missing_dependency.
  EXPECT_EQ(report.warnings_count, 151);
  ASSERT_EQ(report.findings.size(), 23u);
  EXPECT_EQ(report.findings.at(0).rule, "lost_record");
  EXPECT_EQ(report.findings.at(0).file, "rank0.json");
  EXPECT_THAT(report.findings.at(0).message, HasSubstr("1 record"));
  EXPECT_EQ(report.findings.at(1).rule, "missing_dependency");
  EXPECT_EQ(report.findings.at(1).byte_offset, 30);
  EXPECT_EQ(report.findings.at(1).message, "record 3: node 9 is not there");
  EXPECT_EQ(report.findings.at(22).rule, "never_heard_of");
  EXPECT_EQ(report.findings.at(22).severity, Severity::kWarning);
}

TEST(FindingListTest, NamesFromFilesAreCutAndMadeValid) {
  RankTraceBuilder builder;
  const std::string name = "\xff" + std::string(200, 'x');
  NodeSpec spec;
  spec.id = 7;
  spec.name = name;
  builder.AddNode(spec);
  const RankTrace rank = builder.Build(nullptr).value();
  EXPECT_EQ(NodeText(rank, 0), "node 7 (?" + std::string(79, 'x') + "...)");
}

TEST(FindingListTest, RangesAreCompact) {
  EXPECT_EQ(RangesText({}), "");
  EXPECT_EQ(RangesText({3, 7, 8, 9}), "3, 7-9");
  std::vector<int32_t> odd;
  for (int32_t i = 0; i < 50; ++i) odd.push_back(2 * i + 1);
  EXPECT_THAT(RangesText(odd), HasSubstr("39 and 30 more"));
}

TEST(ReportTest, TheTextNamesPlaceMessageAndFix) {
  Ledger ledger;
  ledger.file = "a.et";
  ledger.AddFlaw("attribute_type", 3, 30, "comm_size is a string");
  FindingList findings;
  findings.AddLedger(ledger);
  findings.AddOfRank("empty_rank", RankOf(4, 0), [] { return std::string("no nodes"); });
  const std::string text = ReportText(findings.Take());
  EXPECT_THAT(text, HasSubstr("error attribute_type a.et at byte 30: record 3: comm_size is"));
  EXPECT_THAT(text, HasSubstr("warning empty_rank rank 4: no nodes\n  fix: Record the rank"));
  EXPECT_THAT(text, HasSubstr("1 errors, 1 warnings, 0 infos; quality 1.00"));
}

}  // namespace
}  // namespace chakrad
