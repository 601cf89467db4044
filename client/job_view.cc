#include "client/job_view.h"

#include <google/protobuf/util/time_util.h>

#include "absl/strings/str_cat.h"
#include "client/quantity.h"
#include "client/result_view.h"
#include "client/table.h"

namespace chakrad::client {
namespace {

using google::protobuf::util::TimeUtil;
using Align = Table::Align;

Json TimeJson(bool has, const google::protobuf::Timestamp& time) {
  return has ? Json(TimeUtil::ToString(time)) : Json(nullptr);
}

}  // namespace

bool IsFinished(const v1::Job& job) {
  return job.state() == v1::Job::SUCCEEDED || job.state() == v1::Job::FAILED ||
         job.state() == v1::Job::CANCELLED;
}

Json JobJson(const v1::Job& job) {
  Json json = {{"name", job.name()},
               {"state", v1::Job::State_Name(job.state())},
               {"trace", job.spec().trace()},
               {"create_time", TimeJson(job.has_create_time(), job.create_time())},
               {"start_time", TimeJson(job.has_start_time(), job.start_time())},
               {"end_time", TimeJson(job.has_end_time(), job.end_time())},
               {"progress",
                {{"nodes_done", job.progress().nodes_done()},
                 {"nodes_count", job.progress().nodes_count()},
                 {"simulated_ns", PsAsNs(job.progress().simulated_ps())},
                 {"events_count", job.progress().events_count()}}},
               {"error", job.error()}};
  const v1::SimulationSpec& spec = job.spec();
  if (!spec.network_yaml().empty() || !spec.system_yaml().empty()) {  // Lists have neither.
    json["replicate_missing_ranks"] = spec.replicate_missing_ranks();
    json["keep_timeline"] = spec.keep_timeline();
  }
  json["result"] = job.has_result() ? ResultJson(job.result()) : Json(nullptr);
  return json;
}

std::string JobText(const v1::Job& job, bool all_ranks) {
  std::string text = absl::StrCat(job.name(), " ", v1::Job::State_Name(job.state()), ", trace ",
                                  job.spec().trace(), "\n");
  if (!job.error().empty()) absl::StrAppend(&text, "error: ", job.error(), "\n");
  if (job.state() == v1::Job::RUNNING) {
    absl::StrAppend(&text, CountText(job.progress().nodes_done()), " of ",
                    CountText(job.progress().nodes_count()), " nodes, ",
                    PsAsMs(job.progress().simulated_ps(), 3), " ms simulated\n");
  }
  if (job.has_result()) absl::StrAppend(&text, ResultText(job.result(), all_ranks));
  return text;
}

std::string JobListText(const std::vector<v1::Job>& jobs) {
  Table table({{"job", "", Align::kLeft},
               {"state", "", Align::kLeft},
               {"done", "%", Align::kRight},
               {"trace", "", Align::kLeft},
               {"created", "", Align::kLeft}});
  for (const v1::Job& job : jobs) {
    table.AddRow({job.name(), v1::Job::State_Name(job.state()),
                  PercentText(job.progress().nodes_done(), job.progress().nodes_count()),
                  job.spec().trace(), TimeUtil::ToString(job.create_time())});
  }
  return table.Text();
}

}  // namespace chakrad::client
