// chakrad.v1.AdminService: backups, and how full the store is.
#ifndef CHAKRAD_SERVER_RPC_ADMIN_SERVICE_H_
#define CHAKRAD_SERVER_RPC_ADMIN_SERVICE_H_

#include <grpcpp/impl/codegen/service_type.h>

#include <memory>

#include "common/clock.h"
#include "server/ingest/upload_manager.h"
#include "server/metrics.h"
#include "storage/open.h"

namespace chakrad {

// What it is given must outlive the service.
std::unique_ptr<grpc::Service> NewAdminService(Stores* stores, UploadManager* uploads, Clock* clock,
                                               Metrics* metrics);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_RPC_ADMIN_SERVICE_H_
