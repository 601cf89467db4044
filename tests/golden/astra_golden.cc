// bazel run //tests/golden:astra_golden -- FILE
// Simulates every row of FILE that ASTRA-sim answered, and prints how many agree by back end and
// group, then each that does not, with both values. Exit status 1 when less than 99 % of the rows
// of a back end agree or there are none, 2 on a file that is none of ours.
#include <cstdio>
#include <map>

#include "tests/golden/golden_rows.h"

namespace chakrad {
namespace {

struct Count {
  int matched = 0;
  int exact = 0;
  int total = 0;
};

// By back end, then group; "all" beside the groups.
using Counts = std::map<std::string, std::map<std::string, Count>>;

void Print(const Counts& counts, int unanswered, const std::vector<std::string>& mismatches) {
  for (const auto& [backend, groups] : counts) {
    for (const auto& [group, count] : groups) {
      std::printf("%-20s %-4s %5d of %5d match (%.1f %%), %d exactly\n", backend.c_str(),
                  group.c_str(), count.matched, count.total, 100.0 * count.matched / count.total,
                  count.exact);
    }
  }
  std::printf("%-20s      %5d rows without an answer\n", "aborted", unanswered);
  for (const std::string& mismatch : mismatches) std::printf("%s\n", mismatch.c_str());
}

int Main(const std::string& path) {
  const absl::StatusOr<std::vector<std::string>> lines = ReadLines(path);
  if (!lines.ok()) {
    std::fprintf(stderr, "%s\n", lines.status().ToString().c_str());
    return 2;
  }
  Counts counts;
  std::vector<std::string> mismatches;
  int unanswered = 0;
  for (const std::string& line : *lines) {
    const absl::StatusOr<GoldenRow> row = ParseGoldenRow(line);
    if (!row.ok()) {
      std::fprintf(stderr, "%s\n", row.status().ToString().c_str());
      return 2;
    }
    if (!row->ok) {
      ++unanswered;
      continue;
    }
    const GoldenVerdict verdict = JudgeGoldenRow(*row);
    for (Count* count : {&counts[row->backend][row->group], &counts[row->backend]["all"]}) {
      ++count->total;
      count->matched += verdict.matches;
      count->exact += verdict.exact;
    }
    if (!verdict.matches) {
      mismatches.push_back("row " + std::to_string(row->id) + " (" + row->backend + ", " +
                           row->group + "): " + verdict.difference);
    }
  }
  Print(counts, unanswered, mismatches);
  for (auto& [backend, groups] : counts) {
    if (groups["all"].matched * 100 < groups["all"].total * 99) return 1;
  }
  return counts.empty() ? 1 : 0;
}

}  // namespace
}  // namespace chakrad

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: astra_golden FILE  (golden.jsonl or golden.jsonl.gz)\n");
    return 2;
  }
  return chakrad::Main(argv[1]);
}
