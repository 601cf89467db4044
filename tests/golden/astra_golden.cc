// bazel run //tests/golden:astra_golden -- FILE
// Simulates every row of FILE that the model covers, and prints how many agree by group
// and back end, then each that does not. Exit status 1 below 95 %, 2 on a bad file.
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

int Main(const std::string& path) {
  const absl::StatusOr<std::vector<std::string>> lines = ReadLines(path);
  if (!lines.ok()) {
    std::fprintf(stderr, "%s\n", lines.status().ToString().c_str());
    return 2;
  }
  std::map<std::pair<std::string, std::string>, Count> counts;  // By back end and group.
  std::vector<std::string> mismatches;
  Count all;
  int aborted = 0, aware = 0;
  for (const std::string& line : *lines) {
    const absl::StatusOr<GoldenRow> row = ParseGoldenRow(line);
    if (!row.ok()) {
      std::fprintf(stderr, "%s\n", row.status().ToString().c_str());
      return 2;
    }
    if (!row->ok) {
      ++aborted;
      continue;
    }
    const GoldenVerdict verdict = JudgeGoldenRow(*row);
    Count& count = counts[{row->backend, row->group}];
    ++count.total, ++all.total;
    count.matched += verdict.matches, all.matched += verdict.matches;
    count.exact += verdict.exact, all.exact += verdict.exact;
    if (!verdict.matches) {
      mismatches.push_back("row " + std::to_string(row->id) + " (" + row->group +
                           "): " + verdict.difference);
    }
  }
  for (const auto& [key, count] : counts) {
    std::printf("%-20s %-4s %4d of %4d match, %4d exactly\n", key.first.c_str(), key.second.c_str(),
                count.matched, count.total, count.exact);
  }
  std::printf("%-20s      %4d of %4d match, %4d exactly\n", "all modelled", all.matched, all.total,
              all.exact);
  std::printf("%-20s      %4d rows not modelled yet\n", "congestion_aware", aware);
  std::printf("%-20s      %4d rows without an answer\n", "aborted", aborted);
  for (const std::string& mismatch : mismatches) std::printf("%s\n", mismatch.c_str());
  return all.total > 0 && all.matched * 100 >= all.total * 95 ? 0 : 1;
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
