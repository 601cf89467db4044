#include "trace/readers/process_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "trace/readers/limits.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Table {
  std::vector<ProcessGroup> groups;
  int32_t world_size = 0;
  Ledger ledger;
};

Table Read(const std::vector<std::string>& jsons) {
  Table table;
  ProcessGroupTables tables(&table.ledger);
  for (absl::string_view one : jsons) tables.Add(one);
  table.world_size = tables.world_size();
  table.groups = tables.TakeGroups();
  return table;
}

constexpr char kTable[] = R"([{"pg_name":"0","pg_desc":"default_pg","ranks":[],"group_size":4},)"
                          R"({"pg_name":"mesh_\"tp]","pg_desc":"TP","ranks":[1,3],"group_size":2},)"
                          R"({"pg_name":7,"ranks":{"2":1,"0":0}}])";

TEST(ProcessGroupsTest, AnEmptyListOfRanksMeansAllOfThem) {
  const Table table = Read({kTable});
  ASSERT_THAT(table.groups, SizeIs(3));
  EXPECT_EQ(table.groups[0], (ProcessGroup{"0", "default_pg", {0, 1, 2, 3}}));
  EXPECT_EQ(table.groups[1], (ProcessGroup{"mesh_\"tp]", "TP", {1, 3}}));
  EXPECT_EQ(table.groups[2], (ProcessGroup{"7", "", {0, 2}}));  // In the order of group ranks.
  EXPECT_EQ(table.world_size, 4);
  EXPECT_THAT(table.ledger.notices, IsEmpty());
}

TEST(ProcessGroupsTest, ATableCutAtAnyByteGivesItsCompleteEntries) {
  const std::string text(kTable);
  const size_t ends[] = {text.find("},{") + 1, text.find("},{\"pg_name\":7") + 1, text.size() - 1};
  for (size_t cut = 0; cut < text.size(); ++cut) {
    const Table table = Read({text.substr(0, cut)});
    size_t complete = 0;
    for (size_t end : ends) complete += cut >= end;
    EXPECT_THAT(table.groups, SizeIs(complete)) << cut;
    ASSERT_THAT(table.ledger.notices, SizeIs(1)) << cut;
    EXPECT_THAT(table.ledger.notices[0],
                HasSubstr(absl::StrCat("cut off: ", complete, " complete entries")));
  }
}

TEST(ProcessGroupsTest, OfTwoEntriesWithOneNameTheOneWithMembersStays) {
  const std::string empty = R"([{"pg_name":"1","ranks":[]}])";
  const Table table =
      Read({R"([{"pg_name":"1","ranks":[]},{"pg_name":"1","ranks":[4,5]}])", empty});
  ASSERT_THAT(table.groups, SizeIs(1));
  EXPECT_THAT(table.groups[0].ranks, ElementsAre(4, 5));
}

TEST(ProcessGroupsTest, UnusableEntriesAreLeftOutWithANotice) {
  const std::pair<const char*, const char*> cases[] = {
      {R"([{"ranks":[0]}])", "pg_name: missing"},
      {R"([{"pg_name":"a","ranks":[0,0]}])", "one is named twice"},
      {R"([{"pg_name":"a","ranks":[-1]}])", "ranks: -1 is not in [0, 2^31)"},
      {R"([{"pg_name":"a","ranks":"all"}])", "ranks: is not a list"},
      {R"([{"pg_name":"a","ranks":[18446744073709551615]}])", "ranks: is not an integer"},
      {R"([{"pg_name":"a","ranks":[],"group_size":4000000000000}])", "group_size: 4000000000000"},
      {R"([{"pg_name":"a" "ranks":[0]}])", "is not JSON"},
  };
  for (const auto& [json, part] : cases) {
    const Table table = Read({json});
    EXPECT_THAT(table.groups, IsEmpty()) << json;
    ASSERT_THAT(table.ledger.notices, SizeIs(1)) << json;
    EXPECT_THAT(table.ledger.notices[0], HasSubstr(part));
  }
}

TEST(ProcessGroupsTest, NoticesAreFew) {
  std::string json = "[{}";
  for (int i = 0; i < 1000; ++i) json += ",{}";
  EXPECT_THAT(Read({json}).ledger.notices, SizeIs(11));
}

TEST(ProcessGroupsTest, ManySmallClaimsDoNotAddUpToAHugeTable) {
  std::string json = "[";
  for (int i = 0; i < 100; ++i) {
    absl::StrAppend(&json, i == 0 ? "" : ",", "{\"pg_name\":\"", i,
                    "\",\"ranks\":[],\"group_size\":", kMaxGroupRanks, "}");
  }
  const Table table = Read({json + "]"});
  EXPECT_THAT(table.groups, SizeIs(kMaxGroupRanksInAll / kMaxGroupRanks));
  EXPECT_THAT(table.ledger.notices.back(), HasSubstr("the rest is left out"));
}

}  // namespace
}  // namespace chakrad
