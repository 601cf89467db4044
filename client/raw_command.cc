// chakra traces raw: files as they were uploaded.
#include <grpcpp/grpcpp.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "chakrad/v1/trace.grpc.pb.h"
#include "client/commands.h"
#include "client/connection.h"
#include "client/output_file.h"
#include "client/session.h"
#include "common/status.h"

namespace chakrad::client {
namespace {

using TraceStub = v1::TraceService::Stub;

struct RawArgs {
  std::string trace;
  std::string file;    // Empty: all.
  std::string folder;  // "-": standard output; empty: one named like the trace.
};

// Names come from whoever uploaded: none may lead out of the folder.
absl::StatusOr<std::string> PathIn(const std::string& folder, const std::string& file) {
  for (const absl::string_view part : absl::StrSplit(file, '/')) {
    if (!part.empty() && part != "." && part != "..") continue;
    return absl::InvalidArgumentError(
        absl::StrCat("file \"", file,
                     "\": the name leads out of the folder; with the file's name and -o - it "
                     "goes to standard output"));
  }
  return absl::StrCat(folder, "/", file);
}

absl::StatusOr<std::vector<std::string>> WantedFiles(TraceStub* stub, const std::string& trace,
                                                     const RawArgs& args, Session* session) {
  if (!args.file.empty()) return std::vector<std::string>{args.file};
  v1::GetTraceRequest request;
  request.set_name(trace);
  ASSIGN_OR_RETURN(const v1::Trace found,
                   UnaryCall(stub, &TraceStub::GetTrace, request, session->call_options()));
  std::vector<std::string> files;
  for (const v1::RawFile& file : found.raw_files()) files.push_back(file.file());
  if (files.empty()) {
    return absl::NotFoundError(absl::StrCat(
        trace, ": its files were not kept (chakra ingest --keep-files, chakrad --keep_files)"));
  }
  if (args.folder == "-" && files.size() > 1) {
    return UsageError(absl::StrCat("-o -: ", trace, " has ", files.size(),
                                   " files; name one, such as ", files[0]));
  }
  return files;
}

absl::StatusOr<int64_t> Fetch(TraceStub* stub, const std::string& trace, const std::string& file,
                              const std::string& path, Session* session) {
  v1::ReadRawFileRequest request;
  request.set_name(trace);
  request.set_file(file);
  grpc::ClientContext context;
  const auto stream = stub->ReadRawFile(&context, request);
  std::unique_ptr<OutputFile> output;
  absl::Status local;
  int64_t bytes = 0;
  v1::ReadRawFileResponse piece;
  while (local.ok() && stream->Read(&piece)) {
    if (output == nullptr) {    // Not before the server has it.
      std::error_code ignored;  // Open tells.
      if (path != "-") {
        std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
      }
      auto opened = OutputFile::Open(path, &session->out());
      local = opened.status();
      if (!opened.ok()) break;
      output = *std::move(opened);
    }
    output->stream().write(piece.data().data(), static_cast<std::streamsize>(piece.data().size()));
    bytes += static_cast<int64_t>(piece.data().size());
  }
  if (!local.ok()) context.TryCancel();
  const grpc::Status status = stream->Finish();
  RETURN_IF_ERROR(local);
  RETURN_IF_ERROR(FromGrpc(status));
  if (output == nullptr) return absl::InternalError(absl::StrCat(file, ": the answer is empty"));
  RETURN_IF_ERROR(output->Commit());
  return bytes;
}

absl::Status RunRaw(const RawArgs& args, Session* session) {
  ASSIGN_OR_RETURN(const std::string trace, FullName("traces", args.trace));
  const auto stub = v1::TraceService::NewStub(session->channel());
  ASSIGN_OR_RETURN(const std::vector<std::string> files,
                   WantedFiles(stub.get(), trace, args, session));
  const std::string folder = args.folder.empty() ? trace.substr(trace.find('/') + 1) : args.folder;
  Json json = {{"trace", trace}, {"files", Json::array()}};
  std::string text;
  for (const std::string& file : files) {
    std::string path = "-";
    if (folder != "-") {
      ASSIGN_OR_RETURN(path, PathIn(folder, file));
    }
    ASSIGN_OR_RETURN(const int64_t bytes, Fetch(stub.get(), trace, file, path, session));
    json["files"].push_back({{"file", file}, {"path", path}, {"bytes", bytes}});
    absl::StrAppend(&text, path, ": ", bytes, " bytes\n");
  }
  if (folder == "-") return absl::OkStatus();
  if (session->json()) {
    session->PrintJson(json);
  } else {
    session->PrintText(text);
  }
  return absl::OkStatus();
}

}  // namespace

void AddRawCommand(CLI::App* traces, Session* session, int* exit_code) {
  const auto args = std::make_shared<RawArgs>();
  CLI::App* command = traces->add_subcommand(
      "raw", "Write the files that a trace was made of, where they were kept");
  command->add_option("TRACE", args->trace, "Name of the trace, such as t-17")
      ->type_name("")
      ->required();
  command->add_option("FILE", args->file, "Only this one, by the name it was uploaded with")
      ->type_name("");
  command
      ->add_option("-o", args->folder,
                   "Folder; - is standard output (default: a new folder named like the trace)")
      ->type_name("DIR");
  command->callback([=] { *exit_code = session->Report(RunRaw(*args, session)); });
}

}  // namespace chakrad::client
