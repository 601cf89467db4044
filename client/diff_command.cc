// chakra diff.
#include <grpcpp/grpcpp.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
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
  chakra diff t-17 t-18                        what became slower between two traces
  chakra diff t-17 j-4                         a recording against its simulation
  chakra diff t-17 t-17 --step-a 2 --step-b 9  two steps of one trace
Numbers are means over ranks: jobs of different sizes compare.
)";

struct DiffArgs {
  std::string before;
  std::string after;
  std::vector<int32_t> ranks;
  int32_t step_before = -1;
  int32_t step_after = -1;
  std::string min_change = "5%";
  int32_t top = 20;
};

// "5%" or "0.05".
absl::StatusOr<double> RatioOf(const std::string& text) {
  absl::string_view number = text;
  const bool percent = absl::ConsumeSuffix(&number, "%");
  double ratio = 0;
  if (!absl::SimpleAtod(number, &ratio) || !(ratio > 0)) {
    return UsageError(absl::StrCat("--min-change ", text, ": wants a share above 0, such as 5%"));
  }
  return percent ? ratio / 100 : ratio;
}

absl::Status FillSelection(const std::string& name, int32_t step, const DiffArgs& args,
                           v1::TimelineSelection* selection) {
  ASSIGN_OR_RETURN(*selection->mutable_name(), TimelineName(name));
  selection->mutable_ranks()->Add(args.ranks.begin(), args.ranks.end());
  if (step >= 0) selection->set_step(step);
  return absl::OkStatus();
}

absl::Status RunDiff(const DiffArgs& args, Session* session) {
  v1::DiffTimelinesRequest request;
  RETURN_IF_ERROR(FillSelection(args.before, args.step_before, args, request.mutable_before()));
  RETURN_IF_ERROR(FillSelection(args.after, args.step_after, args, request.mutable_after()));
  ASSIGN_OR_RETURN(const double min_change, RatioOf(args.min_change));
  request.set_min_relative_change(min_change);
  request.set_top(args.top);
  const auto stub = v1::AnalysisService::NewStub(session->channel());
  CallOptions options = session->call_options();
  options.deadline.reset();  // As long as the traces are large.
  ASSIGN_OR_RETURN(
      const v1::TimelineDiff diff,
      UnaryCall(stub.get(), &v1::AnalysisService::Stub::DiffTimelines, request, options));
  if (session->json()) {
    session->PrintJson(ProtoJson(diff));
  } else {
    session->PrintText(DiffText(diff));
  }
  return absl::OkStatus();
}

}  // namespace

void AddDiffCommand(CLI::App* app, Session* session, int* exit_code) {
  const auto args = std::make_shared<DiffArgs>();
  CLI::App* command =
      app->add_subcommand("diff", "What changed between two traces, simulations or steps");
  command->footer(kHelp);
  command->add_option("BEFORE", args->before, "A trace, t-..., or a job, j-...")
      ->type_name("")
      ->required();
  command->add_option("AFTER", args->after, "The same")->type_name("")->required();
  command->add_option("--rank", args->ranks, "Only this rank, of both; repeatable")
      ->type_name("N")
      ->allow_extra_args(false);
  command
      ->add_option("--step-a", args->step_before,
                   "Only this step of BEFORE, counted from 0 as `chakra analyze` lists them")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--step-b", args->step_after, "The same of AFTER")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--min-change", args->min_change,
                   "Operators that changed less count as unchanged")
      ->type_name("SHARE")
      ->capture_default_str();
  command->add_option("--top", args->top, "Entries of each list")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->callback(
      [args, session, exit_code] { *exit_code = session->Report(RunDiff(*args, session)); });
}

}  // namespace chakrad::client
