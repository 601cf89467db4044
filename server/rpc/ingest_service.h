// chakrad.v1.IngestService over an UploadManager and a PushManager.
#ifndef CHAKRAD_SERVER_RPC_INGEST_SERVICE_H_
#define CHAKRAD_SERVER_RPC_INGEST_SERVICE_H_

#include <grpcpp/impl/codegen/service_type.h>

#include <memory>

#include "server/ingest/push_manager.h"
#include "server/ingest/upload_manager.h"
#include "server/metrics.h"

namespace chakrad {

// What it is given must outlive the service.
std::unique_ptr<grpc::Service> NewIngestService(UploadManager* uploads, PushManager* pushes,
                                                Metrics* metrics);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_RPC_INGEST_SERVICE_H_
