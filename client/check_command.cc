#include <grpcpp/channel.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <system_error>

#include "absl/strings/match.h"
#include "chakrad/v1/trace.grpc.pb.h"
#include "client/check_view.h"
#include "client/commands.h"
#include "client/input_options.h"
#include "client/local_import.h"
#include "client/session.h"
#include "client/trace_view.h"
#include "common/status.h"

namespace chakrad::client {
namespace {

constexpr char kHelp[] = R"(Examples:
  chakra check run7/                   files, without a daemon
  chakra check model.0.et --output json
  chakra check t-17                    a stored trace: what was found at ingest

Rules, severities and the quality score: docs/conformance.md.
Exit codes: 0 no errors (warnings and remarks there may be), 1 errors were found.
)";

absl::StatusOr<v1::Trace> CheckFiles(const InputArgs& args, Session* session) {
  ASSIGN_OR_RETURN(UploadPlan plan, PlanInput(args, session));
  plan.settings.lenient = true;  // A report tells all faults, not the first.
  ASSIGN_OR_RETURN(const ImportResult result,
                   ImportHere(plan, args.kernel_names, /*report_only=*/true));
  return Describe(result, plan);
}

absl::StatusOr<v1::Trace> CheckStored(const std::string& name, Session* session) {
  v1::GetTraceRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), FullName("traces", name));
  const auto stub = v1::TraceService::NewStub(session->channel());
  return UnaryCall(stub.get(), &v1::TraceService::Stub::GetTrace, request, session->call_options());
}

absl::Status RunCheck(const InputArgs& args, Session* session) {
  std::error_code ignored;
  const std::string& first = args.paths[0];
  const bool named_like_a_trace =
      absl::StartsWith(first, "traces/") || absl::StartsWith(first, "t-");
  const bool stored =
      args.paths.size() == 1 && named_like_a_trace && !std::filesystem::exists(first, ignored);
  ASSIGN_OR_RETURN(const v1::Trace trace,
                   stored ? CheckStored(first, session) : CheckFiles(args, session));
  if (session->json()) {
    Json json = CheckJson(trace.check());
    json["notices"] = AllNotices(trace);
    session->PrintJson(json);
  } else {
    session->PrintText(CheckText(trace.check()) + NoticesText(trace));
  }
  if (trace.check().errors_count() > 0) session->set_exit_code(kExitFailed);
  return absl::OkStatus();
}

}  // namespace

void AddCheckCommand(CLI::App* app, Session* session, int* exit_code) {
  const auto args = std::make_shared<InputArgs>();
  CLI::App* command =
      app->add_subcommand("check", "Check trace files, or a stored trace, against the rules");
  command->footer(kHelp);
  AddInputOptions(command, "Files or folders of one trace, or the name of a stored trace",
                  args.get());
  command->callback(
      [args, session, exit_code] { *exit_code = session->Report(RunCheck(*args, session)); });
}

}  // namespace chakrad::client
