#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/commands.h"
#include "client/input_files.h"
#include "client/progress_line.h"
#include "client/quantity.h"
#include "client/session.h"
#include "client/trace_view.h"
#include "client/upload.h"
#include "common/status.h"

namespace chakrad::client {
namespace {

constexpr char kHelp[] = R"(Examples:
  chakra ingest run7/                       a folder of rank files
  chakra ingest r0.et.json.gz r0.kineto.json.gz --rank r0.et.json.gz=0
  chakra ingest run7/ --label job=llama --label step=1200

A PATH is a file or a folder; of a folder, *.json, *.json.gz, *.et and *.et.gz
are taken, its direct subfolders included. All files become one trace; PyTorch
execution traces, Kineto traces and Chakra .et are told apart by their content.
After a broken connection, the same command goes on where it stopped.
)";

struct IngestArgs {
  std::vector<std::string> paths;
  std::vector<std::string> labels;
  std::vector<std::string> ranks;
  std::string manifest;
  std::string request_id;
  ImportSettings settings;
};

// "k=v" at its first '='.
absl::StatusOr<std::pair<std::string, std::string>> SplitPair(const char* option,
                                                              const std::string& text) {
  const size_t at = text.find('=');
  if (at == std::string::npos || at == 0) {
    return UsageError(absl::StrCat(option, ": \"", text, "\" is not of the form NAME=VALUE"));
  }
  return std::make_pair(text.substr(0, at), text.substr(at + 1));
}

// The upload's name of the file that `text` means: that name, or the path as
// given.
absl::StatusOr<std::string> FindFile(const std::vector<UploadFile>& files,
                                     const std::string& text) {
  for (const UploadFile& file : files) {
    if (file.file == text || file.path == text) return file.file;
  }
  return UsageError(absl::StrCat("--rank: ", text, " is not one of the files to upload"));
}

absl::Status ParseOptions(const IngestArgs& args, UploadPlan* plan) {
  for (const std::string& label : args.labels) {
    ASSIGN_OR_RETURN(const auto pair, SplitPair("--label", label));
    if (!plan->labels.insert(pair).second) {
      return UsageError(absl::StrCat("--label: ", pair.first, " is given twice"));
    }
  }
  for (const std::string& rank_text : args.ranks) {
    ASSIGN_OR_RETURN(const auto pair, SplitPair("--rank", rank_text));
    ASSIGN_OR_RETURN(const std::string file, FindFile(plan->files, pair.first));
    int32_t rank = 0;
    if (!absl::SimpleAtoi(pair.second, &rank) || rank < 0) {
      return UsageError(absl::StrCat("--rank: \"", pair.second, "\" is not a rank (0, 1, ...)"));
    }
    if (!plan->settings.rank_by_file.emplace(file, rank).second) {
      return UsageError(absl::StrCat("--rank: ", file, " is given twice"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<UploadPlan> MakePlan(const IngestArgs& args, Session* session) {
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
  RETURN_IF_ERROR(ParseOptions(args, &plan));
  if (!args.request_id.empty()) {
    plan.request_id = args.request_id;
  } else {
    absl::StatusOr<std::string> id = ContentRequestId(plan);
    if (!id.ok()) return UsageError(id.status().message());
    plan.request_id = *std::move(id);
  }
  return plan;
}

absl::Status RunIngest(const IngestArgs& args, Session* session) {
  ASSIGN_OR_RETURN(const UploadPlan plan, MakePlan(args, session));
  ProgressLine line(&session->err(), session->io().err_is_terminal);
  UploadOptions options;
  options.sleep = session->io().sleep;
  options.progress = [&line](const UploadProgress& progress) {
    line.Draw(progress.committed_bytes, progress.bytes,
              progress.sealing ? "uploaded, converting"
                               : absl::StrCat(BytesText(progress.committed_bytes), " of ",
                                              BytesText(progress.bytes)));
  };
  ASSIGN_OR_RETURN(const v1::Trace trace, UploadTrace(session->channel(), plan, options));
  line.Clear();
  int64_t bytes = 0;
  for (const UploadFile& file : plan.files) bytes += file.bytes;
  if (session->json()) {
    session->PrintJson({{"request_id", plan.request_id},
                        {"files_count", plan.files.size()},
                        {"uploaded_bytes", bytes},
                        {"trace", TraceJson(trace)}});
  } else {
    session->out() << TraceText(trace);
  }
  return absl::OkStatus();
}

}  // namespace

void AddIngestCommand(CLI::App* app, Session* session, int* exit_code) {
  const auto args = std::make_shared<IngestArgs>();
  CLI::App* command = app->add_subcommand("ingest", "Upload trace files as one trace");
  command->footer(kHelp);
  command->add_option("PATH", args->paths, "Files or folders of rank files")
      ->type_name("")
      ->required();
  command->add_option("--label", args->labels, "Label to find the trace by; repeatable")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
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
  command->add_flag("--lenient", args->settings.lenient,
                    "Leave out what is at fault (dependencies on nodes that are not there, "
                    "doubled nodes) and count it, rather than refuse the file");
  command->add_flag("--repair", args->settings.repair,
                    "Put right the broken JSON that PyTorch's recorders write (commas, half "
                    "records) and count the repairs");
  command
      ->add_option("--manifest", args->manifest,
                   "JSON with ranks, world size and process groups, for files that lack them")
      ->type_name("FILE");
  command
      ->add_option("--request-id", args->request_id,
                   "Equal ids are one upload (default: a hash of the files and options)")
      ->type_name("ID");
  command->callback(
      [args, session, exit_code] { *exit_code = session->Report(RunIngest(*args, session)); });
}

}  // namespace chakrad::client
