#include "storage/job_store_kv.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/mutex.h"
#include "common/saturating.h"
#include "common/status.h"
#include "storage/ids.h"
#include "storage/keys.h"
#include "storage/limits.h"
#include "storage/page_token.h"
#include "storage/record.h"
#include "storage/record.pb.h"
#include "storage/scan_past_damage.h"

namespace chakrad {
namespace {

// Family::kJobs.
constexpr char kTimeIndexPrefix[] = "t";
constexpr char kUnfinishedPrefix[] = "a";
std::string HeaderKey(absl::string_view id) { return absl::StrCat("j", id); }
std::string RequestKey(absl::string_view request_id) { return absl::StrCat("q", request_id); }
// The length in front keeps one trace's jobs apart from those of a longer name.
std::string TraceIndexPrefix(absl::string_view trace_id) {
  return absl::StrCat("x", SortableInt32(static_cast<int32_t>(trace_id.size())), trace_id);
}

// Family::kResults.
std::string SpecKey(absl::string_view id) { return absl::StrCat("s", id); }
std::string ResultKey(absl::string_view id) { return absl::StrCat("r", id); }
std::string TimelineKey(absl::string_view id) { return absl::StrCat("n", id); }
std::string ChunksPrefix(absl::string_view id) {
  return absl::StrCat("c", id, std::string(1, '\0'));
}
std::string ChunkKey(absl::string_view id, int64_t chunk) {
  return absl::StrCat(ChunksPrefix(id), SortableInt64(chunk));
}

void JobToProto(const JobRecord& job, storage::JobHeader* header) {
  header->set_request_id(job.request_id);
  header->set_state(static_cast<uint32_t>(job.state));
  header->set_trace_id(job.trace_id);
  header->set_create_unix_ns(job.create_unix_ns);
  header->set_start_unix_ns(job.start_unix_ns);
  header->set_end_unix_ns(job.end_unix_ns);
  header->set_error(job.error);
  header->set_cancel_asked(job.cancel_asked);
}

absl::Status JobFromProto(const storage::JobHeader& header, JobRecord* job) {
  if (header.state() < static_cast<uint32_t>(JobRecord::State::kPending) ||
      header.state() > static_cast<uint32_t>(JobRecord::State::kCancelled)) {
    return absl::DataLossError(absl::StrCat("state: ", header.state(), " is unknown"));
  }
  job->request_id = header.request_id();
  job->state = static_cast<JobRecord::State>(header.state());
  job->trace_id = header.trace_id();
  job->create_unix_ns = header.create_unix_ns();
  job->start_unix_ns = header.start_unix_ns();
  job->end_unix_ns = header.end_unix_ns();
  job->error = header.error();
  job->cancel_asked = header.cancel_asked();
  return absl::OkStatus();
}

absl::Status CheckUnchanged(absl::string_view field, bool same) {
  if (same) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(field, ": is fixed when a job is created"));
}

class JobStoreKv : public JobStore {
 public:
  explicit JobStoreKv(std::shared_ptr<Kv> kv) : kv_(std::move(kv)) {}

  absl::StatusOr<JobRecord> Create(const JobRecord& job) override;
  absl::Status Update(const JobRecord& job) override;
  absl::StatusOr<JobRecord> Get(absl::string_view id) override;
  absl::StatusOr<JobRecord> FindByRequestId(absl::string_view request_id) override;
  absl::StatusOr<JobPage> List(int page_size, absl::string_view page_token,
                               absl::string_view trace_id) override;
  absl::Status ScanCreatedAfter(
      int64_t create_unix_ns,
      const std::function<void(const std::string& id, int64_t create_unix_ns,
                               const absl::StatusOr<JobRecord>& job)>& visit) override;
  absl::StatusOr<std::vector<JobRecord>> ListUnfinished() override;
  absl::Status PutTimelineChunk(absl::string_view id, int64_t chunk,
                                absl::string_view bytes) override;
  absl::StatusOr<std::string> GetTimelineChunk(absl::string_view id, int64_t chunk) override;
  absl::Status DropTimeline(absl::string_view id) override;

 private:
  absl::StatusOr<JobRecord> ReadHeader(absl::string_view id);
  absl::StatusOr<std::string> ReadBlob(const std::string& key);
  void PutJob(const JobRecord& job, KvBatch* batch);

  const std::shared_ptr<Kv> kv_;
  // Held from reading a record to writing what follows from it.
  Mutex mutex_;
};

absl::StatusOr<JobRecord> JobStoreKv::ReadHeader(absl::string_view id) {
  const auto value = kv_->Get(Family::kJobs, HeaderKey(id));
  if (absl::IsNotFound(value.status())) {
    return absl::NotFoundError(absl::StrCat("job ", absl::CHexEscape(id), " is not known"));
  }
  RETURN_IF_ERROR(value.status());
  storage::JobHeader header;
  RETURN_IF_ERROR(Annotate(UnpackRecord(*value, &header), absl::StrCat("job ", id)));
  JobRecord job;
  job.id = std::string(id);
  RETURN_IF_ERROR(Annotate(JobFromProto(header, &job), absl::StrCat("job ", id)));
  return job;
}

// Empty specs and results have no key.
absl::StatusOr<std::string> JobStoreKv::ReadBlob(const std::string& key) {
  auto value = kv_->Get(Family::kResults, key);
  if (absl::IsNotFound(value.status())) return std::string();
  return value;
}

void JobStoreKv::PutJob(const JobRecord& job, KvBatch* batch) {
  storage::JobHeader header;
  JobToProto(job, &header);
  batch->Put(Family::kJobs, HeaderKey(job.id), PackRecord(header));
  const std::string unfinished_key =
      absl::StrCat(kUnfinishedPrefix, PackTimeKey(job.create_unix_ns, job.id));
  if (IsFinished(job.state)) {
    batch->Delete(Family::kJobs, unfinished_key);
  } else {
    batch->Put(Family::kJobs, unfinished_key, "");
  }
  for (const auto& [key, value] :
       {std::pair(SpecKey(job.id), &job.spec), std::pair(ResultKey(job.id), &job.result)}) {
    if (value->empty()) {
      batch->Delete(Family::kResults, key);
    } else {
      batch->Put(Family::kResults, key, *value);
    }
  }
}

absl::StatusOr<JobRecord> JobStoreKv::Create(const JobRecord& job) {
  RETURN_IF_ERROR(CheckId("job_id", job.id));
  RETURN_IF_ERROR(CheckLength("request_id", job.request_id, kMaxRequestIdBytes));
  RETURN_IF_ERROR(CheckLength("trace_id", job.trace_id, kMaxIdBytes));
  MutexLock lock(&mutex_);
  if (!job.request_id.empty()) {
    auto existing = FindByRequestId(job.request_id);
    if (!absl::IsNotFound(existing.status())) return existing;
  }
  const absl::Status found = kv_->Get(Family::kJobs, HeaderKey(job.id)).status();
  if (found.ok()) return absl::AlreadyExistsError(absl::StrCat("job ", job.id, " exists"));
  if (!absl::IsNotFound(found)) return found;
  KvBatch batch;
  PutJob(job, &batch);
  const std::string time_key = PackTimeKey(job.create_unix_ns, job.id);
  batch.Put(Family::kJobs, absl::StrCat(kTimeIndexPrefix, time_key), "");
  batch.Put(Family::kJobs, absl::StrCat(TraceIndexPrefix(job.trace_id), time_key), "");
  if (!job.request_id.empty()) batch.Put(Family::kJobs, RequestKey(job.request_id), job.id);
  RETURN_IF_ERROR(kv_->Write(batch, /*sync=*/true));
  return job;
}

absl::Status JobStoreKv::Update(const JobRecord& job) {
  MutexLock lock(&mutex_);
  ASSIGN_OR_RETURN(const JobRecord old, ReadHeader(job.id));
  RETURN_IF_ERROR(CheckUnchanged("request_id", job.request_id == old.request_id));
  RETURN_IF_ERROR(CheckUnchanged("trace_id", job.trace_id == old.trace_id));
  RETURN_IF_ERROR(CheckUnchanged("create_unix_ns", job.create_unix_ns == old.create_unix_ns));
  KvBatch batch;
  PutJob(job, &batch);
  return kv_->Write(batch, /*sync=*/true);
}

absl::StatusOr<JobRecord> JobStoreKv::FindByRequestId(absl::string_view request_id) {
  ASSIGN_OR_RETURN(const std::string id, kv_->Get(Family::kJobs, RequestKey(request_id)));
  return Get(id);
}

absl::StatusOr<JobRecord> JobStoreKv::Get(absl::string_view id) {
  ASSIGN_OR_RETURN(JobRecord job, ReadHeader(id));
  ASSIGN_OR_RETURN(job.spec, ReadBlob(SpecKey(id)));
  ASSIGN_OR_RETURN(job.result, ReadBlob(ResultKey(id)));
  return job;
}

absl::StatusOr<JobPage> JobStoreKv::List(int page_size, absl::string_view page_token,
                                         absl::string_view trace_id) {
  JobPage page;
  const auto take = [&](absl::string_view id, int64_t /*create_unix_ns*/,
                        bool keep) -> absl::StatusOr<bool> {
    if (!keep) return true;
    ASSIGN_OR_RETURN(JobRecord job, ReadHeader(id));
    page.jobs.push_back(std::move(job));
    return true;
  };
  const std::string prefix = trace_id.empty() ? kTimeIndexPrefix : TraceIndexPrefix(trace_id);
  ASSIGN_OR_RETURN(page.next_page_token, WalkTimeIndex(kv_.get(), Family::kJobs, prefix,
                                                       {page_size, std::string(page_token)}, take));
  return page;
}

absl::Status JobStoreKv::ScanCreatedAfter(
    int64_t create_unix_ns,
    const std::function<void(const std::string& id, int64_t create_unix_ns,
                             const absl::StatusOr<JobRecord>& job)>& visit) {
  KvRange range = PrefixRange(kTimeIndexPrefix);
  range.begin = absl::StrCat(kTimeIndexPrefix, SortableInt64(SaturatingAdd(create_unix_ns, 1)));
  std::vector<TimeKey> found;
  RETURN_IF_ERROR(ScanPastDamage(kv_.get(), Family::kJobs, range,
                                 [&](absl::string_view key, absl::string_view) {
                                   TimeKey at;
                                   if (ParseTimeKey(key.substr(1), &at)) found.push_back(at);
                                 })
                      .status());
  std::sort(found.begin(), found.end(), [](const TimeKey& a, const TimeKey& b) {
    return std::tie(a.create_unix_ns, a.id) < std::tie(b.create_unix_ns, b.id);
  });
  for (const TimeKey& at : found) {
    const absl::StatusOr<JobRecord> job = ReadHeader(at.id);
    if (absl::IsNotFound(job.status())) continue;
    if (!job.ok() && !absl::IsDataLoss(job.status())) return job.status();
    visit(at.id, at.create_unix_ns, job);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<JobRecord>> JobStoreKv::ListUnfinished() {
  std::vector<std::string> ids;
  RETURN_IF_ERROR(kv_->Scan(Family::kJobs, PrefixRange(kUnfinishedPrefix), ScanOrder::kForward,
                            [&](absl::string_view key, absl::string_view) {
                              TimeKey at;
                              if (ParseTimeKey(key.substr(1), &at)) ids.push_back(at.id);
                              return true;
                            }));
  std::vector<JobRecord> jobs;
  for (const std::string& id : ids) {
    absl::StatusOr<JobRecord> job = Get(id);
    if (absl::IsDataLoss(job.status())) continue;  // Whoever asks for it is told.
    RETURN_IF_ERROR(job.status());
    // It may have finished since the scan.
    if (!IsFinished(job->state)) jobs.push_back(*std::move(job));
  }
  return jobs;
}

absl::Status JobStoreKv::PutTimelineChunk(absl::string_view id, int64_t chunk,
                                          absl::string_view bytes) {
  if (bytes.size() > kMaxTimelineChunkBytes) {
    return absl::InvalidArgumentError(absl::StrCat("timeline chunk of job ", id, ": ", bytes.size(),
                                                   " bytes, above the limit of ",
                                                   kMaxTimelineChunkBytes));
  }
  MutexLock lock(&mutex_);
  RETURN_IF_ERROR(ReadHeader(id).status());
  ASSIGN_OR_RETURN(const std::string value, ReadBlob(TimelineKey(id)));
  storage::TimelineHeader header;
  if (!value.empty()) RETURN_IF_ERROR(UnpackRecord(value, &header));
  if (chunk != header.chunks_count()) {
    return absl::OutOfRangeError(absl::StrCat("chunk: ", chunk, " is not the next one of job ", id,
                                              ", ", header.chunks_count()));
  }
  header.set_chunks_count(chunk + 1);
  KvBatch batch;
  batch.Put(Family::kResults, ChunkKey(id, chunk), bytes);
  batch.Put(Family::kResults, TimelineKey(id), PackRecord(header));
  return kv_->Write(batch, /*sync=*/false);
}

absl::StatusOr<std::string> JobStoreKv::GetTimelineChunk(absl::string_view id, int64_t chunk) {
  auto bytes = kv_->Get(Family::kResults, ChunkKey(id, chunk));
  if (!absl::IsNotFound(bytes.status())) return bytes;
  return absl::NotFoundError(
      absl::StrCat("job ", absl::CHexEscape(id), " has no timeline chunk ", chunk));
}

absl::Status JobStoreKv::DropTimeline(absl::string_view id) {
  MutexLock lock(&mutex_);
  RETURN_IF_ERROR(ReadHeader(id).status());
  const KvRange chunks = PrefixRange(ChunksPrefix(id));
  KvBatch batch;
  batch.DeleteRange(Family::kResults, chunks.begin, chunks.end);
  batch.Delete(Family::kResults, TimelineKey(id));
  return kv_->Write(batch, /*sync=*/false);
}

}  // namespace

std::unique_ptr<JobStore> NewJobStore(std::shared_ptr<Kv> kv) {
  return std::make_unique<JobStoreKv>(std::move(kv));
}

}  // namespace chakrad
