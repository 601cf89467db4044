// chakra analyze.
#include <grpcpp/grpcpp.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "chakrad/v1/analysis.grpc.pb.h"
#include "client/analysis/views.h"
#include "client/commands.h"
#include "client/proto_json.h"
#include "client/quantity.h"
#include "client/session.h"
#include "client/unary_call.h"
#include "common/status.h"

namespace chakrad::client {
namespace {

constexpr char kHelp[] = R"(Examples:
  chakra analyze t-17                              where the time of a trace went
  chakra analyze j-4 --section temporal            the same of a simulation's timeline
  chakra analyze t-17 --step 3 --rank 0 --top 50
docs/analysis.md defines every number.
)";

struct SectionName {
  const char* name;
  v1::AnalysisSection section;
  std::string (*text)(const v1::TimelineAnalysis&);
};
constexpr SectionName kSections[] = {
    {"temporal", v1::TEMPORAL, TemporalText}, {"collectives", v1::COLLECTIVES, CollectivesText},
    {"groups", v1::GROUPS, GroupsText},       {"kernels", v1::KERNELS, KernelsText},
    {"launches", v1::LAUNCHES, LaunchesText}, {"skew", v1::SKEW, SkewText},
    {"steps", v1::STEPS, StepsText},          {"memory", v1::MEMORY, MemoryText},
    {"quality", v1::QUALITY, QualityText},    {"metrics", v1::METRICS, MetricsText},
};

struct AnalyzeArgs {
  std::string name;
  std::vector<int32_t> ranks;
  int32_t step = -1;
  std::vector<std::string> sections;
  int32_t top = 0;
  bool keep_clocks = false;
};

std::string HeadText(const v1::TimelineAnalysis& answer) {
  std::string text =
      absl::StrCat(answer.name(), answer.simulated() ? ", simulated: " : ": ",
                   CountText(answer.ranks_count()), " of ", CountText(answer.world_size()),
                   " ranks, ", DurationText(answer.end_ps() - answer.start_ps()), "\n");
  for (const std::string& notice : answer.notices()) absl::StrAppend(&text, "note: ", notice, "\n");
  return text;
}

absl::Status RunAnalyze(const AnalyzeArgs& args, Session* session) {
  v1::AnalyzeTimelineRequest request;
  v1::TimelineSelection* selection = request.mutable_timeline();
  ASSIGN_OR_RETURN(*selection->mutable_name(), TimelineName(args.name));
  selection->mutable_ranks()->Add(args.ranks.begin(), args.ranks.end());
  if (args.step >= 0) selection->set_step(args.step);
  request.set_top(args.top);
  request.set_keep_clocks(args.keep_clocks);
  for (const std::string& name : args.sections) {
    for (const SectionName& section : kSections) {
      if (name == section.name || name == "all") request.add_sections(section.section);
    }
  }
  const auto stub = v1::AnalysisService::NewStub(session->channel());
  CallOptions options = session->call_options();
  options.deadline.reset();  // As long as the trace is large.
  ASSIGN_OR_RETURN(
      const v1::TimelineAnalysis answer,
      UnaryCall(stub.get(), &v1::AnalysisService::Stub::AnalyzeTimeline, request, options));
  if (session->json()) {
    session->PrintJson(ProtoJson(answer));
    return absl::OkStatus();
  }
  session->PrintText(HeadText(answer));
  for (const SectionName& section : kSections) {
    const std::string text = section.text(answer);
    if (!text.empty()) session->PrintText(absl::StrCat("\n", text));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> TimelineName(absl::string_view name) {
  const bool job = absl::StartsWith(name, "jobs/") || absl::StartsWith(name, "j-");
  return FullName(job ? "jobs" : "traces", name);
}

void AddAnalyzeCommand(CLI::App* app, Session* session, int* exit_code) {
  const auto args = std::make_shared<AnalyzeArgs>();
  CLI::App* command =
      app->add_subcommand("analyze", "Where the time of a trace or a simulation went");
  command->footer(kHelp);
  command->add_option("NAME", args->name, "A trace, t-..., or a job, j-...")
      ->type_name("")
      ->required();
  command->add_option("--rank", args->ranks, "Only this rank; repeatable")
      ->type_name("N")
      ->allow_extra_args(false);
  command->add_option("--step", args->step, "Only this step, counted from 0 as `steps` lists them")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  std::vector<std::string> names{"all"};
  for (const SectionName& section : kSections) names.push_back(section.name);
  command
      ->add_option("--section", args->sections,
                   "Only this part; repeatable. Without it all but memory")
      ->type_name("PART")
      ->check(CLI::IsMember(names))
      ->allow_extra_args(false);
  command->add_option("--top", args->top, "Entries of each long list")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command->add_flag("--keep-clocks", args->keep_clocks, "Do not align the ranks' clocks");
  command->callback(
      [args, session, exit_code] { *exit_code = session->Report(RunAnalyze(*args, session)); });
}

}  // namespace chakrad::client
