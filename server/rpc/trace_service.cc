#include "server/rpc/trace_service.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "chakrad/v1/trace.grpc.pb.h"
#include "common/status.h"
#include "server/ids.h"
#include "server/limits.h"
#include "server/rpc/convert.h"
#include "server/rpc/list_traces.h"
#include "server/rpc/read_nodes.h"
#include "server/rpc/read_raw_file.h"
#include "server/rpc/serve.h"
#include "server/rpc/verify_traces.h"
#include "trace/writers/export.h"

namespace chakrad {
namespace {

using ExportStream = grpc::ServerWriter<v1::ExportTraceResponse>;

absl::Status GetTrace(TraceStore* traces, const v1::GetTraceRequest& request, v1::Trace* response) {
  ASSIGN_OR_RETURN(const std::string id, IdFromName(request.name(), "traces", "name"));
  ASSIGN_OR_RETURN(const TraceInfo info, traces->GetInfo(id));
  ToProto(info, response);
  FitIntoAnswer(response);
  return absl::OkStatus();
}

absl::Status DeleteTrace(TraceStore* traces, const v1::DeleteTraceRequest& request) {
  ASSIGN_OR_RETURN(const std::string id, IdFromName(request.name(), "traces", "name"));
  return traces->Delete(id);
}

absl::StatusOr<ExportFormat> ToFormat(v1::ExportTraceRequest::Format format) {
  switch (format) {
    case v1::ExportTraceRequest::FORMAT_UNSPECIFIED:
    case v1::ExportTraceRequest::CHAKRA_ET:
      return ExportFormat::kChakraEt;
    case v1::ExportTraceRequest::CHAKRA_JSON:
      return ExportFormat::kChakraJson;
    case v1::ExportTraceRequest::DOT:
      return ExportFormat::kDot;
    case v1::ExportTraceRequest::GRAPHML:
      return ExportFormat::kGraphMl;
    case v1::ExportTraceRequest::CHROME_TRACE:
      return ExportFormat::kChromeTrace;
    default:
      return absl::InvalidArgumentError(absl::StrCat("format: ", format, " is unknown"));
  }
}

absl::StatusOr<GraphOptions> ToGraphOptions(const v1::GraphSettings& settings) {
  GraphOptions options;
  options.full = settings.full();
  if (settings.has_around_node_id()) options.around_id = settings.around_node_id();
  if (settings.depth() < 0 || settings.max_nodes() < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "graph: depth ", settings.depth(), " or max_nodes ", settings.max_nodes(), " is below 0"));
  }
  if (settings.depth() > 0) options.depth = settings.depth();
  if (settings.has_from_ns()) options.from_ns = settings.from_ns();
  if (settings.has_to_ns()) options.to_ns = settings.to_ns();
  if (settings.max_nodes() > 0) options.max_nodes = settings.max_nodes();
  return options;
}

// Sends one file in pieces of at most kPieceBytes.
class FileSender {
 public:
  FileSender(std::string file, ExportStream* stream) : stream_(stream) {
    response_.set_file(std::move(file));
  }
  absl::Status Add(absl::string_view bytes) {
    while (!bytes.empty()) {
      const size_t room = kPieceBytes - response_.data().size();
      const absl::string_view part = bytes.substr(0, room);
      response_.mutable_data()->append(part.data(), part.size());
      bytes.remove_prefix(part.size());
      if (response_.data().size() == kPieceBytes) RETURN_IF_ERROR(Send());
    }
    return absl::OkStatus();
  }
  absl::Status Send() {
    const bool sent = stream_->Write(response_);
    response_.clear_data();
    return sent ? absl::OkStatus() : absl::CancelledError("the reader went away");
  }

 private:
  ExportStream* const stream_;
  v1::ExportTraceResponse response_;
};

absl::Status ExportTrace(TraceStore* traces, const v1::ExportTraceRequest& request,
                         ExportStream* stream) {
  ASSIGN_OR_RETURN(const std::string id, IdFromName(request.name(), "traces", "name"));
  ASSIGN_OR_RETURN(const ExportFormat format, ToFormat(request.format()));
  ASSIGN_OR_RETURN(const GraphOptions graph, ToGraphOptions(request.graph()));
  ASSIGN_OR_RETURN(const std::unique_ptr<TraceLease> lease, traces->Lease(id));
  ASSIGN_OR_RETURN(const TraceInfo info, traces->GetInfo(id));
  std::vector<int32_t> ranks(request.ranks().begin(), request.ranks().end());
  RETURN_IF_ERROR(CheckRanksOnce(ranks));
  if (ranks.empty()) {
    for (const RankSummary& rank : info.ranks) ranks.push_back(rank.rank);
  }
  TraceLoadOptions options;
  options.cold = NeedsCold(format);
  if (IsOneFile(format)) {
    options.ranks = ranks;
    ASSIGN_OR_RETURN(const Trace trace, traces->Load(id, options));
    FileSender sender(ExportFileName(format, 0), stream);
    RETURN_IF_ERROR(WriteTimelines(
        trace, ranks, format, [&sender](absl::string_view bytes) { return sender.Add(bytes); }));
    return sender.Send();
  }
  for (const int32_t rank : ranks) {  // One at a time: memory follows the largest rank.
    options.ranks = {rank};
    ASSIGN_OR_RETURN(const Trace trace, traces->Load(id, options));
    FileSender sender(ExportFileName(format, rank), stream);
    RETURN_IF_ERROR(WriteRank(trace, rank, format, graph,
                              [&sender](absl::string_view bytes) { return sender.Add(bytes); }));
    RETURN_IF_ERROR(sender.Send());
  }
  return absl::OkStatus();
}

class TraceService : public v1::TraceService::Service {
 public:
  TraceService(TraceStore* traces, Metrics* metrics) : traces_(traces), metrics_(metrics) {}

  grpc::Status ListTraces(grpc::ServerContext*, const v1::ListTracesRequest* request,
                          v1::ListTracesResponse* response) override {
    return Serve(metrics_, "ListTraces",
                 [&] { return chakrad::ListTraces(traces_, *request, response); });
  }
  grpc::Status GetTrace(grpc::ServerContext*, const v1::GetTraceRequest* request,
                        v1::Trace* response) override {
    return Serve(metrics_, "GetTrace",
                 [&] { return chakrad::GetTrace(traces_, *request, response); });
  }
  grpc::Status DeleteTrace(grpc::ServerContext*, const v1::DeleteTraceRequest* request,
                           google::protobuf::Empty*) override {
    return Serve(metrics_, "DeleteTrace", [&] { return chakrad::DeleteTrace(traces_, *request); });
  }
  grpc::Status PinTrace(grpc::ServerContext*, const v1::PinTraceRequest* request,
                        v1::Trace* response) override {
    return Serve(metrics_, "PinTrace",
                 [&] { return chakrad::PinTrace(traces_, *request, response); });
  }
  grpc::Status ExportTrace(grpc::ServerContext*, const v1::ExportTraceRequest* request,
                           ExportStream* stream) override {
    return Serve(metrics_, "ExportTrace",
                 [&] { return chakrad::ExportTrace(traces_, *request, stream); });
  }
  grpc::Status ReadNodes(grpc::ServerContext* context, const v1::ReadNodesRequest* request,
                         grpc::ServerWriter<v1::ReadNodesResponse>* stream) override {
    return Serve(metrics_, "ReadNodes",
                 [&] { return chakrad::ReadNodes(traces_, *request, context, stream); });
  }
  grpc::Status ReadRawFile(grpc::ServerContext*, const v1::ReadRawFileRequest* request,
                           grpc::ServerWriter<v1::ReadRawFileResponse>* stream) override {
    return Serve(metrics_, "ReadRawFile",
                 [&] { return chakrad::ReadRawFile(traces_, *request, stream); });
  }
  grpc::Status VerifyTraces(grpc::ServerContext* context, const v1::VerifyTracesRequest* request,
                            grpc::ServerWriter<v1::VerifyTracesResponse>* stream) override {
    return Serve(metrics_, "VerifyTraces",
                 [&] { return chakrad::VerifyTraces(traces_, *request, context, stream); });
  }

 private:
  TraceStore* const traces_;
  Metrics* const metrics_;
};

}  // namespace

std::unique_ptr<grpc::Service> NewTraceService(TraceStore* traces, Metrics* metrics) {
  return std::make_unique<TraceService>(traces, metrics);
}

}  // namespace chakrad
