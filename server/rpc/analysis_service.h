// chakrad.v1.AnalysisService over the stores.
#ifndef CHAKRAD_SERVER_RPC_ANALYSIS_SERVICE_H_
#define CHAKRAD_SERVER_RPC_ANALYSIS_SERVICE_H_

#include <grpcpp/impl/codegen/service_type.h>

#include <memory>

#include "server/metrics.h"
#include "storage/job_store.h"
#include "storage/series_store.h"
#include "storage/trace_store.h"

namespace chakrad {

// All arguments must outlive the service. Thread-safe.
std::unique_ptr<grpc::Service> NewAnalysisService(TraceStore* traces, JobStore* jobs,
                                                  SeriesStore* series, Metrics* metrics);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_RPC_ANALYSIS_SERVICE_H_
