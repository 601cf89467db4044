#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "client/commands.h"
#include "client/export_files.h"
#include "client/input_options.h"
#include "client/local_import.h"
#include "client/session.h"
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

struct ConvertArgs {
  InputArgs input;
  ExportArgs output;
};

absl::Status WriteAll(const Trace& trace, const ConvertArgs& args, const ExportPlan& plan,
                      ExportFiles* files) {
  std::vector<int32_t> ranks = args.output.ranks;
  if (ranks.empty()) {
    for (const RankTrace& rank : trace.ranks) ranks.push_back(rank.rank);
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

absl::Status RunConvert(ConvertArgs* args, Session* session) {
  ASSIGN_OR_RETURN(const ExportPlan plan, PlanExport(&args->output));
  ASSIGN_OR_RETURN(const UploadPlan input, PlanInput(args->input, session));
  ASSIGN_OR_RETURN(const ImportResult result,
                   ImportHere(input, args->input.kernel_names, /*report_only=*/false));
  const std::string folder = args->output.folder.empty() ? "converted" : args->output.folder;
  ExportFiles files(folder, &session->out());
  RETURN_IF_ERROR(WriteAll(result.trace, *args, plan, &files));
  RETURN_IF_ERROR(files.Finish());
  if (!plan.picture.empty()) {
    RETURN_IF_ERROR(files.LayOut(plan.picture, args->output.layout_seconds));
  }
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
