#include <grpcpp/grpcpp.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "chakrad/v1/trace.grpc.pb.h"
#include "client/commands.h"
#include "client/output_file.h"
#include "client/quantity.h"
#include "client/session.h"
#include "client/trace_view.h"
#include "common/status.h"

namespace chakrad::client {
namespace {

namespace fs = std::filesystem;
using TraceStub = v1::TraceService::Stub;

struct TracesArgs {
  std::string trace;
  std::string filter;
  std::string folder;
  std::vector<int32_t> ranks;
};

absl::Status RunList(const TracesArgs& args, Session* session) {
  const auto stub = v1::TraceService::NewStub(session->channel());
  v1::ListTracesRequest request;
  request.set_page_size(1000);
  request.set_filter(args.filter);
  std::vector<v1::Trace> traces;
  do {
    ASSIGN_OR_RETURN(v1::ListTracesResponse page, UnaryCall(stub.get(), &TraceStub::ListTraces,
                                                            request, session->call_options()));
    std::move(page.mutable_traces()->begin(), page.mutable_traces()->end(),
              std::back_inserter(traces));
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  if (session->json()) {
    Json json = {{"traces", Json::array()}};
    for (const v1::Trace& trace : traces) json["traces"].push_back(TraceJson(trace));
    session->PrintJson(json);
  } else {
    session->out() << TraceListText(traces);
  }
  return absl::OkStatus();
}

absl::Status RunShow(const TracesArgs& args, Session* session) {
  v1::GetTraceRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), FullName("traces", args.trace));
  const auto stub = v1::TraceService::NewStub(session->channel());
  ASSIGN_OR_RETURN(const v1::Trace trace,
                   UnaryCall(stub.get(), &TraceStub::GetTrace, request, session->call_options()));
  if (session->json()) {
    session->PrintJson(TraceJson(trace));
  } else {
    session->out() << TraceText(trace);
  }
  return absl::OkStatus();
}

absl::Status RunRemove(const TracesArgs& args, Session* session) {
  v1::DeleteTraceRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), FullName("traces", args.trace));
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

struct ExportedFile {
  std::string path;
  int64_t bytes = 0;
};

// Puts the pieces of an export stream into files of a folder, or one file onto
// standard output.
class ExportWriter {
 public:
  ExportWriter(std::string folder, std::ostream* standard_output)
      : folder_(std::move(folder)), standard_output_(standard_output) {}

  absl::Status Add(const v1::ExportTraceResponse& piece) {
    if (output_ == nullptr || piece.file() != file_) RETURN_IF_ERROR(Begin(piece.file()));
    output_->stream() << piece.data();
    exported_.back().bytes += static_cast<int64_t>(piece.data().size());
    return absl::OkStatus();
  }
  absl::Status Finish() {
    if (output_ != nullptr) RETURN_IF_ERROR(output_->Commit());
    output_.reset();
    return absl::OkStatus();
  }
  const std::vector<ExportedFile>& exported() const { return exported_; }

 private:
  absl::Status Begin(const std::string& file) {
    RETURN_IF_ERROR(Finish());
    // A server's word must not lead out of the folder.
    if (file.empty() || fs::path(file).filename() != file || file == "." || file == "..") {
      return absl::InternalError(absl::StrCat("the server names a file \"", file, "\""));
    }
    if (folder_ == "-" && !exported_.empty()) {
      return UsageError("-o -: takes one rank only; add --rank N");
    }
    const std::string path = folder_ == "-" ? folder_ : (fs::path(folder_) / file).string();
    ASSIGN_OR_RETURN(output_, OutputFile::Open(path, standard_output_));
    exported_.push_back({path, 0});
    file_ = file;
    return absl::OkStatus();
  }

  const std::string folder_;
  std::ostream* const standard_output_;
  std::string file_;
  std::unique_ptr<OutputFile> output_;
  std::vector<ExportedFile> exported_;
};

void PrintExported(const std::string& name, const std::vector<ExportedFile>& exported,
                   bool to_standard_output, Session* session) {
  // The trace itself may go to standard output.
  std::ostream& out = to_standard_output ? session->err() : session->out();
  if (session->json()) {
    Json json = {{"name", name}, {"files", Json::array()}};
    for (const ExportedFile& file : exported) {
      json["files"].push_back({{"path", file.path}, {"bytes", file.bytes}});
    }
    out << JsonText(json, 2) << "\n";
    return;
  }
  for (const ExportedFile& file : exported) {
    out << "wrote " << file.path << ", " << BytesText(file.bytes) << "\n";
  }
}

absl::Status RunExport(const TracesArgs& args, Session* session) {
  v1::ExportTraceRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), FullName("traces", args.trace));
  request.mutable_ranks()->Add(args.ranks.begin(), args.ranks.end());
  const std::string folder =
      args.folder.empty() ? request.name().substr(request.name().find('/') + 1) : args.folder;
  const auto stub = v1::TraceService::NewStub(session->channel());
  grpc::ClientContext context;
  const auto stream = stub->ExportTrace(&context, request);
  ExportWriter writer(folder, &session->out());
  v1::ExportTraceResponse piece;
  absl::Status local = absl::OkStatus();
  bool first = true;
  while (local.ok() && stream->Read(&piece)) {
    std::error_code error;
    // Only now: a trace that does not exist leaves no folder.
    if (std::exchange(first, false) && folder != "-") fs::create_directories(folder, error);
    local = error ? absl::InternalError(absl::StrCat(folder, ": ", error.message()))
                  : writer.Add(piece);
  }
  if (!local.ok()) context.TryCancel();
  const grpc::Status status = stream->Finish();
  RETURN_IF_ERROR(local);
  RETURN_IF_ERROR(FromGrpc(status));
  RETURN_IF_ERROR(writer.Finish());
  PrintExported(request.name(), writer.exported(), folder == "-", session);
  return absl::OkStatus();
}

using RunFn = absl::Status (*)(const TracesArgs&, Session*);

}  // namespace

void AddTracesCommands(CLI::App* app, Session* session, int* exit_code) {
  const auto args = std::make_shared<TracesArgs>();
  CLI::App* group = app->add_subcommand("traces", "List, show, delete and export stored traces");
  group->require_subcommand(1);
  const auto add = [&](const char* name, const char* help, RunFn run) {
    CLI::App* command = group->add_subcommand(name, help);
    command->callback([=] { *exit_code = session->Report(run(*args, session)); });
    return command;
  };
  const auto add_trace = [&args](CLI::App* command) {
    command->add_option("TRACE", args->trace, "Name of the trace, such as t-17")
        ->type_name("")
        ->required();
  };

  CLI::App* list = add("ls", "List traces, newest first", RunList);
  list->add_option("--filter", args->filter,
                   "Only traces for which this holds, such as 'labels.job = \"llama\" AND "
                   "world_size = 8'; the operators are = and !=")
      ->type_name("EXPRESSION");
  add_trace(add("show", "Show ranks, process groups, files and notices of a trace", RunShow));
  add_trace(add("rm", "Delete a trace", RunRemove));
  CLI::App* export_command =
      add("export", "Write a trace as Chakra .et files, one a rank", RunExport);
  add_trace(export_command);
  export_command
      ->add_option("-o", args->folder,
                   "Folder to write to, or - for standard output (default: a new folder "
                   "named like the trace)")
      ->type_name("FOLDER");
  export_command->add_option("--rank", args->ranks, "Only this rank; repeatable")
      ->type_name("N")
      ->allow_extra_args(false);
}

}  // namespace chakrad::client
