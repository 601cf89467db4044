// chakra traces ls, pin, unpin.
#include <grpcpp/grpcpp.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "chakrad/v1/trace.grpc.pb.h"
#include "client/commands.h"
#include "client/quantity.h"
#include "client/session.h"
#include "client/trace_view.h"
#include "client/unary_call.h"
#include "common/status.h"

namespace chakrad::client {
namespace {

using TraceStub = v1::TraceService::Stub;

constexpr int64_t kPageSize = 1000;  // The most that the server gives.

struct ListArgs {
  std::string filter;
  std::string order_by;
  int64_t limit = 0;  // 0: all.
};

absl::Status RunList(const ListArgs& args, Session* session) {
  const auto stub = v1::TraceService::NewStub(session->channel());
  v1::ListTracesRequest request;
  request.set_filter(args.filter);
  request.set_order_by(args.order_by);
  std::vector<v1::Trace> traces;
  int64_t total_count = 0;
  do {
    const int64_t left = args.limit - static_cast<int64_t>(traces.size());
    request.set_page_size(
        static_cast<int32_t>(args.limit == 0 ? kPageSize : std::min(left, kPageSize)));
    ASSIGN_OR_RETURN(v1::ListTracesResponse page, UnaryCall(stub.get(), &TraceStub::ListTraces,
                                                            request, session->call_options()));
    total_count = page.total_count();
    std::move(page.mutable_traces()->begin(), page.mutable_traces()->end(),
              std::back_inserter(traces));
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty() &&
           (args.limit == 0 || static_cast<int64_t>(traces.size()) < args.limit));
  if (session->json()) {
    Json json = {{"traces", Json::array()}, {"total_count", total_count}};
    for (const v1::Trace& trace : traces) json["traces"].push_back(TraceJson(trace));
    session->PrintJson(json);
    return absl::OkStatus();
  }
  session->PrintText(TraceListText(traces));
  if (!request.page_token().empty()) {
    session->PrintText(absl::StrCat("(", CountText(static_cast<int64_t>(traces.size())), " of ",
                                    CountText(total_count), "; a higher --limit has more)\n"));
  }
  return absl::OkStatus();
}

absl::Status RunPin(const std::string& name, bool pinned, Session* session) {
  v1::PinTraceRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), FullName("traces", name));
  request.set_pinned(pinned);
  const auto stub = v1::TraceService::NewStub(session->channel());
  RETURN_IF_ERROR(
      UnaryCall(stub.get(), &TraceStub::PinTrace, request, session->call_options()).status());
  if (session->json()) {
    session->PrintJson({{"name", request.name()}, {"pinned", pinned}});
  } else {
    session->PrintText(absl::StrCat(
        request.name(), pinned ? " is pinned: nothing deletes it\n" : " is not pinned any more\n"));
  }
  return absl::OkStatus();
}

}  // namespace

void AddListCommands(CLI::App* traces, Session* session, int* exit_code) {
  const auto args = std::make_shared<ListArgs>();
  CLI::App* list = traces->add_subcommand("ls", "List traces, newest first unless told otherwise");
  list->add_option("--filter", args->filter,
                   "Only traces for which this holds (docs/search.md), such as 'labels.job = "
                   "\"llama*\" exposed_comm_ratio > 0.2'")
      ->type_name("EXPRESSION");
  list->add_option(
          "--order_by,--order-by", args->order_by,
          "Fields, each with or without desc after it, such as 'quality desc, labels.step'")
      ->type_name("FIELDS");
  list->add_option("--limit", args->limit, "At most so many; 0: all")
      ->type_name("N")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40));
  list->callback([=] { *exit_code = session->Report(RunList(*args, session)); });
  for (const bool pinned : {true, false}) {
    CLI::App* command = traces->add_subcommand(
        pinned ? "pin" : "unpin",
        pinned ? "Keep a trace whatever happens: it is not deleted until it is unpinned"
               : "Let a pinned trace be deleted again");
    const auto name = std::make_shared<std::string>();
    command->add_option("TRACE", *name, "Name of the trace, such as t-17")
        ->type_name("")
        ->required();
    command->callback([=] { *exit_code = session->Report(RunPin(*name, pinned, session)); });
  }
}

}  // namespace chakrad::client
