#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "client/check_view.h"
#include "client/commands.h"
#include "client/export_files.h"
#include "client/input_options.h"
#include "client/local_import.h"
#include "client/session.h"
#include "client/trace_view.h"
#include "common/status.h"

namespace chakrad::client {
namespace {

constexpr char kHelp[] = R"(Examples:
  chakra convert run7/ -o chakra/                       PyTorch's pairs to Chakra .et
  chakra convert model.graph --format json
  chakra convert run7/ --format chrome -o .             timeline.json, for ui.perfetto.dev
  chakra convert run7/ --format svg --only-rank 0 --around 117
  chakra convert dp.txt --world-size 64 --passes 2 -o chakra/

Converts here, as the daemon does at ingest; needs none. chakra traces export
does the same with a stored trace.
)";

constexpr char kDefaultFolder[] = "converted";

struct ConvertArgs {
  InputArgs input;
  ExportArgs output;
};

absl::Status WriteAll(const Trace& trace, const ConvertArgs& args, const ExportPlan& plan,
                      ExportFiles* files) {
  std::vector<int32_t> ranks = args.output.ranks;
  RETURN_IF_ERROR(CheckRanksOnce(ranks));
  if (ranks.empty()) {
    for (const RankTrace& rank : trace.ranks) ranks.push_back(rank.rank);
  }
  if (args.output.folder == "-" && ranks.size() > 1 && !IsOneFile(plan.format)) {
    return UsageError(absl::StrCat("-o -: takes one rank only, and the trace has ", ranks.size(),
                                   "; add --only-rank N"));
  }
  if (IsOneFile(plan.format)) {
    const std::string name = ExportFileName(plan.format, 0);
    return WriteTimelines(trace, ranks, plan.format,
                          [&](absl::string_view bytes) { return files->Add(name, bytes); });
  }
  for (const int32_t rank : ranks) {
    const std::string name = ExportFileName(plan.format, rank);
    RETURN_IF_ERROR(WriteRank(trace, rank, plan.format, args.output.graph,
                              [&](absl::string_view bytes) { return files->Add(name, bytes); }));
  }
  return absl::OkStatus();
}

// A folder that this made before may hold ranks of another trace, and no input may
// be written over.
absl::Status CheckFolder(const std::string& folder, const ConvertArgs& args,
                         const UploadPlan& input) {
  std::error_code ignored;
  if (args.output.folder.empty() && std::filesystem::exists(folder, ignored)) {
    return UsageError(absl::StrCat(folder, ": is there already; choose a folder with -o"));
  }
  for (const UploadFile& file : input.files) {
    const std::filesystem::path parent = std::filesystem::path(file.path).parent_path();
    if (std::filesystem::equivalent(parent.empty() ? "." : parent, folder, ignored)) {
      return UsageError(absl::StrCat("-o ", folder, ": holds ", file.path,
                                     ", which is read; choose another folder"));
    }
  }
  return absl::OkStatus();
}

absl::Status RunConvert(ConvertArgs* args, Session* session) {
  ASSIGN_OR_RETURN(const ExportPlan plan, PlanExport(&args->output));
  ASSIGN_OR_RETURN(const UploadPlan input, PlanInput(args->input, session));
  ASSIGN_OR_RETURN(const ImportResult result,
                   ImportHere(input, args->input.kernel_names, /*report_only=*/false));
  const std::string folder = args->output.folder.empty() ? kDefaultFolder : args->output.folder;
  RETURN_IF_ERROR(CheckFolder(folder, *args, input));
  ExportFiles files(folder, &session->out());
  RETURN_IF_ERROR(WriteAll(result.trace, *args, plan, &files));
  RETURN_IF_ERROR(files.Finish());
  if (!plan.picture.empty()) {
    RETURN_IF_ERROR(files.LayOut(plan.picture, args->output.layout_seconds));
  }
  // What was left out, mended or assumed on the way.
  const v1::Trace trace = Describe(result, input);
  session->err() << Printable(NoticesText(trace) + CheckLine(trace.check())) << "\n";
  files.Print(input.files[0].path, session);
  return absl::OkStatus();
}

}  // namespace

void AddConvertCommand(CLI::App* app, Session* session, int* exit_code) {
  const auto args = std::make_shared<ConvertArgs>();
  CLI::App* command =
      app->add_subcommand("convert", "Convert trace files on this machine, without a daemon");
  command->footer(kHelp);
  AddInputOptions(command, "Files or folders of one trace", &args->input);
  command->add_flag("--lenient", args->input.settings.lenient,
                    "Leave out what is at fault and count it, rather than refuse the file");
  AddExportOptions(command, "a new folder named converted", &args->output);
  command->add_option("--only-rank", args->output.ranks, "Only this rank; repeatable")
      ->type_name("N")
      ->allow_extra_args(false);
  command->callback([args, session, exit_code] {
    *exit_code = session->Report(RunConvert(args.get(), session));
  });
}

}  // namespace chakrad::client
