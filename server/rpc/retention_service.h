// chakrad.v1.RetentionService over a RetentionManager.
#ifndef CHAKRAD_SERVER_RPC_RETENTION_SERVICE_H_
#define CHAKRAD_SERVER_RPC_RETENTION_SERVICE_H_

#include <grpcpp/impl/codegen/service_type.h>

#include <memory>

#include "server/metrics.h"
#include "server/retention/retention_manager.h"

namespace chakrad {

// What it is given must outlive the service.
std::unique_ptr<grpc::Service> NewRetentionService(RetentionManager* retention, Metrics* metrics);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_RPC_RETENTION_SERVICE_H_
