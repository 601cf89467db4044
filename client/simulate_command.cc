#include <grpcpp/channel.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "chakrad/v1/job.grpc.pb.h"
#include "client/commands.h"
#include "client/job_view.h"
#include "client/session.h"
#include "common/status.h"

namespace chakrad::client {
namespace {

using JobStub = v1::JobService::Stub;

constexpr char kHelp[] = R"(Examples:
  chakra simulate t-17 --system dgx_h100.yaml --watch
  chakra simulate t-17 --system dgx_h100.yaml --csv results/ --json result.json
  chakra simulate t-17 --system torus.yaml --project dp=x2 --watch
  chakra simulate t-17 --network ring8.yml --system_json system.json    prints the job

The system is one file of our own format, or what ASTRA-sim's analytical back ends
read: a network YAML, a system JSON and, for memory nodes, a remote memory JSON.
docs/systems.md describes both, sim/examples has systems to start from. Its NPUs and
the trace's ranks must be as many.
)";

// The server takes no larger ones; this only keeps a wrong file from being read
// whole.
constexpr int64_t kDescriptionBytesMax = 1 << 20;

struct SimulateArgs {
  std::string trace;
  std::string system;
  std::string network;
  std::string system_json;
  std::string remote_memory;
  std::string back_end;
  int64_t max_simulated_ns = 0;
  int64_t max_events = 0;
  std::string variant;
  std::string projection;
  std::vector<std::string> algorithms;
  bool unfolded = false;
  bool critical_path = false;
  bool link_traffic = false;
  bool memory_use = false;
  bool replicate_missing_ranks = false;
  bool no_timeline = false;
  bool watch = false;
  ResultOptions result;
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

// The system, one way or the other. With --network, --system is another spelling of
// --system_json: it was the only one once.
absl::Status ReadSystem(const SimulateArgs& args, v1::SimulationSpec* spec) {
  if (args.network.empty()) {
    if (args.system.empty() || !args.system_json.empty() || !args.remote_memory.empty()) {
      return UsageError("give --system FILE, or --network FILE and --system_json FILE");
    }
    ASSIGN_OR_RETURN(*spec->mutable_system_yaml(), ReadDescription("--system", args.system));
    return absl::OkStatus();
  }
  if (args.system.empty() == args.system_json.empty()) {
    return UsageError("--network needs --system_json FILE beside it, and no --system");
  }
  ASSIGN_OR_RETURN(*spec->mutable_network_yaml(), ReadDescription("--network", args.network));
  ASSIGN_OR_RETURN(*spec->mutable_system_json(),
                   args.system.empty() ? ReadDescription("--system_json", args.system_json)
                                       : ReadDescription("--system", args.system));
  if (args.remote_memory.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(*spec->mutable_remote_memory_json(),
                   ReadDescription("--remote_memory", args.remote_memory));
  return absl::OkStatus();
}

// "dp=x2", "dp=/2" or "dp=16"; without a group, all ranks.
absl::Status ReadProjection(absl::string_view text, v1::Projection* projection) {
  const size_t at = text.rfind('=');
  const absl::string_view group = text.substr(0, at == text.npos ? 0 : at);
  absl::string_view size = at == text.npos ? "" : text.substr(at + 1);
  const bool times = absl::ConsumePrefix(&size, "x");
  const bool divided = !times && absl::ConsumePrefix(&size, "/");
  int32_t number = 0;
  if (at == text.npos || !absl::SimpleAtoi(size, &number) || number < 1) {
    return UsageError(absl::StrCat("--project: ", text, " is not GROUP=N, GROUP=xN or GROUP=/N"));
  }
  projection->set_group(group.data(), group.size());
  if (times) {
    projection->set_multiply_by(number);
  } else if (divided) {
    projection->set_divide_by(number);
  } else {
    projection->set_new_size(number);
  }
  return absl::OkStatus();
}

// "ALL_REDUCE=t-5", "17=t-5" (the node with that id), and "...@1048576": the size that it was
// written for.
absl::Status ReadAlgorithm(absl::string_view text, v1::CustomAlgorithm* algorithm) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits('=', 1));
  const std::pair<absl::string_view, absl::string_view> of =
      absl::StrSplit(parts.second, absl::MaxSplits('@', 1));
  int64_t bytes = 0;
  if (parts.first.empty() || of.first.empty() ||
      (!of.second.empty() && (!absl::SimpleAtoi(of.second, &bytes) || bytes < 1))) {
    return UsageError(absl::StrCat("--algorithm: ", text,
                                   " is not TYPE=TRACE, NODE=TRACE or one of them and @BYTES"));
  }
  uint64_t node_id = 0;
  if (absl::SimpleAtoi(parts.first, &node_id)) {
    algorithm->add_node_ids(node_id);
  } else {
    algorithm->set_type(parts.first.data(), parts.first.size());
  }
  ASSIGN_OR_RETURN(*algorithm->mutable_trace(), FullName("traces", of.first));
  algorithm->set_total_bytes(bytes);
  return absl::OkStatus();
}

absl::Status FillSpec(const SimulateArgs& args, v1::SimulationSpec* spec) {
  ASSIGN_OR_RETURN(*spec->mutable_trace(), FullName("traces", args.trace));
  RETURN_IF_ERROR(ReadSystem(args, spec));
  if (args.back_end == "link") spec->set_back_end(v1::SimulationSpec::LINK);
  if (args.back_end == "analytical") spec->set_back_end(v1::SimulationSpec::ANALYTICAL);
  spec->set_replicate_missing_ranks(args.replicate_missing_ranks);
  spec->set_keep_timeline(!args.no_timeline);
  spec->set_unfolded(args.unfolded);
  spec->set_critical_path(args.critical_path);
  spec->set_link_traffic(args.link_traffic);
  spec->set_memory_use(args.memory_use);
  spec->set_max_simulated_ps(args.max_simulated_ns * 1000);
  spec->set_max_events(args.max_events);
  spec->set_variant(args.variant);
  if (!args.projection.empty()) {
    RETURN_IF_ERROR(ReadProjection(args.projection, spec->mutable_projection()));
  }
  for (const std::string& algorithm : args.algorithms) {
    RETURN_IF_ERROR(ReadAlgorithm(algorithm, spec->add_custom_algorithms()));
  }
  return absl::OkStatus();
}

absl::Status RunSimulate(const SimulateArgs& args, Session* session) {
  v1::CreateJobRequest request;
  request.set_request_id(RandomId());
  RETURN_IF_ERROR(FillSpec(args, request.mutable_spec()));
  const auto stub = v1::JobService::NewStub(session->channel());
  ASSIGN_OR_RETURN(v1::Job job,
                   UnaryCall(stub.get(), &JobStub::CreateJob, request, session->call_options()));
  if (args.watch || args.result.writes_files()) {
    session->err() << job.name() << "\n";  // To find it again, should the watch be interrupted.
    ASSIGN_OR_RETURN(job, WatchToEnd(session, job.name()));
    return ReportFinishedJob(session, job, args.result);
  }
  if (session->json()) {
    session->PrintJson(JobJson(job));
  } else {
    session->out() << job.name() << "\n";
  }
  return absl::OkStatus();
}

void AddSystemOptions(CLI::App* command, SimulateArgs* args) {
  command->add_option("--system", args->system, "The system, in our own format")->type_name("FILE");
  command->add_option("--network", args->network, "ASTRA-sim's network YAML")->type_name("FILE");
  command->add_option("--system_json,--system-json", args->system_json, "ASTRA-sim's system JSON")
      ->type_name("FILE");
  command
      ->add_option("--remote_memory,--remote-memory", args->remote_memory,
                   "ASTRA-sim's remote memory JSON")
      ->type_name("FILE");
  command
      ->add_option("--back_end,--back-end", args->back_end,
                   "analytical or link; else as the system says")
      ->check(CLI::IsMember({"analytical", "link"}))
      ->type_name("NAME");
}

}  // namespace

void AddSimulateCommand(CLI::App* app, Session* session, int* exit_code) {
  const auto args = std::make_shared<SimulateArgs>();
  CLI::App* command = app->add_subcommand("simulate", "Simulate a trace on a network");
  command->footer(kHelp);
  command->add_option("TRACE", args->trace, "Name of the trace, such as t-17")
      ->type_name("")
      ->required();
  AddSystemOptions(command, args.get());
  command
      ->add_option("--project", args->projection,
                   "Simulate another number of ranks along a process group (docs/projection.md): "
                   "dp=x2, dp=/2 or dp=16")
      ->type_name("GROUP=N");
  command
      ->add_option("--algorithm", args->algorithms,
                   "Run collectives by an algorithm given as a trace (docs/collectives.md): "
                   "ALL_REDUCE=t-5, or NODE=t-5, or either with @BYTES; repeatable")
      ->type_name("TYPE=TRACE")
      ->allow_extra_args(false);
  command->add_flag("--replicate-missing-ranks", args->replicate_missing_ranks,
                    "Let copies of traced ranks stand in for those that were not traced");
  command->add_flag("--no-timeline", args->no_timeline, "Keep no timeline of this run");
  command->add_flag("--critical-path", args->critical_path, "Keep the critical path");
  command->add_flag("--link_traffic,--link-traffic", args->link_traffic,
                    "Traffic by link on the analytical back end too (slower)");
  command->add_flag("--memory_use,--memory-use", args->memory_use,
                    "Peak memory of the trace's tensors");
  command->add_flag("--unfolded", args->unfolded,
                    "Simulate every rank by itself, although some behave alike");
  command
      ->add_option("--max-simulated-ns", args->max_simulated_ns,
                   "Fail the job when simulated time passes this")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 51))
      ->type_name("NS");
  command->add_option("--max-events", args->max_events, "Fail the job after so many events")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  command
      ->add_option(
          "--variant", args->variant,
          "Name of this what-if on dashboards, at most 64 bytes, such as 400G; as_recorded for the "
          "system as it was, whose error is watched; the default is unnamed, of a projection "
          "projected")
      ->type_name("NAME");
  command->add_flag("--watch", args->watch,
                    "Wait for the end and print the result; --csv and --json wait too");
  AddResultOptions(command, &args->result);
  command->callback(
      [args, session, exit_code] { *exit_code = session->Report(RunSimulate(*args, session)); });
}

}  // namespace chakrad::client
