// chakrad.v1.JobService over a JobManager.
#ifndef CHAKRAD_SERVER_RPC_JOB_SERVICE_H_
#define CHAKRAD_SERVER_RPC_JOB_SERVICE_H_

#include <grpcpp/impl/codegen/service_type.h>

#include <memory>

#include "server/jobs/job_manager.h"
#include "server/metrics.h"
#include "storage/job_store.h"

namespace chakrad {

// What it is given must outlive the service.
std::unique_ptr<grpc::Service> NewJobService(JobManager* jobs, JobStore* store, Metrics* metrics);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_RPC_JOB_SERVICE_H_
