// kill -9 of the real binary: what was acknowledged is there afterwards, whole;
// what was not is there whole or not at all.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <atomic>
#include <chrono>
#include <random>
#include <set>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "tests/e2e/test_server.h"
#include "tests/fault/daemon_process.h"

namespace chakrad {
namespace {

std::map<std::string, std::string> Mlp() { return ReadFolder("tests/data/collected/mlp_dp/w2"); }

unsigned FromEnvironment(const char* name, unsigned otherwise) {
  const char* text = getenv(name);
  uint32_t value = otherwise;
  EXPECT_TRUE(text == nullptr || absl::SimpleAtoi(text, &value)) << name << "=" << text;
  return value;
}

TEST(KillTest, AnAcknowledgedSealIsThereAfterKillNine) {
  const std::string folder = MakeTempFolder();
  std::string name;
  {
    DaemonProcess daemon(folder);
    ASSERT_TRUE(daemon.WaitUntilReady()) << daemon.Errors();
    TestClient client;
    client.Connect(daemon.grpc_address());
    ASSERT_OK_AND_ASSIGN(const v1::Trace trace, client.Upload(Mlp()));
    daemon.Signal(SIGKILL);  // Nothing between the answer and this.
    EXPECT_EQ(daemon.Wait(), -SIGKILL);
    name = trace.name();
  }
  DaemonProcess daemon(folder);
  ASSERT_TRUE(daemon.WaitUntilReady()) << daemon.Errors();
  TestClient client;
  client.Connect(daemon.grpc_address());
  ASSERT_OK_AND_ASSIGN(const std::vector<std::string> names, client.TraceNames());
  EXPECT_EQ(names, std::vector<std::string>{name});
  ASSERT_OK_AND_ASSIGN(const auto files, client.Export(name));
  EXPECT_EQ(files.size(), 2u);
}

TEST(KillTest, ARunningJobIsTakenUpAfterKillNine) {
  const std::string folder = MakeTempFolder();
  std::string endless, waiting;
  {
    DaemonProcess daemon(folder);
    ASSERT_TRUE(daemon.WaitUntilReady()) << daemon.Errors();
    TestClient client;
    client.Connect(daemon.grpc_address());
    ASSERT_OK_AND_ASSIGN(const v1::SimulationSpec spec, EndlessSpec(&client));
    ASSERT_OK_AND_ASSIGN(const v1::Job first, client.CreateJob(spec));
    ASSERT_OK_AND_ASSIGN(const v1::Trace trace, client.Upload(Mlp()));
    ASSERT_OK_AND_ASSIGN(const v1::Job second, client.CreateJob(SpecOf(trace, "Ring")));
    v1::Job job = first;
    while (job.state() == v1::Job::PENDING) {
      ASSERT_OK_AND_ASSIGN(job, client.GetJob(first.name()));
    }
    ASSERT_EQ(job.state(), v1::Job::RUNNING);
    daemon.Signal(SIGKILL);
    daemon.Wait();
    endless = first.name();
    waiting = second.name();
  }
  DaemonProcess daemon(folder);
  ASSERT_TRUE(daemon.WaitUntilReady()) << daemon.Errors();
  TestClient client;
  client.Connect(daemon.grpc_address());
  ASSERT_OK_AND_ASSIGN(const v1::Job taken_up, client.GetJob(endless));
  EXPECT_TRUE(taken_up.state() == v1::Job::PENDING || taken_up.state() == v1::Job::RUNNING);
  ASSERT_THAT(client.CancelJob(endless), IsOk());
  ASSERT_OK_AND_ASSIGN(const v1::Job cancelled, client.Wait(endless));
  EXPECT_EQ(cancelled.state(), v1::Job::CANCELLED);
  ASSERT_OK_AND_ASSIGN(const v1::Job ended, client.Wait(waiting));
  EXPECT_EQ(ended.state(), v1::Job::SUCCEEDED) << ended.error();
}

TEST(KillTest, AnAnsweredCancelIsKeptAcrossKillNine) {
  const std::string folder = MakeTempFolder();
  std::string name;
  {
    DaemonProcess daemon(folder);
    ASSERT_TRUE(daemon.WaitUntilReady()) << daemon.Errors();
    TestClient client;
    client.Connect(daemon.grpc_address());
    ASSERT_OK_AND_ASSIGN(const v1::SimulationSpec spec, EndlessSpec(&client));
    ASSERT_OK_AND_ASSIGN(v1::Job job, client.CreateJob(spec));
    name = job.name();
    while (job.state() == v1::Job::PENDING) {
      ASSERT_OK_AND_ASSIGN(job, client.GetJob(name));
    }
    ASSERT_THAT(client.CancelJob(name), IsOk());
    daemon.Signal(SIGKILL);  // Before or after the worker has looked: both must do.
    daemon.Wait();
  }
  DaemonProcess daemon(folder);
  ASSERT_TRUE(daemon.WaitUntilReady()) << daemon.Errors();
  TestClient client;
  client.Connect(daemon.grpc_address());
  ASSERT_OK_AND_ASSIGN(const v1::Job job, client.GetJob(name));
  EXPECT_EQ(job.state(), v1::Job::CANCELLED);
}

// Three uploaders push without pause while the daemon is killed at random
// moments. CHAKRAD_SEED=N replays a run, CHAKRAD_ROUNDS=N makes it longer.
TEST(KillTest, NothingAcknowledgedIsLostAndNothingIsHalfVisible) {
  const unsigned seed = FromEnvironment("CHAKRAD_SEED", 20'240'611);
  const unsigned rounds = FromEnvironment("CHAKRAD_ROUNDS", 6);
  SCOPED_TRACE(absl::StrCat("CHAKRAD_SEED=", seed));
  std::mt19937 random(seed);
  const std::string folder = MakeTempFolder();
  const auto files = Mlp();
  std::set<std::string> acknowledged;
  for (unsigned round = 0; round < rounds; ++round) {
    DaemonProcess daemon(folder, {"--log_level", "error"});
    ASSERT_TRUE(daemon.WaitUntilReady()) << daemon.Errors();
    std::vector<std::set<std::string>> sealed(3);
    std::vector<std::thread> uploaders;
    for (size_t i = 0; i < sealed.size(); ++i) {
      uploaders.emplace_back([&, i] {
        TestClient client;
        client.Connect(daemon.grpc_address());
        for (int n = 0;; ++n) {
          v1::CreateUploadRequest request;
          request.set_request_id(absl::StrCat("r", round, ".", i, ".", n));
          const auto trace = client.Upload(files, request);
          if (!trace.ok()) return;
          sealed[i].insert(trace->name());
        }
      });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100 + random() % 900));
    daemon.Signal(SIGKILL);
    daemon.Wait();
    for (std::thread& uploader : uploaders) uploader.join();
    for (const auto& names : sealed) acknowledged.insert(names.begin(), names.end());
  }
  DaemonProcess daemon(folder, {"--log_level", "error"});
  ASSERT_TRUE(daemon.WaitUntilReady()) << daemon.Errors();
  TestClient client;
  client.Connect(daemon.grpc_address());
  ASSERT_OK_AND_ASSIGN(const std::vector<std::string> names, client.TraceNames());
  const std::set<std::string> visible(names.begin(), names.end());
  EXPECT_GT(acknowledged.size(), 0u);
  ASSERT_OK_AND_ASSIGN(const v1::Trace reference, client.Upload(files));
  ASSERT_OK_AND_ASSIGN(const auto whole, client.Export(reference.name()));
  for (const std::string& name : acknowledged) EXPECT_EQ(visible.count(name), 1u) << name;
  for (const std::string& name : visible) {
    const auto exported = client.Export(name);
    ASSERT_THAT(exported, IsOk()) << name;
    EXPECT_TRUE(*exported == whole) << name << " differs from a trace of the same files";
  }
}

}  // namespace
}  // namespace chakrad
