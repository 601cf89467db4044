#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/commands.h"
#include "client/convert_here.h"
#include "client/input_files.h"
#include "client/input_options.h"
#include "client/local_import.h"
#include "client/progress_line.h"
#include "client/quantity.h"
#include "client/session.h"
#include "client/trace_view.h"
#include "client/upload.h"
#include "common/status.h"
#include "trace/import/launches.h"

namespace chakrad::client {
namespace {

constexpr char kHelp[] = R"(Examples:
  chakra ingest run7/                       a folder of rank files
  chakra ingest r0.et.json.gz r0.kineto.json.gz --rank r0.et.json.gz=0
  chakra ingest run7/ --label job=llama --label step=1200
  chakra ingest run7/ --dry-run             only convert and check, without a daemon
  chakra ingest run7/ --convert-here        convert here: sends a tenth of the bytes, or less

A PATH is a file, an archive (tar, zip) or a folder; of a folder, *.json, *.et,
plain or gzip, *.graph and archives are taken, its direct subfolders included. All
files become one trace. What each file is shows its content: docs/formats.md lists
the formats.
After a broken connection, the same command goes on where it stopped.
)";

struct IngestArgs {
  InputArgs input;
  std::vector<std::string> labels;
  std::string request_id;
  bool dry_run = false;
  bool convert_here = false;
};

absl::StatusOr<UploadPlan> MakePlan(const IngestArgs& args, Session* session) {
  ASSIGN_OR_RETURN(UploadPlan plan, PlanInput(args.input, session));
  for (const std::string& label : args.labels) {
    ASSIGN_OR_RETURN(const auto pair, SplitPair("--label", label));
    if (!plan.labels.insert(pair).second) {
      return UsageError(absl::StrCat("--label: ", pair.first, " is given twice"));
    }
  }
  if (!args.request_id.empty()) {
    plan.request_id = args.request_id;
  } else if (!args.dry_run && !args.convert_here) {
    absl::StatusOr<std::string> id = ContentRequestId(plan);
    if (!id.ok()) return UsageError(id.status().message());
    plan.request_id = *std::move(id);
  }
  return plan;
}

// Of each rank: how many device operations have a launch, and how many of those
// launches lie inside the host operation that they are linked to.
Json LaunchesJson(const Trace& trace) {
  Json ranks = Json::array();
  for (const RankTrace& rank : trace.ranks) {
    const LaunchCount count = CountLaunches(rank);
    ranks.push_back({{"rank", rank.rank},
                     {"device_ops_count", count.device_ops_count},
                     {"launched_count", count.launched_count},
                     {"contained_count", count.contained_count}});
  }
  return ranks;
}

absl::Status RunDry(const UploadPlan& plan, const std::string& kernel_names, Session* session) {
  ASSIGN_OR_RETURN(const ImportResult result,
                   ImportHere(plan, kernel_names, /*report_only=*/false));
  const v1::Trace trace = Describe(result, plan);
  if (session->json()) {
    session->PrintJson({{"dry_run", true},
                        {"files_count", plan.files.size()},
                        {"trace", TraceJson(trace)},
                        {"launches", LaunchesJson(result.trace)}});
  } else {
    session->PrintText("nothing was stored: --dry-run\n" + TraceText(trace));
  }
  return absl::OkStatus();
}

absl::Status RunIngest(const IngestArgs& args, Session* session) {
  ASSIGN_OR_RETURN(const UploadPlan plan, MakePlan(args, session));
  if (args.dry_run) return RunDry(plan, args.input.kernel_names, session);
  if (args.convert_here) return IngestConvertedHere(plan, args.input.kernel_names, session);
  if (!args.input.kernel_names.empty()) {
    return UsageError(
        "--kernel-names: the daemon converts; give it its own --kernel_names FILE, or say "
        "--convert-here");
  }
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
    session->PrintText(TraceText(trace));
  }
  return absl::OkStatus();
}

}  // namespace

void AddIngestCommand(CLI::App* app, Session* session, int* exit_code) {
  const auto args = std::make_shared<IngestArgs>();
  CLI::App* command = app->add_subcommand("ingest", "Upload trace files as one trace");
  command->footer(kHelp);
  AddInputOptions(command, "Files or folders of rank files", &args->input);
  command->add_option("--label", args->labels, "Label to find the trace by; repeatable")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--lenient", args->input.settings.lenient,
                    "Leave out what is at fault (dependencies on nodes that are not there, "
                    "doubled nodes) and count it, rather than refuse the file");
  command->add_flag("--dry-run", args->dry_run,
                    "Convert and check here and print the counts; needs no daemon, stores nothing");
  command->add_flag("--convert-here,--convert_here", args->convert_here,
                    "Convert on this machine and send only what the daemon lacks of the trace");
  command
      ->add_option("--request-id", args->request_id,
                   "Equal ids are one upload (default: a hash of the files and options)")
      ->type_name("ID");
  command->callback(
      [args, session, exit_code] { *exit_code = session->Report(RunIngest(*args, session)); });
}

}  // namespace chakrad::client
