// bazel run //tests/validation:ground_truth -- [--traces FOLDER] [--all] FOLDER
// bazel run //tests/validation:ground_truth -- --calibrate RATE FOLDER
// bazel run //tests/validation:ground_truth -- --system HOSTS,RATE,MTU
// Projects what was measured on a real network (FOLDER/ground_truth.jsonl.gz: rows on links
// limited by token buckets) and prints both beside each other: all_reduce and send_recv, and
// whole iterations from the traces in FOLDER/traces (or --traces). --all: the other operations
// too, which have no target. --calibrate: the message cost that fits the small rows of one rate
// best. --system: the system file of one fabric. Exit status 1 when a target is missed, 2 when
// something cannot be read or simulated.
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>

#include "absl/strings/str_format.h"
#include "tests/validation/fabric.h"
#include "tests/validation/projection.h"

namespace chakrad {
namespace {

struct Counts {
  int within = 0;
  int judged = 0;
};

absl::StatusOr<Projected> ProjectRow(const GroundTruthRow& row, const std::string& traces,
                                     double message_cost_us) {
  ASSIGN_OR_RETURN(const SystemDescription system, FabricSystem(row.fabric, message_cost_us));
  ASSIGN_OR_RETURN(const Trace trace,
                   row.is_collective ? CollectiveTrace(row) : IterationTrace(traces, row));
  return Project(trace, system, row);
}

absl::StatusOr<Projected> ProjectAsCalibrated(const GroundTruthRow& row,
                                              const std::string& traces) {
  ASSIGN_OR_RETURN(const double message_cost_us, MessageCostUs(row.fabric.hosts_count));
  return ProjectRow(row, traces, message_cost_us);
}

void PrintRow(const GroundTruthRow& row, const Projected& projected, const Verdict& verdict) {
  std::string text = absl::StrFormat(
      "| %d | %g | %s | %s | %.*f | %.*f .. %.*f | %.*f | %+.1f |", row.fabric.hosts_count,
      row.fabric.rate_mbit, row.is_collective ? row.op : row.model,
      row.is_collective ? absl::StrCat(row.bytes) : "", row.is_collective ? 0 : 1, row.median,
      row.is_collective ? 0 : 1, row.p10, row.is_collective ? 0 : 1, row.p90,
      row.is_collective ? 0 : 1, projected.span, 100 * (projected.span / row.median - 1));
  if (!row.is_collective) {
    absl::StrAppendFormat(&text, " %.1f | %.1f | %+.1f |", row.exposed_ms, projected.exposed,
                          ExposedPointsOff(row, projected));
  }
  absl::StrAppend(&text, !verdict.has_target ? " - |" : verdict.within ? " yes |" : " NO |");
  std::printf("%s\n", text.c_str());
}

constexpr char kCollectiveHead[] =
    "| hosts | Mbit/s | operation | bytes | measured us | p10 .. p90 | projected us | error % | "
    "within target |\n|---|---|---|---|---|---|---|---|---|\n";
constexpr char kIterationHead[] =
    "\n| hosts | Mbit/s | model | | measured ms | p10 .. p90 | projected ms | error % | exposed ms "
    "| "
    "projected ms | points off | within target "
    "|\n|---|---|---|---|---|---|---|---|---|---|---|---|\n";

// A row that cannot be projected misses its target.
Counts PrintTable(const std::vector<GroundTruthRow>& rows, const std::string& traces, bool all) {
  Counts counts;
  std::printf("%s", kCollectiveHead);
  bool in_iterations = false;
  for (const GroundTruthRow& row : rows) {
    const bool has_target = Judge(row, Projected()).has_target;
    if (!has_target && !all) continue;
    if (!row.is_collective && !in_iterations) std::printf("%s", kIterationHead);
    in_iterations = !row.is_collective;
    counts.judged += has_target;
    const absl::StatusOr<Projected> projected = ProjectAsCalibrated(row, traces);
    if (!projected.ok()) {
      std::printf("| %d | %g | %s | not projected: %s |\n", row.fabric.hosts_count,
                  row.fabric.rate_mbit, (row.op + row.model).c_str(),
                  projected.status().ToString().c_str());
      continue;
    }
    const Verdict verdict = Judge(row, *projected);
    PrintRow(row, *projected, verdict);
    counts.within += has_target && verdict.within;
  }
  return counts;
}

// Least squares of the logarithms of projected over measured, of 4 KiB, to a microsecond.
absl::Status Calibrate(const std::vector<GroundTruthRow>& rows, double rate_mbit) {
  for (const int32_t hosts_count : {2, 4}) {
    double best = INFINITY;
    int best_us = 0;
    for (int us = 0; us <= 500; ++us) {
      double sum = 0;
      for (const GroundTruthRow& row : rows) {
        if (row.fabric.hosts_count != hosts_count || row.fabric.rate_mbit != rate_mbit) continue;
        if (!Judge(row, Projected()).has_target || !row.is_collective || row.bytes > 4096) continue;
        ASSIGN_OR_RETURN(const Projected projected, ProjectRow(row, "", us));
        sum += std::pow(std::log(projected.span / row.median), 2);
      }
      if (sum > 0 && sum < best) best = sum, best_us = us;
    }
    std::printf("%d hosts: message cost %d us, root of the mean square %.3f\n", hosts_count,
                best_us, std::sqrt(best / 2));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> Run(const std::string& folder, const std::string& traces, bool all,
                         double calibrate) {
  ASSIGN_OR_RETURN(const std::vector<GroundTruthRow> rows, ReadGroundTruth(folder));
  if (calibrate > 0) {
    RETURN_IF_ERROR(Calibrate(rows, calibrate));
    return true;
  }
  const Counts counts = PrintTable(rows, traces.empty() ? folder + "/traces" : traces, all);
  std::printf("\n%d of %d within their targets\n", counts.within, counts.judged);
  return counts.within == counts.judged;
}

int Main(int argc, char** argv) {
  CLI::App app("Projects what was measured on a real network.");
  std::string folder, traces;
  std::vector<double> system;
  bool all = false;
  double calibrate = 0;
  app.add_option("folder", folder, "Holds ground_truth.jsonl.gz");
  app.add_option("--traces", traces, "Instead of FOLDER/traces");
  app.add_flag("--all", all, "Operations without a target, too");
  app.add_option("--calibrate", calibrate, "A rate in Mbit/s");
  app.add_option("--system", system, "HOSTS,RATE,MTU")->delimiter(',')->expected(3);
  CLI11_PARSE(app, argc, argv);
  if (!system.empty()) {
    const Fabric fabric{static_cast<int32_t>(system[0]), system[1],
                        static_cast<int32_t>(system[2])};
    const absl::StatusOr<double> cost_us = MessageCostUs(fabric.hosts_count);
    if (cost_us.ok()) std::printf("%s", FabricYaml(fabric, *cost_us).c_str());
    return cost_us.ok() ? 0 : 2;
  }
  const absl::StatusOr<bool> within = Run(folder, traces, all, calibrate);
  if (!within.ok()) {
    std::fprintf(stderr, "%s\n", within.status().ToString().c_str());
    return 2;
  }
  return *within ? 0 : 1;
}

}  // namespace
}  // namespace chakrad

int main(int argc, char** argv) { return chakrad::Main(argc, argv); }
