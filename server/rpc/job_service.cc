#include "server/rpc/job_service.h"

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "chakrad/v1/job.grpc.pb.h"
#include "common/status.h"
#include "common/utf8.h"
#include "server/ids.h"
#include "server/rpc/convert.h"
#include "server/rpc/page_size.h"
#include "server/rpc/serve.h"

namespace chakrad {
namespace {

absl::Status CreateJob(JobManager* jobs, const v1::CreateJobRequest& request, v1::Job* response) {
  ASSIGN_OR_RETURN(const SimulationSpec spec, SpecFromProto(request.spec()));
  ASSIGN_OR_RETURN(const JobView view, jobs->Create(request.request_id(), spec));
  ToProto(view, response);
  return absl::OkStatus();
}

absl::Status GetJob(JobManager* jobs, const v1::GetJobRequest& request, v1::Job* response) {
  ASSIGN_OR_RETURN(const std::string id, IdFromName(request.name(), "jobs", "name"));
  ASSIGN_OR_RETURN(const JobView view, jobs->Get(id));
  ToProto(view, response);
  FitIntoAnswer(response);
  return absl::OkStatus();
}

absl::Status ListJobs(JobManager* jobs, JobStore* store, const v1::ListJobsRequest& request,
                      v1::ListJobsResponse* response) {
  std::string trace_id;
  if (!request.trace().empty()) {
    ASSIGN_OR_RETURN(trace_id, IdFromName(request.trace(), "traces", "trace"));
  }
  ASSIGN_OR_RETURN(const int page_size, CheckPageSize(request.page_size()));
  ASSIGN_OR_RETURN(const JobPage page, store->List(page_size, request.page_token(), trace_id));
  constexpr size_t kErrorShown = 1'000;  // A list is not the place for a whole report.
  for (const JobRecord& record : page.jobs) {
    JobView view;
    view.record = record;
    if (!IsFinished(record.state)) {  // The manager knows its state of this moment.
      const absl::StatusOr<JobView> live = jobs->Get(record.id);
      if (live.ok()) view = *live;
      view.record.spec.clear();
      view.record.result.clear();
    }
    view.record.error = ValidUtf8(view.record.error, kErrorShown);
    ToProto(view, response->add_jobs());
  }
  response->set_next_page_token(page.next_page_token);
  return absl::OkStatus();
}

absl::Status CancelJob(JobManager* jobs, const v1::CancelJobRequest& request, v1::Job* response) {
  ASSIGN_OR_RETURN(const std::string id, IdFromName(request.name(), "jobs", "name"));
  ASSIGN_OR_RETURN(const JobView view, jobs->Cancel(id));
  ToProto(view, response);
  return absl::OkStatus();
}

absl::Status WatchJob(JobManager* jobs, const v1::WatchJobRequest& request,
                      grpc::ServerContext* context, grpc::ServerWriter<v1::JobEvent>* stream) {
  ASSIGN_OR_RETURN(const std::string id, IdFromName(request.name(), "jobs", "name"));
  return jobs->Watch(
      id, [context] { return context->IsCancelled(); },
      [stream](const JobView& view) {
        v1::JobEvent event;
        ToProto(view, event.mutable_job());
        FitIntoAnswer(event.mutable_job());
        return stream->Write(event);
      });
}

// Leaves out the rows of other ranks; names and queues stay, since later rows
// count them.
void KeepRanks(const std::set<int32_t>& ranks, v1::TimelineChunk* chunk) {
  int kept = 0;
  for (int i = 0; i < chunk->rank_size(); ++i) {
    if (ranks.count(chunk->rank(i)) == 0) continue;
    chunk->set_rank(kept, chunk->rank(i));
    chunk->set_node_id(kept, chunk->node_id(i));
    chunk->set_start_ps(kept, chunk->start_ps(i));
    chunk->set_dur_ps(kept, chunk->dur_ps(i));
    chunk->set_name(kept, chunk->name(i));
    chunk->set_kind(kept, chunk->kind(i));
    chunk->set_queue(kept, chunk->queue(i));
    ++kept;
  }
  chunk->mutable_rank()->Truncate(kept);
  chunk->mutable_node_id()->Truncate(kept);
  chunk->mutable_start_ps()->Truncate(kept);
  chunk->mutable_dur_ps()->Truncate(kept);
  chunk->mutable_name()->Truncate(kept);
  chunk->mutable_kind()->Truncate(kept);
  chunk->mutable_queue()->Truncate(kept);
}

absl::Status StreamTimeline(JobManager* jobs, const v1::StreamTimelineRequest& request,
                            grpc::ServerContext* context,
                            grpc::ServerWriter<v1::TimelineChunk>* stream) {
  ASSIGN_OR_RETURN(const std::string id, IdFromName(request.name(), "jobs", "name"));
  const std::set<int32_t> ranks(request.ranks().begin(), request.ranks().end());
  absl::Status damage;
  const absl::Status streamed = jobs->StreamTimeline(
      id, [context] { return context->IsCancelled(); },
      [&](const std::string& bytes) {
        v1::TimelineChunk chunk;
        if (!chunk.ParseFromString(bytes)) {
          damage = absl::DataLossError(
              absl::StrCat("job ", id, ": a stored timeline chunk does not parse"));
          return false;
        }
        if (!ranks.empty()) KeepRanks(ranks, &chunk);
        return stream->Write(chunk);
      });
  return damage.ok() ? streamed : damage;
}

class JobService : public v1::JobService::Service {
 public:
  JobService(JobManager* jobs, JobStore* store, Metrics* metrics)
      : jobs_(jobs), store_(store), metrics_(metrics) {}

  grpc::Status CreateJob(grpc::ServerContext*, const v1::CreateJobRequest* request,
                         v1::Job* response) override {
    return Serve(metrics_, "CreateJob",
                 [&] { return chakrad::CreateJob(jobs_, *request, response); });
  }
  grpc::Status GetJob(grpc::ServerContext*, const v1::GetJobRequest* request,
                      v1::Job* response) override {
    return Serve(metrics_, "GetJob", [&] { return chakrad::GetJob(jobs_, *request, response); });
  }
  grpc::Status ListJobs(grpc::ServerContext*, const v1::ListJobsRequest* request,
                        v1::ListJobsResponse* response) override {
    return Serve(metrics_, "ListJobs",
                 [&] { return chakrad::ListJobs(jobs_, store_, *request, response); });
  }
  grpc::Status CancelJob(grpc::ServerContext*, const v1::CancelJobRequest* request,
                         v1::Job* response) override {
    return Serve(metrics_, "CancelJob",
                 [&] { return chakrad::CancelJob(jobs_, *request, response); });
  }
  grpc::Status WatchJob(grpc::ServerContext* context, const v1::WatchJobRequest* request,
                        grpc::ServerWriter<v1::JobEvent>* stream) override {
    return Serve(metrics_, "WatchJob",
                 [&] { return chakrad::WatchJob(jobs_, *request, context, stream); });
  }
  grpc::Status StreamTimeline(grpc::ServerContext* context,
                              const v1::StreamTimelineRequest* request,
                              grpc::ServerWriter<v1::TimelineChunk>* stream) override {
    return Serve(metrics_, "StreamTimeline",
                 [&] { return chakrad::StreamTimeline(jobs_, *request, context, stream); });
  }

 private:
  JobManager* const jobs_;
  JobStore* const store_;
  Metrics* const metrics_;
};

}  // namespace

std::unique_ptr<grpc::Service> NewJobService(JobManager* jobs, JobStore* store, Metrics* metrics) {
  return std::make_unique<JobService>(jobs, store, metrics);
}

}  // namespace chakrad
