// chakra critical-path.
#include <grpcpp/grpcpp.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "chakrad/v1/analysis.grpc.pb.h"
#include "client/analysis/views.h"
#include "client/commands.h"
#include "client/proto_json.h"
#include "client/session.h"
#include "client/unary_call.h"
#include "common/status.h"

namespace chakrad::client {
namespace {

constexpr char kHelp[] = R"(Examples:
  chakra critical-path t-17                          what bounds a trace
  chakra critical-path t-17 --step 3 --top 50
  chakra critical-path j-4 --scale comm=0.5          if communication took half the time
  chakra critical-path t-17 --scale 'name:gemm|conv=0.8' --scale gaps=0
Classes: compute, comm, memory, host, gaps, comm:TYPE, name:REGEX, rank:N, group:NAME.
docs/analysis.md tells how the path is found.
)";

struct PathArgs {
  std::string name;
  std::vector<int32_t> ranks;
  int32_t step = -1;
  int32_t top = 20;
  bool all = false;
  std::vector<std::string> scales;
  bool keep_clocks = false;
};

// "comm=0.5": a name may hold '=' itself, so that the last one counts.
absl::Status AddScaling(const std::string& text, v1::FindCriticalPathRequest* request) {
  const size_t at = text.rfind('=');
  double factor = 0;
  if (at == std::string::npos || at == 0 || !absl::SimpleAtod(text.substr(at + 1), &factor)) {
    return UsageError(
        absl::StrCat("--scale ", text, ": wants CLASS=FACTOR, such as comm=0.5 or name:gemm=2"));
  }
  v1::Scaling* scaling = request->add_what_if();
  scaling->set_node_class(text.substr(0, at));
  scaling->set_factor(factor);
  return absl::OkStatus();
}

absl::Status RunCriticalPath(const PathArgs& args, Session* session) {
  v1::FindCriticalPathRequest request;
  v1::TimelineSelection* selection = request.mutable_timeline();
  ASSIGN_OR_RETURN(*selection->mutable_name(), TimelineName(args.name));
  selection->mutable_ranks()->Add(args.ranks.begin(), args.ranks.end());
  if (args.step >= 0) selection->set_step(args.step);
  request.set_top(args.all ? 0 : args.top);
  request.set_keep_clocks(args.keep_clocks);
  for (const std::string& scale : args.scales) RETURN_IF_ERROR(AddScaling(scale, &request));
  const auto stub = v1::AnalysisService::NewStub(session->channel());
  CallOptions options = session->call_options();
  options.deadline.reset();  // As long as the trace is large.
  ASSIGN_OR_RETURN(
      const v1::CriticalPath path,
      UnaryCall(stub.get(), &v1::AnalysisService::Stub::FindCriticalPath, request, options));
  if (session->json()) {
    session->PrintJson(ProtoJson(path));
  } else {
    session->PrintText(CriticalPathText(path));
  }
  return absl::OkStatus();
}

}  // namespace

void AddCriticalPathCommand(CLI::App* app, Session* session, int* exit_code) {
  const auto args = std::make_shared<PathArgs>();
  CLI::App* command = app->add_subcommand(
      "critical-path", "What bounds a trace or a simulation, and what if it took other times");
  command->footer(kHelp);
  command->add_option("NAME", args->name, "A trace, t-..., or a job, j-...")
      ->type_name("")
      ->required();
  command->add_option("--rank", args->ranks, "Only this rank; repeatable")
      ->type_name("N")
      ->allow_extra_args(false);
  command
      ->add_option("--step", args->step,
                   "Only this step, counted from 0 as `chakra analyze` lists them")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--scale", args->scales,
                   "What if operations of the class took FACTOR times as long; repeatable")
      ->type_name("CLASS=FACTOR")
      ->allow_extra_args(false);
  command->add_option("--top", args->top, "The longest steps are listed; so many")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_flag("--all", args->all, "List every step, in order of time");
  command->add_flag("--keep-clocks", args->keep_clocks, "Do not align the ranks' clocks");
  command->callback([args, session, exit_code] {
    *exit_code = session->Report(RunCriticalPath(*args, session));
  });
}

}  // namespace chakrad::client
