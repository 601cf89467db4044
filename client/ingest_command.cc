#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
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
#include "client/upload_view.h"
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
  chakra ingest rank3.json --join run-7 --expect 16 --seal-after 10m   on each of 16 hosts

A PATH is a file, an archive (tar, zip) or a folder; of a folder, *.json, *.et,
plain or gzip, *.graph and archives are taken, its direct subfolders included. All
files become one trace. What each file is shows its content: docs/formats.md lists
the formats.
After a broken connection, the same command goes on where it stopped. Files whose
trace is stored already are not sent again.

With --join ID, hosts that give the same ID make one trace together, each of files of
its own, whose names must differ. It is sealed once --expect files are there, or at
--seal-after with what is there, or by `chakra uploads seal ID`.
)";

struct IngestArgs {
  InputArgs input;
  std::vector<std::string> labels;
  std::string request_id;
  bool dry_run = false;
  bool convert_here = false;
  bool no_hash = false;
  bool keep_files = false;
  std::string join;
  JoinPlan join_plan;
  std::string seal_after;
};

// What options say together, and what they cannot.
absl::Status SettleOptions(IngestArgs* args) {
  if (args->convert_here && args->keep_files) {
    return UsageError("--keep-files: files do not leave this machine with --convert-here");
  }
  if (args->join.empty()) {
    if (args->join_plan.expected_files > 0 || !args->seal_after.empty() || args->join_plan.wait) {
      return UsageError("--expect, --seal-after and --wait go with --join");
    }
    if (args->no_hash && !args->convert_here && args->request_id.empty()) {
      std::random_device random;
      args->request_id = absl::StrCat("random-", absl::Hex(random(), absl::kZeroPad8),
                                      absl::Hex(random(), absl::kZeroPad8));
    }
    return absl::OkStatus();
  }
  if (args->convert_here) return UsageError("--join: the daemon converts; not with --convert-here");
  if (!args->request_id.empty()) return UsageError("--join: is the request id; give one of them");
  args->request_id = args->join;
  if (args->seal_after.empty()) return absl::OkStatus();
  absl::Duration after;
  if (!absl::ParseDuration(args->seal_after, &after) || after < absl::Seconds(1)) {
    return UsageError(absl::StrCat("--seal-after: \"", args->seal_after,
                                   "\" is no duration of a second or more, such as 90s, 10m, 2h"));
  }
  args->join_plan.seal_after_seconds = absl::ToInt64Seconds(after);
  return absl::OkStatus();
}

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
    absl::StatusOr<std::string> id = ContentRequestId(&plan);
    if (!id.ok()) return UsageError(id.status().message());
    plan.request_id = *std::move(id);
  }
  plan.keep_files = args.keep_files;
  if (!args.join.empty()) plan.join = args.join_plan;
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

std::string ProgressText(const UploadProgress& progress, bool joint) {
  if (joint && (progress.expected_files > 0 || progress.complete_files > 0)) {
    return progress.sealing ? "all hosts are done, converting"
                            : absl::StrCat("waiting for other hosts: ", progress.complete_files,
                                           progress.expected_files > 0
                                               ? absl::StrCat(" of ", progress.expected_files)
                                               : std::string(),
                                           " files complete");
  }
  if (progress.sealing) return "uploaded, converting";
  return absl::StrCat(BytesText(progress.committed_bytes), " of ", BytesText(progress.bytes));
}

void ShowUploaded(const UploadPlan& plan, const Uploaded& uploaded, Session* session) {
  int64_t bytes = 0;
  for (const UploadFile& file : plan.files) bytes += file.bytes;
  if (session->json()) {
    Json json = {{"request_id", plan.request_id},
                 {"files_count", plan.files.size()},
                 {"uploaded_bytes", bytes},
                 {"already_stored", uploaded.already_stored}};
    if (plan.join.has_value()) json["upload"] = UploadJson(uploaded.upload);
    json["trace"] = uploaded.trace.has_value() ? TraceJson(*uploaded.trace) : Json();
    session->PrintJson(json);
    return;
  }
  if (!uploaded.trace.has_value()) {
    session->PrintText(UploadText(uploaded.upload));
    return;
  }
  if (uploaded.already_stored) {
    session->PrintText(
        absl::StrCat("already stored as ", uploaded.trace->name(), ": nothing was sent\n"));
  }
  session->PrintText(TraceText(*uploaded.trace));
}

absl::Status RunIngest(IngestArgs* settled, Session* session) {
  RETURN_IF_ERROR(SettleOptions(settled));
  const IngestArgs& args = *settled;
  ASSIGN_OR_RETURN(UploadPlan plan, MakePlan(args, session));
  if (args.dry_run) return RunDry(plan, args.input.kernel_names, session);
  if (args.convert_here) return IngestConvertedHere(plan, args.input.kernel_names, session);
  if (!args.input.kernel_names.empty()) {
    return UsageError(
        "--kernel-names: the daemon converts; give it its own --kernel_names FILE, or say "
        "--convert-here");
  }
  if (!args.no_hash) {
    if (const absl::Status hashed = HashFiles(&plan); !hashed.ok()) {
      return UsageError(hashed.message());
    }
  }
  ProgressLine line(&session->err(), session->io().err_is_terminal);
  UploadOptions options;
  options.sleep = session->io().sleep;
  options.progress = [&](const UploadProgress& progress) {
    line.Draw(progress.committed_bytes, progress.bytes,
              ProgressText(progress, plan.join.has_value()));
  };
  ASSIGN_OR_RETURN(const Uploaded uploaded, UploadTrace(session->channel(), plan, options));
  line.Clear();
  ShowUploaded(plan, uploaded, session);
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
  command->add_flag("--no-hash,--no_hash", args->no_hash,
                    "Do not read the files first to see whether their trace is stored already; "
                    "without --request-id the upload cannot be resumed");
  command->add_flag("--keep-files,--keep_files", args->keep_files,
                    "The daemon keeps the files themselves too: `chakra traces raw`");
  command->add_option("--join", args->join, "Make one trace together with the hosts that say so")
      ->type_name("ID");
  command
      ->add_option("--expect", args->join_plan.expected_files,
                   "With --join: seal once so many files of all hosts are there")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--seal-after,--seal_after", args->seal_after,
                   "With --join: seal then with what is there, counted from the first host's start "
                   "(default: the daemon's, 1h)")
      ->type_name("TIME");
  command->add_flag("--wait", args->join_plan.wait,
                    "With --join: until the trace is there, and show it");
  command->callback(
      [args, session, exit_code] { *exit_code = session->Report(RunIngest(args.get(), session)); });
}

}  // namespace chakrad::client
