#include <grpcpp/grpcpp.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "chakrad/v1/job.grpc.pb.h"
#include "client/chrome_trace_writer.h"
#include "client/commands.h"
#include "client/output_file.h"
#include "client/progress_line.h"
#include "client/quantity.h"
#include "client/session.h"
#include "common/status.h"

namespace chakrad::client {
namespace {

constexpr char kHelp[] = R"(Example:
  chakra timeline j-4 -o j-4.json

Open the file at ui.perfetto.dev or chrome://tracing: a process is a rank, a
thread is a queue of it. For a running job the stream follows it to its end.
)";

struct TimelineArgs {
  std::string job;
  std::string file;
  std::vector<int32_t> ranks;
};

absl::Status Copy(v1::JobService::Stub* stub, const v1::StreamTimelineRequest& request,
                  Session* session, ChromeTraceWriter* writer) {
  ProgressLine line(&session->err(), session->io().err_is_terminal);
  grpc::ClientContext context;
  const auto stream = stub->StreamTimeline(&context, request);
  v1::TimelineChunk chunk;
  absl::Status local = absl::OkStatus();
  while (local.ok() && stream->Read(&chunk)) {
    local = writer->Add(chunk);
    line.Draw(0, 0, absl::StrCat(CountText(writer->intervals_count()), " intervals"));
  }
  if (!local.ok()) context.TryCancel();
  const grpc::Status status = stream->Finish();
  RETURN_IF_ERROR(local);
  RETURN_IF_ERROR(FromGrpc(status));
  return writer->Finish();
}

absl::Status RunTimeline(const TimelineArgs& args, Session* session) {
  v1::StreamTimelineRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), FullName("jobs", args.job));
  request.mutable_ranks()->Add(args.ranks.begin(), args.ranks.end());
  const auto stub = v1::JobService::NewStub(session->channel());
  ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> output,
                   OutputFile::Open(args.file, &session->out()));
  ChromeTraceWriter writer(&output->stream());
  RETURN_IF_ERROR(Copy(stub.get(), request, session, &writer));
  RETURN_IF_ERROR(output->Commit());
  // The timeline itself may go to standard output.
  std::ostream& out = args.file == "-" ? session->err() : session->out();
  if (session->json()) {
    out << JsonText({{"job", request.name()},
                     {"file", args.file},
                     {"intervals_count", writer.intervals_count()},
                     {"ranks_count", writer.ranks_count()}},
                    2)
        << "\n";
  } else {
    out << "wrote " << CountText(writer.intervals_count()) << " intervals of "
        << CountText(writer.ranks_count()) << " ranks to " << args.file << "\n";
  }
  return absl::OkStatus();
}

}  // namespace

void AddTimelineCommand(CLI::App* app, Session* session, int* exit_code) {
  const auto args = std::make_shared<TimelineArgs>();
  CLI::App* command =
      app->add_subcommand("timeline", "Write a job's timeline as Chrome trace JSON");
  command->footer(kHelp);
  command->add_option("JOB", args->job, "Name of the job, as simulate prints it")
      ->type_name("")
      ->required();
  command->add_option("-o", args->file, "File to write, or - for standard output")
      ->type_name("FILE")
      ->required();
  command->add_option("--rank", args->ranks, "Only this rank; repeatable")
      ->type_name("N")
      ->allow_extra_args(false);
  command->callback(
      [args, session, exit_code] { *exit_code = session->Report(RunTimeline(*args, session)); });
}

}  // namespace chakrad::client
