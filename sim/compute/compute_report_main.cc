// compute_report PEAK_GFLOPS MEMORY_GB_PER_S PATH...: what the shapes of a trace's operators say
// beside what was recorded, by class and by operator. For looking at the compute model.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "sim/compute/carriers.h"
#include "sim/compute/node_costs.h"
#include "sim/compute/operator_shapes.h"
#include "sim/compute/operator_table.h"
#include "sim/system/system_description.h"
#include "trace/import/import.h"
#include "trace/memory/tensor_lifetimes.h"
#include "trace/operators/operator_arguments.h"

namespace chakrad {
namespace {

struct Row {
  int64_t count = 0, counted = 0;  // Operators that carry work; of those, with work from shapes.
  double flops = 0, bytes = 0, recorded_ns = 0, predicted_ns = 0;  // Of the counted ones.
};

// Recorded time of each carrier: of its device operations, else its own interval.
std::map<uint32_t, double> RecordedNs(const RankTrace& rank, const Carriers& carriers) {
  const bool host_computes = !rank.HasDeviceCompute();
  std::map<uint32_t, double> recorded_ns;
  for (uint32_t node = 0; node < rank.size(); ++node) {
    const uint32_t carrier = carriers.carrier[node];
    if (carrier == kNone || rank.type[node] != NodeType::kComp) continue;
    if (rank.is_host(node)) {
      if (host_computes && node == carrier) {
        recorded_ns[node] += static_cast<double>(std::max<int64_t>(rank.dur_ns[node], 0));
      }
    } else {
      recorded_ns[carrier] += static_cast<double>(std::max<int64_t>(rank.work_ns[node], 0));
    }
  }
  return recorded_ns;
}

void AddRank(const ComputeModel& model, const RankTrace& rank, std::map<std::string, Row>* rows) {
  const Carriers carriers = FindCarriers(rank);
  for (const auto& [node, recorded_ns] : RecordedNs(rank, carriers)) {
    Row work_of_one;
    work_of_one.count = 1;
    const auto arguments = ReadArguments(TextsOfCold(rank.ColdOf(node)));
    const OperatorInfo* info = FindOperator(rank.NameOf(node));
    if (arguments.has_value()) {
      if (const auto work = CountWork(*info, *arguments); work.has_value()) {
        work_of_one = {1, 1, work->flops, work->bytes, recorded_ns, WorkNs(model, *work)};
      }
    }
    const std::string class_name(OperatorClassName(carriers.op_class[node]));
    for (const std::string& key : {"= " + class_name, std::string(rank.NameOf(node))}) {
      Row& row = (*rows)[key];
      row.count += work_of_one.count;
      row.counted += work_of_one.counted;
      row.flops += work_of_one.flops;
      row.bytes += work_of_one.bytes;
      row.recorded_ns += work_of_one.recorded_ns;
      row.predicted_ns += work_of_one.predicted_ns;
    }
  }
}

void Print(const std::map<std::string, Row>& rows) {
  std::printf("%-44s %6s %6s %10s %10s %11s %11s %8s %8s\n", "class / operator", "count", "shapes",
              "GFLOP", "GB", "recorded ms", "shapes ms", "GFLOP/s", "GB/s");
  for (const auto& [name, row] : rows) {
    const double ns = row.recorded_ns > 0 ? row.recorded_ns : 1;
    std::printf("%-44s %6lld %6lld %10.4f %10.4f %11.3f %11.3f %8.2f %8.2f\n", name.c_str(),
                static_cast<long long>(row.count), static_cast<long long>(row.counted),
                row.flops / 1e9, row.bytes / 1e9, row.recorded_ns / 1e6, row.predicted_ns / 1e6,
                row.flops / ns, row.bytes / ns);
  }
}

// Use by recorded times.
void PrintMemory(const RankTrace& rank) {
  std::vector<int64_t> start_ps(rank.size(), -1), end_ps(rank.size(), -1);
  for (uint32_t node = 0; node < rank.size(); ++node) {
    if (rank.start_ns[node] == kUnknownNs || rank.dur_ns[node] < 0) continue;
    start_ps[node] = rank.start_ns[node] * 1000;
    end_ps[node] = start_ps[node] + rank.dur_ns[node] * 1000;
  }
  for (const MemoryUse& use : ComputeMemoryUse(FindTensorLifetimes(rank), start_ps, end_ps, 100)) {
    std::printf(
        "  memory of %s: %lld tensors, at most %.3f MB at %.3f ms, of which %.3f resident\n",
        use.device.c_str(), static_cast<long long>(use.lives_count),
        static_cast<double>(use.peak_bytes) / 1e6, static_cast<double>(use.peak_at_ps) / 1e9,
        static_cast<double>(use.resident_bytes) / 1e6);
  }
}

int Main(const std::vector<std::string>& args) {
  SystemDescription system;
  system.semantics = Semantics::kPhysical;
  system.compute.basis = ComputeBasis::kOperatorShapes;
  if (args.size() < 3 || !absl::SimpleAtod(args[0], &system.compute.peak_flops_per_ns) ||
      !absl::SimpleAtod(args[1], &system.compute.memory_bytes_per_ns)) {
    std::cerr << "usage: compute_report PEAK_GFLOPS MEMORY_GB_PER_S PATH...\n";
    return 2;
  }
  std::vector<ImportFile> files;
  for (size_t i = 2; i < args.size(); ++i) {
    if (!std::filesystem::is_directory(args[i])) {
      files.push_back({std::filesystem::path(args[i]).filename().string(), args[i]});
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(args[i])) {
      if (entry.is_regular_file()) {
        files.push_back({entry.path().filename().string(), entry.path().string()});
      }
    }
  }
  const absl::StatusOr<ImportResult> imported = ImportTrace(files, ImportOptions());
  if (!imported.ok()) {
    std::cerr << imported.status() << "\n";
    return 1;
  }
  std::map<std::string, Row> rows;
  for (const RankTrace& rank : imported->trace.ranks) {
    const absl::StatusOr<ComputeCosts> costs = CostComputeNodes(system, rank);
    if (!costs.ok()) {
      std::cerr << costs.status() << "\n";
      return 1;
    }
    std::printf(
        "rank %d: %lld nodes by shapes, %lld inside them, %lld by roofline, %lld recorded, "
        "%lld unknown; %lld wanted shapes and have none\n",
        rank.rank, static_cast<long long>(costs->shapes_count),
        static_cast<long long>(costs->inside_count), static_cast<long long>(costs->roofline_count),
        static_cast<long long>(costs->recorded_count), static_cast<long long>(costs->unknown_count),
        static_cast<long long>(costs->without_size_count));
    PrintMemory(rank);
    AddRank(system.compute, rank, &rows);
  }
  Print(rows);
  return 0;
}

}  // namespace
}  // namespace chakrad

int main(int argc, char** argv) {
  return chakrad::Main(std::vector<std::string>(argv + 1, argv + argc));
}
