// chakrad.v1.TraceService over a TraceStore.
#ifndef CHAKRAD_SERVER_RPC_TRACE_SERVICE_H_
#define CHAKRAD_SERVER_RPC_TRACE_SERVICE_H_

#include <grpcpp/impl/codegen/service_type.h>

#include <memory>

#include "server/metrics.h"
#include "storage/trace_store.h"

namespace chakrad {

// What it is given must outlive the service.
std::unique_ptr<grpc::Service> NewTraceService(TraceStore* traces, Metrics* metrics);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_RPC_TRACE_SERVICE_H_
