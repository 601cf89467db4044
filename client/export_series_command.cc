// chakra export openmetrics: the stored series with their own times.
#include <grpcpp/grpcpp.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "chakrad/v1/analysis.grpc.pb.h"
#include "client/commands.h"
#include "client/connection.h"
#include "client/output_file.h"
#include "client/session.h"
#include "common/status.h"

namespace chakrad::client {
namespace {

struct ExportArgs {
  std::string from;
  std::string to;
  std::string cluster;
  std::string job;
  std::string file;
};

// RFC 3339, or a date, which is its midnight in UTC.
absl::Status ParseTime(const char* flag, const std::string& text,
                       google::protobuf::Timestamp* out) {
  absl::Time time;
  const char* form = text.size() == 10 ? "%Y-%m-%d" : absl::RFC3339_full;
  if (!absl::ParseTime(form, text, &time, nullptr)) {
    return UsageError(
        absl::StrCat(flag, ": ", text, " is no time; write 2026-11-01 or 2026-11-01T08:00:00Z"));
  }
  out->set_seconds(absl::ToUnixSeconds(time));
  out->set_nanos(
      static_cast<int32_t>(absl::ToInt64Nanoseconds(time - absl::FromUnixSeconds(out->seconds()))));
  return absl::OkStatus();
}

absl::Status RunExport(const ExportArgs& args, Session* session) {
  v1::ExportSeriesRequest request;
  if (!args.from.empty()) {
    RETURN_IF_ERROR(ParseTime("--from", args.from, request.mutable_from()));
  }
  if (!args.to.empty()) RETURN_IF_ERROR(ParseTime("--to", args.to, request.mutable_to()));
  request.set_cluster(args.cluster);
  request.set_job(args.job);
  ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> output,
                   OutputFile::Open(args.file, &session->out()));
  const auto stub = v1::AnalysisService::NewStub(session->channel());
  grpc::ClientContext context;
  const auto stream = stub->ExportSeries(&context, request);
  v1::ExportSeriesResponse piece;
  int64_t bytes = 0;
  int64_t samples_count = 0;
  while (stream->Read(&piece)) {
    output->stream().write(piece.data().data(), static_cast<std::streamsize>(piece.data().size()));
    if (!output->stream().good()) {
      context.TryCancel();
      break;
    }
    bytes += static_cast<int64_t>(piece.data().size());
    samples_count = piece.samples_count();
  }
  const bool written = output->stream().good();
  const grpc::Status status = stream->Finish();
  // Of a file that could not be written, Commit tells; a part of an export is none.
  if (written) RETURN_IF_ERROR(FromGrpc(status));
  RETURN_IF_ERROR(output->Commit());
  if (args.file == "-") return absl::OkStatus();
  if (session->json()) {
    session->PrintJson({{"file", args.file}, {"samples", samples_count}, {"bytes", bytes}});
  } else {
    session->PrintText(
        absl::StrCat(args.file, ": ", samples_count, " samples, ", bytes, " bytes\n"));
  }
  return absl::OkStatus();
}

}  // namespace

void AddExportCommand(CLI::App* app, Session* session, int* exit_code) {
  CLI::App* group = app->add_subcommand("export", "Write what the daemon keeps for other systems");
  group->require_subcommand(1);
  const auto args = std::make_shared<ExportArgs>();
  CLI::App* command = group->add_subcommand(
      "openmetrics",
      "The series of all traces and simulations with their own times, as `promtool tsdb "
      "create-blocks-from openmetrics` takes them");
  command->add_option("--from", args->from, "2026-11-01 or 2026-11-01T08:00:00Z; default: all")
      ->type_name("TIME");
  command->add_option("--to", args->to, "Likewise; not included")->type_name("TIME");
  command->add_option("--cluster", args->cluster, "Only of this cluster")->type_name("NAME");
  command->add_option("--job", args->job, "Only of this job")->type_name("NAME");
  command->add_option("-o", args->file, "File; - is standard output")
      ->type_name("FILE")
      ->required();
  command->callback([=] { *exit_code = session->Report(RunExport(*args, session)); });
}

}  // namespace chakrad::client
