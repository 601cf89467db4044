#include <grpcpp/channel.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "chakrad/v1/job.grpc.pb.h"
#include "client/commands.h"
#include "client/job_view.h"
#include "client/session.h"
#include "common/status.h"

namespace chakrad::client {
namespace {

using JobStub = v1::JobService::Stub;

constexpr char kHelp[] = R"(Examples:
  chakra simulate t-17 --network ring8.yml --system system.json --watch
  chakra simulate t-17 --network ring8.yml --system system.json    prints the job

The files are what ASTRA-sim's analytical back ends read: a network YAML (topology,
npus_count, bandwidth, latency) and a system JSON. Its NPUs and the trace's ranks
must be as many.
)";

// The server takes no larger ones; this only keeps a wrong file from being read
// whole.
constexpr int64_t kDescriptionBytesMax = 1 << 20;

struct SimulateArgs {
  std::string trace;
  std::string network;
  std::string system;
  bool replicate_missing_ranks = false;
  bool no_timeline = false;
  bool watch = false;
  bool all_ranks = false;
};

absl::StatusOr<std::string> ReadDescription(const char* option, const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(kDescriptionBytesMax + 1, '\0');
  in.read(text.data(), text.size());
  text.resize(in.gcount());
  if (!in.eof() || text.empty()) {
    return UsageError(
        absl::StrCat(option, ": ", path, ": ",
                     text.empty() ? "cannot be read, or is empty" : "has more than 1 MiB"));
  }
  return text;
}

// Names one submission, so that a repeated call makes one job.
std::string RandomId() {
  std::random_device random;
  return absl::StrFormat("cli-%08x%08x%08x%08x", random(), random(), random(), random());
}

absl::Status RunSimulate(const SimulateArgs& args, Session* session) {
  v1::CreateJobRequest request;
  request.set_request_id(RandomId());
  v1::SimulationSpec& spec = *request.mutable_spec();
  ASSIGN_OR_RETURN(*spec.mutable_trace(), FullName("traces", args.trace));
  ASSIGN_OR_RETURN(*spec.mutable_network_yaml(), ReadDescription("--network", args.network));
  ASSIGN_OR_RETURN(*spec.mutable_system_json(), ReadDescription("--system", args.system));
  spec.set_replicate_missing_ranks(args.replicate_missing_ranks);
  spec.set_keep_timeline(!args.no_timeline);
  const auto stub = v1::JobService::NewStub(session->channel());
  ASSIGN_OR_RETURN(v1::Job job,
                   UnaryCall(stub.get(), &JobStub::CreateJob, request, session->call_options()));
  if (args.watch) {
    session->err() << job.name() << "\n";  // To find it again, should the watch be interrupted.
    ASSIGN_OR_RETURN(job, WatchToEnd(session, job.name()));
    ReportFinishedJob(session, job, args.all_ranks);
  } else if (session->json()) {
    session->PrintJson(JobJson(job));
  } else {
    session->out() << job.name() << "\n";
  }
  return absl::OkStatus();
}

}  // namespace

void AddSimulateCommand(CLI::App* app, Session* session, int* exit_code) {
  const auto args = std::make_shared<SimulateArgs>();
  CLI::App* command = app->add_subcommand("simulate", "Simulate a trace on a network");
  command->footer(kHelp);
  command->add_option("TRACE", args->trace, "Name of the trace, such as t-17")
      ->type_name("")
      ->required();
  command->add_option("--network", args->network, "The network, as YAML")
      ->type_name("FILE")
      ->required();
  command->add_option("--system", args->system, "The system, as JSON")
      ->type_name("FILE")
      ->required();
  command->add_flag("--replicate-missing-ranks", args->replicate_missing_ranks,
                    "Let copies of traced ranks stand in for those that were not traced");
  command->add_flag("--no-timeline", args->no_timeline, "Keep no timeline of this run");
  command->add_flag("--watch", args->watch, "Wait for the end and print the result");
  command->add_flag("--all-ranks", args->all_ranks,
                    "With --watch: a line for each rank, however many");
  command->callback(
      [args, session, exit_code] { *exit_code = session->Report(RunSimulate(*args, session)); });
}

}  // namespace chakrad::client
