// chakra traces nodes.
#include <grpcpp/grpcpp.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "chakrad/v1/trace.grpc.pb.h"
#include "client/commands.h"
#include "client/connection.h"
#include "client/quantity.h"
#include "client/session.h"
#include "client/table.h"
#include "common/status.h"

namespace chakrad::client {
namespace {

// What a person looks at when nothing is said: a few screens.
constexpr int64_t kDefaultCount = 100;
// Of a name in a table: kernel names are longer than any terminal.
constexpr size_t kShownNameChars = 60;

struct NodesArgs {
  std::string trace;
  int32_t rank = 0;
  int64_t first = 0;
  int64_t count = kDefaultCount;
  std::optional<int64_t> from_ns;
  std::optional<int64_t> to_ns;
};

// Whether every column has an entry for each node.
bool IsWhole(const v1::ReadNodesResponse& nodes) {
  const int n = nodes.position_size();
  return nodes.id_size() == n && nodes.name_size() == n && nodes.type_size() == n &&
         nodes.queue_size() == n && nodes.start_ns_size() == n && nodes.dur_ns_size() == n &&
         nodes.dependencies_count_size() == n;
}

Json NodeJson(const v1::ReadNodesResponse& nodes, int row) {
  const auto time = [](int64_t ns) { return ns == -1 ? Json(nullptr) : Json(ns); };
  return {
      {"position", nodes.position(row)},   {"id", nodes.id(row)},
      {"name", nodes.name(row)},           {"type", nodes.type(row)},
      {"queue", nodes.queue(row)},         {"start_ns", time(nodes.start_ns(row))},
      {"dur_ns", time(nodes.dur_ns(row))}, {"dependencies_count", nodes.dependencies_count(row)}};
}

void AddTableRow(const v1::ReadNodesResponse& nodes, int row, Table* table) {
  // Nanoseconds in microseconds.
  const auto time = [](int64_t ns) { return ns == -1 ? "-" : FixedDecimal(ns, 3); };
  std::string name = nodes.name(row);
  if (name.size() > kShownNameChars) {
    size_t end = kShownNameChars;
    while (end > 0 && (name[end] & 0xc0) == 0x80) --end;  // Between characters.
    name = name.substr(0, end) + "...";
  }
  table->AddRow({CountText(nodes.position(row)), absl::StrCat(nodes.id(row)), nodes.type(row),
                 nodes.queue(row), time(nodes.start_ns(row)), time(nodes.dur_ns(row)),
                 CountText(nodes.dependencies_count(row)), name});
}

absl::StatusOr<v1::ReadNodesRequest> ToRequest(const NodesArgs& args) {
  v1::ReadNodesRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), FullName("traces", args.trace));
  request.set_rank(args.rank);
  request.set_first_node(args.first);
  request.set_max_nodes(args.count);
  if (args.from_ns.has_value()) request.set_from_ns(*args.from_ns);
  if (args.to_ns.has_value()) request.set_to_ns(*args.to_ns);
  return request;
}

absl::Status RunNodes(const NodesArgs& args, Session* session) {
  ASSIGN_OR_RETURN(const v1::ReadNodesRequest request, ToRequest(args));
  const auto stub = v1::TraceService::NewStub(session->channel());
  grpc::ClientContext context;
  const auto stream = stub->ReadNodes(&context, request);
  using Align = Table::Align;
  Table table({{"position", "", Align::kRight},
               {"id", "", Align::kRight},
               {"type"},
               {"queue"},
               {"start", "us", Align::kRight},
               {"duration", "us", Align::kRight},
               {"waits for", "", Align::kRight},
               {"name"}});
  Json nodes = Json::array();
  int64_t count = 0;
  v1::ReadNodesResponse answer;
  while (stream->Read(&answer)) {
    if (!IsWhole(answer)) {
      context.TryCancel();
      return absl::InternalError("the server's columns differ in length");
    }
    for (int row = 0; row < answer.position_size(); ++row, ++count) {
      if (session->json()) {
        nodes.push_back(NodeJson(answer, row));
      } else {
        AddTableRow(answer, row, &table);
      }
    }
  }
  RETURN_IF_ERROR(FromGrpc(stream->Finish()));
  if (session->json()) {
    session->PrintJson({{"name", request.name()}, {"rank", args.rank}, {"nodes", nodes}});
    return absl::OkStatus();
  }
  session->PrintText(count == 0 ? "no nodes\n" : table.Text());
  if (args.count > 0 && count == args.count) {
    session->PrintText(absl::StrCat("(", CountText(count),
                                    " nodes; --count N or --first N for "
                                    "others, --count 0 for all)\n"));
  }
  return absl::OkStatus();
}

}  // namespace

void AddNodesCommand(CLI::App* traces, Session* session, int* exit_code) {
  CLI::App* command =
      traces->add_subcommand("nodes", "Show nodes of one rank, by position or by time");
  const auto args = std::make_shared<NodesArgs>();
  command->add_option("TRACE", args->trace, "Name of the trace, such as t-17")
      ->type_name("")
      ->required();
  command->add_option("--rank", args->rank, "The rank")->type_name("N");
  command->add_option("--first", args->first, "Nodes from this position in the rank on")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--count", args->count, "At most so many nodes; 0: all")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--from-ns,--from", args->from_ns,
                   "Only nodes that run after this, nanoseconds from the rank's base")
      ->type_name("NS");
  command
      ->add_option("--to-ns,--to", args->to_ns,
                   "Only nodes that run before this, nanoseconds from the rank's base")
      ->type_name("NS");
  command->callback([=] { *exit_code = session->Report(RunNodes(*args, session)); });
}

}  // namespace chakrad::client
