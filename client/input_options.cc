#include "client/input_options.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/input_files.h"
#include "client/session.h"
#include "common/status.h"

namespace chakrad::client {
namespace {

// The upload's name of the file that `text` means: that name, or the path as
// given.
absl::StatusOr<std::string> FindFile(const std::vector<UploadFile>& files,
                                     const std::string& text) {
  for (const UploadFile& file : files) {
    if (file.file == text || file.path == text) return file.file;
  }
  return UsageError(absl::StrCat("--rank: ", text, " is not one of the files"));
}

}  // namespace

absl::StatusOr<std::pair<std::string, std::string>> SplitPair(const char* option,
                                                              const std::string& text) {
  const size_t at = text.find('=');
  if (at == std::string::npos || at == 0) {
    return UsageError(absl::StrCat(option, ": \"", text, "\" is not of the form NAME=VALUE"));
  }
  return std::make_pair(text.substr(0, at), text.substr(at + 1));
}

void AddInputOptions(CLI::App* command, const char* paths_help, InputArgs* args) {
  command->add_option("PATH", args->paths, paths_help)->type_name("")->required();
  command
      ->add_option("--rank", args->ranks, "Rank of a file that does not tell its own; repeatable")
      ->type_name("FILE=N")
      ->allow_extra_args(false);
  command
      ->add_option("--world-size", args->settings.world_size,
                   "Ranks of the job where no file tells; otherwise the highest rank + 1")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--passes", args->settings.passes_count,
                   "Iterations of an ASTRA-sim text workload (default: 1)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--manifest", args->manifest,
                   "JSON with ranks, world size and process groups, for files that lack them")
      ->type_name("FILE");
  command
      ->add_option("--kernel-names", args->kernel_names,
                   "JSON with names of communication kernels that the built-in table lacks; for "
                   "conversions on this machine (a daemon has its own --kernel_names)")
      ->type_name("FILE");
  command->add_flag("--repair", args->settings.repair,
                    "Put right the broken JSON that PyTorch's recorders write (commas, half "
                    "records) and count the repairs");
}

absl::StatusOr<UploadPlan> PlanInput(const InputArgs& args, Session* session) {
  absl::StatusOr<InputFiles> input = CollectInputFiles(args.paths, args.manifest);
  if (!input.ok()) return UsageError(input.status().message());
  if (!input->left_out.empty()) {
    session->err() << "chakra: " << input->left_out.size()
                   << " other files or folders are left out, such as " << input->left_out[0]
                   << "\n";
  }
  UploadPlan plan;
  plan.files = std::move(input->files);
  plan.settings = args.settings;
  for (const std::string& rank_text : args.ranks) {
    ASSIGN_OR_RETURN(const auto pair, SplitPair("--rank", rank_text));
    ASSIGN_OR_RETURN(const std::string file, FindFile(plan.files, pair.first));
    int32_t rank = 0;
    if (!absl::SimpleAtoi(pair.second, &rank) || rank < 0) {
      return UsageError(absl::StrCat("--rank: \"", pair.second, "\" is not a rank (0, 1, ...)"));
    }
    if (!plan.settings.rank_by_file.emplace(file, rank).second) {
      return UsageError(absl::StrCat("--rank: ", file, " is given twice"));
    }
  }
  return plan;
}

}  // namespace chakrad::client
