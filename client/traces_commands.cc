#include <grpcpp/grpcpp.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "chakrad/v1/trace.grpc.pb.h"
#include "client/commands.h"
#include "client/export_files.h"
#include "client/session.h"
#include "client/trace_view.h"
#include "common/status.h"

namespace chakrad::client {
namespace {

using TraceStub = v1::TraceService::Stub;

struct TracesArgs {
  std::string trace;
  ExportArgs output;
};

absl::Status RunShow(TracesArgs* args, Session* session) {
  v1::GetTraceRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), FullName("traces", args->trace));
  const auto stub = v1::TraceService::NewStub(session->channel());
  ASSIGN_OR_RETURN(const v1::Trace trace,
                   UnaryCall(stub.get(), &TraceStub::GetTrace, request, session->call_options()));
  if (session->json()) {
    session->PrintJson(TraceJson(trace));
  } else {
    session->PrintText(TraceText(trace));
  }
  return absl::OkStatus();
}

absl::Status RunRemove(TracesArgs* args, Session* session) {
  v1::DeleteTraceRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), FullName("traces", args->trace));
  const auto stub = v1::TraceService::NewStub(session->channel());
  RETURN_IF_ERROR(
      UnaryCall(stub.get(), &TraceStub::DeleteTrace, request, session->call_options()).status());
  if (session->json()) {
    session->PrintJson({{"name", request.name()}, {"deleted", true}});
  } else {
    session->out() << request.name() << " deleted\n";
  }
  return absl::OkStatus();
}

v1::ExportTraceRequest::Format ToProtoFormat(ExportFormat format) {
  switch (format) {
    case ExportFormat::kChakraEt:
      return v1::ExportTraceRequest::CHAKRA_ET;
    case ExportFormat::kChakraJson:
      return v1::ExportTraceRequest::CHAKRA_JSON;
    case ExportFormat::kDot:
      return v1::ExportTraceRequest::DOT;
    case ExportFormat::kGraphMl:
      return v1::ExportTraceRequest::GRAPHML;
    case ExportFormat::kChromeTrace:
      return v1::ExportTraceRequest::CHROME_TRACE;
  }
  return v1::ExportTraceRequest::FORMAT_UNSPECIFIED;
}

absl::StatusOr<v1::ExportTraceRequest> ExportRequest(const std::string& name,
                                                     const ExportArgs& args,
                                                     const ExportPlan& plan) {
  v1::ExportTraceRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), FullName("traces", name));
  request.set_format(ToProtoFormat(plan.format));
  request.mutable_ranks()->Add(args.ranks.begin(), args.ranks.end());
  v1::GraphSettings& graph = *request.mutable_graph();
  graph.set_full(args.graph.full);
  if (args.graph.around_id.has_value()) graph.set_around_node_id(*args.graph.around_id);
  graph.set_depth(args.graph.depth);
  if (args.graph.from_ns.has_value()) graph.set_from_ns(*args.graph.from_ns);
  if (args.graph.to_ns.has_value()) graph.set_to_ns(*args.graph.to_ns);
  graph.set_max_nodes(args.graph.max_nodes);
  return request;
}

absl::Status RunExport(TracesArgs* args, Session* session) {
  ASSIGN_OR_RETURN(const ExportPlan plan, PlanExport(&args->output));
  ASSIGN_OR_RETURN(const v1::ExportTraceRequest request,
                   ExportRequest(args->trace, args->output, plan));
  const std::string folder = args->output.folder.empty()
                                 ? request.name().substr(request.name().find('/') + 1)
                                 : args->output.folder;
  const auto stub = v1::TraceService::NewStub(session->channel());
  grpc::ClientContext context;
  const auto stream = stub->ExportTrace(&context, request);
  ExportFiles files(folder, &session->out());
  v1::ExportTraceResponse piece;
  absl::Status local = absl::OkStatus();
  while (local.ok() && stream->Read(&piece)) local = files.Add(piece.file(), piece.data());
  if (!local.ok()) context.TryCancel();
  const grpc::Status status = stream->Finish();
  RETURN_IF_ERROR(local);
  RETURN_IF_ERROR(FromGrpc(status));
  RETURN_IF_ERROR(files.Finish());
  if (!plan.picture.empty()) {
    RETURN_IF_ERROR(files.LayOut(plan.picture, args->output.layout_seconds));
  }
  files.Print(request.name(), session);
  return absl::OkStatus();
}

using RunFn = absl::Status (*)(TracesArgs*, Session*);

}  // namespace

void AddTracesCommands(CLI::App* app, Session* session, int* exit_code) {
  const auto args = std::make_shared<TracesArgs>();
  CLI::App* group = app->add_subcommand("traces", "List, show, delete and export stored traces");
  group->require_subcommand(1);
  const auto add = [&](const char* name, const char* help, RunFn run) {
    CLI::App* command = group->add_subcommand(name, help);
    command->callback([=] { *exit_code = session->Report(run(args.get(), session)); });
    return command;
  };
  const auto add_trace = [&args](CLI::App* command) {
    command->add_option("TRACE", args->trace, "Name of the trace, such as t-17")
        ->type_name("")
        ->required();
  };

  AddListCommands(group, session, exit_code);
  add_trace(add("show", "Show ranks, process groups, files and notices of a trace", RunShow));
  add_trace(add("rm", "Delete a trace", RunRemove));
  CLI::App* export_command =
      add("export", "Write a trace as files: Chakra, graphs, timelines", RunExport);
  add_trace(export_command);
  AddExportOptions(export_command, "a new folder named like the trace", &args->output);
  export_command->add_option("--rank", args->output.ranks, "Only this rank; repeatable")
      ->type_name("N")
      ->allow_extra_args(false);
  AddNodesCommand(group, session, exit_code);
  AddRawCommand(group, session, exit_code);
  AddVerifyCommand(group, session, exit_code);
}

}  // namespace chakrad::client
