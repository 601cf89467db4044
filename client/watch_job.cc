#include <grpcpp/grpcpp.h>

#include "absl/strings/str_cat.h"
#include "chakrad/v1/job.grpc.pb.h"
#include "client/commands.h"
#include "client/job_view.h"
#include "client/progress_line.h"
#include "client/quantity.h"
#include "client/session.h"
#include "common/status.h"

namespace chakrad::client {
namespace {

void DrawJob(const v1::Job& job, ProgressLine* line) {
  const v1::Progress& progress = job.progress();
  if (job.state() == v1::Job::PENDING) {
    line->Draw(0, 0, absl::StrCat(job.name(), " waits for a worker"));
    return;
  }
  line->Draw(progress.nodes_done(), progress.nodes_count(),
             absl::StrCat(CountText(progress.nodes_done()), " nodes, ",
                          PsAsMs(progress.simulated_ps(), 3), " ms simulated"));
}

// One stream of events. Leaves the last job state in `*job`.
absl::Status WatchOnce(v1::JobService::Stub* stub, const std::string& name, Backoff* backoff,
                       ProgressLine* line, v1::Job* job) {
  grpc::ClientContext context;
  v1::WatchJobRequest request;
  request.set_name(name);
  const auto stream = stub->WatchJob(&context, request);
  v1::JobEvent event;
  while (stream->Read(&event)) {
    backoff->Reset();
    *job = event.job();
    DrawJob(*job, line);
  }
  return FromGrpc(stream->Finish());
}

}  // namespace

absl::StatusOr<v1::Job> WatchToEnd(Session* session, const std::string& job_name) {
  const auto stub = v1::JobService::NewStub(session->channel());
  ProgressLine line(&session->err(), session->io().err_is_terminal);
  v1::Job job;
  // A server that was never heard of is given up sooner than one that restarts.
  Backoff first(kCallPolicy, session->io().sleep);
  Backoff resume(kResumePolicy, session->io().sleep);
  while (true) {
    const absl::Status status = WatchOnce(stub.get(), job_name, &resume, &line, &job);
    if (IsFinished(job)) return job;
    // Nobody here cancels: CANCELLED is what a server that just stops answers.
    const bool comes_back = absl::IsUnavailable(status) || absl::IsCancelled(status);
    if (!status.ok() && !comes_back) return status;
    Backoff& backoff = job.name().empty() ? first : resume;
    if (backoff.Wait()) continue;
    if (absl::IsCancelled(status)) {
      return absl::UnavailableError(absl::StrCat("the server stopped before ", job_name, " ended"));
    }
    return status.ok() ? absl::InternalError(absl::StrCat("the server stopped reporting on ",
                                                          job_name, " before its end"))
                       : status;
  }
}

}  // namespace chakrad::client
