// The JobStore over any engine.
#ifndef CHAKRAD_STORAGE_JOB_STORE_KV_H_
#define CHAKRAD_STORAGE_JOB_STORE_KV_H_

#include <memory>

#include "storage/job_store.h"
#include "storage/kv.h"

namespace chakrad {

std::unique_ptr<JobStore> NewJobStore(std::shared_ptr<Kv> kv);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_JOB_STORE_KV_H_
