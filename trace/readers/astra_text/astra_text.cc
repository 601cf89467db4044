#include "trace/readers/astra_text/astra_text.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/readers/astra_text/program.h"
#include "trace/readers/astra_text/workload_file.h"
#include "trace/readers/limits.h"

namespace chakrad {
namespace {

constexpr int64_t kMaxTimeUnitNs = 1'000'000'000;

absl::StatusOr<int32_t> DecideNpusCount(const WorkloadFile& file, int32_t given) {
  const int32_t count = given > 0 ? given : file.npus_count;
  if (count == 0) {
    return absl::InvalidArgumentError(
        "a text workload does not say how many NPUs run it: give the world size (--world-size)");
  }
  if (file.npus_count > 0 && file.npus_count != count) {
    return absl::InvalidArgumentError(absl::StrCat(
        "world size: ", given, " was given, all_gpus: ", file.npus_count, " stands in line 1"));
  }
  if (count > kMaxRanksOfFile) {
    return absl::InvalidArgumentError(absl::StrCat("world size: ", count, " is more than ",
                                                   kMaxRanksOfFile,
                                                   ", as many ranks as a text workload may have"));
  }
  const int32_t model = file.model_group_npus;
  if (model > 0 && count % model != 0) {
    return absl::InvalidArgumentError(absl::StrCat("line 1: model_parallel_NPU_group: ", model,
                                                   " does not divide the world size, ", count));
  }
  return count;
}

// Of `rank`: ranks next to each other, and every `model`-th rank.
std::vector<ProcessGroup> GroupsOf(int32_t rank, int32_t model, int32_t npus_count) {
  ProcessGroup model_group{absl::StrCat("model_parallel_", rank / model), "model parallel", {}};
  for (int32_t i = 0; i < model; ++i) model_group.ranks.push_back(rank / model * model + i);
  ProcessGroup data_group{absl::StrCat("data_parallel_", rank % model), "data parallel", {}};
  for (int32_t i = rank % model; i < npus_count; i += model) data_group.ranks.push_back(i);
  static_assert(kModelGroup == 0 && kDataGroup == 1);
  return {std::move(model_group), std::move(data_group)};
}

absl::Status CheckOptions(const AstraTextOptions& options) {
  if (options.npus_count < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("world size: ", options.npus_count, " is below 0"));
  }
  if (options.passes_count < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("passes: ", options.passes_count, " is below 1"));
  }
  if (options.time_unit_ns < 1 || options.time_unit_ns > kMaxTimeUnitNs) {
    return absl::InvalidArgumentError(absl::StrCat("time unit: ", options.time_unit_ns,
                                                   " ns is not in [1, ", kMaxTimeUnitNs, "]"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<RankTrace>> ReadAstraText(ByteSource* source,
                                                     const AstraTextOptions& text_options,
                                                     const ReadOptions& options, Ledger* ledger) {
  RETURN_IF_ERROR(CheckOptions(text_options));
  ASSIGN_OR_RETURN(const WorkloadFile file, ReadWorkloadFile(source, options, ledger));
  ASSIGN_OR_RETURN(const int32_t npus_count, DecideNpusCount(file, text_options.npus_count));
  ProgramOptions program_options;
  program_options.npus_count = npus_count;
  program_options.passes_count = text_options.passes_count;
  program_options.time_unit_ns = text_options.time_unit_ns;
  program_options.nodes_max = kMaxTextWorkloadNodes / npus_count;
  bool uses_groups = false;
  ASSIGN_OR_RETURN(RankTrace program, MakeProgram(file, program_options, ledger, &uses_groups));
  const int64_t members =
      int64_t{file.model_group_npus} + (uses_groups ? npus_count / file.model_group_npus : 0);
  if (uses_groups && members * npus_count > kMaxGroupRanksInAll) {
    return absl::InvalidArgumentError(absl::StrCat("world size: the model and data groups of ",
                                                   npus_count, " ranks have ", members * npus_count,
                                                   " members, more than ", kMaxGroupRanksInAll));
  }
  program.schema = absl::StrCat("astra-sim-text ", WorkloadParallelismName(file.parallelism));
  ledger->notices.push_back(absl::StrCat(
      "ASTRA-sim 1 text workload, ", WorkloadParallelismName(file.parallelism), ", ",
      file.layers.size(), " layers, ", text_options.passes_count, " passes, ", npus_count,
      " equal ranks; its times are read in units of ", text_options.time_unit_ns,
      " ns (ASTRA-sim 1 counts nanoseconds, Chakra's converter microseconds)"));
  std::vector<RankTrace> ranks;
  ranks.reserve(static_cast<size_t>(npus_count));
  for (int32_t rank = 0; rank < npus_count; ++rank) {
    ranks.push_back(program);
    ranks.back().rank = rank;
    if (uses_groups) ranks.back().groups = GroupsOf(rank, file.model_group_npus, npus_count);
  }
  return ranks;
}

}  // namespace chakrad
