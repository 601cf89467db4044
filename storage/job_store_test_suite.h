// What every JobStore must do, whatever its engine. Include in one test and
// instantiate: INSTANTIATE_TEST_SUITE_P(Mem, JobStoreTest, ...).
#ifndef CHAKRAD_STORAGE_JOB_STORE_TEST_SUITE_H_
#define CHAKRAD_STORAGE_JOB_STORE_TEST_SUITE_H_

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "storage/faulty_kv.h"
#include "storage/job_store_kv.h"
#include "storage/limits.h"
#include "storage/test_engine.h"

namespace chakrad {

class JobStoreTest : public EngineTest {
 protected:
  void Restart() {
    store_.reset();
    engine_->Reopen();
    store_ = NewJobStore(engine_->kv());
  }
  static JobRecord JobOf(std::string id, int64_t create_unix_ns = 0, std::string trace_id = "t") {
    JobRecord job;
    job.id = std::move(id);
    job.create_unix_ns = create_unix_ns;
    job.trace_id = std::move(trace_id);
    return job;
  }
  std::vector<std::string> UnfinishedIds() {
    std::vector<std::string> ids;
    const auto jobs = store_->ListUnfinished();
    EXPECT_THAT(jobs, IsOk());
    for (const JobRecord& job : jobs.value_or(std::vector<JobRecord>())) ids.push_back(job.id);
    return ids;
  }
  static void ExpectSameJob(const JobRecord& got, const JobRecord& want) {
    EXPECT_EQ(got.id, want.id);
    EXPECT_EQ(got.request_id, want.request_id);
    EXPECT_EQ(got.state, want.state);
    EXPECT_EQ(got.trace_id, want.trace_id);
    EXPECT_EQ(got.create_unix_ns, want.create_unix_ns);
    EXPECT_EQ(got.start_unix_ns, want.start_unix_ns);
    EXPECT_EQ(got.end_unix_ns, want.end_unix_ns);
    EXPECT_EQ(got.error, want.error);
    EXPECT_EQ(got.cancel_asked, want.cancel_asked);
    EXPECT_EQ(got.spec, want.spec);
    EXPECT_EQ(got.result, want.result);
  }

  std::unique_ptr<JobStore> store_ = NewJobStore(engine_->kv());
};

TEST_P(JobStoreTest, ARecordComesBackWholeAfterEachUpdate) {
  JobRecord job = JobOf("j1", -7, "trace/with any bytes\xff");
  job.request_id = "req";
  job.spec = std::string("\0spec\xff", 6);
  ASSERT_THAT(store_->Create(job), IsOk());
  Restart();
  ASSERT_OK_AND_ASSIGN(JobRecord got, store_->Get("j1"));
  ExpectSameJob(got, job);
  job.state = JobRecord::State::kRunning;
  job.start_unix_ns = 5;
  ASSERT_THAT(store_->Update(job), IsOk());
  job.cancel_asked = true;
  job.state = JobRecord::State::kFailed;
  job.end_unix_ns = INT64_MAX;
  job.error = "rank 3 waits \xff";
  job.result = std::string(100'000, 'r');
  job.spec.clear();
  ASSERT_THAT(store_->Update(job), IsOk());
  Restart();
  ASSERT_OK_AND_ASSIGN(got, store_->Get("j1"));
  ExpectSameJob(got, job);
}

TEST_P(JobStoreTest, ARepeatedRequestFindsItsJob) {
  JobRecord job = JobOf("j1");
  job.request_id = "req";
  job.spec = "first";
  ASSERT_THAT(store_->Create(job), IsOk());
  job.id = "j2";
  job.spec = "second";
  ASSERT_OK_AND_ASSIGN(const JobRecord again, store_->Create(job));
  EXPECT_EQ(again.id, "j1");
  EXPECT_EQ(again.spec, "first");
  EXPECT_THAT(store_->Get("j2"), StatusIs(absl::StatusCode::kNotFound, "job j2 is not known"));
  ASSERT_OK_AND_ASSIGN(const JobRecord found, store_->FindByRequestId("req"));
  EXPECT_EQ(found.id, "j1");
  EXPECT_EQ(store_->FindByRequestId("nobody's").status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(store_->Create(JobOf("j1")), StatusIs(absl::StatusCode::kAlreadyExists, "j1"));
}

TEST_P(JobStoreTest, OfConcurrentCreatesOfOneRequestOneIsStored) {
  std::vector<std::string> ids(4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      JobRecord job = JobOf(absl::StrCat("j", i));
      job.request_id = "req";
      ASSERT_OK_AND_ASSIGN(const JobRecord stored, store_->Create(job));
      ids[i] = stored.id;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& id : ids) EXPECT_EQ(id, ids[0]);
  ASSERT_OK_AND_ASSIGN(const JobPage page, store_->List(10, "", ""));
  EXPECT_EQ(page.jobs.size(), 1);
}

TEST_P(JobStoreTest, BadRecordsAreInvalid) {
  EXPECT_THAT(store_->Create(JobOf("")), StatusIs(absl::StatusCode::kInvalidArgument, "job_id"));
  EXPECT_THAT(store_->Create(JobOf("a/b")), StatusIs(absl::StatusCode::kInvalidArgument, "job_id"));
  EXPECT_THAT(store_->Create(JobOf("j", 0, std::string(kMaxIdBytes + 1, 't'))),
              StatusIs(absl::StatusCode::kInvalidArgument, "trace_id: 129 bytes"));
  EXPECT_THAT(store_->Update(JobOf("j")), StatusIs(absl::StatusCode::kNotFound, "job j"));
  ASSERT_THAT(store_->Create(JobOf("j", 1)), IsOk());
  EXPECT_THAT(store_->Update(JobOf("j", 2)),
              StatusIs(absl::StatusCode::kInvalidArgument, "create_unix_ns: is fixed"));
  EXPECT_THAT(store_->Update(JobOf("j", 1, "other")),
              StatusIs(absl::StatusCode::kInvalidArgument, "trace_id: is fixed"));
}

TEST_P(JobStoreTest, ListIsNewestFirstByPageAndByTrace) {
  for (int i = 0; i < 9; ++i) {
    JobRecord job = JobOf(absl::StrCat("j", i), i - 4, i % 3 == 0 ? "t" : "t2");
    job.spec = "spec";
    job.result = "result";
    ASSERT_THAT(store_->Create(job), IsOk());
  }
  std::vector<std::string> ids;
  std::string token;
  do {
    ASSERT_OK_AND_ASSIGN(const JobPage page, store_->List(4, token, ""));
    for (const JobRecord& job : page.jobs) {
      ids.push_back(job.id);
      EXPECT_EQ(job.spec, "");
      EXPECT_EQ(job.result, "");
    }
    token = page.next_page_token;
    // Newer ones do not disturb the pages that follow.
    ASSERT_THAT(store_->Create(JobOf(absl::StrCat("new", ids.size()), 100, "t3")), IsOk());
  } while (!token.empty());
  EXPECT_EQ(ids, (std::vector<std::string>{"j8", "j7", "j6", "j5", "j4", "j3", "j2", "j1", "j0"}));
  ASSERT_OK_AND_ASSIGN(JobPage page, store_->List(2, "", "t"));
  ASSERT_EQ(page.jobs.size(), 2);
  EXPECT_EQ(page.jobs[0].id, "j6");
  ASSERT_OK_AND_ASSIGN(page, store_->List(2, page.next_page_token, "t"));
  ASSERT_EQ(page.jobs.size(), 1);
  EXPECT_EQ(page.jobs[0].id, "j0");
  EXPECT_EQ(page.next_page_token, "");
  ASSERT_OK_AND_ASSIGN(page, store_->List(2, "", "unknown"));
  EXPECT_TRUE(page.jobs.empty());
  EXPECT_THAT(store_->List(0, "", ""), StatusIs(absl::StatusCode::kInvalidArgument, "page_size"));
  EXPECT_THAT(store_->List(1, "?", ""), StatusIs(absl::StatusCode::kInvalidArgument, "page_token"));
}

TEST_P(JobStoreTest, UnfinishedJobsAreListedOldestFirst) {
  JobRecord late = JobOf("late", 9), early = JobOf("early", -9), done = JobOf("done", 0);
  early.spec = "what to do";
  for (const JobRecord& job : {late, early, done}) ASSERT_THAT(store_->Create(job), IsOk());
  done.state = JobRecord::State::kSucceeded;
  early.state = JobRecord::State::kRunning;
  ASSERT_THAT(store_->Update(done), IsOk());
  ASSERT_THAT(store_->Update(early), IsOk());
  Restart();
  EXPECT_EQ(UnfinishedIds(), (std::vector<std::string>{"early", "late"}));
  ASSERT_OK_AND_ASSIGN(const auto jobs, store_->ListUnfinished());
  ExpectSameJob(jobs[0], early);
  early.state = JobRecord::State::kCancelled;
  ASSERT_THAT(store_->Update(early), IsOk());
  EXPECT_EQ(UnfinishedIds(), (std::vector<std::string>{"late"}));
  early.state = JobRecord::State::kPending;  // Put back.
  ASSERT_THAT(store_->Update(early), IsOk());
  EXPECT_EQ(UnfinishedIds(), (std::vector<std::string>{"early", "late"}));
}

TEST_P(JobStoreTest, TimelineChunksComeInOrderAndGoTogether) {
  ASSERT_THAT(store_->Create(JobOf("j")), IsOk());
  ASSERT_THAT(store_->Create(JobOf("j2")), IsOk());
  EXPECT_THAT(store_->GetTimelineChunk("j", 0),
              StatusIs(absl::StatusCode::kNotFound, "job j has no timeline chunk 0"));
  for (int i = 0; i < 300; ++i) {
    ASSERT_THAT(store_->PutTimelineChunk("j", i, absl::StrCat("chunk ", i)), IsOk());
  }
  ASSERT_THAT(store_->PutTimelineChunk("j2", 0, ""), IsOk());
  EXPECT_THAT(
      store_->PutTimelineChunk("j", 301, "x"),
      StatusIs(absl::StatusCode::kOutOfRange, "chunk: 301 is not the next one of job j, 300"));
  EXPECT_THAT(store_->PutTimelineChunk("j", 5, "x"), StatusIs(absl::StatusCode::kOutOfRange, ""));
  EXPECT_THAT(store_->PutTimelineChunk("j", -1, "x"), StatusIs(absl::StatusCode::kOutOfRange, ""));
  EXPECT_THAT(store_->PutTimelineChunk("nobody", 0, "x"),
              StatusIs(absl::StatusCode::kNotFound, "job nobody"));
  EXPECT_THAT(store_->PutTimelineChunk("j", 300, std::string(kMaxTimelineChunkBytes + 1, 'x')),
              StatusIs(absl::StatusCode::kInvalidArgument, "above the limit"));
  Restart();
  for (int i = 0; i < 300; ++i) {
    ASSERT_OK_AND_ASSIGN(const std::string bytes, store_->GetTimelineChunk("j", i));
    EXPECT_EQ(bytes, absl::StrCat("chunk ", i));
  }
  EXPECT_THAT(store_->GetTimelineChunk("j", 300), StatusIs(absl::StatusCode::kNotFound, ""));
  EXPECT_THAT(store_->GetTimelineChunk("j", -1), StatusIs(absl::StatusCode::kNotFound, ""));
  ASSERT_THAT(store_->DropTimeline("j"), IsOk());
  EXPECT_THAT(store_->GetTimelineChunk("j", 0), StatusIs(absl::StatusCode::kNotFound, ""));
  EXPECT_THAT(store_->GetTimelineChunk("j", 299), StatusIs(absl::StatusCode::kNotFound, ""));
  EXPECT_THAT(store_->GetTimelineChunk("j2", 0), IsOk());
  EXPECT_THAT(store_->PutTimelineChunk("j", 0, "anew"), IsOk());
}

TEST_P(JobStoreTest, AFailedWriteChangesNothing) {
  const auto faulty = std::make_shared<FaultyKv>(engine_->kv());
  const auto store = NewJobStore(faulty);
  JobRecord job = JobOf("j");
  job.request_id = "req";
  faulty->FailWritesAfter(0, absl::UnavailableError("down"));
  EXPECT_THAT(store->Create(job), StatusIs(absl::StatusCode::kUnavailable, "down"));
  EXPECT_TRUE(UnfinishedIds().empty());
  faulty->Heal();
  ASSERT_THAT(store->Create(job), IsOk());
  faulty->FailWritesAfter(0, absl::UnavailableError("down"));
  JobRecord done = job;
  done.state = JobRecord::State::kSucceeded;
  EXPECT_THAT(store->Update(done), StatusIs(absl::StatusCode::kUnavailable, "down"));
  EXPECT_THAT(store->PutTimelineChunk("j", 0, "x"),
              StatusIs(absl::StatusCode::kUnavailable, "down"));
  EXPECT_EQ(UnfinishedIds(), (std::vector<std::string>{"j"}));
  faulty->Heal();
  EXPECT_THAT(store->PutTimelineChunk("j", 0, "x"), IsOk());
}

TEST_P(JobStoreTest, AScanByCreationTellsDamagedRecordsAndGoesOn) {
  const auto kv = std::make_shared<FaultyKv>(engine_->kv());
  store_ = NewJobStore(kv);
  for (int i = 0; i < 6; ++i) {
    ASSERT_THAT(store_->Create(JobOf(absl::StrCat("j", i), i / 2)), IsOk());
  }
  kv->Damage(Family::kJobs, "jj3");
  const auto scan = [&](int64_t after) {
    std::string text;
    EXPECT_THAT(store_->ScanCreatedAfter(after,
                                         [&](const std::string& id, int64_t create_unix_ns,
                                             const absl::StatusOr<JobRecord>& job) {
                                           absl::StrAppend(&text, " ", id, "@", create_unix_ns,
                                                           job.ok() ? "" : "!");
                                           EXPECT_TRUE(job.ok() || absl::IsDataLoss(job.status()));
                                         }),
                IsOk());
    return text;
  };
  EXPECT_EQ(scan(INT64_MIN), " j0@0 j1@0 j2@1 j3@1! j4@2 j5@2");
  EXPECT_EQ(scan(1), " j4@2 j5@2");
  EXPECT_EQ(scan(INT64_MAX), "");
}

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_JOB_STORE_TEST_SUITE_H_
