// Jobs as JSON and as text; of results, see result_view.h. client/README.md documents the
// JSON.
#ifndef CHAKRAD_CLIENT_JOB_VIEW_H_
#define CHAKRAD_CLIENT_JOB_VIEW_H_

#include <string>
#include <vector>

#include "chakrad/v1/job.pb.h"
#include "client/json.h"

namespace chakrad::client {

bool IsFinished(const v1::Job& job);

Json JobJson(const v1::Job& job);
// State, and the result's tables once there is one; `all_ranks`: a line for each
// rank, however many.
std::string JobText(const v1::Job& job, bool all_ranks);
// A line a job.
std::string JobListText(const std::vector<v1::Job>& jobs);

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_JOB_VIEW_H_
