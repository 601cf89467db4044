// chakra traces verify.
#include <grpcpp/grpcpp.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "absl/strings/str_cat.h"
#include "chakrad/v1/trace.grpc.pb.h"
#include "client/commands.h"
#include "client/connection.h"
#include "client/progress_line.h"
#include "client/quantity.h"
#include "client/session.h"
#include "common/status.h"

namespace chakrad::client {
namespace {

struct Totals {
  int64_t traces = 0;
  int64_t damaged = 0;
  int64_t chunks = 0;
  int64_t bytes = 0;
};

void Tell(const v1::VerifyTracesResponse& answer, Session* session, Totals* totals, Json* damaged) {
  ++totals->traces;
  totals->chunks += answer.chunks_count();
  totals->bytes += answer.bytes();
  if (answer.ok()) return;
  ++totals->damaged;
  Json errors = Json::array();
  for (const std::string& error : answer.errors()) errors.push_back(error);
  damaged->push_back({{"name", answer.name()}, {"errors", errors}});
  if (session->json()) return;
  session->PrintText(absl::StrCat(answer.name(), " is damaged\n"));
  for (const std::string& error : answer.errors()) session->PrintText("  " + error + "\n");
}

absl::Status RunVerify(const std::string& trace, Session* session) {
  v1::VerifyTracesRequest request;
  if (!trace.empty()) {
    ASSIGN_OR_RETURN(*request.mutable_name(), FullName("traces", trace));
  }
  const auto stub = v1::TraceService::NewStub(session->channel());
  grpc::ClientContext context;
  const auto stream = stub->VerifyTraces(&context, request);
  Totals totals;
  Json damaged = Json::array();
  ProgressLine line(&session->err(), session->io().err_is_terminal);
  v1::VerifyTracesResponse answer;
  while (stream->Read(&answer)) {
    if (!answer.ok()) line.Clear();
    Tell(answer, session, &totals, &damaged);
    line.Draw(answer.traces_done(), answer.traces_count(), answer.name());
  }
  line.Clear();
  RETURN_IF_ERROR(FromGrpc(stream->Finish()));
  if (session->json()) {
    session->PrintJson({{"traces_count", totals.traces},
                        {"chunks_count", totals.chunks},
                        {"bytes", totals.bytes},
                        {"damaged", damaged}});
  } else {
    session->PrintText(absl::StrCat(
        CountText(totals.traces), " traces, ", CountText(totals.chunks), " chunks, ",
        BytesText(totals.bytes), " read: ",
        totals.damaged == 0 ? "all whole" : absl::StrCat(CountText(totals.damaged), " damaged"),
        "\n"));
  }
  if (totals.damaged > 0) session->set_exit_code(kExitFailed);
  return absl::OkStatus();
}

}  // namespace

void AddVerifyCommand(CLI::App* traces, Session* session, int* exit_code) {
  CLI::App* command = traces->add_subcommand(
      "verify",
      "Read all that is stored of a trace, or of all, and check it; exit code 1 on damage");
  const auto trace = std::make_shared<std::string>();
  command->add_option("TRACE", *trace, "Name of the trace; without: all")->type_name("");
  command->callback([=] { *exit_code = session->Report(RunVerify(*trace, session)); });
}

}  // namespace chakrad::client
