// chakra retention show, set, plan, run.
#include <grpcpp/grpcpp.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "chakrad/v1/retention.grpc.pb.h"
#include "client/commands.h"
#include "client/connection.h"
#include "client/quantity.h"
#include "client/session.h"
#include "client/unary_call.h"
#include "common/status.h"
#include "common/utf8.h"

namespace chakrad::client {
namespace {

using RetentionStub = v1::RetentionService::Stub;

struct RetentionArgs {
  std::string file;
  bool with_kept = false;
  bool trust_clock = false;
};

// More than the server takes; less than what a wrong path would make it read.
constexpr size_t kPoliciesBytesMax = 1 << 20;

absl::StatusOr<std::string> ReadPolicies(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(kPoliciesBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  if (!in.eof()) {
    return UsageError(absl::StrCat(
        path, text.empty() ? ": cannot be read" : ": is no file of policies: more than 1 MiB"));
  }
  if (ValidUtf8(text) != text) return UsageError(absl::StrCat(path, ": is not text in UTF-8"));
  return text;
}

Json PolicyJson(const v1::RetentionPolicy& policy) {
  Json group_by = Json::array();
  for (const std::string& label : policy.group_by()) group_by.push_back(label);
  return {{"name", policy.name()},
          {"filter", policy.filter()},
          {"group_by", std::move(group_by)},
          {"keep_newest", policy.keep_newest()},
          {"keep_for_seconds", policy.keep_for_seconds()},
          {"keep_one_a_day", policy.keep_one_a_day()},
          {"keep_representative", policy.keep_representative()},
          {"max_bytes", policy.max_bytes()}};
}

void PrintPolicies(const v1::RetentionPolicies& policies, Session* session) {
  if (session->json()) {
    Json json = {{"policies", Json::array()}, {"yaml", policies.yaml()}};
    for (const auto& policy : policies.policies()) json["policies"].push_back(PolicyJson(policy));
    session->PrintJson(json);
  } else if (policies.policies().empty()) {
    session->PrintText("# no policies: every trace stays\n");
  } else {
    session->PrintText(policies.yaml());
    if (policies.yaml().back() != '\n') session->PrintText("\n");
  }
}

absl::Status RunShow(const RetentionArgs&, Session* session) {
  const auto stub = v1::RetentionService::NewStub(session->channel());
  ASSIGN_OR_RETURN(const v1::RetentionPolicies policies,
                   UnaryCall(stub.get(), &RetentionStub::GetRetention, v1::GetRetentionRequest(),
                             session->call_options()));
  PrintPolicies(policies, session);
  return absl::OkStatus();
}

absl::Status RunSet(const RetentionArgs& args, Session* session) {
  v1::SetRetentionRequest request;
  ASSIGN_OR_RETURN(*request.mutable_yaml(), ReadPolicies(args.file));
  const auto stub = v1::RetentionService::NewStub(session->channel());
  ASSIGN_OR_RETURN(
      const v1::RetentionPolicies policies,
      UnaryCall(stub.get(), &RetentionStub::SetRetention, request, session->call_options()));
  if (session->json()) {
    PrintPolicies(policies, session);
  } else {
    session->PrintText(absl::StrCat(CountText(policies.policies_size()),
                                    " policies are set; chakra retention plan tells what goes\n"));
  }
  return absl::OkStatus();
}

// Prints decisions as they come and counts them.
class DecisionPrinter {
 public:
  // `goes`: how one that is deleted is called.
  DecisionPrinter(const char* goes, Session* session) : goes_(goes), session_(session) {}

  void Add(const v1::RetentionDecision& decision) {
    if (decision.deleted()) {
      ++deleted_count_;
      freed_bytes_ += decision.freed_bytes();
    } else {
      ++(decision.held() ? held_count_ : kept_count_);
    }
    const char* const what = decision.deleted() ? goes_ : decision.held() ? "held" : "stays";
    if (session_->json()) {
      decisions_.push_back({{"name", decision.trace().name()},
                            {"deleted", decision.deleted()},
                            {"held", decision.held()},
                            {"reason", decision.reason()},
                            {"freed_bytes", decision.freed_bytes()}});
      return;
    }
    session_->PrintText(absl::StrCat(what, "  ", decision.trace().name(), "  ", decision.reason(),
                                     decision.deleted() ? "  " : "",
                                     decision.deleted() ? BytesText(decision.freed_bytes()) : "",
                                     "\n"));
  }

  bool empty() const { return deleted_count_ + held_count_ + kept_count_ == 0; }

  void Finish(bool says_kept) {
    if (session_->json()) {
      session_->PrintJson({{"decisions", std::move(decisions_)},
                           {"deleted_count", deleted_count_},
                           {"held_count", held_count_},
                           {"kept_count", kept_count_},
                           {"freed_bytes", freed_bytes_}});
      return;
    }
    session_->PrintText(absl::StrCat(
        CountText(deleted_count_), " ", goes_, ", ", BytesText(freed_bytes_),
        " (chunks that other traces share stay)",
        held_count_ > 0 ? absl::StrCat("; ", CountText(held_count_), " held, as the clock is not ",
                                       "trusted: chakra retention run --trust_clock if it is right")
                        : "",
        says_kept || kept_count_ > 0 ? absl::StrCat("; ", CountText(kept_count_), " stay") : "",
        "\n"));
  }

 private:
  const char* const goes_;
  Session* const session_;
  Json decisions_ = Json::array();
  int64_t deleted_count_ = 0, held_count_ = 0, kept_count_ = 0, freed_bytes_ = 0;
};

absl::Status RunPlan(const RetentionArgs& args, Session* session) {
  v1::PlanRetentionRequest request;
  if (!args.file.empty()) {
    ASSIGN_OR_RETURN(*request.mutable_yaml(), ReadPolicies(args.file));
    // An empty file is tried as it is, not taken for "those that are set".
    if (request.yaml().empty()) request.set_yaml("\n");
  }
  request.set_with_kept(args.with_kept);
  const auto stub = v1::RetentionService::NewStub(session->channel());
  grpc::ClientContext context;
  const auto stream = stub->PlanRetention(&context, request);
  DecisionPrinter printer("goes", session);
  v1::RetentionDecision decision;
  while (stream->Read(&decision)) printer.Add(decision);
  RETURN_IF_ERROR(FromGrpc(stream->Finish()));
  printer.Finish(args.with_kept);
  return absl::OkStatus();
}

absl::Status RunRun(const RetentionArgs& args, Session* session) {
  v1::RunRetentionRequest request;
  request.set_trust_clock(args.trust_clock);
  const auto stub = v1::RetentionService::NewStub(session->channel());
  grpc::ClientContext context;
  const auto stream = stub->RunRetention(&context, request);
  DecisionPrinter printer("deleted", session);
  v1::RetentionDecision decision;
  while (stream->Read(&decision)) printer.Add(decision);
  const absl::Status status = FromGrpc(stream->Finish());
  // Of a run that failed, what it did before.
  if (status.ok() || !printer.empty()) printer.Finish(/*says_kept=*/false);
  return status;
}

}  // namespace

void AddRetentionCommands(CLI::App* app, Session* session, int* exit_code) {
  const auto args = std::make_shared<RetentionArgs>();
  CLI::App* group =
      app->add_subcommand("retention", "Which traces stay and which go (docs/retention.md)");
  group->require_subcommand(1);
  using RunFn = absl::Status (*)(const RetentionArgs&, Session*);
  const auto add = [&](const char* name, const char* help, RunFn run) {
    CLI::App* command = group->add_subcommand(name, help);
    command->callback([=] { *exit_code = session->Report(run(*args, session)); });
    return command;
  };
  add("show", "Print the policies, as they were set", RunShow);
  add("set", "Replace all policies by those of a YAML file; an empty one: none", RunSet)
      ->add_option("FILE", args->file, "YAML file")
      ->type_name("")
      ->required();
  CLI::App* plan =
      add("plan", "Tell what a run would delete now, and why; delete nothing", RunPlan);
  plan->add_option("FILE", args->file, "Policies to try; without: those that are set")
      ->type_name("");
  plan->add_flag("--all", args->with_kept, "Also tell why the others stay");
  add("run", "Delete now what the policies let go", RunRun)
      ->add_flag("--trust_clock,--trust-clock", args->trust_clock,
                 "The daemon's clock is right, though it is far later than at the last run");
}

}  // namespace chakrad::client
