#include "server/rpc/analysis_service.h"

#include "chakrad/v1/analysis.grpc.pb.h"
#include "server/analysis/analyze_timeline.h"
#include "server/limits.h"
#include "server/rpc/analysis_gate.h"
#include "server/rpc/export_series.h"
#include "server/rpc/serve.h"

namespace chakrad {
namespace {

class AnalysisService : public v1::AnalysisService::Service {
 public:
  AnalysisService(TraceStore* traces, JobStore* jobs, SeriesStore* series, Metrics* metrics)
      : traces_(traces),
        jobs_(jobs),
        metrics_(metrics),
        exports_(series),
        gate_(kConcurrentAnalyses, kWaitingAnalyses, std::chrono::milliseconds(kAnalysisWaitMs),
              metrics) {}

  grpc::Status AnalyzeTimeline(grpc::ServerContext* context,
                               const v1::AnalyzeTimelineRequest* request,
                               v1::TimelineAnalysis* response) override {
    return Analyse(context, "AnalyzeTimeline",
                   [&] { return chakrad::AnalyzeTimeline(*request, traces_, jobs_, response); });
  }
  grpc::Status DiffTimelines(grpc::ServerContext* context, const v1::DiffTimelinesRequest* request,
                             v1::TimelineDiff* response) override {
    return Analyse(context, "DiffTimelines",
                   [&] { return chakrad::DiffTimelines(*request, traces_, jobs_, response); });
  }
  grpc::Status FindCriticalPath(grpc::ServerContext* context,
                                const v1::FindCriticalPathRequest* request,
                                v1::CriticalPath* response) override {
    return Analyse(context, "FindCriticalPath",
                   [&] { return chakrad::FindCriticalPath(*request, traces_, jobs_, response); });
  }
  grpc::Status ExportSeries(grpc::ServerContext* context, const v1::ExportSeriesRequest* request,
                            grpc::ServerWriter<v1::ExportSeriesResponse>* stream) override {
    return Serve(metrics_, "ExportSeries", [&] {
      return exports_.Export(
          *request, [context] { return context->IsCancelled(); }, stream);
    });
  }

 private:
  grpc::Status Analyse(grpc::ServerContext* context, absl::string_view method,
                       const std::function<absl::Status()>& analysis) {
    return Serve(metrics_, method, [&] {
      return gate_.Run(
          method, [context] { return context->IsCancelled(); }, analysis);
    });
  }

  TraceStore* const traces_;
  JobStore* const jobs_;
  Metrics* const metrics_;
  SeriesExports exports_;
  AnalysisGate gate_;
};

}  // namespace

std::unique_ptr<grpc::Service> NewAnalysisService(TraceStore* traces, JobStore* jobs,
                                                  SeriesStore* series, Metrics* metrics) {
  return std::make_unique<AnalysisService>(traces, jobs, series, metrics);
}

}  // namespace chakrad
