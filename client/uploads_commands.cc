// chakra uploads: what is in progress, and what to do about it.
#include <grpcpp/grpcpp.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "chakrad/v1/ingest.grpc.pb.h"
#include "client/commands.h"
#include "client/session.h"
#include "client/trace_view.h"
#include "client/upload_view.h"
#include "common/status.h"

namespace chakrad::client {
namespace {

using IngestStub = v1::IngestService::Stub;

absl::StatusOr<std::vector<v1::Upload>> ListAll(IngestStub* stub, Session* session) {
  v1::ListUploadsRequest request;
  request.set_page_size(1000);
  std::vector<v1::Upload> uploads;
  do {
    ASSIGN_OR_RETURN(v1::ListUploadsResponse page,
                     UnaryCall(stub, &IngestStub::ListUploads, request, session->call_options()));
    std::move(page.mutable_uploads()->begin(), page.mutable_uploads()->end(),
              std::back_inserter(uploads));
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return uploads;
}

// "uploads/u-17" of an upload's name, with or without "uploads/", or of the
// request id of one in progress.
absl::StatusOr<std::string> FindName(const std::string& text, IngestStub* stub, Session* session) {
  if (absl::StartsWith(text, "uploads/")) return FullName("uploads", text);
  ASSIGN_OR_RETURN(const std::vector<v1::Upload> uploads, ListAll(stub, session));
  for (const v1::Upload& upload : uploads) {  // A name comes first: it is one upload's.
    if (upload.name() == "uploads/" + text) return upload.name();
  }
  for (const v1::Upload& upload : uploads) {
    if (upload.request_id() == text) return upload.name();
  }
  return FullName("uploads", text);
}

absl::Status RunList(const std::string&, Session* session) {
  const auto stub = v1::IngestService::NewStub(session->channel());
  ASSIGN_OR_RETURN(const std::vector<v1::Upload> uploads, ListAll(stub.get(), session));
  if (!session->json()) {
    session->PrintText(UploadListText(uploads));
    return absl::OkStatus();
  }
  Json json = {{"uploads", Json::array()}};
  for (const v1::Upload& upload : uploads) json["uploads"].push_back(UploadJson(upload));
  session->PrintJson(json);
  return absl::OkStatus();
}

absl::Status RunShow(const std::string& name, Session* session) {
  const auto stub = v1::IngestService::NewStub(session->channel());
  v1::QueryUploadRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), FindName(name, stub.get(), session));
  ASSIGN_OR_RETURN(const v1::Upload upload, UnaryCall(stub.get(), &IngestStub::QueryUpload, request,
                                                      session->call_options()));
  if (session->json()) {
    session->PrintJson(UploadJson(upload));
  } else {
    session->PrintText(UploadText(upload));
  }
  return absl::OkStatus();
}

absl::Status RunSeal(const std::string& name, Session* session) {
  const auto stub = v1::IngestService::NewStub(session->channel());
  v1::SealRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), FindName(name, stub.get(), session));
  CallOptions options = session->call_options();
  options.deadline = std::nullopt;  // Converting a large trace takes its time.
  ASSIGN_OR_RETURN(const v1::SealResponse sealed,
                   UnaryCall(stub.get(), &IngestStub::Seal, request, options));
  if (session->json()) {
    session->PrintJson({{"upload", request.name()}, {"trace", TraceJson(sealed.trace())}});
  } else {
    session->PrintText(TraceText(sealed.trace()));
  }
  return absl::OkStatus();
}

absl::Status RunRemove(const std::string& name, Session* session) {
  const auto stub = v1::IngestService::NewStub(session->channel());
  v1::DeleteUploadRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), FindName(name, stub.get(), session));
  RETURN_IF_ERROR(
      UnaryCall(stub.get(), &IngestStub::DeleteUpload, request, session->call_options()).status());
  if (session->json()) {
    session->PrintJson({{"name", request.name()}, {"deleted", true}});
  } else {
    session->PrintText(request.name() + " deleted\n");
  }
  return absl::OkStatus();
}

using RunFn = absl::Status (*)(const std::string&, Session*);

}  // namespace

void AddUploadsCommands(CLI::App* app, Session* session, int* exit_code) {
  const auto name = std::make_shared<std::string>();
  CLI::App* group = app->add_subcommand("uploads", "Uploads in progress: list, show, seal, delete");
  group->require_subcommand(1);
  const auto add = [&](const char* command_name, const char* help, RunFn run) {
    CLI::App* command = group->add_subcommand(command_name, help);
    command->callback([=] { *exit_code = session->Report(run(*name, session)); });
    return command;
  };
  const auto add_upload = [&](CLI::App* command) {
    command->add_option("UPLOAD", *name, "Its name, such as u-17, or its request id (--join ID)")
        ->type_name("")
        ->required();
  };
  add("ls", "List uploads that are open, being sealed, or refused; oldest first", RunList);
  add_upload(add("show", "Show the files of an upload, and what is wrong with it", RunShow));
  add_upload(add("seal", "Make a trace of what is there now", RunSeal));
  add_upload(add("rm", "Give up an upload that is not sealed", RunRemove));
}

}  // namespace chakrad::client
