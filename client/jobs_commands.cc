#include <grpcpp/channel.h>

#include <CLI/CLI.hpp>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "chakrad/v1/job.grpc.pb.h"
#include "client/commands.h"
#include "client/job_view.h"
#include "client/session.h"
#include "common/status.h"

namespace chakrad::client {
namespace {

using JobStub = v1::JobService::Stub;

struct JobsArgs {
  std::string job;
  std::string trace;
  ResultOptions result;
};

absl::Status RunList(const JobsArgs& args, Session* session) {
  const auto stub = v1::JobService::NewStub(session->channel());
  v1::ListJobsRequest request;
  request.set_page_size(1000);
  if (!args.trace.empty()) {
    ASSIGN_OR_RETURN(*request.mutable_trace(), FullName("traces", args.trace));
  }
  std::vector<v1::Job> jobs;
  do {
    ASSIGN_OR_RETURN(v1::ListJobsResponse page,
                     UnaryCall(stub.get(), &JobStub::ListJobs, request, session->call_options()));
    std::move(page.mutable_jobs()->begin(), page.mutable_jobs()->end(), std::back_inserter(jobs));
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  if (session->json()) {
    Json json = {{"jobs", Json::array()}};
    for (const v1::Job& job : jobs) json["jobs"].push_back(JobJson(job));
    session->PrintJson(json);
  } else {
    session->out() << JobListText(jobs);
  }
  return absl::OkStatus();
}

absl::Status RunShow(const JobsArgs& args, Session* session) {
  v1::GetJobRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), FullName("jobs", args.job));
  const auto stub = v1::JobService::NewStub(session->channel());
  ASSIGN_OR_RETURN(const v1::Job job,
                   UnaryCall(stub.get(), &JobStub::GetJob, request, session->call_options()));
  return ShowJob(session, job, args.result);
}

absl::Status RunCancel(const JobsArgs& args, Session* session) {
  v1::CancelJobRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), FullName("jobs", args.job));
  const auto stub = v1::JobService::NewStub(session->channel());
  ASSIGN_OR_RETURN(const v1::Job job,
                   UnaryCall(stub.get(), &JobStub::CancelJob, request, session->call_options()));
  return ShowJob(session, job, args.result);
}

absl::Status RunWatch(const JobsArgs& args, Session* session) {
  ASSIGN_OR_RETURN(const std::string name, FullName("jobs", args.job));
  ASSIGN_OR_RETURN(const v1::Job job, WatchToEnd(session, name));
  return ReportFinishedJob(session, job, args.result);
}

using RunFn = absl::Status (*)(const JobsArgs&, Session*);

}  // namespace

void AddResultOptions(CLI::App* command, ResultOptions* options) {
  command->add_flag("--all-ranks", options->all_ranks, "A line for each rank, however many");
  command->add_option("--csv", options->csv_folder, "Write the result's tables into this folder")
      ->type_name("DIR");
  command->add_option("--json", options->json_file, "Write the job with its result to this file")
      ->type_name("FILE");
}

absl::Status ShowJob(Session* session, const v1::Job& job, const ResultOptions& options) {
  if (options.json_file == "-") {
    return UsageError("--json: names a file; for standard output say --output json");
  }
  if (session->json()) {
    session->PrintJson(JobJson(job));
  } else {
    session->out() << JobText(job, options.all_ranks);
  }
  return WriteResultFiles(job, options);
}

absl::Status ReportFinishedJob(Session* session, const v1::Job& job, const ResultOptions& options) {
  RETURN_IF_ERROR(ShowJob(session, job, options));
  if (job.state() == v1::Job::SUCCEEDED) return absl::OkStatus();
  session->set_exit_code(kExitJobFailed);
  session->err() << "chakra: " << job.name() << " "
                 << (job.state() == v1::Job::CANCELLED ? "was cancelled" : "failed")
                 << (job.error().empty() ? "" : ": ") << job.error() << "\n";
  return absl::OkStatus();
}

void AddJobsCommands(CLI::App* app, Session* session, int* exit_code) {
  const auto args = std::make_shared<JobsArgs>();
  CLI::App* group = app->add_subcommand("jobs", "List, show, watch and cancel simulation jobs");
  group->require_subcommand(1);
  const auto add = [&](const char* name, const char* help, RunFn run) {
    CLI::App* command = group->add_subcommand(name, help);
    command->callback([=] { *exit_code = session->Report(run(*args, session)); });
    return command;
  };
  const auto add_job = [&args](CLI::App* command, bool shows_result) {
    command->add_option("JOB", args->job, "Name of the job, as simulate prints it")
        ->type_name("")
        ->required();
    if (!shows_result) return;
    AddResultOptions(command, &args->result);
  };

  add("ls", "List jobs, newest first", RunList)
      ->add_option("--trace", args->trace, "Only jobs of this trace")
      ->type_name("TRACE");
  add_job(add("show", "Show state and result of a job", RunShow), true);
  add_job(add("watch", "Wait for a job's end and print its result", RunWatch), true);
  add_job(add("cancel", "Cancel a job", RunCancel), false);
}

}  // namespace chakrad::client
